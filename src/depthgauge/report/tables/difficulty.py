"""The difficulty at which 50 % fail, as a table: a row for each method, a column for each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.difficulty.axes import AxisDifficulty, Difficulty, difficulties
from depthgauge.analysis.difficulty.psychometric import LEVEL
from depthgauge.engine.store.record import Run
from depthgauge.errors import Misuse
from depthgauge.report.tables.formats import Mark, Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.leaderboard import PLAIN, TableStyle
from depthgauge.report.words.protocol import source_line

_FIELDS = ("bin", "bin_low", "bin_high", "value", "value_low", "value_high", "reaches")
NOTE = (
    "Where 50 % fail, in bins of each axis from easy to hard, with the interval that holds it "
    f"with {100 * LEVEL:g} %; higher is better. '>': less than 50 % fail on the whole axis; '<': "
    "more."
)


def difficulty_table(
    run: Run, board: Board, found: Sequence[AxisDifficulty] | None = None, style: TableStyle = PLAIN
) -> Table:
    """The table of a run.

    Raises:
        Misuse: The run has no axis of difficulty with percentages of failures.
    """
    axes = difficulties(run, board) if found is None else found
    if not axes:
        raise Misuse(
            "this run has no difficulty: it needs four numbered regions or more, such as slant_1 "
            "to slant_10, with a percentage of failures."
        )
    columns = [TableColumn("method", align="left"), *(_column(axis) for axis in axes)]
    labels = [row.label for row in board.rows if any(row.label in axis.methods for axis in axes)]
    rows = [
        TableRow((TableCell(label), *(_cell(axis, label, style) for axis in axes)))
        for label in labels
    ]
    return Table(
        "Difficulty at 50 % failure",
        tuple(columns),
        tuple(rows),
        notes=(NOTE,),
        name="difficulty",
        source=source_line(run.protocol),
        caption=style.caption,
    )


def in_words(found: AxisDifficulty, label: str) -> str:
    """A method's difficulty on an axis: `50 % fail at bin 6.2 [5.8, 6.6], 0.141 px/px`."""
    one = found.methods[label]
    if not one.curve.reaches:
        side = "less" if one.curve.difficulty > 0 else "more"
        return f"{side} than 50 % fail on the whole axis"
    unit = f" {found.axis.axis_unit}" if found.axis.axis_unit else ""
    value = f", {one.value:.3g}{unit}" if found.has_values else ""
    return f"50 % fail at bin {one.curve.difficulty:.1f} {interval(one)}{value}"


def place(one: Difficulty, count: int, digits: int = 1) -> str:
    """The bin at which 50 % fail, or the end of the axis beyond which it is."""
    if one.curve.reaches:
        return f"{one.curve.difficulty:.{digits}f}"
    return f"> {count}" if one.curve.difficulty > 0 else "< 1"


def interval(one: Difficulty, digits: int = 1) -> str:
    """The interval in bins; dots where it is open."""
    low, high = (
        f"{end:.{digits}f}" if math.isfinite(end) else "..."
        for end in (one.curve.low, one.curve.high)
    )
    return f"[{low}, {high}]"


def _column(axis: AxisDifficulty) -> TableColumn:
    score = f"{axis.axis.metric}@{axis.axis.stem}"
    fields = tuple(f"{axis.id} {field}" for field in _FIELDS)
    return TableColumn(score, "bins", "higher", fields=fields)


def _cell(axis: AxisDifficulty, label: str, style: TableStyle) -> TableCell:
    if label not in axis.methods:
        return TableCell("-", fields=(None,) * len(_FIELDS))
    one, digits = axis.methods[label], 1 if style.digits is None else style.digits
    said = one.to_json()
    fields = (
        said["bin"],
        *said["bin_interval"],
        said["value"],
        *said["value_interval"],
        said["reaches"],
    )
    known = one.curve.reaches and style.intervals
    return TableCell(
        place(one, len(axis.axis.bins), digits),
        detail=interval(one, digits) if known else "",
        mark=_mark(axis, label),
        fields=fields,
    )


def _mark(axis: AxisDifficulty, label: str) -> Mark:
    """The best, and the second best, where they can be told apart from their neighbours' place."""
    values = sorted({one.curve.difficulty for one in axis.methods.values()}, reverse=True)
    own = axis.methods[label].curve.difficulty
    if len(axis.methods) < 2 or own not in values[:2]:
        return ""
    return "best" if own == values[0] else "second"
