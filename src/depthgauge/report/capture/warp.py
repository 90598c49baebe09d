"""The picture of the warp: labels before and after, over the photographs that they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.steps import read_step
from depthgauge.report.capture import _panels as panels
from depthgauge.report.pictures.shrink import any_of_block, fitting
from depthgauge.types import Map, Mask

_JUMP_PX = 1.0
_OUTLINE = "#00e5ff"
_LINE_WIDE = 480
"""Lines are one pixel of a picture that is so wide."""


def picture(work: Path) -> Path:
    """Draws `warp.png` in the folder of step `warp`."""
    step = read_step(work, "warp")
    before = io.read_map(work / "check" / "disp_00.npy")
    after = io.read_map(step.folder / "disp_00.npy")
    mask = io.read_mask(step.folder / "mask_00.png")
    figure = panels.new_figure(
        13.5, 10.5, "Labels of the balanced pair (left) brought to the unbalanced one (right)"
    )
    axes = figure.subplots(3, 2)
    panels.show_map(axes[0, 0], before, "L of pair LR: disparity to R", "px")
    panels.show_map(axes[0, 1], after, "L of pair LC: disparity to C", "px of L")
    jump = _JUMP_PX
    _show_outlines(axes[1, 0], work, "LR", before, jump)
    # The same steps in depth are smaller where the baseline is shorter.
    ratio = float(np.nanmedian(after) / np.nanmedian(before)) if np.isfinite(after).any() else 1
    _show_outlines(axes[1, 1], work, "LC", after, jump * ratio)
    photograph = panels.first_photograph(work / "rectify" / "LC" / "C")
    panels.show_photograph(axes[2, 0], photograph, "C, the other view of pair LC")
    seen = np.isfinite(after).astype(np.uint8) + (mask & np.isfinite(after))
    classes = {
        0: ("no label", "#a6a6a6"),
        1: ("hidden from C", "#e66101"),
        2: ("seen by L and C", "#2c7bb6"),
    }
    panels.show_classes(axes[2, 1], seen, classes, "mask_00 of pair LC, from the labels' geometry")
    return panels.save(figure, step.folder / "warp.png")


def _show_outlines(axes: Any, work: Path, letters: str, disparity: Map, jump_px: float) -> None:
    from matplotlib.colors import ListedColormap

    photograph = panels.first_photograph(work / "rectify" / letters / "L")
    name = f"Photograph of L in pair {letters}, with the labels' discontinuities"
    panels.show_photograph(axes, photograph, name)
    edges = _edges(disparity, jump_px)
    height, width = panels.small(disparity).shape
    drawn = any_of_block(edges, fitting(edges.shape, _LINE_WIDE))
    layer = np.ma.masked_where(~drawn, np.ones(drawn.shape))
    place = (-0.5, width - 0.5, height - 0.5, -0.5)
    axes.imshow(layer, cmap=ListedColormap([_OUTLINE]), interpolation="nearest", extent=place)


def _edges(disparity: Map, jump_px: float) -> Mask:
    """Pixels left of or above a jump, or of where labels end."""
    filled = np.where(np.isfinite(disparity), disparity, -1e6)
    edges = np.zeros(disparity.shape, bool)
    edges[:, :-1] |= np.abs(np.diff(filled, axis=1)) > jump_px
    edges[:-1] |= np.abs(np.diff(filled, axis=0)) > jump_px
    return edges
