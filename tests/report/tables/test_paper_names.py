"""Names of metrics and regions as papers write them, and tables that can be pasted."""

from __future__ import annotations

import re

import pytest

from depthgauge.analysis.boards.board import Column
from depthgauge.benchmarks.score_ids import make_spec
from depthgauge.metrics import METRICS
from depthgauge.report.tables.formats import to_latex, to_text
from depthgauge.report.tables.leaderboard import TableStyle, leaderboard_table
from depthgauge.report.tables.paper_names import metric_name, region_name, score_names


def column(metric: str, region: str = "all", name: str | None = None) -> Column:
    named = metric.rpartition("/")[2].partition(":")[0] if name is None else name
    return Column(f"{metric}@{region}", metric, region, "", "lower", name=named)


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        ("badpix:2", "bad-2"),
        ("badpix", "bad-1"),
        ("mae", "MAE"),
        ("rms", "RMSE"),
        ("delta:1.25", r"$\delta_1$"),
        ("delta:1.953125", r"$\delta_3$"),
        ("delta:1.05", r"$\delta<1.05$"),
        ("d1", "D1"),
        ("d1:3,0.05", "D1 (3, 0.05)"),
        ("npx:3", "3px"),
        ("quantile:90", "A90"),
        ("rmse_log", r"RMSE$_{\log}$"),
        ("within:11.25", r"$11.25^\circ$"),
        ("flow/epe", "flow: EPE"),
        ("foreground_fattening", "foreground fattening"),
    ],
)
def test_metrics_have_the_names_of_papers(metric, shown):
    assert metric_name(column(metric)) == shown


def test_every_metric_has_a_name_without_signs_that_latex_reads():
    for name, metric in METRICS.items():
        spec = make_spec(name, {}, "all")
        shown = metric_name(Column(spec.id, name, "all", "", metric.better, name=name))
        outside = re.sub(r"\$[^$]*\$", "", shown)
        assert not re.search(r"(?<!\\)[_&%#]", outside), shown


def test_a_name_of_a_benchmark_or_a_twin_stays():
    assert metric_name(column("bad:2", name="")) == "bad:2"
    assert metric_name(column("my_name", name="badpix")) == "my name"


def test_regions_are_words_and_equal_names_become_ids():
    assert region_name("near_background") == "near background"
    assert score_names([column("mae"), column("mae", "visible")]) == ["MAE", "MAE, visible"]
    twice = [column("boundary_ap"), column("plane_ap")]
    assert score_names(twice) == [r"boundary\_ap@all", r"plane\_ap@all"]


def test_latex_has_names_one_line_of_caption_and_notes_as_comments(hostile_board):
    text = to_latex(leaderboard_table(hostile_board, ["badpix:2@all"], title="Mine"))
    assert "bad-2" in text
    assert "badpix:2@all" not in re.sub(r"(?m)^%.*|\\label.*", "", text)
    (caption,) = re.findall(r"\\caption\{(.*)\}", text)
    assert caption == "Mine. Bold: best, underlined: second best."


def test_a_style_chooses_digits_intervals_and_the_caption(hostile_board):
    style = TableStyle(digits=1, intervals=False, caption="All of it, 50 %")
    table = leaderboard_table(hostile_board, ["badpix:2@all"], style=style)
    values = [row.cells[1] for row in table.rows]
    assert all(re.fullmatch(r"-?\d+\.\d|-|incomplete .*", cell.text) for cell in values)
    assert not any("[" in cell.detail for cell in values)
    assert r"\caption{All of it, 50 \%.}" in to_latex(table)
    plain = leaderboard_table(hostile_board, ["badpix:2@all"])
    assert [c.fields for c in values] == [row.cells[1].fields for row in plain.rows]
    assert "All of it" not in to_text(table)
