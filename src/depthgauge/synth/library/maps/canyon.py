"""A desert canyon: rippled sand, layered cliffs, boulders and cacti. Reserved for tests."""

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
from depthgauge.synth.library.objects import Things
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.model import Thing

_STONE = "#5e3522 #9a5f3c #cf9d70"


def build(layout: int) -> Place:
    """Cliffs all around; boulders and cacti in the open."""
    yard = Yard.begin(6, layout)
    rng, seed = yard.rng, 70 + layout
    sand = surface("ripples", "#8a6a44 #b8935f #dcbf8c", 2.6, layout)
    yard.add("sand", rolling(22.0, 0.9, seed, flat_m=2.0, cell_m=0.5), sand)

    def height(x: float, z: float) -> float:
        return float(ground_at(np.array(x), np.array(z), 0.9, seed, 2.0))

    for n in range(26):
        a = 2 * math.pi * n / 26
        size = float(rng.uniform(3.2, 4.8))
        far = float(rng.uniform(18.5, 21.0))
        cliff = props.lumpy(size, float(rng.uniform(1.1, 2.0)), 0.24, 400 + n, 36)
        look = surface("strata", _STONE, 4.5, n % 3)
        yard.add("cliff", cliff.moved(far * math.cos(a), -2.0, far * math.sin(a)), look)
    for x, z in yard.scattered(18, (14.0, 14.0), 3.0, 2.2):
        made = props.rock("boulder", rng, float(rng.uniform(0.4, 1.5)), _STONE)
        yard.put(made, x, z, 0, height(x, z))
    for x, z in yard.scattered(14, (13.0, 13.0), 3.2, 2.4):
        yard.put(_cactus(rng), x, z, float(rng.uniform(0, 360)), height(x, z) - 0.05)
    lighting, words = daylight(rng, haze_m=200.0)
    return Place(
        yard.done(),
        lighting,
        (-3.5, 3.5, -3.5, 3.5),
        ("layered cliffs", "boulders", "cacti", "rippled sand"),
        words,
        "sandstone and sand",
        (2.5, 10.0),
    )


def _cactus(rng: np.random.Generator) -> Things:
    tall = float(rng.uniform(1.6, 3.0))
    green = surface("bark", "#24401f #41692f #86a254", 0.6, 2)
    t = np.linspace(0, 1, 10)
    trunk = np.stack([0 * t, -tall * t, 0 * t], axis=-1)
    parts = [meshes.tube(trunk, 0.17 * np.sqrt(np.clip(1.04 - t**6, 0.02, 1)), 14)]
    for side in (-1, 1):
        up = float(rng.uniform(0.35, 0.55)) * tall
        bend = np.array(
            [
                [0, -up, 0],
                [0.35 * side, -up, 0],
                [0.45 * side, -up - 0.25, 0],
                [0.45 * side, -up - 0.75, 0],
            ]
        )
        parts.append(meshes.tube(meshes.rounded(bend, 2), 0.11, 12))
    return [Thing("cactus", meshes.join(parts), green)]


MAP = MapKind("Canyon", "natural", "a desert canyon", build, reserved=True)
