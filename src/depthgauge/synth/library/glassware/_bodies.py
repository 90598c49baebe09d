"""Closed bodies for things of glass: vessels with walls, filled vessels, twisted and free forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.mesh import Mesh

Floats = NDArray[np.float64]
Profile = Sequence[tuple[float, float]]
"""(radius, height) points of the outside, from the foot up to the rim."""
_AROUND = 72
_SMOOTH = 3


def solid(outside: Profile, around: int = _AROUND) -> Mesh:
    """A full body of revolution; its outside ends at the axis."""
    return meshes.lathe([(0.0, 0.0), *outside, (0.0, outside[-1][1])], around)


def hollow(outside: Profile, wall_m: float, base_m: float, around: int = _AROUND) -> Mesh:
    """A vessel, open at the top, with a wall and a base of their own thickness."""
    return meshes.lathe(_walled(outside, wall_m, base_m).tolist(), around, smooth=0)


@dataclass(frozen=True, slots=True, eq=False)
class FilledVessel:
    """A vessel with liquid in it, as the three surfaces between air, wall and liquid."""

    dry: Mesh
    """Between the wall and air."""
    wet: Mesh
    """Between the wall and the liquid; its normals point into the liquid."""
    level: Mesh
    """Between the liquid and air."""


def filled(
    outside: Profile, wall_m: float, base_m: float, level_m: float, around: int = _AROUND
) -> FilledVessel:
    """A vessel that is filled up to a height."""
    line = _walled(outside, wall_m, base_m)
    rim = int(np.argmax(line[:, 1]))
    below = rim + int(np.argmax(line[rim:, 1] < level_m))
    (r0, h0), (r1, h1) = line[below - 1], line[below]
    radius = float(r0 + (r1 - r0) * (level_m - h0) / (h1 - h0))
    edge = np.array([[radius, level_m]])
    parts = (
        np.concatenate([line[:below], edge]),
        np.concatenate([edge, line[below:]]),
        np.concatenate([edge, [[0.0, level_m]]]),
    )
    dry, wet, level = (meshes.lathe(part.tolist(), around, smooth=0) for part in parts)
    return FilledVessel(dry, wet, level)


def fluted(
    outside: Profile,
    wall_m: float,
    base_m: float,
    *,
    ribs: int,
    depth: float,
    twist_deg: float = 0.0,
    around: int = 120,
) -> Mesh:
    """A vessel whose cross-section is a wavy circle that turns with the height.

    Args:
        outside: The mean profile.
        wall_m: Thickness of the wall.
        base_m: Thickness of the base.
        ribs: Waves around the axis.
        depth: Height of the waves as a share of the radius.
        twist_deg: How far the top is turned against the foot.
        around: Segments of the circle.
    """
    line = _walled(outside, wall_m, base_m)
    tall = float(line[:, 1].max())
    turn = np.radians(twist_deg) * line[:, 1:] / tall
    angle = np.linspace(0, math.tau, around + 1)
    wave = 1 + depth * np.cos(ribs * (angle - turn))
    radius = line[:, :1] * wave
    points = np.stack(
        [
            radius * np.cos(angle),
            np.broadcast_to(-line[:, 1:], radius.shape),
            radius * np.sin(angle),
        ],
        axis=-1,
    )
    points[:, -1] = points[:, 0]
    return _closed_around(points)


def free_form(radius_at: Callable[[Floats], Floats], rows: int = 72, columns: int = 120) -> Mesh:
    """A solid around the origin whose surface is at a given distance in every direction.

    Args:
        radius_at: From unit directions (..., 3) to distances.
        rows: From pole to pole.
        columns: Around.
    """
    polar = np.linspace(0, math.pi, rows + 1)[:, None]
    angle = np.linspace(0, math.tau, columns + 1)
    angle[-1] = 0.0
    ring = np.sin(polar) * np.ones_like(angle)
    ring[[0, -1]] = 0.0
    ways = np.stack(
        [ring * np.cos(angle), np.cos(polar) * np.ones_like(angle), ring * np.sin(angle)], axis=-1
    )
    points = radius_at(ways)[..., None] * ways
    return _standing(meshes.surface(points, _star_normals(radius_at, ways)))


def superquadric(half_m: tuple[float, float, float], squareness: float) -> Mesh:
    """Between an ellipsoid (squareness 1) and a box (towards 0), with rounded edges."""
    power = 2 / squareness

    def radius(ways: Floats) -> Floats:
        parts = np.abs(ways / np.array(half_m)) ** power
        found: Floats = parts.sum(axis=-1) ** (-1 / power)
        return found

    return free_form(radius)


def ring(path: Floats, radius_m: float, sides: int = 28) -> Mesh:
    """A round bar along a closed path (N, 3): rings, knots."""
    ways = np.roll(path, -1, axis=0) - np.roll(path, 1, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    side = [_across(np.eye(3)[int(np.argmin(np.abs(ways[0])))], ways[0])]
    for way in [*ways[1:], ways[0]]:
        side.append(_across(side[-1], way))
    # What the frame has turned after one round is undone evenly.
    third = np.cross(ways[0], side[0])
    surplus = math.atan2(float(side[-1] @ third), float(side[-1] @ side[0]))
    turn = -surplus * np.arange(len(path)) / len(path)
    angle = np.linspace(0, math.tau, sides + 1)[None, :] + turn[:, None]
    first = np.array(side[:-1])
    second = np.cross(ways, first)
    outside = first[:, None] * np.cos(angle)[..., None] + second[:, None] * np.sin(angle)[..., None]
    outside[:, -1] = outside[:, 0]
    outside = np.concatenate([outside, outside[:1]])
    points = np.concatenate([path, path[:1]])[:, None] + radius_m * outside
    return _standing(meshes.surface(points, outside))


def prism(corners: Sequence[tuple[float, float]], height_m: float, top: float = 1.0) -> Mesh:
    """An upright solid over a convex polygon (x, z), with sharp edges.

    Args:
        corners: In order.
        height_m: Its height.
        top: Size of the top as a share of the foot; 0 is a pyramid.
    """
    foot = np.array([(x, 0.0, z) for x, z in corners])
    lid = foot * top + np.array([0.0, -height_m, 0.0])
    middle = (foot.mean(axis=0) + lid.mean(axis=0)) / 2
    count = len(foot)
    faces = [foot, lid] if top > 0 else [foot]
    for n in range(count):
        m = (n + 1) % count
        face = [foot[n], foot[m], lid[m], lid[n]] if top > 0 else [foot[n], foot[m], lid[n]]
        faces.append(np.array(face))
    return meshes.join([_flat(face, middle) for face in faces])


def rippled_pane(
    width_m: float, height_m: float, thick_m: float, swell: Callable[[Floats, Floats], Floats]
) -> Mesh:
    """An upright sheet of glass whose back is uneven: ribbed or hammered glass.

    Args:
        width_m: Along x.
        height_m: Upwards.
        thick_m: Mean thickness.
        swell: How far the back stands out (in metres) at x and y; it fades out at the borders.
    """
    slab = meshes.box(width_m, height_m, thick_m, cell_m=max(width_m, height_m) / 90)

    def out(x: Floats, y: Floats) -> Floats:
        aside = np.minimum(width_m / 2 - np.abs(x), np.minimum(-y, height_m + y))
        fade = np.clip(aside / (0.05 * min(width_m, height_m)), 0.0, 1.0)
        grown: Floats = swell(x, y) * fade * fade * (3 - 2 * fade)
        return grown

    vertices, normals = slab.vertices.copy(), slab.normals.copy()
    back = normals[:, 2] > 0.5
    x, y = vertices[back, 0], vertices[back, 1]
    vertices[back, 2] += out(x, y)
    step = 1e-6
    slope = [(out(x + step, y) - out(x - step, y)) / (2 * step)]
    slope.append((out(x, y + step) - out(x, y - step)) / (2 * step))
    bent = np.stack([-slope[0], -slope[1], np.ones_like(x)], axis=-1)
    normals[back] = bent / np.linalg.norm(bent, axis=1, keepdims=True)
    return Mesh(vertices, slab.triangles, normals, slab.uv)


def _walled(outside: Profile, wall_m: float, base_m: float) -> Floats:
    """The rounded line around the cut through a vessel's wall."""
    above = [(r - wall_m, h) for r, h in outside if h > base_m + 0.5 * wall_m]
    radii, heights = np.array(outside).T
    first = int(np.argmax(heights > base_m + 0.5 * wall_m))
    corner = float(np.interp(base_m, heights[first - 1 : first + 1], radii[first - 1 : first + 1]))
    foot = (corner - wall_m, base_m)
    line = np.array([(0.0, 0.0), *outside, *above[::-1], foot, (0.0, base_m)], np.float64)
    return meshes.rounded(line, _SMOOTH)


def _closed_around(points: Floats) -> Mesh:
    """A grid that closes along its second axis, with its first and last row on the y axis."""
    up = np.gradient(points, axis=0)
    ring_ = points[:, :-1]
    around = np.roll(ring_, -1, axis=1) - np.roll(ring_, 1, axis=1)
    around = np.concatenate([around, around[:, :1]], axis=1)
    outside = np.cross(around, up)
    outside[0], outside[-1] = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)
    outside /= np.maximum(np.linalg.norm(outside, axis=-1, keepdims=True), 1e-15)
    return meshes.surface(points, outside)


def _star_normals(radius_at: Callable[[Floats], Floats], ways: Floats) -> Floats:
    """Normals of |x| = radius(x / |x|): the gradient, by central differences."""
    step = 1e-5
    reach = radius_at(ways)
    slope = np.zeros_like(ways)
    for axis in range(3):
        shift = np.zeros(3)
        shift[axis] = step
        ends = [ways + shift, ways - shift]
        grown = [radius_at(e / np.linalg.norm(e, axis=-1, keepdims=True)) for e in ends]
        slope[..., axis] = (grown[0] - grown[1]) / (2 * step)
    outside = ways - slope / reach[..., None]
    unit: Floats = outside / np.linalg.norm(outside, axis=-1, keepdims=True)
    return unit


def _standing(mesh: Mesh) -> Mesh:
    """With its lowest point on the ground."""
    return mesh.moved(y=-float(mesh.vertices[:, 1].max()))


def _across(side: Floats, way: Floats) -> Floats:
    rest = side - way * float(side @ way)
    unit: Floats = rest / np.linalg.norm(rest)
    return unit


def _flat(face: Floats, middle: Floats) -> Mesh:
    """A flat convex polygon that faces away from the middle of its body."""
    normal = np.cross(face[1] - face[0], face[2] - face[0])
    normal /= np.linalg.norm(normal)
    if float(normal @ (face[0] - middle)) < 0:
        face, normal = face[::-1], -normal
    count = len(face)
    fan = np.stack([np.zeros(count - 2, int), np.arange(1, count - 1), np.arange(2, count)], -1)
    along = (face[1] - face[0]) / np.linalg.norm(face[1] - face[0])
    flat = face - face[0]
    uv = np.stack([flat @ along, flat @ np.cross(normal, along)], axis=-1)
    return Mesh(face, fan.astype(np.int32), np.tile(normal, (count, 1)), uv)
