"""The step that compares the two views' labels: which pixels both of them see, eq. (9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge import io
from depthgauge._options import Options
from depthgauge.capture.labels import label_files, write_labels
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.warping import left_right_consistent, warp_backward
from depthgauge.types import Image, Map, Mask

VIEWS = {"left": "00", "right": "02"}
"""The views, and their numbers in file names."""
_FEW = 0.5
"""Share of consistent pixels below which something is wrong with the maps."""
_BETTER = 0.6
"""Exchanged pictures must fit better by this factor; shiny parts fit badly either way."""


class CheckOptions(Options):
    """How well the two views must agree."""

    threshold_px: float = Field(default=2.0, gt=0.0)
    """Largest difference between the disparities of one point in the two views."""


SPEC = StepSpec(
    "check",
    "Left-right check",
    "Checks left-right consistency in both directions: labels and occlusion masks of both views.",
    options=CheckOptions,
    after=("rectify", "clean"),
)


def plan(task: StepTask, options: CheckOptions) -> StepPlan:
    """Finds the pixels whose disparities the other view confirms.

    |d_L(x) - d_R(x - d_L(x))| <= threshold for the left view, |d_R(x) - d_L(x + d_R(x))| for the
    right, with the other map taken at the nearest pixel. A pixel whose match has no value is not
    confirmed. The disparities themselves are kept wherever cleaning left them, as in Booster, whose
    scores on *all* pixels include the occluded ones.

    Writes `disp_00.npy`, `disp_02.npy`, `variance_00.npy`, `variance_02.npy`, `mask_00.png`,
    `mask_02.png` (white: seen by both), and the session's labels in the rectified left frame,
    `mask_cat.png` and `mask_surface.png`.

    Raises:
        BadData: An earlier step is not done, or did not make a right map.
    """
    session = task.session
    source, rectified = task.before["clean"].folder, task.before["rectify"].folder / "LR"

    def make(folder: Path) -> StepOutput:
        maps = {side: _read(source, side, "disparity") for side in VIEWS}
        _need_one_size(source, maps)
        if not np.isfinite(maps["left"]).any():
            raise BadData(
                f"{source}: no pixel of the left map remains; loosen the limits of `capture "
                "clean`, or remove less by hand."
            )
        masks = consistent_masks(maps["left"], maps["right"], options.threshold_px)
        for n, (side, number) in enumerate(VIEWS.items()):
            io.write_map(folder / f"disp_{number}.npy", maps[side])
            io.write_map(folder / f"variance_{number}.npy", _read(source, side, "variance"))
            io.write_image(folder / f"mask_{number}.png", masks[side])
            task.progress(f"{side} map", n + 1, len(VIEWS))
        pair = read_pair(task.work, "LR")
        labels, warnings = write_labels(session, pair, pair.left, folder)
        exchanged = swapped_warnings(rectified, maps["left"])
        figures = {side: _figures(maps[side], masks[side]) for side in VIEWS}
        said = (*_worries(figures), *warnings, *exchanged)
        return StepOutput({**figures, "labels": labels}, said)

    return StepPlan(
        make,
        files=label_files(session),
        pictures=sorted(rectified.rglob("*.png")),
        options={**plain_options(options), "labels_on": session.labels_on},
    )


check = step_function(SPEC, plan)


def consistent_masks(left: Map, right: Map, threshold_px: float = 2.0) -> dict[str, Mask]:
    """Where each view's disparities are confirmed by the other's: masks `left` and `right`.

    >>> left, right = np.array([[np.nan, 1.0, 1.0]]), np.array([[1.0, 5.0, np.nan]])
    >>> consistent_masks(left, right)["right"]
    array([[ True, False, False]])
    """
    forth = left_right_consistent(left, right, threshold_px)
    # Mirrored, the right view is the left one.
    back = left_right_consistent(right[:, ::-1], left[:, ::-1], threshold_px)
    return {"left": forth, "right": np.ascontiguousarray(back[:, ::-1])}


def _read(folder: Path, side: str, what: str) -> Map:
    path = folder / f"{side}_{what}.npy"
    if not path.is_file():
        raise BadData(
            f"{path}: there is no {side} {what}; the check needs both views, run "
            "`depthgauge capture clean` again."
        )
    return io.read_map(path)


def _need_one_size(folder: Path, maps: dict[str, Map]) -> None:
    left, right = maps["left"].shape, maps["right"].shape
    if left != right:
        raise WrongShape(
            f"{folder}: the left disparity is {left[1]}x{left[0]} but the right is {right[1]}x"
            f"{right[0]}; run `depthgauge capture clean` again for both views."
        )


def _figures(disparity: Map, mask: Mask) -> dict[str, Any]:
    known = np.isfinite(disparity)
    count = int(known.sum())
    return {
        "pixels": int(known.size),
        "labelled": count,
        "labelled_percent": 100.0 * count / known.size,
        "consistent": int(mask.sum()),
        "consistent_percent": 100.0 * int(mask.sum()) / max(count, 1),
    }


def _worries(figures: dict[str, Any]) -> list[str]:
    return [
        f"the other view confirms only {of['consistent_percent']:.0f} % of the {side} view's "
        "labels; check the disparity range and the maps of step clean."
        for side, of in figures.items()
        if of["consistent"] < _FEW * of["labelled"] or not of["labelled"]
    ]


def swapped_warnings(rectified: Path, disparity: Map) -> list[str]:
    """A sentence for every illumination whose two pictures seem to be exchanged.

    Args:
        rectified: The folder of a rectified pair, with pictures in `L` and `R`.
        disparity: (H, W) of the left view.
    """
    said = []
    for left in sorted((rectified / "L").glob("*.png")):
        right = rectified / "R" / left.name
        if right.is_file() and seem_swapped(io.read_image(left), io.read_image(right), disparity):
            said.append(
                f"the passive pictures {left.stem} of L and R seem to be exchanged: the labels fit "
                "the other way round; check their folders."
            )
    return said


def seem_swapped(left: Image, right: Image, disparity: Map) -> bool:
    """Whether two pictures fit the left view's disparities better when they are exchanged."""
    one, other = _grey(left), _grey(right)
    if one.shape != disparity.shape or other.shape != disparity.shape:
        return False
    as_given, exchanged = _misfit(one, other, disparity), _misfit(other, one, disparity)
    return bool(exchanged < _BETTER * as_given)


def _misfit(left: Map, right: Map, disparity: Map) -> float:
    """Median difference of pictures whose pixels should show the same."""
    off = np.abs(left - warp_backward(right, disparity))
    known = off[np.isfinite(off)]
    return float(np.median(known)) if known.size else np.inf


def _grey(image: Image) -> Map:
    values: NDArray[np.float32] = np.asarray(image, np.float32)
    return values if values.ndim == 2 else values.mean(axis=2, dtype=np.float32)
