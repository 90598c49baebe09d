"""Things on the table: stickers lie on their faces, and nothing stands in anything else."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from depthgauge.sessions.tags import TAG_CORNERS
from depthgauge.synth.library.objects import LIFT_M
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.sets.tag_session import KINDS
from depthgauge.synth.sets.tag_session._arrangements import ARRANGEMENTS
from depthgauge.synth.sets.tag_session._table import (
    AFTER_S,
    BEFORE_S,
    Face,
    Table,
    box_faces,
    tag_corners,
)

FIXED = ("table", "wall", "room")


def arranged(kind, seed, tag_m=0.03):
    table = Table(np.random.default_rng(seed), tag_m)
    ARRANGEMENTS[kind](table)
    return table.scene(kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_nothing_stands_in_anything_else_before_or_after(kind, seed):
    scene, _ = arranged(kind, seed)
    for time_s in (BEFORE_S, AFTER_S):
        objects = {}
        for thing in scene.things_at(time_s):
            # What moves together is one object: a frame and its pane, a glass and its drink.
            key = scene.motions.get(thing.name)
            if thing.name not in FIXED:
                objects.setdefault(id(key), []).append(thing.mesh.vertices[:, [0, 2]])
        feet = [np.concatenate(parts) for parts in objects.values()]
        outlines = [foot[ConvexHull(foot).vertices] for foot in feet]
        for n, one in enumerate(outlines):
            assert all(apart(one, other) for other in outlines[:n])


def apart(one, other):
    """Whether a line separates two convex polygons."""
    for polygon in (one, other):
        edges = np.roll(polygon, -1, axis=0) - polygon
        for normal in np.stack([edges[:, 1], -edges[:, 0]], axis=-1):
            a, b = one @ normal, other @ normal
            if a.max() < b.min() or b.max() < a.min():
                return True
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_tags_on_all_materials_and_on_many_surfaces(kind):
    _, stickers = arranged(kind, 3)
    assert {s.material for s in stickers} == {"diffuse", "transparent", "reflective"}
    assert len({s.identity for s in stickers}) == len(stickers) >= 20
    assert len({s.words for s in stickers}) >= 6


def test_the_same_seed_gives_the_same_and_another_one_does_not():
    one, same, other = (arranged("window", seed)[1] for seed in (4, 4, 5))
    assert one == same != other


def test_a_scene_without_tags_is_the_same_scene():
    table = Table(np.random.default_rng(1), 0.03)
    ARRANGEMENTS["cabinet"](table)
    (full, stickers), (bare, none) = (table.scene("x", tags=tags) for tags in (True, False))
    assert none == ()
    assert full.things[: len(bare.things)] == bare.things
    assert [s.thing for s in stickers] == list(range(len(bare.things), len(full.things)))


def boxed(turns):
    """A box of 0.4 x 0.3 x 0.2 m with tags on its front and top."""
    size, card = (0.4, 0.3, 0.2), plain("#808080")
    table = Table(np.random.default_rng(turns), 0.05)
    faces = box_faces("box", size, card, front=6, top=2)
    table.put([Thing("box", meshes.box(*size), card)], (0.1, 1.0), 30.0, faces=faces)
    return table.scene("box")


@pytest.mark.parametrize("time_s", [BEFORE_S, AFTER_S])
def test_tags_lie_on_their_faces_and_move_with_them(time_s):
    scene, stickers = boxed(2)
    things = scene.things_at(time_s)
    axes = scene.motions["box"](time_s)[:3, :3]
    front = things[0].mesh.normals[np.argmin(scene.things[0].mesh.vertices[:, 2])]
    for sticker in stickers:
        mesh = things[sticker.thing].mesh
        corners = tag_corners(mesh)
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
        np.testing.assert_allclose(sides, sticker.size_m, atol=1e-12)
        normal = mesh.normals[0]
        level = (things[0].mesh.vertices @ normal).max()
        np.testing.assert_allclose(corners @ normal - level, LIFT_M, atol=1e-12)
        if sticker.words.startswith("top"):
            np.testing.assert_allclose(normal, axes @ (0, -1, 0), atol=1e-12)
        else:
            assert front @ normal > -1e-9


def test_corners_are_in_the_order_of_a_detector():
    """Counter-clockwise from the upper right, as the tag is seen from outside."""
    face = Face("wall", (0.0, 0.0, 2.0), (0.2, 0.2), plain("#ffffff"), most=1)
    table = Table(np.random.default_rng(0), 0.1)
    wall = meshes.rectangle((-1, 1, 2), (2, 0, 0), (0, -2, 0))
    table.fix([Thing("wall", wall, face.material)], [face])
    scene, (sticker,) = table.scene("wall")
    mesh = scene.things[sticker.thing].mesh
    x, y, z = tag_corners(mesh).T
    np.testing.assert_allclose(z, 2.0 - LIFT_M)
    expected = np.array(TAG_CORNERS) * sticker.size_m
    middle = np.stack([x, y], axis=-1) - (x.mean(), y.mean())
    wanted = expected - expected.mean(axis=0)
    # The same up to how the sticker is turned: never mirrored.
    turn = np.linalg.lstsq(wanted, middle, rcond=None)[0]
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_a_face_without_room_has_no_tags():
    face = Face("rail", (0.0, 0.0, 1.0), (0.5, 0.02), plain("#ffffff"))
    table = Table(np.random.default_rng(0), 0.1)
    table.fix([Thing("rail", meshes.box(0.5, 0.02, 0.02), face.material)], [face])
    assert table.scene("rail")[1] == ()
