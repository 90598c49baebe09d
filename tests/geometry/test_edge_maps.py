"""Smoothing, directions across edges, non-maximum suppression: by hand and written out plainly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.boundary_maps.edge_maps import (
    across_edges,
    suppress_non_maxima,
    thin_edges,
    triangle_filter,
)


def blobs(seed, height=24, width=31):
    from scipy import ndimage

    made = ndimage.gaussian_filter(np.random.default_rng(seed).random((height, width)), 1.5)
    return ((made - made.min()) / np.ptp(made)).astype(np.float32)


def plain_triangle(values, radius):
    kernel = [*range(1, radius + 2), *range(radius, 0, -1)]
    padded = np.pad(values.astype(np.float64), radius, mode="symmetric")
    for axis in (0, 1):
        padded = np.apply_along_axis(np.convolve, axis, padded, kernel, mode="valid")
    return padded / (radius + 1) ** 4


def plain_suppression(values, across, reach, border, margin):
    """As the usual program does it, pixel by pixel."""
    height, width = values.shape
    kept = values.astype(np.float64).copy()
    for y in range(height):
        for x in range(width):
            for d in (*range(-reach, 0), *range(1, reach + 1)):
                at = x + d * math.cos(across[y, x]), y + d * math.sin(across[y, x])
                if margin * values[y, x] < between(values, *at):
                    kept[y, x] = 0
    border = min(border, width // 2, height // 2)
    for i in range(border):
        for row in (i, height - 1 - i):
            kept[row] *= i / border
        for column in (i, width - 1 - i):
            kept[:, column] *= i / border
    return kept


def between(values, x, y):
    height, width = values.shape
    x, y = min(max(x, 0), width - 1.001), min(max(y, 0), height - 1.001)
    x0, y0 = int(x), int(y)
    dx, dy = x - x0, y - y0
    top = values[y0, x0] * (1 - dx) + values[y0, x0 + 1] * dx
    return top * (1 - dy) + (values[y0 + 1, x0] * (1 - dx) + values[y0 + 1, x0 + 1] * dx) * dy


def test_a_triangle_by_hand():
    point = np.zeros((1, 7), np.float32)
    point[0, 3] = 9
    np.testing.assert_allclose(triangle_filter(point, 2), [[0, 1, 2, 3, 2, 1, 0]], rtol=1e-6)
    corner = np.zeros((3, 3), np.float32)
    corner[0, 0] = 16
    # Mirrored, the corner is four pixels of 16: three quarters in each direction stay.
    np.testing.assert_allclose(triangle_filter(corner, 1)[0], [9, 3, 0])


@given(st.integers(0, 10_000), st.integers(0, 4))
def test_triangles_agree_with_a_plain_convolution_and_keep_the_mean(seed, radius):
    values = blobs(seed, 11, 13)
    found = triangle_filter(values, radius)
    np.testing.assert_allclose(found, plain_triangle(values, radius), atol=1e-5)
    assert found.mean(dtype=float) == pytest.approx(values.mean(dtype=float), rel=1e-5)


def ridge_at(turn):
    y, x = np.mgrid[:60, :60] - 29.5
    off = x * math.cos(math.radians(turn)) + y * math.sin(math.radians(turn))
    return np.exp(-((off / 2) ** 2)).astype(np.float32), np.abs(off) < 1


@pytest.mark.parametrize("turn", [0, 20, 45, 70, 88, 110, 135, 160])
def test_the_direction_is_across_a_ridge(turn):
    ridge, on_crest = ridge_at(turn)
    found = across_edges(ridge)
    # The formula gives the arctangent of the tangent's square: right at 45 degrees only.
    angle = math.radians(turn)
    expected = math.copysign(math.atan(math.tan(angle) ** 2), math.tan(angle)) % math.pi
    assert min(abs(expected - angle), math.pi - abs(expected - angle)) < math.radians(13)
    apart = np.abs(found - expected)[20:40, 20:40][on_crest[20:40, 20:40]]
    assert np.degrees(np.minimum(apart, np.pi - apart)).max() < 3
    assert found.min() >= 0
    assert found.max() <= np.float32(np.pi)


def test_an_exactly_horizontal_edge_has_no_direction_as_in_the_original():
    assert not across_edges(ridge_at(90)[0].round(5))[20:40, 20:40].any()


def test_a_ridge_keeps_its_crest_and_fades_at_the_border():
    ridge = np.zeros((20, 21), np.float32)
    ridge[:, 8:13] = [0.2, 0.6, 1, 0.6, 0.2]
    kept = suppress_non_maxima(ridge, np.zeros_like(ridge))
    np.testing.assert_array_equal(np.flatnonzero(kept[10]), [10])
    np.testing.assert_allclose(kept[:7, 10], [0, 0.2, 0.4, 0.6, 0.8, 1, 1], rtol=1e-6)
    np.testing.assert_array_equal(kept, kept[::-1])


def test_a_margin_above_one_keeps_a_plateau():
    flat = np.zeros((9, 9), np.float32)
    flat[:, 4:6] = [1.0, 1.005]
    assert (suppress_non_maxima(flat, np.zeros_like(flat), border=0)[4] > 0).sum() == 2
    assert (suppress_non_maxima(flat, np.zeros_like(flat), border=0, margin=1)[4] > 0).sum() == 1


@given(st.integers(0, 10_000), st.integers(1, 2), st.integers(0, 6))
def test_suppression_agrees_with_a_plain_version(seed, reach, border):
    values = blobs(seed)
    across = across_edges(values)
    found = suppress_non_maxima(values, across, reach=reach, border=border)
    expected = plain_suppression(values, across, reach, border, 1.01)
    # A comparison of two values that are equal up to rounding may go either way.
    differ = (found > 0) != (expected > 0)
    assert np.count_nonzero(differ) <= 1
    np.testing.assert_allclose(found[~differ], expected[~differ], atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5)])
def test_tiny_pictures_are_no_problem(shape):
    kept = thin_edges(np.ones(shape, np.float32))
    assert kept.shape == shape
    assert np.isfinite(kept).all()


def test_what_makes_no_sense_is_refused():
    flat = np.zeros((5, 5), np.float32)
    with pytest.raises(WrongShape, match="an edge map must be"):
        triangle_filter(np.zeros((5, 5, 2), np.float32), 1)
    with pytest.raises(WrongShape, match="directions are"):
        suppress_non_maxima(flat, np.zeros((5, 4), np.float32))
    for wrong in ({"reach": -1}, {"border": -1}, {"margin": 0}):
        with pytest.raises(Misuse):
            suppress_non_maxima(flat, flat, **wrong)
    with pytest.raises(Misuse, match="radius is -1"):
        triangle_filter(flat, -1)
