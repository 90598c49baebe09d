"""Where the numbers come from, and how to reproduce them."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.sections._section import SectionSpec
from depthgauge.report.words.collapse_ranges import shortened

_LONG = 12
"""Longer lists are folded."""


SPEC = SectionSpec("provenance", "Where this comes from", "Provenance", order=150)


def body(page: Page) -> Markup:
    """Notes, commands, versions, options, hashes, and what was left out."""
    made = page.provenance
    facts = [("date", made.date), ("host", made.host), *made.versions.items()]
    hashes = list({"protocol": page.protocol_hash, **made.hashes}.items())
    options = [
        (row.label, ", ".join(f"{key} = {value}" for key, value in row.options.items()))
        for row in page.board.rows
        if row.options
    ]
    lists = [
        ("How it was made", [(name, text) for name, text in facts if text]),
        ("Options of methods", options),
        ("Hashes (SHA-256)", hashes),
    ]
    notes = [*page.notes, *made.notes, *_absent(page)]
    left_out = shortened(made.left_out)
    return render(
        "provenance.html.j2",
        notes=[notes] if notes else [],
        commands=[made.commands] if made.commands else [],
        lists=[(title, rows) for title, rows in lists if 0 < len(rows) <= _LONG],
        folded=[(title, rows) for title, rows in lists if len(rows) > _LONG],
        left_out=[(Markup("") if len(left_out) > _LONG else Markup(" open"), left_out)]
        if left_out
        else [],
    )


_OF_VALUES = ("threshold curves", "rank stability", "scatter plots")
"""These make sense only where the error of a pixel is a difference of values."""


def _absent(page: Page) -> list[str]:
    """One sentence on what this page lacks."""
    parts: dict[str, object] = {
        "scores of single samples": page.samples,
        "pictures": page.pictures,
        "threshold curves": page.curves,
        "rank stability": page.stability,
        "scatter plots": page.scatter,
        "rank probabilities": page.rank_probabilities,
    }
    unasked = set() if page.has_value_errors else set(_OF_VALUES)
    if all(column.level == "dataset" for column in page.board.columns):
        unasked.add("scores of single samples")
    lacking = [name for name, part in parts.items() if not part and name not in unasked]
    return [f"The run did not keep, so this page does not show: {', '.join(lacking)}."] * bool(
        lacking
    )
