"""Shaded views: depth is exact, shadows fall where they must, and all views agree on colours."""

import numpy as np
import pytest

pytest.importorskip("embreex", reason="rays need Embree: depthgauge[render]")

from depthgauge.synth.library.surfaces import PATTERNS, surface
from depthgauge.synth.render.lighting import Lamp, Lighting
from depthgauge.synth.render.shaded import ShadedPlace, prepare
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pinhole, pose_looking
from depthgauge.synth.scene.material import plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.motion import Moving

SUN = Lighting((Lamp((0.0, -1.0, 0.0), (1.0, 1.0, 1.0)),), (0.2, 0.2, 0.2), (0.2, 0.2, 0.2))
GROUND = Thing(
    "ground",
    meshes.rectangle((-4, 0, -4), (0, 0, 8), (8, 0, 0), 1.0),
    surface("mottled", "#606060 #808080 #a0a0a0", 2.0),
)
ROOF = Thing("roof", meshes.box(1.0, 0.1, 1.0).moved(y=-1.5), plain("#404040"))
DOWN = pinhole((64, 64), 60.0, pose_looking((0.01, -5.0, 0.0), (0.0, 0.0, 0.0)))


def side_camera(x=0.0):
    return pinhole((64, 64), 60.0, pose_looking((x, -1.0, -4.0), (x, -0.5, 0.0)))


def test_depth_is_that_of_the_plane():
    view = ShadedPlace.of(prepare([GROUND], 64), SUN).at(0.0).view(DOWN)
    assert np.nanmax(np.abs(view.depth - 5.0)) < 0.02  # the camera is almost straight above
    y, x = np.mgrid[0:64, 0:64]
    ways = np.stack([(x - 31.5) / 60, (y - 31.5) / 60, np.ones((64, 64))], -1)
    ways = ways @ DOWN.world_from_camera[:3, :3].T
    np.testing.assert_allclose(view.depth, 5.0 / ways[..., 1], rtol=1e-6)


def test_the_sky_has_no_depth():
    up = pinhole((16, 16), 20.0, pose_looking((0, -1, 0), (0, -3, 1)))
    view = ShadedPlace.of(prepare([GROUND], 64), SUN).at(0.0).view(up)
    assert np.isnan(view.depth).all()
    assert not view.moving.any()


def test_a_roof_throws_a_shadow_below_itself_and_nowhere_else():
    aside = pinhole((64, 64), 60.0, pose_looking((0, -0.8, -2.5), (0, 0, 0)))
    free, roofed = (
        ShadedPlace.of(prepare(things, 64), SUN).at(0.0).view(aside).image.astype(float)
        for things in ([GROUND], [GROUND, ROOF])
    )
    below, outside = (slice(31, 34), slice(29, 35)), (slice(50, 60), slice(0, 64))
    assert roofed[below].mean() < 0.75 * free[below].mean()
    np.testing.assert_allclose(roofed[outside], free[outside], atol=3)


def test_moving_things_are_marked_and_where_their_motion_says():
    ball = Thing("ball", meshes.ball(0.3, 1.0, 24), plain("#cc3020"))
    place = ShadedPlace.of(prepare([GROUND], 64), SUN, [ball], {"ball": Moving((1.0, 0.0, 0.0))})
    columns = [np.nonzero(place.at(t).view(side_camera()).moving)[1].mean() for t in (0.0, 0.5)]
    assert columns[0] == pytest.approx(31.5, abs=0.5)
    assert columns[1] - columns[0] == pytest.approx(60 * 0.5 / 4.0, abs=1.0)


def test_a_point_has_almost_the_same_colour_in_both_views():
    wall = Thing(
        "wall",
        meshes.rectangle((-4, 0, 0), (8, 0, 0), (0, -4, 0), 1.0),
        surface("contours", "#203040 #708090 #e0e0e0", 3.0),
    )
    moment = ShadedPlace.of(prepare([wall], 128), SUN).at(0.0)
    left, right = (
        pinhole((64, 64), 64.0, pose_looking((x, -2, -2), (x, -2, 0))) for x in (0.0, 0.25)
    )
    shift = 8  # 64 px * 0.25 m / 2 m
    a = moment.view(left).image[:, shift:].astype(int)
    b = moment.view(right).image[:, :-shift].astype(int)
    # Not equal: the footprint of a pixel grows a little towards the image's border.
    assert np.abs(a - b).max() <= 4
    assert np.abs(a - b).mean() < 0.5


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_repeat_without_a_seam_and_keep_their_look_at_every_size(name):
    look = surface(name, "#303840 #808890 #e0e4e8", 2.0, 1)
    small, large = (look.picture(n).mean(axis=-1) for n in (128, 256))
    assert 0.02 < small.std() < 0.5
    halved = large.reshape(128, 2, 128, 2).mean(axis=(1, 3))
    assert np.corrcoef(small.ravel(), halved.ravel())[0, 1] > 0.5
