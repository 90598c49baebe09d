"""Rows of both cameras: drifts since the calibration, from exact geometry."""

import numpy as np
import pytest
from tests.capture.register.drawn import exact_calibration

from depthgauge.capture.photographs.motion import Motion
from depthgauge.capture.rectify.pairs import balanced_pair
from depthgauge.capture.register.views import Rows, corrected, fit_drift
from depthgauge.geometry.projection import project, slopes_at


def rows_of(true, believed, noise_px=0.0):
    """Rows of points at many depths, photographed by the true cameras."""
    pair = balanced_pair(believed.cameras["L"], believed.cameras["R"], believed.pairs["LR"])
    width, height = pair.left.camera.size_px
    x, y = np.meshgrid(np.arange(20.0, width, 12), np.arange(6.0, height, 12))
    left = np.stack([x.ravel(), y.ravel()], -1)
    rng = np.random.default_rng(0)
    slopes = slopes_at(pair.left.to_raw(left), true.cameras["L"])
    ways = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
    pose = true.pairs["LR"]
    points = ways * rng.uniform(1, 3, (len(ways), 1)) @ pose.rotation.T + pose.translation_m
    right = pair.right.from_raw(project(points, true.cameras["R"]))
    inside = (right[:, 0] > 0) & (right[:, 0] < width)
    lower = right[:, 1] - left[:, 1] + rng.normal(0, noise_px, len(left))
    expected = np.stack([right[:, 0], left[:, 1]], -1)
    return Rows(left[inside], expected[inside], lower[inside]), pair


@pytest.mark.parametrize(
    "motion",
    [
        Motion("shift", (0.0, 1.0)),
        Motion("shift", (0.0, -0.3)),
        Motion("turn", (0.002, 0.0, 0.0)),
        Motion("turn", (0.002, 0.0, 0.003)),
        Motion("turn", (0.0005, 0.003, -0.001)),
    ],
)
def test_a_drift_is_found_and_taken_back(world, motion):
    true = exact_calibration(world.truth)
    believed = corrected(true, Motion(motion.kind, tuple(-n for n in motion.numbers)))
    rows, pair = rows_of(true, believed)
    drift = fit_drift(rows, pair.right)
    assert drift.motion.kind == motion.kind
    assert np.allclose(drift.motion.numbers, motion.numbers, rtol=0.03, atol=4e-5)
    after, _ = rows_of(true, corrected(believed, drift.motion))
    assert np.abs(rows.lower_px).max() > 0.2
    assert np.abs(after.lower_px).max() < 0.02


def test_noise_is_no_drift(world):
    true = exact_calibration(world.truth)
    rows, pair = rows_of(true, true, noise_px=0.01)
    drift = fit_drift(rows, pair.right)
    assert drift.most_px < 0.005
    assert drift.left_px == pytest.approx(0.6745 * 0.01, rel=0.2)


def test_the_other_cameras_stay_where_they_are(world):
    true = exact_calibration(world.truth)
    moved = corrected(true, Motion("turn", (0.0, 0.01, 0.0)))
    assert np.array_equal(moved.cameras["C"].matrix(), true.cameras["C"].matrix())
    assert np.allclose(moved.pairs["LR"].place_m, true.pairs["LR"].place_m)
    assert moved.pairs["LC"] is true.pairs["LC"]
