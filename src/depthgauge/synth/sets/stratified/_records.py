"""Input of the kernels: surfaces, paints and ghosts as rows of numbers.

A scene lives in *disparity space*: (x, y) is where the centre view sees a point, in px from the
middle of the image, and d is its disparity. The view s steps right of the centre and t steps below
it sees at its pixel (x, y) the points (x + s d, y + t d, d); the nearest has the largest d.
So rays are lines, and planes are planes: d = level + slope_x x + slope_y y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PLANE, PROFILE, PYRAMID, PIT, BALL, BOWL = range(6)
"""Kinds of surfaces. A profile is a broken line drawn along x or y; a pit and a bowl are a pyramid
and a ball that go into a plane, seen through their opening in it."""

WHOLE, COMB, STRIPES, DOTS, HOLES = range(5)
"""Where a plane exists: everywhere, or in numbered parts."""

OCTAVES, LATTICE = 3, 128
"""Number of random lattices in a texture, and nodes along a side of one."""

SURFACE = np.dtype(
    [
        ("kind", "i8"),
        ("level", "f8"),
        ("slope_x", "f8"),
        ("slope_y", "f8"),
        ("pattern", "i8"),
        ("first", "i8"),
        ("count", "i8"),
    ]
)
"""`first` and `count` are rows of the table: middle and radius of the dots of a cell; place,
disparity and brightness of the corners of a profile."""

PAINT = np.dtype(
    [
        ("contrast", "f8"),
        ("contrast_x", "f8"),
        ("contrast_y", "f8"),
        ("ambient", "f8"),
        ("lamp_x", "f8"),
        ("lamp_y", "f8"),
        ("lamp_z", "f8"),
        ("first", "i8"),
        ("count", "i8"),
    ]
)
"""Contrast at the image's upper left corner and its rise to the other borders; light that comes
from everywhere and the direction to the lamp, for balls; rows of the table with the periods of a
pattern that repeats and the shares of the texture that do not."""

GHOST = np.dtype(
    [
        ("surface", "i8"),
        ("level", "f8"),
        ("slope_x", "f8"),
        ("slope_y", "f8"),
        ("weight", "f8"),
        ("weight_x", "f8"),
        ("blur", "f8"),
        ("blur_x", "f8"),
    ]
)
"""A plane, textured and tiled, that is seen in or through a surface: its share of the light and its
blur in px, each at the image's left border and how much more at the right one."""


class PackedScene(NamedTuple):
    """A scene. Texture n is that of surface n; those of the ghosts follow."""

    surfaces: NDArray[Any]
    numbers: NDArray[np.float64]
    """(n, 16) of each surface: eight that mean something else for each kind and pattern; focal
    length in px, baseline in m and offset in px; brightness of five parts."""
    table: NDArray[np.float64]
    """(m, 3): lists that belong to surfaces."""
    paints: NDArray[Any]
    ghosts: NDArray[Any]
    tones: NDArray[np.float64]
    """(n, 3, 3): of each texture the linear colours at -1, 0 and 1."""
    textures: NDArray[np.float64]
    """(n, octaves, 6): turn and scale (two), origin (two), weight, how fast a blur removes it."""
    lattices: NDArray[np.float32]
    """(n, octaves, nodes, nodes): random numbers."""

    def seen_from(self, right: float, down: float) -> PackedScene:
        """The scene with planes d = level + slope_x x + slope_y y in a view's own pixels."""
        surfaces, ghosts = self.surfaces.copy(), self.ghosts.copy()
        for planes in (surfaces, ghosts):
            factor = 1 / (1 - planes["slope_x"] * right - planes["slope_y"] * down)
            for name in ("level", "slope_x", "slope_y"):
                planes[name] *= factor
        return self._replace(surfaces=surfaces, ghosts=ghosts)
