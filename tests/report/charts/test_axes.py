"""Scores along an axis: scales that fit the values, lines with gaps, words for those who listen."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from tests.report.conftest import HOSTILE, NAN

from depthgauge.report.charts.axes import AxisLines, axis_chart
from depthgauge.report.charts.styles import Style, styles_of

SVG = "{http://www.w3.org/2000/svg}"
STYLES = {"a": Style("s0", 0), "b": Style("s1", 1)}


def drawn(x, lines, unit="px", styles=STYLES, **keys):
    shown = AxisLines(keys.get("title", "mae in px"), "width in px", tuple(x), lines, unit)
    text = str(axis_chart(shown, styles, "chart"))
    assert "nan" not in re.sub(r"<(title|desc|text).*?</\1>", "", text)
    root = ET.fromstring(text)
    assert root.get("aria-labelledby") == "chart-title chart-about"
    return root


def of(root, kind):
    return [e for e in root.iter() if kind in (e.get("class") or "").split()]


def points(root, kind):
    (line,) = [e for e in of(root, "line") if kind in e.get("class").split()]
    return [tuple(map(float, pair)) for pair in re.findall(r"([-\d.]+) ([-\d.]+)", line.get("d"))]


def test_the_first_bin_is_on_the_left_whatever_its_value():
    for x in ([1, 2, 3], [30, 20, 10]):
        places = [px for px, _ in points(drawn(x, {"a": [1.0, 2.0, 3.0]}), "s0")]
        assert places == sorted(places)
        assert places[1] == pytest.approx((places[0] + places[2]) / 2)


def test_values_that_do_not_go_one_way_are_counted():
    root = drawn([5, 9, 5], {"a": [1.0, 2.0, 3.0]})
    places = [px for px, _ in points(root, "s0")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1])
    assert [e.text for e in of(root, "tick")][:3] == ["5", "9", "5"]


def test_a_wide_axis_is_logarithmic():
    places = [px for px, _ in points(drawn([1, 10, 100], {"a": [1.0, 2.0, 3.0]}), "s0")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1])


def test_many_bins_have_few_ticks_that_do_not_touch():
    x = [0.0133 * n for n in range(16)]
    root = drawn(x, {"a": [1.0] * 16})
    below = [e for e in of(root, "tick") if e.get("text-anchor") == "middle"]
    assert 3 <= len(below) <= 8
    assert [e.text for e in below][:2] == ["0", "0.05"]


def test_a_missing_value_breaks_the_line():
    root = drawn([1, 2, 3, 4], {"a": [1.0, NAN, 3.0, 4.0]})
    (line,) = of(root, "line")
    assert line.get("d").count("M") == 2
    assert len(of(root, "mark")) == 3


def test_zero_is_the_bottom_for_errors_and_far_values_are_not_squeezed():
    low = points(drawn([1, 2], {"a": [0.0, 4.0]}), "s0")
    assert low[0][1] == 214
    near = points(drawn([1, 2], {"a": [96.0, 99.0]}, unit="%"), "s0")
    assert near[0][1] - near[1][1] > 100


def test_methods_that_are_worlds_apart_share_a_logarithmic_scale():
    root = drawn([1, 2], {"a": [0.01, 0.02], "b": [5.0, 6.0]})
    heights = {kind: [y for _, y in points(root, kind)] for kind in ("s0", "s1")}
    assert heights["s0"][0] - heights["s0"][1] > 10
    assert "logarithmic" in of(root, "strong")[0].text
    plain = drawn([1, 2], {"a": [0.0, 0.02], "b": [5.0, 6.0]})
    assert "logarithmic" not in of(plain, "strong")[0].text


def test_percentages_end_at_100():
    ticks = [float(e.text) for e in of(drawn([1, 2], {"a": [3.0, 99.0]}, unit="%"), "tick")]
    assert max(ticks) == 100


@pytest.mark.parametrize("values", [[NAN, NAN], [0.0, 0.0], [2.0, 2.0], [-1.0, -2.0], [1.0, 1e9]])
def test_awkward_values_can_be_drawn(values):
    drawn([1, 2], {"a": values})


def test_infinity_is_a_gap():
    assert len(of(drawn([1, 2, 3], {"a": [1.0, math.inf, 2.0]}), "mark")) == 2


def test_the_ends_of_each_line_are_told():
    about = drawn([8, 4, 2], {"a": [1.0, NAN, 2.5], "b": [NAN] * 3}).find(f"{SVG}desc").text
    assert about == "a: from 1.000 px at 8 to 2.500 px at 2; b: no values"


def test_hostile_names(hostile_board):
    lines = {name: [1.0, 2.0] for name in HOSTILE}
    root = drawn([1, 2], lines, styles=styles_of(hostile_board), title="<b>&")
    assert of(root, "strong")[0].text == "<b>&"
