"""An abstract place: solids with bold patterns on a checkered plain."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import MapKind, Place, Yard, daylight
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material

_CODES = (
    "#7a1f2b #d0473c #f4c9a0",
    "#123a5c #2c78b4 #bfe0f0",
    "#1f5a3a #48a05c #d4e8a8",
    "#5a2a6a #9a58b0 #ead0ee",
    "#7a5a10 #dcaa28 #fbefb8",
    "#202428 #70767c #e8e6e0",
)
_PATTERNS = ("contours", "spots", "tiles", "strata", "cloth", "brick")


def build(layout: int) -> Place:
    """Boxes, balls, rings, cones and columns around an open middle."""
    yard = Yard.begin(5, layout)
    rng = yard.rng
    ground = ("#2f3844 #7c8692 #d9dde0", "#4a3a34 #a08878 #ead9c8", "#24443c #6f9a88 #dcebe0")
    yard.floor("plain", (18.0, 18.0), surface("tiles", ground[layout % 3], 6.0, layout))
    for n, (x, z) in enumerate(yard.scattered(34, (14.5, 14.5), 3.6, 2.3)):
        look = surface(
            _PATTERNS[int(rng.integers(6))], _CODES[int(rng.integers(6))], 2.0, int(rng.integers(4))
        )
        size = float(rng.uniform(0.5, 1.2)) * (1 + 0.04 * math.hypot(x, z))
        _solid(yard, n % 6, x, z, size, look)
    for n in range(24):
        a = 2 * math.pi * n / 24
        tall = float(rng.uniform(3.0, 8.5))
        look = surface(_PATTERNS[n % 6], _CODES[(n * 5 + layout) % 6], 3.0, n % 4)
        place = (17.5 * math.cos(a), 17.5 * math.sin(a))
        turn = math.degrees(-a)
        yard.box("tower", (2.4, tall, 4.3), place, look, turn_deg=turn, cell_m=0.6)
    lighting, words = daylight(rng, haze_m=400.0)
    return Place(
        yard.done(),
        lighting,
        (-3.5, 3.5, -3.5, 3.5),
        ("boxes", "balls", "rings", "cones", "patterned towers", "a checkered plain"),
        words,
        "bold painted patterns",
        (2.5, 10.0),
    )


def _solid(yard: Yard, kind: int, x: float, z: float, size: float, look: Material) -> None:
    turn = float(yard.rng.uniform(0, 90))
    if kind == 0:
        mesh = meshes.box(size, 1.6 * size, size, 0.3)
    elif kind == 1:
        mesh = meshes.ball(0.7 * size, 1.0, 40)
    elif kind == 2:
        angle = np.linspace(0, 2 * math.pi, 41)
        ring = np.stack([np.cos(angle), -1.3 + np.sin(angle), 0 * angle], axis=-1)
        mesh = meshes.tube(ring * size, 0.28 * size, 18)
    elif kind == 3:
        mesh = meshes.lathe([(0.0, 0.0), (0.8 * size, 0.0), (0.0, 2.2 * size)], 36, 0)
    elif kind == 4:
        mesh = meshes.join(
            [
                meshes.box(s, 0.5 * size, s, 0.3).moved(y=-0.5 * size * i)
                for i, s in enumerate((1.6 * size, 1.2 * size, 0.8 * size, 0.4 * size))
            ]
        )
    else:
        mesh = props.lumpy(0.8 * size, 1.0, 0.3, int(yard.rng.integers(1, 99))).moved(
            y=-0.65 * size
        )
    yard.add("solid", mesh.turned(turn).moved(x, 0.0, z), look)


MAP = MapKind("Blocks", "abstract", "an abstract plain with patterned solids", build)
