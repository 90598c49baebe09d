"""Values as colours: tables, directions of motion and of surfaces, RGB, numbered things."""

from __future__ import annotations

import colorsys
import functools
import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, Mask, is_known

Rgb = NDArray[np.uint8]
"""(H, W, 3)."""

# For each colour map a colour that does not occur in it, safe for colour-blind readers.
MISSING_COLOURS = {
    "magma": "#00b7eb",
    "RdBu_r": "#2fbf71",
    "viridis": "#ff6fd8",
    "viridis_r": "#ff6fd8",
    "YlOrRd": "#3f7fd8",
    "wheel": "#000000",
    "ball": "#000000",
    "rgb": "#ff00ff",
    "fragments": "#1c1c1c",
    "YlOrRd_r": "#3f7fd8",
    "entries": "#1c1c1c",
    "RdYlGn_r": "#ff6fd8",
}
NO_TRUTH_COLOUR = "#a6a6a6"
ASIDE_COLOUR = "#707070"
"""Colour of pixels that have truth and estimate but are not the subject of a picture."""

_BRIGHT = {"RdYlGn_r": (0.12, 0.88)}
"""The part of a colour map that is bright enough for thin lines on a dark photograph."""
LEVELS = 64
"""Steps of a colour table: too fine to see, and they make pictures a fifth smaller."""


@functools.cache
def colour_table(name: str) -> Rgb:
    """(1, LEVELS, 3): the colours of matplotlib's map of that name, darkest end first."""
    import matplotlib as mpl

    colours = mpl.colormaps[name](np.linspace(*_BRIGHT.get(name, (0, 1)), LEVELS))[:, :3]
    table: Rgb = np.rint(255 * colours).astype(np.uint8)[None]
    table.setflags(write=False)
    return table


def paint(values: Map, known: Mask, colours: str, low: float, high: float) -> Rgb:
    """One value per pixel as a colour; missing estimates and missing truth have their own colours.

    Args:
        values: (H, W), NaN where there is no estimate.
        known: Where there is truth.
        colours: Name of a colour map.
        low: Value of the first colour.
        high: Value of the last.
    """
    share = (values - low) / ((high - low) or 1.0)
    steps = np.nan_to_num(np.clip(share, 0, 1) * (LEVELS - 1), nan=0.0)
    picture = colour_table(colours)[0][np.rint(steps).astype(np.intp)]
    return _with_masks(picture, np.isfinite(values), known, colours)


def paint_flow(flow: Map, known: Mask, longest: float) -> Rgb:
    """Flow by direction (hue) and length (saturation; white where nothing moves).

    Args:
        flow: (H, W, 2), NaN where there is no estimate.
        known: Where there is truth.
        longest: Length of full saturation.
    """
    u, v = np.nan_to_num(flow[..., 0]), np.nan_to_num(flow[..., 1])
    length = np.clip(np.hypot(u, v) / (longest or 1.0), 0, 1)[..., None]
    turn = np.arctan2(v, u) / (2 * math.pi)
    third = np.array([0.0, 1 / 3, 2 / 3])
    full = 0.5 + 0.5 * np.cos(2 * math.pi * (turn[..., None] - third))
    picture = np.rint(255 * (1 - length * (1 - full))).astype(np.uint8)
    return _with_masks(picture, is_known(flow), known, "wheel")


def flow_wheel(size: int = 64) -> NDArray[np.uint8]:
    """(size, size, 4) RGBA: the legend of `paint_flow`, transparent outside the disc."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    u, v = np.meshgrid(axis, axis)
    inside = np.hypot(u, v) <= 1
    picture = paint_flow(np.stack([u, v], axis=-1), np.ones(u.shape, bool), 1.0)
    return np.dstack([picture, np.where(inside, 255, 0).astype(np.uint8)])


def paint_rgb(values: Map, known: Mask, low: float, high: float) -> Rgb:
    """Three values as red, green and blue.

    Args:
        values: (H, W, 3), NaN where there is no estimate.
        known: Where there is truth.
        low: Value of black.
        high: Value of white.
    """
    share = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1.0), 0, 1)
    return _with_masks(np.rint(255 * share).astype(np.uint8), is_known(values), known, "rgb")


def paint_normals(normals: Map, known: Mask) -> Rgb:
    """Unit normals as colours: light blue to the viewer, redder to the right, greener upwards.

    Args:
        normals: (H, W, 3) in camera axes (x right, y down, z forward); NaN where there is none.
        known: Where there could be one.
    """
    # y down and z forward point away from what green and blue stand for.
    share = (1 + np.nan_to_num(normals) * np.array([1, -1, -1], np.float32)) / 2
    picture = np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8)
    return _with_masks(picture, is_known(normals), known, "ball")


def normal_ball(size: int = 64) -> NDArray[np.uint8]:
    """(size, size, 4) RGBA: the legend of `paint_normals`, a ball seen from the front."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    x, y = np.meshgrid(axis, axis)
    inside = np.hypot(x, y) <= 1
    z = -np.sqrt(np.clip(1 - x * x - y * y, 0, 1))
    picture = paint_normals(np.stack([x, y, z], axis=-1), np.ones(x.shape, bool))
    return np.dstack([picture, np.where(inside, 255, 0).astype(np.uint8)])


@functools.cache
def fragment_table(count: int = 60) -> Rgb:
    """(1, count, 3): colours such that neighbouring numbers get very different ones."""
    golden = (math.sqrt(5) - 1) / 2
    shades = ((0.85, 1.0), (0.55, 1.0), (0.9, 0.75))
    colours = [
        colorsys.hsv_to_rgb((0.1 + n * golden) % 1, *shades[n % len(shades)]) for n in range(count)
    ]
    table: Rgb = np.rint(255 * np.array(colours)).astype(np.uint8)[None]
    table.setflags(write=False)
    return table


def paint_fragments(numbers: Map, known: Mask) -> Rgb:
    """Each number in its own colour, while there are enough; 0 is dark.

    Args:
        numbers: (H, W): 1, 2 ... on fragments, 0 where nothing was found; NaN elsewhere.
        known: Where there is truth.
    """
    table = fragment_table()[0]
    found = np.nan_to_num(numbers) > 0
    which = np.where(found, np.nan_to_num(numbers) - 1, 0).astype(np.intp) % len(table)
    return _with_masks(table[which], found, known, "fragments")


def rgb_of(text: str) -> tuple[int, int, int]:
    """The three numbers of a colour.

    >>> rgb_of("#00b7eb")
    (0, 183, 235)
    """
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def hex_of(colour: NDArray[np.uint8]) -> str:
    """A colour as `#rrggbb`."""
    return "#" + "".join(f"{int(part):02x}" for part in colour)


def _with_masks(picture: Rgb, estimated: Mask, known: Mask, colours: str) -> Rgb:
    picture[known & ~estimated] = rgb_of(MISSING_COLOURS[colours])
    picture[~known] = rgb_of(NO_TRUTH_COLOUR)
    return picture
