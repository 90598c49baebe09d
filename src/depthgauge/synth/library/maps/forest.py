"""A clearing in a forest: grass, leafy trees and pines, boulders and bushes."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.library.maps import _props as props
from depthgauge.synth.library.maps._place import (
    MapKind,
    Place,
    Yard,
    daylight,
    ground_at,
    rolling,
)
from depthgauge.synth.library.surfaces import surface

_HILLS_M = 1.1


def build(layout: int) -> Place:
    """Trees stand closer towards the rim."""
    yard = Yard.begin(2, layout)
    rng, seed = yard.rng, 40 + layout
    grass = surface("grass", "#2a4218 #4d6c2a #98a658", 2.2, layout)
    yard.add("meadow", rolling(24.0, _HILLS_M, seed, flat_m=2.0, cell_m=0.55), grass)

    def height(x: float, z: float) -> float:
        return float(ground_at(np.array(x), np.array(z), _HILLS_M, seed, 2.0))

    for x, z in yard.scattered(46, (21.0, 21.0), 5.0, 2.4):
        kind = "pine" if rng.random() < 0.4 else "leafy"
        tall = float(rng.uniform(4.5, 8.5))
        made = props.tree("tree", rng, tall, kind)
        yard.put(made, x, z, float(rng.uniform(0, 360)), height(x, z) - 0.1)
    for x, z in yard.scattered(12, (12.0, 12.0), 2.6, 2.5):
        made = props.rock("boulder", rng, float(rng.uniform(0.3, 0.9)), "#4c4a46 #77736a #a39d8e")
        yard.put(made, x, z, 0, height(x, z))
    for x, z in yard.scattered(26, (16.0, 16.0), 3.4, 1.6):
        yard.put(props.bush("bush", rng, float(rng.uniform(0.35, 0.8))), x, z, 0, height(x, z))
    wood = surface("leaves", "#12240c #2c4a20 #64853e", 3.0, 3)
    for n in range(30):
        a = 2 * math.pi * n / 30
        wall = props.lumpy(4.2, 1.25, 0.2, 90 + n, 26)
        yard.add("edge of the wood", wall.moved(24 * math.cos(a), -2.6, 24 * math.sin(a)), wood)
    lighting, words = daylight(rng, haze_m=140.0)
    return Place(
        yard.done(),
        lighting,
        (-3.5, 3.5, -3.5, 3.5),
        ("leafy trees", "pines", "boulders", "bushes", "a meadow"),
        words,
        "grass, leaves, bark and stone",
        (2.5, 10.0),
    )


MAP = MapKind("Forest", "natural", "a clearing in a forest", build)
