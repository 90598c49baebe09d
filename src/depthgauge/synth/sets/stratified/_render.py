"""Images, exact truth at any resolution, and masks of a scene's views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from depthgauge.synth.sets.stratified._records import PackedScene
from depthgauge.synth.sets.stratified._scene import Region, Scene, View, VisiblePoints
from depthgauge.types import Map, Mask

_ANY_SIZE = 512
_WHITE = 255.0
_BLOCK_ROWS = 256
"""Rows processed at once, to keep temporary arrays small."""


@dataclass(frozen=True, slots=True)
class ExactMaps:
    """Exact maps at the middles of pixels, or of smaller ones."""

    disparity: NDArray[Any]
    surface: NDArray[np.uint8]
    part: NDArray[np.uint8]


def image(
    scene: Scene,
    numbers: PackedScene,
    view: View,
    size_px: int,
    sensor_noise: float,
    seed: tuple[int, ...],
) -> NDArray[np.uint8]:
    """The image (H, W, 3) of a view.

    Args:
        scene: What is seen.
        numbers: The same, as the kernels read it.
        view: Which camera.
        size_px: Width and height.
        sensor_noise: Standard deviation of the sensor's own noise, in grey levels.
        seed: Seed of the noise, a different one for each view.
    """
    noise = scene.flaws(size_px).noise
    if noise is not None:
        noise = _carried(noise, numbers, view)
    if sensor_noise > 0:
        of_scene = np.zeros((size_px, size_px)) if noise is None else noise
        noise = np.hypot(of_scene, sensor_noise / _WHITE)
    return exposed(light(numbers, view, size_px), view, noise, seed)


def light(scene: PackedScene, view: View, size_px: int) -> NDArray[np.float64]:
    """The light (H, W, 3) that a view gets; a pixel is the mean over its square."""
    from depthgauge.synth.sets.stratified import _kernels

    mean = np.zeros((size_px, size_px, 3))
    codes = np.zeros((size_px, size_px), np.int64)
    seen = scene.seen_from(view.right, view.down)
    for only_edges in (False, True):
        _kernels.collect(seen, view.numbers(), np.array(view.offset_px), only_edges, mean, codes)
    return mean


def exposed(
    light: NDArray[np.float64],
    view: View,
    noise: NDArray[np.float64] | None,
    seed: tuple[int, ...],
) -> NDArray[np.uint8]:
    """The image that a view makes of its light.

    Args:
        light: (H, W, 3).
        view: Which camera.
        noise: Standard deviation (H, W) of intensities 0..1; None for none.
        seed: Seed of the noise.
    """
    from depthgauge.synth.sets.stratified import _pixel_kernels

    image = np.zeros(light.shape, np.uint8)
    deviation = np.zeros((0, 0)) if noise is None else noise
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    _pixel_kernels.expose(light, np.array(view.stops), deviation, start, image)
    return image


def _carried(values: NDArray[np.float64], scene: PackedScene, view: View) -> NDArray[np.float64]:
    """Values of the centre view's pixels, where another view sees the same points."""
    size = values.shape[0]
    d = truth(scene, view, size).disparity
    middles = np.arange(size) + 0.5
    x = middles + view.shift_px + view.right * d
    y = middles[:, np.newaxis] + view.down * d
    column, row = (np.clip(at.astype(np.int64), 0, size - 1) for at in (x, y))
    carried: NDArray[np.float64] = values[row, column]
    return carried


def truth(
    scene: PackedScene, view: View, size_px: int, scale: int = 1, kind: DTypeLike = np.float32
) -> ExactMaps:
    """What a view sees, exactly.

    Args:
        scene: The numbers of the scene.
        view: Which camera.
        size_px: Width and height of its image.
        scale: How many times larger the maps are.
        kind: Kind of the disparities.
    """
    from depthgauge.synth.sets.stratified import _kernels

    shape = (scale * size_px, scale * size_px)
    disparity = np.full(shape, np.nan, kind)
    codes = [np.zeros(shape, np.uint8) for _ in range(2)]
    seen = scene.seen_from(view.right, view.down)
    _kernels.truth(seen, view.numbers(), scale, disparity, *codes)
    return ExactMaps(disparity, *codes)


def visible(scene: PackedScene, view: View, disparity: NDArray[np.float64]) -> Mask:
    """Which pixel centres of the centre view, with these disparities, another view also sees."""
    from depthgauge.synth.sets.stratified import _kernels

    mask = np.zeros(disparity.shape, bool)
    seen = scene.seen_from(view.right, view.down)
    _kernels.visible(seen, view.numbers(), disparity, mask)
    return mask


def reduced(high: ExactMaps, scale: int) -> ExactMaps:
    """Upper medians of tiles; surface and part are those of the median disparity."""
    if scale == 1:
        return high
    disparity, places = upper_median(high.disparity, scale)
    return ExactMaps(disparity, high.surface.ravel()[places], high.part.ravel()[places])


def upper_median(values: Map, scale: int) -> tuple[Map, NDArray[np.int64]]:
    """The element at index n // 2 of the n = scale^2 sorted values of each tile.

    Returns:
        The medians, and their places in the flattened map.
    """
    from depthgauge.synth.sets.stratified import _pixel_kernels

    height, width = (length // scale for length in values.shape)
    low = np.full((height, width), np.nan, values.dtype)
    places = np.zeros((height, width), np.int64)
    _pixel_kernels.upper_median(values, scale, low, places)
    return low, places


def regions(scene: Scene, found: ExactMaps, size_px: int) -> dict[str, Region]:
    """All masks and numbered regions of a scene, at the size of its maps."""
    height, width = found.surface.shape
    x = ((np.arange(width) + 0.5) * (size_px / width) - size_px / 2)[np.newaxis]
    y = ((np.arange(height) + 0.5) * (size_px / height) - size_px / 2)[:, np.newaxis]
    whole: dict[str, Region] = {}
    for top in range(0, height, _BLOCK_ROWS):
        rows = slice(top, top + _BLOCK_ROWS)
        seen = VisiblePoints(found.surface[rows], found.part[rows], x, y[rows], size_px)
        _put(whole, scene.regions(seen), rows, (height, width))
    return whole


def region_items(scene: Scene) -> dict[str, str]:
    """The item that holds each region of a scene: `<name>_mask` or `<name>_labels`."""
    dot = np.zeros((1, 1), np.uint8)
    found = regions(scene, ExactMaps(dot.astype(np.float32), dot, dot), _ANY_SIZE)
    return {
        name: f"{name}_mask" if values.dtype == bool else f"{name}_labels"
        for name, values in found.items()
    }


def axes_item(scene: Scene) -> dict[str, tuple[float, ...]]:
    """What the numbers of a scene's regions mean, for those who score them."""
    return {
        name: tuple(float(f"{level:.6g}") for level in levels)
        for name, levels in scene.levels().items()
    }


def _put(
    whole: dict[str, Region], some: Mapping[str, Region], rows: slice, shape: tuple[int, int]
) -> None:
    for name, values in some.items():
        if name not in whole:
            whole[name] = np.zeros(shape, bool if values.dtype == bool else np.uint8)
        whole[name][rows] = values
