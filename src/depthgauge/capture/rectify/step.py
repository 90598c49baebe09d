"""The step that turns the two pairs of cameras into ideal ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._options import Options
from depthgauge.capture.calibrate.calibration import (
    Calibration,
    horizontal_field_deg,
    read_calibration,
)
from depthgauge.capture.calibrate.step import read_views
from depthgauge.capture.photographs.movements import moved_view, read_movements
from depthgauge.capture.rectify.pairs import (
    balanced_pair,
    unbalanced_pair,
)
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.resample import empty_share, resample
from depthgauge.capture.steps import StepOutput, read_step
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session

_SMALL_PX = 900

SPEC = StepSpec(
    "rectify",
    "Rectification",
    "Rectifies the balanced pair L-R and the unbalanced pair L-C.",
    revision=2,
    after=("calibrate",),
    after_if_done=("register",),
)


def plan(task: StepTask, options: Options) -> StepPlan:
    """Rectifies the pairs LR (balanced) and LC (unbalanced) and their passive pictures.

    Writes `LR.json` and `LC.json` (see `read_pair`) and the pictures `LR/L/im0.png`,
    `LR/R/im0.png`, `LC/L/im0.png`, `LC/C/im0.png` ... Other pictures are resampled when a step
    needs them.

    Raises:
        BadData: The step `calibrate` is not done, or a pair cannot be rectified.
    """
    del options  # it has none
    session, work = task.session, task.work
    calibration = read_calibration(work)
    movements = read_movements(work)
    pictures = {name: session.passive_images(name) for name in calibration.cameras}

    def make(folder: Path) -> StepOutput:
        pairs = {name: _pair(calibration, name) for name in calibration.pairs}
        for name, pair in pairs.items():
            text = json.dumps(pair.to_json(), indent=1, allow_nan=False)
            io.write_text(folder / f"{name}.json", text + "\n")
        jobs = [
            (
                folder / name / camera / f"{stem}.png",
                path,
                moved_view(view, movements.of("passive", camera, stem)),
            )
            for name, pair in pairs.items()
            for camera, view in zip(name, (pair.left, pair.right), strict=True)
            for stem, path in pictures[camera].items()
        ]
        for done, (target, path, view) in enumerate(jobs):
            _rectify_picture(target, path, view)
            task.progress("rectifying pictures", done + 1, len(jobs))
        _keep_raw(folder, session, tuple(calibration.cameras))
        seen = read_views(work)
        figures = {name: _figures(name, pair, seen) for name, pair in pairs.items()}
        return StepOutput({"pairs": figures, "pictures": len(jobs)}, _warnings(pictures))

    return StepPlan(make, pictures=[path for paths in pictures.values() for path in paths.values()])


rectify = step_function(SPEC, plan)


def read_pair(work: Path, pair: str) -> RectifiedPair:
    """The rectified pair `LR` (balanced) or `LC` (unbalanced) of a work folder.

    Raises:
        BadData: It was not rectified, or its file is damaged.
    """
    path = read_step(work, "rectify").folder / f"{pair}.json"
    if not path.is_file():
        raise BadData(
            f"{path}: there is no pair {pair}; a session without photographs of camera C has "
            "only the pair LR."
        )
    try:
        return RectifiedPair.from_json(parse_json(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise BadData(f"{path}: cannot be read: {error}; run `capture rectify` again.") from error


def row_differences_px(
    pair: RectifiedPair, left_px: NDArray[np.float64], right_px: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Row of the right minus row of the left image of matching raw positions (N, 2).

    In px of the left image, after the right one is resized to its size.
    """
    left = pair.left.from_raw(left_px)
    right = pair.to_left_size(pair.right.from_raw(right_px))
    return np.asarray(right[..., 1] - left[..., 1])


def _pair(calibration: Calibration, name: str) -> RectifiedPair:
    left, right = (calibration.cameras[camera] for camera in name)
    make = balanced_pair if name == "LR" else unbalanced_pair
    return make(left, right, calibration.pairs[name])


def _rectify_picture(target: Path, path: Path, view: RectifiedView) -> None:
    if target.is_file():  # from an interrupted attempt
        return
    try:
        picture = resample(view, io.read_image(path), how="spline")
    except WrongShape as error:
        raise BadData(f"{path}: {error}.") from None
    target.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(target, picture)


def _keep_raw(folder: Path, session: Session, cameras: tuple[str, ...]) -> None:
    """Small copies of one raw picture of each camera, for the picture of this step."""
    import cv2

    for images in (session.passive_images, session.board_images):
        common = set.intersection(*(set(images(name)) for name in cameras))
        if common:
            break
    else:
        return
    chosen = min(common)
    for name in cameras:
        image = io.read_image(images(name)[chosen])
        factor = min(1.0, _SMALL_PX / max(image.shape[:2]))
        size = (round(image.shape[1] * factor), round(image.shape[0] * factor))
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        (folder / "raw").mkdir(exist_ok=True)
        io.write_image(folder / "raw" / f"{name}.png", np.asarray(small))


def _figures(
    name: str, pair: RectifiedPair, seen: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    rows = board_rows_px(name, pair, seen)
    return {
        "baseline_m": pair.baseline_m,
        "focal_px": pair.left.camera.focal_px[0],
        "left_size_px": list(pair.left.camera.size_px),
        "right_size_px": list(pair.right.camera.size_px),
        "right_scale": pair.right_scale,
        "left_field_deg": horizontal_field_deg(pair.left.camera),
        "right_field_deg": horizontal_field_deg(pair.right.camera),
        "row_rms_px": float(np.sqrt(np.mean(rows**2))) if rows.size else None,
        "left_empty_share": empty_share(pair.left),
        "right_empty_share": empty_share(pair.right),
    }


def board_rows_px(
    name: str, pair: RectifiedPair, seen: Mapping[str, Mapping[str, Any]]
) -> NDArray[np.float64]:
    """Row differences of all corners that both cameras of a pair saw (views of `read_views`)."""
    found = [np.zeros(0)]
    for pose, left in seen[name[0]].items():
        right = seen[name[1]].get(pose, {"used": False})
        if left["used"] and right["used"]:
            _, a, b = np.intersect1d(left["ids"], right["ids"], return_indices=True)
            pixels = np.array(left["corners_px"])[a], np.array(right["corners_px"])[b]
            found.append(row_differences_px(pair, *pixels))
    return np.concatenate(found)


def _warnings(pictures: Mapping[str, Mapping[str, Path]]) -> tuple[str, ...]:
    warnings = []
    left = set(pictures["L"])
    for name, paths in pictures.items():
        if missing := sorted(left ^ set(paths)):
            warnings.append(
                f"passive pictures {', '.join(missing)} exist for only one of L and {name}"
            )
    if not left:
        warnings.append("there are no passive pictures in passive/L")
    return tuple(warnings)
