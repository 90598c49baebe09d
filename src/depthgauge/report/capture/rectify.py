"""The picture of a rectification: both pairs before and after, with rows drawn across them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.calibrate.step import read_views
from depthgauge.capture.rectify.step import board_rows_px, read_pair
from depthgauge.capture.resample import resample
from depthgauge.capture.steps import Step, read_step
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.report.capture import _panels as panels

_ROWS = 8
_GAP = 0.03
"""Between two images, in widths."""
_COLOURS = ("#00e5ff", "#ffd500")


def picture(work: Path) -> Path:
    """Draws `rectify.png` in the folder of step `rectify`: one row per pair."""
    step = read_step(work, "rectify")
    names = [name for name in ("LR", "LC") if name in step.figures["pairs"]]
    title = "Rectification: matching points are on the same row of both images"
    figure = panels.new_figure(18.5, 0.9 + 3.2 * len(names), title)
    rows = figure.subplots(len(names), 3, squeeze=False, width_ratios=[2.1, 2.1, 1])
    views = read_views(work)
    for axes, name in zip(rows, names, strict=True):
        pair = read_pair(work, name)
        _before(axes[0], step, name, pair)
        _after(axes[1], step, name, pair)
        _histogram(axes[2], step, name, board_rows_px(name, pair, views))
    return panels.save(figure, step.folder / "rectify.png")


def _before(axes: Any, step: Step, name: str, pair: RectifiedPair) -> None:
    """The raw images, each stretched to the same width, with the rectified rows."""
    panels.bare(axes, f"{name[0]} and {name[1]} as photographed; lines: rows of the rectified pair")
    ratio = max(v.raw.size_px[1] / v.raw.size_px[0] for v in (pair.left, pair.right))
    for side, (view, camera) in enumerate(zip((pair.left, pair.right), name, strict=True)):
        shift = side * (1 + _GAP)
        width, height = view.raw.size_px
        _show(axes, step.folder / "raw" / f"{camera}.png", shift, height / width)
        for colour, row in _rows(view):
            x, y = view.to_raw(row).T
            axes.plot(shift + (x + 0.5) / width, (y + 0.5) / width, color=colour, linewidth=1.1)
    _frame(axes, ratio)


def _after(axes: Any, step: Step, name: str, pair: RectifiedPair) -> None:
    """The rectified images, the right one brought to the left one's size."""
    sizes = ["x".join(map(str, v.camera.size_px)) for v in (pair.left, pair.right)]
    shown = "" if sizes[0] == sizes[1] else f"; {name[1]} is enlarged to the size of {name[0]}"
    panels.bare(axes, f"rectified, {sizes[0]} and {sizes[1]} px{shown}")
    width, height = pair.left.camera.size_px
    for side, (view, camera) in enumerate(zip((pair.left, pair.right), name, strict=True)):
        shift = side * (1 + _GAP)
        path = step.folder / "raw" / f"{camera}.png"
        if path.is_file():
            raw = io.read_image(path)
            image = resample(_small_view(view, raw.shape[1::-1]), raw)
            _place(axes, image, shift, height / width)
    for colour, row in _rows(pair.left):
        y = (row[0, 1] + 0.5) / width
        axes.plot([0, 2 + _GAP], [y, y], color=colour, linewidth=1.1)
    _frame(axes, height / width)


def _rows(view: RectifiedView) -> list[tuple[str, NDArray[np.float64]]]:
    """Evenly spaced rows of a rectified view as positions (N, 2), with their colours."""
    width, height = view.camera.size_px
    x = np.linspace(0, width - 1, 100)
    ys = (np.arange(_ROWS) + 0.5) / _ROWS * height - 0.5
    rows = [np.stack([x, np.full(x.shape, y)], axis=-1) for y in ys]
    return [(_COLOURS[n % len(_COLOURS)], row) for n, row in enumerate(rows)]


def _small_view(view: RectifiedView, raw_size: tuple[int, ...]) -> RectifiedView:
    """The view for a small copy of the raw image, as wide as that."""
    width, height = view.camera.size_px
    target = (raw_size[0], max(1, round(raw_size[0] * height / width)))
    raw = scale_camera(view.raw, raw_size[0], raw_size[1])
    return replace(view, raw=raw, camera=scale_camera(view.camera, *target))


def _show(axes: Any, path: Path, shift: float, ratio: float) -> None:
    if path.is_file():
        _place(axes, io.read_image(path), shift, ratio)


def _place(axes: Any, image: NDArray[Any], shift: float, ratio: float) -> None:
    axes.imshow(image, extent=(shift, shift + 1, ratio, 0), cmap="gray", interpolation="bilinear")


def _frame(axes: Any, ratio: float) -> None:
    axes.set_xlim(0, 2 + _GAP)
    axes.set_ylim(ratio, 0)
    axes.set_aspect("equal")


def _histogram(axes: Any, step: Step, name: str, rows_px: NDArray[np.float64]) -> None:
    figures: Mapping[str, Any] = step.figures["pairs"][name]
    if rows_px.size:
        reach = float(np.percentile(np.abs(rows_px), 99.5)) or 1.0
        axes.hist(np.clip(rows_px, -reach, reach), bins=41, color="#2c7bb6")
        axes.set_title(
            f"{name}: {rows_px.size} corners of boards, {figures['row_rms_px']:.3f} px rms",
            fontsize=10,
            loc="left",
        )
    axes.set_xlabel(f"row in {name[1]} minus row in {name[0]}, px of {name[0]}", fontsize=9)
    axes.set_ylabel("corners", fontsize=9)
    axes.locator_params(axis="x", nbins=5)
