"""Writes scenes in Booster's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._booster import calibration as calib
from depthgauge.datasets._booster import layout
from depthgauge.datasets._hashing import things_hash
from depthgauge.datasets._paths import inside
from depthgauge.errors import CannotWrite, DoesNotFit, Misuse, Unavailable, WrongShape
from depthgauge.types import Map, Sample, Truth

_Job = Callable[[], None]
_MOST_LABEL = 255


def write_samples(
    root: Path, samples: Iterable[Sample], split: str, setup: str, overwrite: bool
) -> None:
    """Writes the scenes one by one; the samples of a scene need not be consecutive."""
    if split not in layout.splits_of(setup):
        raise unknown("split", split, layout.splits_of(setup))
    place = layout.place_of(root, split, setup)
    scenes: dict[str, list[tuple[str, Sample]]] = {}
    for sample in samples:
        scene, file = _parts(sample.id)
        scenes.setdefault(scene, []).append((file, sample))
    for scene, found in scenes.items():
        _write_scene(inside(place, scene), found, split, setup, overwrite)


def _parts(sample_id: str) -> tuple[str, str]:
    scene, _, name = sample_id.rpartition("/")
    if not scene or "/" in scene or not layout.is_image_name(f"{name}.png"):
        raise Misuse(
            f"sample id '{sample_id}' does not fit; write SCENE/im0, SCENE/im1 ... or SCENE/0000."
        )
    return scene, f"{name}.png"


def _write_scene(
    folder: Path, found: list[tuple[str, Sample]], split: str, setup: str, overwrite: bool
) -> None:
    first = found[0][1].fresh()
    jobs = list(_calibration_job(folder, first))
    size = None
    if split != layout.UNLABELLED and first.truth is not None:
        _require_one_truth(folder, [sample for _, sample in found])
        jobs += _truth_jobs(folder, first, first.truth)
        size = first.truth["disparity"].shape
    # Everything except the pictures is read and checked before anything is removed.
    _clear(folder, overwrite)
    for job in jobs:
        job()
    written = {
        path
        for file, sample in found
        for path in _write_images(folder, file, sample.fresh(), split, setup, size)
    }
    for path in _pictures(folder):
        if path not in written:
            path.unlink()


def _require_one_truth(folder: Path, samples: list[Sample]) -> None:
    """Requires the same truth for all samples of a scene: the same object, or equal values."""
    first = samples[0].truth
    others = [sample for sample in samples[1:] if sample.truth is not first]
    if not others:
        return
    known = _truth_hash(first)
    for sample in others:
        if _truth_hash(sample.truth) != known:
            raise DoesNotFit(
                f"{folder}: the truth of {sample.id} differs from that of {samples[0].id}; in this "
                "layout a scene has one truth, so give each sample its own scene."
            )


def _truth_hash(truth: Truth | None) -> str:
    if truth is None:
        return ""
    items = truth.fresh()
    return things_hash({name: items[name] for name in _ITEMS if name in items})


def _clear(folder: Path, overwrite: bool) -> None:
    """Removes files of an earlier scene, except its pictures, which may be written again."""
    ours = [folder / name for name in (layout.CALIBRATION, *layout.TRUTH_FILES)]
    ours = [path for path in ours if path.exists()]
    if not overwrite and (ours or any(_pictures(folder))):
        raise CannotWrite(
            f"{folder}: already contains a scene; use --overwrite (overwrite=True) to replace it."
        )
    for path in ours:
        path.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def _pictures(folder: Path) -> Iterator[Path]:
    for camera in (layout.LEFT, layout.RIGHT):
        yield from (folder / camera / name for name in layout.image_names(folder / camera))


def _calibration_job(folder: Path, sample: Sample) -> Iterator[_Job]:
    inputs, truth = sample.inputs, sample.truth or Truth({})
    if "calibration" in inputs or "calibration" in truth:
        # Methods for single pictures are not given it; only the evaluator has it.
        values = (inputs if "calibration" in inputs else truth)["calibration"]
    elif "rig" in inputs:
        values = calib.calibration_of(inputs["rig"], inputs.get("disparity_range"))
    else:
        return
    yield partial(io.write_opencv_calibration, folder / layout.CALIBRATION, dict(values))


def _truth_jobs(folder: Path, sample: Sample, truth: Truth) -> Iterator[_Job]:
    if "disparity" not in truth:
        raise Unavailable(
            f"sample '{sample.id}' has no disparity truth, only {', '.join(truth)}; "
            "a Booster scene needs it."
        )
    for item, (file, write, beside) in _ITEMS.items():
        if item not in truth:
            continue
        values = truth[item]
        if beside in truth and values.shape != truth[beside].shape:
            size, wanted = ("x".join(map(str, v.shape[::-1])) for v in (values, truth[beside]))
            raise WrongShape(f"{folder / file}: {item} is {size} but {beside} is {wanted}.")
        yield partial(write, folder / file, values)


def _write_disparity(path: Path, values: Map) -> None:
    known = np.isfinite(values)
    if (values[known] <= 0).any():
        raise DoesNotFit(
            f"{path}: contains a disparity of {values[known].min():g} px, but values that are not "
            "above 0 mean no truth in this layout; make them NaN."
        )
    io.write_map(path, np.where(known, values, np.float32(0)), quantity="disparity")


def _write_mask(path: Path, values: NDArray[Any]) -> None:
    io.write_image(path, np.asarray(values, bool))


def _write_labels(path: Path, values: NDArray[Any]) -> None:
    least, most = int(values.min()), int(values.max())
    if least < 0 or most > _MOST_LABEL:
        raise DoesNotFit(f"{path}: labels are {least}..{most}, this file holds 0..{_MOST_LABEL}.")
    io.write_image(path, np.asarray(values, np.uint8))


_Writer = Callable[[Path, Any], None]
_ITEMS: Mapping[str, tuple[str, _Writer, str]] = {
    "disparity": (layout.DISPARITY, _write_disparity, "disparity"),
    "right_disparity": (layout.RIGHT_DISPARITY, _write_disparity, "right_disparity"),
    "visible_mask": (layout.VISIBLE, _write_mask, "disparity"),
    "right_visible_mask": (layout.RIGHT_VISIBLE, _write_mask, "right_disparity"),
    "material_labels": (layout.MATERIALS, _write_labels, "disparity"),
    "surface_labels": (layout.SURFACES, _write_labels, "disparity"),
}
"""For each item of the truth: its file, its writer, and the item whose size it must have."""


def _write_images(
    folder: Path, file: str, sample: Sample, split: str, setup: str, size: tuple[int, ...] | None
) -> list[Path]:
    """Writes those pictures of a sample that the split contains; `size` is that of the truth."""
    inputs = sample.inputs
    if "left_image" not in inputs:
        raise Unavailable(f"sample '{sample.id}' has no left_image, only {', '.join(inputs)}.")
    images = {folder / layout.LEFT / file: (inputs["left_image"], size)}
    if split != layout.TEST_MONO and "right_image" in inputs:
        partner = inputs["left_image"].shape if setup == layout.BALANCED else None
        images[folder / layout.RIGHT / file] = (inputs["right_image"], partner)
    for path, (image, wanted) in images.items():
        if wanted is not None:
            _require_size(path, image, wanted)
    for path, (image, _) in images.items():
        path.parent.mkdir(exist_ok=True)
        io.write_image(path, image)
    return list(images)


def _require_size(path: Path, image: NDArray[Any], wanted: tuple[int, ...]) -> None:
    if image.shape[:2] != wanted[:2]:
        raise WrongShape(
            f"{path}: the picture is {image.shape[1]}x{image.shape[0]} but the scene's truth, or "
            f"its partner, is {wanted[1]}x{wanted[0]}; they must have the same size."
        )
