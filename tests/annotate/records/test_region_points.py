"""The two places that a region has to contain."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.records.annotation import Picture
from depthgauge.annotate.records.region_points import preselected_points


@given(st.text(max_size=10), st.integers(30, 4000), st.integers(30, 4000), st.integers(0, 99))
def test_points_are_apart_inside_and_always_the_same(name, width, height, seed):
    picture = Picture(name, width, height)
    pair = preselected_points(picture, seed)
    assert pair == preselected_points(picture, seed)
    assert math.dist(*pair) >= 0.1 * math.hypot(width, height)
    for x, y in pair:
        assert 0.05 * width <= x <= 0.95 * width - 1
        assert 0.05 * height <= y <= 0.95 * height - 1
        assert (x, y) == (int(x), int(y))


@given(st.integers(1, 29), st.integers(1, 29))
def test_tiny_pictures_get_points_too(width, height):
    for x, y in preselected_points(Picture("a", width, height)):
        assert 0 <= x < width
        assert 0 <= y < height


def test_pictures_and_seeds_differ():
    pairs = {
        preselected_points(Picture(f"p{i}", 640, 480), seed) for i in range(5) for seed in (0, 1)
    }
    assert len(pairs) == 10


def test_they_are_spread_over_the_picture():
    """A mean of 400 uniform columns lies within 5 standard errors of the middle."""
    columns = [preselected_points(Picture("p", 640, 480), seed)[0][0] for seed in range(400)]
    assert abs(sum(columns) / 400 - 319.5) < 5 * 640 / math.sqrt(12 * 400)
