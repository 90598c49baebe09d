"""The leaderboard of a state, with intervals, ties and tiers, from released values only.

Released values are put into the shape of a run, so that the statistics are those of every report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthgauge.analysis.boards.board import Board, Cell, Column
from depthgauge.analysis.boards.tier_boards import joined_board
from depthgauge.analysis.ranks import rank_values, sort_labels
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.pool import Summary
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.types import Score

NOT_RELEASED = (
    "Only scores of all samples together are released, so intervals and tie groups are not "
    "available."
)
ONE_ROW = "One entry has been published, so there is nothing to compare."

Values = Mapping[str, Mapping[str, float | None]]
"""Sample (empty: all of them) -> score id -> value."""


@dataclass(frozen=True, slots=True)
class ReleasedEntry:
    """One row of a leaderboard."""

    submission: str
    """Empty for an entry that was withdrawn since."""
    method: str
    version: str
    team: str
    baseline: bool
    tier: str
    values: Values
    label: str
    """Its name in this table; no other row has it."""

    @property
    def has_samples(self) -> bool:
        """Whether values of single samples are released."""
        return any(self.values)


def make_entries(
    rows: Sequence[Mapping[str, Any]], sheets: Mapping[str, Values]
) -> tuple[ReleasedEntry, ...]:
    """The rows of a snapshot with their values."""
    names = _unique([" ".join(filter(None, (row["method"], row["version"]))) for row in rows])
    return tuple(
        ReleasedEntry(
            submission=row["submission"],
            method=row["method"],
            version=row["version"],
            team=row["team"],
            baseline=row["baseline"],
            tier=row.get("tier", ""),
            values=sheets.get(row.get("sheet", ""), {"": row["values"]}),
            label=label,
        )
        for row, label in zip(rows, names, strict=True)
    )


def _unique(names: Sequence[str]) -> list[str]:
    """Names that differ: a number follows those that others have, too."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    # A method may itself be called "x (2)".
    return found if len(set(found)) == len(found) else [f"{n} #{i}" for i, n in enumerate(names, 1)]


def released_board(
    protocol: Protocol,
    samples: Sequence[str],
    scenes: Mapping[str, str],
    entries: Sequence[ReleasedEntry],
    scores: Sequence[str],
    *,
    main: str | None = None,
) -> Board:
    """The leaderboard of some released scores.

    Args:
        protocol: Says how samples are pooled.
        samples: All samples of the benchmark.
        scenes: The scene of each sample that belongs to one.
        entries: The rows.
        scores: The ids of the scores that are wanted.
        main: The one that sorts the rows; by default the first.
    """
    run = released_run(protocol, samples, scenes, entries)
    board = joined_board(run, scores=tuple(scores), main=main or scores[0])
    if not any(entry.has_samples for entry in entries):
        notes = (NOT_RELEASED, *([ONE_ROW] if len(entries) == 1 else []))
        board = replace(board, notes=notes, too_few=())
    order = {name: place for place, name in enumerate(scores)}
    return replace(board, columns=tuple(sorted(board.columns, key=lambda c: order[c.id])))


@dataclass(frozen=True, slots=True)
class Pick:
    """A column of values of one sample."""

    column: Column
    score: str
    sample: str


def values_board(
    board: Board, entries: Sequence[ReleasedEntry], first: Sequence[Column], picks: Sequence[Pick]
) -> Board:
    """A board with columns of single samples, which have values and ranks, but no intervals.

    Args:
        board: All samples together.
        entries: Its rows.
        first: Columns of the board that come first, as they are.
        picks: The others.
    """
    columns = (*first, *(pick.column for pick in picks))
    tiers = [[row.label for row in board.rows if row.tier == t] for t in board.tiers or ("",)]
    by_label = {entry.label: entry for entry in entries}
    cells = {row.label: {c.id: row.cells[c.id] for c in first} for row in board.rows}
    for labels in tiers:
        for pick in picks:
            values = {
                label: _number(by_label[label].values.get(pick.sample, {}).get(pick.score))
                for label in labels
            }
            for label, rank in rank_values(values, pick.column.better).items():
                cells[label][pick.column.id] = Cell(values[label], rank=rank)
    rows = tuple(replace(row, cells=cells[row.label], dominated_by=()) for row in board.rows)
    made = replace(board, columns=columns, rows=rows, main=columns[0].id, too_few=())
    return resorted(made, columns[0].id)


def resorted(board: Board, main: str) -> Board:
    """The same board, ranked by another of its scores; tiers stay apart."""
    better = board.column(main).better
    rows = {row.label: row for row in board.rows}
    order = [
        label
        for tier in board.tiers or ("",)
        for label in sort_labels(
            {x: row.cells[main].value for x, row in rows.items() if row.tier == tier}, better
        )
    ]
    return replace(board, main=main, rows=tuple(rows[label] for label in order))


def released_run(
    protocol: Protocol,
    samples: Sequence[str],
    scenes: Mapping[str, str],
    entries: Sequence[ReleasedEntry],
) -> Run:
    """Released values in the shape of a run: without states, counts and curves."""
    return Run(
        path=Path(),
        protocol=protocol,
        entrants=tuple(_entrant(entry) for entry in entries),
        results={(e.label, 0): _result(protocol, samples, e.values) for e in entries},
        samples=tuple(samples),
        scenes=scenes,
        truth_hashes={},
    )


def _entrant(entry: ReleasedEntry) -> Entrant:
    conditions = {"tier": entry.tier} if entry.tier else {}
    return Entrant(entry.label, entry.method, entry.method, {}, "", conditions=conditions)


def _result(protocol: Protocol, samples: Sequence[str], values: Values) -> Result:
    whole = values.get("", {})
    of_samples = {
        name: {
            score: _score(_number(value), _number(whole.get(score)))
            for score, value in values[name].items()
        }
        for name in samples
        if name in values
    }
    summary = {}
    for score, value in whole.items():
        own = [found[score] for found in of_samples.values() if score in found]
        empty = sum(each.why == "empty" for each in own)
        lost = sum(each.why == "missing" for each in own)
        count = len(own) or len(samples)
        summary[score] = Summary(_number(value), count - empty - lost, count, empty=empty)
    return Result(protocol, of_samples, summary)


def _score(value: float, whole: float) -> Score:
    """A released value; what has none was empty if the pooled score has one in spite of it."""
    missing = int(math.isnan(value) and math.isnan(whole))
    return Score(value, count=int(not math.isnan(value)), missing=missing)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
