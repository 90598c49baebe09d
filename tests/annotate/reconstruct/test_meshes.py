"""Meshes: no triangle bridges an occlusion, all turn to the viewer, files come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.annotate.drawn import annotation, ball_before_wall

from depthgauge.annotate.reconstruct import meshes
from depthgauge.annotate.reconstruct.meshes import mesh_of, mesh_step, points_of, write_mesh
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import Stroke
from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.io import read_ply


@pytest.fixture(scope="module")
def ball():
    return reconstruct(ball_before_wall())


def test_a_plain_region_has_two_triangles_for_each_four_pixels():
    mesh = mesh_of(reconstruct(annotation(7, 5, 10.0)))
    assert mesh.points.shape == (35, 3)
    assert mesh.faces.shape == (2 * 6 * 4, 3)
    np.testing.assert_array_equal(np.unique(mesh.faces), np.arange(35))


def test_no_triangle_bridges_an_occlusion_and_all_face_the_viewer(ball):
    mesh = mesh_of(ball)
    surface = ball.segmentation.continuous.ravel()[mesh.faces]
    assert (surface == surface[:, :1]).all()
    a, b, c = (mesh.points[mesh.faces[:, k]].astype(np.float64) for k in range(3))
    facing = np.einsum("fc,fc->f", np.cross(b - a, c - a), a)
    assert (facing < 0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(mesh.points[:, 2], ball.depth.ravel())
    # Nearly every pixel is in a triangle: only at the line some are left over.
    assert len(np.unique(mesh.faces)) > 0.98 * ball.depth.size


@pytest.mark.parametrize("most", [4000, 2000, 1000])
def test_larger_pictures_have_every_nth_pixel_and_no_bridge_either(ball, monkeypatch, most):
    monkeypatch.setattr(meshes, "_MOST_PIXELS", most)
    step = mesh_step(ball.depth.shape)
    assert step == {4000: 2, 2000: 3, 1000: 4}[most]
    image = np.random.default_rng(0).integers(0, 256, (120, 120, 3), dtype=np.uint8)
    mesh = mesh_of(ball, image)
    assert len(mesh.points) == (-(-120 // step)) ** 2 <= most
    np.testing.assert_array_equal(mesh.colours, image[::step, ::step].reshape(-1, 3))
    np.testing.assert_array_equal(mesh.points[:, 2], ball.depth[::step, ::step].ravel())
    # All pixels of a triangle, not only its corners, are of one surface.
    y, x = np.divmod(mesh.faces, -(-120 // step))
    low, high = step * y.min(axis=1), step * x.min(axis=1)
    upper = y.sum(axis=1) * step - 3 * low == step
    surface = ball.segmentation.continuous
    for top, left, first in zip(low, high, upper, strict=True):
        i, j = np.mgrid[: step + 1, : step + 1]
        there = i + j <= step if first else i + j >= step
        block = surface[top : top + step + 1, left : left + step + 1]
        assert len(np.unique(block[there])) == 1
    assert len(mesh.faces) > 0.7 * 2 * len(mesh.points)


def test_a_thin_thing_between_taken_pixels_cuts_the_mesh(monkeypatch):
    line = {"s": Stroke("occlusion", ((18, 0), (18, 39)), "left")}
    made = reconstruct(annotation(40, 40, 50.0, strokes=line))
    monkeypatch.setattr(meshes, "_MOST_PIXELS", 100)
    mesh = mesh_of(made)
    x = mesh.faces % 10
    assert not ((x.min(axis=1) <= 4) & (x.max(axis=1) >= 5)).any()
    assert len(mesh.faces) == 2 * 9 * 8


def test_colours_are_those_of_the_image_and_grey_without(ball):
    image = np.random.default_rng(0).integers(0, 256, (120, 120, 3), dtype=np.uint8)
    np.testing.assert_array_equal(points_of(ball, image).colours, image.reshape(-1, 3))
    assert set(np.unique(points_of(ball).colours)) == {200}
    larger = np.full((240, 240, 3), 77, np.uint8)
    assert set(np.unique(points_of(ball, larger).colours)) == {77}
    with pytest.raises(WrongShape, match="the image must be"):
        points_of(ball, image[..., 0])


@pytest.mark.parametrize("suffix", [".ply", ".glb", ".PLY"])
def test_files(ball, tmp_path, suffix):
    mesh = mesh_of(ball)
    path = tmp_path / f"m{suffix}"
    write_mesh(path, mesh)
    if suffix.lower() == ".ply":
        back = read_ply(path)
        for name in ("points", "normals", "colours", "faces"):
            np.testing.assert_array_equal(getattr(back, name), getattr(mesh, name))
    else:
        assert path.read_bytes()[:4] == b"glTF"
    write_mesh(tmp_path / "p.ply", points_of(ball))
    assert read_ply(tmp_path / "p.ply").faces is None


def test_bad_input(ball, tmp_path):
    with pytest.raises(Misuse, match=r"\.ply or \.glb"):
        write_mesh(tmp_path / "m.obj", mesh_of(ball))
    nothing = replace(ball, depth=np.full_like(ball.depth, np.nan))
    with pytest.raises(Unavailable, match="no pixel with a depth"):
        mesh_of(nothing)
