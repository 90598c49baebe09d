"""Where rays meet shapes: by hand, and against a search along the ray."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.synth.library.still_lifes import scene
from depthgauge.synth.render.closed_form.rays import cast, enter, views
from depthgauge.synth.render.closed_form.windows import Positions, Window
from depthgauge.synth.scene.frame import facing, turned
from depthgauge.synth.scene.model import Body, ShapeScene
from depthgauge.synth.scene.shape import Box, Cylinder, Ellipsoid, Plane
from depthgauge.synth.scene.texture import Plain
from depthgauge.synth.sets.stereo_scenes import SCENES

ORIGIN = tuple(np.zeros(1) for _ in range(3))


def depth(shape, *slopes):
    """Depth along the ray (x, y, 1) from the origin."""
    direction = tuple(np.array([part], float) for part in (*slopes, 1.0))
    return enter(shape, ORIGIN, direction)[0]


# --- by hand ------------------------------------------------------------------------------------


def test_a_slanted_plane_by_hand():
    """z = 4 + x: the ray x = s z meets it at 4 / (1 - s)."""
    plane = Plane(facing((0.0, 0.0, 4.0), (1.0, 0.0, -1.0)))
    assert depth(plane, 0.0, 0.0) == pytest.approx(4.0, rel=1e-15)
    assert depth(plane, 0.2, 0.1) == pytest.approx(5.0, rel=1e-15)
    assert depth(plane, -1.0, 0.0) == pytest.approx(2.0, rel=1e-15)
    assert depth(plane, 1.5, 0.0) == math.inf, "behind the camera"


def test_rectangles_and_discs_end_where_they_end():
    frame = facing((0.0, 0.0, 2.0), (0.0, 0.0, -1.0))
    rectangle, disc = Plane(frame, (0.4, 0.2)), Plane(frame, (0.4, 0.2), round=True)
    assert [depth(rectangle, x, y) < 9 for x, y in [(0.19, 0.09), (0.21, 0), (0, 0.11)]] == [
        1,
        0,
        0,
    ]
    assert depth(disc, 0.19, 0.0) == pytest.approx(2.0)
    assert depth(disc, 0.19, 0.09) == math.inf, "in the rectangle's corner"


def test_a_ball_by_hand():
    """(1 + s^2) z^2 - 10 z + 24 = 0 for radius 1 at 5 m; s = 0.2 touches it nearly."""
    ball = Ellipsoid(turned((0.0, 0.0, 5.0)), (1.0, 1.0, 1.0))
    assert depth(ball, 0.0, 0.0) == pytest.approx(4.0, rel=1e-15)
    assert depth(ball, 0.1, 0.0) == pytest.approx((10 - math.sqrt(3.04)) / 2.02, rel=1e-15)
    assert depth(ball, 0.0, 0.2) == pytest.approx((10 - math.sqrt(0.16)) / 2.08, rel=1e-14)
    assert depth(ball, 0.0, 0.21) == math.inf


def test_a_far_small_ball_keeps_its_digits():
    """Radius 1 mm at 1 km: the naive discriminant has no digit left."""
    ball = Ellipsoid(turned((0.0, 0.0, 1000.0)), (1e-3, 1e-3, 1e-3))
    assert 1000.0 - depth(ball, 0.0, 0.0) == pytest.approx(1e-3, rel=1e-9)


def test_a_turned_box_by_hand():
    """A corner of a cube turned by 45 degrees is half a diagonal nearer than its centre."""
    box = Box(turned((0.0, 0.0, 3.0), yaw_deg=45.0), (0.5, 0.5, 0.5))
    assert depth(box, 1e-12, 0.0) == pytest.approx(3 - math.sqrt(0.5))
    assert depth(box, 0.0, 0.5 / (3 - math.sqrt(0.5)) * 1.01) == math.inf


def test_a_cylinder_by_hand_from_the_side_and_along_its_axis():
    upright = Cylinder(turned((0.0, 0.0, 3.0)), 0.5, 1.0)
    assert depth(upright, 0.0, 0.0) == pytest.approx(2.5)
    lying = Cylinder(turned((0.1, 0.0, 3.0), pitch_deg=90.0), 0.5, 1.0)
    assert depth(lying, 0.0, 0.0) == pytest.approx(2.0), "meets the flat end"
    # Exactly along the axis, inside and outside.
    down = tuple(np.array([part]) for part in (0.0, 1.0, 0.0))
    above = tuple(np.array([part]) for part in (0.2, -5.0, 3.0))
    beside = tuple(np.array([part]) for part in (0.6, -5.0, 3.0))
    assert enter(upright, above, down)[0] == pytest.approx(4.0)
    assert enter(upright, beside, down)[0] == math.inf


# --- against a search along the ray -------------------------------------------------------------

STEP = 0.002
length = st.floats(0.1, 1.0)
angle = st.floats(-180, 180)
slope = st.floats(-0.35, 0.35)
frames = st.builds(
    lambda x, y, z, a, b, c: turned((x, y, z), yaw_deg=a, pitch_deg=b, roll_deg=c),
    st.floats(-0.5, 0.5),
    st.floats(-0.5, 0.5),
    st.floats(2.5, 4.0),
    angle,
    angle,
    angle,
)
SOLIDS = {
    "ellipsoid": (
        st.builds(Ellipsoid, frames, st.tuples(length, length, length)),
        lambda shape, p: ((p / np.array(shape.radii_m)) ** 2).sum(axis=1) - 1,
    ),
    "box": (
        st.builds(Box, frames, st.tuples(length, length, length)),
        lambda shape, p: (np.abs(p) / np.array(shape.half_m)).max(axis=1) - 1,
    ),
    "cylinder": (
        st.builds(Cylinder, frames, length, length),
        lambda shape, p: np.maximum(
            np.hypot(p[:, 0], p[:, 2]) / shape.radius_m - 1, np.abs(p[:, 1]) / shape.half_m - 1
        ),
    ),
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_rays_meet_solids_where_a_search_finds_them(kind):
    shapes, outside = SOLIDS[kind]

    def level(shape, at):
        """Below zero inside, by matrix algebra and the solid's definition."""
        local = (at - np.array(shape.frame.centre)) @ np.array(shape.frame.axes).T
        return outside(shape, local)

    @settings(max_examples=120, deadline=None, derandomize=True)
    @given(shapes, slope, slope)
    def check(shape, x, y):
        found = depth(shape, x, y)
        steps = np.arange(STEP, 7.0, STEP)
        inside = level(shape, steps[:, None] * np.array([x, y, 1.0])) <= 0
        first = steps[inside.argmax()] if inside.any() else math.inf
        assert found <= first + 1e-9
        if math.isfinite(found):
            # It lies on the surface, and no more than one step before what the search found.
            at = found * np.array([[x, y, 1.0]])
            assert abs(level(shape, at)[0]) < 1e-9
            ahead = found + STEP * np.linspace(0, 1, 50)[:, None] * np.array([x, y, 1.0])
            assert first - found <= STEP + 1e-9 or not (level(shape, ahead) < 0).all()

    check()


def test_axes_stay_at_right_angles():
    @settings(max_examples=50, derandomize=True)
    @given(frames)
    def check(frame):
        axes = np.array(frame.axes)
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0)

    check()


# --- what is left out changes nothing -----------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_windows_never_hide_anything(name):
    made = scene(name)
    for view in views(made, (60, 45)):
        y, x = np.mgrid[:45, :60].astype(float)
        hits = cast(made.things, view, x, y)
        rays = view.directions(x.ravel(), y.ravel())
        every = [enter(thing.shape, view.origin(float), rays) for thing in made.things]
        np.testing.assert_array_equal(hits.depth_m.ravel(), np.min(every, axis=0))
        np.testing.assert_array_equal(hits.which.ravel(), np.argmin(every, axis=0))


def test_a_shape_around_the_camera_is_seen_everywhere():
    wide = Body(Plane(facing((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)), (50.0, 50.0)), Plain((1, 1, 1)))
    beside = Body(Box(turned((0.0, 0.0, 0.5)), (0.1, 0.1, 2.0)), Plain((1, 1, 1)))
    made = ShapeScene((wide, beside), 1.0, 30.0, 0.1, (0.0, -1.0, 0.0))
    hits = cast(made.things, views(made, (16, 12))[0], *np.mgrid[:12.0, :16.0][::-1])
    assert np.isfinite(hits.depth_m).all()


def test_positions_within_a_window():
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    window = Window((-0.2, 0.1), (0.5, 0.7))
    wanted = (x >= -0.2) & (x <= 0.5) & (y >= 0.1) & (y <= 0.7)
    np.testing.assert_array_equal(Positions(x, y).within(window), np.flatnonzero(wanted))
    assert Positions(x, y).within(Window((2.0, 2.0), (3.0, 3.0))) is None
    assert Positions(x, y).within(Window((-2.0, -2.0), (3.0, 3.0))) == slice(None)
