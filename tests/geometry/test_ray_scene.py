"""Rays against triangles: hand numbers, an independent search, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import WrongShape
from depthgauge.geometry.ray_scene import RayScene

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")

SQUARE = np.array([[-1.0, -1, 2], [1, -1, 2], [1, 1, 2], [-1, 1, 2]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


def searched(vertices, triangles, origin, way):
    """The nearest hit by trying each triangle (Moller and Trumbore), in float64."""
    nearest, which = np.inf, -1
    for number, (a, b, c) in enumerate(vertices[triangles]):
        e1, e2 = b - a, c - a
        p = np.cross(way, e2)
        determinant = e1 @ p
        if abs(determinant) < 1e-12:
            continue
        u = (origin - a) @ p / determinant
        q = np.cross(origin - a, e1)
        v, t = way @ q / determinant, e2 @ q / determinant
        if u >= 0 and v >= 0 and u + v <= 1 and 0 < t < nearest:
            nearest, which = t, number
    return nearest, which


def test_a_square_two_metres_away():
    scene = RayScene(SQUARE, TWO)
    hits = scene.cast(np.zeros(3), np.array([[0.1, 0, 1], [0, 0, 4.0], [3, 0, 1], [0, 0, -1]]))
    assert hits.distance[:2].tolist() == [2.0, 0.5]  # in lengths of the direction
    assert np.isnan(hits.distance[2:]).all()
    assert (hits.triangle[2:] == -1).all()
    assert hits.triangle.dtype == np.int32


def test_distances_are_exact_beyond_float32():
    """The search is in float32; the answer is not."""
    far = SQUARE + np.array([0, 0, 1 / 3])
    scene = RayScene(far, TWO)
    ways = np.stack([*np.random.default_rng(0).uniform(-0.3, 0.3, (2, 500)), np.ones(500)], -1)
    hits = scene.cast(np.zeros(3), ways)
    assert np.abs(hits.distance - (2 + 1 / 3)).max() < 1e-14


def test_normals_follow_the_order_of_corners():
    scene = RayScene(SQUARE, np.array([[0, 1, 2], [2, 1, 0], [0, 0, 1]]))
    normals = scene.normals()
    assert normals[:2].tolist() == [[0, 0, 1], [0, 0, -1]]
    assert np.isnan(normals[2]).all()


def test_sees_leaves_out_the_target_itself():
    near = np.concatenate([SQUARE, SQUARE * (0.2, 0.2, 0.5)])
    scene = RayScene(near, np.concatenate([TWO, TWO + 4]))
    targets = np.array([[0.0, 0, 2], [0.9, 0.9, 2], [0.0, 0, 1], [np.nan, 0, 1]])
    assert scene.sees(np.zeros(3), targets).tolist() == [False, True, True, False]
    # A large gap leaves out what is before the target, too.
    assert scene.sees(np.zeros(3), targets, gap_m=1.5).tolist() == [True, True, True, False]


def test_a_ray_with_nan_hits_nothing():
    hits = RayScene(SQUARE, TWO).cast(np.zeros(3), np.array([[np.nan, 0, 1], [0.1, 0, 1]]))
    assert hits.triangle.tolist()[0] == -1
    assert hits.distance[1] == 2.0


@given(st.integers(0, 2**32 - 1))
def test_the_nearest_of_random_triangles_is_found(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(-1, 1, (15, 3)) + np.array([0, 0, 3])
    triangles = np.arange(15).reshape(5, 3)
    ways = np.concatenate([rng.uniform(-0.3, 0.3, (20, 2)), np.ones((20, 1))], axis=1)
    hits = RayScene(vertices, triangles).cast(np.zeros(3), ways)
    for way, distance, triangle in zip(ways, hits.distance, hits.triangle, strict=True):
        nearest, which = searched(vertices, triangles, np.zeros(3), way)
        if which != triangle:
            # On an edge float32 may decide otherwise; then the other hit is as good or none is.
            grown = vertices.reshape(5, 3, 3)
            grown = grown + 1e-5 * (grown - grown.mean(axis=1, keepdims=True))
            shrunk = vertices.reshape(5, 3, 3) * 2 - grown
            found = {
                searched(v.reshape(-1, 3), triangles, np.zeros(3), way)[1] for v in (grown, shrunk)
            }
            assert triangle in found
        elif which >= 0:
            assert distance == pytest.approx(nearest, rel=1e-9)


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        (np.zeros((3, 2)), TWO, r"vertices must be \(V, 3\)"),
        (SQUARE, np.zeros((0, 3), int), r"triangles must be \(F, 3\)"),
        (SQUARE, np.array([[0, 1, 4]]), "does not exist"),
        (SQUARE, np.array([[0, 1, -1]]), "does not exist"),
    ],
)
def test_what_is_no_mesh_is_refused(vertices, triangles, message):
    with pytest.raises(WrongShape, match=message):
        RayScene(vertices, triangles)


def test_without_embree_the_extra_is_named(monkeypatch):
    import sys

    from depthgauge.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "embreex.mesh_construction", None)
    with pytest.raises(MissingExtra, match=r"depthgauge\[render\]"):
        RayScene(SQUARE, TWO)
