"""Lamps: rectangles that shine to one side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Light:
    """A rectangular lamp."""

    centre: tuple[float, float, float]
    towards: tuple[float, float, float]
    """The point that it shines at."""
    size_m: tuple[float, float]
    """Width and height."""
    colour: tuple[float, float, float]
    """Relative radiance of red, green and blue."""
