"""A warehouse: racks with crates and barrels under a high roof."""

from __future__ import annotations

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import MapKind, Place, Yard
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.render.lighting import Lamp, Lighting
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material

_HALF = (9.0, 11.0)
_HIGH_M = 5.5


def build(layout: int) -> Place:
    """Racks along the walls, an open aisle in the middle."""
    yard = Yard.begin(3, layout)
    rng = yard.rng
    yard.floor("floor", _HALF, surface("concrete", "#55534e #7d7a73 #a5a198", 3.2, layout))
    codes = ("#5e6a70 #8a979c #b4bec0", "#6e5a48 #957d66 #b8a48c", "#52665c #7b9084 #a8b8aa")
    walls = surface("corrugated", codes[layout % 3], 2.6, layout)
    yard.room(_HALF, _HIGH_M, walls, surface("panels", "#3c4044 #565b60 #74797e", 4.0, 1))
    steel = surface("mottled", "#a04a18 #c8662a #dc8c54", 1.2, 2)
    for x in (-7.6, 7.6):
        for z in (-7.5, -2.5, 2.5, 7.5):
            _rack(yard, x, z, steel)
    for x in (-5.2, 5.2):
        for z in (-8.0, 0.0, 8.0):
            pillar = surface("brick", "#5b4a40 #7d685a #a39080", 2.0, 1)
            yard.box("pillar", (0.5, _HIGH_M, 0.5), (x, z), pillar, cell_m=0.4)
    codes = ("#15406a #245e94 #4f86b6", "#7a2018 #a4382c #c46a5c", "#6a6418 #948c2c #bcb45c")
    for x, z in yard.scattered(9, (6.0, 9.5), 3.0, 1.2):
        if rng.random() < 0.5:
            yard.put(props.barrel("barrel", codes[int(rng.integers(3))], 1), x, z)
        else:
            side = float(rng.uniform(0.6, 1.1))
            yard.put(props.crate("crate", rng, side), x, z, float(rng.uniform(0, 90)))
    line = surface("mottled", "#b89018 #dcb42c #f0d468", 1.0, 1)
    for x in (-3.6, 3.6):
        yard.add("marking", meshes.box(0.12, 0.005, 18.0, 0.6).moved(x, 0, 0), line)
    lamps = []
    for z in (-6.0, 2.5):
        shade = meshes.lathe([(0.0, 0.0), (0.45, 0.02), (0.16, 0.3), (0.0, 0.32)], 20)
        tin = surface("mottled", "#444648 #585c60 #6c7074", 1.0, 1)
        yard.add("lamp", shade.moved(0.0, -4.6, z), tin)
        lamps.append(Lamp((0.0, -4.5, z), (1.5, 1.42, 1.25), 6.0))
    return Place(
        yard.done(),
        Lighting(tuple(lamps), (0.30, 0.31, 0.33), (0.22, 0.21, 0.20)),
        (-3.0, 3.0, -6.0, 6.0),
        ("racks with crates", "barrels", "steel pillars", "corrugated walls"),
        "two hanging lamps in a dim hall",
        "concrete, steel and wood",
        (2.2, 8.0),
    )


def _rack(yard: Yard, x: float, z: float, steel: Material) -> None:
    rng = yard.rng
    frame = [
        meshes.box(0.08, 3.4, 0.08, 0.6).moved(dx, 0, dz)
        for dx in (-0.5, 0.5)
        for dz in (-1.9, 0.0, 1.9)
    ]
    frame += [meshes.box(1.06, 0.06, 3.9, 0.6).moved(0, -up, 0) for up in (0.12, 1.3, 2.5)]
    mesh = meshes.join(frame).moved(x, 0, z)
    yard.add("rack", mesh, steel)
    for up in (0.18, 1.36, 2.56):
        for dz in (-1.4, -0.45, 0.5, 1.4):
            if rng.random() < 0.75:
                side = float(rng.uniform(0.5, 0.82))
                turn = float(rng.uniform(-8, 8))
                yard.put(props.crate("crate", rng, side), x, z + dz, turn, up + 0.001)


MAP = MapKind("Warehouse", "indoor", "a warehouse with racks and crates", build)
