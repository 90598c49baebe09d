"""Solid sculptures: balls, pebbles, blocks, knots, crystals, figures."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.library.glassware._bodies import (
    Floats,
    free_form,
    prism,
    ring,
    solid,
    superquadric,
)
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Thing


def ball(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A crystal ball, or an egg."""
    r, tall = float(rng.uniform(0.035, 0.07)), float(rng.choice([1.0, 1.0, 1.35]))
    return [Thing(name, meshes.ball(r, tall, around=96), material)]


def pebble(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A smooth irregular lump."""
    size = float(rng.uniform(0.045, 0.075))
    waves = rng.normal(size=(6, 3)) * np.array([[1.2]] * 3 + [[2.2]] * 3)
    phases, heights = rng.uniform(0, math.tau, 6), np.array([0.10] * 3 + [0.05] * 3)

    def radius(ways: Floats) -> Floats:
        bumps = (heights * np.sin(ways @ waves.T + phases)).sum(axis=-1)
        return np.asarray(size * (1 + bumps))

    return [Thing(name, free_form(radius), material)]


def block(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A rounded block."""
    a, b, c = (float(v) for v in rng.uniform(0.03, 0.07, 3))
    return [Thing(name, superquadric((a, b, c), float(rng.uniform(0.25, 0.7))), material)]


def knot(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A trefoil knot of a round bar."""
    size = float(rng.uniform(0.028, 0.040))
    t = np.linspace(0, math.tau, 240, endpoint=False)
    path = np.stack(
        [
            np.sin(t) + 2 * np.sin(2 * t),
            np.cos(t) - 2 * np.cos(2 * t),
            -1.1 * np.sin(3 * t),
        ],
        axis=-1,
    )
    return [Thing(name, ring(size * path, 0.42 * size, 24), material)]


def hoop(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A thick upright ring."""
    r = float(rng.uniform(0.045, 0.075))
    t = np.linspace(0, math.tau, 160, endpoint=False)
    path = r * np.stack([np.cos(t), np.sin(t), np.zeros_like(t)], axis=-1)
    return [Thing(name, ring(path, r * float(rng.uniform(0.2, 0.34))), material)]


def crystal(name: str, material: Material, rng: np.random.Generator) -> Things:
    """An upright prism of five to eight sides with sharp edges, tapered."""
    sides, r = int(rng.integers(5, 9)), float(rng.uniform(0.025, 0.045))
    start = float(rng.uniform(0, math.tau))
    angle = start + math.tau * np.arange(sides) / sides
    corners = [(r * math.cos(a), r * math.sin(a)) for a in angle]
    top = float(rng.choice([0.0, 0.55, 0.8]))
    return [Thing(name, prism(corners, float(rng.uniform(0.10, 0.18)), top), material)]


def wedge(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A triangular prism, as it splits light."""
    side, tall = float(rng.uniform(0.05, 0.08)), float(rng.uniform(0.06, 0.14))
    corners = [(-side / 2, 0.3 * side), (side / 2, 0.3 * side), (0.0, -0.56 * side)]
    return [Thing(name, prism(corners, tall), material)]


def figure(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A turned figure like a chess piece."""
    h, r = float(rng.uniform(0.11, 0.17)), float(rng.uniform(0.028, 0.038))
    low = [(r, 0.0), (r, 0.006), (0.85 * r, 0.02), (0.45 * r, 0.25 * h), (0.38 * r, 0.5 * h)]
    collar = [(0.7 * r, 0.56 * h), (0.4 * r, 0.62 * h)]
    head = [(0.62 * r, 0.76 * h), (0.55 * r, 0.92 * h), (0.2 * r, h)]
    return [Thing(name, solid([*low, *collar, *head]), material)]
