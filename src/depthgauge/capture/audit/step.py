"""The step that measures how good the labels are.

Every session gets residuals of planar regions, and a comparison with a second depth source if there
is one. A simulated session also gets the true errors after each step, and a check of the error
bars.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import FilePath, model_validator

from depthgauge import io
from depthgauge._options import CommandLine, Options
from depthgauge.capture.audit.bar_promise import bar_promise
from depthgauge.capture.audit.find_planes import find_planes
from depthgauge.capture.audit.planes import (
    PlanarRegion,
    known_planes,
    measure_plane,
    read_planes,
    summary,
)
from depthgauge.capture.audit.second_pose import pose_in_words, with_found_pose
from depthgauge.capture.audit.second_source import compare_depth, read_second_source
from depthgauge.capture.audit.true_error import EARLIER, Judge, open_judge, true_figures
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.steps import StepOutput, read_step
from depthgauge.io.text import read_json
from depthgauge.types import Map, Mask

AUDIT = "audit.json"
_MOST_PLANES = 12
_FEW_PERCENT = 5.0
_MOST_WRONG_PERCENT = 5.0
"""Share of an object's labels that may be off by more than 2 px; above, the audit warns."""
_FAIR_PERCENT = (55.0, 80.0)
"""Percentage of labels within one standard deviation; outside these limits, the audit warns."""
_FAIR_TWO_PERCENT = 88.0
"""Least percentage within two."""


class AuditOptions(Options):
    """What the labels are compared with."""

    planes: Annotated[FilePath | None, CommandLine(metavar="FILE")] = None
    """Polygons on the rectified left image that are flat in the world, as JSON; by default from the
    mesh of a simulated session, or found in the labels."""
    second_depth: Annotated[FilePath | None, CommandLine(metavar="FILE")] = None
    """Depth map of another instrument, in metres."""
    second_camera: Annotated[FilePath | None, CommandLine(metavar="FILE")] = None
    """Its camera, as JSON."""
    second_pose: Annotated[FilePath | None, CommandLine(metavar="FILE")] = None
    """Its pose, as JSON: from the axes of the left rectified camera to its own; by default found
    from planes that labels and second source have in common."""

    @model_validator(mode="after")
    def _all_of_the_second_source(self) -> Self:
        second = (self.second_depth, self.second_camera, self.second_pose)
        if any(second) and not all(second[:2]):
            raise ValueError("a second source needs its depth map and its camera")
        return self


SPEC = StepSpec(
    "audit",
    "Audit",
    "Measures how far the labels can be trusted.",
    about="""Residuals on planes; agreement with a second depth source; on simulated sessions the
    true error, by material and region, and whether the predicted error bars are right.""",
    options=AuditOptions,
    revision=4,
    after=("rectify", "check"),
    after_if_done=("calibrate", *EARLIER, "warp"),
)


def plan(task: StepTask, options: AuditOptions) -> StepPlan:
    """Measures the labels of a session.

    Writes `audit.json` (all figures; docs/capture-audit.md explains each), `planes.png` (the number
    of the planar region of each pixel, 0 for none), and on simulated sessions `error_00.npy`:
    estimate minus truth in px, with `truth_00.npy`.

    The file of planes is read by `planes.read_planes`, the second source's files by
    `second_source.read_second_source`.

    Raises:
        BadData: A step is not done, or something is missing in a file.
        Misuse: The second source's depth or camera is not given.
    """
    session, work = task.session, task.work
    second = (options.second_depth, options.second_camera, options.second_pose)
    given = [path for path in (options.planes, *second) if path is not None]
    hidden = [session.truth_folder / name for name in ("cameras.json", "mesh.npz")]
    # A simulated session without its truth is audited like a real one.
    known = session.simulated and all(path.is_file() for path in hidden)

    def make(folder: Path) -> StepOutput:
        pair = read_pair(work, "LR")
        disparity = io.read_map(work / "check" / "disp_00.npy")
        judge = open_judge(session, work, pair, task.progress) if known else None
        source, masks = _planar(disparity, options.planes, judge)
        found = _measured(disparity, masks)
        _write_planes(folder, disparity, [masks[region.name] for region in found])
        promise = bar_promise(work, simulated=session.simulated)
        report: dict[str, Any] = {"schema": 1, "error_bars": promise.to_json()}
        report["session"] = session.name
        report["planes"] = summary(found, source)
        if options.second_depth and options.second_camera:
            other = read_second_source(
                options.second_depth, options.second_camera, options.second_pose
            )
            pose = None
            if options.second_pose is None:
                other, pose = with_found_pose(other.depth_m, other.camera, disparity, pair, masks)
            report["second_source"] = compare_depth(disparity, pair, other, masks)
            if pose is not None:
                report["second_source"]["pose"] = pose.to_json()
        if judge is not None:
            report["simulated"] = true_figures(judge, folder, disparity, masks)
        io.write_text(folder / AUDIT, json.dumps(report, indent=1, allow_nan=False) + "\n")
        worries = _worries(report)
        if session.simulated and not known:
            worries.append(f"{session.truth_folder} is missing, so the true error is unknown.")
        return StepOutput(_headline(report), tuple(worries))

    return StepPlan(
        make,
        files=given + (hidden if known else []),
        options={
            "planes": None if options.planes is None else options.planes.name,
            "second_source": None if options.second_depth is None else options.second_depth.name,
        },
    )


audit = step_function(SPEC, plan)


def read_audit(work: Path) -> dict[str, Any]:
    """The figures that `audit` wrote."""
    path = read_step(work, "audit").folder / AUDIT
    data: dict[str, Any] = read_json(path)
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
        "error_bars_promise": report["error_bars"]["statement"],
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
            "thin_kept_and_right_percent": true["thin"]["kept_and_right_percent"],
            "worst_object_bad_2_percent": (true["worst_object"] or {}).get("bad_2_percent"),
            "depth_mean_abs_mm": true["depth"]["mean_abs_mm"],
            "row_error_mean_abs_px": true["rows"]["mean_abs_px"],
        }
        bars = true["error_bars"]
        known = [name for name in bars if name not in ("table", "without_variance")]
        found["error_bars"] = {name: bars[name] for name in known}
        if "unbalanced" in true:
            other = true["unbalanced"]["error_bars"]
            found["error_bars_unbalanced"] = {n: other[n] for n in known if n in other}
    return found


def _worries(report: dict[str, Any]) -> list[str]:
    said = []
    if report["error_bars"]["outside"]:
        said.append(report["error_bars"]["statement"] + ".")
    if not report["planes"]["regions"]:
        said.append(
            "no planar region was found, so the noise of the labels is not measured; draw some "
            "polygons (--planes)."
        )
    second = report.get("second_source")
    if second is not None and "pose" in second:
        said.append(pose_in_words(second["pose"]))
    if second is not None and not (second["within_1cm_percent"] or 0) >= _FEW_PERCENT:
        said.append(
            "hardly any depth of the second source is within 1 cm of the labels; check that it is "
            "in metres and that its pose leads from the left rectified camera to it."
        )
    true = report.get("simulated", {})
    worst = true.get("worst_object")
    if worst is not None and worst["bad_2_percent"] > _MOST_WRONG_PERCENT:
        said.append(
            f"{worst['bad_2_percent']:.0f} % of the {worst['pixels']} labels of object "
            f"{worst['object']} are off by more than 2 px; look at the error map."
        )
    said += _bar_worries("", true.get("error_bars", {}))
    said += _bar_worries(
        " of the unbalanced pair", true.get("unbalanced", {}).get("error_bars", {})
    )
    return said


def _bar_worries(whose: str, bars: dict[str, Any]) -> list[str]:
    """Whether fewer or more labels are within their error bars than should be."""
    if "within_1_sigma_percent" not in bars:
        return []
    one, two = bars["within_1_sigma_percent"], bars["within_2_sigma_percent"]
    if _FAIR_PERCENT[0] <= one <= _FAIR_PERCENT[1] and two >= _FAIR_TWO_PERCENT:
        return []
    size = "large" if one > _FAIR_PERCENT[1] else "small"
    return [
        f"the error bars{whose} are too {size}: {one:.0f} and {two:.0f} % of the labels are within "
        "one and two standard deviations of the truth, but 68 and 95 % should be."
    ]
