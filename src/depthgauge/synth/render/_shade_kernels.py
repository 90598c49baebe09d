"""Compiled loops of shaded views: the surface at a hit, light on it, which pixels have edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded

Array = NDArray[Any]


@banded("hits", step=8192, cost=1)
def surface(
    begin: int,
    end: int,
    hits: Array,
    ways: Array,
    eye: Array,
    pixel_slope: float,
    vertices: Array,
    triangles: Array,
    normals: Array,
    uv: Array,
    open_sky: Array,
    tones: Array,
    texture: Array,
    texture_m: Array,
    atlas: Array,
    side_px: int,
    out_depth: Array,
    out_point: Array,
    out_normal: Array,
    out_tone: Array,
    out_open: Array,
) -> None:
    """Depth in steps of the ray, point, normal, reflectance and openness where rays hit."""
    levels = int(np.log2(side_px))
    for i in range(begin, end):
        t = hits[i]
        if t < 0:
            continue
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        ex, ey, ez = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
        gx, gy, gz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
        f0, f1, f2 = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
        wx, wy, wz = ways[i, 0], ways[i, 1], ways[i, 2]
        across = f0 * wx + f1 * wy + f2 * wz
        depth = (f0 * (ax - eye[0]) + f1 * (ay - eye[1]) + f2 * (az - eye[2])) / across
        qx, qy, qz = eye[0] + depth * wx, eye[1] + depth * wy, eye[2] + depth * wz
        px, py, pz = qx - ax, qy - ay, qz - az
        d11, d12 = ex * ex + ey * ey + ez * ez, ex * gx + ey * gy + ez * gz
        d22 = gx * gx + gy * gy + gz * gz
        p1, p2 = px * ex + py * ey + pz * ez, px * gx + py * gy + pz * gz
        determinant = d11 * d22 - d12 * d12
        w1 = (d22 * p1 - d12 * p2) / determinant
        w2 = (d11 * p2 - d12 * p1) / determinant
        w0 = 1.0 - w1 - w2
        out_depth[i] = depth
        n0 = w0 * normals[a, 0] + w1 * normals[b, 0] + w2 * normals[c, 0]
        n1 = w0 * normals[a, 1] + w1 * normals[b, 1] + w2 * normals[c, 1]
        n2 = w0 * normals[a, 2] + w1 * normals[b, 2] + w2 * normals[c, 2]
        # The flat normal faces the eye, and the smooth one its side.
        sign = -1.0 if across > 0.0 else 1.0
        area = np.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
        f0, f1, f2 = sign * f0 / area, sign * f1 / area, sign * f2 / area
        size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        size = (1.0 if n0 * f0 + n1 * f1 + n2 * f2 > 0.0 else -1.0) / max(size, 1e-12)
        out_normal[i, 0], out_normal[i, 1], out_normal[i, 2] = n0 * size, n1 * size, n2 * size
        # Shadow rays start a little above the surface.
        lift = 4e-4 + 2e-5 * depth
        out_point[i, 0], out_point[i, 1], out_point[i, 2] = (
            qx + lift * f0,
            qy + lift * f1,
            qz + lift * f2,
        )
        out_open[i] = w0 * open_sky[a] + w1 * open_sky[b] + w2 * open_sky[c]
        k = texture[t]
        if k < 0:
            for channel in range(3):
                out_tone[i, channel] = tones[t, channel]
            continue
        length = np.sqrt(wx * wx + wy * wy + wz * wz)
        steep = max(np.abs(across) / (area * length), 0.08)
        footprint = depth * pixel_slope / np.sqrt(steep)
        level = np.log2(max(footprint * side_px / texture_m[k], 1e-6))
        level = min(max(level, 0.0), levels - 1.0)
        first = int(level)
        share = level - first
        s = (w0 * uv[a, 0] + w1 * uv[b, 0] + w2 * uv[c, 0]) / texture_m[k]
        r = (w0 * uv[a, 1] + w1 * uv[b, 1] + w2 * uv[c, 1]) / texture_m[k]
        s, r = s - np.floor(s), r - np.floor(r)
        for channel in range(3):
            out_tone[i, channel] = 0.0
        for step in range(2):
            weight = 1.0 - share if step == 0 else share
            if weight <= 0.0:
                continue
            deep = first + step
            side = side_px >> deep
            # Levels lie one behind the other, each a quarter of the one before it.
            start = 0
            for above in range(deep):
                start += (side_px >> above) * (side_px >> above)
            start = (start * texture_m.size + k * side * side) * 3
            x, y = s * side - 0.5, r * side - 0.5
            x0, y0 = int(np.floor(x)), int(np.floor(y))
            fx, fy = x - x0, y - y0
            xa, xb, ya, yb = x0 % side, (x0 + 1) % side, y0 % side, (y0 + 1) % side
            for channel in range(3):
                p00 = float(atlas[start + (ya * side + xa) * 3 + channel])
                p01 = float(atlas[start + (ya * side + xb) * 3 + channel])
                p10 = float(atlas[start + (yb * side + xa) * 3 + channel])
                p11 = float(atlas[start + (yb * side + xb) * 3 + channel])
                p00, p01, p10, p11 = p00 * p00, p01 * p01, p10 * p10, p11 * p11
                upper, lower = p00 + fx * (p01 - p00), p10 + fx * (p11 - p10)
                out_tone[i, channel] += weight / 65025.0 * (upper + fy * (lower - upper))


@banded("hits", step=8192, cost=8)
def lit(
    begin: int,
    end: int,
    hits: Array,
    points: Array,
    normals: Array,
    tones: Array,
    openness: Array,
    blocked: Array,
    lamps: Array,
    lamp_colours: Array,
    from_above: Array,
    from_below: Array,
    out: Array,
) -> None:
    """Light that surfaces send to the eye; a lamp's fourth number is its reach, 0 for a sun."""
    for i in range(begin, end):
        if hits[i] < 0:
            continue
        up = 0.5 - 0.5 * normals[i, 1]
        red = openness[i] * (from_below[0] + up * (from_above[0] - from_below[0]))
        green = openness[i] * (from_below[1] + up * (from_above[1] - from_below[1]))
        blue = openness[i] * (from_below[2] + up * (from_above[2] - from_below[2]))
        for k in range(lamps.shape[0]):
            if blocked[k, i]:
                continue
            wx, wy, wz, fade = lamps[k, 0], lamps[k, 1], lamps[k, 2], 1.0
            if lamps[k, 3] > 0.0:
                wx, wy, wz = wx - points[i, 0], wy - points[i, 1], wz - points[i, 2]
                far = np.sqrt(wx * wx + wy * wy + wz * wz)
                wx, wy, wz = wx / far, wy / far, wz / far
                ratio = far / lamps[k, 3]
                fade = 1.0 / (1.0 + ratio * ratio)
            steep = wx * normals[i, 0] + wy * normals[i, 1] + wz * normals[i, 2]
            if steep > 0.0:
                red += fade * steep * lamp_colours[k, 0]
                green += fade * steep * lamp_colours[k, 1]
                blue += fade * steep * lamp_colours[k, 2]
        out[i, 0], out[i, 1] = red * tones[i, 0], green * tones[i, 1]
        out[i, 2] = blue * tones[i, 2]


@banded("hits", cost=12)
def edges(
    begin: int,
    end: int,
    hits: Array,
    objects: Array,
    depths: Array,
    normals: Array,
    blocked: Array,
    out: Array,
) -> None:
    """Whether a pixel of rows `begin` to `end` differs from a neighbour in more than its texture.

    It does in what is seen, in depth by more than a slanted surface would, in direction, or in
    shadow.
    """
    height, width = hits.shape
    for y in range(begin, end):
        for x in range(width):
            found = False
            for step in range(4):
                v = y + (1 if step == 0 else -1 if step == 1 else 0)
                u = x + (1 if step == 2 else -1 if step == 3 else 0)
                if v < 0 or u < 0 or v >= height or u >= width:
                    continue
                here, there = hits[y, x], hits[v, u]
                if (here < 0) != (there < 0):
                    found = True
                elif here >= 0 and here != there:
                    turn = 0.0
                    for axis in range(3):
                        turn += normals[y, x, axis] * normals[v, u, axis]
                    ratio = depths[y, x] / depths[v, u]
                    found = found or turn < 0.8 or ratio > 1.04 or ratio < 0.96
                    found = found or (objects[here] != objects[there])
                if here >= 0 and there >= 0:
                    for k in range(blocked.shape[0]):
                        found = found or blocked[k, y, x] != blocked[k, v, u]
            out[y, x] = found
