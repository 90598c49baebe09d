"""Lamps, lanterns, trays, plates and covers."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.synth.library import objects
from depthgauge.synth.library.glassware._bodies import hollow, solid
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Thing

_METALS = (objects.STEEL, objects.BRUSHED, objects.HAMMERED, Material("polished", (0.9, 0.7, 0.35)))
_GAP_M = 0.0006


def globe_lamp(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A hollow globe on a metal foot, with a bulb in it."""
    r = float(rng.uniform(0.05, 0.07))
    metal = _METALS[int(rng.integers(len(_METALS)))]
    foot = solid([(0.8 * r, 0.0), (0.8 * r, 0.006), (0.3 * r, 0.02), (0.3 * r, 0.05)], 48)
    angle = np.linspace(-0.36 * math.pi, 0.36 * math.pi, 10)
    low = float(np.sin(angle[0]))
    side = [(r * float(np.cos(a)), r * float(np.sin(a) - low)) for a in angle]
    globe = hollow(side, 0.0025, 0.004)
    bulb = meshes.ball(0.28 * r, 1.3, 40).moved(y=-0.05 - 0.35 * r)
    parts = [Thing(name, foot, metal), Thing(name, globe.moved(y=-0.05 - _GAP_M), material)]
    return [*parts, Thing(name, bulb, plain("#f4ead0"))]


def desk_lamp(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A metal lamp with a bent arm; opaque materials only."""
    if material.transparent:
        material = _METALS[int(rng.integers(len(_METALS)))]
    turn = float(rng.uniform(-30, 30))
    return [Thing(name, t.mesh.turned(turn), t.material) for t in objects.lamp(name, material)]


def lantern(name: str, material: Material, rng: np.random.Generator) -> Things:
    """Four panes between metal posts, with a candle inside."""
    w, h = float(rng.uniform(0.10, 0.14)), float(rng.uniform(0.15, 0.22))
    metal = _METALS[int(rng.integers(len(_METALS)))]
    post, thick, plate = 0.008, 0.003, 0.008
    base = meshes.box(w, plate, w)
    parts = [Thing(name, base, metal), Thing(name, base.moved(y=-h + plate), metal)]
    upright = meshes.box(post, h - 2 * plate - 2 * _GAP_M, post).moved(y=-plate - _GAP_M)
    edge = (w - post) / 2
    corners = [(edge, edge), (edge, -edge), (-edge, edge), (-edge, -edge)]
    parts += [Thing(name, upright.moved(x=x, z=z), metal) for x, z in corners]
    tall = h - 2 * plate - 4 * _GAP_M
    sheet = meshes.box(w - 2 * post - 2 * _GAP_M, tall, thick).moved(y=-plate - 2 * _GAP_M, z=edge)
    parts += [Thing(name, sheet.turned(turn), material) for turn in (0, 90, 180, 270)]
    wax = solid([(0.018, 0.0), (0.018, 0.002), (0.018, 0.4 * h), (0.016, 0.41 * h)], 40)
    return [*parts, Thing(name, wax.moved(y=-plate - _GAP_M), plain("#e8dcc0"))]


def tray(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A flat round tray with a raised rim."""
    r = float(rng.uniform(0.10, 0.15))
    side = [(0.94 * r, 0.0), (0.97 * r, 0.004), (r, 0.023)]
    return [Thing(name, hollow(side, 0.003, 0.003, 96), material)]


def plate(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A plate."""
    r = float(rng.uniform(0.09, 0.13))
    side = [(0.55 * r, 0.0), (0.6 * r, 0.003), (0.7 * r, 0.010), (r, 0.021)]
    return [Thing(name, hollow(side, 0.004, 0.005, 96), material)]


def cake_dome(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A hollow dome over a fruit on a plate."""
    r = float(rng.uniform(0.07, 0.09))
    dish = hollow([(0.9 * r, 0.0), (1.2 * r, 0.014)], 0.004, 0.006, 96)
    angle = np.linspace(0.0, 0.5 * math.pi, 12)
    outer = [(r * float(np.cos(a)), 0.5 * r + r * float(np.sin(a))) for a in angle[:-1]]
    thick = 0.003
    inner = [(p - thick * p / r, 0.5 * r + (q - 0.5 * r) * (1 - thick / r)) for p, q in outer]
    top = 1.5 * r
    line = [(0.0, top - thick), *inner[::-1], (r - thick, 0.0), (r, 0.0), *outer, (0.0, top)]
    dome = meshes.lathe(line, 96, smooth=2)
    seed = int(rng.integers(1 << 30))
    fruit = objects.fruit(name, "#b04030", 0.45 * r, seed)
    lift = 0.006 + _GAP_M
    parts = [Thing(name, dish, Material("ceramic", (0.82, 0.80, 0.76)))]
    parts.append(Thing(name, dome.moved(y=-lift), material))
    return [*parts, *(Thing(name, t.mesh.moved(y=-lift), t.material) for t in fruit)]


def candlestick(name: str, material: Material, rng: np.random.Generator) -> Things:
    """A turned solid candlestick with a candle."""
    h, r = float(rng.uniform(0.12, 0.18)), float(rng.uniform(0.035, 0.045))
    low = [(r, 0.0), (r, 0.006), (0.4 * r, 0.025), (0.55 * r, 0.4 * h), (0.28 * r, 0.75 * h)]
    stick = solid([*low, (0.55 * r, 0.95 * h), (0.55 * r, h), (0.5 * r, h)])
    wax = solid([(0.010, 0.0), (0.010, 0.002), (0.010, 0.10), (0.008, 0.102)], 40)
    parts = [Thing(name, stick, material)]
    return [*parts, Thing(name, wax.moved(y=-h - _GAP_M), plain("#efe6d2"))]
