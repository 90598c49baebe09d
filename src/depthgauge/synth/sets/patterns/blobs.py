"""What projectors show on a painted scene: random coloured blobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def blobs(
    seed: int, number: int, projector: int, size: tuple[int, int], blob_px: float
) -> NDArray[np.float32]:
    """The picture of one projector (height, width, 3), linear light from 0 to 1.

    Each channel is noise of two scales with its contrast raised to almost black and white:
    neighbours differ, and no two windows of a row look alike.

    Args:
        seed: Seed of all patterns.
        number: Number of the pattern.
        projector: Which one shows it.
        size: Width and height of the projector's picture.
        blob_px: How wide a blob is, about.
    """
    rng = np.random.default_rng([seed, 74, number, projector])
    mixed = _noise(rng, blob_px, size) + 0.35 * _noise(rng, 3.0 * blob_px, size)
    return np.asarray(0.5 + 0.5 * np.tanh(2.0 * mixed), np.float32)


def _noise(rng: np.random.Generator, blob: float, size: tuple[int, int]) -> NDArray[np.float32]:
    """Smooth noise of unit variance; cells are half a blob, so that blobs have many shapes."""
    import cv2

    width, height = size
    cell = max(blob / 2.0, 1.0)
    small = (int(width / cell) + 6, int(height / cell) + 6)
    grid = rng.standard_normal((small[1], small[0], 3), dtype=np.float32)
    grid = cv2.GaussianBlur(grid, (0, 0), 0.65)
    whole = cv2.resize(grid, None, fx=cell, fy=cell, interpolation=cv2.INTER_CUBIC)
    part = whole[:height, :width]
    # Normalised by the spread of the cells.
    return np.asarray(part / grid.std(), np.float32)


def codes(light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Linear light as the codes of a projector or screen (sRGB), 8 bits.

    >>> codes(np.array([0.0, 0.2158605, 1.0], np.float32))
    array([  0, 128, 255], dtype=uint8)
    """
    curved = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * np.clip(curved, 0, 1)), np.uint8)
