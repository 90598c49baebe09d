"""The picture of the left-right check: both maps, what both views see, and the labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.check import VIEWS
from depthgauge.capture.labels import read_label_map
from depthgauge.capture.steps import read_step
from depthgauge.report.capture import _panels as panels

_SEEN = {
    0: ("no label", "#a6a6a6"),
    1: ("seen by this view only", "#e66101"),
    2: ("seen by both", "#2c7bb6"),
}
_NAMES = {"left": "L", "right": "R"}


def picture(work: Path) -> Path:
    """Draws `check.png` in the folder of step `check`."""
    step = read_step(work, "check")
    drawn = [
        (numbers, classes, f"{name.capitalize()}, drawn by hand")
        for name, classes in (("materials", panels.MATERIALS), ("surfaces", panels.SURFACES))
        if (numbers := read_label_map(step.folder, name)) is not None
    ]
    threshold = step.options["threshold_px"]
    rows = 3 if drawn else 2
    title = f"Left-right check: labels that the other view confirms within {threshold:g} px"
    figure = panels.new_figure(13.5, 3.6 * rows, title)
    axes = figure.subplots(rows, 3, squeeze=False)
    for row, side in zip(axes, VIEWS, strict=False):
        _show_view(row, work, step.folder, side, step.figures[side])
    for place, (numbers, classes, name) in zip(axes[2] if drawn else (), drawn, strict=False):
        panels.show_classes(place, numbers, classes, name)
    for place in axes[2][len(drawn) :] if drawn else ():
        place.axis("off")
    return panels.save(figure, step.folder / "check.png")


def _show_view(row: Any, work: Path, folder: Path, side: str, figures: dict[str, Any]) -> None:
    number = VIEWS[side]
    disparity = io.read_map(folder / f"disp_{number}.npy")
    mask = io.read_mask(folder / f"mask_{number}.png")
    photograph = panels.first_photograph(work / "rectify" / "LR" / _NAMES[side])
    panels.show_photograph(row[0], photograph, f"{side.capitalize()} view, rectified")
    share = figures["labelled_percent"]
    panels.show_map(
        row[1], disparity, f"disp_{number}: {share:.1f} % of the pixels have a label", "px"
    )
    seen = np.isfinite(disparity).astype(np.uint8) + (mask & np.isfinite(disparity))
    share = figures["consistent_percent"]
    panels.show_classes(row[2], seen, _SEEN, f"mask_{number}: {share:.1f} % of the labels")
