"""The picture of the audit: true errors, what each step does, error bars, planar regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.audit.error_bars import EXPECTED
from depthgauge.capture.audit.planes import PlanarRegion, plane_residuals
from depthgauge.capture.audit.step import read_audit
from depthgauge.capture.steps import read_step
from depthgauge.report.capture import _panels as panels

_BLUE, _ORANGE, _GREY = "#2c7bb6", "#e66101", "#7f7f7f"
_RESIDUAL_PX = 0.3
_ERROR_PX = 1.0
_STEPS = {
    "spacetime": "space-time",
    "refine": "refined",
    "clean": "cleaned",
    "consistent": "seen by\nboth",
}
_MATERIALS = {
    "0": "0\ndiffuse",
    "1": "1\nglossy",
    "2": "2\npartly\ndistorting",
    "3": "3\nmirror,\nglass",
}
_SOURCES = {
    "known": "(of the simulation)",
    "given": "(drawn by hand)",
    "found": "(found in the labels)",
}
Panel = Callable[[Any], None]


def picture(work: Path) -> Path:
    """Draws `audit.png` in the folder of step `audit`."""
    step = read_step(work, "audit")
    report = read_audit(work)
    wanted: list[Panel] = []
    if "simulated" in report:
        true = report["simulated"]
        wanted += [
            lambda axes: _show_errors(axes, step.folder, true),
            lambda axes: _show_steps(axes, true),
            lambda axes: _show_bars(axes, true["error_bars"]),
        ]
    wanted.append(lambda axes: _show_planes(axes, work, report["planes"]))
    if "simulated" in report:
        wanted += [
            lambda axes: _show_materials(axes, true["materials"]),
            lambda axes: _show_shares(axes, true),
        ]
    if "second_source" in report:
        wanted.append(lambda axes: _show_second(axes, report["second_source"]))
    columns = min(3, len(wanted))
    rows = -(-len(wanted) // columns)
    figure = panels.new_figure(5.2 * columns, 4.4 * rows, _title(report))
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, show in zip(places, wanted, strict=False):
        show(place)
    for place in places[len(wanted) :]:
        place.axis("off")
    return panels.save(figure, step.folder / "audit.png")


def _title(report: Mapping[str, Any]) -> str:
    parts = [f"Audit of {report['session']}"]
    if "simulated" in report:
        final = report["simulated"]["final"]
        parts.append(f"true error of the labels {_number(final['mean_abs_px'])} px")
    residual = report["planes"]["mean_residual_px"]
    parts.append(f"planar residual {_number(residual)} px")
    return ": ".join(parts[:2]) + "".join(f", {part}" for part in parts[2:])


def _show_errors(axes: Any, folder: Path, true: Mapping[str, Any]) -> None:
    error = io.read_map(folder / "error_00.npy")
    share = true["final"]["bad_2_percent"]
    name = f"Label minus truth; {_number(share)} % are off by more than 2 px"
    limits = (-_ERROR_PX, _ERROR_PX)
    panels.show_map(axes, error, name, "px (grey: no label)", colours="RdBu_r", limits=limits)


def _show_steps(axes: Any, true: Mapping[str, Any]) -> None:
    figures = {**true["steps"], "consistent": true["consistent"]}
    known = [n for n in _STEPS if n in figures and figures[n]["mean_abs_px"] is not None]
    places = np.arange(len(known))
    mean = [figures[n]["mean_abs_px"] for n in known]
    bad = [figures[n]["bad_2_percent"] for n in known]
    bars = axes.bar(places - 0.2, mean, 0.38, color=_BLUE, label="mean |error| in px (left axis)")
    axes.bar_label(bars, [f"{v:.3f}" for v in mean], fontsize=7, padding=1)
    axes.set_ylabel("px", fontsize=9)
    other = axes.twinx()
    bars = other.bar(places + 0.2, bad, 0.38, color=_ORANGE, label="off by > 2 px (right axis)")
    other.bar_label(bars, [f"{v:.2f}" for v in bad], fontsize=7, padding=1)
    other.set_ylabel("% of the labels", fontsize=9)
    axes.set_xticks(places, [_STEPS[n] for n in known], fontsize=8)
    for each, top, least in ((axes, mean, 1e-3), (other, bad, 0.1)):
        each.set_ylim(0, 1.35 * max([*top, least]))
        each.tick_params(labelsize=8)
    handles = [*axes.containers[:1], *other.containers[:1]]
    axes.legend(handles=handles, fontsize=8, frameon=False, loc="upper right")
    axes.set_title("True error after each step", fontsize=10, loc="left")


def _show_bars(axes: Any, bars: Mapping[str, Any]) -> None:
    axes.set_title("Error bars: predicted and real spread", fontsize=10, loc="left")
    if not bars["table"]:
        axes.text(0.5, 0.5, "no variance to judge", ha="center", transform=axes.transAxes)
        return
    predicted = [row["sigma_px"] for row in bars["table"]]
    robust = [row["robust_error_px"] for row in bars["table"]]
    rms = [row["rms_error_px"] for row in bars["table"]]
    ends = [0.7 * min(predicted + robust), 1.4 * max(predicted + rms)]
    axes.plot(ends, ends, color=_GREY, lw=1, label="what should be")
    axes.plot(predicted, robust, "o-", color=_BLUE, ms=4, label="68 % of |errors| are below")
    axes.plot(predicted, rms, "s--", color=_ORANGE, ms=4, label="RMS error")
    _logarithmic(axes)
    axes.set_xlabel("predicted standard deviation in px", fontsize=9)
    axes.set_ylabel("real error in px", fontsize=9)
    axes.tick_params(labelsize=8, which="both")
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    text = "\n".join(
        f"within {n} sigma: {bars[f'within_{n}_sigma_percent']:.1f} % ({EXPECTED[n]:.1f})"
        for n in EXPECTED
    )
    axes.text(0.98, 0.02, text, transform=axes.transAxes, ha="right", va="bottom", fontsize=8)


def _logarithmic(axes: Any) -> None:
    """Both axes, with plain numbers."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FormatStrFormatter("%g"))
        axis.set_minor_formatter(NullFormatter())


def _show_planes(axes: Any, work: Path, planes: Mapping[str, Any]) -> None:
    disparity = io.read_map(work / "check" / "disp_00.npy")
    numbers = io.read_labels(work / "audit" / "planes.png")
    residual = np.full(disparity.shape, np.nan, np.float32)
    found = [PlanarRegion(**{**r, "plane": tuple(r["plane"])}) for r in planes["regions"]]
    for number, region in enumerate(found):
        here = numbers == number + 1
        residual[here] = plane_residuals(disparity, region)[here]
    name = f"Residuals of {len(found)} planes {_SOURCES[planes['source']]}; mean |r| of each"
    limits = (-_RESIDUAL_PX, _RESIDUAL_PX)
    panels.show_map(axes, residual, name, "px (grey: none)", colours="RdBu_r", limits=limits)
    shrunk = panels.small(numbers)
    for number, region in enumerate(found):
        rows, columns = np.nonzero(shrunk == number + 1)
        if len(rows):
            # A pixel of the region itself, for any shape.
            at = np.argmin(np.hypot(rows - np.median(rows), columns - np.median(columns)))
            y, x = rows[at], columns[at]
            box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5}
            axes.text(x, y, f"{region.mean_abs_px:.3f}", fontsize=8, ha="center", bbox=box)


def _show_materials(axes: Any, materials: Mapping[str, Any]) -> None:
    known = [n for n in materials if materials[n]["mean_abs_px"] is not None]
    mean = [materials[n]["mean_abs_px"] for n in known]
    places = np.arange(len(known))
    bars = axes.bar(places, mean, 0.6, color=_BLUE)
    texts = [
        f"{materials[n]['mean_abs_px']:.3f} px\n{_number(materials[n]['kept_percent'])} % kept"
        for n in known
    ]
    axes.bar_label(bars, texts, fontsize=8, padding=2)
    axes.set_xticks(places, [_MATERIALS.get(n, n) for n in known], fontsize=8)
    axes.set_ylim(0, 1.35 * max([*mean, 1e-3]))
    axes.set_ylabel("mean |error| in px", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.set_title("True error by material (all painted)", fontsize=10, loc="left")


def _show_shares(axes: Any, true: Mapping[str, Any]) -> None:
    final, bars, thin = true["final"], true["error_bars"], true.get("thin", {})
    worst = true.get("worst_object") or {}
    lines = {
        "Labels kept": "",
        "of what both views see and light reaches": f"{_number(final['kept_percent'])} %",
        "of that right, near discontinuities": f"{_number(final['kept_near_edges_percent'])} %",
        "of that right, thin structures": f"{_number(thin.get('kept_and_right_percent'))} %",
        "Errors": "",
        "mean |error|": f"{_number(final['mean_abs_px'])} px",
        "median |error|": f"{_number(final['median_abs_px'])} px",
        "off by more than 2 px": f"{_number(final['bad_2_percent'])} %",
        "the same of the worst object": f"{_number(worst.get('bad_2_percent'))} %",
        "mean |error| near discontinuities": f"{_number(final['near_edges']['mean_abs_px'])} px",
        "Calibration": "",
        "mean |row error|": f"{_number(true['rows']['mean_abs_px'])} px",
        "mean |depth error|": f"{_number(true['depth']['mean_abs_mm'])} mm",
        "median depth error": f"{_number(true['depth']['median_percent'])} %",
        "Error bars": "",
        "sigma times this holds 68.3 %": _number(bars.get("factor_68")),
    }
    axes.axis("off")
    axes.set_title("In numbers", fontsize=10, loc="left")
    _write(axes, lines)


def _show_second(axes: Any, second: Mapping[str, Any]) -> None:
    planes = second["planes"]
    lines = {
        "Agreement": "",
        "pixels compared": f"{second['compared']}",
        "within 1 cm": f"{_number(second['within_1cm_percent'])} %",
        "RMSE of these": f"{_number(second['inlier_rmse_mm'])} mm",
        "median difference": f"{_number(second['median_mm'])} mm",
        "Distance from fitted planes": "",
        "labels": _both(planes["labels"]),
        "second source": _both(planes["second"]),
    }
    axes.axis("off")
    axes.set_title("Second depth source", fontsize=10, loc="left")
    _write(axes, lines)


def _write(axes: Any, lines: Mapping[str, str]) -> None:
    step = 1 / (len(lines) + 1)
    for n, (name, value) in enumerate(lines.items()):
        height = 1 - (n + 0.5) * step
        weight = "normal" if value else "bold"
        axes.text(
            0.0 if not value else 0.04, height, name, fontsize=9, fontweight=weight,
            transform=axes.transAxes, va="center",
        )  # fmt: skip
        axes.text(
            0.98, height, value, fontsize=9, ha="right", transform=axes.transAxes, va="center"
        )


def _both(figures: Mapping[str, Any]) -> str:
    return f"{_number(figures['mean_abs_px'])} px, {_number(figures['mean_abs_mm'])} mm"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
