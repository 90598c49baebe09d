"""The chart of docs/metrics-without-truth.md: correlations with the true error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.evidence import REPOSITORY, recorded_values
from tools.evidence.without_truth import LF_MEASURES, MEASURES

TARGET = REPOSITORY / "docs" / "images" / "metrics-without-truth.png"
_SAMPLES, _METHODS = "#2f5d8a", "#b3412f"


def draw() -> None:
    """Draws the recorded correlations; nothing without a record."""
    numbers = recorded_values("without-truth")
    if not numbers:
        return
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    heights = [len(MEASURES), len(LF_MEASURES)]
    picture, panels = plt.subplots(
        2, 1, figsize=(8.6, 6.4), sharex=True, layout="constrained", height_ratios=heights
    )
    _panel(panels[0], numbers, "stereo", MEASURES)
    _panel(panels[1], numbers, "light field", LF_MEASURES)
    panels[0].set_title("stereo pairs: true error badpix:1", fontsize=10, loc="left")
    panels[1].set_title("light fields: true error badpix:0.07", fontsize=10, loc="left")
    panels[1].set_xlabel("rank correlation with the true error")
    handles, labels = panels[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside upper right", frameon=False, fontsize=8, ncols=2)
    picture.savefig(TARGET, dpi=110)
    plt.close(picture)


def _panel(panel: Any, numbers: Mapping[str, float], kind: str, measures: Sequence[str]) -> None:
    """A row for each measure: small marks are samples and methods, large ones their means."""
    order = sorted(measures, key=lambda m: numbers[_mean(kind, m, "sample")])
    looks = (("sample", _SAMPLES, 0.14, "o"), ("method", _METHODS, -0.14, "s"))
    for of, colour, shift, mark in looks:
        for row, measure in enumerate(order):
            start = f"{kind}, {measure}, {of} "
            each = [value for name, value in numbers.items() if name.startswith(start)]
            places = [row + shift] * len(each)
            panel.plot(each, places, mark, color=colour, markersize=3, alpha=0.35, linewidth=0)
        means = [numbers[_mean(kind, measure, of)] for measure in order]
        places = [row + shift for row in range(len(order))]
        words = {"sample": "over the methods on a sample", "method": "over the samples of a method"}
        panel.plot(means, places, mark, color=colour, markersize=7, linewidth=0, label=words[of])
    panel.set_yticks(range(len(order)), order, fontsize=9)
    panel.set_xlim(-1.05, 1.05)
    panel.axvline(0, color="#888888", linewidth=0.8)
    panel.grid(axis="x", color="#dddddd", linewidth=0.6)
    panel.spines[["top", "right", "left"]].set_visible(False)


def _mean(kind: str, measure: str, of: str) -> str:
    return f"{kind}, {measure}: correlation within a {of}"
