"""Pictures of an object with tags: identities, corners, motion, row differences, what moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.tags.one_object import read_points, read_stillness
from depthgauge.capture.tags.points import ObjectPoints, TagPoints, View
from depthgauge.capture.tags.stillness import Stillness
from depthgauge.report.capture import _panels as panels

IDENTITIES, OVERVIEW = "identities.png", "tags.png"
_LAYERS = {0: "#bbbbbb", 1: "#00d5ff", 2: "#ffb000", 3: "#ff3fa4", 4: "#7cff3f"}
"""Colours of layers; 0 is not annotated."""
_WIDE_IN = 9.0


def draw_identities(folder: Path) -> Path:
    """Draws `identities.png`, for people who annotate: every tag with its number."""
    points = read_points(folder)
    title = "Which tag is which: numbers for annotations.toml"
    pictures = [io.read_image(folder / f"{time}_0.png") for time in (1, 2)]
    ratio = pictures[0].shape[0] / pictures[0].shape[1]
    figure = panels.new_figure(2 * _WIDE_IN, _WIDE_IN * ratio + 1.0, title)
    for axes, time, picture in zip(figure.subplots(1, 2), (1, 2), pictures, strict=True):
        when = "before" if time == 1 else "after"
        panels.bare(axes, f"left camera, {when} the rearrangement ({time}_0)")
        axes.imshow(picture, interpolation="antialiased", cmap="gray")
        _show_tags(axes, points.tags, (time, 0), size=13.0)
    return panels.save(figure, folder / IDENTITIES)


def draw_overview(folder: Path) -> Path:
    """Draws `tags.png`: corners, motion over the picture without tags, rows, and what moved."""
    points, still = read_points(folder), read_stillness(folder)
    picture = io.read_image(folder / "1_0.png")
    ratio = picture.shape[0] / picture.shape[1]
    title = "Tags: corners, how they move, and how well the rows agree"
    figure = panels.new_figure(2 * _WIDE_IN, 2 * _WIDE_IN * ratio + 1.4, title)
    (corners, motion), (rows, moved) = figure.subplots(2, 2)
    panels.bare(corners, "corners found before the rearrangement, left (1_0)")
    corners.imshow(picture, interpolation="antialiased", cmap="gray")
    _show_tags(corners, points.tags, (1, 0), size=7.0)
    _show_motion(motion, folder, points)
    _show_rows(rows, points)
    _show_stillness(moved, folder, still)
    return panels.save(figure, folder / OVERVIEW)


def _colour(tag: TagPoints) -> str:
    return _LAYERS.get(tag.note.layer, _LAYERS[4])


def _show_tags(axes: Any, tags: Iterable[TagPoints], view: View, *, size: float) -> None:
    from matplotlib.patheffects import withStroke

    around = [withStroke(linewidth=2.5, foreground="black")]
    for tag in tags:
        corners = tag.corners_px.get(view)
        if corners is None or not (known := np.isfinite(corners).all(axis=1)).any():
            continue
        x, y = np.vstack([corners, corners[:1]]).T
        axes.plot(x, y, color=_colour(tag), linewidth=1.2, marker=".", markersize=4)
        middle = corners[known].mean(axis=0)
        axes.text(
            *middle,
            str(tag.identity),
            color="white",
            fontsize=size,
            ha="center",
            va="center",
            path_effects=around,
        )


def _show_motion(axes: Any, folder: Path, points: ObjectPoints) -> None:
    from matplotlib.lines import Line2D

    panels.bare(axes, "motion of the corners, drawn over the picture without tags (0_0)")
    axes.imshow(io.read_image(folder / "0_0.png"), interpolation="antialiased", cmap="gray")
    pairs = points.pairs("flow left", annotated=False)
    if not pairs:
        return
    start = np.array([pair.first for pair in pairs])
    way = np.array([pair.second - pair.first for pair in pairs])
    axes.quiver(
        *start.T,
        *way.T,
        color=[_colour(pair.tag) for pair in pairs],
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.003,
    )
    layers = sorted({pair.tag.note.layer for pair in pairs})
    names = {layer: f"layer {layer}" if layer else "not annotated" for layer in layers}
    handles = [Line2D([], [], color=_LAYERS.get(k, _LAYERS[4]), label=names[k]) for k in layers]
    axes.legend(handles=handles, loc="lower right", fontsize=8)


def _show_rows(axes: Any, points: ObjectPoints) -> None:
    rows, limit = points.rows_px(), points.row_limit_px
    if rows.size:
        reach = max(float(np.abs(rows).max()), 1e-3)
        reach = min(reach, 2 * limit) if limit > 0 else reach
        axes.hist(np.clip(rows, -reach, reach), bins=41, color="#2c7bb6")
        if reach > limit:
            for edge in (-limit, limit):
                axes.axvline(edge, color="#d7191c", linewidth=1.0)
    kept = np.abs(rows) <= limit
    mean = f", mean {np.abs(rows[kept]).mean():.3f} px" if kept.any() else ""
    title = f"{rows.size} stereo pairs of corners, {int((~kept).sum())} excluded{mean}"
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(f"row in right minus row in left, px; excluded beyond {limit:g}", fontsize=9)
    axes.set_ylabel("corners", fontsize=9)


def _show_stillness(axes: Any, folder: Path, still: Mapping[str, Stillness]) -> None:
    """The picture in which most moved, with every detail that was followed."""
    name = max(still, key=lambda key: int(still[key].far.sum()))
    one = still[name]
    when, side = name.split()
    picture = f"{0 if when == 'before' else 3}_{0 if side == 'left' else 1}"
    panels.bare(axes, f"details outside of the tags, {picture}: {one.verdict}; red: moved, 10x")
    axes.imshow(io.read_image(folder / f"{picture}.png"), interpolation="antialiased", cmap="gray")
    axes.plot(*one.start[~one.far].T, ".", color="#39d353", markersize=4)
    axes.quiver(
        *one.start[one.far].T,
        *(10 * one.moved[one.far]).T,
        color="#ff2a2a",
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.003,
    )
