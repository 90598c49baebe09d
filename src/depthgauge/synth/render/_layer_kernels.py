"""Compiled steps of rays through glass: from one surface to the next, by Snell's law, in float64.

Embree says which triangle a ray meets. Where it is met is computed here from the triangle's plane,
and the ray is bent at the smooth normal, which the path tracer uses too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]

SOLID, CLEAR, SHEET = 0, 1, 2
"""What a ray does at a triangle: it ends, is bent, or passes a thin pane."""
RUNNING, OPAQUE, ESCAPED, REFLECTED, MOST, LOST = 0, 1, 2, 3, 4, 5
"""Why a ray ended; `RUNNING` is no end yet."""
_SKIP = 1e-5
"""A ray goes on this far behind a surface, in metres; more where coordinates are large."""


@compiled()
def skip_at(x: float, y: float, z: float) -> float:
    return _SKIP * max(1.0, 0.25 * max(abs(x), abs(y), abs(z)))


@compiled()
def meet(
    start: Array, way: Array, vertices: Array, triangles: Array, t: int, face: Array, shares: Array
) -> Any:
    """Distance to a triangle's plane; fills its normal against the ray and the corners' shares.

    The fourth share is negative where the outside of the triangle is seen.
    """
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
    ex, ey, ez = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
    gx, gy, gz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
    nx, ny, nz = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
    square = nx * nx + ny * ny + nz * nz
    along = nx * way[0] + ny * way[1] + nz * way[2]
    distance = (nx * (ax - start[0]) + ny * (ay - start[1]) + nz * (az - start[2])) / along
    px = start[0] + distance * way[0] - ax
    py = start[1] + distance * way[1] - ay
    pz = start[2] + distance * way[2] - az
    # second = (p x g) . n / n^2, third = (e x p) . n / n^2
    second = (py * gz - pz * gy) * nx + (pz * gx - px * gz) * ny + (px * gy - py * gx) * nz
    third = (ey * pz - ez * py) * nx + (ez * px - ex * pz) * ny + (ex * py - ey * px) * nz
    second, third = second / square, third / square
    shares[0], shares[1], shares[2], shares[3] = 1.0 - second - third, second, third, along
    size = 1.0 / np.sqrt(square)
    if along > 0.0:
        size = -size
    face[0], face[1], face[2] = nx * size, ny * size, nz * size
    return distance


@compiled()
def smooth(
    normals: Array, triangles: Array, t: int, shares: Array, face: Array, way: Array, out: Array
) -> Any:
    """The smooth normal on the ray's side, or the flat one (returns 0) if that faces away.

    Returns the interpolated normal's length, with the sign of the turn.
    """
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    for k in range(3):
        out[k] = shares[0] * normals[a, k] + shares[1] * normals[b, k] + shares[2] * normals[c, k]
    length = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    if out[0] * face[0] + out[1] * face[1] + out[2] * face[2] < 0.0:
        length = -length
    if abs(length) > 1e-9:
        for k in range(3):
            out[k] /= length
        if out[0] * way[0] + out[1] * way[1] + out[2] * way[2] < 0.0:
            return length
    for k in range(3):
        out[k] = face[k]
    return 0.0


@compiled()
def _bend(way: Array, normal: Array, ratio: float) -> bool:
    """Turns a unit direction by Snell's law; False, and unchanged, if all light is reflected."""
    cosine = -(way[0] * normal[0] + way[1] * normal[1] + way[2] * normal[2])
    square = 1.0 - ratio * ratio * (1.0 - cosine * cosine)
    if square < 0.0:
        return False
    along = ratio * cosine - np.sqrt(square)
    for k in range(3):
        way[k] = ratio * way[k] + along * normal[k]
    size = np.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    for k in range(3):
        way[k] /= size
    return True


@compiled()
def _mixed(signature: Any, code: int) -> Any:
    """The next hash of a path (FNV over its codes)."""
    return (signature ^ np.uint64(code + 1)) * np.uint64(1099511628211)


def _room(*_: Any) -> tuple[Array, ...]:
    return np.zeros(3), np.zeros(4), np.zeros(3)


@banded("active", cost=15, room=_room)
def step(
    begin: int,
    end: int,
    face: Array,
    shares: Array,
    normal: Array,
    active: Array,
    hits: Array,
    vertices: Array,
    triangles: Array,
    normals: Array,
    things: Array,
    surfaces: Array,
    inside: Array,
    outside: Array,
    air: float,
    starts: Array,
    ways: Array,
    skips: Array,
    signatures: Array,
    crossed: Array,
    codes: Array,
    counts: Array,
    ends: Array,
    out_points: Array,
    out_normals: Array,
    out_triangles: Array,
    out_signatures: Array,
    out_crossed: Array,
) -> None:
    """Takes rays to the surface they meet: counts a layer, and bends or ends them there.

    `inside` and `outside` are the refractive indices at triangles. `codes` holds what a ray has
    crossed: four times the thing, plus 1 if its outside was seen, plus 2 for a thin pane.
    """
    most = out_points.shape[0]
    for j in range(begin, end):
        i, t = active[j], hits[j]
        if t < 0:
            ends[i] = ESCAPED
            continue
        distance = meet(starts[i], ways[i], vertices, triangles, t, face, shares)
        if not distance > 0.5 * skips[i]:
            # The surface that the ray starts from, once more; a first ray has no skip to double.
            skips[i] = max(2.0 * skips[i], skip_at(starts[i, 0], starts[i, 1], starts[i, 2]))
            if skips[i] > 1.0:
                ends[i] = LOST
            continue
        for k in range(3):
            starts[i, k] += distance * ways[i, k]
        skips[i] = skip_at(starts[i, 0], starts[i, 1], starts[i, 2])
        surface = surfaces[t]
        smooth(normals, triangles, t, shares, face, ways[i], normal)
        front = shares[3] < 0.0
        came, goes = (outside[t], inside[t]) if front else (inside[t], outside[t])
        # A body of index 1 is a body; one within glass is a bubble.
        from_air = outside[t] == air if front or surface == SHEET else came == air and goes != air
        if surface == SOLID or from_air:
            layer = counts[i]
            for k in range(3):
                out_points[layer, i, k] = starts[i, k]
                out_normals[layer, i, k] = normal[k]
            out_triangles[layer, i] = t
            out_signatures[layer, i] = signatures[i]
            out_crossed[layer, i] = crossed[i]
            counts[i] = layer + 1
            if surface == SOLID:
                ends[i] = OPAQUE
                continue
            if layer + 1 == most:
                ends[i] = MOST
                continue
        if crossed[i] == codes.shape[1]:
            ends[i] = LOST
            continue
        if surface == CLEAR and not _bend(ways[i], normal, came / goes):
            ends[i] = REFLECTED
            continue
        code = 4 * things[t] + (1 if front else 0) + (2 if surface == SHEET else 0)
        codes[i, crossed[i]] = code
        crossed[i] += 1
        signatures[i] = _mixed(signatures[i], code)
