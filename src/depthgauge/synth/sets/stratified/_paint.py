"""Textures: smooth random fields in three colours, the same from every view.

A texture is a function of where the centre view sees a point, so its finest detail has a known
size in pixels for any slant. Colours are linear light; images store its square root.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified._records import LATTICE, OCTAVES

Colour: TypeAlias = tuple[float, float, float]
Tones: TypeAlias = tuple[Colour, Colour, Colour]
"""Light at the lowest, the middle and the highest value of a texture."""
TO_LIGHT = (-0.48, -0.6, -0.64)
"""The direction to the lamp: from the left, from above, from behind the cameras."""
FINEST_PX = 2.0
"""Distance of the nodes of a texture's finest lattice. The shortest waves that it holds are twice
as long, and a pixel's square averages little of them away."""
_COARSER = 2.6
"""From lattice to lattice; no power of it is whole, so that their nodes never meet."""
_COARSER_WEIGHT = 0.8
"""Weight of a lattice relative to the next finer one."""
_STRENGTH = 0.5
"""Standard deviation of a texture."""
_SPLINE = 0.55
"""Share of the variance that splines keep along one axis."""
_NODES_OF_WAVE = 3.5
"""Nodes along a typical wave of a lattice."""


@dataclass(frozen=True, slots=True)
class Paint:
    """The texture and the light of a surface."""

    tones: Tones
    finest_px: float = FINEST_PX
    contrast: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """At the image's upper left corner, and its rise to the right and to the lower border."""
    faces: Sequence[float] = (1.0,) * 5
    """Brightness of each part of the surface."""
    ambient: float = 1.0
    """For balls: the share of light that comes from everywhere."""
    repeats: Sequence[tuple[float, float]] = ()
    """Bands, side by side along x, in which a pattern repeats: its period in px, and the share of
    the texture that does not repeat."""


def tones(dark: str, middle: str, bright: str) -> Tones:
    """Three colours given as `#rrggbb`, as linear light.

    >>> tones("#000000", "#800000", "#ff0000")[2]
    (1.0, 0.0, 0.0)
    """
    low, mid, high = (_light(code) for code in (dark, middle, bright))
    return low, mid, high


def _light(code: str) -> Colour:
    red, green, blue = ((int(code[i : i + 2], 16) / 255) ** 2 for i in (1, 3, 5))
    return red, green, blue


def brightness(
    grid: Grid, ambient: float, level: float, slope_x: float = 0.0, slope_y: float = 0.0
) -> float:
    """How bright a plane in disparity space is; its normal has a closed form there.

    Args:
        grid: The cameras.
        ambient: Share of the light that comes from everywhere; Lambert's cosine gives the rest.
        level: Disparity at the middle of the image.
        slope_x: Its rise along x.
        slope_y: Its rise along y.
    """
    normal = (slope_x * grid.focal_px, slope_y * grid.focal_px, level + grid.offset_px)
    cosine = -sum(n * to for n, to in zip(normal, TO_LIGHT, strict=True)) / math.hypot(*normal)
    return ambient + (1 - ambient) * max(cosine, 0.0)


def random_texture(
    seed: Sequence[int], finest_px: float
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """A texture as the kernels read it.

    Returns:
        For each lattice: turn and scale (two numbers), origin (two), weight, and how fast a blur
        removes it; and the numbers at the lattices' nodes.
    """
    rng = np.random.default_rng(seed)
    pitch = finest_px * _COARSER ** np.arange(OCTAVES)
    weights = _COARSER_WEIGHT ** np.arange(OCTAVES)
    weights *= _STRENGTH / (_SPLINE * math.sqrt(float((weights**2).sum())))
    angles = rng.uniform(0, math.tau, OCTAVES)
    origins = rng.uniform(0, LATTICE, (2, OCTAVES))
    # A Gaussian of standard deviation b leaves exp(-2 (pi b / length)^2) of a wave.
    thin = 2 * (math.pi / (_NODES_OF_WAVE * pitch)) ** 2
    rows = [np.cos(angles) / pitch, np.sin(angles) / pitch, *origins, weights, thin]
    most = math.sqrt(3)  # so that their variance is 1
    nodes = rng.uniform(-most, most, (OCTAVES, LATTICE, LATTICE)).astype(np.float32)
    return np.stack(rows, axis=1), nodes
