"""The step that compares the two views' labels: which pixels both of them see, eq. (9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.labels import label_files, write_labels
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.steps import Made, Progress, Step, do_step, read_step
from depthgauge.capture.swapped import swapped_warnings
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.geometry.warping import left_right_consistent
from depthgauge.sessions import Session
from depthgauge.types import Map, Mask

VIEWS = {"left": "00", "right": "02"}
"""The views, and their numbers in file names."""
_FEW = 0.5
"""Share of consistent pixels below which something is wrong with the maps."""
REVISION = 1
"""Raised whenever a value may change."""


def check(
    session: Session,
    work: Path,
    *,
    threshold_px: float = 2.0,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Finds the pixels whose disparities the other view confirms.

    |d_L(x) - d_R(x - d_L(x))| <= threshold for the left view, |d_R(x) - d_L(x + d_R(x))| for the
    right, the other map taken at its nearest pixel. What meets no value is not confirmed. The
    disparities themselves are kept wherever cleaning left them, as in Booster, whose scores on
    *all* pixels have the occluded ones too.

    Writes `disp_00.npy`, `disp_02.npy`, `variance_00.npy`, `variance_02.npy`, `mask_00.png`,
    `mask_02.png` (white: seen by both), and the session's labels in the rectified left frame,
    `mask_cat.png` and `mask_surface.png`.

    Raises:
        BadData: An earlier step is not done, or made no right map.
    """
    if not threshold_px > 0:
        raise Misuse(f"threshold_px must be above 0, found {threshold_px}")
    before = [read_step(work, "rectify"), read_step(work, "clean")]
    source = before[1].folder

    def make(folder: Path) -> Made:
        maps = {side: _read(source, side, "disparity") for side in VIEWS}
        _need_one_size(source, maps)
        if not np.isfinite(maps["left"]).any():
            raise BadData(
                f"{source}: no pixel of the left map is left; loosen the limits of `capture "
                "clean`, or remove less by hand."
            )
        masks = consistent_masks(maps["left"], maps["right"], threshold_px)
        for n, (side, number) in enumerate(VIEWS.items()):
            io.write_map(folder / f"disp_{number}.npy", maps[side])
            io.write_map(folder / f"variance_{number}.npy", _read(source, side, "variance"))
            io.write_image(folder / f"mask_{number}.png", masks[side])
            if progress is not None:
                progress(f"{side} map", n + 1, len(VIEWS))
        pair = read_pair(work, "LR")
        labels, warnings = write_labels(session, pair, pair.left, folder)
        exchanged = swapped_warnings(before[0].folder / "LR", maps["left"])
        figures = {side: _figures(maps[side], masks[side]) for side in VIEWS}
        return Made({**figures, "labels": labels}, (*_worries(figures), *warnings, *exchanged))

    options = {"threshold_px": threshold_px, "labels_on": session.labels_on}
    files = label_files(session)
    return do_step(
        work,
        "check",
        make,
        options=options,
        revision=REVISION,
        after=before,
        files=files,
        pictures=sorted((before[0].folder / "LR").rglob("*.png")),
        again=again,
    )


def consistent_masks(left: Map, right: Map, threshold_px: float = 2.0) -> dict[str, Mask]:
    """Where each view's disparities are confirmed by the other's: masks `left` and `right`.

    >>> left, right = np.array([[np.nan, 1.0, 1.0]]), np.array([[1.0, 5.0, np.nan]])
    >>> consistent_masks(left, right)["right"]
    array([[ True, False, False]])
    """
    forth = left_right_consistent(left, right, threshold_px)
    # In a mirror the right view is the left one.
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
            f"{folder}: the left disparity is {left[1]}x{left[0]}, the right {right[1]}x{right[0]}"
            "; run `depthgauge capture clean` again for both views."
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
        f"only {of['consistent_percent']:.0f} % of the {side} view's labels are confirmed by the "
        "other view; look at the disparity range and at the maps of step clean."
        for side, of in figures.items()
        if of["consistent"] < _FEW * of["labelled"] or not of["labelled"]
    ]
