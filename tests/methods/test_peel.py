"""`peel`: both motions of a textured sheet of glass, one motion elsewhere."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import depthgauge as dg
from depthgauge.methods import find_method
from depthgauge.types import Inputs

HEIGHT, WIDTH = 120, 160
BEHIND, FRONT = (2.0, 1.0), (-5.0, 3.0)
SHEET = (slice(35, 85), slice(50, 110))


def texture(seed, size=0.9):
    noise = np.random.default_rng(seed).normal(size=(HEIGHT + 40, WIDTH + 40))
    blurred = cv2.GaussianBlur(noise, (0, 0), size)
    return 128 + 40 * blurred / blurred.std()


def seen(picture, by):
    """The picture after it moved."""
    moved = cv2.warpAffine(picture, np.array([[1, 0, by[0]], [0, 1, by[1]]], float), (2000, 2000))
    return moved[20 : 20 + HEIGHT, 20 : 20 + WIDTH]


def glass(strength):
    """Two pictures of a wall and, in front of it, a sheet that is partly seen through."""
    wall, sheet = texture(1), texture(2, size=3)
    covers = np.zeros_like(sheet)
    covers[20:-20, 20:-20][SHEET] = strength
    pictures = []
    for time in (0, 1):
        share, front = (seen(p, (time * FRONT[0], time * FRONT[1])) for p in (covers, sheet))
        behind = seen(wall, (time * BEHIND[0], time * BEHIND[1]))
        pictures.append(np.clip((1 - share) * behind + share * front, 0, 255).astype(np.uint8))
    return Inputs({"first_image": pictures[0], "second_image": pictures[1]})


def good(flow, vector, where):
    off = np.linalg.norm(flow - np.float32(vector), axis=-1)[where]
    return float((off <= 1.0).mean())


@pytest.mark.parametrize("strength", [0.6, 0.65])
def test_a_sheet_of_glass_and_what_is_behind_it_are_found(strength):
    near, far = find_method("peel").estimate(glass(strength), "layered_flow").values
    inner = (slice(45, 75), slice(60, 100))
    assert good(near, FRONT, inner) > 0.85
    assert good(far, BEHIND, inner) > 0.6
    outside = np.ones((HEIGHT, WIDTH), bool)
    outside[25:95, 40:120] = outside[:8] = outside[-8:] = outside[:, :8] = outside[:, -8:] = False
    assert np.isnan(far[outside]).all(axis=-1).mean() > 0.9
    assert good(near, BEHIND, outside) > 0.95


def test_it_beats_one_flow_for_every_layer():
    inputs = glass(0.6)
    truth = np.full((2, HEIGHT, WIDTH, 2), np.nan, np.float32)
    truth[0] = BEHIND
    truth[0][SHEET], truth[1][SHEET] = FRONT, BEHIND
    flow = find_method("dis").estimate(inputs, "flow").values
    peeled = find_method("peel").estimate(inputs, "layered_flow").values
    layer_2 = "multi_bad:1,2"
    single, ours = (
        dg.score(e, truth, [layer_2], quantity="layered_flow")[f"{layer_2}@all"].value
        for e in (np.stack([flow, flow]), peeled)
    )
    assert ours < 50
    assert single > 80


def test_one_motion_has_one_layer(frames):
    near, far = find_method("peel").estimate(frames(3, 1), "layered_flow").values
    assert good(near, (3, 1), (slice(8, -8), slice(8, -8))) > 0.95
    assert np.isnan(far[8:-8, 8:-8]).mean() > 0.98


def test_without_pruning_every_pixel_has_two_layers(frames):
    near, far = find_method("peel:prune=false").estimate(frames(3, 1), "layered_flow").values
    assert np.isfinite(near).all()
    assert good(far, (3, 1), (slice(8, -8), slice(8, -8))) > 0.95


def test_pictures_without_texture_give_finite_flow():
    flat = np.full((60, 80), 99, np.uint8)
    near, far = (
        find_method("peel")
        .estimate(Inputs({"first_image": flat, "second_image": flat}), "layered_flow")
        .values
    )
    assert np.isfinite(near).all()
    assert np.isnan(far).all()
