"""The kinds of objects that are photographed, one function each.

Each has things of all materials with tags on them: before glass, on glass, and behind it. What is
moved keeps clear of everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.glassware import KINDS as GLASSWARE
from depthgauge.synth.library.objects import LIFT_M, Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Finish, Material, plain
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.sets.tag_session._table import Face, Table, box_faces

_WALL_M = 1.75
_FRAMES = ("#ece8e0", "#6b4a2f", "#2b2b30")


def window(table: Table) -> None:
    """A window before boxes and a wall; a second pane inside, so some tags are on layer 3."""
    _room(table, wall_tags=8, table_tags=2)
    _window(table, (-0.06, 1.04), (0.66, 0.50), 5.0, on=3, behind=1)
    _carton(table, "carton", (0.20, 0.27, 0.09), (-0.28, 1.34), 12.0, tags=4)
    _carton(table, "box", (0.20, 0.20, 0.08), (0.00, 1.50), -6.0, tags=4)
    _pane(table, "inner pane", (0.27, 0.30, 0.010), (0.00, 1.26), -4.0)
    _steel(table, "steel box", (0.18, 0.19, 0.10), (-0.37, 0.82), 16.0)
    _carton(table, "parcel", (0.20, 0.15, 0.10), (0.39, 0.87), -18.0, tags=3, top=2)
    _decorate(table, "orange", (0.12, 0.76))


def cabinet(table: Table) -> None:
    """Double glazing before boxes (layer 3), a thick block of glass, and a mirror."""
    _room(table, wall_tags=5, table_tags=2)
    _double_window(table, (-0.08, 1.12), (0.62, 0.44), -4.0)
    _carton(table, "carton", (0.17, 0.25, 0.07), (-0.23, 1.40), 8.0, tags=4)
    _steel(table, "steel box", (0.15, 0.18, 0.07), (0.04, 1.38), -8.0)
    _block(table, "glass block", (0.19, 0.19, 0.055), (0.33, 0.82), -14.0)
    _carton(table, "parcel", (0.19, 0.20, 0.07), (0.42, 1.02), -14.0, tags=4)
    _mirror(table, (-0.34, 0.80), 20.0)
    _decorate(table, "apple", (-0.10, 0.76))


def bottles(table: Table) -> None:
    """Boxes behind a bottle, a vase, a filled glass and a pane of uneven glass."""
    _room(table, wall_tags=5, table_tags=3)
    _carton(table, "tall carton", (0.24, 0.30, 0.08), (-0.36, 1.42), 6.0, tags=6)
    _carton(table, "carton", (0.24, 0.24, 0.08), (-0.02, 1.44), -4.0, tags=6)
    _carton(table, "parcel", (0.26, 0.22, 0.08), (0.36, 1.42), -8.0, tags=6)
    _vessel(table, "bottle", (-0.38, 1.15))
    _vessel(table, "vase", (-0.15, 1.16))
    _vessel(table, "filled_glass", (0.04, 1.10))
    _vessel(table, "hammered_pane", (0.32, 1.16), spin_deg=4.0)
    _block(table, "square bottle", (0.17, 0.20, 0.06), (-0.20, 0.88), 12.0)
    _steel(table, "tin", (0.18, 0.17, 0.09), (0.31, 0.87), -12.0)


ARRANGEMENTS: dict[str, Callable[[Table], None]] = {
    kind.__name__: kind for kind in (window, cabinet, bottles)
}
"""All kinds by name."""


# --- what they are made of ------------------------------------------------------------------------


def _room(table: Table, *, wall_tags: int, table_tags: int) -> None:
    """The table's top, a wall with tags behind it, and the rest of the room."""
    rng = table.rng
    wood = finishes.stone(rng) if rng.random() < 0.4 else finishes.wood(rng)
    plaster = (finishes.plaster, finishes.tiles)[int(rng.integers(2))](rng)
    top = meshes.rectangle((-1.3, 0, 0.25), (2.6, 0, 0), (0, 0, _WALL_M - 0.25), 0.5)
    near = Face(
        *("table", (0.0, -LIFT_M, 0.80), (0.50, 0.14), wood),
        down=(0.0, 0.0, -1.0),
        most=table_tags,
    )
    table.fix([Thing("table", top, wood)], [near])
    back = meshes.rectangle((-1.9, 1.0, _WALL_M), (3.8, 0, 0), (0, -3.0, 0), 0.5)
    upper = Face("wall", (0.0, -0.42, _WALL_M - LIFT_M), (1.1, 0.42), plaster, most=wall_tags)
    table.fix([Thing("wall", back, plaster)], [upper])
    table.fix([Thing("room", _shell(), finishes.paint(rng))])


def _shell() -> meshes.Mesh:
    """Side walls, ceiling, floor and the wall behind the cameras, which are seen in mirrors."""
    x, y, z = np.eye(3)
    low, high, near, far = 1.0, -2.0, -1.6, _WALL_M
    sides = [((s, low, near), (high - low) * y, (far - near) * z) for s in (-1.9, 1.9)]
    flats = [((-1.9, h, near), 3.8 * x, (far - near) * z) for h in (low, high)]
    behind = ((-1.9, low, near), 3.8 * x, (high - low) * y)
    return meshes.join([meshes.rectangle(*part, 0.5) for part in (*sides, *flats, behind)])


def _clear(rng: np.random.Generator) -> Finish:
    """Glass through which tags are still seen well: pale, and of some index."""
    red, green, blue = (float(v) for v in rng.uniform(0.88, 0.99, 3))
    return Finish("tinted", (red, green, blue), index=float(rng.uniform(1.46, 1.60)))


def _frame(rng: np.random.Generator) -> Material:
    return plain(_FRAMES[int(rng.integers(len(_FRAMES)))])


def _carton(
    table: Table,
    name: str,
    size_m: tuple[float, float, float],
    at: tuple[float, float],
    turn_deg: float,
    *,
    tags: int,
    top: int = 0,
) -> None:
    things = objects.carton(name, size_m, int(table.rng.integers(1 << 30)))
    faces = box_faces(name, size_m, things[0].material, tags, top)
    table.put(things, at, turn_deg, faces=faces)


def _steel(
    table: Table,
    name: str,
    size_m: tuple[float, float, float],
    at: tuple[float, float],
    turn_deg: float,
) -> None:
    metal = finishes.metal(table.rng)
    things = [Thing(name, meshes.box(*size_m), metal)]
    table.put(things, at, turn_deg, faces=box_faces(name, size_m, metal, 3))


def _mirror(table: Table, at: tuple[float, float], turn_deg: float) -> None:
    size, bar = (0.19, 0.24), 0.015
    things = objects.framed("mirror", size, objects.MIRROR, _frame(table.rng), bar)
    inside = (size[0] - 2 * bar, size[1] - 2 * bar)
    face = Face("mirror", (0, -size[1] / 2, -0.002), inside, objects.MIRROR, most=2)
    table.put(things, at, turn_deg, faces=[face])


def _window(
    table: Table,
    at: tuple[float, float],
    size_m: tuple[float, float],
    turn_deg: float,
    *,
    on: int,
    behind: int,
) -> None:
    """A framed pane with tags on its front, and on its back, printed side to the glass."""
    glass, bar = _clear(table.rng), 0.03
    things = objects.framed("window", size_m, glass, _frame(table.rng), bar)
    faces = _pane_faces("window", (size_m[0] - 2 * bar, size_m[1] - 2 * bar), 0.004, glass)
    # On its right side, so that they do not hide what is behind the rest.
    strip, aside = (0.30 * faces[0].size_m[0], faces[0].size_m[1] / 2), 0.33 * faces[0].size_m[0]
    faces = [
        replace(face, centre=(aside, y, face.centre[2]), size_m=strip, most=count)
        for face, y, count in zip(
            faces, (-0.68 * size_m[1], -0.28 * size_m[1]), (on, behind), strict=True
        )
    ]
    table.put(things, at, turn_deg, faces=faces, shift_m=0.02, spin_deg=6.0)


def _double_window(
    table: Table, at: tuple[float, float], size_m: tuple[float, float], turn_deg: float
) -> None:
    """Two sheets of glass in a frame, with tags on both."""
    rng, bar, gap, thick = table.rng, 0.025, 0.03, 0.005
    (w, h), glass = size_m, _clear(rng)
    sheet = meshes.box(w - 2 * bar + 0.004, h - 2 * bar + 0.004, thick).moved(y=-bar + 0.002)
    panes = [Thing("double window", sheet.moved(z=z), glass) for z in (-gap / 2, gap / 2)]
    upright = meshes.box(bar, h, 0.05)
    level = meshes.box(w - 2 * bar, bar, 0.05)
    bars = [upright.moved(x=x) for x in (-(w - bar) / 2, (w - bar) / 2)]
    bars += [level.moved(y=y) for y in (0.0, -h + bar)]
    frame = Thing("frame of the double window", meshes.join(bars), _frame(rng))
    strip = (0.20 * w, h - 2 * bar - 0.01)
    faces = [
        Face(f"{which} sheet", (x, -h / 2, z - thick / 2), strip, glass, most=3)
        for which, x, z in (("first", -0.35 * w, -gap / 2), ("second", 0.35 * w, gap / 2))
    ]
    table.put([*panes, frame], at, turn_deg, faces=faces, shift_m=0.02, spin_deg=6.0)


def _pane(
    table: Table,
    name: str,
    size_m: tuple[float, float, float],
    at: tuple[float, float],
    turn_deg: float,
) -> None:
    glass = _clear(table.rng)
    things = [Thing(name, meshes.box(*size_m), glass)]
    table.put(things, at, turn_deg, shift_m=0.015, spin_deg=5.0)


def _block(
    table: Table,
    name: str,
    size_m: tuple[float, float, float],
    at: tuple[float, float],
    turn_deg: float,
) -> None:
    """Solid glass with a tag on its front and one on its back."""
    glass = _clear(table.rng)
    things = [Thing(name, meshes.box(*size_m), glass)]
    w, h, d = size_m
    faces = _pane_faces(name, (0.96 * w, 0.96 * h), d, glass)
    # One below the other: the one in front does not hide the one behind.
    faces = [
        replace(face, centre=(0, y * h, face.centre[2]), size_m=(0.96 * w, 0.48 * h), most=1)
        for face, y in zip(faces, (-0.26, -0.74), strict=True)
    ]
    table.put(things, at, turn_deg, faces=faces, shift_m=0.02)


def _pane_faces(
    name: str, size_m: tuple[float, float], thick_m: float, glass: Material
) -> list[Face]:
    """The front, and the back as it is seen through the glass."""
    front = Face(f"front of the {name}", (0, 0, -thick_m / 2), size_m, glass)
    back = Face(f"back of the {name}", (0, 0, thick_m / 2 + 2 * LIFT_M), size_m, glass)
    return [front, back]


def _vessel(table: Table, kind: str, at: tuple[float, float], spin_deg: float = 10.0) -> None:
    things: Things = GLASSWARE[kind](kind.replace("_", " "), _clear(table.rng), table.rng)
    table.put(things, at, shift_m=0.02, spin_deg=spin_deg)


def _decorate(table: Table, name: str, at: tuple[float, float]) -> None:
    code = {"orange": "#e08a1e", "apple": "#a83226"}[name]
    table.put(objects.fruit(name, code, 0.036, int(table.rng.integers(1 << 30))), at)
