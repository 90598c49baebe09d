"""Leaderboards of runs with tiers: one for each, or all in one table with ranks of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from depthgauge.analysis.boards._notes import ONLY_ONE
from depthgauge.analysis.boards.board import Board, Cell, Row
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.boards.tiers import one_tier, tiers_of
from depthgauge.engine.store.record import Run


def tier_boards(run: Run, **choices: Any) -> dict[str, Board]:
    """A leaderboard for each tier; `choices` are those of `make_board`."""
    return {tier: make_board(one_tier(run, tier), **choices) for tier in tiers_of(run)}


def joined_board(run: Run, **choices: Any) -> Board:
    """All methods of a run: ranks, ties and marks are those within each method's own tier.

    Args:
        run: All scores.
        choices: Those of `make_board`.
    """
    boards = tier_boards(run, **choices)
    if len(boards) < 2:
        return make_board(run, **choices)
    first = next(iter(boards.values()))
    rows: list[Row] = []
    for place, (tier, board) in enumerate(boards.items()):
        methods = [row for row in board.rows if not row.oracle]
        rows += [replace(row, tier=tier, cells=_apart(row.cells, place)) for row in methods]
    oracles = [row for row in first.rows if row.oracle]
    said = (board.notes for board in boards.values())
    each = (note for notes in said for note in notes if note != ONLY_ONE)
    notes = tuple(dict.fromkeys([NOTE, *each]))
    warned = tuple(dict.fromkeys(w for board in boards.values() for w in board.warnings))
    return replace(first, rows=(*rows, *oracles), notes=notes, warnings=warned, tiers=tuple(boards))


NOTE = "Methods of different tiers were given different inputs: ranks are within a tier."
_MOST = 1_000_000


def _apart(cells: Mapping[str, Cell], place: int) -> dict[str, Cell]:
    """Cells whose tie groups are not those of other tiers."""
    return {
        name: cell if cell.group is None else replace(cell, group=place * _MOST + cell.group)
        for name, cell in cells.items()
    }
