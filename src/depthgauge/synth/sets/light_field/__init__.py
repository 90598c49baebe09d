"""The stereo scenes as light fields, in the layout of the 4D light field benchmark.

A grid of cameras with parallel axes looks at one of the stereo scenes; their sensors are shifted so
that a point at the focus distance is at the same pixel of every view. Truth and masks are those of
the centre view, at image resolution and several times finer:

    sample = make_light_field("clutter", size_px=256, views=5, scale=4)
    sample.inputs.views, sample.truth.high_disparity
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress
from depthgauge._registry import unknown
from depthgauge.errors import CannotWrite, Misuse
from depthgauge.io import LightFieldParameters
from depthgauge.synth.library.still_lifes import scene
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.sets.light_field import _truth as fine
from depthgauge.synth.sets.light_field._grid import Grid, grid
from depthgauge.synth.sets.light_field._truth import masks
from depthgauge.synth.sets.stereo_scenes import NOISE_LEVELS, SCENES
from depthgauge.types import Inputs, Map, Sample, Truth

SIZE_PX, VIEWS, SCALE = 512, 9, 10
"""The benchmark's image size, views along a side of the grid, and scale of the fine truth."""
CATEGORY = "other"
"""The benchmark's folder for other scenes."""
REVISION = 1
"""Raised whenever the generator may give other bytes."""
_SMALLEST_PX = 8


class Options(TypedDict, total=False):
    """Parameters of a light field; see `make_light_field`."""

    size_px: int
    views: int
    scale: int
    seed: int
    baseline_m: float | None
    focus_m: float | None
    range_px: float | None


def make_light_field(
    name: str,
    *,
    size_px: int = SIZE_PX,
    views: int = VIEWS,
    scale: int = SCALE,
    seed: int = 0,
    baseline_m: float | None = None,
    focus_m: float | None = None,
    range_px: float | None = None,
    progress: Progress | None = None,
) -> Sample:
    """One scene as a light field, with the truth and the masks of its centre view.

    Inputs are `views` (rows, columns, H, W, 3), `centre_image`, `disparity_range`, `rig` and
    `parameters`. The truth has `disparity` (px per step between neighbouring views) and `depth`;
    the masks `discontinuities`, `planes`, `smooth_surfaces`, `fine` and `fine_surrounding`, if the
    scene has any; and all of these again as `high_...`, `scale` times as fine.

    Args:
        name: One of `SCENES`.
        size_px: Width and height of every view.
        views: Number of views along a side of the grid; odd, so that there is a centre.
        scale: Pixels of the fine truth along a pixel of the views. The truth of the views' size is
            the upper median of each tile of scale x scale.
        seed: Seed of the images' noise; the scene and its truth are always the same.
        baseline_m: Distance between neighbouring cameras.
        focus_m: Distance of the focus plane, infinity for parallel cameras.
        range_px: Alternatively, the largest disparity on either side of 0. Without any of the
            three, disparities are about -1.8 to 1.8 px at 512 px, and in proportion at other sizes.
        progress: Called with the scene's name, the work done and the total.

    Raises:
        UnknownName: There is no such scene.
        Misuse: A number is impossible, or the cameras would be inside the scene.
    """
    _check_name(name)
    _check(size_px, views, scale, seed)
    _check_positive(baseline_m=baseline_m, focus_m=focus_m, range_px=range_px)
    rigged = grid(
        scene(name), size_px, views, baseline_m=baseline_m, focus_m=focus_m, range_px=range_px
    )
    images = np.zeros((views, views, size_px, size_px, 3), np.uint8)
    found = fine.empty(rigged, scale)
    jobs = [partial(fine.fill, found, rigged, scale, rows) for rows in fine.bands(found)]
    jobs += [
        partial(_take, images, rigged, at, (seed, SCENES.index(name), *at))
        for at in np.ndindex(views, views)
    ]
    _work(jobs, partial(progress, name) if progress else None)
    return _sample(name, rigged, images, found, scale)


def write_light_fields(
    root: Path,
    names: Sequence[str] = SCENES,
    *,
    progress: Progress | None = None,
    overwrite: bool = False,
    **options: Unpack[Options],
) -> None:
    """Writes scenes as `<root>/other/<scene>/` in the layout of the 4D light field benchmark.

    Args:
        root: The folder; it is created if necessary.
        names: Names of the scenes.
        progress: Called with a scene's name, the work done for all scenes and the total.
        overwrite: Replaces existing scenes.
        options: As for `make_light_field`: sizes, seed, baseline, focus and range.

    Raises:
        CannotWrite: A scene exists already; nothing was made.
    """
    from depthgauge.datasets import DATASETS

    for name in names:
        _check_name(name)
        folder = Path(root) / CATEGORY / name
        # Checked now, not after minutes of work.
        if not overwrite and (folder / "parameters.cfg").exists():
            raise CannotWrite(f"{folder}: holds a scene already; write elsewhere or overwrite it.")

    def made() -> Iterator[Sample]:
        for before, name in enumerate(names):
            share = None if progress is None else _of_all(progress, before, len(names))
            yield make_light_field(name, **options, progress=share)

    DATASETS["hci4d"].write(root, made(), category=CATEGORY, overwrite=overwrite)


def _of_all(progress: Progress, before: int, count: int) -> Progress:
    """Turns progress of one scene into progress of all."""
    return lambda name, done, whole: progress(name, before * whole + done, count * whole)


def _check_name(name: str) -> None:
    if name not in SCENES:
        raise unknown("scene", name, SCENES)


def _check(size_px: int, views: int, scale: int, seed: int) -> None:
    if size_px < _SMALLEST_PX or views < 3 or views % 2 == 0 or scale < 1 or seed < 0:
        wanted = f"{_SMALLEST_PX} px or more, an odd number of views from 3, a scale from 1"
        found = f"{size_px} px, {views} views, scale {scale} and seed {seed}"
        raise Misuse(f"a light field needs {wanted} and a seed from 0; found {found}.")


def _check_positive(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not (value > 0 and (value < math.inf or name == "focus_m")):
            raise Misuse(f"{name} must be a positive number, found {value:g}.")


def _take(
    images: NDArray[np.uint8], rigged: Grid, at: tuple[int, int], seed: tuple[int, ...]
) -> None:
    """The picture of one view."""
    view = rigged.view(*at)
    which = pictures.centre_hits(rigged.scene, view).which
    images[at] = pictures.noisy(pictures.picture(rigged.scene, view, which), NOISE_LEVELS, seed)


def _work(jobs: Sequence[Callable[[], None]], progress: Callable[[int, int], None] | None) -> None:
    """Runs the jobs, which write to different places, on all cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, _ in enumerate(pool.map(lambda job: job(), jobs), start=1):
            if progress is not None:
                progress(done, len(jobs))


def _sample(
    name: str, rigged: Grid, images: NDArray[np.uint8], found: fine.FineTruth, scale: int
) -> Sample:
    parameters = _described(name, rigged.parameters, found.disparity, scale)
    inputs = {
        "views": images,
        "centre_image": images[images.shape[0] // 2, images.shape[1] // 2],
        "disparity_range": parameters.disparity_range,
        "rig": parameters.rig,
        "parameters": parameters,
    }
    maps: dict[str, NDArray[Any]] = {"disparity": found.disparity, "depth": found.depth}
    for mask_name, mask in masks(rigged.scene, found, scale).items():
        maps[f"{mask_name}_mask"] = mask
    high = {f"high_{item}": values for item, values in maps.items()}
    low = {item: fine.coarse(values, scale) for item, values in maps.items()}
    return Sample(name, Inputs(inputs), Truth({**low, **high}))


def _described(
    name: str, parameters: LightFieldParameters, disparity: Map, scale: int
) -> LightFieldParameters:
    """With the scene's name and range: a tenth wider than the truth, as in the benchmark."""
    low = math.floor(10 * float(disparity.min())) / 10 - 0.1
    high = math.ceil(10 * float(disparity.max())) / 10 + 0.1
    return replace(
        parameters,
        scene=name,
        category=CATEGORY,
        version=str(REVISION),
        disp_min=round(low, 1),
        disp_max=round(high, 1),
        depth_map_scale=float(scale),
    )
