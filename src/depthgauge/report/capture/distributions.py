"""How disparities and materials are distributed over the splits of a dataset (figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.splits import SceneCounts, distances_between
from depthgauge.report.capture import _panels as panels

_COLOURS = ("#2c7bb6", "#e66101", "#5e3c99", "#1b9e77")
_BINS = 60


def draw(splits: Mapping[str, Sequence[SceneCounts]], out: Path) -> Path:
    """Draws disparities and materials of some splits side by side.

    Args:
        splits: The counts of each split's scenes, see `depthgauge.capture.splits.count_splits`.
        out: The PNG to write.
    """
    figure = panels.new_figure(13.5, 4.6, "Distribution of labelled pixels over the splits")
    left, right = figure.subplots(1, 2)
    most = max(len(s.disparities) for scenes in splits.values() for s in scenes)
    wide = max(1, -(-most // _BINS))
    for number, (split, scenes) in enumerate(splits.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        name = f"{split}: {len(scenes)} scene{'s' * (len(scenes) != 1)}"
        shares = _shares(_total([s.disparities for s in scenes], wide))
        left.stairs(shares, np.arange(len(shares) + 1) * wide, color=colour, lw=1.6, label=name)
        materials = _shares(_total([s.materials for s in scenes], 1))
        _bars(right, materials, number, len(splits), colour, name)
    left.set_xlabel(f"disparity in px (bins of {wide})", fontsize=9)
    right.set_xticks(range(4), [panels.MATERIALS[n][0] for n in range(4)], fontsize=8)
    right.set_xlabel("material class", fontsize=9)
    for axes, title in ((left, "Disparities"), (right, "Materials")):
        axes.set_ylabel("% of the split's labelled pixels", fontsize=9)
        axes.set_title(f"{title}{_apart(splits, title.lower())}", fontsize=10, loc="left")
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8, frameon=False)
        axes.set_ylim(bottom=0)
    out.parent.mkdir(parents=True, exist_ok=True)
    return panels.save(figure, out)


def _apart(splits: Mapping[str, Sequence[SceneCounts]], kind: str) -> str:
    pairs = list(combinations(splits.values(), 2))
    if not pairs:
        return ""
    largest = max(distances_between(a, b)[kind] for a, b in pairs)
    return f": splits differ by at most {100 * largest:.1f} %"


def _bars(
    axes: Any, shares: NDArray[np.float64], number: int, count: int, colour: str, name: str
) -> None:
    width = 0.8 / count
    places = np.arange(len(shares)) - 0.4 + (number + 0.5) * width
    bars = axes.bar(places, shares, 0.92 * width, color=colour, label=name)
    axes.bar_label(bars, [f"{v:.1f}" for v in shares], fontsize=7, padding=1)


def _total(counts: Sequence[NDArray[np.int64]], wide: int) -> NDArray[np.int64]:
    """The sum of histograms of different lengths, each `wide` bins joined into one."""
    length = wide * -(-max(len(c) for c in counts) // wide)
    total = np.zeros(length, np.int64)
    for each in counts:
        total[: len(each)] += each
    return np.asarray(total.reshape(-1, wide).sum(axis=1))


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(100.0 * counts / max(int(counts.sum()), 1))
