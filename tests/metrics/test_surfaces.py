"""Angles between surfaces: hand numbers, references, what does not matter to them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from scenes import make_scene, score, value

from depthgauge.errors import Unavailable
from depthgauge.geometry import rays
from depthgauge.metrics.surfaces import angle_map
from depthgauge.types import Camera, Rig

SIZE = (31, 21)
CAMERA = Camera((40.0, 40.0), (15.0, 10.0), SIZE)
ITEMS = {"rig": Rig({"left": CAMERA}, baseline_m=0.5), "quantity": "depth"}


def plane(normal, distance=5.0):
    """Depth of the plane n . P = -distance, n pointing to the viewer."""
    normal = np.asarray(normal, np.float64) / np.linalg.norm(normal)
    return (-distance / (rays(CAMERA).astype(np.float64) @ normal)).astype(np.float32)


@pytest.mark.parametrize("angle", [0.0, 0.01, 1.0, 10.0, 45.0])
@pytest.mark.parametrize("name", ["angular_error", "median_angular_error"])
def test_a_plane_that_is_turned_is_off_by_the_angle(name, angle):
    turned = plane([math.sin(math.radians(angle)), 0, -math.cos(math.radians(angle))])
    assert value(name, turned, plane([0, 0, -1]), ITEMS) == pytest.approx(angle, abs=5e-3)


def test_all_pixels_of_a_turned_plane_are_over_a_smaller_angle():
    turned = plane([0, math.sin(math.radians(8)), -math.cos(math.radians(8))])
    flat = plane([0, 0, -1])
    assert value("angular_badpix", turned, flat, ITEMS, degrees=7.9) == 100
    assert value("angular_badpix", turned, flat, ITEMS, degrees=8.1) == 0
    assert value("angular_badpix", turned, flat, ITEMS) == 100


def test_a_plane_that_is_moved_is_not_off():
    """The point of the metric: no depth is right and every normal is."""
    normal = [0.2, -0.1, -1]
    assert value("angular_error", plane(normal, 9.0), plane(normal), ITEMS) < 2e-3


@given(seed=seeds)
def test_angles_agree_with_a_reference(seed):
    """Cross products of back-projected neighbours and the arc cosine, in float64."""
    estimate, truth, items = make_scene(seed, "depth")

    def normals(depth):
        points = depth[..., None].astype(np.float64) * rays(items["rig"].cameras["left"])
        along_x = points[1:-1, 2:] - points[1:-1, :-2]
        along_y = points[2:, 1:-1] - points[:-2, 1:-1]
        n = np.cross(along_y, along_x)
        n /= np.linalg.norm(n, axis=-1, keepdims=True)
        n[np.isnan(depth[1:-1, 1:-1])] = np.nan
        return n

    a, r = normals(estimate), normals(truth)
    angles = np.degrees(np.arccos(np.clip((a * r).sum(-1), -1, 1)))
    known = np.isfinite(r[..., 0]) & np.isfinite(truth[1:-1, 1:-1])
    used = angles[known & np.isfinite(angles)]
    lost = int(known.sum()) - used.size
    found, state = score("angular_error", estimate, truth, items, missing="skip")
    assert (state.count, state.missing) == (used.size, lost)
    assert found == pytest.approx(used.mean(), abs=2e-3)
    bad = (used.sum() + 180 * lost) / (used.size + lost)
    assert value("angular_error", estimate, truth, items) == pytest.approx(bad, abs=2e-3)
    every = np.concatenate([used, np.full(lost, 180.0)])
    median = value("median_angular_error", estimate, truth, items)
    assert median == pytest.approx(np.median(every), abs=2e-3)
    skipped = value("median_angular_error", estimate, truth, items, missing="skip")
    assert skipped == pytest.approx(np.median(used), abs=2e-3)
    perfect = np.concatenate([used, np.zeros(lost)])
    good = value("median_angular_error", estimate, truth, items, missing="good")
    assert good == pytest.approx(np.median(perfect), abs=2e-3)


def test_disparity_is_judged_by_its_depth():
    rig = Rig({"centre": CAMERA}, baseline_m=0.5, principal_offset_px=2.0)
    a, r = plane([0.3, 0, -1]), plane([0, 0.2, -1])
    disparities = [(40.0 * 0.5 / depth - 2.0).astype(np.float32) for depth in (a, r)]
    by_depth = value("angular_error", a, r, ITEMS)
    found = value("angular_error", *disparities, {"rig": rig, "quantity": "disparity"})
    assert found == pytest.approx(by_depth, abs=1e-2)


def test_a_disparity_that_is_not_positive_has_no_surface():
    truth = np.full((21, 31), 8.0, np.float32)
    estimate = truth.copy()
    estimate[10, 10] = -1.0
    _, state = score("angular_error", estimate, truth, {**ITEMS, "quantity": "disparity"})
    assert (state.count, state.missing) == (19 * 29 - 5, 5)


def test_a_missing_estimate_takes_its_neighbours_normals():
    truth = plane([0, 0, -1])
    estimate = truth.copy()
    estimate[10, 10] = np.nan
    found, state = score("angular_error", estimate, truth, ITEMS)
    assert (state.count, state.missing) == (19 * 29 - 5, 5)
    assert found == pytest.approx(180 * 5 / (19 * 29))


def test_unknown_truth_is_not_missing():
    truth = plane([0, 0, -1])
    estimate = truth.copy()
    truth[10, 10] = np.nan
    _, state = score("angular_error", estimate, truth, ITEMS)
    assert (state.count, state.missing) == (19 * 29 - 5, 0)


def test_a_rig_without_a_baseline_gives_no_normals_of_disparities():
    truth = np.full((21, 31), 8.0, np.float32)
    items = {"rig": Rig({"left": CAMERA}), "quantity": "disparity"}
    with pytest.raises(Unavailable, match="baseline"):
        score("angular_error", truth, truth, items)
    assert value("angular_error", truth, truth, {**items, "quantity": "depth"}) == 0


# --- without a camera


@pytest.mark.parametrize(
    ("slopes", "expected"),
    [
        ((1, 0), 45.0),
        ((0, -1), 45.0),
        ((3**0.5, 0), 60.0),
        ((1, 1), math.degrees(math.atan(2**0.5))),
    ],
)
def test_slopes_by_hand(slopes, expected):
    y, x = np.mgrid[0:5, 0:6].astype(np.float32)
    steep = slopes[0] * x + slopes[1] * y
    assert value("surface_angle", steep, np.zeros_like(x), {}) == pytest.approx(expected, rel=1e-5)
    assert value("surface_angle", np.zeros_like(x), steep, {}) == pytest.approx(expected, rel=1e-5)
    moved = (steep + 100).astype(np.float32)
    assert value("surface_angle", moved, steep, {}) == pytest.approx(0, abs=1e-3)


@given(seed=seeds, missing=st.sampled_from([0.0, 0.1]))
def test_slopes_agree_with_a_reference(seed, missing):
    estimate, truth, _ = make_scene(seed, missing=missing)

    def normals(z):
        dy, dx = np.gradient(z.astype(np.float64))
        n = np.stack([-dx, -dy, np.ones_like(dx)], -1)[1:-1, 1:-1]
        n[np.isnan(z[1:-1, 1:-1])] = np.nan
        return n / np.linalg.norm(n, axis=-1, keepdims=True)

    a, r = normals(estimate), normals(truth)
    angles = np.degrees(np.arccos(np.clip((a * r).sum(-1), -1, 1)))
    known = np.isfinite(r[..., 0])
    used = angles[known & np.isfinite(angles)]
    found, state = score("surface_angle", estimate, truth, {}, missing="skip")
    assert (state.count, state.missing) == (used.size, int(known.sum()) - used.size)
    assert found == pytest.approx(used.mean(), abs=1e-4)


def test_the_map_shows_the_angles():
    turned = plane([math.sin(0.2), 0, -math.cos(0.2)])
    shown = angle_map(turned, plane([0, 0, -1]), ITEMS["rig"], "depth")
    assert np.isnan(shown[0]).all()
    assert shown[1:-1, 1:-1] == pytest.approx(math.degrees(0.2), abs=1e-2)
