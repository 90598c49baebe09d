"""Turns light into the bytes of a photograph: a pixel's footprint, noise, the tone curve."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

GAINS = {"L": 1.0, "C": 1.08, "R": 0.97}
"""How sensitive the cameras are: two of one kind are never equal."""
WELL = 9000.0
"""Electrons of a full pixel; the square root is its signal-to-noise ratio."""
READ = 0.0025
"""Read noise as a share of a full pixel."""
REACH_PX = 0.8
"""A pixel's response is a tent that ends this far from its centre (lens and pixel together)."""


def footprint(side: int) -> NDArray[np.float64]:
    """Offsets (side * side, 2) of a pixel's samples from its centre, all of equal weight.

    Each lies in a cell of equal weight. No two have the same x or the same y, so edges along rows
    and columns are resolved as finely as any other.

    >>> footprint(2)[:, 0].round(3).tolist()
    [-0.4, 0.107, -0.107, 0.4]
    """
    row, column = np.divmod(np.arange(side * side), side)
    share = [(a + (b + 0.5) / side) / side for a, b in ((column, row), (row, column))]
    return np.stack([_tent(part) for part in share], axis=-1)


def _tent(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Position left of which this share of the tent lies."""
    near = REACH_PX * (np.sqrt(2.0 * np.minimum(share, 1.0 - share)) - 1.0)
    return np.where(share < 0.5, near, -near)


def key(*words: object) -> int:
    """A number for the noise of one picture."""
    return zlib.crc32(repr(words).encode()) & 0x7FFFFFFF


def developed(light: NDArray[np.float32], noise_key: int, first: int = 0) -> NDArray[np.uint8]:
    """Linear light (N, 3), 1 for a full pixel, as 8 bits with noise and sRGB's curve.

    Args:
        light: Light of pixels in reading order.
        noise_key: A number for each picture.
        first: The number of earlier pixels of the picture.
    """
    from depthgauge.synth.sets.capture_session._light_kernels import develop

    out = np.zeros(light.shape, np.uint8)
    develop(np.ascontiguousarray(light), noise_key, first, WELL, READ, out)
    return out


def linear(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The linear light of 8-bit values.

    >>> linear(np.array([0, 255], np.uint8)).tolist()
    [0.0, 1.0]
    """
    value = np.asarray(picture, np.float32) / 255.0
    curve = ((value + 0.055) / 1.055) ** np.float32(2.4)
    return np.where(value <= 0.04045, value / 12.92, curve).astype(np.float32)
