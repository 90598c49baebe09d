"""A boxy robot on two legs with an antenna."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.subjects._actions import Moment
from depthgauge.synth.library.subjects._joints import Angles, Bone, SubjectKind, limb, swing
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import plain

_HULLS = ("#8a4a18 #d0782c #f0c08c", "#5a646c #98a4ac #dce2e6", "#1c5a54 #36a096 #b0e4dc")


def build(seed: int) -> tuple[Bone, ...]:
    """Body, head with eyes and antenna, arms with claws, legs with feet."""
    hull = surface("panels", _HULLS[seed % 3], 0.8, seed % 4)
    dark = surface("corrugated", "#1c1f24 #363c44 #626a74", 0.5, 1)
    eye, lamp = plain("#f4f0a0"), plain("#e04030")
    body = meshes.box(0.62, 0.62, 0.42, 0.1).moved(y=-0.62)
    dial = meshes.lathe([(0, 0), (0.12, 0), (0.11, 0.03), (0, 0.03)], 20, 0).turned(-90, "x")
    head = meshes.box(0.4, 0.3, 0.34, 0.1).moved(y=-1.32)
    neck = limb((0, -1.22, 0), (0, -1.36, 0), 0.07)
    eyes = meshes.join([meshes.ball(0.05, 1.0, 16).moved(x, -1.44, 0.16) for x in (-0.1, 0.1)])
    mast = meshes.tube(np.array([[0, -1.6, 0], [0, -1.7, 0], [0, -1.82, 0]]), 0.012, 8)
    tip = meshes.ball(0.035, 1.0, 14).moved(0, -1.8, 0)
    bones = [
        Bone("body", "", (0, -0.8, 0), ((body, hull), (dial.moved(0, -0.95, 0.212), dark))),
        Bone(
            "head",
            "body",
            (0, -1.26, 0),
            ((head, hull), (neck, dark), (eyes, eye), (mast, dark), (tip, lamp)),
        ),
    ]
    for side, x in (("left", -1.0), ("right", 1.0)):
        arm = limb((0.38 * x, -1.16, 0), (0.4 * x, -0.84, 0), 0.06)
        fore = meshes.box(0.13, 0.34, 0.13, 0.1).moved(0.4 * x, -0.5, 0)
        claw = meshes.join(
            [meshes.box(0.03, 0.12, 0.08, 0.1).moved(0.4 * x + d, -0.4, 0) for d in (-0.045, 0.045)]
        )
        leg = limb((0.17 * x, -0.66, 0), (0.17 * x, -0.32, 0), 0.07)
        shin = meshes.box(0.18, 0.24, 0.2, 0.1).moved(0.17 * x, -0.1, 0)
        foot = meshes.box(0.24, 0.1, 0.36, 0.1).moved(0.17 * x, 0, 0.04)
        bones += [
            Bone(f"{side} arm", "body", (0.38 * x, -1.14, 0), ((arm, dark),)),
            Bone(f"{side} hand", f"{side} arm", (0.4 * x, -0.84, 0), ((fore, hull), (claw, dark))),
            Bone(f"{side} leg", "", (0.17 * x, -0.64, 0), ((leg, dark),)),
            Bone(f"{side} foot", f"{side} leg", (0.17 * x, -0.33, 0), ((shin, hull), (foot, dark))),
        ]
    return tuple(bones)


def joints(m: Moment) -> Angles:
    """Stiff steps; the head turns, a gesture raises the left arm."""
    leg = swing(m.stride, 24)
    return {
        "body": (0.0, 3 * m.stride, 3 * m.stride),
        "head": (0.0, 25 * m.other, 0.0),
        "left leg": (leg, 0.0, 0.0),
        "right leg": (-leg, 0.0, 0.0),
        "left foot": (-leg, 0.0, 0.0),
        "right foot": (leg, 0.0, 0.0),
        "left arm": (-leg, 0.0, 130 * m.gesture),
        "right arm": (leg, 0.0, 0.0),
        "left hand": (10.0, 0.0, 20 * m.gesture * m.stride),
        "right hand": (14.0, 0.0, 0.0),
    }


SUBJECT = SubjectKind("robot", "a boxy robot with an antenna", build, joints, 1.82, 0.5)
