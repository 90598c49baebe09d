"""Repeats chapter 6.1 of Honauer 2019: `python -m tools.systematic_cases`.

Measures the six systematic deviations of each of the three truths, writes the scores and statements
into docs/systematic-cases.md and draws docs/images/systematic-*.png. `--check` writes nothing and
exits with 1 where the page's numbers are stale.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics import METRICS
from depthgauge.metrics.fine_structures import fragments
from depthgauge.synth.sets.systematic_cases import SystematicCases, all_cases
from depthgauge.types import Map
from tools._measured import table, update

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PAGE, COMMAND = "systematic-cases.md", "systematic_cases"
Scores = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """One metric of a figure."""

    metric: str
    title: str
    colours: str
    top: float
    """Where the colours end."""
    params: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 1


ROWS = {
    "surfaces": (
        Row("angular_error", "Angular error (deg)", "inferno", 40, digits=2),
        Row("surface_angle", "Angle of the map (deg)", "inferno", 40, digits=2),
        Row("bumpiness", "Bumpiness", "Reds", 60, digits=2),
        Row("smoothing", "Smoothing", "Blues", 8, digits=3),
        Row("rms", "RMS (px)", "Greys", 3, digits=3),
        Row("badpix", "BadPix(1.0) (%)", "Greys", 100),
    ),
    "discontinuities": (
        Row("foreground_fattening", "Fattening (%)", "Reds", 100),
        Row("foreground_fattening", "by distance (%)", "Reds", 200, {"weight": "distance"}),
        Row("foreground_thinning", "Thinning (%)", "Blues", 100),
        Row("edge_quality", "Edge quality (%)", "Purples", 100),
        Row("rms", "RMS (px)", "Greys", 20, digits=3),
        Row("badpix", "BadPix(1.0) (%)", "Greys", 100),
    ),
    "structures": (
        Row("porosity", "Porosity", "Reds", 350),
        Row("detail_fattening", "Detail fattening (%)", "Reds", 100),
        Row("fragmentation", "Fragmentation (%)", "tab20", 20),
        Row("fine_thinning", "missing of the bar (%)", "Greys", 100),
        Row("rms", "RMS (px)", "Greys", 20, digits=3),
        Row("badpix", "BadPix(1.0) (%)", "Greys", 100),
    ),
}
WINDOWS = {
    "surfaces": np.s_[:, :],
    "discontinuities": np.s_[:, 70:130],
    "structures": np.s_[:, 20:80],
}
"""The part of the image that is drawn."""
NO_PICTURE = ("rms", "fine_thinning")


def main(arguments: Sequence[str]) -> int:
    """Writes everything, or with `--check` only compares the numbers."""
    check = "--check" in arguments
    cases = all_cases()
    scores = {
        entity: [_scores(cases[entity], row) for row in rows] for entity, rows in ROWS.items()
    }
    parts = {f"scores {entity}": _table(entity, found) for entity, found in scores.items()}
    parts |= {f"statements {e}": _statements(e, found) for e, found in scores.items()}
    fresh = update(PAGE, parts, COMMAND, check)
    if not check:
        for entity, found in scores.items():
            _draw(entity, cases[entity], found)
    return 0 if fresh else 1


def _scores(cases: SystematicCases, row: Row) -> Scores:
    metric = METRICS[row.metric]
    params = metric.bind(row.params)
    needed = {name: _items(cases)[name] for name in metric.needs}
    return {
        name: metric.finish(
            metric.measure(estimate, cases.truth, None, **needed, **params), "bad", **params
        )
        for name, estimate in cases.estimates.items()
    }


def _items(cases: SystematicCases) -> dict[str, Any]:
    return {"quantity": "disparity", **cases.items}


def _ranks(scores: Scores, digits: int) -> dict[str, int]:
    """Ranks from 1; those that show the same number share the better one."""
    shown = {name: round(value, digits) for name, value in scores.items()}
    return {name: 1 + sum(v < value for v in shown.values()) for name, value in shown.items()}


def _table(entity: str, scores: Sequence[Scores]) -> str:
    rows = []
    for row, found in zip(ROWS[entity], scores, strict=True):
        ranks = _ranks(found, row.digits)
        cells = [f"{v:.{row.digits}f} ({ranks[name]})" for name, v in found.items()]
        name = row.metric + "".join(f":{word}" for word in row.params.values())
        rows.append([f"`{name}`", *cells])
    return table(["metric", *scores[0]], rows)


# What the text says, and the numbers that show it.

_SAYS: dict[str, Sequence[tuple[str, Sequence[tuple[int, str]]]]] = {
    "surfaces": (
        ("RMS is the same for all six", [(4, "a0 a1 a2 a3 a4 a5")]),
        (
            "angular error grows from the fold to the blocks to the noise",
            [(0, "a2 a1 a5"), (1, "a2 a1 a5")],
        ),
        (
            "it does not penalise a moved surface: so for the map as it is, where only the gap is "
            "left; in the scene, a disparity that is moved is also turned",
            [(1, "a3"), (0, "a3")],
        ),
        ("bumpiness of the smoothed surface is perfect", [(2, "a0")]),
        ("only the fold and the gap are bumpy", [(2, "a2 a3")]),
        (
            "both are called moderate: *not so* beside the noise, of which they have less than a "
            "hundredth",
            [(2, "a2 a3 a5")],
        ),
        ("noise is severely bumpy", [(2, "a5")]),
        ("smoothing tolerates the tilt and the offset", [(3, "a2 a3")]),
        ("the lost bump is smoothing, also inside the blocks", [(3, "a0 a5 a1")]),
        ("BadPix gives a distinct ranking", [(5, "a0 a1 a2 a3 a4 a5")]),
        ("offset and noise impair BadPix most", [(5, "a3 a5")]),
        ("BadPix is low for more bumps and for the lost one", [(5, "a4 a0")]),
        (
            "for shading the moved surface is better than the tilted one, its BadPix much worse",
            [(0, "a3 a2"), (1, "a3 a2"), (5, "a3 a2")],
        ),
    ),
    "discontinuities": (
        ("RMS is the same for all six", [(4, "a0 a1 a2 a3 a4 a5")]),
        ("BadPix is the same for all six", [(5, "a0 a1 a2 a3 a4 a5")]),
        ("half of the region is fat: 50 %", [(0, "a2 a3")]),
        ("by distance, what reaches farther is worse", [(1, "a2 a3")]),
        ("fuzzy and rotated edges are moderately fat", [(0, "a4 a5 a2")]),
        ("artifacts and thinning are not fattening", [(0, "a0 a1")]),
        ("what is behind the background is not fattening", [(0, "a0")]),
        ("thinning is worst for the thin edge", [(2, "a1")]),
        ("the fuzzy edge is thinner than it is fat", [(2, "a4"), (0, "a4")]),
        ("what is in front of the foreground is not thinning", [(2, "a0")]),
    ),
    "structures": (
        ("RMS is the same for all six", [(4, "a0 a1 a2 a3 a4 a5")]),
        ("BadPix is the same for all six", [(5, "a0 a1 a2 a3 a4 a5")]),
        ("both thinner bars lack as much", [(3, "a0 a1")]),
        ("missing on one side is more porous than on both", [(0, "a1 a0")]),
        ("tiny holes are moderately porous", [(0, "a4 a5 a3")]),
        ("missing parts are highly porous", [(0, "a2 a3")]),
        (
            "more is missing, but in more places, and so it is less porous",
            [(3, "a3 a2"), (0, "a3 a2")],
        ),
        ("detail fattening is high for two and low for two", [(1, "a2 a5"), (1, "a4 a3")]),
        ("thinner bars are not fat", [(1, "a0 a1")]),
        ("thinner bars are not fragmented", [(2, "a0 a1")]),
        ("fragmentation is mild for two and severe for two", [(2, "a2 a3"), (2, "a4 a5")]),
    ),
}


def _statements(entity: str, scores: Sequence[Scores]) -> str:
    rows = []
    for number, (text, shown) in enumerate(_SAYS[entity], 1):
        cells = []
        for at, names in shown:
            row = ROWS[entity][at]
            values = [f"{n} {scores[at][n]:.{row.digits}f}" for n in names.split()]
            cells.append(f"{row.title}: " + ", ".join(values))
        rows.append([str(number), text, "; ".join(cells)])
    return table(["", "statement", "numbers"], rows)


# Figures.


def _draw(entity: str, cases: SystematicCases, scores: Sequence[Scores]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    drawn = [
        (r, s) for r, s in zip(ROWS[entity], scores, strict=True) if r.metric not in NO_PICTURE
    ]
    rows = 1 + (entity == "surfaces") + len(drawn)
    window = WINDOWS[entity]
    height, width = cases.truth[window].shape
    figure, axes = plt.subplots(
        rows, 7, figsize=(11, 0.2 + rows * (0.3 + 1.5 * min(1.3, height / width)))
    )
    for axis in axes.ravel():
        axis.set_axis_off()
    maps = {"truth": cases.truth, **cases.estimates}
    for axis, (name, values) in zip(axes[0], maps.items(), strict=True):
        low, high = float(cases.truth.min()) - 6, float(cases.truth.max()) + 6
        axis.imshow(values[window], cmap="viridis", vmin=low, vmax=high, aspect="auto")
        says = cases.says.get(name, "")
        axis.set_title(f"{name}\n{says}" if says else name, fontsize=8)
    first = 1
    if entity == "surfaces":
        for axis, values in zip(axes[1], maps.values(), strict=True):
            axis.imshow(_normal_colours(values), aspect="auto")
        axes[1][0].set_title("normals", fontsize=8)
        first = 2
    for line, (row, found) in zip(axes[first:], drawn, strict=True):
        _draw_row(line, cases, row, found, window)
    figure.tight_layout(pad=0.4)
    target = IMAGES / f"systematic-{entity}.png"
    figure.savefig(target, dpi=80)
    plt.close(figure)
    sys.stdout.write(f"docs/images/{target.name}: {target.stat().st_size} bytes\n")


def _draw_row(
    axes: Sequence[Any], cases: SystematicCases, row: Row, scores: Scores, window: Any
) -> None:
    axes[0].text(0.5, 0.5, row.title, ha="center", va="center", fontsize=8)
    ranks = _ranks(scores, row.digits)
    for axis, (name, estimate) in zip(axes[1:], cases.estimates.items(), strict=True):
        shown = _picture(cases, row, estimate)[window]
        axis.set_facecolor("0.93")
        axis.set_axis_on()
        axis.set_xticks([])
        axis.set_yticks([])
        axis.imshow(
            shown, cmap=row.colours, vmin=0, vmax=row.top, aspect="auto", interpolation="nearest"
        )
        axis.set_title(f"{scores[name]:.{row.digits}f}  (rank {ranks[name]})", fontsize=8)


def _picture(cases: SystematicCases, row: Row, estimate: Map) -> NDArray[Any]:
    """What the row shows of an estimate; NaN where nothing is judged."""
    metric = METRICS[row.metric]
    if row.metric == "fragmentation":
        numbers = fragments(estimate, cases.truth, cases.items["structures"])
        return np.where(numbers > 0, numbers % 19 + 1.0, np.nan)
    needed = {name: _items(cases)[name] for name in metric.needs}
    return metric.error_map(estimate, cases.truth, **needed, **metric.bind(row.params))


def _normal_colours(values: Map) -> NDArray[Any]:
    """The usual picture of normals: x, y, z as red, green, blue."""
    down, right = np.gradient(values.astype(np.float64))
    normals = np.stack([-right, -down, np.ones_like(down)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return (normals + 1) / 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
