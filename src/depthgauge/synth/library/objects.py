"""Objects, one function each, built from meshes; in metres, standing at the origin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Thing

Things = list[Thing]
LIFT_M = 0.0004
"""Things hover by this, because rays cannot separate surfaces that touch."""

CLEAR = Material("glass", (1.0, 1.0, 1.0))
MIRROR = Material("mirror", (0.95, 0.95, 0.95))
STEEL = Material("polished", (0.75, 0.74, 0.72))
BRUSHED = Material("brushed", (0.60, 0.58, 0.55))
HAMMERED = Material("rough", (0.85, 0.55, 0.35))
FROSTED = Material("frosted", (0.95, 0.97, 1.0))
Profile = Sequence[tuple[float, float]]


def placed(things: Things, x: float, z: float, turn_deg: float = 0.0, y: float = 0.0) -> Things:
    """Things rotated about their own axis and placed on the table, or at a height."""
    return [
        Thing(t.name, t.mesh.turned(turn_deg).moved(x, y - LIFT_M, z), t.material) for t in things
    ]


def vessel(
    name: str, outside: Profile, wall_m: float, material: Material, around: int = 72
) -> Things:
    """A hollow body of revolution, open at the top, with a wall of constant thickness."""
    inside = [(max(r - wall_m, 0.0), max(h, 2 * wall_m)) for r, h in reversed(outside)]
    inside = [(r, h) for r, h in inside if r > 0] + [(0.0, 2 * wall_m)]
    return [Thing(name, meshes.lathe([(0.0, 0.0), *outside, *inside], around), material)]


def bottle(
    name: str, material: Material, height_m: float = 0.30, radius_m: float = 0.038
) -> Things:
    """A bottle with a neck."""
    r, h = radius_m, height_m
    shape = [(r, 0.0), (r, 0.02), (r, 0.6 * h), (r, 0.68 * h), (0.42 * r, 0.78 * h)]
    return vessel(
        name, [*shape, (0.38 * r, 0.95 * h), (0.45 * r, h), (0.40 * r, h)], 0.003, material
    )


def jar(name: str, material: Material, height_m: float = 0.13, radius_m: float = 0.048) -> Things:
    """A jar with a lid of brushed metal."""
    r, h = radius_m, height_m
    shape = [(r, 0.0), (r, 0.015), (r, 0.75 * h), (0.8 * r, 0.86 * h), (0.8 * r, 0.97 * h)]
    glass = vessel(name, [*shape, (0.78 * r, 0.98 * h)], 0.003, material)
    lid = [(0.0, 0.0), (0.86 * r, 0.0), (0.86 * r, 0.0), (0.86 * r, 0.018), (0.80 * r, 0.02)]
    top = meshes.lathe([*lid, (0.0, 0.02)]).moved(y=-h - 0.001)
    return [*glass, Thing(f"lid of {name}", top, BRUSHED)]


def tumbler(
    name: str, material: Material, height_m: float = 0.12, radius_m: float = 0.036
) -> Things:
    """A drinking glass."""
    r, h = radius_m, height_m
    return vessel(
        name, [(0.85 * r, 0.0), (0.86 * r, 0.01), (r, h), (r - 0.001, h)], 0.002, material
    )


def vase(name: str, material: Material, height_m: float = 0.26) -> Things:
    """A bellied vase."""
    h = height_m
    shape = [(0.040, 0.0), (0.045, 0.01), (0.085, 0.35 * h), (0.06, 0.65 * h), (0.026, 0.85 * h)]
    return vessel(name, [*shape, (0.042, h), (0.040, h)], 0.004, material)


def mug(name: str, material: Material, height_m: float = 0.095, radius_m: float = 0.042) -> Things:
    """A mug with a handle."""
    r, h = radius_m, height_m
    shape = [(0.9 * r, 0.0), (r, 0.006), (r, 0.02), (r, h), (r - 0.002, h + 0.001)]
    body = vessel(name, shape, 0.004, material)
    angle = np.linspace(-0.45 * math.pi, 0.45 * math.pi, 25)
    x = r - 0.004 + 0.030 * np.cos(angle)
    y = -0.52 * h + 0.34 * h * np.sin(angle)
    path = np.stack([x, y, np.zeros_like(x)], axis=-1)
    return [*body, Thing(name, meshes.tube(path, 0.0055), material)]


def pot(name: str, material: Material, radius_m: float = 0.11, height_m: float = 0.13) -> Things:
    """A pot with a lid, a knob and two handles."""
    r, h = radius_m, height_m
    shape = [(0.95 * r, 0.0), (r, 0.01), (r, 0.02), (r, h), (r + 0.004, h), (r - 0.001, h + 0.001)]
    body = vessel(name, shape, 0.003, material, 96)
    lid = [(0.0, h + 0.004), (r - 0.006, h + 0.002), (r + 0.003, h + 0.006), (0.8 * r, h + 0.02)]
    cover = meshes.lathe([*lid, (0.0, h + 0.032)], 96)
    knob = [(0.0, 0.0), (0.008, 0.0), (0.008, 0.012), (0.02, 0.02), (0.016, 0.03), (0.0, 0.032)]
    black = plain("#55565c")
    parts = [Thing(name, cover, material)]
    parts.append(Thing(f"knob of {name}", meshes.lathe(knob).moved(y=-h - 0.032), black))
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 17)
    for side in (-1, 1):
        x = side * (r + 0.03 * np.cos(angle))
        path = np.stack([x, np.full(17, -0.8 * h), 0.035 * np.sin(angle)], axis=-1)
        parts.append(Thing(name, meshes.tube(path, 0.005), material))
    return [*body, *parts]


def bowl(name: str, material: Material, radius_m: float = 0.12) -> Things:
    """A wide bowl."""
    r = radius_m
    shape = [(0.35 * r, 0.0), (0.4 * r, 0.006), (0.75 * r, 0.2 * r), (r, 0.6 * r), (r, 0.61 * r)]
    return vessel(name, shape, 0.004, material, 96)


def fruit(name: str, code: str, radius_m: float, seed: int) -> Things:
    """A speckled ball: an orange, an apple."""
    base = paints.colour(code)
    dark, light = (_toned(base, f) for f in (0.6, 1.25))
    skin = paints.Mottled((dark, base, light), paints.waves(seed, 0.006, 3))
    ball = meshes.ball(radius_m, 0.92)
    return [Thing(name, ball, Material("diffuse", base, skin, 0.25))]


def carton(name: str, size_m: tuple[float, float, float], seed: int) -> Things:
    """A printed cardboard box."""
    rng = np.random.default_rng(seed)
    tones = [_random_tone(rng) for _ in range(3)]
    print_ = paints.Agate((tones[0], tones[1], tones[2]), *_course_and_grain(seed))
    return [Thing(name, meshes.box(*size_m), Material("diffuse", tones[0], print_, 0.3))]


def books(name: str, count: int, seed: int) -> Things:
    """A pile of books, each rotated a little."""
    rng = np.random.default_rng(seed)
    pile, height = [], 0.0
    for number in range(count):
        thick = float(rng.uniform(0.018, 0.045))
        wide, deep = float(rng.uniform(0.19, 0.24)), float(rng.uniform(0.14, 0.18))
        turn = float(rng.uniform(-14, 14))
        title = f"{name} {number + 1}"
        tone, other = _random_tone(rng), _random_tone(rng)
        cloth = paints.Mottled(
            (_toned(tone, 0.7), tone, other), paints.waves(seed + number, 0.008, 4)
        )
        cover = Material("diffuse", tone, cloth, 0.3)
        pages = meshes.box(wide - 0.006, thick - 0.006, deep - 0.006).moved(x=-0.004, y=-0.003)
        covers = meshes.box(wide, 0.003, deep)
        spine = meshes.box(0.003, thick, deep).moved(x=wide / 2 - 0.0015)
        both = meshes.join([covers, covers.moved(y=-thick + 0.003), spine])
        paper = paints.Stripes((paints.colour("#e8e0cc"), paints.colour("#cfc6b0")), 0.0021, axis=0)
        parts = [Thing(title, both, cover)]
        parts.append(Thing(title, pages, Material("diffuse", (0.7, 0.66, 0.55), paper, 0.21)))
        pile += placed(parts, 0.0, 0.0, turn, -height)
        height += thick + LIFT_M
    return pile


def rack(name: str, width_m: float = 0.34, height_m: float = 0.2, bars: int = 9) -> Things:
    """A wire rack: two rails and upright bars of 4 mm."""
    material = Material("diffuse", (0.55, 0.55, 0.57))
    parts = []
    for z, up in ((-0.05, 0.012), (0.05, 0.012), (0.0, height_m)):
        ends = np.array([[-width_m / 2, -up, z], [0.0, -up, z], [width_m / 2, -up, z]])
        parts.append(meshes.tube(ends, 0.0025, 12))
    for x in np.linspace(-0.47 * width_m, 0.47 * width_m, bars):
        outline = ((0.0, -0.05), (0.5, -0.048), (1.0, 0.0), (0.5, 0.048), (0.0, 0.05))
        bend = np.array([(x, -up * height_m, z) for up, z in outline])
        parts.append(meshes.tube(meshes.rounded(bend, 3), 0.002, 12))
    return [Thing(name, meshes.join(parts), material)]


def spoons(name: str, material: Material, count: int, seed: int) -> Things:
    """Wooden or metal spoons that lean in a jar."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(count):
        length, lean = float(rng.uniform(0.22, 0.3)), float(rng.uniform(6, 14))
        along = np.linspace(0, 1, 40)
        radius = 0.0035 + 0.014 * np.exp(-(((along - 0.93) / 0.055) ** 2))
        radius[-1] = 0.004
        stick = meshes.tube(np.stack([0 * along, -length * along, 0 * along], -1), radius, 20)
        parts.append(stick.turned(lean, "z").turned(float(rng.uniform(0, 360))).moved(y=-0.014))
    return [Thing(name, meshes.join(parts), material)]


def plant(name: str, pot_material: Material, stems: int, seed: int) -> Things:
    """A plant with thin stems and bent leaves in a pot."""
    rng = np.random.default_rng(seed)
    shape = [(0.045, 0.0), (0.05, 0.004), (0.065, 0.11), (0.07, 0.11), (0.068, 0.112)]
    parts = vessel(f"pot of {name}", shape, 0.005, pot_material)
    soil = meshes.lathe([(0.0, 0.07), (0.052, 0.07), (0.052, 0.085), (0.0, 0.09)], smooth=1)
    parts.append(Thing(f"soil of {name}", soil, plain("#7a6450")))
    green = paints.Mottled(
        (paints.colour("#1f4d22"), paints.colour("#3f7d34"), paints.colour("#86b04c")),
        paints.waves(seed, 0.008, 3),
    )
    leaves, stalks = [], []
    for _ in range(stems):
        turn, lean = float(rng.uniform(0, 360)), float(rng.uniform(0.2, 0.75))
        height = float(rng.uniform(0.16, 0.30))
        t = np.linspace(0, 1, 24)
        path = np.stack([0.01 + lean * height * t**2, -0.085 - height * t, 0 * t], axis=-1)
        stalks.append(meshes.tube(path, 0.0018 - 0.0006 * t, 10).turned(turn))
        leaves.append(_leaf(float(rng.uniform(0.08, 0.13))).moved(*path[-1]).turned(turn))
    leaf = Material("diffuse", paints.colour("#3f7d34"), green, 0.2)
    return [
        *parts,
        Thing(f"stems of {name}", meshes.join(stalks), plain("#5d7d3a")),
        Thing(f"leaves of {name}", meshes.join(leaves), leaf),
    ]


def towel(name: str, seed: int, width_m: float = 0.42, height_m: float = 0.5) -> Things:
    """A hanging cloth with folds; its upper edge at the origin."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 120), np.linspace(0, 1, 90), indexing="ij")
    waves = paints.waves(seed, 0.45, 2)
    folds = waves.field((x * 1.3, y * 0.25, np.zeros_like(x)))
    points = np.stack([width_m * x, height_m * y, 0.022 * folds * (0.3 + 0.7 * y)], axis=-1)
    cloth = paints.Mottled(
        (paints.colour("#7a2f3a"), paints.colour("#b2545c"), paints.colour("#dca8a0")),
        paints.waves(seed + 1, 0.004, 4),
    )
    return [Thing(name, meshes.sheet(points), Material("diffuse", cloth.tones[1], cloth, 0.25))]


def tap(name: str, material: Material) -> Things:
    """A curved tap with two knobs."""
    angle = np.linspace(0, math.pi, 40)
    up = np.array([[0.0, 0.0, 0.0], [0.0, -0.06, 0.0], [0.0, -0.12, 0.0]])
    bend = np.stack([0 * angle, -0.15 - 0.06 * np.sin(angle), -0.06 + 0.06 * np.cos(angle)], -1)
    path = np.concatenate([up, bend, [[0.0, -0.125, -0.12]]])
    parts = [meshes.tube(path, 0.011, 32)]
    foot = [(0.0, 0.0), (0.026, 0.0), (0.026, 0.008), (0.013, 0.014), (0.013, 0.03), (0.0, 0.03)]
    parts.append(meshes.lathe(foot))
    knob = [(0.0, 0.0), (0.018, 0.0), (0.012, 0.02), (0.022, 0.035), (0.022, 0.055), (0.0, 0.06)]
    parts += [meshes.lathe(knob).moved(x=x) for x in (-0.09, 0.09)]
    return [Thing(name, meshes.join(parts), material)]


def framed(
    name: str, size_m: tuple[float, float], inside: Material, frame: Material, bar_m: float = 0.03
) -> Things:
    """A frame around a pane (a mirror, a sheet of glass) that faces -z, its foot at the origin."""
    w, h = size_m
    pane = meshes.box(w - 2 * bar_m + 0.004, h - 2 * bar_m + 0.004, 0.004).moved(y=-bar_m + 0.002)
    upright = meshes.box(bar_m, h, 0.025)
    level = meshes.box(w - 2 * bar_m, bar_m, 0.025)
    bars = [upright.moved(x=x) for x in (-(w - bar_m) / 2, (w - bar_m) / 2)]
    bars += [level.moved(y=y) for y in (0.0, -h + bar_m)]
    return [Thing(name, pane, inside), Thing(f"frame of {name}", meshes.join(bars), frame)]


def lamp(name: str, material: Material) -> Things:
    """A desk lamp: foot, bent arm, shade."""
    foot = meshes.lathe([(0.0, 0.0), (0.08, 0.0), (0.08, 0.012), (0.012, 0.02), (0.0, 0.02)])
    bend = np.array(
        [[0.0, -0.015, 0.0], [0.0, -0.25, 0.0], [-0.1, -0.42, 0.0], [-0.19, -0.40, 0.0]]
    )
    arm = meshes.tube(meshes.rounded(bend, 4), 0.006, 20)
    cone = [(0.015, 0.09), (0.02, 0.085), (0.07, 0.0), (0.068, 0.0), (0.018, 0.083), (0.0, 0.085)]
    shade = meshes.lathe([(0.0, 0.092), *cone][::-1]).turned(-25, "z").moved(x=-0.2, y=-0.35)
    return [Thing(name, meshes.join([foot, arm, shade]), material)]


def _leaf(length_m: float) -> meshes.Mesh:
    t, s = np.meshgrid(np.linspace(0, 1, 20), np.linspace(-1, 1, 9), indexing="ij")
    half = 0.17 * length_m * np.sin(math.pi * np.clip(t, 0.02, 0.99)) ** 0.8
    bend = 0.35 * length_m * t**2 - 0.15 * length_m * t + 0.15 * half * np.abs(s)
    return meshes.sheet(np.stack([length_m * t, bend, half * s], axis=-1))


def _toned(tone: paints.Colour, factor: float) -> paints.Colour:
    red, green, blue = (min(part * factor, 1.0) for part in tone)
    return red, green, blue


def _random_tone(rng: np.random.Generator) -> paints.Colour:
    red, green, blue = (float(v) for v in rng.uniform(0.08, 0.75, 3))
    return red, green, blue


def _course_and_grain(seed: int) -> tuple[paints.Waves, paints.Waves]:
    return paints.waves(seed, 0.07, 2), paints.waves(seed + 1, 0.006, 3)
