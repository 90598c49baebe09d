"""The court of a temple: columns, stairs, stone figures and a tiled floor. Reserved for tests."""

from __future__ import annotations

import math

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import MapKind, Place, Yard, daylight
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material

_STONES = ("#8c8068 #b4a88c #d8d0b8", "#7c7068 #a69890 #cec4bc", "#8a7a58 #b8a67c #dccea8")


def build(layout: int) -> Place:
    """Two rows of columns under beams around an open court, walls behind them."""
    yard = Yard.begin(7, layout)
    rng = yard.rng
    codes = _STONES[layout % 3]
    yard.floor("court", (13.0, 15.0), surface("paving", codes, 4.2, layout))
    stone = surface("mottled", codes, 2.4, layout + 1)
    wall = surface("brick", codes, 5.0, layout + 2)
    for side in (-1.0, 1.0):
        yard.box("wall", (0.8, 5.2, 30.0), (side * 12.6, 0.0), wall, cell_m=0.7)
        yard.box("wall", (26.0, 5.2, 0.8), (0.0, side * 14.6), wall, cell_m=0.7)
        yard.box("walkway", (3.6, 0.3, 29.0), (side * 10.4, 0.0), stone, cell_m=0.6)
        for place in range(-12, 13, 4):
            column = props.pillar("column", 0.36, 3.9, stone)
            yard.put(column, side * 8.9, float(place), 0, 0.3)
        yard.box("beam", (0.9, 0.6, 26.5), (side * 8.9, 0.0), stone, up_m=4.2, cell_m=0.6)
        roof = surface("tiles", "#5a2c1e #8e4a34 #b87458", 1.6, 3)
        yard.box("roof", (4.4, 0.25, 29.0), (side * 10.6, 0.0), roof, up_m=4.8, cell_m=0.7)
        for step in range(4):
            size = (8.0 - 0.8 * step, 0.22, 1.6 - 0.4 * step)
            z = side * (13.3 + 0.2 * step)
            yard.box("stairs", size, (0.0, z), stone, up_m=0.22 * step, cell_m=0.5)
    frieze = surface("contours", "#5a4838 #9a8468 #dcccac", 1.8, layout)
    for x, z in yard.scattered(9, (6.2, 10.5), 3.3, 2.6):
        side = float(rng.uniform(0.6, 0.9))
        tall = float(rng.uniform(0.5, 1.0))
        yard.box("pedestal", (side, tall, side), (x, z), frieze, cell_m=0.3)
        _figure(yard, x, z, tall, int(rng.integers(3)), stone)
    for x in (-5.5, 5.5):
        basin = [(0.0, 0.0), (0.9, 0.0), (1.0, 0.1), (1.0, 0.5), (0.85, 0.5), (0.8, 0.2)]
        mesh = meshes.lathe([*basin, (0.0, 0.15)], 36, 1).moved(x, 0.0, 11.2)
        yard.add("basin", mesh, stone)
    lighting, words = daylight(rng)
    return Place(
        yard.done(),
        lighting,
        (-3.5, 3.5, -6.0, 6.0),
        ("columns", "stone figures on pedestals", "stairs", "a paved court", "tiled roofs"),
        words,
        "worn stone and clay tiles",
        (2.5, 10.0),
    )


def _figure(yard: Yard, x: float, z: float, up_m: float, kind: int, stone: Material) -> None:
    """A vase, an obelisk or a ball on a ring."""
    if kind == 0:
        shape = [(0.0, 0.0), (0.16, 0.0), (0.3, 0.35), (0.26, 0.6), (0.12, 0.75), (0.2, 0.9)]
        mesh = meshes.lathe([*shape, (0.0, 0.88)], 30, 2)
    elif kind == 1:
        mesh = meshes.lathe([(0.0, 0.0), (0.3, 0.0), (0.2, 1.4), (0.0, 1.7)], 4, 0)
    else:
        ball = meshes.ball(0.3, 1.0, 32).moved(y=-0.12)
        ring = meshes.lathe([(0.0, 0.0), (0.26, 0.0), (0.18, 0.12), (0.0, 0.14)], 24)
        mesh = meshes.join([ring, ball])
    turn = math.degrees(float(yard.rng.uniform(0, 6.28)))
    yard.add("figure", mesh.turned(turn).moved(x, -up_m, z), stone)


MAP = MapKind("Temple", "historical", "the court of a temple", build, reserved=True)
