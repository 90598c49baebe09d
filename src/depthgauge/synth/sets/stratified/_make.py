"""Making and writing scenes: the functions that `depthgauge.synth.sets.stratified` offers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._progress import Progress
from depthgauge.errors import Misuse
from depthgauge.synth.sets.stratified import _render
from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified._light_field import LightField
from depthgauge.synth.sets.stratified._model import packed
from depthgauge.synth.sets.stratified._scene import REVISION, Scene, View
from depthgauge.synth.sets.stratified._scene_list import SCENES, TYPES, axes_of, scene
from depthgauge.types import Inputs, Map, Sample, Truth

SIZE_PX, VIEWS, SCALE = 512, 9, 10
"""The values of the 4D light-field benchmark."""
PAIRS_ID = "stratified-pairs"
MOST_NOISE = 255.0
"""Grey levels of an image."""
_SIZES, _VIEWS, _SCALES = (64, 4096), (1, 17), (1, 16)


def make_scene(
    name: str,
    *,
    size_px: int = SIZE_PX,
    views: int = VIEWS,
    scale: int = SCALE,
    seed: int = 0,
    sensor_noise: float | None = None,
    **axes: Axis | str | Sequence[float],
) -> Sample:
    """A scene as a light field; each part is computed when it is first used.

    Inputs are `views`, `centre_image`, `disparity_range`, `rig` and `parameters`. The truth has
    `disparity`, `depth` and the scene's masks and numbered regions at the size of the views, and
    all of them again, their names beginning with `high_`, `scale` times as large. A pixel's
    disparity and depth are upper medians over its scale x scale parts, each computed separately.

    Args:
        name: One of `SCENES`.
        size_px: Width and height of the views. The scene is the same at every size, and so are its
            disparities in pixels: smaller images have a longer baseline.
        views: Number of views along a side of the camera grid; odd.
        scale: How many times larger the high-resolution truth is.
        seed: Seed of textures and noise; the truth does not depend on it.
        sensor_noise: Standard deviation of the sensors' noise in grey levels; none: the scene's.
        axes: The scene's own axes: `noise="0:0.2:15"` or `noise=Axis(0, 0.2, 15)`.

    Raises:
        UnknownName: There is no such scene.
        Misuse: It has no such axis, or a number is out of its limits.
    """
    _check(size_px, views, scale, seed, sensor_noise)
    made = scene(name, axes)
    return LightField(made, size_px, views, scale, seed, _noise(made, sensor_noise)).sample()


def make_pair(
    name: str,
    *,
    size_px: int = SIZE_PX,
    seed: int = 0,
    sensor_noise: float | None = None,
    **axes: Axis | str | Sequence[float],
) -> Sample:
    """A scene as a rectified stereo pair.

    Inputs are `left_image`, `right_image`, `disparity_range` and `rig`. The truth has `disparity`,
    `right_disparity` and `depth` of the rays through pixel centres, `visible_mask`, and the scene's
    masks and numbered regions. The left image is the light field's centre view; the right one is
    eight baselines away, and shifted so that disparities begin near 0.

    Args:
        name: One of `SCENES`.
        size_px: Width and height.
        seed: Seed of textures and noise; the truth does not depend on it.
        sensor_noise: Standard deviation of the sensors' noise in grey levels; none: the scene's.
        axes: The scene's own axes.

    Raises:
        UnknownName: There is no such scene.
        Misuse: It has no such axis, or a number is out of its limits.
    """
    _check(size_px, 1, 1, seed, sensor_noise)
    made = scene(name, axes)
    return pair(made, size_px, seed, _noise(made, sensor_noise))


def write_scenes(
    root: Path,
    *,
    names: Sequence[str] = SCENES,
    size_px: int = SIZE_PX,
    views: int = VIEWS,
    scale: int = SCALE,
    seed: int = 0,
    sensor_noise: float | None = None,
    axes: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> None:
    """Writes light fields in the benchmark's layout, `<root>/stratified/dots/` and so on.

    Our own scenes, which are not in the benchmark, go to `<root>/other/`.

    Args:
        root: The folder; it is created if necessary.
        names: Names of the scenes.
        size_px: Width and height of the views.
        views: Number of views along a side of the camera grid.
        scale: How many times larger the high-resolution truth is.
        seed: Seed of textures and noise.
        sensor_noise: Standard deviation of the sensors' noise in grey levels; none: each scene's.
        axes: Axes by name; each applies to the scenes that have it.
        progress: Called before each scene with its name, the number done and the total.
        overwrite: Replaces existing scenes.
    """
    from depthgauge.datasets import DATASETS

    _check(size_px, views, scale, seed, sensor_noise)
    made = _scenes(names, axes or {})
    samples = (
        LightField(one, size_px, views, scale, seed, _noise(one, sensor_noise)).sample()
        for one in made
    )
    DATASETS["hci4d"].write(root, _told(samples, names, progress), overwrite=overwrite)


def write_pairs(
    root: Path,
    *,
    names: Sequence[str] = SCENES,
    size_px: int = SIZE_PX,
    seed: int = 0,
    sensor_noise: float | None = None,
    axes: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> None:
    """Writes stereo pairs as a `depthgauge` dataset folder; see `write_scenes`."""
    from depthgauge.datasets import DATASETS

    _check(size_px, 1, 1, seed, sensor_noise)
    made = _scenes(names, axes or {})
    samples = (pair(one, size_px, seed, _noise(one, sensor_noise)) for one in made)
    DATASETS["depthgauge"].write(
        root,
        _told(samples, names, progress),
        id=PAIRS_ID,
        title="Stratified scenes as stereo pairs",
        licence="CC0-1.0",
        made_by={
            "program": "depthgauge.synth.stratified",
            "revision": REVISION,
            "size_px": size_px,
            "steps": STEPS,
            "seed": seed,
            **({} if sensor_noise is None else {"sensor_noise": sensor_noise}),
            "axes": {axis: str(Axis.of(values)) for axis, values in (axes or {}).items()},
        },
        overwrite=overwrite,
    )


def _scenes(names: Sequence[str], axes: Mapping[str, Any]) -> list[Any]:
    """The scenes, each with its own axes; every axis must belong to a scene."""
    made = []
    for name in names:
        known = axes_of(name)
        made.append(scene(name, {axis: axes[axis] for axis in axes if axis in known}))
    for axis in axes:
        if not any(axis in axes_of(name) for name in names):
            owners = [name for name in TYPES if axis in axes_of(name)]
            where = f"it is an axis of '{owners[0]}'" if owners else "no scene has it"
            raise Misuse(f"'{axis}' is not an axis of {', '.join(names)}: {where}.")
    return made


def _told(
    samples: Iterator[Sample], names: Sequence[str], progress: Progress | None
) -> Iterator[Sample]:
    for done, name in enumerate(names):
        if progress is not None:
            progress(name, done, len(names))
        yield next(samples)


def _noise(scene: Scene, given: float | None) -> float:
    return scene.sensor_noise if given is None else given


def _check(
    size_px: int, views: int, scale: int, seed: int, sensor_noise: float | None = None
) -> None:
    for what, number, (low, high) in (
        ("a size", size_px, _SIZES),
        ("the views along a side", views, _VIEWS),
        ("a scale", scale, _SCALES),
    ):
        if not low <= number <= high:
            raise Misuse(f"stratified scenes need {what} from {low} to {high}; found {number}")
    if views % 2 == 0:
        raise Misuse(f"a camera grid with a centre has an odd number of views; found {views}")
    if seed < 0:
        raise Misuse(f"a seed is 0 or more; found {seed}")
    if sensor_noise is not None and not 0 <= sensor_noise <= MOST_NOISE:
        raise Misuse(
            f"the sensors' noise is 0 to {MOST_NOISE:g} grey levels; found {sensor_noise:g}"
        )


# --- a scene as a rectified stereo pair -----------------------------------------------------------


STEPS = 8.0
"""Baselines between the two: as far as the outermost views of a 9x9 light field are apart."""


def pair(scene: Scene, size_px: int, seed: int, sensor_noise: float = 0.0) -> Sample:
    """Images, rig, disparity range; disparities of both views, depth, what both see, regions.

    The left image is the light field's centre view. The right one is shifted so that disparities
    are positive: d = steps (d_light_field - lowest), where lowest is the start of the range.
    """
    grid = Grid(scene.optics, size_px)
    numbers = packed(scene.things(grid, STEPS), grid, scene.seed(seed))
    lowest, highest = scene.disparity_range(grid)
    flaws = scene.flaws(size_px)
    left, right = View(), flaws.view(STEPS, 0.0, 1.0, 1.0, shift_px=-STEPS * lowest)
    found = _render.truth(numbers, left, size_px, kind=np.float64)
    other = _render.truth(numbers, right, size_px, kind=np.float64)
    rig = grid.pair_rig(STEPS, lowest)

    def stereo(disparity: np.ndarray) -> Map:
        return (STEPS * (disparity - lowest)).astype(np.float32)

    truth: dict[str, Any] = {
        "disparity": stereo(found.disparity),
        "right_disparity": stereo(other.disparity),
        "depth": (grid.focal_px * grid.baseline_m / (found.disparity + grid.offset_px)).astype(
            np.float32
        ),
        "visible_mask": _render.visible(numbers, right, found.disparity),
    }
    regions = _render.regions(scene, found, size_px)
    items = _render.region_items(scene)
    truth |= {items[name]: values for name, values in regions.items()}
    if axes := _render.axes_item(scene):
        truth["axes"] = axes

    def image(view: View, number: int) -> np.ndarray:
        own = (*scene.seed(seed), number)
        return _render.image(scene, numbers, view, size_px, sensor_noise, own)

    inputs = {
        "left_image": image(left, 0),
        "right_image": image(right, 1),
        "disparity_range": (0, math.ceil(STEPS * (highest - lowest))),
        "rig": rig,
    }
    return Sample(scene.name, Inputs(inputs), Truth(truth))
