"""One column of the board: all methods' cells of one score."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from depthgauge.analysis.boards.board import Cell, Column
from depthgauge.analysis.bootstrap.intervals import interval, replicate
from depthgauge.analysis.bootstrap.pooling import Replicates, spec_of
from depthgauge.analysis.bootstrap.resampling import Draws
from depthgauge.analysis.ranks import mean_ranks, rank_values
from depthgauge.analysis.seeds import seeds_of, spread_of
from depthgauge.analysis.ties import tie_groups
from depthgauge.engine.scoring.pool import plain_mean
from depthgauge.engine.store.record import Run


@dataclass(frozen=True, slots=True)
class Sheet:
    """One score of all methods and oracles."""

    column: Column
    cells: dict[str, Cell]
    units: int
    """Scenes or samples that have this score."""
    whys: frozenset[str]
    """Why methods have no interval, if they have none."""

    @property
    def has_values(self) -> bool:
        """Whether any sample has a pixel of this score's region."""
        return any(cell.all for cell in self.cells.values())


def make_columns(run: Run) -> tuple[Column, ...]:
    """The protocol's scores in its order."""
    return tuple(_column(run, score_id) for score_id in run.protocol.score_ids)


def _column(run: Run, score_id: str) -> Column:
    spec = spec_of(run.protocol, score_id)
    metric, _, region = score_id.rpartition("@") if "@" in score_id else (score_id, "", "")
    if spec is not None:
        unit = spec.metric.unit_of(run.protocol.quantity, spec.params)
        better, level, name = spec.metric.better, spec.metric.level, spec.metric.name
        return Column(score_id, metric, spec.region, unit, better, level, name)
    found = (result.summary.get(score_id) for result in run.results.values())
    unit = next((summary.unit for summary in found if summary is not None), "")
    scores = (found.get(score_id) for r in run.results.values() for found in r.samples.values())
    level = next((score.level for score in scores if score is not None), "sample")
    return Column(score_id, metric, region, unit, run.protocol.better(score_id), level)


def make_sheet(
    run: Run,
    column: Column,
    labels: Collection[str],
    oracles: Collection[str],
    draws: Draws,
    *,
    practical: float,
    level: float,
) -> Sheet:
    """All cells of a column; oracles get values and intervals, never a rank or a group."""
    drawn = {
        label: replicate(run, label, column.id, draws) for label in [*sorted(labels), *oracles]
    }
    cells = {label: _cell(run, label, column.id, drawn[label], level) for label in drawn}
    values = {label: cells[label].value for label in sorted(labels)}
    whys = frozenset(drawn[label].why for label in labels) - {""}
    units = max((found.units for found in drawn.values()), default=0)
    if any(cell.all for cell in cells.values()):
        ranks = rank_values(values, column.better)
        places = mean_ranks(run, column.id, column.better, labels=sorted(labels))
        ties = tie_groups(
            values,
            {label: drawn[label] for label in values},
            column.better,
            practical=practical,
            level=level,
        )
        for label in values:
            cells[label] = replace(
                cells[label],
                rank=ranks[label],
                group=ties[label].group,
                why_tied=ties[label].why,
                mean_rank=places[label],
            )
    return Sheet(column, cells, units, whys)


def _cell(run: Run, label: str, score_id: str, drawn: Replicates, level: float) -> Cell:
    spread, bounds = spread_of(run, label, score_id), interval(drawn, level)
    found = [run.results[label, seed].summary.get(score_id) for seed in seeds_of(run, label)]
    pooled = [summary for summary in found if summary is not None]
    return Cell(
        value=spread.mean,
        low=bounds.low,
        high=bounds.high,
        deviation=spread.deviation,
        used=min((summary.used for summary in pooled), default=0),
        all=max((summary.all - summary.empty for summary in pooled), default=0),
        density=plain_mean(summary.density for summary in pooled) if pooled else math.nan,
    )
