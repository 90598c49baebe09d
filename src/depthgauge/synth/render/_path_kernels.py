"""Compiled steps of rays that must cross given surfaces, with derivatives by image position.

A ray is bent at the surfaces of its path, in their order, and passes everything else: what stands
in the way is found later. So the last part of a ray is a smooth function of its image position as
far as the path exists, which Newton's method needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.synth.render._layer_kernels import CLEAR, SHEET, SOLID, meet, skip_at, smooth

Array = NDArray[Any]

RUNNING, ARRIVED, BROKEN = 0, 1, 2
"""A ray is on its way, has crossed its whole path, or cannot cross it."""
_MOST_PASSED = 24
"""A ray that passes more surfaces which are not on its path is broken."""


@compiled()
def _carry(
    vertices: Array,
    normals: Array,
    triangles: Array,
    t: int,
    distance: float,
    way: Array,
    normal: Array,
    length: float,
    start_slope: Array,
    way_slope: Array,
    normal_slope: Array,
) -> None:
    """Takes a ray's derivative to a triangle, and fills that of the smooth normal there.

    Args:
        vertices: Of the mesh.
        normals: Of the mesh.
        triangles: Of the mesh.
        t: The triangle.
        distance: To the triangle, along the ray.
        way: Of the ray before it is bent.
        normal: Smooth normal at the hit.
        length: Of the interpolated normal, as `smooth` returned it; 0 for a flat normal.
        start_slope: (3,) derivative of the ray's start; becomes that of the hit.
        way_slope: (3,) derivative of the direction.
        normal_slope: (3,) is filled.
    """
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
    ex, ey, ez = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
    gx, gy, gz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
    nx, ny, nz = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
    square = nx * nx + ny * ny + nz * nz
    for k in range(3):
        start_slope[k] += distance * way_slope[k]
    over = nx * start_slope[0] + ny * start_slope[1] + nz * start_slope[2]
    later = -over / (nx * way[0] + ny * way[1] + nz * way[2])
    for k in range(3):
        start_slope[k] += later * way[k]
        normal_slope[k] = 0.0
    if length == 0.0:
        return
    px, py, pz = start_slope[0], start_slope[1], start_slope[2]
    second = (py * gz - pz * gy) * nx + (pz * gx - px * gz) * ny + (px * gy - py * gx) * nz
    third = (ey * pz - ez * py) * nx + (ez * px - ex * pz) * ny + (ex * py - ey * px) * nz
    second, third = second / square, third / square
    along = 0.0
    for k in range(3):
        normal_slope[k] = -(second + third) * normals[a, k] + second * normals[b, k]
        normal_slope[k] += third * normals[c, k]
        along += normal_slope[k] * normal[k]
    for k in range(3):
        normal_slope[k] = (normal_slope[k] - along * normal[k]) / length


@compiled()
def _bend_slope(
    way: Array, normal: Array, ratio: float, way_slope: Array, normal_slope: Array
) -> None:
    """The derivative of a direction behind a surface, from those in front of it."""
    cosine = -(way[0] * normal[0] + way[1] * normal[1] + way[2] * normal[2])
    root = np.sqrt(max(1.0 - ratio * ratio * (1.0 - cosine * cosine), 1e-18))
    change = 0.0
    for k in range(3):
        change -= way_slope[k] * normal[k] + way[k] * normal_slope[k]
    along = ratio * cosine - root
    turn = (ratio - ratio * ratio * cosine / root) * change
    for k in range(3):
        way_slope[k] = ratio * way_slope[k] + turn * normal[k] + along * normal_slope[k]


def _room(*_: Any) -> tuple[Array, ...]:
    return np.zeros(3), np.zeros(4), np.zeros(3), np.zeros(3)


@banded("active", cost=60, room=_room)
def cross(
    begin: int,
    end: int,
    face: Array,
    shares: Array,
    normal: Array,
    normal_slope: Array,
    active: Array,
    hits: Array,
    vertices: Array,
    triangles: Array,
    normals: Array,
    things: Array,
    surfaces: Array,
    inside: Array,
    outside: Array,
    paths: Array,
    lengths: Array,
    path: Array,
    starts: Array,
    ways: Array,
    start_slopes: Array,
    way_slopes: Array,
    skips: Array,
    at: Array,
    passed: Array,
    states: Array,
    entries: Array,
) -> None:
    """Takes rays across the surface they meet, if it is the next of their path."""
    for j in range(begin, end):
        i, t = active[j], hits[j]
        if t < 0:
            states[i] = BROKEN
            continue
        distance = meet(starts[i], ways[i], vertices, triangles, t, face, shares)
        start = starts[i]
        small = skip_at(start[0], start[1], start[2])
        front = shares[3] < 0.0
        surface = surfaces[t]
        code = 4 * things[t] + (1 if front else 0) + (2 if surface == SHEET else 0)
        again = not distance > skips[i] - 0.5 * small
        if again or surface == SOLID or code != paths[path[i], at[i]]:
            skips[i] = skips[i] + 3.0 * small if again else distance + small
            passed[i] += 1
            if passed[i] > _MOST_PASSED:
                states[i] = BROKEN
            continue
        length = smooth(normals, triangles, t, shares, face, ways[i], normal)
        came, goes = (outside[t], inside[t]) if front else (inside[t], outside[t])
        ratio = came / goes
        way = ways[i]
        cosine = -(way[0] * normal[0] + way[1] * normal[1] + way[2] * normal[2])
        square = 1.0 - ratio * ratio * (1.0 - cosine * cosine)
        if surface == CLEAR and not square > 0.0:
            states[i] = BROKEN
            continue
        for k in range(2):
            slopes = (start_slopes[i, k], way_slopes[i, k])
            _carry(
                vertices,
                normals,
                triangles,
                t,
                distance,
                way,
                normal,
                length,
                *slopes,
                normal_slope,
            )
            if surface == CLEAR:
                _bend_slope(way, normal, ratio, way_slopes[i, k], normal_slope)
        for k in range(3):
            starts[i, k] += distance * way[k]
        if at[i] == 0:
            for k in range(3):
                entries[i, k] = starts[i, k]
        if surface == CLEAR:
            along = ratio * cosine - np.sqrt(square)
            for k in range(3):
                ways[i, k] = ratio * ways[i, k] + along * normal[k]
        skips[i] = skip_at(starts[i, 0], starts[i, 1], starts[i, 2])
        at[i] += 1
        if at[i] == lengths[path[i]]:
            states[i] = ARRIVED
