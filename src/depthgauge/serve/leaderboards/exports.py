"""A view of a leaderboard as files: CSV, LaTeX, Markdown, and data for programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge.analysis.profiles import PROFILES, choose_profiles
from depthgauge.report.tables.formats import (
    Table,
    TableCell,
    TableColumn,
    TableRow,
    to_csv,
    to_latex,
    to_markdown,
)
from depthgauge.report.tables.leaderboard import leaderboard_table
from depthgauge.serve.leaderboards.choice import View
from depthgauge.serve.leaderboards.citing import permanent_address
from depthgauge.serve.leaderboards.states import State

FORMATS: Mapping[str, tuple[str, Callable[[Table], str]]] = {
    "csv": ("text/csv", functools.partial(to_csv, foreign=True)),
    "tex": ("application/x-tex", to_latex),
    "md": ("text/markdown", to_markdown),
}
"""By the ending of the file: media type, and how it is written."""
MOST_WEIGHT = 5
"""The largest weight of a slider."""


def export_table(state: State, view: View, origin: str) -> Table:
    """The table with the team of every entry, and where it comes from."""
    source = (
        f"{state.benchmark}, protocol {state.protocol_hash}, {permanent_address(state, origin)}"
    )
    made = leaderboard_table(view.board, title=f"Leaderboard of {view.title}", source=source)
    teams = {entry.label: entry for entry in state.entries}
    rows = []
    for row, found in zip(made.rows, view.board.rows, strict=True):
        entry = teams[found.label]
        words = (entry.team, "baseline" if entry.baseline else "")
        rows.append(TableRow((*row.cells, *(TableCell(word) for word in words)), row.apart))
    heads = (TableColumn("team", align="left"), TableColumn("baseline", align="left"))
    return replace(made, columns=(*made.columns, *heads), rows=tuple(rows))


def leaderboard_data(state: State, view: View, origin: str) -> dict[str, Any]:
    """A view as plain data: no NaN, no infinity."""
    entries = {entry.label: entry for entry in state.entries}
    board = view.board
    body: dict[str, Any] = {
        "benchmark": state.benchmark,
        "title": state.title,
        "protocol_hash": state.protocol_hash,
        "state": state.number,
        "taken_at": state.taken_at,
        "sha256": state.sha256,
        "url": permanent_address(state, origin),
        "view": view.choice.fields,
        "ranked_by": board.main,
        "level": board.level,
        "tiers": list(board.tiers),
        "columns": [
            {
                "id": column.id,
                "unit": column.unit,
                "better": column.better,
                "sample": view.samples.get(column.id, ""),
            }
            for column in board.columns
        ],
        "rows": [
            {
                "submission": entries[row.label].submission,
                "method": entries[row.label].method,
                "version": entries[row.label].version,
                "team": entries[row.label].team,
                "baseline": entries[row.label].baseline,
                "tier": row.tier,
                "label": row.label,
                "rank": row.cells[board.main].rank,
                "scores": {
                    column.id: {
                        "value": cell.value,
                        "low": cell.low,
                        "high": cell.high,
                        "rank": cell.rank,
                        "tie_group": cell.group,
                    }
                    for column in board.columns
                    if (cell := row.cells.get(column.id)) is not None
                },
            }
            for row in board.rows
        ],
        "notes": list(board.notes),
    }
    found: dict[str, Any] = finite_data(body)
    return found


def profile_links(view: View) -> list[dict[str, Any]]:
    """Application profiles that these scores mostly cover: their leaders, and weights as links.

    Sliders have whole numbers from 1 to 5, so a link has the shares of a profile only roughly.
    """
    found = []
    for ranking in choose_profiles(view.board):
        most = max(score.share for score in ranking.scores)
        weights = [
            ("weight", f"{score.id}*{max(1, round(MOST_WEIGHT * score.share / most))}")
            for score in ranking.scores
        ]
        found.append(
            {
                "id": ranking.profile.id,
                "title": ranking.profile.title,
                "about": " ".join(PROFILES[ranking.profile.id].about.split()),
                "covered": ranking.covered,
                "leaders": [row.label for row in ranking.rows[:3]],
                "weights": weights,
            }
        )
    return found
