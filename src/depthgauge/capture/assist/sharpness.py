"""How sharp photographs are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.photographs.exposure import levels_of
from depthgauge.types import Image

_LEAST_CONTRAST = 20.0
"""In grey levels: with less, an edge's width is a guess."""


def edge_width_px(image: Image, corners: NDArray[np.float64]) -> float:
    """The width of a board's edges: how many pixels they take from dark to bright.

    A perfect edge takes one pixel; NaN if there is too little contrast.

    Args:
        image: The photograph.
        corners: (N, 2) corners of the board in it.
    """
    grey = _grey(image)
    height, width = grey.shape
    low = np.clip(np.floor(corners.min(axis=0)).astype(int) - 2, 0, [width - 3, height - 3])
    high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + 3, low + 3, [width, height])
    part = grey[low[1] : high[1], low[0] : high[0]]
    contrast = float(np.percentile(part, 90) - np.percentile(part, 10))
    if contrast < _LEAST_CONTRAST:
        return float("nan")
    steepest = float(np.percentile(_slopes(part), 99))
    return contrast / max(steepest, 1e-9)


def texture_sharpness(image: Image) -> float:
    """How steep the steepest slopes are, relative to the photograph's contrast: 1 is a sharp edge.

    Photographs of one scene can be compared with it, others not.
    """
    grey = _grey(image)
    contrast = float(np.percentile(grey, 99) - np.percentile(grey, 1))
    if contrast < 1.0 or min(grey.shape) < 3:
        return 0.0
    return float(np.percentile(_slopes(grey), 99.5)) / contrast


def _grey(image: Image) -> NDArray[np.float32]:
    levels: NDArray[Any] = levels_of(image)
    return np.asarray(levels.mean(axis=2) if levels.ndim == 3 else levels, np.float32)


def _slopes(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Largest step to the next pixel, along x or y."""
    across = np.abs(np.diff(grey, axis=1))[:-1]
    down = np.abs(np.diff(grey, axis=0))[:, :-1]
    return np.asarray(np.hypot(across, down))
