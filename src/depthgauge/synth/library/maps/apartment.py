"""Rooms of a flat: the furnished interiors of `library.interiors`, with open windows."""

from __future__ import annotations

from depthgauge.synth.library.interiors import interior
from depthgauge.synth.library.maps._place import MapKind, Place
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.render.lighting import Lamp, Lighting
from depthgauge.synth.scene.model import Thing

_ROOMS = (("living-room", 0), ("office", 1), ("bedroom", 2), ("living-room", 3))
_BOARD = surface("planks", "#5a3c22 #8a6440 #b48e62", 0.9, 2)
_WALL = surface("mottled", "#c0b5a5 #cbc1b3 #d8d0c4", 2.6, 4)
_CEILING = surface("mottled", "#c8c4bc #d8d5ce #e4e2dc", 3.0, 5)


def build(layout: int) -> Place:
    """One room; its floor's middle is the origin."""
    kind, number = _ROOMS[layout % len(_ROOMS)]
    room = interior(kind, number)
    wide, _, deep = room.size_m
    things = []
    for thing in room.things:
        if thing.name.startswith("window"):
            continue
        material = _BOARD if thing.material.transparent else thing.material
        if "wall" in thing.name:
            material = _WALL
        elif thing.name == "ceiling":
            material = _CEILING
        things.append(Thing(thing.name, thing.mesh.moved(z=-deep / 2), material))
    lamps = tuple(
        Lamp((x, y + 0.06, z - deep / 2), (1.15, 1.02, 0.84), 2.4)
        for x, y, z in (lamp.centre for lamp in room.lamps[:2])
    )
    lighting = Lighting(lamps, (0.34, 0.33, 0.32), (0.26, 0.24, 0.22))
    names = sorted({t.name for t in room.things if "wall" not in t.name and "lamp" not in t.name})
    furniture = [n for n in names if " of " not in n and n not in ("floor", "ceiling", "garden")]
    return Place(
        tuple(things),
        lighting,
        (-wide / 2 + 0.5, wide / 2 - 0.5, -deep / 2 + 0.5, deep / 2 - 0.5),
        (f"a {kind.replace('-', ' ')}", *furniture[:5]),
        f"{len(lamps)} warm ceiling lamps",
        "wood, plaster and fabric",
        (1.2, 3.4),
    )


MAP = MapKind("Apartment", "indoor", "a furnished room of a flat", build, layouts=4)
