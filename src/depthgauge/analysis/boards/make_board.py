"""Makes the leaderboard of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from depthgauge._canonical import finite_data
from depthgauge._registry import unknown
from depthgauge.analysis.boards._notes import board_notes, board_warnings, too_few
from depthgauge.analysis.boards._sheet import Sheet, make_columns, make_sheet
from depthgauge.analysis.boards.board import Board, Row
from depthgauge.analysis.boards.tiers import require_one_tier
from depthgauge.analysis.bootstrap.intervals import LEVEL
from depthgauge.analysis.bootstrap.resampling import RESAMPLES, draw_units
from depthgauge.analysis.practical import smallest_differences
from depthgauge.analysis.ranks import pareto, sort_labels
from depthgauge.analysis.seeds import labels_of, seeds_of, values_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Run
from depthgauge.errors import Misuse


def check_choices(
    protocol: Protocol,
    *,
    main: str | None = None,
    practical: Mapping[str, float] | None = None,
    accuracy: float | None = None,
) -> None:
    """Rejects what `make_board` cannot do, before anything is computed.

    Raises:
        UnknownName: The protocol has no such score.
        Misuse: The accuracy is negative or not a number.
    """
    for name in (*(practical or {}), *filter(None, [main])):
        if name not in protocol.score_ids:
            raise unknown("score", name, protocol.score_ids)
    if accuracy is not None and not accuracy >= 0:
        raise Misuse(f"accuracy is {accuracy:g} but must be 0 or more.")


def make_board(
    run: Run,
    *,
    main: str | None = None,
    practical: Mapping[str, float] | None = None,
    accuracy: float | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    oracles: Mapping[str, Result] | None = None,
    scores: Sequence[str] | None = None,
) -> Board:
    """The leaderboard of a run: values, intervals, ranks, tie groups, cost, dominance.

    The result does not depend on the order of methods and samples, to the last bit.

    Args:
        run: All scores.
        main: The id of the score that sorts the rows; the protocol's first by default.
        practical: score id -> differences below this do not matter.
        accuracy: Error bound of the truth, in the quantity's unit; gives the practical
            thresholds that are not given (see `smallest_differences`). By default what the
            protocol says.
        level: Level of the intervals over samples.
        resamples: How many times samples are drawn for them.
        seed: Seed of the draws.
        oracles: Results of oracles on the same samples, by name; shown, never ranked.
        scores: The ids of the scores that the board has, the main one among them; all by default.

    Raises:
        UnknownName: The run has no such score.
        CannotCompare: Its methods are of several tiers; `joined_board` ranks within each.
    """
    check_choices(run.protocol, main=main, practical=practical, accuracy=accuracy)
    require_one_tier(run)
    columns = tuple(c for c in make_columns(run) if scores is None or c.id in scores)
    main = _main_score(run, main)
    limits = smallest_differences(run, practical=practical, accuracy=accuracy)
    draws = draw_units(run, resamples=resamples, seed=seed)
    given = _checked_oracles(run, {**run.controls, **(oracles or {})})
    together = replace(
        run, results={**run.results, **{(name, 0): found for name, found in given.items()}}
    )
    sheets = [
        make_sheet(
            together,
            column,
            labels_of(run),
            sorted(given),
            draws,
            practical=limits.get(column.id, 0.0),
            level=level,
        )
        for column in columns
    ]
    rows = _rows(together, sheets, labels_of(run), sorted(given), main)
    notes = board_notes(run, sheets, rows, draws, limits, level)
    few = too_few(sheets, draws)
    return Board(columns, tuple(rows), main, level, notes, few, board_warnings(run))


def _main_score(run: Run, main: str | None) -> str:
    ids = run.protocol.score_ids
    if not ids:
        raise Misuse(f"{run.protocol.id} has no scores, so there is no board.")
    return main or run.protocol.main_score


def _checked_oracles(run: Run, oracles: Mapping[str, Result]) -> Mapping[str, Result]:
    for name, result in oracles.items():
        if name in labels_of(run):
            raise Misuse(f"'{name}' is a method of the run; give the oracle another name.")
        if not set(result.samples) <= set(run.samples):
            raise Misuse(f"oracle '{name}' was scored on samples that the run does not have.")
    return oracles


def _rows(
    run: Run, sheets: Sequence[Sheet], labels: Sequence[str], oracles: Sequence[str], main: str
) -> list[Row]:
    """Best first by the main score; oracles last, in the same order."""
    sheet = next(sheet for sheet in sheets if sheet.column.id == main)
    scored = {s.column.id: s.column.better for s in sheets if s.has_values}
    values = {label: {s.column.id: s.cells[label].value for s in sheets} for label in labels}
    dominated = pareto(values, scored)
    ordered = [
        label
        for group in (labels, oracles)
        for label in sort_labels({x: sheet.cells[x].value for x in group}, sheet.column.better)
    ]
    return [_row(run, label, sheets, label in oracles, dominated) for label in ordered]


def _row(
    run: Run,
    label: str,
    sheets: Sequence[Sheet],
    oracle: bool,
    dominated: Mapping[str, tuple[str, ...]],
) -> Row:
    times = [t.time_s for t in run.timings if t.method == label and not math.isnan(t.time_s)]
    peaks = [
        t.peak_memory_mb
        for t in run.timings
        if t.method == label and not math.isnan(t.peak_memory_mb)
    ]
    return Row(
        label=label,
        cells={sheet.column.id: sheet.cells[label] for sheet in sheets},
        options=next((e.options for e in run.entrants if e.label == label), {}),
        oracle=oracle,
        seeds=max(1, len(seeds_of(run, label))),
        failed=_failed(run, label),
        time_s=float(np.median(times)) if times else math.nan,
        peak_memory_mb=max(peaks, default=math.nan),
        dominated_by=dominated.get(label, ()),
    )


def _failed(run: Run, label: str) -> dict[str, str]:
    """Failed samples and why; the seed is named if only some seeds failed."""
    seeds = seeds_of(run, label)
    failed: dict[str, dict[int, str]] = {}
    for seed in seeds:
        for name, why in run.results[label, seed].failed.items():
            failed.setdefault(name, {})[seed] = why
    return {name: _why(found, len(seeds)) for name, found in sorted(failed.items())}


def _why(found: Mapping[int, str], seeds: int) -> str:
    if len(found) == seeds and len(set(found.values())) == 1:
        return next(iter(found.values()))
    return "; ".join(f"seed {seed}: {why}" for seed, why in found.items())


def leaderboard_json(run: Run, board: Board, *, with_samples: bool = False) -> dict[str, Any]:
    """A board as plain data, with the protocol that it belongs to.

    Args:
        run: The run of the board.
        board: The leaderboard.
        with_samples: Whether the scores of every sample are added.
    """
    protocol = run.protocol
    return {
        "schema": 1,
        "benchmark": protocol.id,
        "version": protocol.version,
        "protocol_hash": protocol.hash,
        **board.to_json(),
        **_difficulty_json(run, board),
        **({"samples": finite_data(values_of(run))} if with_samples else {}),
    }


def _difficulty_json(run: Run, board: Board) -> dict[str, Any]:
    """Where methods fail at 50 % on axes of difficulty, by the name of the score."""
    from depthgauge.analysis.difficulty.axes import difficulties

    found = difficulties(run, board)
    return {"difficulty": {each.id: each.to_json() for each in found}} if found else {}
