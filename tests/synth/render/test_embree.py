"""Exact geometry by ray queries: depth and motion; against closed forms."""

import itertools

import numpy as np
import pytest

from depthgauge.errors import Misuse, UnknownName
from depthgauge.geometry.projection import to_camera
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import camera_at, camera_row, pinhole, pose_looking
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.scene.motion import Chain, Moving, Turning

pytest.importorskip("embreex", reason="ray queries need Embree: depthgauge[render]")

from depthgauge.synth.render import embree

GLASS = Material("glass")
CAMERA = pinhole((41, 31), 40.0)


def wall(z_m: float) -> Thing:
    flat = meshes.rectangle((-5.0, -5.0, z_m), (0.0, 10.0, 0.0), (10.0, 0.0, 0.0), 10.0)
    return Thing("wall", flat, plain("#888888"))


def block(name: str, size_m: tuple[float, float, float], z_m: float, material: Material) -> Thing:
    """A box around the optical axis whose front is at this depth."""
    width, height, depth = size_m
    box = meshes.box(width, height, depth, 10.0).moved(y=height / 2, z=z_m + depth / 2)
    return Thing(name, box, material)


def scene(*things: Thing, **motions) -> Scene:
    return Scene("test", things, (), motions=motions)


# --- what a camera sees --------------------------------------------------------------------------


def test_depth_and_objects_of_a_block_before_a_wall():
    traced = embree.trace(scene(block("block", (1.0, 1.0, 0.5), 2.0, plain("#ffffff")), wall(4.0)))
    seen = embree.visible_surfaces(traced, CAMERA)
    x, y = np.meshgrid((np.arange(41) - 20) / 40, (np.arange(31) - 15) / 40)
    on_block = (np.abs(2.0 * x) < 0.5) & (np.abs(2.0 * y) < 0.5)
    edge = np.isclose(np.abs(2.0 * x), 0.5) | np.isclose(np.abs(2.0 * y), 0.5)
    np.testing.assert_allclose(seen.depth[~edge], np.where(on_block, 2.0, 4.0)[~edge], atol=1e-9)
    assert traced.names == ("block", "wall")
    assert np.array_equal(seen.objects[~edge], np.where(on_block, 0, 1)[~edge])
    assert set(traced.looks(seen.triangles).ravel()) == {"diffuse"}


def test_a_ray_into_nothing_has_no_depth():
    traced = embree.trace(scene(block("block", (0.2, 0.2, 0.2), 2.0, plain("#ffffff"))))
    seen = embree.visible_surfaces(traced, CAMERA)
    assert np.isnan(seen.depth[0, 0])
    assert (seen.triangles[0, 0], seen.objects[0, 0]) == (-1, -1)


# --- motion --------------------------------------------------------------------------------------


def test_scene_flow_and_flow_of_a_block_that_moves_aside():
    moving = scene(
        block("block", (1.02, 1.02, 0.5), 2.0, plain("#ffffff")),
        wall(4.0),
        block=Moving((0.4, 0.0, 0.0)),
    )
    before, after = embree.trace(moving, 0.0), embree.trace(moving, 0.5)
    found = embree.motion_between(before, CAMERA, after, CAMERA)
    on_block = found.before.objects == 0
    np.testing.assert_allclose(
        found.scene_flow[on_block], [[0.2, 0.0, 0.0]] * on_block.sum(), atol=1e-12
    )
    np.testing.assert_allclose(
        found.flow[on_block], [[40 * 0.2 / 2.0, 0.0]] * on_block.sum(), atol=1e-9
    )
    assert not found.scene_flow[~on_block].any()
    assert not found.flow[~on_block].any()
    assert found.visible[on_block].all()
    # The wall is hidden where the block has moved to: its right edge goes from 0.51 m to 0.71 m.
    x = 2.0 * (np.arange(41) - 20) / 40
    row = found.visible[15]
    assert np.array_equal(~row, ~on_block[15] & (x > 0.51) & (x < 0.71))


def test_a_block_that_comes_nearer_is_seen_at_its_new_depth():
    moving = scene(
        block("block", (9.0, 9.0, 0.5), 2.0, plain("#ffffff")), block=Moving((0.0, 0.0, -1.0))
    )
    found = embree.motion_between(
        embree.trace(moving, 0.0), CAMERA, embree.trace(moving, 0.5), CAMERA
    )
    np.testing.assert_allclose(found.depth_after, 1.5, atol=1e-12)
    x, y = np.meshgrid(np.arange(41) - 20, np.arange(31) - 15)
    expected = np.stack([x, y], axis=-1) * (2.0 / 1.5 - 1.0)
    np.testing.assert_allclose(found.flow, expected, atol=1e-9)
    inside = (np.abs(x + expected[..., 0]) < 20.5) & (np.abs(y + expected[..., 1]) < 15.5)
    assert np.array_equal(found.visible, inside)


def test_equal_times_and_two_cameras_are_the_stereo_case():
    standing = scene(block("block", (1.0, 1.0, 0.5), 2.0, plain("#ffffff")), wall(4.0))
    traced = embree.trace(standing)
    left, right = camera_row(CAMERA, 2, 0.1)
    found = embree.motion_between(traced, left, traced, right)
    np.testing.assert_allclose(found.flow[..., 0], -40 * 0.1 / found.before.depth, atol=1e-9)
    np.testing.assert_allclose(found.flow[..., 1], 0.0, atol=1e-9)
    assert not found.scene_flow.any()


def test_a_turn_keeps_the_axis_and_a_chain_applies_the_first_motion_first():
    turn = Turning(90.0, "y", about_m=(1.0, 0.0, 2.0))
    np.testing.assert_allclose(turn(1.0) @ [1.0, 5.0, 2.0, 1.0], [1.0, 5.0, 2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(turn(1.0) @ [1.0, 0.0, 3.0, 1.0], [2.0, 0.0, 2.0, 1.0], atol=1e-12)
    both = Chain((turn, Moving((0.0, 0.0, 1.0))))
    np.testing.assert_allclose(both(1.0) @ [1.0, 0.0, 3.0, 1.0], [2.0, 0.0, 3.0, 1.0], atol=1e-12)


def test_motion_of_an_object_that_is_not_there_and_of_two_scenes_is_refused():
    with pytest.raises(UnknownName, match=r"scene 'test' 'blok'\. Did you mean 'block'"):
        scene(block("block", (1.0, 1.0, 1.0), 2.0, GLASS), blok=Moving((1.0, 0.0, 0.0)))
    one, other = (embree.trace(scene(wall(2.0))) for _ in range(2))
    with pytest.raises(Misuse, match="the same scene"):
        embree.motion_between(one, CAMERA, other, CAMERA)


# --- one kitchen, many eyes ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def kitchen():
    from depthgauge.synth.library.rooms import kitchen

    return kitchen(seed=4).moving(
        {
            "mug": Chain((Turning(40.0, "y", (0.30, 0.0, 0.90)), Moving((0.1, 0.0, 0.2)))),
            "apple": Moving((0.0, -0.3, 0.0)),
        }
    )


def test_six_cameras_see_the_kitchen_over_time(kitchen):
    """A point carried to the next frame is found there by a ray of that frame's own camera."""
    middle = pinhole((48, 36), 40.0, pose_looking((0.0, -0.45, 0.0), (0.05, -0.1, 1.2)))
    drift = Moving((0.15, 0.0, 0.1))
    traced = [embree.trace(kitchen, time) for time in (0.0, 0.2, 0.4)]
    moved, checked = 0, 0
    for camera in camera_row(middle, 6, 0.08):
        for before, after in itertools.pairwise(traced):
            first, second = (camera_at(camera, drift, t.time_s) for t in (before, after))
            found = embree.motion_between(before, first, after, second)
            assert np.isfinite(found.before.depth).all()
            own = np.isin(found.before.objects, [before.names.index(n) for n in ("mug", "apple")])
            assert not found.scene_flow[~own].any()
            assert np.abs(found.scene_flow[own]).max(axis=-1).min() > 0
            moved += int(own.sum())
            y, x = np.nonzero(found.visible)
            ends = np.stack([x, y], axis=-1) + found.flow[y, x]
            points, _ = embree.hit_points(after, second, ends)
            depth = to_camera(points, second)[:, 2]
            # The ray meets the very point but for edges, which float32 search may miss.
            same = np.abs(depth - found.depth_after[y, x]) < 1e-6
            assert same.mean() > 0.999
            checked += len(x)
    assert moved > 100
    assert checked > 0.8 * 12 * 48 * 36


def test_without_moving_anything_a_clip_stands_still(kitchen):
    camera = pinhole((32, 24), 28.0, pose_looking((0.0, -0.45, 0.0), (0.05, -0.1, 1.2)))
    traced = embree.trace(kitchen, 0.3)
    found = embree.motion_between(traced, camera, traced, camera)
    assert not found.flow.any()
    assert not found.scene_flow.any()
    np.testing.assert_allclose(found.depth_after, found.before.depth, atol=1e-12)
