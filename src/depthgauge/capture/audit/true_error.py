"""The part of the audit that needs the hidden truth of a simulated session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.audit import error_figures as errors
from depthgauge.capture.audit.error_bars import bar_figures
from depthgauge.capture.exact_truth import ExactTruth, Side, exact_truth, scaled_pair
from depthgauge.capture.labels import read_label_map
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.steps import has_step
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session, SimulatedTruth, read_simulated
from depthgauge.types import Map, Mask

EARLIER = ("spacetime", "refine", "clean")
"""Steps whose maps are also judged; `check` keeps the disparities of `clean`."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The data from which true errors are computed."""

    work: Path
    pair: RectifiedPair
    truth: SimulatedTruth
    scene: RayScene
    left: ExactTruth
    """The truth of the balanced pair's left view."""
    progress: Progress | None

    def exact(self, pair: RectifiedPair, cameras: str = "LR", side: Side = "left") -> ExactTruth:
        """The truth in a rectified frame."""
        return exact_truth(
            self.truth, pair, cameras, side, scene=self.scene, progress=self.progress
        )


def open_judge(
    session: Session, work: Path, pair: RectifiedPair, progress: Progress | None
) -> Judge:
    """Reads the truth of a simulated session and traces the rays of its left view."""
    truth = read_simulated(session.truth_folder)
    scene = RayScene(truth.vertices, truth.triangles)
    left = exact_truth(truth, pair, scene=scene, progress=progress)
    return Judge(work, pair, truth, scene, left, progress)


def true_figures(
    judge: Judge, folder: Path, disparity: Map, masks: dict[str, Mask]
) -> dict[str, Any]:
    """All figures that need the truth; maps for a picture are written into the folder.

    Args:
        judge: The truth.
        folder: Gets `error_00.npy` and `truth_00.npy`.
        disparity: The labels of the balanced pair's left view.
        masks: Planar regions by name.
    """
    exact = judge.left
    near = errors.near_discontinuities(exact.disparity)
    error = disparity - exact.disparity
    io.write_map(folder / "error_00.npy", error)
    io.write_map(folder / "truth_00.npy", exact.disparity)
    check = judge.work / "check"
    mask = io.read_mask(check / "mask_00.png")
    variance = io.read_map(check / "variance_00.npy")
    consistent = np.where(mask, error, np.float32(np.nan))
    objects = errors.by_label(error, exact, near, exact.objects)
    thin = errors.thin_structures(exact.disparity)
    figures = {
        "final": errors.map_figures(error, exact, near),
        "consistent": errors.map_figures(consistent, exact, near),
        "steps": _steps(judge, exact, near),
        "materials": errors.by_label(error, exact, near, exact.materials),
        "surfaces": errors.by_label(error, exact, near, exact.surfaces),
        "objects": objects,
        "worst_object": errors.worst_object(objects),
        "thin": errors.thin_figures(error, exact, thin),
        "planes": errors.by_mask(error, exact, near, masks),
        "depth": errors.depth_figures(disparity, exact, judge.pair),
        "rows": errors.row_figures(exact),
        "visibility": errors.mask_figures(mask, disparity, exact),
        "error_bars": bar_figures(error, variance),
        "error_bars_consistent": bar_figures(consistent, variance),
        "labels": _label_figures(check, exact),
    }
    figures["right"] = _right(judge)
    if has_step(judge.work, "warp"):
        figures["unbalanced"] = _unbalanced(judge)
    return figures


def _steps(judge: Judge, exact: ExactTruth, near: Mask) -> dict[str, Any]:
    """The same figures after each step; errors in px of the full image."""
    found = {}
    for name in EARLIER:
        path = judge.work / name / "left_disparity.npy"
        if not path.is_file():
            continue
        disparity = io.read_map(path)
        ratio = exact.disparity.shape[1] / disparity.shape[1]
        if disparity.shape == exact.disparity.shape:
            error, of, beside = disparity - exact.disparity, exact, near
        else:
            of = judge.exact(scaled_pair(judge.pair, *disparity.shape[::-1]))
            error = (disparity - of.disparity) * np.float32(ratio)
            beside = errors.near_discontinuities(of.disparity * np.float32(ratio))
        variance = io.read_map(path.with_name("left_variance.npy")) * np.float32(ratio**2)
        bars = bar_figures(error, variance)
        bars.pop("table")
        found[name] = {**errors.map_figures(error, of, beside), "error_bars": bars}
    return found


def _right(judge: Judge) -> dict[str, Any]:
    """The figures of the right view's map."""
    disparity = io.read_map(judge.work / "check" / "disp_02.npy")
    exact = judge.exact(judge.pair, side="right")
    near = errors.near_discontinuities(exact.disparity)
    mask = io.read_mask(judge.work / "check" / "mask_02.png")
    figures = errors.map_figures(disparity - exact.disparity, exact, near)
    return {**figures, "visibility": errors.mask_figures(mask, disparity, exact)}


def _unbalanced(judge: Judge) -> dict[str, Any]:
    """The figures of the labels of pair LC."""
    folder, pair = judge.work / "warp", read_pair(judge.work, "LC")
    disparity = io.read_map(folder / "disp_00.npy")
    exact = judge.exact(pair, "LC")
    near = errors.near_discontinuities(exact.disparity)
    error = disparity - exact.disparity
    mask = io.read_mask(folder / "mask_00.png")
    return {
        **errors.map_figures(error, exact, near),
        "depth": errors.depth_figures(disparity, exact, pair),
        "rows": errors.row_figures(exact),
        "visibility": errors.mask_figures(mask, disparity, exact),
        "error_bars": bar_figures(error, io.read_map(folder / "variance_00.npy")),
        "labels": _label_figures(folder, exact),
    }


def _label_figures(folder: Path, exact: ExactTruth) -> dict[str, Any]:
    """Share of pixels whose drawn labels are right."""
    drawn = {name: read_label_map(folder, name) for name in ("materials", "surfaces")}
    return {
        name: errors.agreement_percent(labels, getattr(exact, name))
        for name, labels in drawn.items()
        if labels is not None
    }
