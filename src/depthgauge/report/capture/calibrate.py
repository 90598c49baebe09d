"""The picture of a calibration: where corners were seen, what is left of them, what lenses do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.step import read_calibration, read_views
from depthgauge.capture.steps import Step, read_step
from depthgauge.geometry.projection import slopes_at
from depthgauge.report.capture import _panels as panels
from depthgauge.types import Camera

_COLOUR = {"L": "#2c7bb6", "C": "#1b9e77", "R": "#d95f02"}
_ARROW = 0.04
"""Length of the longest usual residual in the coverage panel, as a share of the image's width."""


def picture(work: Path) -> Path:
    """Draws `calibrate.png` in the folder of step `calibrate`: one row per camera."""
    step = read_step(work, "calibrate")
    calibration, views = read_calibration(work), read_views(work)
    names = [name for name in "LCR" if name in calibration.cameras]
    title = "Calibration of " + ", ".join(names) + " · " + _pairs_title(step)
    figure = panels.new_figure(17.5, 1.0 + 3.9 * len(names), title)
    rows = figure.subplots(len(names), 4, squeeze=False, width_ratios=[1.25, 1, 1.35, 1.25])
    reach = max(_reach(views[name]) for name in names)
    for axes, name in zip(rows, names, strict=True):
        figures = step.figures["cameras"][name]
        _coverage(axes[0], name, calibration.cameras[name], views[name])
        _residuals(axes[1], name, views[name], figures["rms_px"], reach)
        _bars(axes[2], name, views[name])
        _distortion(axes[3], name, calibration.cameras[name])
    return panels.save(figure, step.folder / "calibrate.png")


def _pairs_title(step: Step) -> str:
    return " · ".join(
        f"pair {name}: {pair['rms_px']:.3f} px rms, baseline {100 * pair['baseline_m']:.2f} cm"
        for name, pair in step.figures["pairs"].items()
    )


def _stacked(views: Mapping[str, Any], what: str) -> NDArray[np.float64]:
    used = [np.zeros((0, 2)), *(np.array(v[what]) for v in views.values() if v["used"])]
    return np.concatenate(used)


def _reach(views: Mapping[str, Any]) -> float:
    """Half the width of the residuals' panel: nearly all of them are inside."""
    residuals = np.abs(_stacked(views, "residuals_px"))
    return float(1.15 * np.percentile(residuals, 99.5)) if residuals.size else 1.0


def _coverage(axes: Any, name: str, camera: Camera, views: Mapping[str, Any]) -> None:
    corners, residuals = _stacked(views, "corners_px"), _stacked(views, "residuals_px")
    (width, height), used = camera.size_px, sum(v["used"] for v in views.values())
    length = float(np.percentile(np.linalg.norm(residuals, axis=1), 95)) or 1.0
    scale = length / (_ARROW * width)
    axes.quiver(
        *corners.T,
        *residuals.T,
        angles="xy",
        scale_units="xy",
        scale=scale,
        color=_COLOUR[name],
        width=0.003,
    )
    axes.plot(*corners.T, ".", color="#222222", markersize=1.5)
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_title(
        f"{name}: {len(corners)} corners of {used} boards\narrows: residuals, {1 / scale:.0f} times"
        " enlarged",
        fontsize=10,
        loc="left",
    )
    axes.set_xlabel("x in the image, px", fontsize=9)
    axes.set_ylabel("y, px", fontsize=9)


def _residuals(
    axes: Any, name: str, views: Mapping[str, Any], rms_px: float, reach_px: float
) -> None:
    residuals = _stacked(views, "residuals_px")
    axes.plot(*residuals.T, ".", color=_COLOUR[name], markersize=2.5, alpha=0.5)
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(rms_px * np.cos(turn), rms_px * np.sin(turn), color="#222222", linewidth=1)
    axes.axhline(0, color="#bbbbbb", linewidth=0.6, zorder=0)
    axes.axvline(0, color="#bbbbbb", linewidth=0.6, zorder=0)
    axes.set_xlim(-reach_px, reach_px)
    axes.set_ylim(reach_px, -reach_px)
    axes.set_aspect("equal")
    axes.set_title(
        f"{name}: found minus expected corner\ncircle: {rms_px:.3f} px rms", fontsize=10, loc="left"
    )
    axes.set_xlabel("right, px", fontsize=9)
    axes.set_ylabel("down, px", fontsize=9)


def _bars(axes: Any, name: str, views: Mapping[str, Any]) -> None:
    poses = list(views)
    heights = [views[pose].get("rms_px", 0.0) for pose in poses]
    axes.bar(range(len(poses)), heights, color=_COLOUR[name], width=0.75)
    top = 1.25 * max(heights, default=1.0) or 1.0
    for place, pose in enumerate(poses):
        if not views[pose]["used"]:
            why = str(views[pose]["why"])
            axes.axvspan(place - 0.5, place + 0.5, color="#eeeeee", zorder=0)
            axes.text(
                place,
                0.03 * top,
                why,
                rotation=90,
                ha="center",
                va="bottom",
                fontsize=7,
                color="#b30000",
            )
    axes.set_ylim(0, top)
    axes.set_xlim(-0.7, len(poses) - 0.3)
    axes.set_xticks(range(len(poses)), poses, rotation=90, fontsize=7)
    used = sum(view["used"] for view in views.values())
    axes.set_title(
        f"{name}: error of each view\n{used} used, {len(poses) - used} left out (grey)",
        fontsize=10,
        loc="left",
    )
    axes.set_xlabel("pose of the board", fontsize=9)
    axes.set_ylabel("rms, px", fontsize=9)


def _distortion(axes: Any, name: str, camera: Camera) -> None:
    """How far the lens moves each pixel from where a pinhole would have it."""
    width, height = camera.size_px
    x, y = np.meshgrid(np.linspace(0, width - 1, 60), np.linspace(0, height - 1, 45))
    places = np.stack([x, y], axis=-1)
    straight = slopes_at(places, camera) * camera.focal_px + camera.centre_px
    moved = np.linalg.norm(places - straight, axis=-1)
    shade = axes.pcolormesh(x, y, moved, cmap="viridis", shading="gouraud")
    lines = axes.contour(x, y, moved, levels=5, colors="white", linewidths=0.7)
    axes.clabel(lines, fontsize=7, fmt="%g")
    axes.plot(*camera.centre_px, "+", color="white", markersize=9)
    beside = axes.inset_axes([1.02, 0.0, 0.035, 1.0])
    bar = axes.figure.colorbar(shade, cax=beside)
    bar.set_label("moved by the lens, px", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    axes.set_aspect("equal")
    k1, k2, p1, p2, k3 = camera.distortion
    axes.set_title(
        f"{name}: f {camera.focal_px[0]:.1f} px, k1 {k1:.3f} k2 {k2:.3f} k3 {k3:.3f}\n"
        f"p1 {p1:.4f} p2 {p2:.4f}; + principal point",
        fontsize=10,
        loc="left",
    )
    axes.set_xlabel("x in the image, px", fontsize=9)
