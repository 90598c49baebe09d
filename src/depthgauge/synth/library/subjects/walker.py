"""A walking figure in bright clothes."""

from __future__ import annotations

from depthgauge.synth.library.subjects._actions import Moment
from depthgauge.synth.library.subjects._joints import Angles, Bone, SubjectKind, limb, swing
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes

_SHIRTS = ("#7a1c24 #c23a3a #f0b8a0", "#123c6a #2c72b8 #b8dcf0", "#6a5a10 #d0a828 #f8ecb0")
_TROUSERS = ("#20283c #3a4868 #6c7a9c", "#3a2c20 #644c38 #94785c", "#2a332c #4a5a4e #7c8c80")


def build(seed: int) -> tuple[Bone, ...]:
    """Trunk, head, upper and lower arms and legs."""
    shirt = surface("cloth", _SHIRTS[seed % 3], 0.6, seed % 4)
    trousers = surface("cloth", _TROUSERS[seed // 3 % 3], 0.5, 1)
    skin = surface("mottled", "#8a5a40 #b98262 #d8a888", 0.5, seed % 3)
    hair = surface("bark", "#1c130c #3a281a #5e4630", 0.3, seed % 3)
    shoe = surface("mottled", "#1a1a1e #34343a #606068", 0.3, 1)
    chest = meshes.lathe(
        [(0.0, 0.86), (0.15, 0.88), (0.14, 1.0), (0.19, 1.3), (0.16, 1.43), (0.06, 1.5), (0, 1.51)],
        24,
        2,
    )
    head = meshes.lathe([(0.0, 1.5), (0.06, 1.51), (0.1, 1.6), (0.095, 1.7), (0.0, 1.77)], 24, 2)
    cap = meshes.lathe([(0.108, 1.64), (0.107, 1.72), (0.06, 1.79), (0.0, 1.8)], 24, 2)
    nose = meshes.ball(0.02, 1.0, 12).moved(0.0, -1.61, 0.1)
    bones = [
        Bone("trunk", "", (0.0, -0.95, 0.0), ((chest, shirt),)),
        Bone("head", "trunk", (0.0, -1.5, 0.0), ((head, skin), (nose, skin), (cap, hair))),
    ]
    for side, x in (("left", -1.0), ("right", 1.0)):
        arm = limb((0.22 * x, -1.42, 0), (0.25 * x, -1.13, 0), 0.055)
        fore = limb((0.25 * x, -1.14, 0), (0.26 * x, -0.85, 0.02), 0.042)
        hand = meshes.ball(0.05, 1.2, 14).moved(0.26 * x, -0.76, 0.02)
        thigh = limb((0.09 * x, -0.92, 0), (0.1 * x, -0.48, 0), 0.085)
        shin = limb((0.1 * x, -0.5, 0), (0.1 * x, -0.07, 0), 0.06)
        foot = meshes.box(0.1, 0.09, 0.27, 0.1).moved(0.1 * x, 0.0, 0.06)
        bones += [
            Bone(f"{side} arm", "trunk", (0.22 * x, -1.4, 0), ((arm, shirt),)),
            Bone(f"{side} hand", f"{side} arm", (0.25 * x, -1.13, 0), ((fore, skin), (hand, skin))),
            Bone(f"{side} leg", "", (0.09 * x, -0.9, 0), ((thigh, trousers),)),
            Bone(
                f"{side} foot",
                f"{side} leg",
                (0.1 * x, -0.48, 0),
                ((shin, trousers), (foot, shoe)),
            ),
        ]
    return tuple(bones)


def joints(m: Moment) -> Angles:
    """Legs swing against arms; a gesture raises the right arm."""
    leg = swing(m.stride, 32)
    return {
        "trunk": (0.0, 4 * m.stride, 0.0),
        "head": (0.0, -6 * m.other, 0.0),
        "left leg": (leg, 0.0, 0.0),
        "right leg": (-leg, 0.0, 0.0),
        "left foot": (-22 * max(0.0, m.other), 0.0, 0.0),
        "right foot": (-22 * max(0.0, -m.other), 0.0, 0.0),
        "left arm": (-leg, 0.0, 6.0),
        "right arm": (leg, 0.0, -6.0 - 140 * m.gesture),
        "left hand": (18.0, 0.0, 0.0),
        "right hand": (18.0, 0.0, -25 * m.gesture * (1 + m.stride)),
    }


SUBJECT = SubjectKind("walker", "a figure in bright clothes", build, joints, 1.8, 0.4)
