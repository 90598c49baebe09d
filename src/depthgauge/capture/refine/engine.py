"""What an engine of `capture refine` is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from depthgauge.errors import Misuse
from depthgauge.types import Image, Map


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What space-time stereo measured in one view, in px of its own, perhaps small, image."""

    disparity: Map
    variance: Map
    """In px squared; NaN where it is not known."""
    confidence: Map
    """0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """The same at full size, in px of the full image."""

    disparity: Map
    variance: Map
    confidence: Map
    choice: Map
    """Where there were two candidates: the share of the density at the chosen one, 0.5..1."""


@dataclass(frozen=True)
class Refining:
    """Options of an engine."""

    jump_px: float = 0.75
    """Neighbours of the measured map that differ by more are on two surfaces, unless a slope goes
    on at both ends; in px of the full image."""
    radius: int = 2
    """Pixels of the measured map, each way, among which a pixel finds its candidates."""
    least_scale: float = 0.25
    """Laplacian scales are not taken to be smaller, in px of the measured map."""
    fill_px: float = 0.0
    """How far from the next measured pixel a hole is given a value, in px of the full image."""

    def __post_init__(self) -> None:
        if not self.jump_px > 0 or not self.least_scale > 0 or not self.fill_px >= 0:
            raise Misuse(
                "jump_px and least_scale are above 0 and fill_px is 0 or more, found "
                f"{self.jump_px}, {self.least_scale} and {self.fill_px}"
            )
        if not 1 <= self.radius <= 15:
            raise Misuse(f"radius is from 1 to 15 pixels, found {self.radius}")


class RefineEngine(Protocol):
    """Anything that brings a measured map to the size of a guide."""

    def __call__(self, maps: Measured, guide: Image, options: Refining) -> Refined:
        """The maps at the guide's size; NaN where it gives no value."""
        ...
