"""Bathrooms: a basin under a mirror, a shower behind glass, glass shelves."""

from __future__ import annotations

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.interiors import _furniture as furniture
from depthgauge.synth.library.interiors._plan import Interior, Opening, Plan
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Thing


def bathroom(layout: int) -> Interior:
    """A washstand and a mirror at the back wall, a shower screen beside them."""
    plan = Plan.begin("bathroom", layout, 2, (2.4, 2.8))
    rng, (wide, _, deep) = plan.rng, plan.size_m
    window = Opening(float(rng.uniform(-0.3, 0.3)), 1.2, 0.7, 0.7) if rng.random() < 0.7 else None
    plan.shell(finishes.tiles(rng), finishes.tiles(rng), finishes.tiles(rng), None, window)
    stand = float(rng.uniform(1.1, 1.3))
    x = -wide / 2 + stand / 2 + 0.15
    stone, handle = finishes.stone(rng), finishes.metal(rng)
    body = furniture.cupboard("washstand", (stand, 0.8, 0.5), finishes.paint(rng), stone, handle)
    plan.put(body, x, deep - 0.004)
    plan.top(x - 0.28 * stand, deep - 0.27, 0.8, (0.2 * stand, 0.2))
    basin = objects.bowl("basin", Material("ceramic", (0.87, 0.87, 0.86)), 0.18)
    plan.put(basin, x + 0.25 * stand, deep - 0.27, up_m=0.8)
    plan.put(objects.tap("tap", objects.STEEL), x + 0.25 * stand, deep - 0.05, up_m=0.8)
    mirror = furniture.wall_mirror("mirror", 0.95 * stand, 0.7, finishes.wood(rng))
    plan.put(mirror, x, deep - 0.004, up_m=1.15)
    shelf = furniture.shelf("glass shelf", 0.6, 0.16, finishes.glass(rng, clear=True))
    plan.put(shelf, x + stand / 2 + 0.42, deep - 0.004, up_m=1.05)
    plan.top(x + stand / 2 + 0.42, deep - 0.085, 1.07, (0.24, 0.05))
    _shower(plan)
    stool = furniture.table("stool", (0.5, 0.45, 0.36), finishes.wood(rng), finishes.paint(rng))
    plan.put(stool, x + 0.2, deep - 1.15, 10)
    plan.top(x + 0.2, deep - 1.15, 0.45, (0.15, 0.1), 0.0, 70.0)
    towel = objects.towel("towel", int(rng.integers(1 << 20)))
    plan.put(towel, -wide / 2 + 0.06, 0.55 * deep, 90, 1.35)
    plan.lamp(-0.2, 0.55 * deep, 0.5, 10.0)
    plan.lamp(0.1, deep - 0.6, 0.3, 9.0)
    return plan.done()


def _shower(plan: Plan) -> None:
    """A tall pane across the corner, a tray on the floor, a bench with a top behind it."""
    rng, (wide, _, deep) = plan.rng, plan.size_m
    side = 0.85
    pane = meshes.box(side, 1.95, 0.008, 0.3)
    x, z = wide / 2 - side / 2 - 0.01, deep - side - 0.05
    plan.put([Thing("shower screen", pane, finishes.glass(rng, clear=True))], x, z, up_m=0.05)
    tray = meshes.box(side, 0.045, side, 0.3)
    white = Material("ceramic", (0.85, 0.85, 0.84))
    plan.put([Thing("shower tray", tray, white)], x, deep - side / 2 - 0.006)
    bench = furniture.table("bench", (0.5, 0.5, 0.3), finishes.wood(rng), finishes.metal(rng))
    plan.put(bench, x, deep - 0.25, up_m=0.046)
    plan.top(x, deep - 0.25, 0.546, (0.17, 0.09), 0.0, 30.0)
