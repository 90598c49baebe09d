"""The picture of space-time stereo: a pattern, disparities, their stated errors, the patterns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.steps import Step, read_step
from depthgauge.io.text import read_json
from depthgauge.report.capture import _panels as panels
from depthgauge.types import Map

_USED, _DROPPED = "#2c7bb6", "#d7191c"
_MOST_NAMES = 25


def picture(work: Path) -> Path:
    """Draws `spacetime.png` in the folder of step `spacetime`."""
    step = read_step(work, "spacetime")
    record = read_json(step.folder / "patterns.json")
    maps = {
        name: io.read_map(step.folder / f"{name}.npy")
        for name in ("left_disparity", "right_disparity", "left_variance", "left_confidence")
    }
    figure = panels.new_figure(15.5, 8.2, _title(record))
    axes = figure.subplots(2, 3)
    shown = record["used"][0]
    panels.show_photograph(
        axes[0, 0],
        step.folder / "left_pattern.png",
        f"Left view under pattern {shown}, rectified, {'x'.join(map(str, record['size_px']))} px",
    )
    limits = panels.spread(maps["left_disparity"])
    for place, side in ((axes[0, 1], "left"), (axes[0, 2], "right")):
        share = 100 * step.figures["share_with_value"][side]
        title = f"Disparity of the {side} view; {share:.1f} % have a value"
        panels.show_map(place, maps[f"{side}_disparity"], title, "px", limits=limits)
    _show_sigma(axes[1, 0], maps["left_variance"], step, str(record["uncertainty"]))
    panels.show_map(
        axes[1, 1],
        maps["left_confidence"],
        "Agreement of the patterns at the match (left view)",
        "correlation",
        colours="magma",
        limits=(0.0, 1.0),
    )
    _show_patterns(axes[1, 2], record)
    return panels.save(figure, step.folder / "spacetime.png")


def _title(record: Mapping[str, Any]) -> str:
    low, high = record["disparities"]
    return (
        f"Space-time stereo: {len(record['used'])} patterns, engine {record['engine']}, "
        f"disparities {low} to {high} px at scale {record['scale']:g}"
    )


def _show_sigma(axes: Any, variance: Map, step: Step, uncertainty: str) -> None:
    sigma = np.sqrt(variance)
    median = step.figures["median_sigma_px"]["left"]
    if median is None:
        panels.bare(axes, "No standard deviations: there was one pattern")
        return
    panels.show_map(
        axes,
        sigma,
        f"Standard deviation (left view), median {median:.3f} px",
        "px",
        colours="magma",
        limits=(0.0, 5 * median or 1.0),
    )
    axes.set_xlabel(f"From: {uncertainty}", fontsize=9, loc="left")


def _show_patterns(axes: Any, record: Mapping[str, Any]) -> None:
    """A bar for each pattern; those that were dropped have their name and a cross."""
    agreement, dropped = record["agreement"], record["dropped"]
    names = sorted([*agreement, *dropped])
    heights = [agreement.get(name, 0.0) for name in names]
    axes.bar(range(len(names)), heights, color=_USED)
    gone = [k for k, name in enumerate(names) if name in dropped]
    for k in gone:
        axes.plot([k], [0.03], "x", color=_DROPPED, markersize=7)
        axes.text(k, 0.07, "dropped", rotation=90, ha="center", va="bottom", color=_DROPPED)
    step = -(-len(names) // _MOST_NAMES)
    axes.set_xticks(range(0, len(names), step), names[::step], rotation=90, fontsize=7)
    axes.set_ylim(0, 1)
    axes.set_ylabel("correlation of left and right", fontsize=9)
    axes.set_title("Each pattern alone, at the matches of all", fontsize=10, loc="left")
