"""What is noticed of a view: small surfaces go to their neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.annotate.simulate._depth_steps import estimated_gaps, plane_depth
from depthgauge.annotate.simulate.exact_view import view_of_sample
from depthgauge.annotate.simulate.visible_surfaces import visible_surfaces
from depthgauge.types import Camera, Inputs, Sample, Truth

SHAPE = (40, 60)
CAMERA = Camera((80.0, 80.0), (29.5, 19.5), (60, 40))


def view(labels, depth=None):
    """Walls that face the viewer, at given depths."""
    depth = np.full(SHAPE, 2.0, np.float32) if depth is None else depth.astype(np.float32)
    normals = np.zeros((*SHAPE, 3), np.float32)
    normals[..., 2] = -1
    truth = {"depth": depth, "normals": normals, "smooth_labels": labels, "camera": CAMERA}
    image = np.zeros((*SHAPE, 3), np.uint8)
    return view_of_sample(Sample("flat", Inputs({"left_image": image}), Truth(truth)))


def everywhere():
    return np.ones(SHAPE, bool)


def test_a_post_before_a_wall_is_overlooked_and_the_wall_is_whole():
    labels = np.ones(SHAPE, int)
    labels[:, 30:] = 2
    labels[:, 29:31] = 3
    depth = np.where(labels == 3, 1.0, 2.0)
    seen = visible_surfaces(view(labels, depth), everywhere(), smallest_px=40, thinnest_px=4.0)
    assert len(np.unique(seen.labels)) == 1
    assert np.allclose(seen.depth, 2.0)
    assert not seen.own[:, 29:31].any()


def test_two_walls_stay_two_when_what_is_between_is_overlooked():
    labels = np.ones(SHAPE, int)
    labels[:, 30:] = 2
    labels[:, 29:31] = 3
    depth = np.choose(labels, [0.0, 2.0, 3.0, 1.0])
    seen = visible_surfaces(view(labels, depth), everywhere(), smallest_px=40, thinnest_px=4.0)
    assert len(np.unique(seen.labels)) == 2
    border = seen.labels[:, 1:] != seen.labels[:, :-1]
    assert np.allclose(seen.gap_right[border], 1.0)


def test_nothing_is_overlooked_where_all_is_large():
    labels = np.ones(SHAPE, int)
    labels[:, 30:] = 2
    full = view(labels, np.where(labels == 1, 2.0, 3.0))
    seen = visible_surfaces(full, everywhere(), smallest_px=40, thinnest_px=4.0)
    assert np.array_equal(seen.labels, full.smooth_labels)
    assert seen.own.all()


def test_a_picture_of_small_things_only_keeps_them():
    labels = np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) // 10 + 1
    full = view(labels)
    seen = visible_surfaces(full, everywhere(), smallest_px=40, thinnest_px=4.0)
    assert np.array_equal(seen.labels, full.smooth_labels)


def test_tangent_planes_are_followed_exactly():
    normal = np.array([0.6, 0.0, -0.8])
    ray, other = np.array([0.0, 0.0, 1.0]), np.array([0.25, 0.1, 1.0])
    # n . (z ray) is the same everywhere on the plane.
    found = plane_depth(2.0, normal, ray, other)
    assert found * (normal @ other) == pytest.approx(2.0 * (normal @ ray))
    assert np.isnan(plane_depth(2.0, normal, ray, np.array([2.0, 0.0, 1.0])))


def test_a_fold_has_no_step_and_an_occlusion_its_depth():
    labels = np.ones(SHAPE, np.int32)
    labels[:, 30:] = 2
    x = (np.arange(60) - 29.5) / 80
    normals = np.zeros((*SHAPE, 3), np.float32)
    normals[:, :30] = (0.6, 0, -0.8)
    normals[:, 30:] = (-0.6, 0, -0.8)
    towards = np.where(x < 0, 0.8 - 0.6 * x, 0.8 + 0.6 * x)
    depth = np.broadcast_to(2 * 0.8 / towards, SHAPE).astype(np.float32)
    flat = {1: True, 2: True}
    right, down = estimated_gaps(depth, normals, labels, flat, CAMERA)
    assert not right.any()
    assert not down.any()
    further = np.where(labels == 2, 1.5 * depth, depth).astype(np.float32)
    right, _ = estimated_gaps(further, normals, labels, flat, CAMERA)
    assert np.allclose(right[:, 29], 1.0, atol=0.05)
    assert np.count_nonzero(right) == SHAPE[0]


def test_a_sliver_goes_to_what_it_is_attached_to_and_the_outline_in_front_stays():
    labels = np.ones(SHAPE, int)
    labels[:, 30:] = 2
    labels[:, 28:30] = 3  # beside the front, attached to what is behind
    depth = np.where(labels == 1, 1.0, 2.0)
    seen = visible_surfaces(view(labels, depth), everywhere(), smallest_px=40, thinnest_px=4.0)
    assert np.array_equal(seen.labels == seen.labels[0, 0], labels == 1)


def test_a_sliver_between_two_depths_goes_to_what_is_behind():
    labels = np.ones(SHAPE, int)
    labels[:, 30:] = 2
    labels[:, 28:30] = 3
    depth = np.choose(labels, [0.0, 1.0, 3.0, 2.0])
    seen = visible_surfaces(view(labels, depth), everywhere(), smallest_px=40, thinnest_px=4.0)
    assert np.array_equal(seen.labels == seen.labels[0, 0], labels == 1)
