"""A large bird that flies at the height of a head."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.subjects._actions import Moment
from depthgauge.synth.library.subjects._joints import Angles, Bone, SubjectKind, limb
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import plain
from depthgauge.synth.scene.mesh import Mesh

_PLUMES = ("#16324a #2f6a94 #c8dce6", "#6a1c18 #b44030 #f0c8a0", "#2a2a2e #6a6a70 #e8e8ea")


def build(seed: int) -> tuple[Bone, ...]:
    """Body with head and beak, two wings in two pieces, tail."""
    plume = surface(("strata", "cloth", "spots")[seed % 3], _PLUMES[seed % 3], 0.6, seed % 4)
    light = surface("bark", "#8a8478 #bcb6a8 #e8e4d8", 0.5, 2)
    yellow = plain("#e0a020")
    t = np.linspace(0, 1, 11)
    line = np.stack([0 * t, -0.3 - 0.06 * t, -0.36 + 0.72 * t], axis=-1)
    body = meshes.tube(line, 0.15 * np.sin(np.pi * np.clip(0.1 + 0.85 * t, 0, 1)) + 0.01, 18)
    head = meshes.ball(0.1, 1.0, 20).moved(0, -0.34, 0.4)
    beak = meshes.lathe([(0, 0), (0.035, 0.0), (0, 0.16)], 12, 0).turned(-90, "x")
    tail = _blade((0, -0.31, -0.3), (0, -0.3, -0.62), 0.2)
    bones = [
        Bone(
            "body",
            "",
            (0, -0.3, 0),
            ((body, plume), (head, light), (beak.moved(0, -0.43, 0.48), yellow)),
        ),
        Bone("tail", "body", (0, -0.31, -0.3), ((tail, light),)),
    ]
    for side, x in (("left", -1.0), ("right", 1.0)):
        inner = _blade((0.08 * x, -0.36, 0.03), (0.52 * x, -0.36, 0.0), 0.36)
        outer = _blade((0.5 * x, -0.36, 0.0), (0.98 * x, -0.36, -0.12), 0.26)
        bones += [
            Bone(f"{side} wing", "body", (0.08 * x, -0.36, 0), ((inner, plume),)),
            Bone(f"{side} tip", f"{side} wing", (0.51 * x, -0.36, 0), ((outer, light),)),
        ]
    bones.append(
        Bone(
            "feet",
            "body",
            (0, -0.22, -0.1),
            ((limb((0, -0.2, -0.05), (0, -0.12, -0.25), 0.02), yellow),),
        )
    )
    return tuple(bones)


def _blade(start: tuple[float, float, float], end: tuple[float, float, float], wide: float) -> Mesh:
    """A flat feathered surface, thick enough to be seen edge-on."""
    a, b = np.array(start), np.array(end)
    along = (b - a) / np.linalg.norm(b - a)
    across = np.cross(along, [0.0, 1.0, 0.0])
    t, s = np.meshgrid(np.linspace(0, 1, 10), np.linspace(-0.5, 0.5, 7), indexing="ij")
    taper = np.sqrt(np.clip(1 - 0.75 * t**2, 0, 1))
    points = a + t[..., None] * (b - a) + (s * wide * taper)[..., None] * across
    points[..., 1] -= 0.03 * np.cos(np.pi * s)
    upper = meshes.sheet(points)
    return meshes.join([upper, upper.moved(y=0.014)])


def joints(m: Moment) -> Angles:
    """Wings beat up and down."""
    beat = 38 * m.stride + 12 * m.gesture
    if abs(m.stride) < 0.2:
        beat += 16 * m.other
    return {
        "body": (4 * m.other, 0.0, 0.0),
        "left wing": (0.0, 0.0, beat),
        "right wing": (0.0, 0.0, -beat),
        "left tip": (0.0, 0.0, 0.6 * beat),
        "right tip": (0.0, 0.0, -0.6 * beat),
        "tail": (8 * m.other, 0.0, 0.0),
    }


SUBJECT = SubjectKind("bird", "a large bird", build, joints, 0.6, 0.95, hover_m=0.9)
