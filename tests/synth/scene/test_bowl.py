"""Bowls: both sides of half a ball."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.scene.frame import turned
from depthgauge.synth.scene.shape import Bowl

FRAME = turned((0.0, 0.0, 5.0))


def enter(inside: bool, x: float, y: float) -> float:
    origin = tuple(np.array([v]) for v in (x, y, 0.0))
    way = tuple(np.array([v]) for v in (0.0, 0.0, 1.0))
    with np.errstate(invalid="ignore"):
        return float(Bowl(FRAME, 2.0, inside).enter(origin, way)[0])


def test_rays_meet_the_outside_before_and_the_inside_behind():
    assert enter(False, 0.0, 1.0) == 5 - np.sqrt(3)  # below the rim
    assert enter(True, 0.0, 1.0) == 5 + np.sqrt(3)
    assert enter(False, 0.0, -1.0) == np.inf  # above the rim there is nothing
    assert enter(True, 2.5, 1.0) == np.inf  # passes by


def test_normals_point_out_of_one_side_and_into_the_other():
    local = tuple(np.array([v]) for v in (0.0, 1.2, -1.6))
    out, into = (np.ravel(Bowl(FRAME, 2.0, side).normal(local)) for side in (False, True))
    assert np.allclose(out, [0, 0.6, -0.8])
    assert np.allclose(into, -out)
    assert Bowl(FRAME, 2.0, True).curved(local).all()


def test_distance_is_to_the_shell():
    bowl = Bowl(FRAME, 2.0, False)
    below, above = (tuple(np.array([v]) for v in at) for at in ((0.0, 3.0, 0.0), (0.0, -1.5, 0.0)))
    assert bowl.distance(below)[0] == 1.0
    assert bowl.distance(above)[0] == 1.5
