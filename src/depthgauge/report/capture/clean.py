"""The picture of the cleaning: both maps before and after, and why each pixel was removed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge.capture.clean.step import REASONS
from depthgauge.capture.steps import read_step
from depthgauge.report.capture import _panels as panels

_COLOURS = ("#e8e8e8", "#8c8c8c", "#e41a1c", "#377eb8", "#ff7f00", "#984ea3", "#1b9e77")


def picture(work: Path) -> Path:
    """Draws `clean.png` in the folder of step `clean`."""
    step = read_step(work, "clean")
    before = read_step(work, "refine").folder
    title = f"Cleaning: what was removed and why; {_filter_in_words(step.options)}"
    figure = panels.new_figure(13.5, 8.4, title)
    axes = figure.subplots(2, 3)
    for row, side in zip(axes, ("left", "right"), strict=True):
        _show_side(row, before, step.folder, side, step.figures[side])
    return panels.save(figure, step.folder / "clean.png")


def _show_side(row: Any, before: Path, after: Path, side: str, figures: Mapping[str, Any]) -> None:
    refined = io.read_map(before / f"{side}_disparity.npy")
    cleaned = io.read_map(after / f"{side}_disparity.npy")
    codes = io.read_labels(after / f"{side}_removed.png")
    limits = panels.spread(cleaned)
    name = side.capitalize()
    panels.show_map(row[0], refined, f"{name} map, refined", "disparity, px", limits=limits)
    share = 100 * figures["kept_share_of_known"]
    panels.show_map(
        row[1],
        cleaned,
        f"{name} map, cleaned: {share:.1f} % of its values kept",
        "disparity, px",
        limits=limits,
    )
    removed = figures["pixels"] - figures["kept"] - figures["removed"]["no value"]
    title = f"{removed} values removed, and why"
    panels.show_classes(row[2], codes, _classes(figures), title)


def _classes(figures: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    """The reasons with their counts, each in its colour."""
    counts = {0: ("kept", figures["kept"])}
    counts |= {code: (name, figures["removed"][name]) for code, name in REASONS.items()}
    return {code: (f"{name}, {n} px", _COLOURS[code]) for code, (name, n) in counts.items()}


def _filter_in_words(options: Mapping[str, Any]) -> str:
    words = {
        "planes": "surfaces smoothed along their planes",
        "plain": "surfaces smoothed by a bilateral filter",
        "none": "nothing smoothed",
    }
    return words[options["filter"]]
