"""Normals at smooth occlusions are orthogonal to the ray: balls anywhere in a wide picture."""

import math

import numpy as np
import pytest

from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Stroke,
    SurfaceMark,
)

WIDTH, HEIGHT, FOCAL = 320, 240, 192.0
FAR, ANGLE = 4.0, math.radians(12)


def ball(aside_px):
    """A ball whose centre is seen so far from the middle; its exact points and its annotation."""
    middle = np.array([(WIDTH - 1) / 2, (HEIGHT - 1) / 2])
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    rays = np.dstack([(x - middle[0]) / FOCAL, (y - middle[1]) / FOCAL, np.ones(x.shape)])
    to = np.array([aside_px / FOCAL, 0.0, 1.0])
    to /= np.linalg.norm(to)
    centre, radius = FAR * to, FAR * math.sin(ANGLE)
    along, square = rays @ centre, (rays**2).sum(axis=2)
    root = along**2 - square * (FAR**2 - radius**2)
    points = rays * ((along - np.sqrt(np.where(root > 0, root, np.nan))) / square)[..., None]
    across = np.cross(to, [0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    turn = np.linspace(0, 2 * math.pi, 181)[:, None]
    side = np.cos(turn) * across + np.sin(turn) * np.cross(to, across)
    outline = math.cos(ANGLE) * to + math.sin(ANGLE) * side
    line = FOCAL * outline[:, :2] / outline[:, 2:] + middle
    at = (middle[0] + aside_px, middle[1])
    drawn = Annotation(
        Picture("ball", WIDTH, HEIGHT),
        Focal(FOCAL),
        strokes={"o": Stroke("occlusion", tuple(map(tuple, line.tolist())), "right", True)},
        surfaces={"wall": SurfaceMark((3, 3), "planar"), "ball": SurfaceMark(at, "curved")},
        normals={"wall": NormalMark((3, 3), (0, 0, -1)), "ball": NormalMark(at, tuple(-to))},
    )
    return drawn, points, radius


def error_percent(made, points, radius):
    """Mean distance on the ball after the best scale, in percent of its radius."""
    on = np.isfinite(points[..., 2])
    labels = made.segmentation.continuous
    on &= labels == np.bincount(labels[on]).argmax()
    exact = points[on]
    found = exact / exact[:, 2:] * made.depth[on][:, None]
    scale = (found * exact).sum() / (found * found).sum()
    return 100 * np.linalg.norm(scale * found - exact, axis=1).mean() / radius


@pytest.mark.parametrize(("aside_px", "most", "by_axis"), [(0, 2, 4), (50, 2.5, 9), (100, 3.5, 15)])
def test_a_ball_is_round_wherever_it_is(aside_px, most, by_axis):
    drawn, points, radius = ball(aside_px)
    assert error_percent(reconstruct(drawn), points, radius) < most
    # With normals parallel to the image plane, as published, it is not.
    axis = reconstruct(drawn, along_rays=False)
    assert error_percent(axis, points, radius) > by_axis


def test_normals_along_a_silhouette_are_orthogonal_to_line_and_ray():
    drawn, _, _ = ball(100)
    made = reconstruct(drawn)
    there = made.segmentation.kind == 3
    y, x = np.nonzero(there)
    rays = np.stack([x - (WIDTH - 1) / 2, y - (HEIGHT - 1) / 2, np.full(len(x), FOCAL)], axis=1)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    cosine = (rays * made.normals[there]).sum(axis=1)
    np.testing.assert_allclose(cosine, 0, atol=1e-6)
    toward = made.segmentation.toward[there]
    tangent = np.stack([-toward[:, 1], toward[:, 0]], axis=1)
    np.testing.assert_allclose((tangent * made.normals[there][:, :2]).sum(axis=1), 0, atol=1e-6)
