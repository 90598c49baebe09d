"""Compiled loops over points: surfaces that rays hit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]


@banded("points", cost=20)
def surface(
    begin: int,
    end: int,
    points: Array,
    hits: Array,
    eye: Array,
    vertices: Array,
    triangles: Array,
    normals: Array,
    uv: Array,
    tones: Array,
    texture: Array,
    texture_m: Array,
    pictures: Array,
    out_normal: Array,
    out_face: Array,
    out_tone: Array,
) -> None:
    """Smooth normal, flat normal (both to the eye) and reflectance at points on triangles."""
    for i in range(begin, end):
        t = hits[i]
        if t < 0:
            continue
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        ex, ey, ez = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
        gx, gy, gz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
        px, py, pz = points[i, 0] - ax, points[i, 1] - ay, points[i, 2] - az
        d11, d12 = ex * ex + ey * ey + ez * ez, ex * gx + ey * gy + ez * gz
        d22 = gx * gx + gy * gy + gz * gz
        p1, p2 = px * ex + py * ey + pz * ez, px * gx + py * gy + pz * gz
        determinant = d11 * d22 - d12 * d12
        w1 = (d22 * p1 - d12 * p2) / determinant
        w2 = (d11 * p2 - d12 * p1) / determinant
        w0 = 1.0 - w1 - w2
        n0 = w0 * normals[a, 0] + w1 * normals[b, 0] + w2 * normals[c, 0]
        n1 = w0 * normals[a, 1] + w1 * normals[b, 1] + w2 * normals[c, 1]
        n2 = w0 * normals[a, 2] + w1 * normals[b, 2] + w2 * normals[c, 2]
        f0, f1, f2 = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
        vx, vy, vz = eye[0] - points[i, 0], eye[1] - points[i, 1], eye[2] - points[i, 2]
        sign = 1.0 if f0 * vx + f1 * vy + f2 * vz > 0.0 else -1.0
        size = sign / np.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
        out_face[i, 0], out_face[i, 1], out_face[i, 2] = f0 * size, f1 * size, f2 * size
        turn = 1.0 if n0 * out_face[i, 0] + n1 * out_face[i, 1] + n2 * out_face[i, 2] > 0 else -1.0
        size = turn / np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        out_normal[i, 0], out_normal[i, 1], out_normal[i, 2] = n0 * size, n1 * size, n2 * size
        k = texture[t]
        if k < 0:
            for channel in range(3):
                out_tone[i, channel] = tones[t, channel]
            continue
        height, width = pictures.shape[1], pictures.shape[2]
        s = w0 * uv[a, 0] + w1 * uv[b, 0] + w2 * uv[c, 0]
        r = w0 * uv[a, 1] + w1 * uv[b, 1] + w2 * uv[c, 1]
        x = s / texture_m[k] * width - 0.5
        y = r / texture_m[k] * height - 0.5
        x0, y0 = int(np.floor(x)), int(np.floor(y))
        fx, fy = x - x0, y - y0
        xa, xb, ya, yb = x0 % width, (x0 + 1) % width, y0 % height, (y0 + 1) % height
        for channel in range(3):
            upper = pictures[k, ya, xa, channel] * (1 - fx) + pictures[k, ya, xb, channel] * fx
            lower = pictures[k, yb, xa, channel] * (1 - fx) + pictures[k, yb, xb, channel] * fx
            out_tone[i, channel] = upper * (1 - fy) + lower * fy
