"""What the cameras of a scene see: depths at pixel centres, smooth images, visibility."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.closed_form.rays import Hits, View, cast, pick, points
from depthgauge.synth.render.closed_form.shading import lamps, shade
from depthgauge.synth.scene.frame import Array, Triple
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.scene.texture import stored
from depthgauge.types import Mask

_TILE = (160, 120)
"""Pixels processed at once: enough for NumPy, few enough for the processor's cache."""
_INSIDE, _AT_EDGES = 2, 4
"""Samples along a pixel's side, inside surfaces and where two meet."""
_SAME_DEPTH = 1e-6
"""Two depths within this relative difference belong to one point."""


def centre_hits(scene: ShapeScene, view: View) -> Hits:
    """What the rays through all pixel centres meet, as (H, W) arrays."""
    width, height = view.size_px
    found = Hits(np.full((height, width), np.inf), np.full((height, width), -1, np.int16))
    for rows, columns in _tiles(view.size_px):
        y, x = np.mgrid[rows, columns].astype(np.float64)
        part = cast(scene.things, view, x, y)
        found.depth_m[rows, columns] = part.depth_m
        found.which[rows, columns] = part.which
    return found


def seen_by(scene: ShapeScene, other: View, disparity_px: Array) -> Mask:
    """Which points, of left pixel centres with these disparities, the right camera sees.

    A point is seen if it lies in the right image and nothing is nearer along the ray.
    """
    height, width = disparity_px.shape
    seen = np.zeros((height, width), bool)
    depth_m = _focal_baseline(scene, other) / disparity_px
    for rows, columns in _tiles((width, height)):
        y, x = np.mgrid[rows, columns].astype(np.float64)
        there = x - disparity_px[rows, columns]
        first = cast(scene.things, other, there, y)
        clear = first.depth_m >= depth_m[rows, columns] * (1 - _SAME_DEPTH)
        seen[rows, columns] = clear & (there >= -0.5) & (there < width - 0.5)
    return seen


def disparity(scene: ShapeScene, view: View, depth_m: Array) -> Array:
    """x_left - x_right of points at depths."""
    return _focal_baseline(scene, view) / depth_m


def picture(scene: ShapeScene, view: View, which: NDArray[Any]) -> Array:
    """The image (H, W, 3) without noise, values 0..255 not yet rounded.

    A pixel is the mean light over its square.

    Args:
        scene: What is seen.
        view: By which camera.
        which: The things at the pixel centres; where neighbours differ, more rays are cast.
    """
    edges = _edges(which)
    lit_from = lamps(scene)
    light = np.zeros((*which.shape, 3), np.float32)
    for y, x in _batches(~edges):
        light[y, x] = _mean_light(scene, view, lit_from, (x, y), _INSIDE)
    for y, x in _batches(edges):
        light[y, x] = _mean_light(scene, view, lit_from, (x, y), _AT_EDGES)
    return stored(light)


def noisy(image: Array, levels: float, seed: Sequence[int]) -> NDArray[np.uint8]:
    """The stored image, with noise of this standard deviation in grey levels."""
    noise = np.random.default_rng(seed).normal(0, levels, image.shape)
    return np.rint(np.clip(image + noise, 0, 255)).astype(np.uint8)


def _batches(chosen: Mask) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Rows and columns of chosen pixels, in batches of nearby ones."""
    height, width = chosen.shape
    for rows, columns in _tiles((width, height)):
        y, x = np.nonzero(chosen[rows, columns])
        if x.size:
            yield y + rows.start, x + columns.start


def _mean_light(
    scene: ShapeScene,
    view: View,
    lit_from: tuple[Triple, ...],
    at_px: tuple[NDArray[Any], NDArray[Any]],
    side: int,
) -> Array:
    """Mean colour (N, 3) of side x side rays through each pixel, over all lamps."""
    offsets = (np.arange(side) + 0.5) / side - 0.5
    total = np.zeros((at_px[0].size, 3), np.float32)
    for lamp, direction in enumerate(lit_from):
        # Of every two by two rays, each is lit by another lamp.
        down, across = np.meshgrid(offsets[lamp // 2 :: 2], offsets[lamp % 2 :: 2])
        # The result has eight bits: single precision is enough and twice as fast.
        x, y = (
            (at[:, np.newaxis] + aside.ravel()).astype(np.float32).ravel()
            for at, aside in zip(at_px, (across, down), strict=True)
        )
        total += _light(scene, view, direction, x, y).reshape(total.shape[0], -1, 3).sum(axis=1)
    return total / side**2


def _light(scene: ShapeScene, view: View, lamp: Triple, x_px: Array, y_px: Array) -> Array:
    """Colours (N, 3) along rays."""
    hits = cast(scene.things, view, x_px, y_px)
    at = points(view, x_px, y_px, hits.depth_m)
    out = np.zeros((x_px.size, 3), np.float32)
    for index in np.unique(hits.which):
        mine = np.flatnonzero(hits.which == index)
        for channel, values in enumerate(shade(scene.things, int(index), pick(at, mine), lamp)):
            out[mine, channel] = values
    return out


def _edges(which: NDArray[Any]) -> Mask:
    """Pixels with a neighbour on another thing, diagonals included."""
    edges = np.zeros(which.shape, bool)
    for here, there in (
        (np.s_[:, 1:], np.s_[:, :-1]),
        (np.s_[1:], np.s_[:-1]),
        (np.s_[1:, 1:], np.s_[:-1, :-1]),
        (np.s_[1:, :-1], np.s_[:-1, 1:]),
    ):
        differ = which[here] != which[there]
        edges[here] |= differ
        edges[there] |= differ
    return edges


def _tiles(size_px: tuple[int, int]) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of tiles that cover an image."""
    (width, height), (wide, high) = size_px, _TILE
    for top in range(0, height, high):
        for left in range(0, width, wide):
            yield slice(top, min(top + high, height)), slice(left, min(left + wide, width))


def _focal_baseline(scene: ShapeScene, view: View) -> float:
    return view.focal_px * scene.baseline_m
