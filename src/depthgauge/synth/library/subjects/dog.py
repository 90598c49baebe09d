"""A dog with a wagging tail."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.subjects._actions import Moment
from depthgauge.synth.library.subjects._joints import Angles, Bone, SubjectKind, limb, swing
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import plain

_FURS = ("#4a3018 #8a6236 #c09a64", "#2a2624 #5a5450 #a49c94", "#7a6a50 #b8a684 #e6dcc4")


def build(seed: int) -> tuple[Bone, ...]:
    """Body, neck with head and ears, four legs in two pieces, tail."""
    fur = surface(("bark", "spots", "leaves")[seed % 3], _FURS[seed % 3], 0.7, seed % 4)
    black = plain("#28282a")
    red = plain("#b43c34")
    t = np.linspace(0, 1, 11)
    spine = np.stack([0 * t, -0.56 - 0.02 * np.sin(3 * t), -0.38 + 0.78 * t], axis=-1)
    trunk = meshes.tube(spine, 0.16 * np.clip(1.0 - (1.7 * t - 0.95) ** 6, 0.12, 1), 18)
    neck = limb((0, -0.6, 0.3), (0, -0.84, 0.48), 0.09)
    collar = meshes.lathe([(0.1, 0.0), (0.1, 0.05)], 20, 0).turned(-36, "x").moved(0, -0.7, 0.4)
    skull = meshes.ball(0.12, 0.95, 24).moved(0, -0.78, 0.5)
    snout = limb((0, -0.83, 0.54), (0, -0.79, 0.74), 0.06)
    nose = meshes.ball(0.03, 1.0, 12).moved(0, -0.78, 0.76)
    ears = meshes.join(
        [limb((0.09 * x, -0.94, 0.48), (0.15 * x, -0.78, 0.48), 0.035) for x in (-1, 1)]
    )
    tail = limb((0, -0.62, -0.36), (0, -0.84, -0.6), 0.032)
    bones = [
        Bone("body", "", (0, -0.55, 0), ((trunk, fur),)),
        Bone(
            "head",
            "body",
            (0, -0.62, 0.32),
            ((neck, fur), (skull, fur), (snout, fur), (nose, black), (ears, fur), (collar, red)),
        ),
        Bone("tail", "body", (0, -0.62, -0.36), ((tail, fur),)),
    ]
    for end, z in (("front", 0.28), ("back", -0.28)):
        for side, x in (("left", -0.1), ("right", 0.1)):
            upper = limb((x, -0.54, z), (x, -0.27, z), 0.06)
            lower = limb((x, -0.29, z), (x, -0.03, z + 0.01), 0.042)
            paw = meshes.ball(0.05, 0.6, 14).moved(x, 0.0, z + 0.03)
            name = f"{end} {side} leg"
            bones += [
                Bone(name, "body", (x, -0.52, z), ((upper, fur),)),
                Bone(f"{end} {side} paw", name, (x, -0.28, z), ((lower, fur), (paw, fur))),
            ]
    return tuple(bones)


def joints(m: Moment) -> Angles:
    """Diagonal legs swing together; the tail wags."""
    leg = swing(m.stride, 30)
    found = {
        "body": (2 * m.other, 0.0, 0.0),
        "head": (-12 * m.gesture + 4 * m.other, 10 * m.stride, 0.0),
        "tail": (20 * m.gesture, 28 * m.stride + 25 * m.gesture * m.other, 0.0),
    }
    for end, side, sign in (
        ("front", "left", 1),
        ("front", "right", -1),
        ("back", "left", -1),
        ("back", "right", 1),
    ):
        found[f"{end} {side} leg"] = (sign * leg, 0.0, 0.0)
        found[f"{end} {side} paw"] = (-24 * max(0.0, sign * m.other), 0.0, 0.0)
    return found


SUBJECT = SubjectKind("dog", "a dog with a collar", build, joints, 1.05, 0.55)
