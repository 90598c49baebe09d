"""Living rooms: a sofa, a coffee table, a sideboard with a glass cabinet or pictures above it."""

from __future__ import annotations

from depthgauge.synth.library import finishes
from depthgauge.synth.library.interiors import _furniture as furniture
from depthgauge.synth.library.interiors._plan import Interior, Opening, Plan
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.model import Thing


def living_room(layout: int) -> Interior:
    """A sofa at the side, a coffee table in the middle, a sideboard at the back wall."""
    plan = Plan.begin("living room", layout, 4, (3.6, 3.6))
    rng, (wide, _, deep) = plan.rng, plan.size_m
    window = Opening(float(rng.uniform(0.6, 0.9)), 0.9, 1.2, 1.2)
    plan.shell(finishes.wood(rng), finishes.plaster(rng), finishes.plaster(rng), window)
    sideboard = (float(rng.uniform(1.3, 1.6)), 0.75, 0.42)
    x = -wide / 2 + sideboard[0] / 2 + 0.2
    front, top = finishes.wood(rng), finishes.stone(rng)
    made = furniture.cupboard("sideboard", sideboard, front, top, finishes.metal(rng))
    plan.put(made, x, deep - 0.004)
    plan.top(x, deep - 0.23, 0.75, (sideboard[0] / 2 - 0.12, 0.15))
    if rng.random() < 0.5:
        plan.put(furniture.picture("picture", rng), x, deep - 0.004, up_m=1.35)
    else:
        cabinet = furniture.glass_door_cabinet("cabinet", 0.8, 0.55, rng)
        plan.put(cabinet, x, deep - 0.004, up_m=1.35)
    glassy = rng.random() < 0.6
    board = finishes.glass(rng, clear=True) if glassy else finishes.wood(rng)
    size = (float(rng.uniform(0.9, 1.2)), 0.42, 0.65)
    thick = 0.012 if glassy else 0.03
    z = 0.5 * deep
    rug = Thing("rug", meshes.box(1.9, 0.008, 1.4, 0.3), finishes.print_(rng))
    plan.put([rug], 0.1, z)
    table = furniture.table("coffee table", size, board, finishes.metal(rng), thick)
    plan.put(table, 0.1, z, up_m=0.009)
    plan.top(0.1, z, 0.429, (size[0] / 2 - 0.15, 0.20), 0.0, 90.0)
    sofa = furniture.sofa("sofa", 1.7, finishes.fabric(rng), finishes.fabric(rng))
    plan.put(sofa, wide / 2 - 0.006, 0.45 * deep, 90)
    side = furniture.table(
        "side table", (0.45, 0.55, 0.45), finishes.wood(rng), finishes.paint(rng)
    )
    plan.put(side, wide / 2 - 0.4, 0.45 * deep + 1.15)
    plan.top(wide / 2 - 0.4, 0.45 * deep + 1.15, 0.55, (0.12, 0.12), 20.0, 60.0)
    plan.lamp(0.0, 0.5 * deep, 0.6, 10.0)
    plan.lamp(-0.4, deep - 0.7, 0.4, 8.0)
    return plan.done()
