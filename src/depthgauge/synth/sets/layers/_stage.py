"""A pair before it is rendered: the room with its objects, lamps, sky and cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import DepthgaugeError
from depthgauge.synth.library import finishes
from depthgauge.synth.library.environments import ENVIRONMENTS, Environment
from depthgauge.synth.library.interiors import LAYOUTS, Interior, interior
from depthgauge.synth.render.embree import TracedScene, trace, visible_surfaces
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Finish, kind_of, roughness_of
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.sets.layers._cameras import CameraPair, draw_cameras, small, why_not
from depthgauge.synth.sets.layers._flying import fly
from depthgauge.synth.sets.layers._placing import Placed, moved_on_tops, place_objects
from depthgauge.types import Camera

_MOST_TRIES = 400
_AT_ONCE = 40
"""After so many cameras in vain the objects of the room are placed anew."""
_GLASSY = ("table", "desk", "stool", "bench", "side table", "chair", "meeting table", "vanity")
"""Furniture that may be of glass: its parts do not overlap."""
_METALLIC = (*_GLASSY, "worktop", "sideboard", "dresser", "washstand", "night table", "bookcase")
_ALTERED = 0.15


@dataclass(frozen=True, slots=True)
class StageOptions:
    """What a pair may look like."""

    size_px: tuple[int, int] = (480, 360)
    seed: int = 0
    rooms: tuple[str, ...] = ()
    """Kinds of rooms; empty: all layouts."""
    flying: int = 6
    """Most objects in the air."""
    glass: float = 0.15
    """Smallest share of pixels whose first layer is transparent."""
    motion: float = 1.0
    """Factor on all motions."""
    rough: float = 0.2
    """Glass rougher than this is not seen through."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Everything that pictures and truth of a pair are made from."""

    scene: Scene
    cameras: CameraPair
    lamps: tuple[Light, ...]
    sky: NDArray[np.float32]
    facts: dict[str, Any] = field(repr=False)
    """What was chosen, for the sample's record."""


def stage(number: int, options: StageOptions) -> Stage:
    """The stage of a pair; the same number and options always give the same.

    Raises:
        DepthgaugeError: No camera sees enough glass.
    """
    rng = np.random.default_rng([options.seed, number, 1])
    kind, layout = _layout(number, options)
    room = interior(kind, layout)
    names = list(ENVIRONMENTS)
    environment = ENVIRONMENTS[names[int(rng.integers(len(names)))]]
    furniture, altered = _altered(room, environment, rng)
    refused: dict[str, int] = {}
    for tries in range(1, _MOST_TRIES + 1):
        if (tries - 1) % _AT_ONCE == 0:
            focus, standing = _furnished(room, rng)
            scene = _scene(room, furniture, standing)
            frame = trace(scene)
        pair = draw_cameras(room.tops[focus], options.size_px, options.motion, rng)
        why = why_not(frame, room, pair)
        if not why:
            count = int(rng.integers((options.flying + 1) // 2, options.flying + 1))
            flying = fly(frame, pair, count, options.motion, rng)
            share = _glass_share(frame, flying.things, pair, options)
            why = "" if share >= options.glass else "sees too little glass"
        if not why:
            break
        refused[why] = refused.get(why, 0) + 1
    else:
        listed = ", ".join(f"{why} {n}" for why, n in refused.items())
        raise DepthgaugeError(
            f"pair {number} ({kind} {layout}): none of {_MOST_TRIES} cameras was kept ({listed}); "
            "ask for less glass or leave out its seed."
        )
    full = replace(scene, things=(*scene.things, *flying.things))
    motions = {**moved_on_tops(standing, 0.4 * min(options.motion, 1.0), rng), **flying.motions}
    lamps, brightness = _lamps(room, rng)
    turn = float(rng.uniform(0, 360))
    facts = {
        "number": number,
        "seed": options.seed,
        "room": kind,
        "layout": layout,
        "environment": environment.name,
        "sky_turn_deg": turn,
        "lamps": brightness,
        "altered": altered,
        "cameras_tried": tries,
        "cameras_refused": refused,
        "glass_share": round(share, 4),
        "flying": sorted({t.name for t in flying.things}),
        "materials": _materials(full),
    }
    return Stage(full.moving(motions), pair, lamps, environment.picture(turn_deg=turn), facts)


def _layout(number: int, options: StageOptions) -> tuple[str, int]:
    """Layouts in a shuffled order, each once before any comes again."""
    chosen = [place for place in LAYOUTS if not options.rooms or place[0] in options.rooms]
    turn, within = divmod(number, len(chosen))
    order = np.random.default_rng([options.seed, turn, 2]).permutation(len(chosen))
    return chosen[int(order[within])]


def _furnished(room: Interior, rng: np.random.Generator) -> tuple[int, list[Placed]]:
    """The top that is looked at, which has most objects, and all objects."""
    focus = int(rng.integers(len(room.tops)))
    standing: list[Placed] = []
    for index, top in enumerate(room.tops):
        area = 4 * top.half_m[0] * top.half_m[1]
        most = 3 + int(rng.integers(0, 4)) if index == focus else int(rng.integers(0, 3))
        count = min(most, max(2, round(area / 0.02)))
        standing += place_objects(top, count, 10 * index + 1, rng, standing)
    return focus, standing


def _scene(room: Interior, furniture: Sequence[Thing], standing: Sequence[Placed]) -> Scene:
    things = [*furniture, *(thing for placed in standing for thing in placed.things)]
    return Scene(f"{room.kind} {room.layout}", tuple(things), (room.lamps,))


def _altered(
    room: Interior, environment: Environment, rng: np.random.Generator
) -> tuple[list[Thing], list[str]]:
    """The room's own things, some of them now of glass or metal, and their names."""
    hedge = finishes.hedge(environment.outside, rng)
    changed: dict[str, Finish] = {}
    for name in _METALLIC:
        chance, glassy = rng.random(), rng.random() < 0.6
        new = finishes.glass(rng) if glassy and name in _GLASSY else finishes.metal(rng)
        if chance < _ALTERED and any(t.name == name for t in room.things):
            changed[name] = new
    things = []
    for thing in room.things:
        material = hedge if thing.name == room.outside else thing.material
        things.append(Thing(thing.name, thing.mesh, changed.get(thing.name, material)))
    return things, sorted(changed)


def _lamps(room: Interior, rng: np.random.Generator) -> tuple[tuple[Light, ...], list[list[float]]]:
    """The lamps with random colours and brightness; all but the first may be off."""
    lit = []
    for number, lamp in enumerate(room.lamps):
        off = number > 0 and rng.random() < 0.25
        bright = float(np.exp(rng.normal(0, 0.35)))
        tint = rng.uniform(0.75, 1.2, 3)
        if not off:
            red, green, blue = (
                float(c * bright * t) for c, t in zip(lamp.colour, tint, strict=True)
            )
            lit.append(replace(lamp, colour=(red, green, blue)))
    return tuple(lit), [[round(c, 4) for c in lamp.colour] for lamp in lit]


def _glass_share(
    frame: TracedScene, flying: Sequence[Thing], pair: CameraPair, options: StageOptions
) -> float:
    """Share of pixels whose first surface can be seen through.

    What flies is traced by itself, because a search tree of the whole room takes most of the time.
    """
    camera = small(pair.left)
    depth, clear = _first(frame, camera, options.rough)
    if flying:
        alone = trace(Scene("flying", tuple(flying), ()))
        nearer, clear_too = _first(alone, camera, options.rough)
        clear = np.where(nearer < depth, clear_too, clear)
    return float(clear.mean())


def _first(
    frame: TracedScene, camera: Camera, rough: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Depth of the first surface, infinite where there is none, and whether it is seen through."""
    seen = visible_surfaces(frame, camera)
    materials = [thing.material for thing in frame.scene.things]
    through = np.array([m.transparent and roughness_of(m) <= rough for m in materials])
    hit = seen.triangles >= 0
    clear = hit & through[frame.things[np.where(hit, seen.triangles, 0)]]
    return np.where(hit, seen.depth, np.inf), clear


def _materials(scene: Scene) -> dict[str, Any]:
    """Index, roughness and colour of everything of glass or metal, by object."""
    found: dict[str, Any] = {}
    for thing in scene.things:
        material = thing.material
        if isinstance(material, Finish):
            about: dict[str, Any] = {"kind": kind_of(material), "roughness": material.roughness}
            about["colour"] = [round(c, 4) for c in material.colour]
            if material.transparent:
                about |= {"index": material.index, "outside_index": material.outside_index}
            found.setdefault(thing.name, []).append(about)
    return found
