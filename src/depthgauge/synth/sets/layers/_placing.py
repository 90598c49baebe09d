"""Objects on the tops of a room: where they stand, and how some of them are moved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.glassware import KINDS
from depthgauge.synth.library.interiors import Top
from depthgauge.synth.library.objects import LIFT_M, Things
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.motion import Chain, Motion, Moving, Turning

_TRIES = 12
_CLEAR_M = 0.008
"""Smallest distance between the circles around two objects."""
_PLAIN_SHARE = 0.3
"""Share of objects that neither shine nor let light through."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """An object on a top."""

    things: tuple[Thing, ...]
    at_m: tuple[float, float, float]
    radius_m: float
    """Of the upright cylinder around it."""


def object_of(number: int, rng: np.random.Generator) -> Things:
    """A random object of the library, mostly of glass or metal; it stands at the origin."""
    if rng.random() < _PLAIN_SHARE:
        return _plain_object(number, rng)
    names = list(KINDS)
    kind = names[int(rng.integers(len(names)))]
    return KINDS[kind](f"{kind.replace('_', ' ')} {number}", finishes.shiny(rng), rng)


def _plain_object(number: int, rng: np.random.Generator) -> Things:
    seed = int(rng.integers(1 << 30))
    pick = int(rng.integers(5))
    if pick == 0:
        return _one(
            objects.books(f"book {number}", int(rng.integers(1, 4)), seed), f"book {number}"
        )
    if pick == 1:
        tone = ("#e08a1e", "#a83226", "#7fa03a", "#d8c04a")[int(rng.integers(4))]
        return objects.fruit(f"fruit {number}", tone, float(rng.uniform(0.03, 0.05)), seed)
    if pick == 2:
        wide, tall, deep = (float(v) for v in rng.uniform(0.05, 0.16, 3))
        return objects.carton(f"carton {number}", (wide, tall, deep), seed)
    if pick == 3:
        return objects.mug(f"mug {number}", finishes.ceramic(rng))
    return objects.vase(f"crock {number}", finishes.ceramic(rng), float(rng.uniform(0.12, 0.2)))


def _one(things: Things, name: str) -> Things:
    """All parts as one object."""
    return [Thing(name, t.mesh, t.material) for t in things]


def place_objects(
    top: Top, count: int, first: int, rng: np.random.Generator, taken: list[Placed]
) -> list[Placed]:
    """Up to `count` objects on a top that stand apart from each other.

    Args:
        top: Where.
        count: How many are tried.
        first: Number of the first, which keeps names apart.
        rng: Chooses objects and places.
        taken: What stands there already.
    """
    found: list[Placed] = []
    for number in range(first, first + count):
        turn = float(rng.uniform(0, 360))
        made = [Thing(t.name, t.mesh.turned(turn), t.material) for t in object_of(number, rng)]
        radius = reach_of(made)
        for _ in range(_TRIES):
            spot = _spot(top, radius, rng)
            if spot is not None and _is_free(spot, radius, [*taken, *found]):
                x, y, z = spot
                things = tuple(
                    Thing(t.name, t.mesh.moved(x, y - LIFT_M, z), t.material) for t in made
                )
                found.append(Placed(things, spot, radius))
                break
    return found


def reach_of(things: Things) -> float:
    """Radius of the upright cylinder about the origin around things."""
    corners = np.concatenate([t.mesh.vertices for t in things])
    return float(np.hypot(corners[:, 0], corners[:, 2]).max())


def _spot(top: Top, radius: float, rng: np.random.Generator) -> tuple[float, float, float] | None:
    """A place where the middle half of the object is over the top; None if it is too large."""
    room = [half - 0.5 * radius for half in top.half_m]
    if min(room) <= 0:
        return None
    x, y, z = top.centre_m
    along, across = (float(rng.uniform(-r, r)) for r in room)
    return x + along, y, z + across


def _is_free(spot: tuple[float, float, float], radius: float, others: list[Placed]) -> bool:
    return all(
        math.hypot(spot[0] - o.at_m[0], spot[2] - o.at_m[2]) > radius + o.radius_m + _CLEAR_M
        for o in others
        if abs(spot[1] - o.at_m[1]) < 0.01
    )


def moved_on_tops(
    objects_: list[Placed], share: float, rng: np.random.Generator
) -> dict[str, Motion]:
    """Motions over one second of some of the objects: they turn, and slide where there is room."""
    motions: dict[str, Motion] = {}
    for placed in objects_:
        turn, slide = float(rng.uniform(-25, 25)), rng.uniform(-0.05, 0.05, 2)
        if rng.random() >= share:
            continue
        others = [o for o in objects_ if o is not placed]
        x, y, z = placed.at_m
        goal = (x + float(slide[0]), y, z + float(slide[1]))
        # The radius of the swept circle; other objects may come closer by as much.
        grown = placed.radius_m + 0.05
        way = (goal[0] - x, 0.0, goal[2] - z) if _is_free(goal, grown, others) else (0.0, 0.0, 0.0)
        motion = Chain((Turning(turn, "y", placed.at_m), Moving(way)))
        motions |= dict.fromkeys((t.name for t in placed.things), motion)
    return motions
