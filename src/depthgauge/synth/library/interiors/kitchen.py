"""Kitchens: a row of cupboards under a window or cabinets, and a table."""

from __future__ import annotations

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.interiors import _furniture as furniture
from depthgauge.synth.library.interiors._plan import Interior, Opening, Plan
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.model import Thing


def kitchen(layout: int) -> Interior:
    """A worktop along the back wall, a fridge or oven, a table in the room."""
    plan = Plan.begin("kitchen", layout, 1, (3.0, 3.4))
    rng, (wide, _, deep) = plan.rng, plan.size_m
    along = float(rng.uniform(-0.5, 0.5))
    window = Opening(along, 1.15, float(rng.uniform(0.9, 1.4)), float(rng.uniform(0.8, 1.0)))
    floor = finishes.tiles(rng) if rng.random() < 0.5 else finishes.wood(rng)
    plan.shell(floor, finishes.plaster(rng), finishes.tiles(rng), window)
    front, handle = finishes.paint(rng), finishes.metal(rng)
    top = finishes.stone(rng) if rng.random() < 0.6 else finishes.wood(rng)
    fridge = 0.62
    counter = wide - fridge - 0.06
    middle = -fridge / 2 - 0.01
    body = furniture.cupboard("worktop", (counter - 0.02, 0.9, 0.6), front, top, handle)
    plan.put(body, middle, deep - 0.004)
    plan.top(middle, deep - 0.32, 0.9, (counter / 2 - 0.1, 0.24))
    steel = Material("brushed", (0.62, 0.62, 0.63))
    tall = furniture.cupboard(
        "fridge", (fridge, float(rng.uniform(1.7, 2.0)), 0.62), steel, None, handle
    )
    plan.put(tall, wide / 2 - fridge / 2 - 0.01, deep - 0.004)
    plan.put(objects.tap("tap", objects.STEEL), middle + 0.3, deep - 0.12, up_m=0.9)
    cabinet = (counter - window.width_m) / 2 - 0.1
    if cabinet > 0.45:
        x = along - window.width_m / 2 - cabinet / 2 - 0.06
        if x - cabinet / 2 > -wide / 2:
            made = furniture.glass_door_cabinet("cabinet", min(cabinet, 0.8), 0.6, rng)
            plan.put(made, x, deep - 0.004, up_m=1.45)
    _oven(plan, middle - counter / 2 + 0.45, deep)
    d = float(rng.uniform(0.7, 0.85))
    size = (float(rng.uniform(1.1, 1.5)), 0.74, d)
    x, z = float(rng.uniform(-0.3, 0.3)), 0.45 * deep - 0.15
    plan.put(furniture.table("table", size, finishes.wood(rng), finishes.paint(rng)), x, z)
    plan.top(x, z, 0.74, (size[0] / 2 - 0.12, d / 2 - 0.12), 0.0, 80.0)
    plan.put(furniture.chair("chair", rng), x + 0.3, z + d / 2 + 0.12, 10)
    plan.lamp(0.0, 0.45 * deep, 0.6, 9.0)
    plan.lamp(0.2, deep - 0.9, 0.35, 9.0)
    return plan.done()


def _oven(plan: Plan, x: float, deep: float) -> None:
    """A dark glass door before the cupboard."""
    door = meshes.box(0.5, 0.42, 0.006, 0.2)
    glass = finishes.glass(plan.rng, clear=True)
    inside = meshes.box(0.46, 0.38, 0.004, 0.2)
    plan.put([Thing("oven door", door, glass)], x, deep - 0.66, up_m=0.25)
    rack = Thing("oven", inside, Material("ceramic", (0.05, 0.05, 0.05)))
    plan.put([rack], x, deep - 0.635, up_m=0.27)
