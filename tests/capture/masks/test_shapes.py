"""Polygons and strokes, against the distance to a line and the winding of a path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.capture.masks import runs
from depthgauge.capture.masks.runs import packed, unpacked
from depthgauge.capture.masks.shapes import brush, polygon
from depthgauge.errors import BadData

SIZE = (30, 20)
places = st.tuples(st.integers(-1500, 4500), st.integers(-1500, 3500)).map(
    lambda place: (place[0] / 100, place[1] / 100)
)
"""As they are stored: in hundredths of a px."""


def whole(region, size=SIZE):
    out = np.zeros(size[::-1], bool)
    out[region.box] = region.inside
    return out


def near_the_line(points, radius):
    """Pixels whose centres are at most so far from the line: the definition."""
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]].astype(float)
    out = np.zeros(x.shape, bool)
    for a, b in zip(points, [*points[1:], points[-1]], strict=True):
        d = np.subtract(b, a)
        length = d @ d
        along = np.clip(((x - a[0]) * d[0] + (y - a[1]) * d[1]) / length, 0, 1) if length else 0 * x
        far = np.hypot(x - a[0] - along * d[0], y - a[1] - along * d[1])
        out |= far <= radius
    return out


@given(st.lists(places, min_size=1, max_size=6), st.floats(0.75, 12))
def test_a_stroke_covers_what_is_near_its_line(points, radius):
    found = whole(brush(np.array(points), radius, SIZE))
    # Centres at the rim may fall on either side by rounding.
    sure = near_the_line(points, radius - 1e-6)
    assert (found >= sure).all()
    assert (found <= near_the_line(points, radius + 1e-6)).all()


def crossed_an_odd_number_of_times(points):
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]].astype(float)
    odd = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            at = x0 + (y - y0) * ((x1 - x0) / np.float64(y1 - y0))
        odd ^= ((y0 <= y) != (y1 <= y)) & (at <= x)
    return odd


@given(st.lists(places, min_size=3, max_size=7))
def test_a_polygon_covers_what_its_line_goes_around(points):
    found = whole(polygon(np.array(points), SIZE))
    assert np.array_equal(found, crossed_an_odd_number_of_times(points))


def test_hand_numbers():
    square = np.array([[2.0, 3.0], [6.0, 3.0], [6.0, 5.0], [2.0, 5.0]])
    assert polygon(square, SIZE).pixels == 4 * 2  # upper and left sides belong to it
    assert brush(np.array([[5.0, 5.0]]), 0.75, SIZE).pixels == 1
    assert brush(np.array([[5.0, 5.0], [9.0, 5.0]]), 1.0, SIZE).pixels == 3 * 5 + 2
    # A bow tie: the even-odd rule leaves nothing out but the crossing.
    tie = np.array([[0.0, 0.0], [10.0, 10.0], [10.0, 0.0], [0.0, 10.0]])
    found = whole(polygon(tie, SIZE))
    assert found[5, 1]
    assert found[5, 8]
    assert not found[1, 5]
    twice = np.array([*square, *square])
    assert polygon(twice, SIZE).pixels == 0, "what is gone around twice is outside"


def test_shapes_outside_and_shapes_without_an_area_cover_nothing():
    away = np.array([[100.0, 100.0], [120.0, 100.0], [110.0, 130.0]])
    assert polygon(away, SIZE).pixels == 0
    assert brush(away, 3.0, SIZE).pixels == 0
    assert polygon(np.array([[1.0, 1.0]] * 3), SIZE).pixels == 0
    assert polygon(np.array([[1.0, 1.0], [9.0, 9.0], [5.0, 5.0]]), SIZE).pixels == 0
    huge = np.array([[-1e6, -1e6], [1e6, -1e6], [1e6, 1e6], [-1e6, 1e6]])
    assert polygon(huge, SIZE).pixels == 600


def test_a_halved_square_is_the_square():
    """Shapes that share a side neither overlap nor leave a gap."""
    left = np.array([[2.3, 1.2], [11.7, 1.2], [6.1, 17.9]])
    right = np.array([[11.7, 1.2], [20.4, 17.9], [6.1, 17.9]])
    both = np.array([[2.3, 1.2], [11.7, 1.2], [20.4, 17.9], [6.1, 17.9]])
    one, other = whole(polygon(left, SIZE)), whole(polygon(right, SIZE))
    assert not (one & other).any()
    assert np.array_equal(one | other, whole(polygon(both, SIZE)))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**31))
def test_runs_hold_every_map(width, height, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (height, width)).astype(np.uint8)
    labels[: height // 2] = 3
    assert np.array_equal(unpacked(packed(labels), (width, height)), labels)


def test_a_long_run_takes_a_few_letters():
    labels = np.zeros((3000, 4000), np.uint8)
    labels[100:200, 50:60] = 2
    assert len(packed(labels)) < 1000
    assert np.array_equal(unpacked(packed(labels), (4000, 3000)), labels)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("DAU=", "cover 4 pixels, expected 3x3"),
        ("!", "not base64"),
        ("gA==", "in the middle of a number"),
        (None, "runs are text"),
        ("AA==", "cover 0 pixels"),
        ("//////8/", "in the middle of a number"),
        ("", "cover 0 pixels"),
    ],
)
def test_runs_that_are_none(text, says):
    with pytest.raises(BadData, match=says):
        unpacked(text, (3, 3))


def test_noise_is_too_much(monkeypatch):
    noise = np.random.default_rng(0).integers(0, 2, (1000, 2500))
    monkeypatch.setattr(runs, "MOST_TEXT", 2**19)
    with pytest.raises(BadData, match="too many small parts"):
        packed(noise)
