import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.geometry.polygons import polygon_mask


def test_a_square_by_hand():
    found = polygon_mask((6, 7), [(1, 2), (4, 2), (4, 5), (1, 5)])
    expected = np.zeros((6, 7), bool)
    expected[2:5, 1:4] = True
    assert np.array_equal(found, expected)


def test_with_its_outline_a_square_has_all_four_sides():
    square = [(1, 2), (4, 2), (4, 5), (1, 5)]
    expected = np.zeros((6, 7), bool)
    expected[2:6, 1:5] = True
    assert np.array_equal(polygon_mask((6, 7), square, with_outline=True), expected)
    assert polygon_mask((6, 7), [(0, 0), (6, 0), (6, 5), (0, 5)], with_outline=True).all()


def test_a_slanted_side_is_part_of_the_outline():
    found = polygon_mask((5, 5), [(0, 0), (4, 4), (0, 4)], with_outline=True)
    assert np.array_equal(found, np.tri(5, dtype=bool))


def test_a_polygon_beyond_the_image_fills_it_or_nothing():
    square = np.array([(-9.0, -9.0), (99.0, -9.0), (99.0, 99.0), (-9.0, 99.0)])
    assert polygon_mask((6, 7), square).all()
    assert not polygon_mask((6, 7), square + 200).any()
    assert not polygon_mask((6, 7), square - [0, 200]).any()


def test_a_bow_tie_is_even_odd():
    """Twice around is outside again: a square within a square, drawn in one line."""
    outer = [(0.5, 0.5), (8.5, 0.5), (8.5, 8.5), (0.5, 8.5), (0.5, 0.5)]
    inner = [(2.5, 2.5), (6.5, 2.5), (6.5, 6.5), (2.5, 6.5), (2.5, 2.5)]
    found = polygon_mask((10, 10), outer + inner)
    assert found.sum() == 8 * 8 - 4 * 4
    assert not found[3:7, 3:7].any()


@given(st.lists(st.tuples(st.floats(-3, 12), st.floats(-3, 9)), min_size=3, max_size=7))
def test_polygons_hold_what_an_even_odd_walk_says(points):
    found = polygon_mask((7, 10), points)
    for y in range(7):
        for x in range(10):
            inside = False
            for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1], strict=True):
                if (ay <= y) != (by <= y) and ax + (y - ay) * (bx - ax) / (by - ay) <= x:
                    inside = not inside
            assert found[y, x] == inside


@given(st.integers(1, 8), st.integers(1, 5))
def test_neighbours_share_no_pixel(column, row):
    """Four rectangles around any point of the grid make up the whole one."""
    xs, ys = (0, column, 9), (0, row, 6)
    parts = np.zeros((7, 10), int)
    for x0, x1 in itertools.pairwise(xs):
        for y0, y1 in itertools.pairwise(ys):
            parts += polygon_mask((7, 10), [(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    whole = polygon_mask((7, 10), [(0, 0), (9, 0), (9, 6), (0, 6)])
    assert np.array_equal(parts, whole.astype(int))
