"""Metrics and regions crossed: both pivots in four formats, and on the page."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import pytest

from depthgauge.analysis.boards.board import Board, Cell, Column, Row
from depthgauge.errors import UnknownName
from depthgauge.report.page.html import render_report
from depthgauge.report.page.model import Page
from depthgauge.report.tables.pivot import input_resolution, pivots
from depthgauge.report.tables.pivot_formats import render_pivots

METRICS = {"badpix:2": "%", "mae": "px", "delta:1.05": "%"}
REGIONS = ("all", "visible", "class_0")
KINDS = ("text", "markdown", "csv", "latex")


def crossed(values, options=None, better=None):
    """A board of all metrics and regions; value k of a method is that of the k-th score."""
    columns = tuple(
        Column(
            f"{metric}@{region}", metric, region, unit, "higher" if "delta" in metric else "lower"
        )
        for metric, unit in METRICS.items()
        for region in REGIONS
    )

    def rank(place, better, value):
        others = [found[place] for found in values.values()]
        sign = 1 if better == "lower" else -1
        return 1 + sum(sign * other < sign * value for other in others)

    rows = tuple(
        Row(
            label,
            {
                c.id: Cell(v, used=4, all=4, rank=rank(k, c.better, v))
                for k, (c, v) in enumerate(zip(columns, found, strict=True))
            },
            options=(options or {}).get(label, {}),
        )
        for label, found in values.items()
    )
    return Board(columns, rows, "badpix:2@all")


@pytest.fixture
def two():
    first = [10.0, 8.0, 6.0, 1.0, 0.8, 0.6, 90.0, 91.0, 92.0]
    second = [9.0, 9.0, 7.0, 2.0, 0.7, 0.5, 90.0, 95.0, 80.0]
    options = {"sgbm": {"input_scale": 0.25}, "net": {"input_size": "320x192"}}
    return crossed({"sgbm": first, "net": second}, options)


def body(text):
    """The lines of a text table below its rule, with single spaces."""
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    cells = []
    for line in lines[rule + 1 :]:
        if line.startswith("*"):
            break
        cells.append(" ".join(line.split()))
    return cells


def test_rows_are_methods_and_regions_are_groups(two):
    (pivot,) = pivots(two, "methods")
    assert pivot.groups == (("", 2), ("all", 3), ("visible", 3), ("class_0", 3))
    assert [column.heading for column in pivot.table.columns[:5]] == [
        "method",
        "input res.",
        "badpix:2",
        "mae",
        "delta:1.05",
    ]
    assert body(render_pivots([pivot], "text"))[:2] == [
        "sgbm Q 10.000+ 1.000* 90.000* 8.000* 0.800+ 91.000+ 6.000* 0.600+ 92.000*",
        "net 320\u00d7192 9.000* 2.000+ 90.000* 9.000+ 0.700* 95.000* 7.000+ 0.500* 80.000+",
    ]


def test_group_headings_stand_above_their_columns(two):
    _, groups, heads, rule, *_ = render_pivots(pivots(two, "methods"), "text").splitlines()
    widths = [len(part) for part in rule.split("  ")]
    starts = [sum(widths[:k]) + 2 * k for k in range(len(widths))]
    for k, name in zip((2, 5, 8), REGIONS, strict=True):
        part = groups[starts[k] : starts[k + 2] + widths[k + 2]]
        assert part.strip("- ") == name
        assert part.startswith("-")
        assert groups[starts[k] - 1] == " "
    assert heads.split()[0] == "method"


def test_rows_are_regions_of_one_method(two):
    first, second = pivots(two, "regions")
    assert (first.table.title, second.table.title) == ("sgbm, input Q", "net, input 320\u00d7192")
    assert body(render_pivots([second], "text"))[:3] == [
        "all 9.000* 2.000+ 90.000*",
        "visible 9.000+ 0.700* 95.000*",
        "class_0 7.000+ 0.500* 80.000+",
    ]
    assert "Best and second best are among all methods." in first.table.notes


def test_nothing_is_the_best_of_one():
    board = crossed({"alone": [float(k) for k in range(9)]})
    for rows in ("methods", "regions"):
        for pivot in pivots(board, rows):
            assert {cell.mark for row in pivot.table.rows for cell in row.cells} == {""}
            assert "input res." not in [column.heading for column in pivot.table.columns]


def test_regions_and_scores_can_be_chosen_in_any_order(two):
    (pivot,) = pivots(two, "methods", regions=["class_0", "all"])
    assert [name for name, _ in pivot.groups] == ["", "class_0", "all"]
    (few,) = pivots(two, "methods", columns=["mae@visible", "mae@all", "badpix:2@all"])
    assert few.groups == (("", 2), ("visible", 1), ("all", 2))
    assert [c.fields for c in few.table.columns[2:]] == [
        ("mae@visible",),
        ("mae@all",),
        ("badpix:2@all",),
    ]
    with pytest.raises(UnknownName, match=r"no region 'visble'. Did you mean 'visible'"):
        pivots(two, "methods", regions=["visble"])
    with pytest.raises(UnknownName, match="no score 'mae@al'"):
        pivots(two, "regions", columns=["mae@al"])


def test_scores_that_lack_are_dashes_and_empty_fields(two):
    board = replace(two, columns=tuple(c for c in two.columns if c.id != "mae@visible"))
    _, net = pivots(board, "regions")
    assert [cell.text for cell in net.table.rows[1].cells] == ["visible", "9.000", "-", "95.000"]
    read = list(csv.DictReader(io.StringIO(render_pivots(pivots(board, "regions"), "csv"))))
    assert read[1]["mae"] == ""


def test_csv_of_methods_has_score_ids_and_every_digit(two):
    rows = list(two.rows)
    rows[0] = replace(rows[0], cells={**rows[0].cells, "mae@all": Cell(1 / 3, used=4, all=4)})
    text = render_pivots(pivots(replace(two, rows=tuple(rows)), "methods"), "csv")
    read = list(csv.DictReader(io.StringIO(text)))
    assert list(read[0])[:4] == ["method", "input res.", "badpix:2@all", "mae@all"]
    assert float(read[0]["mae@all"]) == 1 / 3


def test_csv_of_regions_is_one_table(two):
    read = list(csv.DictReader(io.StringIO(render_pivots(pivots(two, "regions"), "csv"))))
    assert [(row["method"], row["input res."], row["region"]) for row in read] == [
        (label, size, region)
        for label, size in (("sgbm", "Q"), ("net", "320\u00d7192"))
        for region in REGIONS
    ]
    assert [float(row["badpix:2"]) for row in read] == [10, 8, 6, 9, 9, 7]


def test_latex_joins_the_columns_of_a_group(two):
    text = render_pivots(pivots(two, "methods"), "latex")
    head = text[text.index(r"\toprule") : text.index(r"\midrule")]
    assert r"\multicolumn{3}{c}{all} & \multicolumn{3}{c}{visible}" in head
    assert r"\multicolumn{3}{c}{class 0} \\" in head
    assert r"\cmidrule(lr){3-5} \cmidrule(lr){6-8} \cmidrule(lr){9-11}" in head
    assert text.count(r"\begin{tabular}{llrrrrrrrrr}") == 1
    for line in text.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert line.count("&") == 10
    group = next(line for line in text.splitlines() if "multicolumn" in line)
    assert group.count("&") == 4  # two empty cells, three groups


def test_latex_has_regions_in_words_as_rows_too(two):
    text = render_pivots(pivots(two, "regions"), "latex")
    rows = [line.split("&")[0].strip() for line in text.splitlines() if line.endswith(r"\\")]
    assert rows == ["region", "all", "visible", "class 0"] * 2


def test_markdown_says_the_whole_score_in_each_heading(two):
    text = render_pivots(pivots(two, "methods"), "markdown")
    assert "| badpix:2@all \\[%\\] \u2193 |" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") - line.count("\\|") for line in lines}) == 1
    assert "**8.000**" in text


def test_oracles_stand_apart_and_are_not_marked(two):
    oracle = replace(two.rows[1], label="per-pixel best", oracle=True)
    board = replace(two, rows=(two.rows[0], two.rows[1], oracle))
    (pivot,) = pivots(board, "methods")
    assert pivot.table.rows[-1].apart
    assert {cell.mark for cell in pivot.table.rows[-1].cells} == {""}
    assert pivots(board, "regions")[-1].table.title.startswith("per-pixel best \u2020")


def test_incomplete_means_and_sparse_estimates_are_said(two):
    cells = {**two.rows[0].cells, "mae@all": Cell(math.nan, used=3, all=4)}
    cells["mae@visible"] = Cell(0.5, used=4, all=4, density=0.9)
    board = replace(two, rows=(replace(two.rows[0], cells=cells), two.rows[1]))
    (pivot,) = pivots(board, "methods")
    texts = [f"{cell.text} {cell.detail}".strip() for cell in pivot.table.rows[0].cells]
    assert texts[3] == "incomplete 3/4"
    assert texts[6] == "0.500 at 90.0 %"
    assert "at n %: only that share of the pixels has an estimate." in pivot.table.notes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", ["methods", "regions"])
def test_awkward_names_do_no_harm(hostile_board, rows, kind):
    columns = tuple(
        replace(column, region="<b>|&\n", id=f"{column.metric}@<b>|&\n")
        for column in hostile_board.columns
    )
    rows_of = tuple(
        replace(row, cells={f"{k.partition('@')[0]}@<b>|&\n": v for k, v in row.cells.items()})
        for row in hostile_board.rows
    )
    board = Board(columns, rows_of, columns[0].id)
    text = render_pivots(pivots(board, rows), kind)
    assert "\x1b" not in text
    if kind == "latex":
        assert "<b>" not in text


def test_a_group_heading_longer_than_its_columns_is_cut(two):
    name = "a_region_with_quite_a_long_name"
    columns = (Column(f"mae@{name}", "mae", name, "px", "lower"),)
    board = Board(columns, (Row("m", {f"mae@{name}": Cell(1.0, used=1, all=1)}),), columns[0].id)
    _, groups, _, rule, *_ = render_pivots(pivots(board, "methods"), "text").splitlines()
    assert len(groups) == len(rule)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"input_scale": 1}, "F"),
        ({"input_scale": 1.0}, "F"),
        ({"input_scale": 0.5}, "H"),
        ({"input_scale": 0.25}, "Q"),
        ({"input_scale": 0.3}, "0.3"),
        ({"input_scale": True}, ""),
        ({"input_scale": "x"}, ""),
        ({"input_scale": 0.5, "match_size": "smaller"}, "H"),
        ({"input_scale": 1, "match_size": "larger"}, "F of larger"),
        ({"input_size": "384x280"}, "384\u00d7280"),
        ({"input_size": "quarter"}, "Q"),
        ({"input_size": None, "input_scale": 0.5}, "H"),
        ({}, ""),
    ],
)
def test_the_size_of_the_input_by_the_options(options, expected):
    assert input_resolution(options) == expected


def page_of(board):
    return Page(board, "Title", "bench", 1, "ab" * 32)


def test_the_page_has_a_folded_table_for_each_method(two):
    html = render_report(page_of(two))
    section = html[html.index('<section id="regions"') :]
    section = section[: section.index("</section>")]
    assert section.count("<details>") == 2
    assert "sgbm, input Q" in section
    assert "class_0" in section
    assert "Regions by method" in section


def test_the_page_has_none_for_one_region_or_one_metric(two, board):
    for columns in (two.columns[::3], two.columns[:3]):
        html = render_report(page_of(replace(two, columns=columns)))
        assert 'id="regions"' not in html
    assert 'id="regions"' not in render_report(page_of(board))
