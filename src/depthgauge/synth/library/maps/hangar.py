"""A hangar of a space port: panelled walls, pipes, consoles and lit strips."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import MapKind, Place, Yard
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.render.lighting import Lamp, Lighting
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material

_HALF = (8.0, 10.0)
_HIGH_M = 5.0
_TINTS = ((0.55, 0.85, 1.25), (1.25, 0.75, 0.45), (0.6, 1.15, 0.8))


def build(layout: int) -> Place:
    """A hall with ribs; containers and consoles along its sides."""
    yard = Yard.begin(4, layout)
    rng, tint = yard.rng, _TINTS[layout % 3]
    yard.floor("deck", _HALF, surface("panels", "#33383e #555c64 #848c94", 4.0, layout))
    walls = surface("panels", "#6a7178 #98a0a6 #c6ccd0", 3.2, layout + 3)
    yard.room(_HALF, _HIGH_M, walls, surface("panels", "#25292e #3c4248 #5c6269", 4.0, 7))
    rib = surface("panels", "#3a3f46 #5a626a #868e96", 1.6, 2)
    glow = Material("diffuse", (tint[0] / 1.3, tint[1] / 1.3, tint[2] / 1.3))
    for z in (-8.0, -4.0, 0.0, 4.0, 8.0):
        for x in (-1.0, 1.0):
            yard.box("rib", (0.5, _HIGH_M, 0.7), (x * 7.72, z), rib, cell_m=0.4)
            yard.box("strip", (0.04, 3.6, 0.1), (x * 7.44, z), glow, up_m=0.6)
        yard.box("beam", (16.0, 0.4, 0.5), (0.0, z), rib, up_m=_HIGH_M - 0.42)
    hull = surface("panels", "#70604a #9c8a6e #c8b898", 1.8, 4)
    for x, z in yard.scattered(11, (6.2, 8.4), 3.4, 2.0):
        if rng.random() < 0.55:
            size = (float(rng.uniform(0.9, 1.9)), float(rng.uniform(0.8, 1.7)), 1.1)
            yard.box("container", size, (x, z), hull, turn_deg=float(rng.choice([0, 90, 15])))
        else:
            _console(yard, x, z, glow)
    pipe = surface("corrugated", "#5c3a22 #8a5c3a #b48a64", 1.2, 3)
    for up in (2.9, 3.3, 3.7):
        line = np.array([[-7.4, -up, z] for z in np.linspace(-9.8, 9.8, 30)])
        yard.add("pipe", meshes.tube(line, 0.13, 12), pipe)
    tank = surface("spots", "#2e4a5a #4c7088 #b8ccd4", 2.2, 5)
    for z in (-6.4, 6.0):
        shape = [(0.0, 0.0), (0.8, 0.0), (0.8, 2.2), (0.5, 2.7), (0.0, 2.8)]
        yard.add("tank", meshes.lathe(shape, 32, 1).moved(6.2, 0.0, z), tank)
    yard.put(props.crate("crate", rng, 0.8), -5.6, 3.0, 20)
    lamps = (
        Lamp((0.0, -4.3, -3.5), (1.35, 1.38, 1.45), 5.0),
        Lamp((-1.0, -4.3, 5.0), (1.1 * tint[0], 1.1 * tint[1], 1.1 * tint[2]), 4.5),
    )
    return Place(
        yard.done(),
        Lighting(lamps, (0.30, 0.33, 0.37), (0.20, 0.21, 0.23)),
        (-3.2, 3.2, -6.0, 6.0),
        ("panelled walls", "ribs with lit strips", "consoles", "containers", "tanks", "pipes"),
        "cool lamps under the roof and coloured strips",
        "painted metal panels",
        (2.2, 8.0),
    )


def _console(yard: Yard, x: float, z: float, glow: Material) -> None:
    body = surface("panels", "#3c424a #5e666e #8a929a", 1.0, 6)
    turn = float(yard.rng.uniform(0, 360))
    foot = meshes.box(1.1, 0.85, 0.5, 0.3)
    desk = meshes.box(1.2, 0.06, 0.7, 0.3).turned(-14, "x").moved(y=-0.88)
    screen = meshes.box(0.9, 0.5, 0.05, 0.3).turned(-12, "x").moved(0, -1.0, 0.22)
    for mesh in (foot, desk):
        yard.add("console", mesh.turned(turn).moved(x, 0, z), body)
    picture = surface("contours", "#0a2030 #1c5a78 #8ad0e8", 1.0, 2)
    yard.add("console", screen.turned(turn).moved(x, 0, z), picture)
    light = meshes.box(0.2, 0.02, 0.05, 0.3).moved(0.3, -1.53, 0.3)
    yard.add("console", light.turned(turn).moved(x, 0, z), glow)


MAP = MapKind("Hangar", "science fiction", "the hangar of a space port", build)
