"""Motions of photographs: fitted to displacements, applied, stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.capture.photographs.motion import (
    STILL,
    Displacements,
    Motion,
    fit_motion,
    moved_along,
    rotation_matrix,
)
from depthgauge.capture.photographs.movements import Movements, moved_view
from depthgauge.geometry.rectified import RectifiedView
from depthgauge.types import Camera

CAMERA = Camera((380.0, 381.0), (241.0, 173.0), (480, 351), (-0.08, 0.03, 1e-3, -5e-4, 0.002))
KINDS = ("shift", "turn", "bend")


def displacements(motion: Motion, noise_px: float, wrong: float = 0.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    at = rng.uniform((5, 5), (475, 346), (160, 2))
    by = motion.apply(at, CAMERA) - at + rng.normal(0, noise_px, at.shape)
    lost = rng.random(len(at)) < wrong
    by[lost] = rng.uniform(-20, 20, (int(lost.sum()), 2))
    return Displacements(at, by, np.broadcast_to(np.eye(2), (len(at), 2, 2)))


@pytest.mark.parametrize(
    "motion",
    [
        Motion("shift", (8.0, 5.0)),
        Motion("turn", (0.002, -0.003, 0.004)),
        Motion("turn", (0.01, 0.0, -0.01)),
        Motion("bend", (0.5, 1.0, -0.4, 0.2, 0.6, 0.3, 0.8, -0.7)),
    ],
)
def test_a_motion_is_found_among_wrong_displacements(motion):
    fit = fit_motion(displacements(motion, 0.1, wrong=0.3), CAMERA, near_px=0.7, kinds=KINDS)
    assert fit is not None
    assert fit.motion.kind == motion.kind
    far = np.linalg.norm(fit.motion.field(CAMERA) - motion.field(CAMERA), axis=1)
    assert far.max() < (0.15 if motion.kind == "bend" else 0.05)
    assert fit.following == pytest.approx(0.7, abs=0.1)
    assert fit.sigma_px == pytest.approx(0.1 / np.sqrt(112), rel=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_no_motion(seed):
    fit = fit_motion(displacements(STILL, 0.15, 0.1, seed), CAMERA, near_px=0.7, kinds=KINDS)
    assert fit is not None
    assert fit.motion == STILL
    assert np.hypot(*fit.shift_px) < 4 * fit.sigma_px


def test_a_component_that_may_be_0_is_0():
    fit = fit_motion(
        displacements(Motion("shift", (0.0, 0.3)), 0.1), CAMERA, near_px=0.7, kinds=("shift",)
    )
    assert fit is not None
    assert fit.motion.numbers[0] == 0.0
    assert fit.motion.numbers[1] == pytest.approx(0.3, abs=0.03)


def test_displacements_without_anything_in_common_are_no_motion():
    assert fit_motion(displacements(STILL, 0.1, wrong=1.0), CAMERA, near_px=0.7) is None
    few = displacements(STILL, 0.1)
    few = Displacements(few.at[:7], few.by[:7], few.information[:7])
    assert fit_motion(few, CAMERA, near_px=0.7) is None


@given(st.tuples(*[st.floats(-3, 3)] * 3))
@settings(max_examples=40, deadline=None)
def test_rotations_are_rotations(vector):
    turn = rotation_matrix(vector)
    assert np.allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1.0)
    assert np.allclose(turn @ np.array(vector), vector, atol=1e-12)


def test_a_turn_moves_the_centre_by_the_focal_length():
    # Turning the camera's axes by 0.01 about y moves a point ahead to x = sin(0.01).
    right, down = Motion("turn", (0.0, 0.01, 0.0)).apply(np.array([[241.0, 173.0]]), CAMERA)[0]
    assert right - 241.0 == pytest.approx(3.8, abs=0.01)
    assert down == pytest.approx(173.0, abs=0.01)


def test_a_moved_view_shows_the_same_things():
    rng = np.random.default_rng(1)
    view = RectifiedView(CAMERA, rotation_matrix((0.01, -0.02, 0.005)), CAMERA)
    way = (Motion("shift", (3.0, -2.0)), Motion("turn", (0.001, 0.002, 0.0)))
    places = rng.uniform(100, 250, (20, 2))
    there = moved_view(view, way).to_raw(places)
    assert np.array_equal(there, moved_along(view.to_raw(places), way, CAMERA))
    xs, ys = moved_view(view, way).raw_grid(slice(10, 12))
    assert np.allclose(
        np.stack([xs, ys], -1), moved_along(view.to_raw(view.grid(slice(10, 12))), way, CAMERA)
    )
    assert moved_view(view, ()) is view


def test_movements_survive_their_file():
    way = (Motion("shift", (3.0, -2.0)), Motion("turn", (0.001, 0.002, 0.0)))
    stored = Movements({"pattern/L": {"3": way}})
    again = Movements.from_json(stored.to_json())
    assert again.of("pattern", "L", "3") == way
    assert again.of("pattern", "L", "4") == ()
    assert again.of("passive", "R", "im0") == ()
    for broken in ({"kind": "jump", "numbers": []}, {"kind": "shift", "numbers": [1.0]}):
        with pytest.raises(ValueError, match="not a motion"):
            Motion.from_json(broken)
