"""Bottles and flasks, hollow and solid."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library.glassware._bodies import Profile, fluted, hollow, prism, solid
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Thing


def bottle(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A hollow bottle with a neck: two layers."""
    return [Thing(name, hollow(_bottle(rng), 0.003, 0.008), material)]


def solid_bottle(name: str, material: Material, rng: np.random.Generator) -> Things:
    """The same shape cast in one piece: one layer."""
    return [Thing(name, solid(_bottle(rng)), material)]


def carafe(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A wide body under a waist and a flared rim."""
    h, r = float(rng.uniform(0.22, 0.30)), float(rng.uniform(0.060, 0.080))
    low = [(0.80 * r, 0.0), (r, 0.12 * h), (0.92 * r, 0.35 * h), (0.40 * r, 0.62 * h)]
    rim = [(0.34 * r, 0.80 * h), (0.52 * r, h)]
    return [Thing(name, hollow([*low, *rim], 0.0028, 0.007), material)]


def flask(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A conical laboratory flask."""
    h, r = float(rng.uniform(0.14, 0.22)), float(rng.uniform(0.045, 0.065))
    cone = [(0.96 * r, 0.0), (r, 0.03 * h), (0.97 * r, 0.08 * h), (0.30 * r, 0.72 * h)]
    rim = [(0.30 * r, 0.95 * h), (0.38 * r, h)]
    return [Thing(name, hollow([*cone, *rim], 0.0022, 0.004), material)]


def round_flask(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A ball with a long neck and a flattened foot."""
    r = float(rng.uniform(0.045, 0.060))
    angle = np.linspace(-0.42 * np.pi, 0.40 * np.pi, 9)
    belly = [(r * float(np.cos(a)), r * float(1 + np.sin(a)) - 0.03 * r) for a in angle]
    belly[0] = (belly[0][0], 0.0)
    top = belly[-1][1]
    neck = [(0.30 * r, top + 0.2 * r), (0.30 * r, top + 1.3 * r), (0.38 * r, top + 1.4 * r)]
    return [Thing(name, hollow([*belly, *neck], 0.002, 0.0035), material)]


def vial(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A small straight bottle with a thick base."""
    h, r = float(rng.uniform(0.07, 0.11)), float(rng.uniform(0.016, 0.024))
    side = [(r, 0.0), (r, 0.05 * h), (r, 0.72 * h), (0.7 * r, 0.82 * h), (0.72 * r, h)]
    return [Thing(name, hollow(side, 0.0016, 0.006), material)]


def perfume_bottle(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A heavy block of glass with a metal cap."""
    w, h = float(rng.uniform(0.05, 0.07)), float(rng.uniform(0.07, 0.10))
    d = w * float(rng.uniform(0.45, 0.8))
    cut = 0.18 * min(w, d)
    a, b = w / 2, d / 2
    corners = [(a - cut, -b), (a, -b + cut), (a, b - cut), (a - cut, b)]
    corners += [(-a + cut, b), (-a, b - cut), (-a, -b + cut), (-a + cut, -b)]
    cap = solid([(0.2 * w, 0.0), (0.2 * w, 0.004), (0.17 * w, 0.3 * h), (0.15 * w, 0.31 * h)], 48)
    gold = Material("polished", (0.95, 0.75, 0.35))
    body = prism(corners, h, float(rng.uniform(0.85, 1.0)))
    return [Thing(name, body, material), Thing(name, cap.moved(y=-h - 0.0006), gold)]


def ribbed_bottle(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A bottle with ribs that wind around it."""
    ribs, twist = int(rng.integers(5, 13)), float(rng.uniform(-90, 90))
    body = fluted(_bottle(rng), 0.0035, 0.008, ribs=ribs, depth=0.05, twist_deg=twist)
    return [Thing(name, body, material)]


def _bottle(rng: np.random.Generator) -> Profile:
    h, r = float(rng.uniform(0.20, 0.32)), float(rng.uniform(0.030, 0.044))
    shoulder = float(rng.uniform(0.52, 0.66))
    body = [(0.92 * r, 0.0), (r, 0.012), (r, shoulder * h), (0.96 * r, (shoulder + 0.05) * h)]
    neck = [(0.42 * r, (shoulder + 0.17) * h), (0.38 * r, 0.95 * h), (0.45 * r, 0.97 * h)]
    return [*body, *neck, (0.45 * r, h)]
