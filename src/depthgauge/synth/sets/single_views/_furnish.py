"""Random rooms with things in them: flat ones, round ones, or both.

The camera looks down at a spot on the floor. The strip of the floor across that spot is as wide as
the image for every focal length, so things have about the same size in every picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from depthgauge.synth.library.shapes import (
    agate,
    ball,
    box,
    column,
    floor,
    marble,
    roll,
    stone,
    wood,
)
from depthgauge.synth.library.shapes import wall as wall_through
from depthgauge.synth.render.closed_form.rays import View
from depthgauge.synth.scene.frame import turned
from depthgauge.synth.scene.model import Body, ShapeScene
from depthgauge.synth.scene.shape import Bowl
from depthgauge.synth.scene.texture import Paint, Plain, colour

WIDE_M = 2.4
"""Width of what is seen at the distance of the spot."""
FOCAL_WIDTHS = (0.6, 3.0)
_DOWN_DEG = (14.0, 34.0)
_HELD_DOWN_DEG, _HELD_ROLL_DEG = (28.0, 48.0), 10.0
_TONES = (
    "#6d4a2f #9c6f47 #c9a271",
    "#7d8f9c #aebcc4 #dfe5e6",
    "#1f4e5f #3f8a8c #e9d8a6",
    "#7a1f2b #d1495b #f4d6c6",
    "#23395b #5b7db1 #e6ecf5",
    "#b5651d #f2a541 #fff1cf",
    "#2d4a32 #6a994e #dfe8b8",
    "#4a3468 #8767b3 #e5dbf2",
    "#5f7470 #8ea7a1 #cbdad5",
    "#8a2d3b #d8596a #f7d3c8",
)


@dataclass(slots=True)
class Stage:
    """A floor with walls, and its occupied places."""

    rng: np.random.Generator
    distance_m: float
    """Distance from the camera to the spot, along the floor."""
    near_m: float
    """How far things may come towards the camera from the spot."""
    taken: list[tuple[float, float, float]]
    """x, z and radius of each occupied place."""
    walls: list[tuple[tuple[float, float], float]]
    """A point (x, z) of each wall, and its turn in degrees."""

    def place(self, radius_m: float) -> tuple[float, float] | None:
        """A free place (x, z) for something of this radius; None if there is no room."""
        for _ in range(60):
            aside = float(self.rng.uniform(-1.0, 1.0))
            away = float(self.rng.uniform(-self.near_m, 0.9))
            x, z = aside * (1 + away / self.distance_m), self.distance_m + away
            free = all(math.hypot(x - a, z - b) > radius_m + r for a, b, r in self.taken)
            if free and all(_before(wall, x, z) > radius_m for wall in self.walls):
                self.taken.append((x, z, radius_m))
                return x, z
        return None

    def yaw_deg(self) -> float:
        """A random rotation of a box."""
        return self.between(0, 90)

    def between(self, low: float, high: float) -> float:
        """A random number."""
        return float(self.rng.uniform(low, high))

    def paint(self, fine: float = 1.0) -> Paint:
        """A random texture; one in six is plain."""
        codes = _TONES[int(self.rng.integers(len(_TONES)))]
        seed = int(self.rng.integers(1 << 20))
        grain = fine * self.between(0.014, 0.03)
        kinds: tuple[Callable[[], Paint], ...] = (
            lambda: Plain(colour(codes.split()[1])),
            lambda: stone(codes, seed, grain),
            lambda: stone(codes, seed, grain),
            lambda: agate(codes, seed, grain),
            lambda: wood(codes, seed, grain, 8 * grain),
            lambda: marble(codes, seed, grain),
        )
        return kinds[int(self.rng.integers(len(kinds)))]()


def furnish(
    kind: str, seed: int, trial: int, size_px: tuple[int, int], *, held: bool = False
) -> tuple[ShapeScene, View]:
    """A random scene of a kind and the camera that looks at it.

    Args:
        kind: One of `KINDS`.
        seed: Seed of the scene and the camera.
        trial: Number of the attempt with this seed.
        size_px: Width and height.
        held: The camera is held by hand: it looks down more steeply and is not level.
    """
    rng = np.random.default_rng([seed, trial, sum(kind.encode()), 61])
    low, high = (math.log(widths) for widths in FOCAL_WIDTHS)
    focal_widths = math.exp(float(rng.uniform(low, high)))
    down = float(rng.uniform(*(_HELD_DOWN_DEG if held else _DOWN_DEG)))
    away = WIDE_M * focal_widths
    eye = away * math.sin(math.radians(down))
    along = away * math.cos(math.radians(down))
    stage = Stage(rng, along, min(0.9, 0.3 * along), [], [])
    things = [floor(stage.paint(1.3)), *_walls(stage), *_MAKERS[kind](stage)]
    light = (float(rng.uniform(-0.8, 0.8)), -1.0, float(rng.uniform(-0.8, -0.2)))
    scene = ShapeScene(tuple(things), eye, down, 0.1, light, focal_widths)
    roll = float(rng.uniform(-_HELD_ROLL_DEG, _HELD_ROLL_DEG)) if held else 0.0
    frame = turned((0.0, -eye, 0.0), pitch_deg=-down, roll_deg=roll)
    return scene, View(frame, focal_widths * size_px[0], size_px)


def _walls(stage: Stage) -> list[Body]:
    """One wall behind, or a corner of two."""
    back = stage.distance_m + stage.between(1.3, 2.2)
    if stage.rng.random() < 0.5:
        stage.walls.append(((0.0, back), stage.between(-18, 18)))
    else:
        turn, corner = stage.between(22, 68), (stage.between(-0.7, 0.7), back + 0.3)
        stage.walls += [(corner, turn), (corner, turn - 90)]
    return [wall_through(at, turn, stage.paint(2.0)) for at, turn in stage.walls]


def _before(wall: tuple[tuple[float, float], float], x: float, z: float) -> float:
    """Distance of a place in front of a wall."""
    (a, b), turn = wall[0], math.radians(wall[1])
    return (x - a) * math.sin(turn) - (z - b) * math.cos(turn)


def _flat(stage: Stage) -> list[Body]:
    makers = (_crate, _crate, _tower, _steps, _table, _lying, _hanging, _hanging)
    chosen = stage.rng.permutation(len(makers))[: int(stage.rng.integers(4, 8))]
    return [thing for index in chosen for thing in makers[int(index)](stage)]


def _round(stage: Stage) -> list[Body]:
    makers = (_ball, _ball, _egg, _column, _roll, _bowl, _heap, _balloon)
    chosen = stage.rng.permutation(len(makers))[: int(stage.rng.integers(4, 8))]
    return [thing for index in chosen for thing in makers[int(index)](stage)]


def _both(stage: Stage) -> list[Body]:
    makers = (_crate, _ball, _tower, _column, _table, _bowl, _egg, _steps, _roll, _hanging, _heap)
    chosen = stage.rng.permutation(len(makers))[: int(stage.rng.integers(5, 9))]
    return [thing for index in chosen for thing in makers[int(index)](stage)]


_MAKERS: dict[str, Callable[[Stage], list[Body]]] = {
    "curved": _round,
    "mixed": _both,
    "planar": _flat,
}
KINDS = tuple(sorted(_MAKERS))
"""Kinds of scenes in closed form."""


def _crate(stage: Stage) -> list[Body]:
    size = tuple(stage.between(0.25, 0.6) for _ in range(3))
    at = stage.place(0.55 * math.hypot(size[0], size[2]))
    if at is None:
        return []
    return [box(at, (size[0], size[1], size[2]), stage.paint(), yaw_deg=stage.yaw_deg())]


def _tower(stage: Stage) -> list[Body]:
    wide, high = stage.between(0.35, 0.55), stage.between(0.2, 0.4)
    at = stage.place(0.8 * wide)
    if at is None:
        return []
    lower = box(at, (wide, high, wide), stage.paint(), yaw_deg=stage.yaw_deg())
    share, up = stage.between(0.45, 0.7), stage.between(0.15, 0.3)
    small = (share * wide, up, share * wide)
    return [lower, box(at, small, stage.paint(), yaw_deg=stage.yaw_deg(), up_m=high)]


def _steps(stage: Stage) -> list[Body]:
    count, rise, tread = int(stage.rng.integers(2, 5)), stage.between(0.1, 0.18), 0.25
    at = stage.place(0.35 * (count * tread + 0.5))
    if at is None:
        return []
    yaw, paint, wide = stage.yaw_deg(), stage.paint(), stage.between(0.45, 0.7)
    turn = math.radians(yaw)
    found = []
    for i in range(count):
        back = tread * (i - (count - 1) / 2)
        x, z = at[0] + back * math.sin(turn), at[1] + back * math.cos(turn)
        found.append(box((x, z), (wide, rise * (i + 1), tread), paint, yaw_deg=yaw))
    return found


def _table(stage: Stage) -> list[Body]:
    wide, deep, high = stage.between(0.6, 0.9), stage.between(0.4, 0.55), stage.between(0.3, 0.5)
    at = stage.place(0.5 * math.hypot(wide, deep))
    if at is None:
        return []
    yaw, paint, leg = stage.yaw_deg(), stage.paint(), 0.07
    turn = math.radians(yaw)
    found = [box(at, (wide, 0.06, deep), paint, yaw_deg=yaw, up_m=high)]
    for across in (-0.5, 0.5):
        for along in (-0.5, 0.5):
            a, b = across * (wide - leg), along * (deep - leg)
            x = at[0] + a * math.cos(turn) + b * math.sin(turn)
            z = at[1] - a * math.sin(turn) + b * math.cos(turn)
            found.append(box((x, z), (leg, high, leg), paint, yaw_deg=yaw))
    return found


def _lying(stage: Stage) -> list[Body]:
    at = stage.place(0.4)
    if at is None:
        return []
    size = (stage.between(0.6, 0.8), stage.between(0.08, 0.14), stage.between(0.3, 0.5))
    return [box(at, size, stage.paint(), yaw_deg=stage.yaw_deg())]


def _hanging(stage: Stage) -> list[Body]:
    """A box that touches nothing."""
    size = tuple(stage.between(0.2, 0.4) for _ in range(3))
    at = stage.place(0.5 * math.hypot(size[0], size[2]))
    if at is None:
        return []
    up, yaw = stage.between(0.25, 0.6), stage.yaw_deg()
    return [box(at, (size[0], size[1], size[2]), stage.paint(), yaw_deg=yaw, up_m=up)]


def _balloon(stage: Stage) -> list[Body]:
    """A ball that touches nothing."""
    r = stage.between(0.14, 0.28)
    at = stage.place(r)
    return [] if at is None else [ball(at, (r, r, r), stage.paint(), up_m=stage.between(0.2, 0.6))]


def _ball(stage: Stage) -> list[Body]:
    r = stage.between(0.16, 0.34)
    at = stage.place(r)
    return [] if at is None else [ball(at, (r, r, r), stage.paint())]


def _egg(stage: Stage) -> list[Body]:
    radii = tuple(stage.between(0.15, 0.36) for _ in range(3))
    at = stage.place(max(radii))
    if at is None:
        return []
    return [ball(at, (radii[0], radii[1], radii[2]), stage.paint(), yaw_deg=stage.between(0, 90))]


def _column(stage: Stage) -> list[Body]:
    r = stage.between(0.14, 0.26)
    at = stage.place(r)
    return [] if at is None else [column(at, r, stage.between(0.3, 1.1), stage.paint())]


def _roll(stage: Stage) -> list[Body]:
    r, length = stage.between(0.13, 0.24), stage.between(0.5, 0.8)
    at = stage.place(0.5 * length)
    if at is None:
        return []
    return [roll(at, r, length, stage.paint(), yaw_deg=stage.between(0, 90))]


def _bowl(stage: Stage) -> list[Body]:
    r = stage.between(0.22, 0.36)
    at = stage.place(r)
    if at is None:
        return []
    # Sunk a little, as a bowl with a foot is seen: its lowest ring lies in the floor.
    frame = turned((at[0], -0.9 * r, at[1]))
    paint = stage.paint()
    return [Body(Bowl(frame, r, inside), paint) for inside in (False, True)]


def _heap(stage: Stage) -> list[Body]:
    """A flat dome: an ellipsoid whose lower half is below the floor."""
    a, b, c = stage.between(0.3, 0.5), stage.between(0.12, 0.25), stage.between(0.3, 0.5)
    at = stage.place(max(a, c))
    if at is None:
        return []
    return [ball(at, (a, b, c), stage.paint(), yaw_deg=stage.between(0, 90), up_m=-b)]
