"""A small delivery cart on four wheels with a flag."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.subjects._actions import Moment
from depthgauge.synth.library.subjects._joints import Angles, Bone, SubjectKind
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import plain

_COATS = ("#7a1c20 #c84038 #f0c0ac", "#1c4a7a #3c84c4 #c4e0f2", "#5a5a1c #a4a438 #ecebb4")


def build(seed: int) -> tuple[Bone, ...]:
    """Chassis with a box and a mast, four wheels with spokes, a lid that opens."""
    coat = surface("cloth", _COATS[seed % 3], 0.9, seed % 4)
    box = surface("panels", "#6a6458 #a49c8c #dcd6c8", 0.9, seed % 3)
    rubber = surface("asphalt", "#141416 #2a2a2e #505056", 0.4, 1)
    steel = surface("mottled", "#6c7076 #9aa0a6 #c8ccd0", 0.4, 2)
    base = meshes.box(0.6, 0.2, 1.1, 0.1).moved(y=-0.22)
    case = meshes.box(0.56, 0.5, 0.86, 0.1).moved(y=-0.421, z=-0.06)
    lid = meshes.box(0.58, 0.05, 0.9, 0.1).moved(y=-0.925, z=-0.06)
    front = meshes.box(0.5, 0.26, 0.06, 0.1).moved(0, -0.5, 0.42)
    mast = meshes.tube(
        np.array([[0.24, -0.9, -0.5], [0.24, -1.2, -0.5], [0.24, -1.5, -0.5]]), 0.012, 8
    )
    x, y = np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 8), indexing="ij")
    flag = meshes.sheet(
        np.stack([0.24 + 0.04 * np.sin(5 * x) * x, -1.5 + 0.22 * y, -0.5 - 0.34 * x], axis=-1)
    )
    lamps = meshes.join([meshes.ball(0.04, 1, 14).moved(a, -0.34, 0.54) for a in (-0.2, 0.2)])
    bones = [
        Bone(
            "chassis",
            "",
            (0, -0.3, 0),
            ((base, coat), (case, box), (front, coat), (lamps, plain("#f6efb8"))),
        ),
        Bone("lid", "chassis", (0, -0.92, -0.51), ((lid, coat),)),
        Bone("flag", "chassis", (0.24, -1.0, -0.5), ((mast, steel), (flag, plain("#e07a20")))),
    ]
    wheel = meshes.lathe(
        [(0, 0), (0.13, 0.0), (0.2, 0.01), (0.2, 0.09), (0.13, 0.1), (0, 0.1)], 22, 0
    )
    spoke = meshes.box(0.3, 0.012, 0.05, 0.1)
    hub = meshes.join([spoke.moved(y=-0.1), spoke.turned(90).moved(y=-0.1)])
    for end, z in (("front", 0.36), ("back", -0.36)):
        for side, way in (("left", -1.0), ("right", 1.0)):
            place = (0.31 * way, -0.2, z)
            tyre, cross = (part.turned(90 * way, "z").moved(*place) for part in (wheel, hub))
            bones.append(
                Bone(f"{end} {side} wheel", "chassis", place, ((tyre, rubber), (cross, steel)))
            )
    return tuple(bones)


def joints(m: Moment) -> Angles:
    """Wheels roll; a gesture opens the lid."""
    roll = -160 * m.turns
    wheels = {
        f"{end} {side} wheel": (roll, 0.0, 0.0)
        for end in ("front", "back")
        for side in ("left", "right")
    }
    return {**wheels, "lid": (-55 * m.gesture, 0.0, 0.0), "flag": (3 * m.other, 0.0, 5 * m.stride)}


SUBJECT = SubjectKind("cart", "a delivery cart with a flag", build, joints, 1.5, 0.7)
