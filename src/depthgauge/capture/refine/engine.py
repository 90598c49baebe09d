"""What an engine of `capture refine` gets and returns, and the registry of all engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, Protocol

from pydantic import Field

from depthgauge._options import Options
from depthgauge._registry import Registry
from depthgauge.errors import BadDeclaration
from depthgauge.types import Image, Map


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMaps:
    """What space-time stereo measured in one view, in px of its own image, which may be small."""

    disparity: Map
    variance: Map
    """In px squared; NaN where unknown."""
    confidence: Map
    """0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class RefinedMaps:
    """The same at full size, in px of the full image."""

    disparity: Map
    variance: Map
    confidence: Map
    choice: Map
    """The share of the density at the chosen candidate, 0.5..1, where there were two."""


class RefineOptions(Options):
    """What refines the maps, and how."""

    engine: str = "classical"
    """The engine that refines the maps."""
    guide: Literal["patterns", "passive"] = "patterns"
    """The image whose edges the jumps follow: the mean of the patterns, in which glass is painted,
    or the first passive picture."""
    jump_px: float = Field(default=0.75, gt=0.0)
    """Neighbours of the measured map that differ by more are on two surfaces, unless a slope
    continues at both ends; in px of the full image."""
    radius: int = Field(default=2, ge=1, le=15)
    """Radius of the window in which a pixel finds its candidates, in px of the measured map."""
    least_scale: float = Field(default=0.25, gt=0.0)
    """Smallest Laplacian scale, in px of the measured map."""
    fill_px: float = Field(default=0.0, ge=0.0)
    """Largest distance from a measured pixel at which a hole gets a value, in px of the full image;
    0 leaves holes open."""


class RefineEngine(Protocol):
    """Anything that resizes a measured map to the size of a guide."""

    def __call__(self, maps: MeasuredMaps, guide: Image, options: RefineOptions) -> RefinedMaps:
        """The maps at the guide's size; NaN where it gives no value."""
        ...


@dataclass(frozen=True, slots=True)
class RefinerSpec:
    """What is known about an engine before it is used."""

    name: str
    line: str
    """What it is, in one sentence."""
    revision: int = 1
    """Raised whenever its numbers may change."""
    cite: str = ""


@dataclass(frozen=True, slots=True)
class Refiner:
    """An engine's declaration and its function."""

    spec: RefinerSpec
    refine: RefineEngine


def _collect(module: ModuleType) -> Iterator[tuple[str, Refiner]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, RefinerSpec):
        function = getattr(module, "refine", None)
        if not callable(function) or not spec.name or not spec.line or spec.revision < 1:
            raise BadDeclaration(
                f"{module.__name__}: an engine needs a SPEC with a name, a line and a revision of "
                "at least 1, and a function `refine`."
            )
        yield spec.name, Refiner(spec, function)


REFINERS: Registry[Refiner] = Registry(
    "engine of `capture refine`", "depthgauge.capture.refine.engines", collect=_collect
)
"""All engines by name; a module joins by having a `SPEC` and a function `refine`."""
