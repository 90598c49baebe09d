"""A street: a road between houses, parked cars, lamps and trees."""

from __future__ import annotations

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import MapKind, Place, Yard, daylight
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes

_WALLS = (
    "#7a4a38 #9a6650 #d8cdbc",
    "#9a8a72 #bba98c #efe6d4",
    "#5f6d78 #84929c #e2e6e8",
    "#8f6f5a #c29a78 #f0e2cc",
    "#6f3f38 #8d5348 #d9c6b4",
)
_PAINTS = ("#5a1016 #8e1c24 #b8484c", "#12305a #22508e #5a82b4", "#8c8a84 #b8b6b0 #dcdad4")


def build(layout: int) -> Place:
    """Houses on both sides and at both ends."""
    yard = Yard.begin(1, layout)
    rng = yard.rng
    yard.floor("road", (13.0, 20.0), surface("asphalt", "#2c2c30 #46464a #6c6a68", 3.0, layout))
    walk = surface("paving", "#6d675e #8f887c #b4ac9e", 2.4, layout)
    for side in (-1.0, 1.0):
        yard.box("pavement", (3.4, 0.12, 40.0), (side * 5.4, 0.0), walk, cell_m=0.6)
        z = -20.0
        while z < 20.0:
            wide = float(rng.uniform(6.0, 9.0))
            tall = float(rng.integers(2, 4)) * 3.0 + 1.0
            look = surface("facade", _WALLS[int(rng.integers(5))], 9.0, int(rng.integers(0, 4)))
            yard.box("house", (6.0, tall, wide), (side * 10.1, z + wide / 2), look, cell_m=0.8)
            base = surface("brick", "#4a4038 #6e6258 #948878", 2.4, 1)
            yard.box("base", (6.15, 0.9, wide), (side * 10.1, z + wide / 2), base, cell_m=0.6)
            roof = surface("mottled", "#4a3a34 #6e564c #94786a", 2.0, 3)
            yard.box("roof", (6.5, 0.25, wide), (side * 10.1, z + wide / 2), roof, up_m=tall)
            door = surface("planks", "#2c3a30 #48604e #7a927c", 1.4, 2)
            yard.box("door", (0.12, 2.2, 1.1), (side * 7.06, z + 0.5 * wide), door)
            z += wide
    for end in (-1, 1):
        look = surface("facade", _WALLS[int(rng.integers(5))], 9.0, 2)
        yard.box("house", (26.0, 10.0, 4.0), (0.0, end * 21.9), look, cell_m=0.9)
    line = surface("mottled", "#b8b4a8 #d8d4c8 #f0ece0", 1.0, 1)
    for place in range(-18, 19, 4):
        mark = meshes.box(0.14, 0.006, 1.8, 0.6).moved(0.0, 0.0, float(place))
        yard.add("road marking", mark, line)
    for z in (-13.0, -6.5, 2.0, 9.5):
        side = float(rng.choice([-1.0, 1.0]))
        paint = _PAINTS[int(rng.integers(3))]
        yard.put(props.car("parked car", paint, int(rng.integers(9))), 2.75 * side, z, 90)
    for z in (-15.0, -5.0, 5.0, 15.0):
        yard.put(props.post("street lamp"), -4.2, z, 0, 0.12)
        yard.put(props.tree("tree", rng, float(rng.uniform(4.2, 5.4))), 5.2, z + 2.4, 0, 0.12)
    for z in (-9.0, 0.5, 11.0):
        yard.put(props.bench("bench", int(rng.integers(9))), -6.4, z, -90, 0.12)
    lighting, words = daylight(rng, least_up=1.3)
    return Place(
        yard.done(),
        lighting,
        (-2.0, 2.0, -8.0, 8.0),
        ("houses with windows", "a road", "parked cars", "street lamps", "trees", "benches"),
        words,
        "brick, asphalt, paving stones and painted metal",
        (2.5, 11.0),
    )


MAP = MapKind("Street", "urban", "a street between brick houses", build)
