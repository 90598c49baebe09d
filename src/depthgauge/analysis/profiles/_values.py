"""The values of all scores of all methods, from a board or as they are given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.analysis.board import Board
from depthgauge.analysis.profiles._profile import PEAK_MEMORY, RUNTIME
from depthgauge.metrics import METRICS
from depthgauge.units import Unit


@dataclass(frozen=True, slots=True)
class Values:
    """Everything that a profile may weigh."""

    labels: tuple[str, ...]
    """The methods, sorted."""
    table: Mapping[str, Mapping[str, float]]
    """score id -> method -> value, NaN where there is none."""
    better: Mapping[str, str]
    units: Mapping[str, str]

    def has_any(self, score_id: str) -> bool:
        """Whether any method has a value of it."""
        return not all(math.isnan(value) for value in self.table[score_id].values())


def values_of(
    scores: Board | Mapping[str, Mapping[str, float]], better: Mapping[str, str]
) -> Values:
    """The values of a board (its oracles left out, time and memory added), or of a mapping."""
    return _of_board(scores) if isinstance(scores, Board) else _of_mapping(scores, better)


def _of_board(board: Board) -> Values:
    rows = sorted((row for row in board.rows if not row.oracle), key=lambda row: row.label)
    table = {
        column.id: {row.label: row.cells[column.id].value for row in rows}
        for column in board.columns
    }
    better = {column.id: column.better for column in board.columns}
    units = {column.id: column.unit for column in board.columns}
    costs = (
        (RUNTIME, "s", {row.label: row.time_s for row in rows}),
        (PEAK_MEMORY, "MB", {row.label: row.peak_memory_mb for row in rows}),
    )
    for name, unit, values in costs:
        if name not in table:  # a public benchmark may score it itself
            table[name], better[name], units[name] = values, "lower", unit
    return Values(tuple(row.label for row in rows), table, better, units)


def _of_mapping(scores: Mapping[str, Mapping[str, float]], better: Mapping[str, str]) -> Values:
    labels = tuple(sorted(scores))
    ids = list(dict.fromkeys(score_id for values in scores.values() for score_id in values))
    table = {
        score_id: {label: float(scores[label].get(score_id, math.nan)) for label in labels}
        for score_id in ids
    }
    metrics = {score_id: METRICS.get(_metric_name(score_id)) for score_id in ids}
    known = {score_id: metric for score_id, metric in metrics.items() if metric is not None}
    directions = {score_id: metric.better for score_id, metric in known.items()}
    percent = {score_id for score_id, metric in known.items() if metric.unit is Unit.PERCENT}
    return Values(
        labels=labels,
        table=table,
        better={i: better.get(i) or directions.get(i, "lower") for i in ids},
        units={i: "%" if i in percent else "" for i in ids},
    )


def _metric_name(score_id: str) -> str:
    return score_id.partition("@")[0].partition(":")[0]
