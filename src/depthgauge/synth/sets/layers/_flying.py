"""Objects that fly through the view: where they are, how large they appear, how they move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library import finishes
from depthgauge.synth.library.glassware import KINDS
from depthgauge.synth.library.objects import Things
from depthgauge.synth.render.embree import TracedScene, rays_at
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.motion import Chain, Motion, Moving, Turning
from depthgauge.synth.sets.layers._cameras import CameraPair

_TRIES = 20
_DIRECTIONS = 64
_CLEAR = 1.05
"""Free space around an object, in multiples of its radius."""
_NEAREST_M = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Flying:
    """Objects in the air."""

    things: tuple[Thing, ...]
    motions: dict[str, Motion]


def fly(
    frame: TracedScene, pair: CameraPair, count: int, motion: float, rng: np.random.Generator
) -> Flying:
    """Up to `count` objects in the air before the left camera that touch nothing.

    Args:
        frame: The scene without them, at the first time.
        pair: The cameras.
        count: How many are wanted; where there is no room there are fewer.
        motion: Factor on how fast they move and turn.
        rng: Chooses everything.
    """
    things: list[Thing] = []
    motions: dict[str, Motion] = {}
    balls: list[tuple[NDArray[np.float64], float]] = []
    names = list(KINDS)
    for number in range(count):
        kind = names[int(rng.integers(len(names)))]
        name = f"flying {kind.replace('_', ' ')} {number + 1}"
        made = KINDS[kind](name, finishes.shiny(rng, 0.85), rng)
        made, radius = _centred(made, rng)
        # Drawn before the place is known, so that each object takes the same random numbers.
        turn, speed = rng.normal(0, 14.0 * motion, 2), rng.normal(0, 0.035 * motion, 3)
        for _ in range(_TRIES):
            centre = _place(frame, pair, radius, rng)
            if centre is None:
                continue
            reach = _CLEAR * radius + float(np.linalg.norm(speed))
            ball = (centre, reach)
            if _is_free(frame, *ball) and _is_apart(pair, ball, balls):
                x, y, z = (float(v) for v in centre)
                things += [Thing(t.name, t.mesh.moved(x, y, z), t.material) for t in made]
                about = (x, y, z)
                turns = Turning(float(turn[0]), "y", about), Turning(float(turn[1]), "x", about)
                way = Moving((float(speed[0]), float(speed[1]), float(speed[2])))
                path = Chain((*turns, way))
                motions |= dict.fromkeys((t.name for t in made), path)
                balls.append(ball)
                break
    return Flying(tuple(things), motions)


def _centred(made: Things, rng: np.random.Generator) -> tuple[Things, float]:
    """An object turned at random about its middle, and the radius of the ball around it."""
    corners = np.concatenate([t.mesh.vertices for t in made])
    x, y, z = (float(v) for v in -(corners.min(axis=0) + corners.max(axis=0)) / 2)
    radius = float(np.linalg.norm(corners + np.array([x, y, z]), axis=1).max())
    yaw, lean, roll = float(rng.uniform(0, 360)), *(float(v) for v in rng.normal(0, 25, 2))
    turned = [
        Thing(
            t.name,
            t.mesh.moved(x, y, z).turned(yaw).turned(lean, "x").turned(roll, "z"),
            t.material,
        )
        for t in made
    ]
    return turned, radius


def _place(
    frame: TracedScene, pair: CameraPair, radius: float, rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """A point in the left view, before what is seen there."""
    width, height = pair.left.size_px
    # The same ray at every size of the picture.
    at = rng.uniform((0.12, 0.12), (0.88, 0.88)) * (width, height) - 0.5
    share = float(rng.uniform(0.35, 0.9))
    eye, ways = rays_at(pair.left, at[None])
    depth = float(frame.rays.cast(eye, ways).distance[0])
    if not np.isfinite(depth):
        return None
    near = max(_NEAREST_M, 2.2 * radius)
    far = min(depth - 1.1 * radius, 2.2)
    if far <= near:
        return None
    point: NDArray[np.float64] = eye + (near + share * (far - near)) * ways[0]
    return point


def _is_free(frame: TracedScene, centre: NDArray[np.float64], reach: float) -> bool:
    """Whether nothing is inside the ball, tried in many directions."""
    steps = np.arange(_DIRECTIONS) + 0.5
    up = 1 - 2 * steps / _DIRECTIONS
    around = np.pi * (1 + 5**0.5) * steps
    level = np.sqrt(1 - up * up)
    ways = np.stack([level * np.cos(around), up, level * np.sin(around)], axis=-1)
    nearest = frame.rays.cast(centre, ways).distance
    return not bool((nearest < reach).any())


def _is_apart(
    pair: CameraPair,
    ball: tuple[NDArray[np.float64], float],
    others: list[tuple[NDArray[np.float64], float]],
) -> bool:
    """Whether a ball meets neither another one nor a camera."""
    centre, reach = ball
    eyes = [
        pair.at(s, later).world_from_camera[:3, 3]
        for s in ("left", "right")
        for later in (False, True)
    ]
    if any(float(np.linalg.norm(centre - eye)) < reach + 0.1 for eye in eyes):
        return False
    return all(float(np.linalg.norm(centre - c)) > reach + r for c, r in others)
