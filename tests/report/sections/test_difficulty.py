"""Psychometric curves on the page."""

from dataclasses import replace

from tests.report.conftest import degradation_of, full_page
from tests.report.page.test_html import Reader

from depthgauge.analysis.difficulty.axes import AxisDifficulty, Difficulty, value_at
from depthgauge.analysis.difficulty.psychometric import fit_psychometric
from depthgauge.report.charts.psychometric import psychometric_chart
from depthgauge.report.charts.styles import styles_of
from depthgauge.report.page.html import render_report
from depthgauge.report.sections.difficulty import body

LINES = ([0.0, 1.0, 30.0, 90.0], [0.0, 0.0, 0.0, 1.0], [90.0, 99.0, 100.0, 100.0])


def found(labels):
    """The first method crosses 50 %, the second never does, the third fails everywhere."""
    axis = replace(
        degradation_of(labels, unit="%"), lines=dict(zip(labels, LINES, strict=False)), unit="%"
    )
    methods = {}
    for label, line in axis.lines.items():
        curve = fit_psychometric([value / 100 for value in line])
        places = (curve.difficulty, curve.low, curve.high)
        methods[label] = Difficulty(curve, *(value_at(axis.bins, place) for place in places))
    return AxisDifficulty(axis, methods)


def labels_of(board):
    return [row.label for row in board.rows if not row.oracle][:3]


def test_the_section_has_charts_and_a_table_that_says_what_is_beyond(board):
    labels = labels_of(board)
    axis = found(labels)
    text = str(body(full_page(board, difficulties=(axis,))))
    reader = Reader(text)
    assert text.count('class="chart axis"') == 1
    assert len(reader.all("table")) == 1
    cells = " ".join(reader.texts)
    assert "3." in cells
    assert "> 4" in cells
    if len(labels) > 2:
        assert "< 1" in cells


def test_the_chart_is_said_in_words_and_escaped(board):
    axis = found(labels_of(board))
    text = str(psychometric_chart(axis, styles_of(board), "x"))
    assert "less than 50 % fail on the whole axis" in text
    assert "50 % fail at bin 3." in text
    assert "<gap>" not in text
    assert text.count('class="interval') == 1  # only who crosses 50 % has a bar


def test_failures_that_fall_again_are_named(board):
    labels = labels_of(board)[:1]
    axis = found(labels)
    curve = fit_psychometric([0.9, 0.1, 0.9, 0.0])
    poor = AxisDifficulty(axis.axis, {labels[0]: Difficulty(curve, 1.0, 1.0, 1.0)})
    assert "do not grow along a curve" in str(body(full_page(board, difficulties=(poor,))))


def test_a_page_without_axes_has_no_such_section(board):
    page = full_page(board, difficulties=())
    assert body(page) is None
    assert 'id="difficulty"' not in render_report(page)
