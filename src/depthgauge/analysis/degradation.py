"""How scores degrade along an axis of difficulty: numbered regions such as `gap_1` to `gap_15`.

After section 5.2.3 of Honauer 2019: a stratified scene isolates one challenge that grows across the
image, its bins are regions of a benchmark, and one score per bin makes a curve per method.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from depthgauge.analysis.boards.board import Board, Column
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.schema import Axis
from depthgauge.engine.scoring.pool import rank_key

FEWEST_BINS = 3
"""Fewer numbered regions do not form an axis."""
MOST_COLUMNS = 6
"""Longer families are shown as curves and not as columns of tables."""
_NUMBERED = re.compile(r"(?P<stem>.+)_(?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class Trend:
    """A curve in three numbers; all NaN if the method lacks a bin that others have."""

    mean: float
    """The mean over the bins, with equal weights."""
    spread: float
    """The difference between its best bin and its worst."""
    step: float
    """The largest worsening from one bin to the next; 0 if it never gets worse. If it is the whole
    spread, the method breaks at once; if it is a small part of it, the method degrades
    gracefully."""
    step_to: float
    """The axis value of the bin after that step; NaN if it never gets worse."""


@dataclass(frozen=True, slots=True)
class Degradation:
    """One metric on the numbered regions of one family, for every method."""

    stem: str
    """The regions' name before the number."""
    metric: str
    """`badpix:0.07`"""
    unit: str
    better: str
    label: str
    """What the axis is, in words."""
    axis_unit: str
    bins: tuple[float, ...]
    """Where each bin lies on the axis; the regions' numbers if the benchmark says nothing."""
    score_ids: tuple[str, ...]
    """The region of each bin."""
    lines: Mapping[str, tuple[float, ...]]
    """One value per bin and method, best method first; NaN where there is none."""
    filled: tuple[bool, ...]
    """Whether any sample has pixels of a bin."""
    declared: bool = False
    """Whether the benchmark says what the axis is."""

    @property
    def crowds_tables(self) -> bool:
        """Whether it is too long for the columns of a table."""
        return self.declared or len(self.bins) > MOST_COLUMNS

    def trend(self, label: str) -> Trend:
        """The curve of one method in three numbers."""
        bins = [x for x, there in zip(self.bins, self.filled, strict=True) if there]
        line = zip(self.lines[label], self.filled, strict=True)
        return trend_of(bins, [value for value, there in line if there], self.better)


def degradations(board: Board, protocol: Protocol) -> tuple[Degradation, ...]:
    """Every family of scores of one metric on consecutively numbered regions, at least three.

    Args:
        board: All scores; oracles have no curve.
        protocol: Its `[axes]` say what the numbers mean.

    Returns:
        The families in the order of the board's columns.
    """
    families: dict[tuple[str, str], dict[int, Column]] = {}
    for column in board.columns:
        if found := _NUMBERED.fullmatch(column.region):
            family = families.setdefault((column.metric, found["stem"]), {})
            family[int(found["number"])] = column
    return tuple(
        _degradation(board, stem, family, protocol.axes.get(stem))
        for (_, stem), family in families.items()
        if len(family) >= FEWEST_BINS and max(family) - min(family) == len(family) - 1
    )


def table_columns(board: Board, found: Collection[Degradation]) -> list[str]:
    """The scores shown in a table for people: all except long families, and always the main one."""
    left_out = {name for each in found if each.crowds_tables for name in each.score_ids}
    return [c.id for c in board.columns if c.id not in left_out or c.id == board.main]


def _degradation(
    board: Board, stem: str, family: Mapping[int, Column], axis: Axis | None
) -> Degradation:
    numbers = sorted(family)
    columns = [family[number] for number in numbers]
    rows = [row for row in board.rows if not row.oracle]
    return Degradation(
        stem=stem,
        metric=columns[0].metric,
        unit=columns[0].unit,
        better=columns[0].better,
        label=(axis.label if axis is not None else "") or stem.replace("_", " "),
        axis_unit=axis.unit if axis is not None else "",
        bins=_bins(numbers, axis),
        score_ids=tuple(column.id for column in columns),
        lines={row.label: tuple(row.cells[c.id].value for c in columns) for row in rows},
        filled=tuple(any(row.cells[c.id].all for row in rows) for c in columns),
        declared=axis is not None,
    )


def _bins(numbers: Sequence[int], axis: Axis | None) -> tuple[float, ...]:
    """The axis' values, the first for the first number; the numbers if there are too few."""
    if axis is None or len(axis.values) < len(numbers):
        return tuple(float(number) for number in numbers)
    return tuple(axis.values[: len(numbers)])


def trend_of(bins: Sequence[float], values: Sequence[float], better: str) -> Trend:
    """A curve in three numbers.

    >>> trend_of([10, 20, 30, 40], [1.0, 2.0, 5.0, 4.0], "lower")
    Trend(mean=3.0, spread=4.0, step=3.0, step_to=30)
    >>> trend_of([1, 2, 3], [1.0, math.nan, 5.0], "lower")
    Trend(mean=nan, spread=nan, step=nan, step_to=nan)
    """
    line = np.asarray(values, np.float64)
    if line.size < 2 or not np.isfinite(line).all():
        return Trend(math.nan, math.nan, math.nan, math.nan)
    keys = [rank_key(value, better) for value in values]
    steps = [after - before for before, after in itertools.pairwise(keys)]
    largest = int(np.argmax(steps))
    worse = steps[largest] > 0
    return Trend(
        mean=float(line.mean()),
        spread=max(keys) - min(keys),
        step=steps[largest] if worse else 0.0,
        step_to=bins[largest + 1] if worse else math.nan,
    )
