import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import WrongShape
from depthgauge.geometry.disparity import disparity_from_depth
from depthgauge.geometry.intrinsics import camera_from_pixels
from depthgauge.geometry.projection import rays
from depthgauge.geometry.surfaces import (
    curvature,
    hessian,
    normals_from_depth,
    normals_from_disparity,
)

CAMERA = camera_from_pixels((80.0, 90.0), 24, 18, centre_px=(10.0, 9.5))
LENS = camera_from_pixels(80.0, 24, 18, distortion=(-0.1, 0.02, 0.001, 0.002))


def plane_depth(camera, normal, distance):
    """Depth of the plane normal . P = -distance."""
    return -distance / (rays(camera).astype(np.float64) @ normal)


def unit(*vector):
    return np.array(vector) / np.linalg.norm(vector)


@pytest.mark.parametrize("camera", [CAMERA, LENS], ids=["pinhole", "lens"])
@pytest.mark.parametrize("normal", [unit(0, 0, -1), unit(0.3, 0.2, -1), unit(-0.8, 0.5, -1)])
def test_the_normals_of_a_plane_are_its_normal(camera, normal):
    found = normals_from_depth(plane_depth(camera, normal, 3.0), camera)
    inner = found[1:-1, 1:-1]
    np.testing.assert_allclose(inner, np.broadcast_to(normal, inner.shape), atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(inner, axis=-1), 1.0, atol=1e-6)


def test_the_border_has_no_normals():
    found = normals_from_depth(np.ones((18, 24)), CAMERA)
    inner = np.zeros((18, 24), bool)
    inner[1:-1, 1:-1] = True
    np.testing.assert_array_equal(np.isfinite(found).all(-1), inner)
    np.testing.assert_array_equal(np.isnan(found).all(-1), ~inner)


@pytest.mark.parametrize("bad", [np.nan, 0.0, -2.0, np.inf])
def test_a_missing_depth_takes_away_its_own_normal_and_four_more(bad):
    depth = np.ones((18, 24))
    depth[6, 7] = bad
    lost = np.isnan(normals_from_depth(depth, CAMERA)).any(-1)[1:-1, 1:-1]
    assert lost.sum() == 5
    assert lost[5, 6]
    assert lost[4, 6]
    assert lost[5, 7]


def test_normals_of_disparities_are_those_of_their_depth():
    normal = unit(0.4, -0.2, -1)
    depth = plane_depth(CAMERA, normal, 3.0)
    disparity = disparity_from_depth(depth, 80.0, 0.5, 4.0)
    found = normals_from_disparity(disparity, CAMERA, 0.5, 4.0)[1:-1, 1:-1]
    np.testing.assert_allclose(found, np.broadcast_to(normal, found.shape), atol=1e-4)


def test_a_sphere_looks_at_us_in_the_middle():
    slopes = rays(CAMERA).astype(np.float64)
    along = np.einsum("hwc,hwc->hw", slopes, slopes)
    middle = slopes @ np.array([0.0, 0.0, 5.0])
    depth = (middle - np.sqrt(middle**2 - along * (25.0 - 4.0))) / along
    points = slopes * depth[..., None]
    found = normals_from_depth(depth, CAMERA)[1:-1, 1:-1]
    expected = (points - (0.0, 0.0, 5.0)) / 2.0
    np.testing.assert_allclose(found, expected[1:-1, 1:-1], atol=2e-3)


@given(st.lists(st.integers(-8, 8), min_size=6, max_size=6))
def test_second_derivatives_are_exact_on_quadratics(coefficients):
    a, b, c, d, e, f = coefficients
    y, x = np.mgrid[-3:4, -4:5].astype(np.float64)
    found = hessian(a * x * x + b * x * y + c * y * y + d * x + e * y + f)
    np.testing.assert_array_equal(found[1:-1, 1:-1], np.broadcast_to([2 * a, b, 2 * c], (5, 7, 3)))
    assert np.isnan(found[0]).all()
    assert np.isnan(found[:, -1]).all()


def test_a_missing_pixel_takes_away_nine_second_derivatives():
    values = np.zeros((7, 8))
    values[3, 4] = np.nan
    lost = np.isnan(hessian(values))
    assert lost[1:-1, 1:-1].sum() == 27
    np.testing.assert_array_equal(lost.any(-1), lost.all(-1))
    np.testing.assert_array_equal(np.isnan(curvature(values)).all(-1), lost.all(-1))


def test_curvatures_are_the_eigenvalues_larger_magnitude_first():
    values = np.random.default_rng(0).normal(size=(9, 11)).astype(np.float32)
    second = hessian(values)[1:-1, 1:-1].astype(np.float64)
    matrices = np.stack([second[..., [0, 1]], second[..., [1, 2]]], axis=-2)
    expected = np.linalg.eigvalsh(matrices)
    order = np.argsort(-np.abs(expected), axis=-1)
    expected = np.take_along_axis(expected, order, axis=-1)
    found = curvature(values)[1:-1, 1:-1]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.dtype == np.float32


def test_tiny_maps_have_no_derivatives():
    assert np.isnan(hessian(np.ones((2, 2)))).all()
    assert np.isnan(normals_from_depth(np.ones((1, 1)), camera_from_pixels(9.0, 1, 1))).all()


def test_errors():
    with pytest.raises(WrongShape, match="the map is 3x2, the camera's image is 24x18"):
        normals_from_depth(np.ones((2, 3)), CAMERA)
    with pytest.raises(WrongShape, match=r"the map must be \(H, W\)"):
        hessian(np.ones((2, 3, 2)))
