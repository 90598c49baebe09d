"""Loops over image positions, compiled: surfaces that rays hit, light, the sensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def _mixed(value: Any) -> Any:
    """SplitMix64: bits of a number, well mixed."""
    z = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled()
def _normal(key: Any) -> Any:
    """A normal number that depends on the key alone, so no tiling and no thread changes it."""
    a = _mixed(np.uint64(key))
    b = _mixed(a)
    scale = 1.0 / 18446744073709551616.0
    u = (np.float64(a) + 1.0) * scale
    v = np.float64(b) * scale
    return np.sqrt(-2.0 * np.log(min(u, 1.0))) * np.cos(2.0 * np.pi * v)


@compiled()
def _encoded(light: float) -> Any:
    """The curve of sRGB, 0..255."""
    value = min(max(light, 0.0), 1.0)
    if value <= 0.0031308:
        return 255.0 * 12.92 * value
    return 255.0 * (1.055 * value ** (1.0 / 2.4) - 0.055)


@compiled(parallel=True)
def develop(light: Array, key: int, first: int, well: float, read: float, out: Array) -> None:
    """Linear light (N, 3) to 8 bits: shot and read noise, then sRGB's curve."""
    for i in prange(light.shape[0]):
        for c in range(3):
            value = np.float64(light[i, c])
            spread = np.sqrt(max(value, 0.0) / well + read * read)
            position = np.uint64(first + i) * np.uint64(3) + np.uint64(c)
            noise = _normal(_mixed(np.uint64(key)) + position)
            out[i, c] = np.uint8(_encoded(value + spread * noise) + 0.5)


@compiled(parallel=True)
def surface(
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
    for i in prange(points.shape[0]):
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


@compiled(parallel=True)
def projected(
    points: Array,
    smooth: Array,
    face: Array,
    from_world: Array,
    eye: Array,
    focal: float,
    centre: Array,
    size: Array,
    out: Array,
) -> None:
    """Where a projector's light comes from, x, y in its picture, and how strong; 0: none."""
    for i in prange(points.shape[0]):
        out[i, 2] = 0.0
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        if not np.isfinite(z):
            continue
        m = from_world
        depth = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3]
        if depth <= 0.05:
            continue
        u = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3]
        v = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3]
        u, v = u / depth * focal + centre[0], v / depth * focal + centre[1]
        if not (0.0 <= u <= size[0] - 1.001 and 0.0 <= v <= size[1] - 1.001):
            continue
        lx, ly, lz = eye[0] - x, eye[1] - y, eye[2] - z
        far = lx * lx + ly * ly + lz * lz
        length = np.sqrt(far)
        if face[i, 0] * lx + face[i, 1] * ly + face[i, 2] * lz <= 0.0:
            continue
        cosine = (smooth[i, 0] * lx + smooth[i, 1] * ly + smooth[i, 2] * lz) / length
        if cosine <= 0.0:
            continue
        # A picture's own light falls with the fourth power of the cosine at the projector; the
        # lens makes up for two of them.
        own = depth / length
        out[i, 0], out[i, 1], out[i, 2] = u, v, cosine * own * own / far


@compiled(parallel=True, fastmath=True)
def gather(
    light: Array, tone: Array, shown: Array, ambient: float, gain: float, samples: int, out: Array
) -> None:
    """Light of each pixel under each pattern.

    `light` is (P, N * samples, 3): position in the projector's picture and strength; `tone`
    (N * samples, 3); `shown` (P, h, w, T * 3), so that all patterns of a place lie together; `out`
    (N, T * 3) is filled.
    """
    projectors, values = shown.shape[0], shown.shape[3]
    for i in prange(out.shape[0]):
        one = np.zeros(values, np.float32)
        total = np.zeros(values, np.float32)
        for j in range(i * samples, (i + 1) * samples):
            one[:] = ambient
            for p in range(projectors):
                strength = light[p, j, 2]
                if strength <= 0.0:
                    continue
                x, y = int(light[p, j, 0]), int(light[p, j, 1])
                fx, fy = light[p, j, 0] - np.float32(x), light[p, j, 1] - np.float32(y)
                lower, upper = strength * fy, strength * (np.float32(1.0) - fy)
                b, d = upper * fx, lower * fx
                a, c = upper - b, lower - d
                for k in range(values):
                    near = a * shown[p, y, x, k] + b * shown[p, y, x + 1, k]
                    one[k] += near + c * shown[p, y + 1, x, k] + d * shown[p, y + 1, x + 1, k]
            for k in range(0, values, 3):
                total[k] += tone[j, 0] * one[k]
                total[k + 1] += tone[j, 1] * one[k + 1]
                total[k + 2] += tone[j, 2] * one[k + 2]
        for k in range(values):
            out[i, k] = total[k] * gain / samples
