"""Vases, bowls, jars with liquid, pots."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library import objects
from depthgauge.synth.library.glassware._bodies import FilledVessel, filled, fluted, hollow
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Finish, Material, index_of
from depthgauge.synth.scene.model import Thing

WATER_INDEX, OIL_INDEX = 1.333, 1.47
_LIQUIDS = (
    (WATER_INDEX, (0.97, 0.99, 1.0)),
    (WATER_INDEX, (0.95, 0.55, 0.15)),
    (WATER_INDEX, (0.75, 0.12, 0.18)),
    (WATER_INDEX, (0.45, 0.75, 0.95)),
    (OIL_INDEX, (0.95, 0.88, 0.35)),
)
"""Index and colour."""


def vase(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A bellied vase."""
    h, r = float(rng.uniform(0.18, 0.28)), float(rng.uniform(0.06, 0.085))
    low = [(0.50 * r, 0.0), (0.55 * r, 0.01), (r, 0.35 * h), (0.7 * r, 0.65 * h)]
    rim = [(0.32 * r, 0.85 * h), (0.52 * r, h)]
    return [Thing(name, hollow([*low, *rim], 0.004, 0.010), material)]


def twisted_vase(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A vase with few deep ribs that wind upwards."""
    h, r = float(rng.uniform(0.18, 0.28)), float(rng.uniform(0.045, 0.065))
    side = [(0.8 * r, 0.0), (0.85 * r, 0.01), (0.75 * r, 0.4 * h), (r, h)]
    ribs, twist = int(rng.integers(3, 7)), float(rng.choice([-1, 1]) * rng.uniform(40, 140))
    body = fluted(side, 0.005, 0.012, ribs=ribs, depth=0.10, twist_deg=twist)
    return [Thing(name, body, material)]


def bowl(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A wide bowl."""
    r = float(rng.uniform(0.08, 0.13))
    side = [(0.35 * r, 0.0), (0.4 * r, 0.006), (0.75 * r, 0.2 * r), (r, 0.6 * r)]
    return [Thing(name, hollow(side, 0.004, 0.008, 96), material)]


def fish_bowl(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A large ball of glass, half full of water."""
    r = float(rng.uniform(0.08, 0.11))
    angle = np.linspace(-0.36 * np.pi, 0.33 * np.pi, 10)
    low = float(np.sin(angle[0]))
    side = [(r * float(np.cos(a)), r * float(np.sin(a) - low)) for a in angle]
    top = side[-1][1]
    rim = (0.56 * r, top + 0.06 * r)
    level = float(rng.uniform(0.35, 0.65)) * top
    return _with_liquid(name, material, filled([*side, rim], 0.003, 0.006, level, 96), 0)


def filled_jar(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A jar with a liquid in it and a metal lid."""
    h, r = float(rng.uniform(0.11, 0.17)), float(rng.uniform(0.040, 0.055))
    side = [(0.96 * r, 0.0), (r, 0.008), (r, 0.78 * h), (0.8 * r, 0.88 * h), (0.8 * r, h)]
    level = float(rng.uniform(0.35, 0.7)) * h
    liquid = int(rng.integers(len(_LIQUIDS)))
    lid = [(0.0, 0.0), (0.86 * r, 0.0), (0.86 * r, 0.016), (0.80 * r, 0.018), (0.0, 0.018)]
    top = Thing(name, meshes.lathe(lid).moved(y=-h - 0.0006), objects.BRUSHED)
    return [*_with_liquid(name, material, filled(side, 0.003, 0.007, level), liquid), top]


def filled_glass(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A drinking glass with a drink in it."""
    h, r = float(rng.uniform(0.10, 0.15)), float(rng.uniform(0.034, 0.042))
    side = [(0.80 * r, 0.0), (0.84 * r, 0.006), (r, 0.96 * h), (r, h)]
    level = float(rng.uniform(0.4, 0.85)) * h
    liquid = int(rng.integers(len(_LIQUIDS)))
    return _with_liquid(name, material, filled(side, 0.0022, 0.010, level), liquid)


def pot(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A cooking pot with a lid and two handles; opaque materials only."""
    if material.transparent:
        material = objects.STEEL
    r, h = float(rng.uniform(0.08, 0.11)), float(rng.uniform(0.09, 0.13))
    return [Thing(name, t.mesh, t.material) for t in objects.pot(name, material, r, h)]


def _with_liquid(name: str, wall: Material, body: FilledVessel, liquid: int) -> Things:
    """The three surfaces; an opaque or frosted vessel is made of clear glass instead."""
    if wall.look not in ("glass", "tinted"):
        wall = Finish("glass", (1.0, 1.0, 1.0))
    index, colour = _LIQUIDS[liquid]
    glass = index_of(wall)
    # The wall's colour is met on its dry side, the liquid's where light enters it.
    wet = Finish("tinted", colour, index=glass, outside_index=index)
    return [
        Thing(name, body.dry, wall),
        Thing(name, body.wet, wet),
        Thing(f"liquid in {name}", body.level, Finish("tinted", colour, index=index)),
    ]
