"""Corners of a chessboard: exact where edges are straight, nearly so where a lens bends them."""

import numpy as np
import pytest
from scipy.special import erf

from depthgauge.capture.calibrate._saddles import fit_saddles

CORNER = np.array([[60.3, 59.6]])
MANY = 8
"""Samples across a pixel, in both directions."""


def corner(bend=0.0, size=120, blur=1.0):
    """A blurred corner; both its edges are parabolas of this curvature, in 1/px."""
    place = (np.arange(size * MANY) + 0.5) / MANY - 0.5
    x, y = np.meshgrid(place - CORNER[0, 0], place - CORNER[0, 1])
    both = erf((x + bend * y**2 / 2) / blur) * erf((y + bend * x**2 / 2) / blur)
    fine = 0.5 + 0.4 * both
    return fine.reshape(size, MANY, size, MANY).mean(axis=(1, 3)).astype(np.float32)


@pytest.mark.parametrize("radius_px", [4.0, 40.0])
def test_a_corner_of_straight_edges_is_found(radius_px):
    found = fit_saddles(corner(), CORNER + 0.6, radius_px)
    assert found == pytest.approx(CORNER, abs=0.002)


def test_edges_that_a_lens_bends_hardly_move_a_corner_however_large_its_squares():
    """At 2056 px, a usual lens bends edges by about 1e-4 per px near the corners of the image."""
    found = fit_saddles(corner(bend=1e-4), CORNER, 40.0)
    assert np.abs(found - CORNER).max() < 0.002


def test_a_corner_beside_the_border_or_without_contrast_is_not_found():
    grey = corner()
    assert np.isnan(fit_saddles(grey, np.array([[2.0, 60.0]]), 6.0)).all()
    assert np.isnan(fit_saddles(np.full_like(grey, 0.5), CORNER, 6.0)).all()
