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


def roof(kind="fold"):
    """Two planes that lean away from each other, with a line between them that is a fold."""
    return annotation(
        80,
        60,
        90.0,
        strokes={"ridge": Stroke(kind, ((40, -1), (40, 60)), None if kind == "fold" else "left")},
        surfaces={"a": SurfaceMark((20, 30), "planar"), "b": SurfaceMark((60, 30), "planar")},
        normals={
            "a": NormalMark((20, 30), (-0.5, 0.0, -1.0)),
            "b": NormalMark((60, 30), (0.5, 0.0, -1.0)),
        },
    )


def strokes_of(drawn):
    return [one for one in uncertainty(drawn, most=50).advice if one.kind == "stroke"]


def test_a_fold_along_which_planes_do_not_fit_is_named_before_one_along_which_they_do():
    """At the bottom line, the planes' common edge would be vertical: it cannot be a fold."""
    drawn = roof()
    below = {
        "strokes": {**drawn.strokes, "base": Stroke("fold", ((-1, 45), (80, 45)))},
        "surfaces": {
            **drawn.surfaces,
            "c": SurfaceMark((20, 55), "planar"),
            "d": SurfaceMark((60, 55), "planar"),
        },
        "normals": {
            **drawn.normals,
            "c": NormalMark((20, 55), (0.5, 0.0, -1.0)),
            "d": NormalMark((60, 55), (-0.5, 0.0, -1.0)),
        },
    }
    found = strokes_of(replace(drawn, **below))
    assert found[0].id == "base"
    assert "'base'" in found[0].text
    assert found[0].at_px[1] == 45


def test_a_stroke_whose_order_contradicts_another_is_advice():
    drawn = annotation(
        80,
        60,
        90.0,
        strokes={
            "left": Stroke("occlusion", ((30, 60), (30, -1)), "right"),
            "again": Stroke("occlusion", ((50, -1), (50, 60)), "left"),
            "top": Stroke("occlusion", ((30, 20), (50, 20)), "left"),
        },
    )
    named = {one.id for one in strokes_of(drawn)}
    made = uncertainty(drawn).reconstruction
    assert named == set(made.violated)  # occlusions that fit are not doubted


def test_opposite_tilts_cancel_what_is_not_linear():
    """Copies come in pairs, so the mean of the copies is the reconstruction up to second order."""
    found = uncertainty(two_walls(), copies=4, tilt_deg=1.0)
    assert found.depth_percent.max() < 3
