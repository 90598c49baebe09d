"""A raw photograph seen by a rectified camera: position and value of each pixel in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@compiled()
def weights(t: float, cubic: bool, w: Array) -> None:
    """Weights of the pixels at -1, 0, 1, 2 for a position at t in 0..1."""
    if cubic:
        # Keys' kernel with a = -1/2, the only one of its family that keeps ramps and parabolas;
        # OpenCV's a = -3/4 moves a ramp by up to 0.04 px.
        w[0] = t * (-0.5 + t * (1.0 - 0.5 * t))
        w[1] = 1.0 + t * t * (-2.5 + 1.5 * t)
        w[2] = t * (0.5 + t * (2.0 - 1.5 * t))
        w[3] = t * t * (-0.5 + 0.5 * t)
    else:
        w[0], w[1], w[2], w[3] = 0.0, 1.0 - t, t, 0.0


@banded("rows", cost=50)
def resample(
    begin: int,
    end: int,
    image: Array,
    ideal: Array,
    turn: Array,
    raw: Array,
    rows: Array,
    cubic: bool,
    out: Array,
) -> None:
    """Fills rows of the rectified image; nothing is written where the raw image has nothing.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        image: (H, W, C), the raw image.
        ideal: fx fy cx cy of the rectified camera.
        turn: 3x3, from rectified to raw axes.
        raw: fx fy cx cy k1 k2 p1 p2 k3 of the raw camera.
        rows: Numbers of the rectified rows.
        cubic: Whether to use cubic instead of linear interpolation.
        out: (rows, width, C) float32.
    """
    height, width, channels = image.shape
    k1, k2, p1, p2, k3 = raw[4], raw[5], raw[6], raw[7], raw[8]
    for i in range(begin, end):
        wx, wy = np.zeros(4), np.zeros(4)
        py = (rows[i] - ideal[3]) / ideal[1]
        for j in range(out.shape[1]):
            px = (j - ideal[2]) / ideal[0]
            z = turn[2, 0] * px + turn[2, 1] * py + turn[2, 2]
            if not z > 0.0:
                continue
            a = (turn[0, 0] * px + turn[0, 1] * py + turn[0, 2]) / z
            b = (turn[1, 0] * px + turn[1, 1] * py + turn[1, 2]) / z
            r2 = a * a + b * b
            q = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
            x = (a * q + 2.0 * p1 * a * b + p2 * (r2 + 2.0 * a * a)) * raw[0] + raw[2]
            y = (b * q + p1 * (r2 + 2.0 * b * b) + 2.0 * p2 * a * b) * raw[1] + raw[3]
            # Pixels are squares around their centres; written so that a NaN fails.
            if not (-0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5):
                continue
            x0, y0 = int(np.floor(x)), int(np.floor(y))
            weights(x - x0, cubic, wx)
            weights(y - y0, cubic, wy)
            for c in range(channels):
                total = 0.0
                for m in range(4):
                    v = min(max(y0 - 1 + m, 0), height - 1)
                    line = 0.0
                    for n in range(4):
                        line += wx[n] * image[v, min(max(x0 - 1 + n, 0), width - 1), c]
                    total += wy[m] * line
                out[i, j, c] = total
