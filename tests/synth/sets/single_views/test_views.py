"""Exact views: what they show, how exact they are, and that seeds decide them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.errors import Misuse, UnknownName, WrongShape
from depthgauge.geometry.projection import backproject
from depthgauge.synth.sets.single_views import ATTACHED, KINDS, make_view
from depthgauge.synth.sets.single_views._furnish import FOCAL_WIDTHS

SIZE = (160, 120)


@pytest.fixture(scope="module")
def views():
    return {kind: make_view(kind, 1, SIZE) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_pixel_is_known_and_faces_the_viewer(views, kind):
    view = views[kind]
    assert view.image.dtype == np.uint8
    assert np.isfinite(view.depth).all()
    assert (view.depth > 0).all()
    assert np.allclose(np.linalg.norm(view.normals, axis=2), 1, atol=1e-5)
    toward = np.einsum("ijk,ijk->ij", view.normals, backproject(view.depth, view.camera))
    assert (toward < 1e-6).all()
    assert view.smooth_labels.min() == 1
    assert set(view.planar) == set(np.unique(view.smooth_labels))
    low, high = FOCAL_WIDTHS
    assert low * SIZE[0] <= view.focal_px <= high * SIZE[0]


def test_kinds_show_what_they_say(views):
    flat = {
        kind: sum(
            np.count_nonzero(v.smooth_labels == n) for n, is_flat in v.planar.items() if is_flat
        )
        for kind, v in views.items()
    }
    assert flat["planar"] == SIZE[0] * SIZE[1]
    assert flat["curved"] < SIZE[0] * SIZE[1]
    assert flat["mixed"] < SIZE[0] * SIZE[1]


@pytest.mark.parametrize("kind", KINDS)
def test_planes_are_planes(views, kind):
    """All points of a flat piece lie in the plane through one of them with its normal."""
    view = views[kind]
    points = backproject(view.depth.astype(np.float64), view.camera)
    for number, is_flat in view.planar.items():
        here = view.smooth_labels == number
        if is_flat:
            normal = view.normals[here][0].astype(np.float64)
            off = (points[here] - points[here][0]) @ normal
            assert np.abs(off).max() < 1e-5 * view.depth.max()


def test_steps_agree_with_tangent_planes(views):
    """Where two flat pieces meet without a step, their planes cut between the two pixels."""
    view = views["planar"]
    (focal, _), (cx, cy) = view.camera.focal_px, view.camera.centre_px
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    rays = np.stack([(x - cx) / focal, (y - cy) / focal, np.ones(x.shape)], axis=-1)
    normals = view.normals.astype(np.float64)
    left, right = np.s_[:, :-1], np.s_[:, 1:]

    def seen_from(here, there):
        own = np.einsum("ijk,ijk->ij", normals[there], rays[there])
        other = np.einsum("ijk,ijk->ij", normals[there], rays[here])
        return view.depth[there] * own / other - view.depth[here]

    border = view.smooth_labels[left] != view.smooth_labels[right]
    folds = border & (view.gap_right == 0)
    # Both planes are beyond, or both before, the pixel of the other: they cut in between.
    slack = ATTACHED * view.depth[left]
    a, b = seen_from(left, right), seen_from(right, left)
    assert folds.any()
    cut = (np.sign(a) == np.sign(b)) | (np.minimum(np.abs(a), np.abs(b)) < 2 * slack)
    assert cut[folds].mean() > 0.97  # corners of three faces have a third between them
    steps = np.abs(view.gap_right[border & (view.gap_right != 0)])
    assert (steps > ATTACHED * view.depth.min() * 0.999).all()


def test_continuous_surfaces_are_made_of_whole_smooth_ones(views):
    for view in views.values():
        pairs = np.unique(
            np.stack([view.smooth_labels, view.continuous_labels]).reshape(2, -1), axis=1
        )
        assert len(np.unique(pairs[0])) == pairs.shape[1]


def test_a_step_is_as_large_as_the_depths_say():
    """A ball that hangs before a wall: the step is the wall's depth less that of its outline."""
    from depthgauge.synth.render.closed_form.rays import View
    from depthgauge.synth.scene.frame import turned
    from depthgauge.synth.scene.model import Body, ShapeScene
    from depthgauge.synth.scene.shape import Ellipsoid, Plane
    from depthgauge.synth.scene.texture import Plain
    from depthgauge.synth.sets.single_views._make import exact_view

    grey = Plain((0.5, 0.5, 0.5))
    ball = Body(Ellipsoid(turned((0.0, 0.0, 4.0)), (1.0, 1.0, 1.0)), grey)
    wall = Body(Plane(turned((0.0, 0.0, 6.0))), grey)
    scene = ShapeScene((ball, wall), 0.0, 0.0, 0.1, (-0.5, -1.0, -0.5))
    view = exact_view("ball", scene, View(turned((0.0, 0.0, 0.0)), 100.0, (121, 91)), 0)
    assert view.smooth_labels.max() == view.continuous_labels.max() == 2
    assert sorted(view.planar.values()) == [False, True]
    # A ray touches the unit ball 4 m away at the distance sqrt(15); its depth is 15 / 4.
    steps = np.abs(
        np.concatenate([view.gap_right[view.gap_right != 0], view.gap_down[view.gap_down != 0]])
    )
    assert np.allclose(steps, 6 - 15 / 4, atol=2e-3)
    left = view.gap_right[45, :60]
    assert (left[left != 0] < 0).all()  # from the wall to the ball, depth falls


def test_a_seed_decides_everything_and_another_another():
    first, again, other = (make_view("mixed", seed, (64, 48)) for seed in (3, 3, 4))
    assert np.array_equal(first.image, again.image)
    assert np.array_equal(first.depth, again.depth)
    assert not np.array_equal(first.depth, other.depth)
    assert first.id == "mixed-0003"


def test_the_scene_is_the_same_at_every_size():
    small, large = make_view("planar", 2, (64, 48)), make_view("planar", 2, (128, 96))
    assert small.focal_px * 2 == pytest.approx(large.focal_px)
    middle = large.depth[48:50, 64:66].mean()
    assert small.depth[24, 32] == pytest.approx(middle, rel=0.05)


@pytest.mark.parametrize("room", ["kitchen", "bathroom", "desk"])
def test_rooms_are_seen_through_embree(room):
    pytest.importorskip("embreex", reason="rooms need Embree: depthgauge[render]")
    view = make_view(room, 0, (96, 72))
    assert np.isfinite(view.depth).all()
    assert np.allclose(np.linalg.norm(view.normals, axis=2), 1, atol=1e-5)
    assert any(view.planar.values())
    assert not all(view.planar.values())
    assert view.continuous_labels.max() > 3
    assert view.image.std() > 10


def test_mistakes_are_refused():
    with pytest.raises(UnknownName, match="planar"):
        make_view("planer", 0)
    with pytest.raises(Misuse, match="32 px"):
        make_view("planar", 0, (16, 16))
    with pytest.raises(Misuse, match="seed"):
        make_view("planar", -1, SIZE)


def test_maps_of_other_sizes_are_refused(views):
    view = views["planar"]
    with pytest.raises(WrongShape, match="normals"):
        replace(view, normals=view.normals[:-1])
    with pytest.raises(WrongShape, match="camera"):
        replace(view, camera=replace(view.camera, size_px=(7, 7)))


def test_a_camera_that_is_held_looks_down_further_and_is_not_level(views):
    """The floor is what is seen at the lowest row's middle; along its rows depth changes."""
    level, held = views["curved"], make_view("curved", 1, SIZE, held=True)
    assert (level.id, held.id) == ("curved-0001", "curved-0001-held")
    floors = [view.normals[-1, SIZE[0] // 2].astype(float) for view in (level, held)]
    downs = [np.degrees(np.arcsin(-floor[2])) for floor in floors]
    rolls = [abs(np.degrees(np.arctan2(floor[0], -floor[1]))) for floor in floors]
    assert downs[0] < 34.1
    assert downs[1] > 27.9
    assert rolls[0] < 0.01
    assert 0.2 < rolls[1] < 15


def test_rooms_are_not_held():
    with pytest.raises(Misuse, match="held: a room has one camera"):
        make_view("desk", 0, SIZE, held=True)
