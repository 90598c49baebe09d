"""Charts: hand-computed scales, well-formed SVG, gaps where there is no value."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.report.conftest import HOSTILE, NAN, column

from depthgauge.analysis.maps.scatter import Scatter
from depthgauge.analysis.thresholds import CurvePoint, Curves, RankStability
from depthgauge.report.charts.density import density_plot
from depthgauge.report.charts.forest import forest_plot
from depthgauge.report.charts.lines import bump_chart, threshold_curves
from depthgauge.report.charts.radar import axis_scale, radar_chart, radar_of
from depthgauge.report.charts.styles import styles_of
from depthgauge.report.charts.svg import Scale, spread, tag
from depthgauge.report.page.model import Radar, RadarAxis
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import ColourBar
from depthgauge.report.tables.heat import heat_of

SVG = "{http://www.w3.org/2000/svg}"


def parsed(chart):
    """The chart as XML, with what every chart must have."""
    root = ET.fromstring(str(chart))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    ids = root.get("aria-labelledby").split()
    assert [root.find(f"{SVG}{name}").get("id") for name in ("title", "desc")] == ids
    assert not root.findall(f".//{SVG}script")
    assert "nan" not in re.sub(r"<(title|desc|text).*?</\1>", "", str(chart))
    return root


def classes(root, kind):
    return [e for e in root.iter() if kind in (e.get("class") or "").split()]


@pytest.mark.parametrize(
    ("axis", "values", "radii"),
    [
        # Errors: from 0 to the worst, or to twice the median (here 2 * 2) where that is nearer.
        (RadarAxis("mae", "px"), [1, 2, 3], [1 / 3, 2 / 3, 1]),
        (RadarAxis("mae", "px"), [1, 2, 30], [0.25, 0.5, 7.5]),
        # A percentage of good pixels: from 100 down.
        (RadarAxis("delta", "%", "higher"), [90, 80, 85], [0.5, 1, 0.75]),
        # Higher is better without a known top: from the best method.
        (RadarAxis("psnr", "dB", "higher"), [30, 20, 25], [0, 1, 0.5]),
        # Near to zero: by size, whatever the sign.
        (RadarAxis("bias", "px", "zero"), [-1, 2, 0.5], [0.5, 1, 0.25]),
        # No spread: all on the ring, or all perfect.
        (RadarAxis("mae", "px"), [2, 2], [1, 1]),
        (RadarAxis("mae", "px"), [0, 0], [0, 0]),
        (RadarAxis("psnr", "dB", "higher"), [30, 30], [0, 0]),
        # Lower is better but below zero: from the best method.
        (RadarAxis("loss", ""), [-4, -2, -3], [0, 1, 0.5]),
    ],
)
def test_radar_normalisation(axis, values, radii):
    scale = axis_scale(axis, [*map(float, values), NAN])
    assert [scale.radius(float(value)) for value in values] == pytest.approx(radii)
    assert math.isnan(scale.radius(NAN))


def test_an_infinite_score_is_beyond_every_ring():
    for values in ([0.0, 0.0, math.inf], [1.0, 2.0, math.inf]):
        assert axis_scale(RadarAxis("mae", "px"), values).radius(math.inf) == math.inf


def test_a_radar_shows_every_metric_before_regions(board):
    from dataclasses import replace

    ids = ["badpix:2@all", "badpix:2@near", "badpix:4@all", "mae@near", "mae@all", "density@all",
           "bumps@near", "badpix:2@far"]  # fmt: skip
    columns = tuple(column(name) for name in ids)
    made = replace(board, columns=columns, rows=(), main="badpix:2@all")
    names = [axis.name for axis in radar_of(made).axes]
    assert names == ["badpix:2@all", "mae@all", "bumps@near", "badpix:2@near", "badpix:2@far"]
    assert len(radar_of(made, most=2).axes) == 2


def test_a_radar_has_a_gap_where_a_value_lacks(board):
    axes = tuple(RadarAxis(f"m{i}", "px") for i in range(4))
    values = {"a": (1.0, 1.0, 1.0, 1.0), "b": (2.0, NAN, 2.0, 2.0)}
    root = parsed(radar_chart(Radar(axes, values), styles_of(board)))
    outlines = {
        e.get("class"): e.get("d") for e in classes(root, "line") if e.get("d").count("L") > 1
    }
    assert outlines["line s0"].endswith("Z")
    assert not outlines["line s1"].endswith("Z")
    assert outlines["line s1"].count("M") == 2


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_axes_are_bars(board, count):
    axes = tuple(RadarAxis(f"m{i}", "px") for i in range(count))
    values = {"a": (1.0,) * count, "b": (2.0,) * count, "c": (NAN,) * count}
    bars = classes(parsed(radar_chart(Radar(axes, values), styles_of(board))), "bar")
    widths = [float(bar.get("width")) for bar in bars]
    assert len(bars) == 3 * count
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.01)
    assert widths[2] == 0


def test_only_eight_methods_have_colours(board):
    from dataclasses import replace

    rows = tuple(replace(board.rows[0], label=f"m{i}") for i in range(12))
    styles = styles_of(replace(board, rows=(*rows, board.rows[-1])))
    assert [style.class_ for style in styles.values()] == (
        [f"s{i}" for i in range(8)] + ["rest"] * 4 + ["oracle"]
    )


def test_forest_has_a_dot_an_interval_and_brackets(board):
    root = parsed(forest_plot(board, styles_of(board)))
    assert len(classes(root, "mark")) == 4
    assert len(classes(root, "interval")) == 3
    assert len(classes(root, "bracket")) == 1
    assert len(classes(root, "hollow")) == 1


def test_brackets_of_groups_that_reach_past_each_other_stand_side_by_side(board):
    from dataclasses import replace

    first = board.rows[0]
    groups = {"m0": 1, "m1": 2, "m2": 1, "m3": 2, "m4": 3, "m5": 3}
    rows = tuple(
        replace(
            first,
            label=label,
            cells={**first.cells, board.main: replace(first.cells[board.main], group=group)},
        )
        for label, group in groups.items()
    )
    drawn = forest_plot(replace(board, rows=rows), styles_of(replace(board, rows=rows)))
    lines = [element.get("d") for element in classes(parsed(drawn), "bracket")]
    assert len(lines) == 3
    # A spine, and a tooth for each of the two members.
    assert [line.count("M") for line in lines] == [3, 3, 3], lines
    places = [line.split("M")[1].split()[0] for line in lines]
    assert places[0] != places[1]
    assert places[0] == places[2]


def test_forest_of_an_incomplete_score_says_so(board):
    from dataclasses import replace

    root = parsed(forest_plot(replace(board, main="mae@all"), styles_of(board)))
    assert len(classes(root, "mark")) == 3
    assert "incomplete 3/4" in [e.text for e in classes(root, "number")]


def test_curves_have_bands_and_thresholds(board):
    points = [CurvePoint(t, p, p - 1, p + 1) for t, p in ((0.0, 0), (0.1, 10), (1.0, 50), (10, 90))]
    lines = {"a": points, "b": [CurvePoint(1.0, 40.0), CurvePoint(10.0, NAN)], "c": []}
    root = parsed(threshold_curves(Curves(lines, marks=(1.0, 99.0)), styles_of(board)))
    assert len(classes(root, "band")) == 1
    assert len(classes(root, "threshold")) == 1
    assert [e.text for e in classes(root, "label")] == ["a", "b"]


def test_ranks_that_are_equal_lie_side_by_side(board):
    ranks = {"a": [1, 1], "b": [1, 2], "c": [None, 3]}
    root = parsed(bump_chart(RankStability((1.0, 2.0), ranks), styles_of(board)))
    assert len(classes(root, "mark")) == 5
    lines = {e.get("class"): e.get("d") for e in classes(root, "line")}
    starts = {float(re.match(r"M\S+ ([\d.]+)", lines[f"line thick s{i}"])[1]) for i in (0, 1)}
    assert len(starts) == 2
    labels = [e.text for e in classes(root, "label")]
    assert sorted(labels) == ["a", "a", "b", "b", "c"]


def test_scatter_shows_counts_and_the_identity():
    edges = np.linspace(0, 10, 6)
    root = parsed(density_plot(Scatter(np.eye(5, dtype=int), edges, edges), "m", "px", "x"))
    image = root.find(f"{SVG}image")
    assert image.get("href").startswith("data:image/png;base64,")
    assert len(classes(root, "identity")) == 1
    assert "100 % of them" in root.find(f"{SVG}desc").text
    empty = Scatter(np.zeros((5, 4), int), edges, np.linspace(0, 8, 5))
    parsed(density_plot(empty, "m", "px", "x"))


@pytest.mark.parametrize("colours", ["viridis", "viridis_r", "magma", "RdBu_r", "wheel"])
def test_colour_bars_say_range_and_unit(colours):
    bar = ColourBar(0, 8, "px", colours, True, True, True, True)
    root = parsed(colour_bar(bar, "k"))
    texts = " ".join(e.text or "" for e in root.iter(f"{SVG}text"))
    assert "px" in texts
    assert "no estimate" in texts
    assert "no truth" in texts


def test_charts_of_hostile_names_are_well_formed(hostile_board, hostile_page):
    styles = styles_of(hostile_board)
    charts = [
        forest_plot(hostile_board, styles),
        radar_chart(hostile_page.radar, styles),
        threshold_curves(hostile_page.curves, styles),
        bump_chart(hostile_page.stability, styles),
        density_plot(hostile_page.scatter[HOSTILE[0]], HOSTILE[0], "<px>", "x"),
    ]
    for chart in charts:
        root = parsed(chart)
        assert any("<script>" in (e.text or "") for e in root.iter())


def test_tags_escape_text_and_attributes():
    assert tag("a", "<&>", title='"x"<') == '<a title="&#34;x&#34;&lt;">&lt;&amp;&gt;</a>'


def test_labels_are_moved_apart_and_stay_inside():
    moved = spread([0, 0, 0, 100], 10, 0, 100)
    assert moved[:3] == [0, 10, 20]
    assert moved[3] == 100
    places = spread([float(i % 3) for i in range(9)], 10, 0, 200)
    gaps = np.diff(sorted(places))
    assert (gaps >= 10 - 1e-9).all()


def test_log_scale():
    x = Scale(0.1, 10, 0, 100, log=True)
    assert [x(0.1), x(1.0), x(10.0)] == pytest.approx([0, 50, 100])


def test_heat_is_zero_for_the_best_whatever_the_direction():
    assert heat_of([[90.0, 80.0, 85.0]], "higher") == [[0.0, 1.0, 0.5]]
    assert heat_of([[-2.0, 0.0, 1.0]], "zero") == [[1.0, 0.0, 0.5]]
    assert heat_of([[NAN]], "lower") == [[0.0]]
    assert heat_of([[1.0, math.inf]], "lower") == [[0.0, 1.0]]


def test_there_is_no_radar_of_fewer_than_three_methods(board):
    from dataclasses import replace

    from tests.report.conftest import full_page

    from depthgauge.report.page.html import render_report

    def has_radar(count):
        rows = tuple(replace(board.rows[0], label=f"m{i}") for i in range(count))
        return "Each axis starts in the centre" in render_report(
            full_page(replace(board, rows=rows))
        )

    assert [has_radar(count) for count in (1, 2, 3)] == [False, False, True]
