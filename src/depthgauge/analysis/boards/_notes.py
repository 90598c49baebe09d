"""The notes that a reader of a board must know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from depthgauge._shorten import first_few
from depthgauge.analysis.boards._sheet import Sheet
from depthgauge.analysis.boards.board import BoardWarning, Row
from depthgauge.analysis.bootstrap.pooling import (
    INFINITE,
    MIN_UNITS,
    NOT_RESAMPLED,
    NOT_STORED,
    OF_THE_ORIGINAL,
    TOO_FEW,
)
from depthgauge.analysis.bootstrap.resampling import Draws
from depthgauge.engine.store.record import Run

ONLY_ONE = "There is one method, so there is nothing to compare."


def board_notes(
    run: Run,
    sheets: Sequence[Sheet],
    rows: Sequence[Row],
    draws: Draws,
    practical: Mapping[str, float],
    level: float,
) -> tuple[str, ...]:
    """What the table itself cannot show, the most important first."""
    methods = [row for row in rows if not row.oracle]
    return tuple(
        [
            *_about_methods(sheets, methods, len(run.samples)),
            *_about_code(run),
            *_about_scores(run, sheets),
            *_about_intervals(sheets, draws, level),
            *_about_groups(sheets, methods, practical),
            *_about_seeds(methods),
        ]
    )


def board_warnings(run: Run) -> tuple[BoardWarning, ...]:
    """The notes of all results, equal ones together."""
    kinds: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (label, _), result in sorted(run.results.items()):
        for note in result.notes:
            advice = replace(note, text="").sentences(command=True)
            kinds.setdefault((note.code, note.text, advice), []).append((label, note.sample))
    made = [
        BoardWarning(
            *kind,
            methods=tuple(dict.fromkeys(label for label, _ in found)),
            samples=tuple(sorted({sample for _, sample in found if sample})),
        )
        for kind, found in kinds.items()
    ]
    return tuple(sorted(made, key=lambda each: (-len(each.samples), each.code, each.text)))


def _about_methods(sheets: Sequence[Sheet], rows: Sequence[Row], samples: int) -> Iterator[str]:
    for row in sorted(rows, key=lambda row: row.label):
        if row.failed:
            yield f"{row.label}: {len(row.failed)} of {samples} samples have no usable estimate."
        lacking = [
            sheet.column.id
            for sheet in sheets
            if sheet.has_values and math.isnan(row.cells[sheet.column.id].value)
        ]
        if lacking:
            yield (
                f"{row.label}: incomplete in {_listed(lacking)}; missing "
                "estimates have no number there, so it is ranked last."
            )


def _about_code(run: Run) -> Iterator[str]:
    for entrant in sorted(run.entrants, key=lambda entrant: entrant.label):
        if entrant.older:
            whole = len(run.samples) * len(entrant.seeds)
            versions = 1 + len(set(entrant.older.values()))
            several = "two" if versions == 2 else str(versions)
            yield (
                f"{entrant.label}: {several} code versions; {len(entrant.older)} of {whole} "
                "estimates are by older code."
            )


def _about_scores(run: Run, sheets: Sequence[Sheet]) -> Iterator[str]:
    nowhere = [sheet.column.id for sheet in sheets if not sheet.has_values]
    if nowhere:
        yield f"No sample has {_listed(nowhere)}."
    if whole := [sheet.column.id for sheet in sheets if sheet.column.level == "dataset"]:
        yield f"Only for the whole dataset, without values of single samples: {_listed(whole)}."


def too_few(sheets: Sequence[Sheet], draws: Draws) -> tuple[str, ...]:
    """Scores with too few samples for intervals, where other scores have intervals."""
    if len(draws.units.names) < MIN_UNITS:
        return ()
    return tuple(s.column.id for s in sheets if s.has_values and TOO_FEW in s.whys)


def _about_intervals(sheets: Sequence[Sheet], draws: Draws, level: float) -> Iterator[str]:
    n, what = len(draws.units.names), "scenes" if draws.units.scenes else "samples"
    shown = [sheet for sheet in sheets if sheet.has_values]
    if any(OF_THE_ORIGINAL in sheet.whys for sheet in sheets):
        yield "All samples are pooled as in the original, so there are no intervals."
    elif n < MIN_UNITS:
        has = f"{n} {what}" if n != 1 else f"one {what.removesuffix('s')}"
        yield (
            f"The benchmark has {has}; fewer than {MIN_UNITS} do not show how much scores "
            "vary, so there are no intervals and no tie groups."
        )
    else:
        yield (
            f"Intervals ({100 * level:g} %) say how values would vary with other {what}: {n} "
            f"{what} are drawn with replacement {len(draws.counts)} times, the same for all "
            "methods and scores."
        )
    if lost := [sheet.column.id for sheet in shown if NOT_STORED in sheet.whys]:
        yield f"The run does not store what intervals of {_listed(lost)} need, so there are none."
    if sets := [sheet.column.id for sheet in shown if NOT_RESAMPLED in sheet.whys]:
        yield f"Distances of sets cannot be resampled: there are no intervals of {_listed(sets)}."
    if endless := [sheet.column.id for sheet in shown if INFINITE in sheet.whys]:
        yield f"Infinite values of {_listed(endless)} have no interval and are in no tie group."


def _about_groups(
    sheets: Sequence[Sheet], rows: Sequence[Row], practical: Mapping[str, float]
) -> Iterator[str]:
    if len(rows) < 2:
        yield ONLY_ONE
        return
    grouped = [sheet for sheet in sheets if any(c.group is not None for c in sheet.cells.values())]
    if not grouped:
        return
    yield (
        "Methods of one group cannot be told apart from the best of the group: the interval of "
        "their paired difference contains 0, or the difference is too small to matter."
    )
    if limits := [sheet.column.id for sheet in grouped if practical.get(sheet.column.id, 0) > 0]:
        yield f"Differences that are too small to matter are set for {_listed(limits)}."
    yield (
        "There is no correction for multiple comparisons: with many methods and scores, some "
        "differences occur by chance."
    )


def _about_seeds(rows: Sequence[Row]) -> Iterator[str]:
    several = [f"{row.label} ({row.seeds})" for row in rows if row.seeds > 1]
    if several:
        yield (
            f"Several seeds: {_listed(sorted(several))}. Values are means over seeds and "
            "deviations are over seeds; intervals are over samples and do not include the spread "
            "over seeds."
        )


def _listed(names: Sequence[str], most: int = 5) -> str:
    return first_few(names, most)
