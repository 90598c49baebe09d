"""Turned shapes: what leans is put upright again, and what does not is left as it was drawn."""

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.annotate.quality.clouds import edist
from depthgauge.annotate.quality.rotation import rotate_normals
from depthgauge.annotate.quality.turned_shape import TurnableSurfaces, TurnedShape
from depthgauge.annotate.quality.witnesses import human, measured
from depthgauge.annotate.records.annotation import NormalMark
from depthgauge.annotate.simulate.annotator import HUMAN, simulate
from depthgauge.errors import Misuse
from depthgauge.synth.sets.single_views import KINDS, make_view
from depthgauge.types import Camera

W, H = 64, 48
CAMERA = Camera((60.0, 60.0), (31.5, 23.5), (W, H))
SIZE_PX = (120, 90)


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


def leaning(annotation, lean):
    """The same drawing with every normal turned."""
    turned = {
        name: NormalMark(mark.at_px, tuple(rotate_normals(np.array(mark.normal), lean).tolist()))
        for name, mark in annotation.normals.items()
    }
    return replace(annotation, normals=turned)


def scene(kind, number=3):
    """An exact view, and its sensor."""
    view = make_view(kind, number, SIZE_PX, held=True)
    return view, measured("s", "sensor", view.depth, view.camera, normals=view.normals)


@pytest.mark.parametrize("kind", KINDS)
def test_turning_by_nothing_changes_nothing(kind):
    """Occlusions inside a surface and folds are kept as the reconstruction has them."""
    view, sensor = scene(kind)
    person = human(simulate(view, HUMAN, 1))
    own = edist(person.depth, person.camera, view.depth, view.camera, surfaces=person.surfaces)
    assert TurnedShape(person.reconstruction).edist(sensor) == pytest.approx(own, rel=1e-4)


@pytest.mark.parametrize(
    "lean", [(9.0, 0.0, 0.0), pytest.param((-4.0, 5.0, 3.0), marks=pytest.mark.long)]
)
def test_a_lean_is_found_and_undone(lean):
    view, sensor = scene("planar")
    exact = simulate(view)
    upright = human(exact)
    person = human(leaning(exact, lean))
    before = edist(person.depth, person.camera, view.depth, view.camera, surfaces=person.surfaces)
    own = edist(upright.depth, upright.camera, view.depth, view.camera, surfaces=upright.surfaces)
    after, turn = TurnableSurfaces(person).edist_after_turning(sensor)
    assert before > 3 * own
    assert after < 1.2 * own + 0.02 * before
    assert turn.vector_deg == pytest.approx([-v for v in lean], abs=1.0)


def test_who_does_not_lean_is_hardly_turned():
    view, sensor = scene("planar")
    person = human(simulate(view))
    own = edist(person.depth, person.camera, view.depth, view.camera, surfaces=person.surfaces)
    after, turn = TurnableSurfaces(person).edist_after_turning(sensor)
    assert after <= own * (1 + 1e-4)
    assert turn.angle_deg < 1.0


def test_what_nobody_drew_cannot_be_turned():
    _, sensor = scene("planar")
    with pytest.raises(Misuse, match="only a person's reconstruction"):
        TurnableSurfaces(sensor)
