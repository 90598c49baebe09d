"""The picture of the refinement: the map, where it had to choose, and what it changed most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.steps import read_step
from depthgauge.geometry.resizing import resize
from depthgauge.report.capture import _panels as panels
from depthgauge.types import Map

_PLACES = 3
_SHARE = 14
"""A detail is this part of the image's width."""


def picture(work: Path) -> Path:
    """Draws `refine.png` in the folder of step `refine`."""
    step = read_step(work, "refine")
    refined = io.read_map(step.folder / "left_disparity.npy")
    choice = io.read_map(step.folder / "left_choice.npy")
    guide = io.read_image(step.folder / "left_guide.png")
    measured = io.read_map(read_step(work, "spacetime").folder / "left_disparity.npy")
    enlarged = resize(measured, refined.shape, "nearest", "disparity")
    height, width = refined.shape
    size = f"{width}x{height} px"
    if measured.shape != refined.shape:
        size = f"{measured.shape[1]}x{measured.shape[0]} to {size}"
    title = f"Refinement of the left map, {size}, guided by the {step.options['guide']} images"
    places = _most_changed(enlarged, refined, max(24, width // _SHARE))
    figure = panels.new_figure(13.5, 3.8 + 3.7 * len(places), title)
    axes = figure.subplots(1 + len(places), 3, squeeze=False)
    limits = panels.spread(refined)
    panels.show_map(axes[0][0], enlarged, "As measured", "disparity, px", limits=limits)
    panels.show_map(axes[0][1], refined, "Refined", "disparity, px", limits=limits)
    two = 100 * float(np.isfinite(choice).mean())
    panels.show_map(
        axes[0][2],
        choice,
        f"Two candidates in {two:.1f} % of the pixels",
        "density's share at the chosen one",
        colours="magma",
        limits=(0.5, 1.0),
    )
    for number, (row, window) in enumerate(zip(axes[1:], places, strict=True)):
        _outline(axes[0], window, number + 1, panels.small(refined).shape[1] / width)
        _show_place(row, window, number + 1, guide, enlarged, refined)
    return panels.save(figure, step.folder / "refine.png")


def _most_changed(before: Map, after: Map, size: int) -> list[tuple[slice, slice]]:
    """Square windows in which most pixels went to another surface; none twice."""
    height, width = before.shape
    moved = np.abs(after - before) > 1.0
    rows, columns = max(1, height // size), max(1, width // size)
    blocks = moved[: rows * size, : columns * size]
    if blocks.shape != (rows * size, columns * size):  # smaller than one window
        return [(slice(0, height), slice(0, width))]
    counts = blocks.reshape(rows, size, columns, size).sum(axis=(1, 3))
    best = np.argsort(counts, axis=None, kind="stable")[::-1][:_PLACES]
    return [
        (slice(r * size, (r + 1) * size), slice(c * size, (c + 1) * size))
        for r, c in (divmod(int(i), columns) for i in best)
    ]


def _show_place(
    row: Any,
    window: tuple[slice, slice],
    number: int,
    guide: NDArray[Any],
    before: Map,
    after: Map,
) -> None:
    detail = guide[window].astype(np.float32)
    low, high = (float(v) for v in np.percentile(detail, [0.5, 99.5]))
    stretched = np.clip((detail - low) / max(high - low, 1.0), 0, 1)  # dark corners have edges too
    row[0].imshow(stretched, interpolation="nearest", cmap="gray")
    panels.bare(row[0], f"{number}: guide, contrast stretched")
    limits = panels.spread(np.concatenate([before[window].ravel(), after[window].ravel()]))
    for axes, values, name in ((row[1], before, "as measured"), (row[2], after, "refined")):
        panels.show_map(axes, values[window], f"{number}: {name}", "disparity, px", limits=limits)


def _outline(axes: Any, window: tuple[slice, slice], number: int, scale: float) -> None:
    """Shows where a detail is."""
    from matplotlib.patches import Rectangle

    rows, columns = window
    x, y = columns.start * scale, rows.start * scale
    w, h = (columns.stop - columns.start) * scale, (rows.stop - rows.start) * scale
    for place, colour in ((axes[0], "#ffffff"), (axes[1], "#ffffff"), (axes[2], "#000000")):
        place.add_patch(Rectangle((x, y), w, h, fill=False, edgecolor=colour, linewidth=1.2))
        place.text(x + w, y, str(number), color=colour, fontsize=9, va="bottom", fontweight="bold")
