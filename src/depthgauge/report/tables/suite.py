"""The table of a suite of benchmarks."""

from __future__ import annotations

import math

from depthgauge._tables import show_number
from depthgauge.analysis.suites import Column, SuiteBoard, SuiteRow
from depthgauge.report.tables.formats import Mark, Table, TableCell, TableColumn, TableRow


def suite_table(board: SuiteBoard) -> Table:
    """Methods by average rank; the best two values of every column are marked."""
    suite = board.suite
    several = len(suite.variants) > 1
    columns = [TableColumn("method", align="left")]
    columns += [TableColumn("aligned in", align="left")] if several else []
    columns += [TableColumn("average rank", better="lower")]
    units = {score: _unit(board, score) for score in suite.scores}
    for member, score in board.columns:
        heading = f"{member} {score.partition('@')[0]}"
        columns.append(TableColumn(heading, units[score], suite.better(score)))
    rows = tuple(TableRow(tuple(_cells(board, row, several))) for row in board.rows)
    notes = [_ranks_sentence(board)]
    if any(row.complete < len(board.columns) for row in board.rows):
        notes.append("-: no value; the method comes last in that column.")
    if board.left_out:
        notes.append(f"Left out, because no method was scored there: {', '.join(board.left_out)}.")
    hashes = ", ".join(
        f"{member} {protocol.hash[:12]}"
        for (member, variant), protocol in suite.protocols.items()
        if variant == next(iter(suite.variants)) and member not in board.left_out
    )
    source = f"{suite.id} v{suite.version}; protocols {hashes}"
    return Table(suite.title, tuple(columns), rows, tuple(notes), suite.id, source)


def _unit(board: SuiteBoard, score: str) -> str:
    protocol = next(iter(board.suite.protocols.values()))
    spec = next(spec for spec in protocol.specs if spec.id == score)
    return spec.metric.unit_of(protocol.quantity, spec.params)


def _cells(board: SuiteBoard, row: SuiteRow, several: bool) -> list[TableCell]:
    rank = TableCell(show_number(row.average_rank), fields=(row.average_rank,))
    found = [TableCell(row.method)]
    found += [TableCell(", ".join(row.variants))] if several else []
    return [*found, rank, *(_cell(board, row, column) for column in board.columns)]


def _cell(board: SuiteBoard, row: SuiteRow, column: Column) -> TableCell:
    value = row.values[column]
    if math.isnan(value):
        return TableCell("-", mark="incomplete", fields=(None,))
    others = sorted({r.ranks[column] for r in board.rows if not math.isnan(r.values[column])})
    place = others.index(row.ranks[column])
    marks: tuple[Mark, ...] = ("best", "second")
    mark = marks[place] if place < len(marks) and len(board.rows) > 1 else ""
    return TableCell(show_number(value), mark=mark, fields=(value,))


def _ranks_sentence(board: SuiteBoard) -> str:
    return (
        f"average rank: the mean over {len(board.columns)} columns; equal values share the mean of "
        "their places."
    )
