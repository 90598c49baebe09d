"""Furniture of boxes, boards and cushions, one function each; it stands at the origin.

The front faces -z, and the back is at z = 0 for everything that stands at a wall.
"""

from __future__ import annotations

import numpy as np

from depthgauge.synth.library import finishes, objects
from depthgauge.synth.library.glassware import _bodies as bodies
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Thing

_GAP_M = 0.0008
"""Between parts: rays cannot separate surfaces that touch."""


def cupboard(
    name: str,
    size_m: tuple[float, float, float],
    front: Material,
    top: Material | None,
    handle: Material,
) -> Things:
    """A box with doors and handles; a worktop on it if `top` is given.

    Args:
        name: Name of the object.
        size_m: Width, height and depth.
        front: Material of the body and the doors.
        top: Material of the worktop, 3 cm thick.
        handle: Material of the handles.
    """
    w, h, d = size_m
    slab = 0.03 if top is not None else 0.0
    body = meshes.box(w, h - slab - _GAP_M, d - 0.02, 0.3).moved(z=-d / 2 + 0.01)
    doors, bars = [], []
    count = max(1, round(w / 0.55))
    each = w / count
    for number in range(count):
        x = -w / 2 + (number + 0.5) * each
        tall = h - slab - 0.02
        door = meshes.box(each - 0.006, tall, 0.018, 0.3).moved(x, -0.01, -d + 0.009)
        doors.append(door)
        top_y = -h + slab + 0.10
        path = np.array([[x - 0.06, top_y, -d - 0.03], [x, top_y, -d - 0.03]])
        path = np.concatenate([path, [[x + 0.06, top_y, -d - 0.03]]])
        bars.append(meshes.tube(path, 0.006, 14))
    parts = [
        Thing(name, meshes.join([body, *doors]), front),
        Thing(name, meshes.join(bars), handle),
    ]
    if top is not None:
        board = meshes.box(w, slab, d + 0.02, 0.2).moved(y=-h + slab, z=-d / 2 - 0.01)
        parts.append(Thing(name, board, top))
    return parts


def table(
    name: str,
    size_m: tuple[float, float, float],
    top: Material,
    legs: Material,
    thick: float = 0.03,
) -> Things:
    """A board on four legs, centred."""
    w, h, d = size_m
    board = meshes.box(w, thick, d, 0.2).moved(y=-h + thick)
    post = meshes.box(0.05, h - thick - _GAP_M, 0.05, 0.4)
    places = [(x, z) for x in (-w / 2 + 0.05, w / 2 - 0.05) for z in (-d / 2 + 0.05, d / 2 - 0.05)]
    feet = meshes.join([post.moved(x=x, z=z) for x, z in places])
    return [Thing(name, board, top), Thing(f"legs of {name}", feet, legs)]


def shelf(name: str, width_m: float, depth_m: float, board: Material) -> Things:
    """A board on two brackets, at a wall."""
    slab = meshes.box(width_m, 0.02, depth_m, 0.2).moved(z=-depth_m / 2 - 0.002)
    steel = plain("#4a4c50")
    arm = meshes.box(0.02, 0.02, depth_m - 0.02, 0.4).moved(y=0.0208, z=-depth_m / 2 - 0.002)
    arms = [arm.moved(x=x) for x in (-0.4 * width_m, 0.4 * width_m)]
    return [Thing(name, slab, board), Thing(f"brackets of {name}", meshes.join(arms), steel)]


def bookcase(name: str, rng: np.random.Generator, levels: int = 4) -> Things:
    """Boards between two sides, with rows of books."""
    w, step, d = 0.8, 0.34, 0.26
    h = levels * step + 0.02
    wood = finishes.wood(rng)
    side = meshes.box(0.02, h, d, 0.3).moved(z=-d / 2)
    boards = [side.moved(x=x) for x in (-w / 2 - 0.01 - _GAP_M, w / 2 + 0.01 + _GAP_M)]
    boards += [meshes.box(w, 0.02, d, 0.2).moved(y=-n * step, z=-d / 2) for n in range(levels + 1)]
    parts = [Thing(name, meshes.join(boards), wood)]
    for level in range(levels):
        x = -w / 2 + 0.01
        while x < w / 2 - 0.12:
            thick, tall = float(rng.uniform(0.02, 0.06)), float(rng.uniform(0.18, 0.29))
            book = meshes.box(thick, tall, 0.18, 0.3)
            up = -level * step - 0.02 - _GAP_M
            place = book.moved(x + thick / 2, up, -0.14)
            parts.append(Thing(f"books of {name}", place, finishes.paint(rng)))
            x += thick + 0.002 + (0.15 if rng.random() < 0.08 else 0.0)
    return parts


def picture(name: str, rng: np.random.Generator, *, glazed: bool = True) -> Things:
    """A framed print, mostly behind glass."""
    w, h = float(rng.uniform(0.4, 0.8)), float(rng.uniform(0.4, 0.7))
    bar = 0.025
    sheet = meshes.box(w - 2 * bar - 0.002, h - 2 * bar - 0.002, 0.004, 0.2)
    print_ = sheet.moved(y=-bar - 0.001, z=-0.008)
    upright, level = meshes.box(bar, h, 0.025, 0.3), meshes.box(w - 2 * bar, bar, 0.025, 0.3)
    bars = [upright.moved(x=x) for x in (-(w - bar) / 2, (w - bar) / 2)]
    bars += [level.moved(y=y) for y in (0.0, -h + bar)]
    frame = meshes.join(bars).moved(z=-0.014)
    parts = [Thing(name, print_, finishes.print_(rng))]
    parts.append(Thing(f"frame of {name}", frame, finishes.paint(rng)))
    if glazed:
        pane = sheet.moved(y=-bar - 0.001, z=-0.020)
        parts.append(Thing(f"glass of {name}", pane, finishes.glass(rng, clear=True)))
    return parts


def wall_mirror(name: str, width_m: float, height_m: float, frame: Material) -> Things:
    """A mirror in a frame, at a wall."""
    made = objects.framed(name, (width_m, height_m), objects.MIRROR, frame, 0.03)
    return [Thing(t.name, t.mesh.moved(z=-0.014), t.material) for t in made]


def cushion(name: str, size_m: tuple[float, float, float], cloth: Material) -> Things:
    """A soft block, centred."""
    w, h, d = size_m
    return [Thing(name, bodies.superquadric((w / 2, h / 2, d / 2), 0.35), cloth)]


def sofa(name: str, width_m: float, cloth: Material, other: Material) -> Things:
    """Seat, back and arms, with cushions."""
    d, seat = 0.85, 0.42
    base = meshes.box(width_m, seat - 0.02, d, 0.3).moved(z=-d / 2)
    back = meshes.box(width_m, 0.42, 0.18, 0.3).moved(y=-seat, z=-0.09)
    arm = meshes.box(0.16, 0.20, d - 0.2, 0.3).moved(y=-seat + 0.0192, z=-d / 2 - 0.09)
    arms = [arm.moved(x=x) for x in (-width_m / 2 + 0.08, width_m / 2 - 0.08)]
    parts = [Thing(name, meshes.join([base, back, *arms]), cloth)]
    for x in (-0.28 * width_m, 0.28 * width_m):
        soft = cushion(f"cushion of {name}", (0.42, 0.36, 0.14), other)[0]
        leaned = soft.mesh.turned(14.0, "x").moved(x, -seat + 0.015, -0.32)
        parts.append(Thing(soft.name, leaned, other))
    return parts


def bed(name: str, rng: np.random.Generator) -> Things:
    """Frame, mattress, cover and pillows; its head at the wall."""
    w, deep = 1.6, 2.0
    wood, cloth = finishes.wood(rng), finishes.fabric(rng)
    frame = meshes.box(w, 0.25, deep, 0.3).moved(z=-deep / 2)
    head = meshes.box(w + 0.1, 0.95, 0.05, 0.3).moved(z=-0.025)
    parts = [Thing(name, meshes.join([frame.moved(z=-0.0508), head]), wood)]
    soft = bodies.superquadric((w / 2, 0.13, deep / 2 - 0.03), 0.18)
    parts.append(Thing(f"cover of {name}", soft.moved(y=-0.25 - _GAP_M, z=-deep / 2 - 0.06), cloth))
    white = plain("#e6e2da")
    for x in (-0.38, 0.38):
        pillow = bodies.superquadric((0.32, 0.08, 0.21), 0.45).moved(x, -0.512, -0.34)
        parts.append(Thing(f"pillow of {name}", pillow, white))
    return parts


def chair(name: str, rng: np.random.Generator) -> Things:
    """Seat, back and four legs, centred."""
    material = finishes.paint(rng)
    seat = meshes.box(0.42, 0.04, 0.42, 0.3).moved(y=-0.44)
    back = meshes.box(0.40, 0.42, 0.03, 0.3).moved(y=-0.4808, z=0.19)
    leg = meshes.box(0.035, 0.439, 0.035, 0.5)
    legs = [leg.moved(x=x, z=z) for x in (-0.18, 0.18) for z in (-0.18, 0.18)]
    return [Thing(name, meshes.join([seat, back, *legs]), material)]


def screen(name: str, width_m: float, height_m: float) -> Things:
    """A dark glossy monitor or television on a foot, centred."""
    black = Material("ceramic", (0.03, 0.03, 0.035))
    panel = meshes.box(width_m, height_m, 0.03, 0.2).moved(y=-0.06)
    neck = meshes.box(0.06, 0.052, 0.03, 0.2).moved(y=-0.0072)
    foot = meshes.box(0.24, 0.006, 0.16, 0.2)
    return [Thing(name, meshes.join([panel, neck, foot]), black)]


def glass_door_cabinet(
    name: str, width_m: float, height_m: float, rng: np.random.Generator
) -> Things:
    """A cabinet on the wall with a glass front and dishes behind it."""
    d, thick, wood = 0.30, 0.018, finishes.paint(rng)
    side = meshes.box(thick, height_m, d, 0.3).moved(z=-d / 2)
    deck = meshes.box(width_m - 2 * thick - 2 * _GAP_M, thick, d, 0.2).moved(z=-d / 2)
    back = meshes.box(width_m, height_m, 0.006, 0.2).moved(z=-0.003)
    parts = [side.moved(x=x, z=-0.0068) for x in (-(width_m - thick) / 2, (width_m - thick) / 2)]
    levels = [0.0, height_m / 2, height_m - thick]
    parts += [deck.moved(y=-y, z=-0.0068) for y in levels]
    made = [Thing(name, meshes.join([back, *parts]), wood)]
    front = meshes.box(width_m - 0.004, height_m - 0.004, 0.005, 0.2)
    pane = front.moved(y=-0.002, z=-d - 0.012)
    made.append(Thing(f"door of {name}", pane, finishes.glass(rng, clear=True)))
    for level in levels[:2]:
        x = -width_m / 2 + 0.11
        while x < width_m / 2 - 0.10:
            kind = (objects.mug, objects.vase, objects.bowl)[int(rng.integers(3))]
            if kind is objects.bowl:
                dish = objects.bowl(f"dish of {name}", finishes.ceramic(rng), 0.08)
            elif kind is objects.vase:
                dish = objects.vase(f"dish of {name}", finishes.ceramic(rng), 0.16)
            else:
                dish = objects.mug(f"dish of {name}", finishes.ceramic(rng))
            lift = -level - thick - _GAP_M
            made += [Thing(t.name, t.mesh.moved(x, lift, -0.15), t.material) for t in dish]
            x += 0.21
    return made
