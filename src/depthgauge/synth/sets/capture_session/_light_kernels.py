"""Loops over image positions, compiled: light of projectors, the sensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

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
    """A normally distributed number that depends on the key only, not on tiles or threads."""
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


@banded("out", cost=30)
def develop(
    begin: int, end: int, light: Array, key: int, first: int, well: float, read: float, out: Array
) -> None:
    """Linear light (N, 3) to 8 bits: shot and read noise, then sRGB's curve."""
    for i in range(begin, end):
        for c in range(3):
            value = np.float64(light[i, c])
            spread = np.sqrt(max(value, 0.0) / well + read * read)
            position = np.uint64(first + i) * np.uint64(3) + np.uint64(c)
            noise = _normal(_mixed(np.uint64(key)) + position)
            out[i, c] = np.uint8(_encoded(value + spread * noise) + 0.5)


@banded("out", cost=10)
def projected(
    begin: int,
    end: int,
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
    """Where a projector's light comes from, x, y in its picture, and its strength; 0: none."""
    for i in range(begin, end):
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
        # A projector's light falls with the fourth power of the cosine; its lens corrects two.
        own = depth / length
        out[i, 0], out[i, 1], out[i, 2] = u, v, cosine * own * own / far


@banded("out", cost=5, fastmath=True)
def gather(
    begin: int,
    end: int,
    light: Array,
    tone: Array,
    shown: Array,
    ambient: float,
    gain: float,
    samples: int,
    out: Array,
) -> None:
    """Light of each pixel under each pattern.

    `light` is (P, N * samples, 3): position in the projector's picture and strength; `tone`
    (N * samples, 3); `shown` (P, h, w, T * 3), so that all patterns of a place are adjacent; `out`
    (N, T * 3) is filled.
    """
    projectors, values = shown.shape[0], shown.shape[3]
    for i in range(begin, end):
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
