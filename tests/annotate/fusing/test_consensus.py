"""The surface that most people see."""

import numpy as np
import pytest

from depthgauge.annotate.fusing._consensus import keep_near_people, typical_surface


def slope(tilt, scale=1.0):
    """A plane that gets farther to the right."""
    return np.tile(scale * np.exp(tilt * np.linspace(-1, 1, 21)), (6, 1)).astype(np.float32)


def test_the_typical_surface_is_the_median_whatever_the_scales():
    people = np.log([slope(tilt, scale).ravel() for tilt, scale in ((0.1, 1), (0.2, 5), (0.9, 2))])
    typical, distances = typical_surface(people)
    np.testing.assert_allclose(typical - np.median(typical), np.log(slope(0.2)).ravel(), atol=1e-6)
    # |tilt - 0.2| times the mean of |x|, which is 11/21.
    assert distances == pytest.approx(np.array([0.1, 0.0, 0.7]) * 11 / 21, abs=1e-6)


def test_a_surface_unlike_all_others_is_replaced_at_its_own_scale():
    people = [slope(tilt) for tilt in (0.1, 0.2, 0.3)]
    surfaces = np.ones((6, 21), int)
    found, replaced = keep_near_people(slope(2.0, 3.0), people, surfaces)
    assert replaced == [1]
    np.testing.assert_allclose(found, slope(0.2, 3.0), rtol=1e-5)


def test_a_surface_nearer_than_half_of_the_people_stays():
    people = [slope(tilt) for tilt in (0.1, 0.2, 0.3)]
    fused = slope(0.25, 7.0)
    found, replaced = keep_near_people(fused, people, np.ones((6, 21), int))
    assert replaced == []
    np.testing.assert_array_equal(found, fused)


def test_each_surface_is_judged_alone_and_unknown_pixels_stay_as_they_are():
    people = [slope(tilt) for tilt in (0.1, 0.2, 0.3)]
    people[0][0] = np.nan
    fused = slope(0.2)
    fused[3:] = slope(2.0)[3:]
    fused[5, 0] = np.nan
    surfaces = np.repeat([1, 1, 1, 2, 2, 2], 21).reshape(6, 21)
    found, replaced = keep_near_people(fused, people, surfaces)
    assert replaced == [2]
    np.testing.assert_array_equal(found[:3], fused[:3])
    assert np.isnan(found[5, 0])
    np.testing.assert_allclose(found[4], slope(0.2)[4], rtol=1e-5)
