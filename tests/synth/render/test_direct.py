"""Pictures by direct light: brightness by hand, shadows, smooth edges."""

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.synth.render.direct import direct_view
from depthgauge.synth.render.embree import trace
from depthgauge.synth.render.painted import paint
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.camera import pinhole
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.scene.texture import stored

CAMERA = pinhole((24, 16), 20.0)


def painted(*things, lamp=(0.0, 0.0, 0.0)):
    light = Light(lamp, (0, 0, 2), (1, 1), (2, 2, 2))
    return paint(trace(Scene("s", things, ((light,),))), 64)


def wall(x=-5.0, width=10.0, z=2.0, tone=(0.5, 0.4, 0.3)):
    mesh = meshes.rectangle((x, -5, z), (0, 10, 0), (width, 0, 0))
    return Thing(f"wall {z}", mesh, Material("diffuse", tone))


def test_a_wall_in_front_of_a_lamp_has_its_own_tone():
    camera = replace(CAMERA, centre_px=(12.0, 8.0))
    picture = direct_view(painted(wall()), camera, per_side=1)
    wanted = np.rint(stored(np.array([0.5, 0.4, 0.3])))
    np.testing.assert_array_equal(picture[8, 12], wanted)
    # At 45 degrees, cos 45 of the direct light is left, and all of the ambient one.
    scene = painted(wall(), lamp=(2.0, 0.0, 0.0))
    share = 0.45 + 0.55 * np.sqrt(0.5)
    found = direct_view(scene, camera, per_side=1)[8, 12]
    np.testing.assert_array_equal(found, np.rint(stored(share * np.array([0.5, 0.4, 0.3]))))


def test_a_shadow_has_ambient_light_only():
    scene = painted(wall(), wall(x=0.2, width=0.5, z=1.0), lamp=(0.8, 0.0, 0.0))
    picture = direct_view(scene, CAMERA, per_side=1, ambient=0.25)
    dark = np.rint(stored(0.25 * np.array([0.5, 0.4, 0.3])))
    assert (picture == dark).all(axis=-1).any()
    assert (picture > dark).all(axis=-1).any()


def test_what_hits_nothing_is_sky_and_edges_are_smooth():
    scene = painted(wall(x=0.0))
    coarse = direct_view(scene, CAMERA, per_side=1, sky=(1.0, 1.0, 1.0))
    fine = direct_view(scene, CAMERA, per_side=4, sky=(1.0, 1.0, 1.0))
    assert len(np.unique(coarse[8, :, 0] > 230)) == 2
    edge = direct_view(scene, replace(CAMERA, centre_px=(11.75, 7.5)), per_side=4)
    assert (fine[:, 0] == coarse[:, 0]).all()
    left, middle, right = (int(edge[8, column, 2]) for column in (10, 12, 13))
    assert min(left, right) <= middle <= max(left, right)


def test_all_views_have_one_exposure():
    scene = painted(wall(), lamp=(0.0, 0.0, -50.0))
    shifted = np.eye(4)
    shifted[0, 3] = 0.5
    other = replace(CAMERA, world_from_camera=shifted)
    first, second = (direct_view(scene, camera, per_side=1) for camera in (CAMERA, other))
    assert np.abs(first.astype(int) - second).max() <= 1


def test_without_lamps_there_is_ambient_light():
    picture = direct_view(painted(wall()), CAMERA, lamps=())
    assert picture[8, 12].tolist() == pytest.approx(stored(np.array([0.5, 0.4, 0.3])), abs=0.5)
