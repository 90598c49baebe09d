"""EDist: hand numbers, a plain least-squares reference, and what alignment must not see."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.quality.clouds import cloud_distances, edist, fit_cloud, mean_distance
from depthgauge.errors import WrongShape
from depthgauge.types import Camera

CAMERA = Camera((60.0, 60.0), (5.5, 3.5), (12, 8))


def cloud(seed, shape=(8, 12)):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(*shape, 3))
    points[..., 2] = rng.uniform(1, 4, shape)
    return points.astype(np.float32)


def halves(shape=(8, 12)):
    labels = np.ones(shape, np.int32)
    labels[:, shape[1] // 2 :] = 7
    return labels


def reference(moving, fixed, labels):
    """Scales and translation from one big least-squares problem, mirrors allowed."""
    known = np.isfinite(moving).all(-1) & np.isfinite(fixed).all(-1) & (labels > 0)
    p, q, which = moving[known].astype(float), fixed[known].astype(float), labels[known]
    names = np.unique(which)
    matrix = np.zeros((3 * len(p), len(names) + 3))
    for row, (point, name) in enumerate(zip(p, which, strict=True)):
        matrix[3 * row : 3 * row + 3, np.flatnonzero(names == name)[0]] = point
        matrix[3 * row : 3 * row + 3, len(names) :] = np.eye(3)
    found = np.linalg.lstsq(matrix, q.ravel(), rcond=None)[0]
    left = (matrix @ found - q.ravel()).reshape(-1, 3)
    return dict(zip(names.tolist(), found, strict=False)), found[-3:], np.linalg.norm(left, axis=1)


def test_a_number_by_hand():
    # Two points at z = 1 and 2 on the axis, wanted at 1 and 4: scale 3, shift -2, nothing left.
    moving = np.array([[[0, 0, 1], [0, 0, 2]]], np.float32)
    fixed = np.array([[[0, 0, 1], [0, 0, 4]]], np.float32)
    fit = fit_cloud(moving, fixed)
    assert fit.scales[1] == pytest.approx(3)
    assert fit.shift_m == pytest.approx((0, 0, -2))
    assert cloud_distances(moving, fixed) == pytest.approx(0, abs=1e-6)
    # Three points at 1, 2, 3 wanted at 1, 3, 2: slope 1/2, shift 1; off by 0.5, 1, 0.5.
    moving = np.array([[[0, 0, 1], [0, 0, 2], [0, 0, 3]]], np.float32)
    fixed = np.array([[[0, 0, 1], [0, 0, 3], [0, 0, 2]]], np.float32)
    assert cloud_distances(moving, fixed)[0] == pytest.approx([0.5, 1.0, 0.5])


@pytest.mark.parametrize("surfaces", [None, halves()])
def test_against_one_large_least_squares_problem(surfaces):
    moving, fixed = cloud(1), cloud(2) * 0.3 + 2 * cloud(1)
    moving[0, 0], fixed[3, 4] = np.nan, np.nan
    labels = np.ones((8, 12), int) if surfaces is None else surfaces
    scales, shift, distances = reference(moving, fixed, labels)
    fit = fit_cloud(moving, fixed, surfaces)
    assert fit.scales == pytest.approx(scales, rel=1e-5)
    assert fit.shift_m == pytest.approx(tuple(shift), rel=1e-4, abs=1e-5)
    assert fit.count == 94
    found = cloud_distances(moving, fixed, surfaces)
    assert np.isnan(found[0, 0])
    assert np.isnan(found[3, 4])
    assert found[np.isfinite(found)] == pytest.approx(distances, rel=1e-4, abs=1e-5)


@given(
    st.integers(0, 1000),
    st.floats(0.1, 10),
    st.tuples(*[st.floats(-5, 5)] * 3),
)
def test_a_global_scale_and_translation_are_aligned_away(seed, scale, shift):
    points = cloud(seed)
    assert mean_distance(cloud_distances(points, scale * points + np.float32(shift))) < 1e-4


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(0.1, 10))
def test_scales_of_surfaces_are_aligned_away(seed, first, second):
    points, labels = cloud(seed), halves()
    scaled = points * np.where(labels == 1, first, second)[..., None].astype(np.float32)
    assert mean_distance(cloud_distances(scaled, points, labels)) < 2e-4
    # The translation is one for all: moving the fixed cloud as a whole changes nothing.
    assert mean_distance(cloud_distances(scaled, points + np.float32(1), labels)) < 2e-4


@given(st.integers(0, 1000))
def test_finer_alignment_never_has_larger_squares(seed):
    moving, fixed = cloud(seed), cloud(seed + 1)
    one, each = (cloud_distances(moving, fixed, s).astype(float) for s in (None, halves()))
    assert (each**2).sum() <= (one**2).sum() * (1 + 1e-6)


def test_one_surface_is_the_same_as_none():
    moving, fixed = cloud(3), cloud(4) + cloud(3)
    one = np.full((8, 12), 9)
    assert np.allclose(cloud_distances(moving, fixed, one), cloud_distances(moving, fixed))


def test_a_cloud_is_not_mirrored():
    moving = cloud(5)
    fixed = -moving
    assert fit_cloud(moving, fixed).scales == {1: 0.0}
    # A scale of 0 leaves the distance to the mean, the best that is not a mirror.
    spread = np.linalg.norm(fixed - fixed.reshape(-1, 3).mean(0), axis=-1)
    assert cloud_distances(moving, fixed) == pytest.approx(spread, rel=1e-4)


def test_one_mirrored_surface_does_not_disturb_the_best_of_the_others():
    from scipy.optimize import minimize

    labels, moving = halves(), cloud(6)
    fixed = np.where((labels == 1)[..., None], -0.5 * moving, 2 * moving).astype(np.float32)

    def squares(v):
        scale = np.where(labels == 1, v[0], v[1])[..., None]
        return float(((scale * moving + v[2:] - fixed) ** 2).sum())

    best = minimize(squares, [0.5, 1, 0, 0, 0], bounds=[(0, None)] * 2 + [(None, None)] * 3)
    fit = fit_cloud(moving, fixed, labels)
    assert min(fit.scales.values()) >= 0
    found = squares([fit.scales[1], fit.scales[7], *fit.shift_m])
    assert found == pytest.approx(best.fun, rel=1e-5)


def test_degenerate_clouds_have_the_smallest_translation():
    point = np.array([[[0, 0, 2]]], np.float32)
    fit = fit_cloud(point, 3 * point)
    assert fit.scales[1] == pytest.approx(3)
    assert fit.shift_m == pytest.approx((0, 0, 0))
    nothing = np.full((2, 2, 3), np.nan, np.float32)
    assert fit_cloud(nothing, nothing).count == 0
    assert math.isnan(mean_distance(cloud_distances(nothing, nothing)))


def test_edist_of_depth_maps_and_regions():
    depth = np.random.default_rng(0).uniform(1, 3, (8, 12)).astype(np.float32)
    other = Camera((30.0, 30.0), (5.5, 3.5), (12, 8))
    assert edist(5 * depth, CAMERA, depth, CAMERA) < 1e-5
    assert edist(5 * depth, other, depth, CAMERA) > 1e-3  # another focal length bends the cloud
    noisy = depth.copy()
    noisy[2, 3] += 0.5
    region = np.zeros((8, 12), bool)
    region[2, 3] = True
    inside = edist(noisy, CAMERA, depth, CAMERA, region=region)
    outside = edist(noisy, CAMERA, depth, CAMERA, region=~region)
    assert inside > 20 * outside > 0
    assert math.isnan(edist(depth, CAMERA, depth, CAMERA, region=np.zeros((8, 12), bool)))


def test_sizes_must_agree():
    with pytest.raises(WrongShape, match="the same size"):
        fit_cloud(cloud(0), cloud(0, (4, 4)))
    with pytest.raises(WrongShape, match="one number per pixel"):
        fit_cloud(cloud(0), cloud(1), np.ones((3, 3), int))
