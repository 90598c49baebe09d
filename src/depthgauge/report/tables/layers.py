"""Scores by layer and material in the shape of LayeredFlow's tables 2 to 6."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from depthgauge.analysis.boards.board import Board, Column
from depthgauge.analysis.layer_points import LayerPoints, layer_points
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec, format_value
from depthgauge.engine.store.record import Run
from depthgauge.errors import Unavailable
from depthgauge.metrics._layer_errors import ANY
from depthgauge.quantities import QUANTITIES
from depthgauge.report.tables.formats import Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.leaderboard import PLAIN, TableStyle
from depthgauge.report.tables.paper_names import metric_name
from depthgauge.report.tables.pivot import Pivot, grouped_pivot
from depthgauge.report.tables.pivot_formats import Format, render_pivots
from depthgauge.report.words.protocol import source_line

_SINGLE_REGIONS = ("all", "transparent", "reflective", "diffuse", "behind_transparent")
"""Regions of benchmarks of one layer, in the order of tables 2 and 3."""
_COUNTED, _BAD = "count_bad", "multi_bad"
_ENDLESS = "\u221e"
_Key = Callable[[ScoreSpec], str]
LayerTable = Literal["layers", "points"]


def layer_pivots(protocol: Protocol, board: Board, style: TableStyle = PLAIN) -> list[Pivot]:
    """All tables by layer or material that the scores of a protocol give; none for other protocols.

    Args:
        protocol: Says which score is of which layer and material.
        board: All scores.
        style: Digits and caption.
    """
    source = source_line(protocol)
    made = []
    for title, name, specs, key in _tables(protocol):
        groups = _groups(protocol, board, specs, key)
        if groups:
            pivot = grouped_pivot(board, groups, title=title, name=name, source=source, style=style)
            table = replace(_with_none(pivot.table, board), caption=style.caption)
            made.append(replace(pivot, table=table, in_words=True))
    return made


def _with_none(table: Table, board: Board) -> Table:
    """The table with `none` where not a single sample of a method has an estimate."""
    rows = []
    for row, found in zip(table.rows, board.rows, strict=True):
        cells = list(row.cells)
        for k, column in enumerate(table.columns):
            cell = found.cells.get(column.fields[0]) if column.fields else None
            if cell is not None and cell.all and not cell.used:
                cells[k] = TableCell("none", mark="incomplete", fields=(None,))
        rows.append(replace(row, cells=tuple(cells)))
    has_none = any(cell.text == "none" for row in rows for cell in row.cells)
    notes = ("none: the method has no estimate of that.",) if has_none else ()
    return replace(table, rows=tuple(rows), notes=(*table.notes, *notes))


def _tables(
    protocol: Protocol,
) -> Iterator[tuple[str, str, list[ScoreSpec], _Key]]:
    """Title, name, scores, and which group a score belongs to."""
    specs = [spec for spec in protocol.specs if not spec.resolution]
    whole = [spec for spec in specs if spec.region == "all"]
    if QUANTITIES[protocol.quantity].main.is_stack:
        counted = [s for s in whole if s.metric.name == _COUNTED and s.params["material"] == ANY]
        yield (
            "Wrong number of layers, or error above tau, by layer",
            "layers-counted",
            counted,
            _layer,
        )
        bad = [s for s in whole if s.metric.name == _BAD and not s.params["layer"]]
        yield "Error of any layer above tau, by material", "layers-materials", bad, _material
        parts = [s for s in whole if ":" in s.part]
        yield "Errors of each layer alone", "layers-errors", parts, _part
    elif protocol.truth.layer != "all":
        inside = [s for s in specs if s.region in _SINGLE_REGIONS and not s.part]
        inside.sort(key=lambda spec: _SINGLE_REGIONS.index(spec.region))
        if len({spec.region for spec in inside}) > 1:
            title = f"The {protocol.truth.layer} layer, by material"
            yield title, f"{protocol.truth.layer}-layer", inside, _region


def _layer(spec: ScoreSpec) -> str:
    number = spec.params["layer"]
    return f"layer {number}" if number else "all layers"


def _material(spec: ScoreSpec) -> str:
    material = str(spec.params["material"])
    return "all" if material == ANY else material


def _part(spec: ScoreSpec) -> str:
    return f"layer {spec.part.partition(':')[2]}"


def _region(spec: ScoreSpec) -> str:
    return spec.region.replace("_", " ")


def _groups(
    protocol: Protocol, board: Board, specs: Sequence[ScoreSpec], key: _Key
) -> list[tuple[str, list[tuple[Column, TableColumn]]]]:
    """Scores that at least one method has, group by group."""
    known = {column.id: column for column in board.columns}
    unit = QUANTITIES[protocol.quantity].unit
    found: dict[str, list[tuple[Column, TableColumn]]] = {}
    for spec in specs:
        cells = (row.cells.get(spec.id) for row in board.rows)
        if spec.id in known and any(cell is not None and cell.all for cell in cells):
            column = known[spec.id]
            found.setdefault(key(spec), []).append((column, _head(spec, column, unit)))
    return list(found.items())


def _head(spec: ScoreSpec, column: Column, unit: str) -> TableColumn:
    """Thresholds as the paper writes them: 1px, 3px; other metrics by their names."""
    limit = spec.params.get("tau", spec.params.get("threshold"))
    if limit is None:
        text = latex = metric_name(replace(column, metric=column.metric.rpartition("/")[2]))
    else:
        endless = limit == math.inf
        text = f"{_ENDLESS if endless else format_value(limit)}{unit}"
        latex = rf"$\infty${unit}" if endless else text
    return TableColumn(text, column.unit, column.better, fields=(column.id,), latex=latex)


def points_pivot(protocol: Protocol, points: LayerPoints) -> Pivot:
    """How many points each material and layer has (table 6)."""
    names = points.materials
    rows = [_points_row("all layers", points, None, names)]
    rows += [_points_row(f"layer {k}", points, k, names) for k in points.layers]
    table = Table(
        title="Points with a truth, by layer and material",
        columns=(
            TableColumn("layer", align="left"),
            *(TableColumn(name) for name in ("all", *names)),
        ),
        rows=tuple(rows),
        notes=("A pixel has a point for each of its layers.",),
        name="layers-points",
        source=source_line(protocol),
    )
    return Pivot(table)


def _points_row(
    name: str, points: LayerPoints, layer: int | None, materials: Sequence[str]
) -> TableRow:
    numbers = [points.count(layer), *(points.count(layer, each) for each in materials)]
    return TableRow((TableCell(name), *(TableCell(f"{n:,}", fields=(n,)) for n in numbers)))


def layer_tables(run: Run, board: Board) -> list[Pivot]:
    """All tables of a run that are about layers; none where a benchmark has no such scores."""
    points = layer_points(run)
    counted = [] if points is None else [points_pivot(run.protocol, points)]
    return [*layer_pivots(run.protocol, board, TableStyle(digits=2)), *counted]


def layers_text(
    run: Run, board: Board, form: Format, kind: LayerTable, style: TableStyle = PLAIN
) -> str:
    """The scores by layer and material, or the numbers of points, in a format.

    Raises:
        Unavailable: The benchmark has no such scores.
    """
    points = layer_points(run)
    if kind == "layers":
        found = layer_pivots(run.protocol, board, style)
    else:
        found = [] if points is None else [points_pivot(run.protocol, points)]
    if not found:
        raise Unavailable(
            f"{run.protocol.id} has no scores by layer and material; choose --pivot methods or "
            "--pivot regions."
        )
    if form == "csv":
        found = [beside(found)]
    return render_pivots(found, form)


def beside(found: Sequence[Pivot]) -> Pivot:
    """The columns of all tables in one, for formats that have a single table."""
    first, *others = (pivot.table for pivot in found)
    columns = (*first.columns, *(c for table in others for c in table.columns if c.fields))
    rows = []
    for k, row in enumerate(first.rows):
        more = (
            cell
            for table in others
            for cell, column in zip(table.rows[k].cells, table.columns, strict=True)
            if column.fields
        )
        rows.append(replace(row, cells=(*row.cells, *more)))
    return Pivot(replace(first, columns=columns, rows=tuple(rows)))
