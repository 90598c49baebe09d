"""Shapes: closed, smooth where they are, and of the right size."""

import numpy as np
import pytest

from depthgauge.synth.scene import mesh as meshes


def volume(mesh):
    """Of a closed body, by the divergence theorem; negative where it is inside out."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def open_edges(mesh):
    """Edges that do not join two triangles of opposite direction; positions, not numbers."""
    rounded = np.round(mesh.vertices, 9) + 0.0
    _, same = np.unique(rounded, axis=0, return_inverse=True)
    corners = same.reshape(-1)[mesh.triangles]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    there = set(map(tuple, edges.tolist()))
    return sum((b, a) not in there for a, b in there)


BODIES = {
    "box": (meshes.box(0.2, 0.3, 0.1), 0.006),
    "ball": (meshes.ball(0.1, around=128), 4 / 3 * np.pi * 0.001),
    "lathe": (
        meshes.lathe([(0, 0), (0.05, 0), (0.05, 0), (0.05, 0.2), (0.05, 0.2), (0, 0.2)], smooth=0),
        np.pi * 0.0025 * 0.2,
    ),
    "tube": (
        meshes.tube(np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0.0]]), 0.01, 64),
        np.pi * 0.0001 * 0.2,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_closed_and_have_their_volume(name):
    mesh, expected = BODIES[name]
    assert open_edges(mesh) == 0
    assert volume(mesh) == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("name", BODIES)
def test_normals_point_outside(name):
    mesh, _ = BODIES[name]
    corners = mesh.vertices[mesh.triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", face, mesh.normals[mesh.triangles].sum(axis=1)) > 0).all()
    used = np.unique(mesh.triangles)
    assert np.linalg.norm(mesh.normals[used], axis=1) == pytest.approx(1.0)


def test_a_ball_is_smooth():
    mesh = meshes.ball(0.1)
    radial = mesh.vertices - np.array([0, -0.1, 0])
    cosine = np.einsum("ij,ij->i", radial, mesh.normals) / 0.1
    assert cosine.min() > 0.99


def test_turning_and_moving_is_rigid():
    mesh = meshes.box(0.1, 0.2, 0.3)
    moved = mesh.turned(30).turned(-20, "x").moved(1, 2, 3)
    assert volume(moved) == pytest.approx(volume(mesh))
    assert meshes.rotation(90, "y") @ [0, 0, 1] == pytest.approx([1, 0, 0])


def test_joining_keeps_all_triangles():
    one, two = meshes.box(0.1, 0.1, 0.1), meshes.ball(0.1)
    both = meshes.join([one, two])
    assert len(both.triangles) == len(one.triangles) + len(two.triangles)
    assert volume(both) == pytest.approx(volume(one) + volume(two))


def test_a_sheet_keeps_its_points():
    x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 4), indexing="ij")
    mesh = meshes.sheet(np.stack([x, y, 0 * x], -1))
    assert len(mesh.triangles) == 2 * 4 * 3
    assert np.abs(mesh.normals[:, 2]) == pytest.approx(1.0)
    assert mesh.uv.max(axis=0) == pytest.approx([1.0, 1.0])
