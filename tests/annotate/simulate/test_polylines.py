"""Lines as a hand draws them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.simulate._polylines import (
    closest_pixel,
    drawn,
    length_px,
    rightward,
    shortened,
    simplified,
)
from depthgauge.annotate.simulate._trace import SHARP, Border

POINTS = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=40)


def off_line(points, line):
    """Distance of each point from a polyline."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(line):
        way = b - a
        share = np.clip((points - a) @ way / max(way @ way, 1e-12), 0, 1)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return best


@given(POINTS, st.floats(0.1, 5.0))
def test_a_simplified_line_is_never_further_off_than_told(points, tolerance):
    line = np.array(points, float)
    found = simplified(line, tolerance)
    assert (found[0] == line[0]).all()
    assert (found[-1] == line[-1]).all()
    assert off_line(line, found).max() <= tolerance + 1e-9


def test_a_loop_keeps_a_far_corner():
    square = np.array([[0, 0], [0, 8], [8, 8], [8, 0], [0, 0]], float)
    assert len(simplified(square, 20.0, closed=True)) == 3
    assert simplified(square, 0.5, closed=True).tolist() == square.tolist()


def test_a_line_moves_in_parallel():
    corner = np.array([[0, 0], [10, 0], [10, 10]], float)
    assert (corner + 2 * rightward(corner)).tolist() == [[0, 2], [8, 2], [8, 10]]


def test_an_end_is_cut_and_half_of_the_line_stays():
    line = np.array([[0, 0], [4, 0], [4, 4]], float)
    assert shortened(line, 5, at_start=True).tolist() == [[4, 0], [4, 4]]
    assert shortened(line, 1, at_start=False).tolist() == [[0, 0], [4, 0], [4, 3]]
    assert length_px(shortened(line, 100, at_start=True)) == pytest.approx(4)


def test_occlusions_are_drawn_on_the_closer_side_and_meet_on_the_closest_pixel():
    # The border between rows 4 and 5, drawn to the right; below is closer.
    corners = np.stack([np.arange(11) - 0.5, np.full(11, 4.5)], axis=-1)
    depth = np.full((10, 10), 5.0, np.float32)
    depth[5:] = 3.0
    free = drawn(Border(corners, SHARP, (False, False)), 0.5, 0.5, depth)
    assert (free[:, 1] == 5.0).all()
    tied = drawn(Border(corners[3:8], SHARP, (True, True)), 0.5, 0.5, depth)
    assert tied[0].tolist() == [2.0, 5.0]
    assert (tied[:, 1] == 5.0).all()


def test_the_closest_pixel_of_an_image_corner():
    depth = np.array([[2, 1], [np.nan, 3]], np.float32)
    assert closest_pixel(np.array([0.5, 0.5]), depth) == (1.0, 0.0)
    assert closest_pixel(np.array([-0.5, -0.5]), depth) == (0.0, 0.0)
