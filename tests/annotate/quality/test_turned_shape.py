"""Turned shapes: two planes that lean are put upright again."""

import numpy as np
import pytest

from depthgauge.annotate.quality.clouds import edist
from depthgauge.annotate.quality.rotation import rotate_normals
from depthgauge.annotate.quality.turned_shape import TurnableSurfaces, TurnedShape
from depthgauge.annotate.quality.witnesses import Witness
from depthgauge.types import Camera

W, H = 64, 48
CAMERA = Camera((60.0, 60.0), (31.5, 23.5), (W, H))


def planes(lean=(0.0, 0.0, 0.0)):
    """Depth and normals of two planes side by side, and their numbers."""
    y, x = np.mgrid[:H, :W]
    rays = np.stack([(x - 31.5) / 60, (y - 23.5) / 60, np.ones((H, W))], axis=-1)
    labels = np.where(x < 30, 1, 2).astype(np.int32)
    depth, normals = np.zeros((H, W)), np.zeros((H, W, 3), np.float32)
    for number, normal, distance in ((1, (0.4, 0.2, -0.9), 2.0), (2, (-0.3, 0.1, -0.95), 3.0)):
        unit = np.array(normal) / np.linalg.norm(normal)
        unit = rotate_normals(unit[None].astype(np.float32), lean)[0]
        depth[labels == number] = (-distance / (rays @ unit))[labels == number]
        normals[labels == number] = unit
    return depth.astype(np.float32), normals, labels


def test_planes_are_integrated_exactly():
    depth, normals, labels = planes()
    found = TurnedShape(normals, labels, CAMERA).depth()
    assert edist(found, CAMERA, depth, CAMERA, surfaces=labels) < 1e-5
    for number in (1, 2):
        assert np.log(found[labels == number]).mean() == pytest.approx(0, abs=1e-5)
    assert np.isnan(TurnedShape(normals, np.zeros((H, W), int), CAMERA).depth()).all()


def test_turning_is_turning_the_normals():
    _, normals, labels = planes()
    turn = (5.0, -8.0, 3.0)
    first = TurnedShape(normals, labels, CAMERA).depth(turn)
    second = TurnedShape(rotate_normals(normals, turn), labels, CAMERA).depth()
    assert np.allclose(first, second, rtol=1e-4)


@pytest.mark.parametrize("lean", [(6.0, -7.0, 4.0), (-12.0, 3.0, 0.0)])
def test_a_lean_is_found_and_undone(lean):
    depth, normals, labels = planes()
    _, turnable, _ = planes(lean)
    person_depth = TurnedShape(turnable, labels, CAMERA).depth()
    person = Witness("p", "human", person_depth, turnable, CAMERA, labels, labels > 0)
    sensor = Witness("s", "sensor", depth, normals, CAMERA)
    before = edist(person_depth, CAMERA, depth, CAMERA, surfaces=labels)
    after, turn = TurnableSurfaces(person).edist_after_turning(sensor)
    assert after < 0.02 * before
    assert turn.vector_deg == pytest.approx([-v for v in lean], abs=0.6)


def test_who_does_not_lean_is_not_turned():
    depth, normals, labels = planes()
    person = Witness("p", "human", depth, normals, CAMERA, labels)
    after, turn = TurnableSurfaces(person).edist_after_turning(
        Witness("s", "sensor", depth, normals, CAMERA)
    )
    assert turn.angle_deg == 0
    assert after < 1e-5
