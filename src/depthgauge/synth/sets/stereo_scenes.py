"""Eight stereo scenes in closed form, with exact truth.

A rectified pair of cameras looks at planes, boxes, ellipsoids and cylinders. Every ray is cast by a
formula, so the truth is exact to the last digit of float32 and every pixel of both views has one.
Nothing is downloaded, and only the images' noise is random:

    sample = make_scene("clutter")
    sample.inputs.left_image, sample.truth.disparity
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from depthgauge._progress import Progress
from depthgauge._registry import unknown
from depthgauge.errors import Misuse
from depthgauge.synth.library.still_lifes import BUILDERS, scene
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.render.closed_form.rays import Hits, View, points, rig, views
from depthgauge.synth.scene.frame import Array
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.types import Inputs, Mask, Sample, Truth

SCENES: tuple[str, ...] = tuple(sorted(BUILDERS))
"""The names of the scenes; each says what is hard in it."""
SIZE_PX = (480, 360)
DATASET_ID = "stereo-scenes"
REVISION = 1
"""Raised whenever the generator may give other bytes."""
NOISE_LEVELS = 1.0
"""Standard deviation of the images' noise in grey levels of 255."""
_SMALLEST_PX = 8
_MARGIN = 0.1
"""How much wider than the truth the disparity range is, as a share; at least 1 px."""


def make_scene(name: str, size_px: tuple[int, int] = SIZE_PX, seed: int = 0) -> Sample:
    """One scene with its images, rig, disparity range, and truth.

    The truth has `disparity` and `right_disparity` of the rays through the pixel centres;
    `visible_mask`; `thin_mask`, `planar_mask` and `curved_mask`, which together cover the whole
    image; `plain_mask` and `repetitive_mask`, where a surface has no texture or one that repeats.

    Args:
        name: One of `SCENES`.
        size_px: Width and height. The field of view depends on the width, so disparities and the
            widths of thin bars (1 to 3 px at 480) grow with it.
        seed: Seed of the images' noise; the scene and its truth are always the same.

    Raises:
        UnknownName: There is no such scene.
    """
    if name not in SCENES:
        raise unknown("scene", name, SCENES)
    if min(size_px) < _SMALLEST_PX or seed < 0:
        wanted = f"a scene needs {_SMALLEST_PX} px or more and a seed from 0"
        raise Misuse(f"{wanted}; found {size_px} and seed {seed}")
    made = scene(name)
    pair = views(made, size_px)
    hits = [pictures.centre_hits(made, view) for view in pair]
    left, right = (
        pictures.disparity(made, view, seen.depth_m) for view, seen in zip(pair, hits, strict=True)
    )
    images = [
        pictures.noisy(
            pictures.picture(made, view, seen.which),
            NOISE_LEVELS,
            (seed, SCENES.index(name), side),
        )
        for side, (view, seen) in enumerate(zip(pair, hits, strict=True))
    ]
    inputs = {
        "left_image": images[0],
        "right_image": images[1],
        "disparity_range": _range(left, right),
        "rig": rig(made, size_px),
    }
    truth = {
        "disparity": left.astype(np.float32),
        "right_disparity": right.astype(np.float32),
        "visible_mask": pictures.seen_by(made, pair[1], left),
        **_masks(made, pair[0], hits[0]),
    }
    return Sample(name, Inputs(inputs), Truth(truth))


def make_scenes(
    names: Sequence[str] = SCENES, size_px: tuple[int, int] = SIZE_PX, seed: int = 0
) -> Iterator[Sample]:
    """The scenes one after another, each made when it is requested."""
    for name in names:
        yield make_scene(name, size_px, seed)


def write_scenes(
    root: Path,
    *,
    size_px: tuple[int, int] = SIZE_PX,
    seed: int = 0,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> None:
    """Writes all scenes as a `depthgauge` dataset folder, for the benchmark `stereo-scenes`.

    Args:
        root: The folder; it is created if necessary.
        size_px: Width and height of the images.
        seed: Seed of the images' noise.
        progress: Called before each scene with its name, the number done and the total.
        overwrite: Replaces an existing dataset.
    """
    from depthgauge.datasets import DATASETS

    def reported() -> Iterator[Sample]:
        for done, name in enumerate(SCENES):
            if progress is not None:
                progress(name, done, len(SCENES))
            yield make_scene(name, size_px, seed)

    DATASETS["depthgauge"].write(
        root,
        reported(),
        id=DATASET_ID,
        title="Stereo scenes in closed form",
        licence="CC0-1.0",
        made_by={
            "program": "depthgauge.synth.stereo_scenes",
            "revision": REVISION,
            "size_px": list(size_px),
            "seed": seed,
        },
        overwrite=overwrite,
    )


def _range(left: Array, right: Array) -> tuple[int, int]:
    """Whole disparities around those of both views."""
    low = min(float(left.min()), float(right.min()))
    high = max(float(left.max()), float(right.max()))
    margin = max(1.0, _MARGIN * (high - low))
    return max(0, math.floor(low - margin)), math.ceil(high + margin)


def _masks(made: ShapeScene, view: View, hits: Hits) -> dict[str, Mask]:
    """What kind of surface each pixel centre is on."""
    y, x = np.mgrid[: view.size_px[1], : view.size_px[0]].astype(np.float64)
    at = points(view, x, y, hits.depth_m)
    curved = np.zeros(hits.which.shape, bool)
    for index in np.unique(hits.which):
        mine = hits.which == index
        shape = made.things[index].shape
        curved[mine] = shape.curved(
            shape.frame.point_inside((at[0][mine], at[1][mine], at[2][mine]))
        )
    thin = _where([thing.thin for thing in made.things], hits)
    return {
        "thin_mask": thin,
        "planar_mask": ~thin & ~curved,
        "curved_mask": ~thin & curved,
        "plain_mask": _where([thing.paint.plain and not thing.thin for thing in made.things], hits),
        "repetitive_mask": _where([thing.paint.repetitive for thing in made.things], hits),
    }


def _where(flags: Sequence[bool], hits: Hits) -> Mask:
    """The pixels on things that have a flag."""
    mask: Mask = np.array(flags)[hits.which]
    return mask
