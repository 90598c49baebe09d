"""Where corners are seen: straight without glass, and by Snell's law behind it."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from depthgauge.geometry.projection import project, to_camera
from depthgauge.synth.render.embree import trace
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.material import Finish, plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.sets.tag_session._rig import rig
from depthgauge.synth.sets.tag_session._table import Face, Table, tag_corners
from depthgauge.synth.sets.tag_session._truth import tags_in_view

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")
WALL_M, PANE_M, THICK_M = 1.0, 0.5, 0.02


def wall_behind(*before, tag_m=0.08, count=4):
    """A wall with tags, before which things stand."""
    card = plain("#c0c0c0")
    table = Table(np.random.default_rng(7), tag_m)
    wall = meshes.rectangle((-2, 2, WALL_M), (4, 0, 0), (0, -4, 0))
    face = Face("wall", (0.0, 0.0, WALL_M), (0.5, 0.35), card, most=count)
    table.fix([Thing("wall", wall, card)], [face])
    for thing in before:
        table.fix([thing])
    scene, stickers = table.scene("wall")
    return trace(scene), stickers


def pane(index, width_m=2.0, x=0.0):
    slab = meshes.box(width_m, 2.0, THICK_M).moved(x=x, y=1.0, z=PANE_M)
    return Thing("pane", slab, Finish("glass", (1.0, 1.0, 1.0), index=index))


def corners_of(frame, sticker):
    return tag_corners(frame.scene.things[sticker.thing].mesh)


def test_without_glass_a_corner_is_seen_where_it_is_projected():
    frame, stickers = wall_behind()
    camera = rig((320, 240), 5)["R"]
    assert any(camera.distortion)
    seen = tags_in_view(frame, camera, stickers)
    assert len(seen) == len(stickers) == 4
    for sticker in stickers:
        found = seen[sticker.identity]
        straight = project(to_camera(corners_of(frame, sticker), camera), camera)
        np.testing.assert_allclose(found.corners_px, straight, atol=1e-7)
        assert (found.glass, found.layer) == (0, 1)


@pytest.mark.parametrize("index", [1.0, 1.5])
def test_behind_a_pane_snells_law_holds(index):
    frame, stickers = wall_behind(pane(index))
    camera = pinhole((320, 240), 320.0)
    for identity, found in tags_in_view(frame, camera, stickers).items():
        (sticker,) = (s for s in stickers if s.identity == identity)
        assert (found.glass, found.layer) == (2, 2)
        for corner, at in zip(corners_of(frame, sticker), found.corners_px, strict=True):
            radius = math.hypot(corner[0], corner[1])
            slope = brentq(lambda s, c=corner, r=radius: reach(s, c[2], index) - r, 0, 2)
            expected = corner[:2] / radius * slope * 320.0 + camera.centre_px
            np.testing.assert_allclose(at, expected, atol=2e-4)


def reach(slope, depth_m, index):
    """How far from the axis a ray is at a depth, after a pane across the axis."""
    inside = math.sin(math.atan(slope)) / index
    return (depth_m - THICK_M) * slope + THICK_M * math.tan(math.asin(inside))


def test_hidden_corners_are_nan_and_hidden_tags_are_not_there():
    card = plain("#404040")
    cover = Thing("cover", meshes.box(0.4, 2.0, 0.02).moved(x=-0.2, y=1.0, z=PANE_M), card)
    frame, stickers = wall_behind(cover, count=8)
    camera = pinhole((320, 240), 320.0)
    seen = tags_in_view(frame, camera, stickers)
    for sticker in stickers:
        x = corners_of(frame, sticker)[:, 0]
        if (x < -0.03).all():
            assert sticker.identity not in seen
        elif sticker.identity in seen:
            np.testing.assert_array_equal(np.isnan(seen[sticker.identity].corners_px[:, 0]), x < 0)
    assert 0 < len(seen) < len(stickers)


def test_a_tag_behind_the_edge_of_a_pane_is_that_of_most_rays():
    """Corners beside the pane have their own image there, a little off the others."""
    bare, stickers = wall_behind(count=1, tag_m=0.2)
    middle = corners_of(bare, stickers[0]).mean(axis=0)
    # The pane's left edge runs through the tag, right of its middle.
    frame, stickers = wall_behind(
        pane(1.5, 1.0, 0.5 + PANE_M * (middle[0] + 0.04)), count=1, tag_m=0.2
    )
    camera = pinhole((320, 240), 320.0)
    (found,) = tags_in_view(frame, camera, stickers).values()
    assert (found.glass, found.layer) == (0, 1)
    straight = project(to_camera(corners_of(frame, stickers[0]), camera), camera)
    off = np.linalg.norm(found.corners_px - straight, axis=1)
    direct = corners_of(frame, stickers[0])[:, 0] < middle[0] + 0.04
    assert off[direct].max() < 1e-7
    assert 0.05 < off[~direct].min() <= off[~direct].max() < 3
