"""Offices: desks with screens, glass partitions, bookcases."""

from __future__ import annotations

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.interiors import _furniture as furniture
from depthgauge.synth.library.interiors._plan import Interior, Opening, Plan
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.model import Thing


def office(layout: int) -> Interior:
    """A desk before the window, a meeting table of glass or wood, a partition."""
    plan = Plan.begin("office", layout, 3, (3.4, 3.4))
    rng, (wide, _, deep) = plan.rng, plan.size_m
    window = Opening(float(rng.uniform(-0.4, 0.4)), 1.0, 1.5, 1.1)
    plan.shell(finishes.carpet(rng), finishes.plaster(rng), finishes.plaster(rng), window)
    size = (float(rng.uniform(1.4, 1.8)), 0.74, 0.75)
    x, z = float(rng.uniform(-0.5, 0.0)), deep - 0.42
    plan.put(furniture.table("desk", size, finishes.wood(rng), finishes.metal(rng)), x, z)
    plan.put(furniture.screen("monitor", 0.6, 0.36), x - 0.35, z + 0.15, 12, 0.74)
    plan.top(x + 0.3, z - 0.02, 0.74, (size[0] / 2 - 0.42, 0.24))
    lamp = objects.lamp("desk lamp", finishes.metal(rng))
    plan.put(lamp, x - size[0] / 2 + 0.12, z, -30, 0.74)
    plan.put(furniture.bookcase("bookcase", rng), wide / 2 - 0.45, deep - 0.004)
    glassy = rng.random() < 0.5
    board = finishes.glass(rng, clear=True) if glassy else finishes.wood(rng)
    meeting = (float(rng.uniform(1.0, 1.3)), 0.72, 0.8)
    mx, mz = float(rng.uniform(0.0, 0.4)), 0.42 * deep
    thick = 0.012 if glassy else 0.03
    plan.put(furniture.table("meeting table", meeting, board, finishes.metal(rng), thick), mx, mz)
    plan.top(mx, mz, 0.72, (meeting[0] / 2 - 0.15, 0.26), 0.0, 80.0)
    pane = meshes.box(0.9, 1.5, 0.008, 0.3)
    screen = Thing("partition", pane, finishes.glass(rng, clear=True))
    plan.put([screen], -wide / 2 + 0.55, 0.55 * deep, 8)
    plan.put(furniture.chair("chair", rng), x + 0.2, z - 0.75, 190)
    plan.put(furniture.picture("poster", rng), -wide / 2 + 0.004, 0.5 * deep, -90, 1.3)
    plan.lamp(0.0, 0.4 * deep, 0.6, 9.0)
    plan.lamp(0.0, deep - 0.8, 0.5, 7.0)
    return plan.done()
