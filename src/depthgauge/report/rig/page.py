"""The page of a rig set: tables of baselines, scenes and maps, and the histograms of baselines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from depthgauge import io
from depthgauge._tables import show_number
from depthgauge.engine.generating.rig_statistics import Draws, Realised, realised, summary
from depthgauge.report.charts.histogram import histogram
from depthgauge.report.charts.svg import tag
from depthgauge.report.page.html import Section, render_sections
from depthgauge.report.page.templates import render
from depthgauge.synth.library.maps import MAPS
from depthgauge.synth.sets.rig import FAMILIES, REASONS

PAGE, NUMBERS = "distributions.html", "metadata/distributions.json"
_PANELS = (
    ("a", "train", "IPD_Gaussian", (4.0, 9.0)),
    ("b", "train", "Uniform", (0.0, 150.0)),
    ("c", "train", "Pairwise_Uniform", (0.0, 200.0)),
    ("d", "eval", "IPD_Gaussian", (4.0, 9.0)),
    ("e", "eval", "Uniform", (0.0, 150.0)),
)


def write_page(root: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[Path, dict[str, Any]]:
    """Writes `distributions.html` and its numbers.

    Returns:
        The page, and the numbers.
    """
    found = realised(root, rows)
    numbers = found.to_json()
    io.write_text(root / NUMBERS, json.dumps(numbers, indent=1) + "\n")
    io.write_text(root / PAGE, rendered(found, root.resolve().name))
    return root / PAGE, numbers


def rendered(found: Realised, title: str) -> str:
    """The page as HTML."""
    scenes = sum(len(draws.focal_mm) for draws in found.realised.values())
    tried = sum(len(draws.focal_mm) for draws in found.proposed.values())
    sections = [
        Section(
            "adjacent", "Adjacent baselines by split and family", "baselines", _adjacent(found)
        ),
        Section("panels", "Realised over proposed baselines", "histograms", _panels(found)),
        Section("counts", "Scenes by split and family", "scenes", _counts(found)),
        Section("eval-maps", "Eval: scenes by family and map", "eval maps", _eval_maps(found)),
        Section("train-maps", "Train: scenes by map and family", "train maps", _train_maps(found)),
        Section("rejected", "Rejected proposals by reason", "rejected", _rejected(found)),
        Section("focal", "Focal lengths", "lenses", _focal(found)),
    ]
    headline = f"{scenes} scenes were kept of {tried} proposals."
    return render_sections(title, headline, [], sections)


def _adjacent(found: Realised) -> Markup:
    """The shape of table 2, with what was proposed."""
    rows = []
    for (split, family), draws in sorted(found.realised.items()):
        kept, asked = summary(draws.gaps_cm), _proposed(found, (split, family)).gaps_cm
        middle = summary(asked).get("median", float("nan"))
        rows.append(
            [split, family, str(kept["count"])]
            + [show_number(kept[key], 4) for key in ("min", "max", "mean", "std", "median")]
            + [show_number(middle, 4)]
        )
    heads = ("split", "family", "gaps", "min", "max", "mean", "std", "median", "proposed median")
    note = tag("p", "In cm; the deviation is that of a population.")
    return _table(heads, rows) + note


def _panels(found: Realised) -> Markup:
    """Figure 4: adjacent gaps, and all pairs of Pairwise_Uniform."""
    parts = []
    for letter, split, family, span in _PANELS:
        draws = found.realised.get((split, family), Draws())
        asked = _proposed(found, (split, family))
        every = family == "Pairwise_Uniform"
        values = draws.pairs_cm if every else draws.gaps_cm
        proposed = asked.pairs_cm if every else asked.gaps_cm
        which = "all 15 pairs" if every else "adjacent"
        title = f"({letter}) {family}, {split}, {which}"
        parts.append(histogram(values, proposed, span, title, "cm", f"panel-{letter}"))
    about = "Bars are scenes, the grey line is all proposals. Dashed: mean; dotted: median."
    return render("multiples.html.j2", texts=[about], charts=parts)


def _counts(found: Realised) -> Markup:
    """The shape of table 4."""
    rows = []
    for family in FAMILIES:
        train = len(found.realised.get(("train", family), Draws()).focal_mm)
        held = len(found.realised.get(("eval", family), Draws()).focal_mm)
        unseen = found.unseen.get(("eval", family), 0)
        total = train + held
        rows.append([family, *(str(n) for n in (train, held - unseen, unseen, total))])
    return _table(("family", "train", "eval, seen maps", "eval, unseen maps", "total"), rows)


def _eval_maps(found: Realised) -> Markup:
    """The shape of table 6."""
    rows = []
    for family in FAMILIES:
        for name, count in sorted(_maps(found, "eval", family).items()):
            subset = "unseen-map" if MAPS[name].reserved else "seen-map"
            rows.append([family, name, subset, str(count)])
    return _table(("family", "map", "subset", "scenes"), rows)


def _train_maps(found: Realised) -> Markup:
    """The shape of table 7."""
    counts = {family: _maps(found, "train", family) for family in FAMILIES}
    names = sorted({name for maps in counts.values() for name in maps})
    rows = [[name, *(str(counts[family].get(name, "-")) for family in FAMILIES)] for name in names]
    rows.append(["total", *(str(sum(counts[family].values())) for family in FAMILIES)])
    return _table(("map", *FAMILIES), rows)


def _rejected(found: Realised) -> Markup:
    parts = sorted(found.rejected)
    counts = [len(_proposed(found, part).focal_mm) for part in parts]
    rows = [["proposals", *map(str, counts)]]
    rows += [[why, *(str(found.rejected[part].get(why, 0)) for part in parts)] for why in REASONS]
    return _table(("reason", *(f"{split} {family}" for split, family in parts)), rows)


def _focal(found: Realised) -> Markup:
    rows = []
    for (split, family), draws in sorted(found.realised.items()):
        kept, asked = summary(draws.focal_mm), summary(_proposed(found, (split, family)).focal_mm)
        values = [show_number(kept.get(key, float("nan")), 1) for key in ("min", "max", "median")]
        rows.append([split, family, *values, show_number(asked.get("median", float("nan")), 1)])
    heads = ("split", "family", "min mm", "max mm", "median mm", "proposed median mm")
    return _table(heads, rows)


def _maps(found: Realised, split: str, family: str) -> dict[str, int]:
    return found.realised.get((split, family), Draws()).maps


def _proposed(found: Realised, part: tuple[str, str]) -> Draws:
    return found.proposed.get(part, Draws())


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = tag("tr", *(tag("th", text, scope="col") for text in heads))
    body = [tag("tr", *(tag("td", text) for text in row)) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")
