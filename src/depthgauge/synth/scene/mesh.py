"""Shapes as fine triangle meshes; x right, y down, z forward, in metres.

Every shape stands on y = 0 with its axis at x = z = 0, so that heights are negative. Vertices that
two triangles share are smooth; where an edge is sharp, vertices are doubled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles with the normals and the texture positions of their corners."""

    vertices: Floats
    """(V, 3)."""
    triangles: NDArray[np.int32]
    """(F, 3), ordered so that the right-hand rule points outwards."""
    normals: Floats
    """(V, 3), unit length, outwards."""
    uv: Floats
    """(V, 2) in metres along the surface."""

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
        """Shifted."""
        return Mesh(self.vertices + np.array([x, y, z]), self.triangles, self.normals, self.uv)

    def turned(self, degrees: float, axis: str = "y") -> Mesh:
        """Rotated about an axis through the origin."""
        matrix = rotation(degrees, axis)
        return Mesh(self.vertices @ matrix.T, self.triangles, self.normals @ matrix.T, self.uv)

    def transformed(self, pose: Floats) -> Mesh:
        """Moved by a 4x4 rigid transform."""
        turn, shift = pose[:3, :3], pose[:3, 3]
        vertices = self.vertices @ turn.T + shift
        return Mesh(vertices, self.triangles, self.normals @ turn.T, self.uv)


def rotation(degrees: float, axis: str) -> Floats:
    """The 3x3 matrix of a rotation about x, y or z."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def join(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one."""
    first = np.cumsum([0, *(len(m.vertices) for m in meshes[:-1])])
    triangles = [m.triangles + n for m, n in zip(meshes, first, strict=True)]
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate(triangles).astype(np.int32),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.uv for m in meshes]),
    )


def rectangle(corner: Any, along: Any, across: Any, cell_m: float = 0.1) -> Mesh:
    """A flat rectangle from a corner; its outside is in the direction of along x across.

    Args:
        corner: (3,).
        along: (3,) edge vector, the texture's u.
        across: (3,) edge vector, the texture's v.
        cell_m: Side of its cells.
    """
    a, b = np.asarray(along, float), np.asarray(across, float)
    n, m = (max(1, math.ceil(float(np.linalg.norm(e)) / cell_m)) for e in (a, b))
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    points = np.asarray(corner, float) + u[..., None] * a + v[..., None] * b
    normal = np.cross(a, b)
    normals = np.broadcast_to(normal / np.linalg.norm(normal), points.shape)
    uv = np.stack([u * np.linalg.norm(a), v * np.linalg.norm(b)], axis=-1)
    return _grid(points, normals, uv)


def box(width_m: float, height_m: float, depth_m: float, cell_m: float = 0.05) -> Mesh:
    """A closed box with sharp edges."""
    w, h, d = width_m / 2, height_m, depth_m / 2
    x, y, z = np.eye(3)
    sides = (
        ((-w, 0, -d), -h * y, 2 * w * x),  # front
        ((w, 0, d), -h * y, -2 * w * x),  # back
        ((-w, 0, d), -h * y, -2 * d * z),  # left
        ((w, 0, -d), -h * y, 2 * d * z),  # right
        ((-w, -h, -d), 2 * d * z, 2 * w * x),  # top
        ((-w, 0, d), -2 * d * z, 2 * w * x),  # bottom
    )
    flat = [rectangle(corner, across, along, cell_m) for corner, along, across in sides]
    # The texture stands upright: u to the right, v down from the top.
    return join([_outward(mesh, np.array([0.0, -h / 2, 0.0])) for mesh in flat])


def lathe(profile: Sequence[tuple[float, float]], around: int = 72, smooth: int = 3) -> Mesh:
    """A body of revolution: bottles, jars, mugs.

    Args:
        profile: (radius, height) points: from the axis at the bottom out, up the outside, over the
            rim and, for a vessel, down the inside to the axis.
        around: Segments of the circle.
        smooth: How often the corners of the profile are cut.
    """
    line = rounded(np.asarray(profile, np.float64), smooth)
    step = np.diff(line, axis=0, prepend=line[:1], append=line[-1:])
    tangent = step[1:] + step[:-1]
    outside = np.stack([tangent[:, 1], -tangent[:, 0]], axis=-1)
    outside /= np.maximum(np.linalg.norm(outside, axis=1, keepdims=True), 1e-12)
    angle = np.linspace(0, 2 * math.pi, around + 1)
    angle[-1] = 0.0  # so that the seam closes exactly
    c, s = np.cos(angle), np.sin(angle)
    r, h = line[:, :1], line[:, 1:]
    points = np.stack([r * c, -h * np.ones_like(c), r * s], axis=-1)
    normals = np.stack(
        [outside[:, :1] * c, -outside[:, 1:] * np.ones_like(c), outside[:, :1] * s], axis=-1
    )
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    radius = float(line[:, 0].max())
    uv = np.stack(
        np.broadcast_arrays(np.linspace(0, 2 * math.pi * radius, around + 1), length[:, None]), -1
    )
    return _grid(points, normals, uv)


def ball(radius_m: float, squash: float = 1.0, around: int = 64) -> Mesh:
    """A ball, or a squashed one, standing on the ground."""
    angle = np.linspace(-math.pi / 2, math.pi / 2, around // 2 + 1)
    heights = radius_m * squash * (1 + np.sin(angle))
    radii = np.maximum(radius_m * np.cos(angle), 0.0)
    return lathe(list(zip(radii.tolist(), heights.tolist(), strict=True)), around, smooth=0)


def tube(path: Any, radius_m: float | Floats, sides: int = 16) -> Mesh:
    """A round bar along a path, closed at its ends: wires, handles, stems.

    Args:
        path: (N, 3) points.
        radius_m: One radius, or one for each point.
        sides: Number of sides of its cross-section.
    """
    line = np.asarray(path, np.float64)
    radius = np.broadcast_to(np.asarray(radius_m, np.float64), len(line))
    ways = np.gradient(line, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    side = _sides_along(ways)
    third = np.cross(ways, side)
    angle = np.linspace(0, 2 * math.pi, sides + 1)
    angle[-1] = 0.0
    c, s = np.cos(angle)[None, :, None], np.sin(angle)[None, :, None]
    normals = side[:, None] * c + third[:, None] * s
    points = line[:, None] + radius[:, None, None] * normals
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    around = angle * float(radius.max())
    uv = np.stack(np.broadcast_arrays(around, length[:, None]), axis=-1)
    wall = _grid(points, normals, uv)
    return join([wall, _cap(points[0], line[0], -ways[0]), _cap(points[-1], line[-1], ways[-1])])


def sheet(points: Floats) -> Mesh:
    """A smooth surface through a grid of points (n, m, 3), seen from both sides: cloth, leaves."""
    a, b = np.gradient(points, axis=0), np.gradient(points, axis=1)
    normals = np.cross(a, b)
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-12)
    u = np.cumsum(np.linalg.norm(np.diff(points, axis=0, prepend=points[:1]), axis=-1), axis=0)
    v = np.cumsum(np.linalg.norm(np.diff(points, axis=1, prepend=points[:, :1]), axis=-1), axis=1)
    return _grid(points, normals, np.stack([u, v], axis=-1))


def surface(points: Floats, outside: Floats) -> Mesh:
    """Triangles over a grid of points (n, m, 3) whose normals (n, m, 3) are given.

    The grid may close on itself: rows or columns that coincide join up, and triangles without area
    at a pole are left out. Texture positions are lengths along the grid.
    """
    u = np.cumsum(np.linalg.norm(np.diff(points, axis=0, prepend=points[:1]), axis=-1), axis=0)
    v = np.cumsum(np.linalg.norm(np.diff(points, axis=1, prepend=points[:, :1]), axis=-1), axis=1)
    return _grid(points, outside, np.stack([v, u], axis=-1))


def rounded(line: Floats, times: int) -> Floats:
    """A line whose corners are cut several times (Chaikin); its ends stay.

    >>> rounded(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]]), 1).tolist()
    [[0.0, 0.0], [3.0, 0.0], [4.0, 1.0], [4.0, 4.0]]
    """
    for _ in range(times):
        first, last = line[:-1], line[1:]
        cut = np.stack([0.75 * first + 0.25 * last, 0.25 * first + 0.75 * last], axis=1)
        line = np.concatenate([line[:1], cut.reshape(-1, line.shape[1])[1:-1], line[-1:]])
    return line


def _grid(points: Floats, normals: Floats, uv: Floats) -> Mesh:
    n, m = points.shape[:2]
    index = np.arange(n * m).reshape(n, m)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1)
    vertices, outside = points.reshape(-1, 3), normals.reshape(-1, 3)
    return _wound(vertices, triangles.reshape(-1, 3), outside, uv.reshape(-1, 2))


def _wound(vertices: Floats, triangles: Any, normals: Floats, uv: Floats) -> Mesh:
    """Removes empty triangles and winds the others so that they face along their normals."""
    corners = vertices[triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    there = np.linalg.norm(face, axis=1) > 1e-14
    backward = np.einsum("ij,ij->i", face, normals[triangles].sum(axis=1)) < 0
    ordered = np.where(backward[:, None], triangles[:, ::-1], triangles)[there]
    return Mesh(vertices, ordered.astype(np.int32), np.ascontiguousarray(normals), uv)


def _outward(mesh: Mesh, middle: Floats) -> Mesh:
    """A flat side whose normal points away from the middle of its body."""
    if ((mesh.vertices - middle) * mesh.normals).sum() > 0:
        return mesh
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1].copy(), -mesh.normals, mesh.uv)


def _cap(ring: Floats, middle: Floats, outside: Floats) -> Mesh:
    points = np.concatenate([middle[None], ring])
    n = len(ring) - 1
    fan = np.stack([np.zeros(n, int), np.arange(1, n + 1), np.arange(2, n + 2)], axis=-1)
    normals = np.broadcast_to(outside, points.shape)
    return _wound(points, fan, normals, np.zeros((len(points), 2)))


def _sides_along(ways: Floats) -> Floats:
    """Unit vectors perpendicular to a path that turn no more than the path does."""
    start = np.eye(3)[int(np.argmin(np.abs(ways[0])))]
    sides = []
    for way in ways:
        start = start - way * float(start @ way)
        start = start / np.linalg.norm(start)
        sides.append(start)
    return np.array(sides)
