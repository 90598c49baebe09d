"""The room of `ground-plane`: hand-computed points, plane equations, and real pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.errors import Misuse, Unavailable
from depthgauge.geometry.alignment import apply_alignment, fit_alignment
from depthgauge.methods import find_method
from depthgauge.types import Camera, Inputs, Rig

WIDTH, HEIGHT = 64, 48
PLAIN = "height_m=1,pitch_deg=0,wall_m=4,half_width_m=3,ceiling_m=2"


def rig(baseline_m=0.1, offset_px=0.0, focal_px=32.0, centre_px=(32.0, 24.0)):
    camera = Camera((focal_px, focal_px), centre_px, (WIDTH, HEIGHT))
    return Rig({"left": camera}, baseline_m, offset_px)


def made(text="ground-plane", quantity="depth", size=(HEIGHT, WIDTH), **items):
    inputs = {"left_image": np.zeros((*size, 3), np.uint8), "quantity": quantity, **items}
    return find_method(text).estimate(Inputs(inputs), quantity).values


def test_floor_ceiling_walls_of_a_camera_that_looks_straight_ahead():
    depth = made(f"ground-plane:{PLAIN}", rig=rig())
    assert depth.dtype == np.float32
    assert depth[24, 32] == 4  # the wall ahead
    assert depth[40, 32] == 2  # 16 px below the horizon: 1 m down at half a metre a metre
    assert depth[24, 62] == pytest.approx(3 / (30 / 32))  # the wall at the right
    assert depth[24, 2] == pytest.approx(3 / (30 / 32))  # and at the left
    assert depth[0, 32] == pytest.approx(2 / (24 / 32))  # the ceiling
    assert depth[32, 32] == 4  # the floor is farther there than the wall


@given(
    st.floats(-60, 60),
    st.floats(0.2, 3),
    st.floats(0.5, 8),
    st.floats(0.5, 8),
    st.floats(0.2, 4),
)
def test_every_point_lies_on_a_wall_and_none_outside_the_room(pitch, height, wall, side, ceiling):
    options = (
        f"height_m={height},pitch_deg={pitch},wall_m={wall},half_width_m={side},ceiling_m={ceiling}"
    )
    depth = made(f"room=ground-plane:{options}", rig=rig()).astype(np.float64)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    points = np.stack([(x - 32) / 32, (y - 24) / 32, np.ones_like(x)], axis=2) * depth[..., None]
    angle = math.radians(pitch)
    down = points @ [0, math.cos(angle), math.sin(angle)]
    ahead = points @ [0, -math.sin(angle), math.cos(angle)]
    beyond = [down / height, -down / ceiling, ahead / wall, np.abs(points[..., 0]) / side]
    assert np.allclose(np.maximum.reduce(beyond), 1, atol=1e-5)
    assert (depth > 0).all()


def test_without_a_camera_the_field_of_view_says_the_focal_length():
    depth = made(f"ground-plane:{PLAIN},field_of_view_deg=90", size=(49, 65))
    assert depth[24, 32] == 4
    # The focal length is 32.5 px: the last row is 24 px below the middle.
    assert depth[48, 32] == pytest.approx(1 / (24 / 32.5))


def test_disparity_in_px_of_a_rig():
    depth = made(rig=rig(0.2, 3.0))
    disparity = made(quantity="disparity", rig=rig(0.2, 3.0))
    assert np.allclose(disparity, 32 * 0.2 / depth - 3, atol=1e-5)


def test_disparity_stays_within_the_range_of_a_sample():
    free = made(quantity="disparity", rig=rig(0.2))
    low, high = np.quantile(free, [0.2, 0.8])
    kept = made(quantity="disparity", rig=rig(0.2), disparity_range=(low, high))
    assert np.allclose(kept, np.clip(free, low, high))


def test_without_a_baseline_inverse_depth_fills_the_range():
    inverse = 1 / made(rig=rig())
    share = (inverse - inverse.min()) / np.ptp(inverse)
    for items in ({}, {"rig": rig(math.nan)}):
        values = made(quantity="disparity", disparity_range=(10, 40), **items)
        assert (values.min(), values.max()) == (10, 40)
        if items:
            assert np.allclose(values, 10 + 30 * share, atol=1e-4)


def test_relative_inverse_depth():
    inverse = np.reciprocal(made(rig=rig()))
    asked = made("ground-plane:relative=true", "disparity", rig=rig(), disparity_range=(1, 9))
    assert np.array_equal(asked, inverse)
    nothing_known = made(quantity="disparity")
    assert np.array_equal(nothing_known, np.reciprocal(made()))


def test_a_room_of_one_value_spreads_nowhere():
    values = made(quantity="disparity", size=(1, 1), disparity_range=(3, 9))
    assert np.array_equal(values, [[3]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("height_m=0", "height_m"),
        ("pitch_deg=90", "pitch_deg"),
        ("wall_m=-1", "wall_m"),
        ("field_of_view_deg=180", "field_of_view_deg"),
    ],
)
def test_rooms_that_are_none(text, expected):
    with pytest.raises(Misuse, match=expected):
        find_method(f"ground-plane:{text}")


def test_what_it_cannot_do():
    with pytest.raises(Misuse, match="estimates depth and disparity, but flow is wanted"):
        made(quantity="flow")
    with pytest.raises(Unavailable, match="none among the inputs"):
        find_method("ground-plane").estimate(Inputs({"quantity": "depth"}), "depth")


def _nyu(shared):
    return np.load(shared("data/rgbd-nyu-fastdepth") / "depth.npy")


def _motorcycle(shared):
    with np.load(shared("data/middlebury-motorcycle") / "motorcycle_disp.npz") as file:
        disparity = np.where(np.isfinite(file["arr_0"]), file["arr_0"], np.nan)
    return (994.978 * 0.193001 / (disparity + 31.086)).astype(np.float32)


def _cones(shared):
    values = io.read_image(shared("data/middlebury-classic") / "cones" / "disp2.png")
    values = values if values.ndim == 2 else values[..., 0]
    return np.where(values > 0, 1000 / np.maximum(values, 1), np.nan).astype(np.float32)


@pytest.mark.parametrize("read", [_nyu, _motorcycle, _cones])
def test_it_is_better_than_a_constant_on_real_scenes(read, shared):
    """After scale and shift; the best constant is the truth's mean."""
    truth = read(shared)
    known = np.isfinite(truth)
    room = made(size=truth.shape)
    found = fit_alignment(room, truth, kind="scale_shift", space="depth", quantity="depth")
    assert found.scale > 0  # far is far
    aligned = apply_alignment(room, found, "depth")[known]
    mean = np.full_like(aligned, truth[known].mean())

    def relative(values):
        return float((np.abs(values - truth[known]) / truth[known]).mean())

    assert relative(aligned) < 0.75 * relative(mean)
