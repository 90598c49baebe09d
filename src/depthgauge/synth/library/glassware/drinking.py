"""Drinking glasses, beakers and jugs."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.glassware._bodies import fluted, hollow
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Thing


def tumbler(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A straight glass with a heavy base."""
    h, r = float(rng.uniform(0.09, 0.15)), float(rng.uniform(0.033, 0.043))
    foot = float(rng.uniform(0.75, 1.0)) * r
    side = [(0.94 * foot, 0.0), (foot, 0.006), (r, 0.96 * h), (r, h)]
    return [Thing(name, hollow(side, 0.0022, 0.012), material)]


def wine_glass(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A bowl on a stem and a foot."""
    h, r = float(rng.uniform(0.17, 0.23)), float(rng.uniform(0.034, 0.045))
    stem = float(rng.uniform(0.38, 0.50)) * h
    foot = [(0.9 * r, 0.0), (0.9 * r, 0.0015), (0.3 * r, 0.006), (0.0042, 0.02)]
    bowl = [(0.0042, stem), (0.55 * r, stem + 0.012), (r, stem + 0.35 * (h - stem))]
    rim = [(0.95 * r, 0.75 * h + 0.25 * stem), (0.78 * r, h)]
    return [Thing(name, hollow([*foot, *bowl, *rim], 0.0016, stem + 0.010), material)]


def flute(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A tall narrow glass on a stem."""
    h, r = float(rng.uniform(0.20, 0.25)), float(rng.uniform(0.023, 0.029))
    stem = 0.30 * h
    foot = [(1.1 * r, 0.0), (1.1 * r, 0.0015), (0.3 * r, 0.006), (0.0040, 0.02)]
    bowl = [(0.0040, stem), (0.6 * r, stem + 0.035), (r, 0.62 * h), (0.86 * r, h)]
    return [Thing(name, hollow([*foot, *bowl], 0.0015, stem + 0.014), material)]


def goblet(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A thick cut glass on a short foot."""
    h, r = float(rng.uniform(0.11, 0.15)), float(rng.uniform(0.038, 0.048))
    foot = [(0.85 * r, 0.0), (0.86 * r, 0.004), (0.35 * r, 0.02), (0.35 * r, 0.03)]
    bowl = [(0.8 * r, 0.05), (r, 0.6 * h), (r, h)]
    ribs = int(rng.integers(6, 17))
    cut = fluted([*foot, *bowl], 0.0032, 0.045, ribs=ribs, depth=0.035)
    return [Thing(name, cut, material)]


def beaker(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A thin cylinder with a rolled rim."""
    h, r = float(rng.uniform(0.09, 0.16)), float(rng.uniform(0.032, 0.05))
    side = [(0.95 * r, 0.0), (r, 0.006), (r, 0.94 * h), (1.06 * r, h)]
    return [Thing(name, hollow(side, 0.0018, 0.003), material)]


def jug(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A bellied jug without a handle."""
    h, r = float(rng.uniform(0.18, 0.25)), float(rng.uniform(0.055, 0.075))
    low = [(0.7 * r, 0.0), (0.75 * r, 0.008), (r, 0.35 * h), (0.85 * r, 0.65 * h)]
    high = [(0.6 * r, 0.82 * h), (0.78 * r, h)]
    return [Thing(name, hollow([*low, *high], 0.003, 0.010), material)]
