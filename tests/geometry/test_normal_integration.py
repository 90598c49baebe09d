"""Depth from normals: planes, spheres, folds, cuts, and what faces away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry import integrate_normals, normals_from_depth, rays
from depthgauge.geometry.normal_integration import faced, log_depth_steps
from depthgauge.types import Camera


def camera_of(width, height, focal=None):
    focal = focal or 1.1 * width
    return Camera((focal, focal), ((width - 1) / 2, (height - 1) / 2), (width, height))


def plane(camera, normal):
    """Depth of a plane through (0, 0, 2), or NaN behind."""
    directions = rays(camera).astype(np.float64)
    below = directions @ np.asarray(normal)
    return np.where(below < 0, 2 * normal[2] / below, np.nan)


def sphere(camera, centre=(0.1, 0.0, 3.0), radius=0.8):
    r = rays(camera).astype(np.float64)
    b, a = r @ np.array(centre), (r * r).sum(axis=-1)
    inside = b * b - a * (np.dot(centre, centre) - radius**2)
    t = np.where(inside > 0, (b - np.sqrt(np.maximum(inside, 0))) / a, np.nan)
    return t, (t[..., None] * r - centre) / radius


def log_error(found, truth, where):
    difference = np.log(found[where].astype(np.float64)) - np.log(truth[where])
    return difference - difference.mean()


def test_two_pixels_of_a_slanted_plane_by_hand():
    """Rays (0, 0, 1) and (0.1, 0, 1), normal (1, 0, -2): z is 2 / 2 and 2 / 1.9."""
    camera = Camera((10.0, 10.0), (0.0, 0.0), (2, 1))
    depth = integrate_normals(np.broadcast_to([1.0, 0.0, -2.0], (1, 2, 3)), camera).depth
    assert depth[0, 1] / depth[0, 0] == pytest.approx(2 / 1.9, rel=1e-6)
    assert depth[0, 0] * depth[0, 1] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_step_over_a_fold_goes_its_share_on_either_side(share):
    """Rays (0, 0, 1), (0.1, 0, 1), normals (1, 0, -2), (0, 0, -1): steps of ln(2 / 1.9) and 0."""
    camera = Camera((10.0, 10.0), (0.0, 0.0), (2, 1))
    normals = np.array([[[1.0, 0.0, -2.0], [0.0, 0.0, -1.0]]])
    folds = np.array([[share, np.nan]]), np.full((1, 2), np.nan)
    right, down = log_depth_steps(normals, camera, folds)
    assert right[0, 0] == pytest.approx(share * np.log(2 / 1.9))
    assert not down.any()
    plain, _ = log_depth_steps(normals, camera)
    assert plain[0, 0] == pytest.approx(np.log(3 / 2.9))


@given(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(0.7, 3.0))
def test_planes_are_exact(x, y, focal_widths):
    camera = camera_of(48, 36, focal_widths * 48)
    truth = plane(camera, (x, y, -1.0))
    normals = np.broadcast_to([x, y, -1.0], (36, 48, 3))
    lengths = np.sqrt((rays(camera) ** 2).sum(axis=-1))
    facing = -(rays(camera) @ np.array([x, y, -1.0])) / lengths / np.sqrt(x * x + y * y + 1)
    mask = facing > 0.06
    found = integrate_normals(normals, camera, mask)
    assert found.residual <= 1e-8
    assert np.abs(log_error(found.depth, truth, mask)).max() < 1e-6
    assert np.isnan(found.depth[~mask]).all()


def test_a_sphere_is_exact_where_it_faces_the_viewer_and_converges_at_its_outline():
    errors = []
    for size in (60, 120, 240):
        camera = camera_of(size, size)
        truth, normals = sphere(camera)
        on = np.isfinite(truth)
        found = integrate_normals(normals, camera, least_facing=0.3)
        cosine = -(normals * rays(camera)).sum(-1) / np.sqrt((rays(camera) ** 2).sum(-1))
        errors.append(np.abs(log_error(found.depth, truth, on & (cosine > 0.35))).mean())
        assert np.abs(log_error(found.depth, truth, on)).mean() < 2e-3
    assert errors[1] < errors[0] / 2
    assert errors[2] < errors[1] / 2
    camera = camera_of(40, 40)
    truth, normals = sphere(camera)
    exact = integrate_normals(normals, camera, least_facing=0.01)
    assert np.abs(log_error(exact.depth, truth, np.isfinite(truth))).max() < 1e-6


def test_the_scale_of_the_scene_and_the_length_of_normals_do_not_matter():
    camera = camera_of(50, 40)
    truth = plane(camera, (0.4, -0.3, -1.0))
    normals = normals_from_depth(truth, camera)
    inside = np.isfinite(normals[..., 0])
    one = integrate_normals(normals, camera).depth
    other = integrate_normals(7.5 * normals, camera).depth
    np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(np.log(one[inside].astype(np.float64)).mean(), 0, atol=1e-6)
    np.testing.assert_allclose(
        integrate_normals(normals_from_depth(9 * truth, camera), camera).depth, one, rtol=1e-4
    )


def test_what_is_cut_is_apart_and_each_part_has_its_own_scale():
    camera = camera_of(20, 10)
    normals = np.tile([0.0, 0.0, -1.0], (10, 20, 1))
    right, down = np.ones((10, 20), bool), np.ones((10, 20), bool)
    right[:, 9] = False
    found = integrate_normals(normals, camera, links=(right, down))
    assert set(np.unique(found.parts)) == {1, 2}
    assert found.parts[0, 9] != found.parts[0, 10]
    np.testing.assert_allclose(found.depth, 1, rtol=1e-6)


def test_lone_pixels_have_depth_one_and_missing_ones_none():
    normals = np.full((3, 3, 3), np.nan)
    normals[0, 0] = normals[2, 2] = (0.5, 0, -1)
    normals[1, 1] = 0
    found = integrate_normals(normals, camera_of(3, 3))
    np.testing.assert_array_equal(
        np.isfinite(found.depth), np.eye(3, dtype=bool) & ~(np.eye(3)[1] * np.eye(3) > 0)
    )
    assert found.depth[0, 0] == found.depth[2, 2] == 1
    assert found.parts.max() == 2
    nothing = integrate_normals(np.full((3, 3, 3), np.nan), camera_of(3, 3))
    assert np.isnan(nothing.depth).all()
    assert not nothing.parts.any()


@given(st.integers(0, 10**6), st.floats(0.01, 0.9))
def test_turned_normals_face_the_viewer_and_stay_in_the_plane_of_ray_and_normal(seed, least):
    rng = np.random.default_rng(seed)
    camera = camera_of(6, 5, 4.0)
    normals = rng.normal(size=(5, 6, 3))
    found = faced(normals, camera, least)
    directions = rays(camera).astype(np.float64)
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1)
    assert (-(found * directions).sum(-1) >= least - 1e-9).all()
    unit = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    kept = -(unit * directions).sum(-1) >= least
    np.testing.assert_allclose(found[kept], unit[kept])
    across = np.cross(unit, directions)
    np.testing.assert_allclose((found * across).sum(-1), 0, atol=1e-6)


def test_a_normal_straight_away_is_turned_too():
    camera = camera_of(3, 3)
    normals = rays(camera).astype(np.float64)
    found = faced(normals, camera, 0.3)
    assert np.isfinite(found).all()
    assert np.isfinite(integrate_normals(normals, camera).depth).all()


def test_bad_input():
    camera, normals = camera_of(4, 3), np.tile([0.0, 0.0, -1.0], (3, 4, 1))
    with pytest.raises(WrongShape, match="normals are"):
        integrate_normals(normals[..., 0], camera)
    with pytest.raises(WrongShape):
        integrate_normals(normals[:2], camera)
    with pytest.raises(WrongShape, match="the mask is"):
        integrate_normals(normals, camera, np.ones((4, 3), bool))
    with pytest.raises(WrongShape, match="the links downwards"):
        integrate_normals(normals, camera, links=(np.ones((3, 4), bool), np.ones((4, 3), bool)))
    with pytest.raises(Misuse, match="between 0 and 1"):
        integrate_normals(normals, camera, least_facing=0.0)
