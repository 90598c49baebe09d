"""Bedrooms: a bed between night tables, a dresser with a mirror, a wardrobe."""

from __future__ import annotations

from depthgauge.synth.library import finishes
from depthgauge.synth.library.interiors import _furniture as furniture
from depthgauge.synth.library.interiors._plan import Interior, Opening, Plan
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.model import Thing


def bedroom(layout: int) -> Interior:
    """A bed at the side wall, a dresser and a mirror at the back wall, a night table."""
    plan = Plan.begin("bedroom", layout, 5, (3.5, 3.7))
    rng, (wide, _, deep) = plan.rng, plan.size_m
    window = Opening(float(rng.uniform(-0.3, 0.3)), 0.95, 1.1, 1.1)
    plan.shell(finishes.wood(rng), finishes.plaster(rng), finishes.plaster(rng), None, window)
    plan.put(furniture.bed("bed", rng), wide / 2 - 0.006, 0.46 * deep, 90)
    night = (0.45, 0.5, 0.38)
    wood, metal = finishes.wood(rng), finishes.metal(rng)
    z = 0.46 * deep + 0.85 + 0.32
    plan.put(
        furniture.cupboard("night table", night, wood, finishes.stone(rng), metal),
        wide / 2 - 0.01,
        z,
        90,
    )
    plan.top(wide / 2 - 0.22, z, 0.5, (0.10, 0.14), 60.0, 40.0)
    dresser = (float(rng.uniform(1.1, 1.4)), 0.85, 0.42)
    x = -wide / 2 + dresser[0] / 2 + 0.25
    plan.put(
        furniture.cupboard("dresser", dresser, finishes.paint(rng), finishes.wood(rng), metal),
        x,
        deep - 0.004,
    )
    plan.top(x, deep - 0.23, 0.85, (dresser[0] / 2 - 0.12, 0.15))
    if rng.random() < 0.6:
        mirror = furniture.wall_mirror("mirror", 0.7, 0.8, finishes.wood(rng))
        plan.put(mirror, x, deep - 0.004, up_m=1.15)
    else:
        plan.put(furniture.picture("picture", rng), x, deep - 0.004, up_m=1.3)
    glass = finishes.glass(rng, clear=True)
    plan.put(
        furniture.shelf("glass shelf", 0.7, 0.2, glass),
        x + dresser[0] / 2 + 0.55,
        deep - 0.004,
        up_m=1.2,
    )
    plan.top(x + dresser[0] / 2 + 0.55, deep - 0.105, 1.22, (0.28, 0.06))
    vanity = (0.8, 0.7, 0.42)
    vx, vz = -wide / 2 + 0.55, 0.42 * deep
    table = furniture.table("vanity", vanity, glass, finishes.metal(rng), 0.012)
    plan.put(table, vx, vz)
    plan.top(vx, vz, 0.7, (0.24, 0.12), 0.0, 80.0)
    rug = Thing("rug", meshes.box(1.2, 0.008, 1.6, 0.3), finishes.print_(rng))
    plan.put([rug], -0.15, 0.5 * deep)
    plan.lamp(-0.2, 0.45 * deep, 0.6, 9.0)
    plan.lamp(-0.5, deep - 0.7, 0.35, 9.0)
    return plan.done()
