"""What a dataset contains, as one picture."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.engine.describing.describe import TEXTURE_BINS, Description
from depthgauge.report.capture import _panels as panels

_COLOUR, _DARK = "#2c7bb6", "#1a4f78"
_MOST_BARS = 12


def draw(found: Description, out: Path) -> Path:
    """Draws the distributions of a dataset.

    Args:
        found: From `describe_dataset`.
        out: The PNG to write.
    """
    n = len(found.samples)
    title = f"{found.dataset} ({found.split}): {n} sample{'s' * (n != 1)}, {found.quantity}"
    wanted = [_values, _spans, _texture, _bars]
    if found.difficulty:
        wanted += [_matches]
    wanted += [_labels] if found.labels else []
    wanted += [_tags] if found.tags else []
    columns = 3
    rows = -(-len(wanted) // columns)
    figure = panels.new_figure(15, 4.0 * rows + 0.3, title)
    places = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axes, panel in zip(places, wanted, strict=False):
        panel(axes, found)
        axes.tick_params(labelsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for axes in places[len(wanted) :]:
        axes.set_axis_off()
    out.parent.mkdir(parents=True, exist_ok=True)
    return panels.save(figure, out)


def _head(axes: Any, title: str, x: str, y: str = "") -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)


def _values(axes: Any, found: Description) -> None:
    _head(axes, f"Values of the truth ({found.unit})", found.unit, "% of known pixels")
    if found.ends:
        shares = 100 * np.array(found.shares)
        axes.stairs(shares, found.ends, fill=True, color=_COLOUR, alpha=0.8)
        axes.set_ylim(bottom=0)


def _spans(axes: Any, found: Description) -> None:
    """The range of each sample, sorted by its median."""
    _head(axes, "Range of each sample: 1, 25, 50, 75, 99 %", "sample, by median", found.unit)
    known = sorted((s.percentiles for s in found.samples), key=lambda p: p[2])
    for place, (least, low, middle, high, most) in enumerate(known):
        axes.plot([place, place], [least, most], color=_COLOUR, lw=1)
        axes.plot([place, place], [low, high], color=_COLOUR, lw=4, solid_capstyle="butt")
        axes.plot(place, middle, "o", color=_DARK, ms=3)
    axes.set_xticks([])


def _texture(axes: Any, found: Description) -> None:
    _head(
        axes,
        "Texture: deviation of grey values in 9 x 9 px",
        "grey levels",
        "% of pixels",
    )
    if not found.texture:
        axes.text(0.5, 0.5, "no pictures", ha="center", transform=axes.transAxes)
        return
    names = [f"{a:g} to {b:g}" for a, b in pairwise(TEXTURE_BINS)]
    names[-1] = f"from {TEXTURE_BINS[-2]:g}"
    axes.bar(range(len(names)), 100 * np.array(found.texture), color=_COLOUR)
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")


def _bars(axes: Any, found: Description) -> None:
    _head(axes, "Hazards of pixels", "% of known pixels, mean over samples")
    names = list(found.hazards)[::-1]
    shares = [100 * found.hazards[name][0] for name in names]
    bars = axes.barh(range(len(names)), shares, color=_COLOUR)
    said = [
        f"{share:.1f} %, {found.hazards[n][1]} samples"
        for n, share in zip(names, shares, strict=True)
    ]
    axes.bar_label(bars, said, fontsize=8, padding=3)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 1.5 * max([*shares, 1e-6]))


def _matches(axes: Any, found: Description) -> None:
    """Haeusler's two measures: how many matches, and how many of them are wrong."""
    _head(
        axes,
        "Difficulty: SIFT matches without the epipolar line",
        "matches per megapixel (few: difficult)",
        "% of matches that are off their row",
    )
    for each in found.samples:
        pair = each.difficulty
        if pair is not None and pair.matches:
            x, y = pair.matches_per_megapixel, 100 * pair.off_row_share
            axes.plot(x, y, "o", color=_COLOUR, ms=5, alpha=0.8)
            if len(found.samples) <= _MOST_BARS:
                axes.annotate(
                    each.sample, (x, y), fontsize=7, xytext=(4, 3), textcoords="offset points"
                )
    pairs = [pair for pair in found.difficulty if pair.matches]
    axes.set_xlim(0, 1.2 * max((p.matches_per_megapixel for p in pairs), default=1))
    axes.set_ylim(0, 1.1 * max((100 * p.off_row_share for p in pairs), default=1) + 0.1)


def _labels(axes: Any, found: Description) -> None:
    name, shares = next(iter(found.labels.items()))
    _head(axes, f"Labels: {name}", "% of pixels")
    _horizontal(axes, {label: 100 * share for label, share in shares.items()}, "{:.1f} %")


def _tags(axes: Any, found: Description) -> None:
    _head(axes, "Tags", "samples")
    counted = {
        f"{kind}: {tag}": float(n) for kind, tags in found.tags.items() for tag, n in tags.items()
    }
    _horizontal(axes, counted, "{:.0f}")


def _horizontal(axes: Any, values: dict[str, float], form: str) -> None:
    shown = dict(list(values.items())[:_MOST_BARS])
    names = list(shown)[::-1]
    bars = axes.barh(range(len(names)), [shown[n] for n in names], color=_COLOUR)
    axes.bar_label(bars, [form.format(shown[n]) for n in names], fontsize=8, padding=3)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 1.2 * max([*shown.values(), 1e-6]))
