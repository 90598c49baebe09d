"""How a ranking changes under another protocol."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge.analysis.boards.board import Board, Row
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.protocol_diff import FieldDifference, diff_protocols
from depthgauge.analysis.ranks import kendall_tau, rank_values
from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.record import Run


@dataclass(frozen=True, slots=True)
class Move:
    """One method under both protocols."""

    label: str
    old_value: float
    new_value: float
    old_rank: int
    """Rank among the methods of both boards; equal values share the better rank."""
    new_rank: int
    old_density: float = math.nan
    """Share of the region's pixels that have an estimate; NaN if it is not known. A sparse method
    may rank high by a mean over its own pixels."""
    new_density: float = math.nan

    @property
    def places(self) -> int:
        """How far it moved up (positive) or down."""
        return self.old_rank - self.new_rank


@dataclass(frozen=True, slots=True)
class RankMoves:
    """How the order of methods changes from one protocol to another."""

    old_score: str
    new_score: str
    moves: tuple[Move, ...]
    """Largest moves first, up before down, then by label."""
    tau: float
    """Kendall's tau-b of both orders: 1 if nothing changed; NaN for fewer than two methods."""
    why: tuple[FieldDifference, ...]
    """Where the protocols differ, the most important first."""
    only_old: tuple[str, ...] = ()
    """Methods that only the old board has; they are not compared."""
    only_new: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The moves as plain data."""
        body: dict[str, Any] = finite_data(asdict(self))
        return body


def rank_moves(
    old: Board,
    new: Board,
    protocols: tuple[Protocol, Protocol],
    *,
    old_score: str | None = None,
    new_score: str | None = None,
) -> RankMoves:
    """How ranks move when the same estimates are scored by another protocol.

    Ranks are recomputed among the methods of both boards, so that a method in only one of them
    does not move others. Oracles are not ranked.

    Args:
        old: The board under the old protocol.
        new: The board under the new one.
        protocols: Both protocols, to explain the moves.
        old_score: The score that ranks the old board; its main one by default.
        new_score: The same for the new board.
    """
    ids = old_score or old.main, new_score or new.main
    rows = [{row.label: row for row in board.rows if not row.oracle} for board in (old, new)]
    shared = sorted(rows[0].keys() & rows[1].keys())
    values = [
        {label: _value(found[label], score_id) for label in shared}
        for found, score_id in zip(rows, ids, strict=True)
    ]
    ranks = [
        rank_values(found, board.column(score_id).better)
        for found, board, score_id in zip(values, (old, new), ids, strict=True)
    ]
    shares = [
        {label: found[label].cells[score_id].density for label in shared}
        for found, score_id in zip(rows, ids, strict=True)
    ]
    moves = [
        Move(
            label,
            *(values[0][label], values[1][label]),
            *(ranks[0][label], ranks[1][label]),
            *(shares[0][label], shares[1][label]),
        )
        for label in shared
    ]
    return RankMoves(
        old_score=ids[0],
        new_score=ids[1],
        moves=tuple(sorted(moves, key=lambda m: (-abs(m.places), -m.places, m.label))),
        tau=kendall_tau([ranks[0][x] for x in shared], [ranks[1][x] for x in shared]),
        why=diff_protocols(*protocols),
        only_old=tuple(sorted(rows[0].keys() - rows[1].keys())),
        only_new=tuple(sorted(rows[1].keys() - rows[0].keys())),
    )


def _value(row: Row, score_id: str) -> float:
    return row.cells[score_id].value


def moves_between(before: Run, after: Run) -> RankMoves:
    """How ranks move between two runs of the same estimates.

    Methods are ranked by the first score that both protocols have, else by the main score of each.
    """
    boards = make_board(before, resamples=2), make_board(after, resamples=2)
    known = set(after.protocol.score_ids)
    both = next((name for name in before.protocol.score_ids if name in known), None)
    return rank_moves(*boards, (before.protocol, after.protocol), old_score=both, new_score=both)
