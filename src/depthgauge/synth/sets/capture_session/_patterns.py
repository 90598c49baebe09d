"""What projectors show: random coloured blobs, new for each projector and pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.capture_session._rig import blob_px, projector_px

_FOCUS_PX = 0.6
"""Standard deviation of a projector's blur, in its own pixels."""
_DARK = 0.03
"""What a projector lets through where its picture is black."""


def pattern(seed: int, number: int, projector: int, width_px: int) -> NDArray[np.uint8]:
    """The picture of one projector, linear light in 255 steps.

    Each channel is noise of two scales, drawn out to almost black and white, as blobs of about
    four pixels of the cameras; so neighbours differ, and no two windows of a row look alike.

    Args:
        seed: Of all patterns.
        number: Of the pattern.
        projector: Which one shows it.
        width_px: Of the cameras' images.
    """
    import cv2

    rng = np.random.default_rng([seed, 74, number, projector])
    size, blob = projector_px(width_px), blob_px(width_px)
    mixed = _noise(rng, blob, size) + 0.35 * _noise(rng, 3.0 * blob, size)
    blurred = cv2.GaussianBlur(0.5 + 0.5 * np.tanh(2.0 * mixed), (0, 0), _FOCUS_PX)
    return np.asarray(np.rint(255 * (_DARK + (1.0 - _DARK) * blurred)), np.uint8)


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
    # The spread of the cells is known; that of a part of the picture would do as well.
    return np.asarray(part / grid.std(), np.float32)


def patterns(seed: int, count: int, projectors: int, width_px: int) -> NDArray[np.uint8]:
    """All pictures (P, h, w, T, 3): what a place shows in all patterns lies together."""
    width, height = projector_px(width_px)
    shown = np.zeros((projectors, height, width, count, 3), np.uint8)
    for number in range(count):
        for projector in range(projectors):
            shown[projector, :, :, number] = pattern(seed, number, projector, width_px)
    return shown
