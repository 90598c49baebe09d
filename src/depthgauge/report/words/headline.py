"""The result in one sentence."""

from __future__ import annotations

import math
from dataclasses import replace

from depthgauge.analysis.boards.board import Board, Row
from depthgauge.report.tables.leaderboard import show_cell, show_interval
from depthgauge.report.tables.numbers import unit_after_number

_MOST = {"lower": "the lowest", "higher": "the highest", "zero": "the least biased"}


def headline(board: Board) -> str:
    """Which method is best by the main score, its value, and which cannot be told apart.

    The words follow the ranks, so that the sentence and the table cannot disagree.
    """
    if board.tiers:
        return " ".join(_of_tier(board, tier) for tier in board.tiers)
    ranked = [row for row in board.rows if not row.oracle and board.main in row.cells]
    complete = [row for row in ranked if not math.isnan(row.cells[board.main].value)]
    if not ranked:
        return "No method was scored."
    if not complete:
        return f"No method has a complete {board.main}: estimates are missing."
    best = [row for row in complete if row.cells[board.main].rank == 1] or complete[:1]
    column, cell = board.column(board.main), best[0].cells[board.main]
    amount = f"{show_cell(cell)}{unit_after_number(column.unit)}"
    value = " ".join(filter(None, [amount, show_interval(cell)]))
    if len(complete) == 1:
        return f"{best[0].label} has {_article(board.main)} {board.main} of {value}."
    verb = "has" if len(best) == 1 else "share"
    names = listing([row.label for row in best])
    sentence = f"{names} {verb} {_MOST[column.better]} {board.main}: {value}"
    tied = _tied(board, complete, best)
    return f"{sentence}, but cannot be told apart from {listing(tied)}." if tied else f"{sentence}."


def _of_tier(board: Board, tier: str) -> str:
    rows = tuple(row for row in board.rows if row.tier == tier)
    return f"Tier {tier}: {headline(replace(board, rows=rows, tiers=()))}"


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in ("a", "e", "i", "o") else "a"


def _tied(board: Board, rows: list[Row], best: list[Row]) -> list[str]:
    group = best[0].cells[board.main].group
    if group is None:
        return []
    return [r.label for r in rows if r not in best and r.cells[board.main].group == group]


def listing(names: list[str]) -> str:
    """Names in a sentence.

    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
