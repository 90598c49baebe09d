"""The picture of what moved: shifts of all patterns, rows of both cameras, exposure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.capture.register.step import DETAILS, EXPOSURE
from depthgauge.capture.steps import Step, read_step
from depthgauge.io.text import read_json
from depthgauge.report.capture import _panels as panels

_COLOURS = {"L": "#2c7bb6", "R": "#d7191c", "C": "#1a9641"}
_LEAST_REACH_PX = 0.2
"""Of the axes of shifts: noise should look like noise."""


def picture(work: Path) -> Path:
    """Draws `register.png` in the folder of step `register`."""
    step = read_step(work, "register")
    details = read_json(step.folder / DETAILS)
    exposure = read_json(step.folder / EXPOSURE)["patterns"]
    figure = panels.new_figure(
        15.5, 4.4, "What moved between photographs, and how they are exposed"
    )
    axes = figure.subplots(1, 3)
    _shifts(axes[0], details["shifts_px"])
    _rows(axes[1], step, details["rows"])
    _exposure(axes[2], exposure)
    return panels.save(figure, step.folder / "register.png")


def _shifts(axes: Any, shifts: Mapping[str, Mapping[str, list[float]]]) -> None:
    """Of every pattern against the mean of all: solid to the right, dashed down."""
    if not shifts:
        panels.bare(axes, "There are no patterns")
        return
    reach = _LEAST_REACH_PX
    for camera, by_name in shifts.items():
        values = np.array(list(by_name.values()))
        reach = max(reach, 1.1 * float(np.abs(values).max()))
        for k, (line, way) in enumerate((("-o", "right"), ("--s", "down"))):
            label = f"{camera}, {way}"
            axes.plot(values[:, k], line, color=_COLOURS[camera], markersize=3, label=label)
    axes.set_ylim(-reach, reach)
    axes.set_title("Shift of every pattern against the mean of all", fontsize=10, loc="left")
    axes.set_xlabel("pattern, in the order of names", fontsize=9)
    axes.set_ylabel("px", fontsize=9)
    axes.legend(fontsize=8, ncols=2)


def _rows(axes: Any, step: Step, rows: list[list[float]]) -> None:
    """Row differences of matching points before the correction."""
    found = step.figures["rows"]
    if not rows:
        panels.bare(axes, "The rows of L and R were not compared")
        return
    x, y, lower = np.array(rows).T
    reach = max(float(np.abs(lower).max()), 0.02)
    dots = axes.scatter(x, y, c=lower, cmap="coolwarm", vmin=-reach, vmax=reach, s=45)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    said = "corrected" if found["corrected"] else "not corrected"
    title = f"How much lower R shows it than L; median {found['median_px']:+.3f} px, {said}"
    axes.set_title(title, fontsize=10, loc="left")
    axes.figure.colorbar(dots, ax=axes, label="px", shrink=0.8)


def _exposure(axes: Any, exposure: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    if not exposure:
        panels.bare(axes, "There are no patterns")
        return
    for camera, by_name in exposure.items():
        for line, kind in (("-o", "saturated"), ("--s", "dark")):
            shares = [100 * own[kind] for own in by_name.values()]
            label = f"{camera}, {kind}"
            axes.plot(shares, line, color=_COLOURS[camera], markersize=3, label=label)
    axes.set_ylim(bottom=0)
    axes.set_title("Saturated and dark pixels of every pattern", fontsize=10, loc="left")
    axes.set_xlabel("pattern, in the order of names", fontsize=9)
    axes.set_ylabel("% of the pixels", fontsize=9)
    axes.legend(fontsize=8, ncols=2)
