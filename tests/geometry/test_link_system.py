"""Values from links: against dense least squares, and what links must not let through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.link_system import LinkSystem


def least_squares(right, down, known, values, steps):
    """The normal equations as a dense matrix, pixel by pixel; NaN where nothing is said."""
    height, width = right.shape
    rows, sides = [], []
    for y in range(height):
        for x in range(width):
            for (qy, qx), weight, step in (
                ((y, x + 1), right[y, x], steps[0][y, x]),
                ((y + 1, x), down[y, x], steps[1][y, x]),
            ):
                if qy < height and qx < width and weight > 0:
                    row = np.zeros(height * width)
                    row[qy * width + qx], row[y * width + x] = np.sqrt(weight), -np.sqrt(weight)
                    rows.append(row)
                    sides.append(np.sqrt(weight) * step)
    matrix, side = np.array(rows).reshape(-1, height * width), np.array(sides)
    fixed = known.ravel()
    side = side - matrix[:, fixed] @ values.ravel()[fixed]
    free = ~fixed & (np.abs(matrix).sum(axis=0) > 0)
    out = np.full(height * width, np.nan)
    out[fixed] = values.ravel()[fixed]
    out[free] = np.linalg.lstsq(matrix[:, free], side, rcond=None)[0]
    return out.reshape(height, width)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 10**6))
def test_agrees_with_dense_least_squares(height, width, seed):
    rng = np.random.default_rng(seed)
    right, down = (rng.choice([0.0, 1.0, 2.0], (height, width)) for _ in range(2))
    known = rng.random((height, width)) < 0.2
    values = rng.normal(size=(height, width))
    steps = rng.normal(size=(height, width)), rng.normal(size=(height, width))
    system = LinkSystem(right, down, known)
    found = system.solve(values[..., None], steps, tolerance=1e-12).values[..., 0]
    wanted = least_squares(right, down, known, values, steps)
    parts = system.parts()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(parts > 0, np.isfinite(found) & ~known)
    for part in range(1, parts.max() + 1):
        there = parts == part
        around = np.zeros_like(known)
        around[:, 1:] |= there[:, :-1] & (right[:, :-1] > 0)
        around[:, :-1] |= there[:, 1:] & (right[:, :-1] > 0)
        around[1:] |= there[:-1] & (down[:-1] > 0)
        around[:-1] |= there[1:] & (down[:-1] > 0)
        constant = 0.0 if (around & known).any() else (found - wanted)[there].mean()
        np.testing.assert_allclose(found[there] - constant, wanted[there], atol=1e-7)


def test_a_large_cut_grid_reaches_the_tolerance_and_lets_nothing_through():
    rng = np.random.default_rng(0)
    height, width = 170, 130
    right, down = np.ones((height, width)), np.ones((height, width))
    right[:, 64] = 0  # a cut
    down[100, :40] = 0  # a slit
    known = np.zeros((height, width), bool)
    known[5, 5] = known[150, 10] = known[80, 100] = True
    values = np.zeros((height, width, 3))
    values[known] = rng.normal(size=(3, 3))
    found = LinkSystem(right, down, known).solve(values, tolerance=1e-10)
    assert found.residual <= 1e-10
    # Right of the cut only one pixel is known: all take its value.
    np.testing.assert_allclose(
        found.values[:, 65:], np.broadcast_to(values[80, 100], (170, 65, 3)), atol=1e-7
    )
    left = found.values[:, :65]
    low = np.minimum(values[5, 5], values[150, 10])
    high = np.maximum(values[5, 5], values[150, 10])
    assert (left >= low - 1e-7).all()
    assert (left <= high + 1e-7).all()
    assert (
        np.abs(left[100, 20] - left[101, 20]).max()
        > 10 * np.abs(left[99, 20] - left[100, 20]).max()
    )


def test_steps_of_a_potential_are_integrated_exactly_whatever_the_start():
    y, x = np.mgrid[0:120, 0:140].astype(float)
    potential = np.sin(x / 30) + (y / 50) ** 2
    steps = np.zeros_like(x), np.zeros_like(x)
    steps[0][:, :-1], steps[1][:-1] = np.diff(potential, axis=1), np.diff(potential, axis=0)
    system = LinkSystem(np.ones(x.shape), np.ones(x.shape))
    for start in (None, 3 * potential[..., None] + 1):
        found = system.solve(steps=steps, start=start, tolerance=1e-10).values[..., 0]
        np.testing.assert_allclose(found - found.mean(), potential - potential.mean(), atol=1e-7)
    assert system.solve(steps=steps, start=potential[..., None]).residual < 1e-12


def test_nothing_linked_is_nothing_solved():
    found = LinkSystem(np.zeros((4, 5)), np.zeros((4, 5))).solve()
    assert np.isnan(found.values).all()
    assert found.residual == 0


def test_bad_input():
    ones = np.ones((3, 4))
    with pytest.raises(WrongShape, match="two \\(H, W\\) arrays"):
        LinkSystem(ones, np.ones((4, 3)))
    with pytest.raises(WrongShape, match="known is"):
        LinkSystem(ones, ones, np.ones((4, 3), bool))
    with pytest.raises(Misuse, match="cannot be negative"):
        LinkSystem(-ones, ones)
    with pytest.raises(Misuse, match="no values for them"):
        LinkSystem(ones, ones, ones > 0).solve()
