"""The step that says how good the labels are: flat where they should be, right where it is known.

On every session: residuals of planar regions, and a second depth source where there is one. On a
simulated session also the true errors after each step, and whether the error bars hold.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.audit._planes_known import known_planes
from depthgauge.capture.audit.find_planes import find_planes
from depthgauge.capture.audit.planes import PlanarRegion, measure_plane, read_planes, summary
from depthgauge.capture.audit.second_source import compare_depth, read_second_source
from depthgauge.capture.audit.true_error import EARLIER, Judge, open_judge, true_figures
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.steps import Made, Progress, Step, do_step, has_step, read_step
from depthgauge.errors import Misuse
from depthgauge.sessions import Session
from depthgauge.types import Map, Mask

AUDIT = "audit.json"
_MOST_PLANES = 12
_FEW_PERCENT = 5.0
_FAIR_PERCENT = (55.0, 80.0)
"""Of labels within one standard deviation; beyond, the audit warns."""
REVISION = 2
"""Raised whenever a value may change."""


def audit(
    session: Session,
    work: Path,
    *,
    planes: Path | None = None,
    second_depth: Path | None = None,
    second_camera: Path | None = None,
    second_pose: Path | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Measures the labels of a session.

    Writes `audit.json` (all figures; docs/capture-audit.md says what each is), `planes.png` (the
    number of the planar region of each pixel, 0 for none), and on simulated sessions
    `error_00.npy`: estimate minus truth in px, with `truth_00.npy`.

    Args:
        session: The session.
        work: The work folder, with the steps up to `check` done.
        planes: JSON file of polygons on the rectified left image that are flat in the world; see
            `planes.read_planes`. Without it planar regions are those of a simulated
            session's mesh, or found in the labels.
        second_depth: Depth map in metres of another instrument.
        second_camera: Its camera, JSON; see `second_source.read_second_source`.
        second_pose: Its pose, JSON.
        progress: Told what is done.
        again: Do it even if nothing has changed.

    Raises:
        BadData: A step is not done, or a file lacks something.
        Misuse: Only some of the second source's three files are given.
    """
    second = (second_depth, second_camera, second_pose)
    if any(second) and not all(second):
        raise Misuse("a second source needs three files: its depth map, its camera and its pose")
    before = [read_step(work, name) for name in ("rectify", "check")]
    before += [read_step(work, name) for name in (*EARLIER, "warp") if has_step(work, name)]
    given = [path for path in (planes, *second) if path is not None]
    hidden = [session.truth_folder / name for name in ("cameras.json", "mesh.npz")]
    # A session that was passed on without its truth is audited as a real one is.
    known = session.simulated and all(path.is_file() for path in hidden)

    def make(folder: Path) -> Made:
        pair = read_pair(work, "LR")
        disparity = io.read_map(work / "check" / "disp_00.npy")
        judge = open_judge(session, work, pair, progress) if known else None
        source, masks = _planar(disparity, planes, judge)
        found = _measured(disparity, masks)
        _write_planes(folder, disparity, [masks[region.name] for region in found])
        report: dict[str, Any] = {"schema": 1, "session": session.name}
        report["planes"] = summary(found, source)
        if second_depth and second_camera and second_pose:
            other = read_second_source(second_depth, second_camera, second_pose)
            report["second_source"] = compare_depth(disparity, pair, other, masks)
        if judge is not None:
            report["simulated"] = true_figures(judge, folder, disparity, masks)
        io.write_text(folder / AUDIT, json.dumps(report, indent=1, allow_nan=False) + "\n")
        worries = _worries(report)
        if session.simulated and not known:
            worries.append(f"{session.truth_folder} is gone, so the true error is not known.")
        return Made(_headline(report), tuple(worries))

    options = {
        "planes": None if planes is None else planes.name,
        "second_source": None if second_depth is None else second_depth.name,
    }
    files = given + (hidden if known else [])
    return do_step(
        work,
        "audit",
        make,
        options=options,
        revision=REVISION,
        after=before,
        files=files,
        again=again,
    )


def read_audit(work: Path) -> dict[str, Any]:
    """The figures that `audit` wrote."""
    path = read_step(work, "audit").folder / AUDIT
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def _planar(
    disparity: Map, planes: Path | None, judge: Judge | None
) -> tuple[str, dict[str, Mask]]:
    """Planar regions, and where they come from."""
    if planes is not None:
        return "given", read_planes(planes, disparity.shape)
    if judge is not None:
        return "known", known_planes(judge.scene, judge.left, most=_MOST_PLANES)
    return "found", find_planes(disparity, most=_MOST_PLANES)


def _measured(disparity: Map, masks: dict[str, Mask]) -> list[PlanarRegion]:
    found = (measure_plane(disparity, mask, name) for name, mask in masks.items())
    return [region for region in found if region is not None]


def _write_planes(folder: Path, disparity: Map, masks: list[Mask]) -> None:
    numbers = np.zeros(disparity.shape, np.uint8)
    for number, mask in enumerate(masks[:255]):
        numbers[mask] = number + 1
    io.write_image(folder / "planes.png", numbers)


def _headline(report: dict[str, Any]) -> dict[str, Any]:
    """The figures that a person reads first."""
    found: dict[str, Any] = {
        "planar_regions": len(report["planes"]["regions"]),
        "planar_residual_px": report["planes"]["mean_residual_px"],
    }
    if "second_source" in report:
        second = report["second_source"]
        found["second_source"] = {
            name: second[name] for name in ("within_1cm_percent", "inlier_rmse_mm", "median_mm")
        }
    if "simulated" in report:
        true = report["simulated"]
        names = ("mean_abs_px", "median_abs_px", "bad_2_percent", "kept_percent")
        found["true_error"] = {
            **{name: true["final"][name] for name in (*names, "kept_near_edges_percent")},
            "depth_mean_abs_mm": true["depth"]["mean_abs_mm"],
            "row_error_mean_abs_px": true["rows"]["mean_abs_px"],
        }
        bars = true["error_bars"]
        known = [name for name in bars if name not in ("table", "without_variance")]
        found["error_bars"] = {name: bars[name] for name in known}
    return found


def _worries(report: dict[str, Any]) -> list[str]:
    said = []
    if not report["planes"]["regions"]:
        said.append(
            "no planar region was found, so the labels' noise is not measured; draw some polygons "
            "(--planes)."
        )
    second = report.get("second_source")
    if second is not None and not (second["within_1cm_percent"] or 0) >= _FEW_PERCENT:
        said.append(
            "hardly any depth of the second source lies within 1 cm of the labels; check that it "
            "is in metres and that its pose leads from the left rectified camera to it."
        )
    bars = report.get("simulated", {}).get("error_bars", {})
    within = bars.get("within_1_sigma_percent")
    if within is not None and not _FAIR_PERCENT[0] <= within <= _FAIR_PERCENT[1]:
        size = "small" if within < _FAIR_PERCENT[0] else "large"
        said.append(
            f"the error bars are too {size}: {within:.0f} % of the labels lie within one standard "
            "deviation of the truth, 68 % should."
        )
    return said
