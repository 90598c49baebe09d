"""The step that transfers the balanced pair's labels to the unbalanced one, eq. (10)-(14).

Both left images come from one camera, so a homography maps one to the other, and the disparity of a
pixel changes by a factor that depends only on its position: with s the ray of a pixel of L_LC in
the axes of L_LR (its third coordinate is 1 in those of L_LC),

    d_LC + offset_LC = (d_LR + offset_LR) s_z (f_LC b_LC) / (f_LR b_LR).

These are equations (11), (12) and (14) in one. The disparity is looked up before it is changed, not
after as in (13): the disparity of a plane is linear in the image and its depth is not, so
interpolation is exact on planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge import io
from depthgauge._options import Options
from depthgauge._progress import Progress
from depthgauge.capture.calibrate.calibration import Calibration, read_calibration
from depthgauge.capture.clean.bar_model import bar_model
from depthgauge.capture.labels import label_files, write_labels
from depthgauge.capture.rectify.calibration_error import unbalanced_variance
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView, inside_image
from depthgauge.geometry.warping import left_right_consistent, left_right_unknown
from depthgauge.types import Map, Mask

_BAND = 256
"""The number of rows whose positions are held at a time."""
_SAME = 1e-9


class WarpOptions(Options):
    """Options of the step."""

    jump_px: float = Field(default=1.0, gt=0.0)
    """Neighbours whose disparities differ by more belong to two surfaces; values are interpolated
    only within one surface."""


SPEC = StepSpec(
    "warp",
    "Labels of the unbalanced pair",
    "Transfers the labels to the unbalanced pair L-C.",
    options=WarpOptions,
    revision=2,
    after=("rectify", "check"),
    after_if_done=("calibrate",),
    needs_files=("rectify/LC.json",),
)


@dataclass(frozen=True, slots=True)
class WarpedLabels:
    """The labels of the unbalanced pair."""

    disparity: Map
    variance: Map
    """px^2 of the unbalanced pair."""


def plan(task: StepTask, options: WarpOptions) -> StepPlan:
    """Makes the labels of the unbalanced pair from those of the balanced one.

    Writes `disp_00.npy` (px of the left image of pair LC), `variance_00.npy`, `mask_00.png`
    (white: seen by L and by C), `mask_cat.png` and `mask_surface.png`. What C sees follows from the
    warped disparities: a pixel is hidden if a nearer surface lands on its place in C. (The balanced
    pair's mask says what R sees, which is farther to the right.)

    Raises:
        BadData: An earlier step is not done, or the session has no pair LC.
    """
    session, source = task.session, task.before["check"].folder
    jump_px = options.jump_px

    def make(folder: Path) -> StepOutput:
        balanced, unbalanced = read_pair(task.work, "LR"), read_pair(task.work, "LC")
        disparity = io.read_map(source / "disp_00.npy")
        variance = io.read_map(source / "variance_00.npy")
        made = warp_disparity(
            disparity, variance, balanced, unbalanced, jump_px=jump_px, progress=task.progress
        )
        calibration = read_calibration(task.work) if "calibrate" in task.before else None
        added = calibration_variance(calibration, balanced, unbalanced, made)
        seen = seen_by_both(made.disparity, unbalanced, jump_px=jump_px)
        io.write_map(folder / "disp_00.npy", made.disparity)
        io.write_map(folder / "variance_00.npy", made.variance + added)
        io.write_image(folder / "mask_00.png", seen)
        labels, warnings = write_labels(session, balanced, unbalanced.left, folder)
        figures = {
            **_figures(made.disparity, seen),
            "calibration_sigma_px": _median_sigma(added),
            "labels": labels,
        }
        return StepOutput(figures, tuple(warnings))

    return StepPlan(
        make,
        files=label_files(session),
        options={**plain_options(options), "labels_on": session.labels_on},
    )


warp = step_function(SPEC, plan)


def homography(source: RectifiedView, target: RectifiedView) -> NDArray[np.float64]:
    """The 3x3 of eq. (10), from pixels of one rectified view of a camera to another of the same.

    Raises:
        BadData: The views belong to different cameras.
    """
    for name in ("focal_px", "centre_px", "size_px", "distortion"):
        one, other = (np.asarray(getattr(view.raw, name)) for view in (source, target))
        if one.shape != other.shape or not np.allclose(one, other, rtol=_SAME, atol=_SAME):
            raise BadData(
                f"the left cameras of the two pairs differ in {name} ({one} and {other}); "
                "rectify both pairs from the same calibration."
            )
    turn = target.rotation @ source.rotation.T
    return target.camera.matrix() @ turn @ np.linalg.inv(source.camera.matrix())


def warp_disparity(
    disparity: Map,
    variance: Map,
    balanced: RectifiedPair,
    unbalanced: RectifiedPair,
    *,
    jump_px: float = 1.0,
    progress: Progress | None = None,
) -> WarpedLabels:
    """Disparities and their variances from the left image of one pair to that of another.

    Args:
        disparity: In px of the balanced pair's left image.
        variance: In px^2.
        balanced: The pair of the disparities.
        unbalanced: The target pair, with the same left camera.
        jump_px: Larger steps between neighbours separate surfaces.
        progress: Called with the number of finished rows.

    Raises:
        BadData: The two left views belong to different cameras.
    """
    from depthgauge.capture.warp._kernels import fetch

    back = np.linalg.inv(homography(balanced.left, unbalanced.left))
    width, height = unbalanced.left.camera.size_px
    values = np.ascontiguousarray(np.stack([disparity, variance], axis=-1), np.float32)
    out = np.full((height, width, 2), np.nan, np.float32)
    for start in range(0, height, _BAND):
        rows = np.arange(start, min(start + _BAND, height), dtype=np.float64)
        found = _grid(width, rows) @ back.T
        fetched = out[start : start + len(rows)]
        x, y = (np.ascontiguousarray(found[..., n] / found[..., 2]) for n in (0, 1))
        fetch(values, x, y, jump_px, fetched)
        _change(fetched, balanced, unbalanced, rows)
        if progress is not None:
            progress("rows", start + len(rows), height)
    return WarpedLabels(np.ascontiguousarray(out[..., 0]), np.ascontiguousarray(out[..., 1]))


def calibration_variance(
    calibration: Calibration | None,
    balanced: RectifiedPair,
    unbalanced: RectifiedPair,
    made: WarpedLabels,
) -> Map:
    """What the calibration adds to the variance of labels that were measured with another camera.

    The covariance of the calibration takes the corners of boards as independent; simulated sessions
    say how much more it is (`bar_model`). 0 without a calibration or its covariance.
    """
    if calibration is None:
        return np.zeros_like(made.disparity)
    predicted = unbalanced_variance(calibration, balanced, unbalanced, made.disparity)
    return np.asarray(predicted * np.float32(bar_model().calibration), np.float32)


def _median_sigma(variance: Map) -> float | None:
    known = variance[np.isfinite(variance)]
    return float(np.sqrt(np.median(known))) if known.size else None


def seen_by_both(disparity: Map, pair: RectifiedPair, *, jump_px: float = 1.0) -> Mask:
    """Which pixels of the left image the right camera sees, judged by the disparities themselves.

    A pixel is not seen if a nearer surface hides it, or if it is outside the right photograph.

    Args:
        disparity: Disparity of the left image.
        pair: The pair.
        jump_px: A surface that is nearer by more than this hides what is behind it.
    """
    from depthgauge.capture.warp._kernels import seen_from_right

    plane = np.ascontiguousarray(disparity, np.float32)
    right = np.full(plane.shape, np.nan, np.float32)
    seen_from_right(plane, jump_px, right)
    # Beyond the rim of a surface, nothing can hide a pixel.
    free = left_right_unknown(plane, right) & np.isfinite(plane)
    return (left_right_consistent(plane, right, jump_px) | free) & _photographed(plane, pair)


def _photographed(disparity: Map, pair: RectifiedPair) -> Mask:
    """Which pixels' matches lie inside the right camera's rectified and raw images."""
    out = np.zeros(disparity.shape, bool)
    for start in range(0, len(disparity), _BAND):
        rows = slice(start, start + _BAND)
        place = pair.left.grid(rows)
        place[..., 0] -= disparity[rows]
        place = pair.from_left_size(place)
        raw = pair.right.to_raw(place)
        out[rows] = inside_image(place[..., 0], place[..., 1], pair.right.camera.size_px)
        out[rows] &= inside_image(raw[..., 0], raw[..., 1], pair.right.raw.size_px)
    return out


def _change(
    fetched: NDArray[np.float32],
    balanced: RectifiedPair,
    unbalanced: RectifiedPair,
    rows: NDArray[np.float64],
) -> None:
    """Disparities and variances of the balanced pair become those of the unbalanced, in place."""
    (fx, fy), (cx, cy) = unbalanced.left.camera.focal_px, unbalanced.left.camera.centre_px
    turn = balanced.left.rotation @ unbalanced.left.rotation.T
    slope_x, slope_y = (np.arange(fetched.shape[1]) - cx) / fx, (rows - cy) / fy
    forward = turn[2, 0] * slope_x + turn[2, 1] * slope_y[:, None] + turn[2, 2]
    one, other = (p.left.camera.focal_px[0] * p.baseline_m for p in (balanced, unbalanced))
    factor = forward * (other / one)
    near = fetched[..., 0].astype(np.float64) + balanced.rig().principal_offset_px
    changed = np.where(near > 0, near, np.nan) * factor - unbalanced.rig().principal_offset_px
    fetched[..., 0] = changed
    fetched[..., 1] = fetched[..., 1] * factor**2


def _grid(width: int, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, width, 3): x, y, 1 of every pixel."""
    x = np.arange(width, dtype=np.float64)
    return np.stack(np.broadcast_arrays(x, rows[:, None], 1.0), axis=-1)


def _figures(disparity: Map, seen: Mask) -> dict[str, Any]:
    known = np.isfinite(disparity)
    count = int(known.sum())
    ends = np.percentile(disparity[known], [0, 50, 100]) if count else np.zeros(3)
    return {
        "pixels": int(known.size),
        "labelled": count,
        "labelled_percent": 100.0 * count / known.size,
        "visible_percent": 100.0 * int(seen.sum()) / max(count, 1),
        "disparity_px": {
            name: float(v) for name, v in zip(("least", "median", "most"), ends, strict=True)
        },
    }
