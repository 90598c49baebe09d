"""Degradation curves on the page, and what they take out of the tables."""

from dataclasses import replace

from tests.report.conftest import column, degradation_of, full_page
from tests.report.page.test_html import Reader

from depthgauge.analysis.boards.board import Cell
from depthgauge.report.charts.radar import radar_of
from depthgauge.report.charts.styles import Style, legend, styles_of
from depthgauge.report.page.html import render_report
from depthgauge.report.sections.degradation import degradation_html, lines_of


def crowded(board, count=4):
    """The board with a family of scores, and the family."""
    found = degradation_of(
        [row.label for row in board.rows if not row.oracle], bins=tuple(range(count))
    )
    columns = (*board.columns, *(column(name, "px") for name in found.score_ids))
    rows = tuple(
        replace(row, cells={**row.cells, **{n: Cell(1.0, all=1) for n in found.score_ids}})
        for row in board.rows
    )
    return replace(board, columns=columns, rows=rows), found


def test_a_chart_says_what_its_axes_are():
    shown = lines_of(degradation_of(["a"]))
    assert (shown.title, shown.x_title) == ("mae@gap in px \u2193", "width of the <gap> in px")
    bare = lines_of(degradation_of(["a"], axis_unit="", unit=""))
    assert (bare.title, bare.x_title) == ("mae@gap \u2193", "width of the <gap>")


def test_there_are_charts_a_legend_and_folded_numbers(board):
    text = str(degradation_html([degradation_of(["a", "b"])] * 2, styles_of(board)))
    reader = Reader(text)
    assert text.count('class="chart axis"') == 2
    assert len(reader.all("table")) == 2
    assert [t for t in reader.texts if t in ("mean", "spread", "largest step", "to")] == [
        "mean", "spread", "largest step", "to",
    ] * 2  # fmt: skip
    assert "8 px" in reader.texts
    # a goes from 0 by steps of 0.5 to 1.5, b from 1 to 2.5
    assert reader.texts.count("0.750") >= 1
    assert reader.texts.count("1.750") >= 1


def test_the_legend_names_eight_and_counts_the_others():
    styles = {f"m{i}": Style(f"s{i}", i) if i < 8 else Style("rest") for i in range(12)}
    found = legend(list(styles), styles)
    assert [text for _, text in found] == [*(f"m{i}" for i in range(8)), "4 more"]
    assert len(legend(["m1"], styles)) == 1


def test_long_families_are_in_no_table_but_in_the_csv(board):
    whole, found = crowded(board)
    page = full_page(whole, degradations=(found,))
    assert [c.id for c in page.columns] == [c.id for c in board.columns]
    text = render_report(page)
    reader = Reader(text)
    heads = [
        a.get("data-column") for a in reader.all("th") if a.get("data-sort") and "main" in str(a)
    ]
    assert heads == ["1", "1"]  # in the first table, and in that of all columns
    assert "4 scores of numbered regions are drawn as curves below" in " ".join(reader.texts)
    csv, latex = (
        text[text.index(f"<h3>{name}</h3>") :].partition("</pre>")[0] for name in ("CSV", "LaTeX")
    )
    assert "mae@gap_1" in csv
    assert "gap" not in latex
    alone = render_report(full_page(whole, degradations=()))
    assert "drawn as curves" not in alone


def test_long_families_are_no_axes_of_the_radar(board):
    whole, found = crowded(board)
    whole = replace(whole, main="mae@all")
    assert len(radar_of(whole).axes) > 5
    names = [axis.name for axis in radar_of(whole, degradations=[found]).axes]
    assert names == ["mae@all", "badpix:2@all", "delta:1.25@all", "bias@all"]


def test_a_short_family_without_an_axis_stays_in_the_tables(board):
    whole, found = crowded(board)
    page = full_page(whole, degradations=(replace(found, declared=False),))
    assert len(page.columns) == len(whole.columns)
    assert 'class="chart axis"' in render_report(page)


def test_families_that_no_sample_has_are_named_and_not_drawn(board):
    whole, found = crowded(board)
    empty = {label: (float("nan"),) * 4 for label in found.lines}
    absent = replace(found, stem="dots", lines=empty, filled=(False,) * 4, score_ids=())
    text = str(degradation_html([found, absent], styles_of(board)))
    assert text.count('class="chart axis"') == 1
    assert "No sample here has pixels of mae@dots." in text
    assert "No sample here" not in str(degradation_html([found], styles_of(board)))
    nothing = replace(absent, score_ids=found.score_ids)
    text = render_report(full_page(whole, degradations=(nothing,)))
    assert 'id="degradation"' not in text
    assert "drawn as curves" not in text
