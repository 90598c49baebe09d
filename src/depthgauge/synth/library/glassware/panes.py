"""Windows, panes of even and uneven glass, mirrors."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.library import objects
from depthgauge.synth.library.glassware._bodies import Floats, rippled_pane
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Thing

_FRAMES = ("#ece8e0", "#6b4a2f", "#2b2b30", "#8a6a3a", "#a8452f")


def pane(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A sheet of glass."""
    w, h = float(rng.uniform(0.16, 0.32)), float(rng.uniform(0.14, 0.28))
    return [Thing(name, meshes.box(w, h, float(rng.uniform(0.004, 0.012))), material)]


def window(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A small window: a pane in a wooden frame, with glazing bars in some."""
    w, h = float(rng.uniform(0.24, 0.40)), float(rng.uniform(0.22, 0.36))
    wood = _frame(rng)
    parts = _named(name, objects.framed(name, (w, h), material, wood, 0.022))
    if rng.random() < 0.5:
        bar = meshes.box(0.012, h - 0.044, 0.006).moved(y=-0.022, z=-0.0065)
        parts.append(Thing(name, bar, wood))
    return parts


def double_window(name: str, material: Material, rng: np.random.Generator) -> Things:
    """Two panes with air between them."""
    w, h, gap = *(float(v) for v in rng.uniform(0.22, 0.36, 2)), float(rng.uniform(0.008, 0.016))
    bar, wood = 0.02, _frame(rng)
    frame = _named(name, objects.framed(name, (w, h), material, wood, bar))[1:]
    sheet = meshes.box(w - 2 * bar + 0.004, h - 2 * bar + 0.004, 0.003).moved(y=-bar + 0.002)
    return [*frame, *(Thing(name, sheet.moved(z=z), material) for z in (-gap / 2, gap / 2))]


def ribbed_pane(name: str, material: Material, rng: np.random.Generator) -> Things:
    """Glass with upright ribs on its back."""
    w, h = (float(v) for v in rng.uniform(0.16, 0.26, 2))
    period, high = float(rng.uniform(0.02, 0.04)), float(rng.uniform(0.0006, 0.0016))

    def swell(x: Floats, y: Floats) -> Floats:
        del y
        return high * (1 + np.cos(math.tau * x / period))

    return [Thing(name, rippled_pane(w, h, 0.006, swell), material)]


def hammered_pane(name: str, material: Material, rng: np.random.Generator) -> Things:
    """Glass with bumps all over its back."""
    w, h = (float(v) for v in rng.uniform(0.16, 0.26, 2))
    period, high = float(rng.uniform(0.025, 0.05)), float(rng.uniform(0.0005, 0.0012))

    def swell(x: Floats, y: Floats) -> Floats:
        turn = math.tau / period
        return high * (2 + np.sin(turn * x) * np.sin(turn * y) + np.sin(turn * (0.7 * x + 0.6 * y)))

    return [Thing(name, rippled_pane(w, h, 0.006, swell), material)]


def standing_mirror(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A mirror in a frame; glass becomes silver."""
    silver = objects.MIRROR if material.transparent else material
    w, h = float(rng.uniform(0.16, 0.28)), float(rng.uniform(0.20, 0.34))
    return _named(name, objects.framed(name, (w, h), silver, _frame(rng), 0.018))


def _frame(rng: np.random.Generator) -> Material:
    return plain(_FRAMES[int(rng.integers(len(_FRAMES)))])


def _named(name: str, things: Things) -> Things:
    """All parts as one object."""
    return [Thing(name, t.mesh, t.material) for t in things]
