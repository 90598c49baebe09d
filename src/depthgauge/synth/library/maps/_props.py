"""Things that stand in several maps: trees, rocks, crates, cars, posts, pillars."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from depthgauge.synth.library.objects import Things
from depthgauge.synth.library.surfaces import surface
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.mesh import Mesh
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.texture import waves


def lumpy(radius_m: float, squash: float, rough: float, seed: int, around: int = 28) -> Mesh:
    """A ball with lumps, its middle at the origin: rocks, bushes, crowns."""
    turn = np.linspace(0, 2 * math.pi, around + 1)
    up = np.linspace(-math.pi / 2, math.pi / 2, around // 2 + 1)
    a, b = np.meshgrid(turn, up, indexing="ij")
    ways = np.stack([np.cos(b) * np.cos(a), np.sin(b), np.cos(b) * np.sin(a)], axis=-1)
    field = waves(seed, 0.45, 3).field((ways[..., 0], ways[..., 1], ways[..., 2]))
    points = ways * (radius_m * (1 + rough * field))[..., None]
    points[..., 1] *= squash
    points[-1] = points[0]
    across, along = np.gradient(points, axis=0), np.gradient(points, axis=1)
    outside = np.cross(across, along)
    size = np.linalg.norm(outside, axis=-1, keepdims=True)
    outside = np.where(size > 1e-9, outside / np.maximum(size, 1e-9), ways)
    outside = np.where((outside * ways).sum(-1, keepdims=True) < 0, -outside, outside)
    outside[-1] = outside[0]
    return meshes.surface(points, outside)


def tree(name: str, rng: np.random.Generator, height_m: float, kind: str = "leafy") -> Things:
    """A tree: a bent trunk and a crown of leaf clouds, or of cones."""
    seed = int(rng.integers(1, 9999))
    bark = surface("bark", "#3a2a1c #5c4630 #8b7355", 0.8, seed % 3)
    leaf = surface("leaves", _LEAVES[seed % len(_LEAVES)], 1.0, seed % 4)
    t = np.linspace(0, 1, 9)
    bend = rng.uniform(-0.25, 0.25, 2)
    top = 0.75 * height_m
    path = np.stack([bend[0] * t**2, -top * t, bend[1] * t**2], axis=-1)
    thick = 0.035 * height_m
    trunk = meshes.tube(path, thick * (1.25 - 0.8 * t), 10)
    if kind == "pine":
        crown = [
            _cone((0.26 - 0.055 * i) * height_m, 0.3 * height_m, 14).moved(
                *(path[-1, 0] * 0.7, -(0.25 + 0.17 * i) * height_m, path[-1, 2] * 0.7)
            )
            for i in range(4)
        ]
    else:
        crown = []
        for i in range(6):
            around, out = float(rng.uniform(0, 6.3)), float(rng.uniform(0.05, 0.2)) * height_m
            up = float(rng.uniform(0.6, 0.9)) * height_m
            size = float(rng.uniform(0.13, 0.2)) * height_m
            x, z = out * math.cos(around) + bend[0], out * math.sin(around) + bend[1]
            crown.append(lumpy(size, 0.8, 0.28, seed + i, 22).moved(x, -up, z))
    return [Thing(name, trunk, bark), Thing(name, meshes.join(crown), leaf)]


_LEAVES = (
    "#16300f #35602a #83a852",
    "#1d3a16 #46702c #a3b65a",
    "#2a3d12 #5e7326 #b5b04e",
)


def _cone(radius_m: float, height_m: float, around: int) -> Mesh:
    return meshes.lathe(
        [(0.0, 0.0), (radius_m, 0.02), (0.45 * radius_m, 0.5 * height_m), (0.0, height_m)],
        around,
        smooth=0,
    )


def rock(name: str, rng: np.random.Generator, radius_m: float, codes: str) -> Things:
    """A boulder that is partly in the ground."""
    seed = int(rng.integers(1, 9999))
    mesh = lumpy(radius_m, 0.75, 0.32, seed).moved(y=-0.35 * radius_m)
    return [Thing(name, mesh, surface("strata", codes, 1.6, seed % 3))]


def bush(name: str, rng: np.random.Generator, radius_m: float) -> Things:
    """A low round bush."""
    seed = int(rng.integers(1, 9999))
    mesh = lumpy(radius_m, 0.75, 0.35, seed, 22).moved(y=-0.6 * radius_m)
    return [Thing(name, mesh, surface("leaves", _LEAVES[seed % 3], 0.8, seed % 4))]


def crate(name: str, rng: np.random.Generator, side_m: float) -> Things:
    """A wooden crate with battens."""
    wood = surface("planks", "#5b4023 #94703f #c9a46a", 1.1, int(rng.integers(0, 3)))
    dark = surface("planks", "#3f2c18 #6e522e #9a7a4c", 1.1, 5)
    parts = [Thing(name, meshes.box(side_m, side_m, side_m, 0.3), wood)]
    bar = 0.09 * side_m
    frame = []
    for x in (-1, 1):
        for z in (-1, 1):
            post = meshes.box(bar, 1.004 * side_m, bar, 0.5)
            frame.append(post.moved(x * 0.47 * side_m, 0.0, z * 0.47 * side_m))
    for up in (0.0, 0.91):
        for z in (-1, 1):
            rail = meshes.box(1.03 * side_m, bar, bar, 0.5)
            frame.append(rail.moved(0, -up * side_m, z * 0.47 * side_m))
            frame.append(rail.turned(90).moved(z * 0.47 * side_m, -up * side_m, 0))
    return [*parts, Thing(name, meshes.join(frame), dark)]


def barrel(name: str, code: str, seed: int) -> Things:
    """A steel barrel."""
    rings = [(0.0, 0.0), (0.29, 0.0), (0.29, 0.28), (0.305, 0.3), (0.29, 0.32), (0.29, 0.58)]
    profile = [*rings, (0.305, 0.6), (0.29, 0.62), (0.29, 0.88), (0.0, 0.88)]
    paint = surface("corrugated", code, 1.8, seed)
    return [Thing(name, meshes.lathe(profile, 28, smooth=0), paint)]


def car(name: str, code: str, seed: int) -> Things:
    """A parked car: body, cabin, wheels; 4.1 m long, along x."""
    body = meshes.rounded(
        np.array(
            [(-2.05, 0.35), (-2.0, 0.78), (-1.1, 0.9), (1.0, 0.95), (1.95, 0.8), (2.05, 0.35)]
        ),
        2,
    )
    cabin = meshes.rounded(np.array([(-1.15, 0.85), (-0.6, 1.42), (0.75, 1.45), (1.5, 0.9)]), 2)
    paint = surface("mottled", code, 3.0, seed)
    glass = surface("mottled", "#10161c #26323d #5a6c7a", 1.2, seed + 1)
    wheel = meshes.lathe([(0.0, 0.0), (0.31, 0.0), (0.33, 0.04), (0.33, 0.18), (0.0, 0.2)], 20, 0)
    tyres = [
        wheel.turned(90 * side, "x").moved(x, -0.33, side * 0.72)
        for x in (-1.3, 1.3)
        for side in (-1, 1)
    ]
    rubber = surface("asphalt", "#101012 #202024 #45454a", 0.5, 1)
    return [
        Thing(name, _prism(body, 0.86), paint),
        Thing(name, _prism(cabin, 0.76), glass),
        Thing(name, meshes.box(1.5, 0.03, 1.4, 0.5).moved(0.1, -1.40, 0), paint),
        Thing(name, meshes.join(tyres), rubber),
    ]


def _prism(outline: np.ndarray, half_m: float) -> Mesh:
    """An outline (x, height) closed at its foot and drawn out along z to both sides."""
    foot = np.array([[outline[-1, 0], outline[0, 1] - 0.1], [outline[0, 0], outline[0, 1] - 0.1]])
    ring = np.concatenate([outline, foot, outline[:1]])
    parts = []
    middle = ring[:-1].mean(axis=0)
    for a, b in pairwise(ring):
        along = np.array([b[0] - a[0], -(b[1] - a[1]), 0.0])
        flat = meshes.rectangle((a[0], -a[1], -half_m), along, (0, 0, 2 * half_m), 0.4)
        out = np.array([(a[0] + b[0]) / 2 - middle[0], -((a[1] + b[1]) / 2 - middle[1]), 0.0])
        parts.append(_turned_to(flat, out))
    for side in (-1.0, 1.0):
        points = np.concatenate([middle[None], ring])
        corners = np.stack([points[:, 0], -points[:, 1], np.full(len(points), side * half_m)], -1)
        n = len(ring) - 1
        fan = np.stack([np.zeros(n, int), np.arange(1, n + 1), np.arange(2, n + 2)], axis=-1)
        normals = np.tile([0.0, 0.0, side], (len(points), 1))
        cap = Mesh(corners, fan.astype(np.int32), normals, points.copy())
        parts.append(cap)
    return meshes.join(parts)


def _turned_to(mesh: Mesh, out: np.ndarray) -> Mesh:
    if float(mesh.normals[0] @ out) > 0:
        return mesh
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1].copy(), -mesh.normals, mesh.uv)


def post(name: str, height_m: float = 4.5) -> Things:
    """A street lamp."""
    t = np.linspace(0, 1, 12)
    arm = np.stack([0.9 * np.clip(t - 0.8, 0, 1) * 5, -height_m * np.sqrt(t), 0 * t], axis=-1)
    iron = surface("mottled", "#22262a #3a4046 #5d656c", 0.7, 2)
    head = meshes.lathe([(0.0, 0.0), (0.2, 0.02), (0.12, 0.14), (0.0, 0.16)], 16)
    head = head.moved(arm[-1, 0], -height_m + 0.06, 0)
    foot = meshes.lathe([(0.0, 0.0), (0.16, 0.0), (0.14, 0.25), (0.07, 0.3), (0.0, 0.3)], 16)
    return [
        Thing(name, meshes.join([meshes.tube(arm, 0.055, 10), foot]), iron),
        Thing(name, head, plain("#e8e0c8")),
    ]


def bench(name: str, seed: int) -> Things:
    """A bench of planks on two iron feet, 1.6 m wide."""
    wood = surface("planks", "#4f3820 #86653c #b8935c", 0.9, seed % 3)
    iron = surface("mottled", "#1f2226 #33383d #565d63", 0.5, 1)
    slats = [meshes.box(1.6, 0.03, 0.1, 0.4).moved(0, -0.44, z) for z in (-0.18, -0.06, 0.06)]
    slats += [meshes.box(1.6, 0.1, 0.03, 0.4).moved(0, -up, 0.2) for up in (0.58, 0.74)]
    feet = [meshes.box(0.06, 0.44, 0.4, 0.3).moved(x, 0, 0) for x in (-0.65, 0.65)]
    feet += [meshes.box(0.05, 0.45, 0.03, 0.3).moved(x, -0.42, 0.22) for x in (-0.65, 0.65)]
    return [Thing(name, meshes.join(slats), wood), Thing(name, meshes.join(feet), iron)]


def pillar(name: str, radius_m: float, height_m: float, material: Material) -> Things:
    """A column with a base and a capital."""
    r, h = radius_m, height_m
    shape = [(0.0, 0.0), (1.5 * r, 0.0), (1.5 * r, 0.12 * r), (1.1 * r, 0.5 * r), (r, 0.7 * r)]
    shape += [(0.92 * r, h - 0.8 * r), (1.0 * r, h - 0.7 * r), (1.35 * r, h - 0.3 * r)]
    return [Thing(name, meshes.lathe([*shape, (1.4 * r, h), (0.0, h)], 28, smooth=1), material)]
