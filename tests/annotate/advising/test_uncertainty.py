"""Where a reconstruction is uncertain, and what would help."""

from dataclasses import replace

import numpy as np
import pytest
from tests.annotate.drawn import annotation, ball_before_wall

from depthgauge.annotate.advising.uncertainty import uncertainty
from depthgauge.annotate.records.annotation import NormalMark, Stroke, SurfaceMark
from depthgauge.errors import Misuse


def two_walls():
    """Two planes side by side: the normal of the large one decides more."""
    return annotation(
        80,
        60,
        90.0,
        strokes={"cut": Stroke("occlusion", ((60, -1), (60, 60)), "left")},
        surfaces={
            "large": SurfaceMark((20, 30), "planar"),
            "small": SurfaceMark((70, 30), "planar"),
        },
        normals={
            "large": NormalMark((20, 30), (0.2, 0.0, -1.0)),
            "small": NormalMark((70, 30), (0.2, 0.0, -1.0)),
        },
    )


def test_a_plane_is_least_certain_at_its_ends_by_the_formula():
    """With slope s the log depth of a small plane is s x / f, up to a constant."""
    found = uncertainty(two_walls(), copies=64, tilt_deg=3.0)
    row = found.depth_percent[30, :60]
    assert row.argmin() in range(20, 40)
    # Tilts of 3 degrees on average, to both sides: the spread in x is 3 / sqrt(pi / 2) degrees.
    expected = 100 * np.radians(3 / np.sqrt(np.pi / 2)) * 29.5 / 90
    assert row[0] == pytest.approx(expected, rel=0.35)
    assert np.median(found.normals_deg) == pytest.approx(3 * np.sqrt(4 / np.pi), rel=0.3)


def test_advice_names_the_normal_that_decides_most():
    found = uncertainty(two_walls())
    assert found.advice[0].id == "large"
    assert found.advice[0].gain > 0.3
    gains = [one.gain for one in found.advice]
    assert gains == sorted(gains, reverse=True)
    assert "'large'" in found.advice[0].text


def test_a_surface_without_a_normal_comes_first():
    drawn = two_walls()
    drawn = replace(drawn, normals={"small": drawn.normals["small"]})
    found = uncertainty(drawn)
    assert found.advice[0].id == ""
    assert found.advice[0].at_px[0] < 60
    assert found.depth_percent[:, :60].mean() > 3 * found.depth_percent[:, 61:].mean()


def test_it_depends_on_the_seed_only():
    one, two = uncertainty(ball_before_wall(), seed=2), uncertainty(ball_before_wall(), seed=2)
    np.testing.assert_array_equal(one.depth_percent, two.depth_percent)
    assert one.advice == two.advice


@pytest.mark.parametrize("options", [{"copies": 3}, {"tilt_deg": 0.0}, {"tilt_deg": 90.0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(Misuse):
        uncertainty(two_walls(), **options)
