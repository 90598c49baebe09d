"""Scores by layer and material as tables, on the page and from the command line."""

import csv
import io
import sys
from dataclasses import replace

import pytest
from tests.report.layered import HEIGHT, WIDTH, run_rooms

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.benchmarks import BENCHMARKS
from depthgauge.cli import main
from depthgauge.errors import Unavailable
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import render_report
from depthgauge.report.tables.layers import layer_pivots, layer_tables, layers_text

HALF = HEIGHT * WIDTH  # pixels of each half in both rooms


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_rooms(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def board(run):
    return make_board(run, resamples=50)


def call(*arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["depthgauge", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code


def cells(pivot, method):
    """By group and heading: what a method has in a table."""
    names = [name for name, span in pivot.groups for _ in range(span)]
    row = next(row for row in pivot.table.rows if row.cells[0].text == method)
    return {
        (name, column.heading): cell.text
        for name, column, cell in zip(names, pivot.table.columns, row.cells, strict=True)
    }


def test_by_layer_by_material_and_each_layer_alone(run, board):
    counted, materials, alone = layer_pivots(run.protocol, board)
    both, wall = (cells(counted, name) for name in ("both", "wall"))
    # Below the middle the second layer is wrong by 4 px; half of the pixels have one.
    assert both["all layers", "1px"] == "25.000"
    assert both["layer 2", "3px"] == "50.000"
    assert both["layer 2", "5px"] == both["layer 1", "\u221epx"] == "0.000"
    assert wall["layer 2", "\u221epx"] == "100.000"
    # One layer where two are annotated is a wrong number, in the first layer too.
    assert wall["layer 1", "\u221epx"] == "50.000"
    # Nothing has a third layer, so there is no column of it.
    assert [name for name, _ in counted.groups] == ["", "all layers", "layer 1", "layer 2"]
    assert cells(materials, "wall")["transparent", "1px"] == "100.000"
    assert cells(materials, "both")["reflective", "1px"] == "50.000"
    assert [n for n, _ in materials.groups] == ["", "all", "transparent", "reflective", "diffuse"]
    assert cells(alone, "both")["layer 2", "EPE"] == "2.000"
    assert cells(alone, "wall")["layer 2", "EPE"] == "none"
    assert "none: the method has no estimate of that." in alone.table.notes


def test_points_by_layer_and_material(run, board):
    text = layers_text(run, board, "csv", "points")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["layer", "all", "diffuse", "transparent", "reflective"]
    assert rows[1] == ["all layers", *map(str, (3 * HALF, HALF, HALF, HALF))]
    assert rows[3] == ["layer 2", *map(str, (HALF, 0, 0, HALF))]
    assert len(layer_tables(run, board)) == 4


def test_formats(run, board):
    text = layers_text(run, board, "csv", "layers")
    (both, _) = csv.DictReader(io.StringIO(text))
    assert float(both["count_bad:1,2@all"]) == 50
    assert float(both["layered_flow:2/epe@all"]) == 2
    markdown = layers_text(run, board, "markdown", "layers")
    assert "| layer 2, \u221epx" in markdown
    latex = layers_text(run, board, "latex", "layers")
    assert r"\multicolumn{4}{c}{layer 2}" in latex
    assert r"$\infty$px" in latex


def test_the_page_has_tables_and_a_slider(run):
    html = render_report(build_page(run, most_pictures=1))
    assert "Layers and materials" in html
    assert html.count('type="radio" name="sample0-layer"') == 3
    assert html.count(" checked>") == 1
    assert "1,536" in html
    assert "Points with a truth" in html


def test_the_first_layer_by_material(run, capsys, tmp_path):
    data, out = run.path.parent / "data", tmp_path / "first"
    method = tmp_path / "still.py"
    method.write_text(
        "import numpy as np\n"
        "def estimate(inputs):\n"
        "    return np.zeros((*inputs['first_image'].shape[:2], 2), np.float32)\n"
    )
    assert (
        call("run", "layers-flow-first", "-m", method, "--data", data, "--out", out, "--workers", 0)
        == 0
    )
    capsys.readouterr()
    assert call("report", out, "--pivot", "layers", "--digits", 1) == 0
    title, groups, head, _, row, *_ = capsys.readouterr().out.splitlines()
    assert title == "The first layer, by material"
    assert [w for w in groups.split() if w.strip("-")] == ["all", "transparent", "diffuse"]
    assert head.split()[1] == "EPE"
    assert row.split()[:2] == ["still", "3.5"]
    assert call("report", out, "--pivot", "points", "--csv") == 0
    rows = capsys.readouterr().out.split()
    assert rows[0] == "layer,all,diffuse,transparent,reflective"
    assert f"1,{2 * HALF},{HALF},{HALF},0" in rows[-1]


def test_what_does_not_fit_is_refused(run, board, capsys):
    assert call("report", run.path, "--pivot", "layers", "--column", "layer_count@all") == 2
    assert "own columns" in capsys.readouterr().err
    other = replace(run, protocol=BENCHMARKS["stereo-scenes"])
    assert layer_tables(other, board) == []
    with pytest.raises(Unavailable, match="no scores by layer and material"):
        layers_text(other, board, "text", "points")
