"""How much of a pixel's light its match does not explain.

A pixel that shows two surfaces, a thin stem and the wall behind it, has the light of both under
every pattern. Its match on the wall explains only the wall's share: the rest does not correlate,
and the pixel is darker or brighter than its match by another factor than its neighbours. A window
does not reveal this, since most of its pixels show the wall alone; a pixel under many patterns
does.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map

_LEVELS = 16
_NOISE = 1.5
"""Noise explains this many times what it leaves in half of the pixels of the same brightness."""
_BLOCK_PX = 32
_FEWEST = 32
"""Pixels of a block from which a gain can be estimated."""
_JUMP_PX = 1.0
_DIFFERENT_LEVELS = 12.0
"""Surfaces whose mean colours differ by less cannot be told apart by them."""
_SAME = 0.9
"""Correlation of pixels whose gain counts."""


def mixing(sums: Map, brightness: Map, window: NDArray[np.float32] | None) -> Map:
    """The share of other light in each pixel, 0..1: root of what is unexplained over all.

    Two parts are added as squares: what does not correlate with the match, beyond noise; and the
    logarithm of the ratio of contrasts, beyond that of the pixels around, which is the ratio of the
    cameras' sensitivities. Noise is what half of the pixels of similar brightness have.

    Args:
        sums: (3, H, W) of each pixel's colours: of squares, of squares of its match, of products of
            both; NaN where there is no match.
        brightness: (H, W) mean grey level of each pixel.
        window: Weights of rows and columns around a pixel whose colours are added to its own; None
            if it has enough.
    """
    left, right, shared = sums if window is None else (_around(v, window) for v in sums)
    known = np.isfinite(shared) & (left > 0) & (right > 0)
    out = np.full(shared.shape, np.nan, np.float32)
    if not known.any():
        return out
    both = np.sqrt(np.where(known, left * right, 1))
    lost = 2 * (both - np.where(known, shared, 0))
    beyond = np.maximum(lost - _NOISE * _usual(lost, brightness, known), 0) / (2 * both)
    ratio = np.where(known, left, 1) / np.where(known, right, 1)
    gain = np.float32(0.5) * np.log(ratio, dtype=np.float32)
    same = known & (lost <= 2 * (1 - _SAME) * both)
    off = gain - _local_median(gain, same if same.any() else known)
    out[known] = np.minimum(np.sqrt(beyond + off * off), 1)[known]
    out[np.isfinite(shared) & ~known] = 1
    return out


def _around(values: Map, weights: NDArray[np.float32]) -> Map:
    """Weighted sums over windows; NaN stays."""
    import cv2

    filled = np.nan_to_num(values)
    total = cv2.sepFilter2D(filled, -1, weights, weights, borderType=cv2.BORDER_REPLICATE)
    return np.where(np.isfinite(values), total, np.nan).astype(np.float32)


def _usual(values: Map, brightness: Map, known: NDArray[np.bool_]) -> Map:
    """The median at each pixel's brightness."""
    chosen, levels = values[known], brightness[known]
    edges = np.unique(np.quantile(levels, np.linspace(0, 1, _LEVELS + 1)))
    if len(edges) < 2:
        return np.full(values.shape, np.median(chosen), np.float32)
    which = np.clip(np.searchsorted(edges, levels, side="right") - 1, 0, len(edges) - 2)
    filled = np.unique(which)
    medians = [float(np.median(chosen[which == n])) for n in filled]
    middles = [float((edges[n] + edges[n + 1]) / 2) for n in filled]
    return np.interp(brightness, middles, medians).astype(np.float32)


def _local_median(values: Map, chosen: NDArray[np.bool_]) -> Map:
    """Medians of the chosen pixels of blocks, interpolated in between."""
    import cv2

    height, width = values.shape
    rows, columns = -(-height // _BLOCK_PX), -(-width // _BLOCK_PX)
    padded = np.full((rows * _BLOCK_PX, columns * _BLOCK_PX), np.nan, np.float32)
    padded[:height, :width] = np.where(chosen, values, np.nan)
    tiled = padded.reshape(rows, _BLOCK_PX, columns, _BLOCK_PX).transpose(0, 2, 1, 3)
    blocks = tiled.reshape(rows, columns, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # blocks without any are filled below
        medians = np.nanmedian(blocks, axis=2)
    few = np.isfinite(blocks).sum(axis=2) < _FEWEST
    medians = np.where(few, np.median(values[chosen]), medians).astype(np.float32)
    size = (columns * _BLOCK_PX, rows * _BLOCK_PX)
    return np.asarray(cv2.resize(medians, size, interpolation=cv2.INTER_LINEAR))[:height, :width]


def share_beyond_jumps(disparity: Map, means: Map) -> Map:
    """The share of the surface beyond a jump in each pixel beside it, 0..1, by mean colours.

    A dark frame before a bright wall adds no pattern to a pixel that shows half of it, but the mean
    over the patterns is darker by half. Two pixels on, both surfaces are seen alone: the share is
    where the pixel's colour lies between theirs. 0 where they differ by less than 12 levels.

    Args:
        disparity: (H, W), NaN where there is no match.
        means: (H, W, C) mean colours over the patterns, in grey levels.
    """
    height, width = disparity.shape
    out = np.zeros(disparity.shape, np.float32)
    for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        beyond = np.roll(disparity, (-dy, -dx), axis=(0, 1))
        y, x = np.nonzero(np.abs(beyond - disparity) > _JUMP_PX)
        inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
        y, x = y[inside], x[inside]

        def at(steps: int, values: Map, y: Any = y, x: Any = x, dy: int = dy, dx: int = dx) -> Map:
            rows, columns = y + steps * dy, x + steps * dx
            rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
            return np.asarray(values[rows, columns])

        here = at(0, disparity)
        same = np.abs(at(-1, disparity) - here) <= _JUMP_PX
        own = np.where(_near(at(-2, disparity), here)[:, None], at(-2, means), at(-1, means))
        next_to = at(1, disparity)
        other = np.where(_near(at(2, disparity), next_to)[:, None], at(2, means), at(1, means))
        way = other - own
        length = (way * way).sum(axis=1)
        same &= length > means.shape[2] * _DIFFERENT_LEVELS**2
        share = ((at(0, means) - own) * way).sum(axis=1) / np.maximum(length, 1)
        found = np.where(same, np.clip(share, 0, 1), 0)
        out[y, x] = np.maximum(out[y, x], found)
    return out


def _near(disparity: Map, other: Map) -> NDArray[np.bool_]:
    return np.asarray(np.abs(disparity - other) <= _JUMP_PX)
