"""How much of a pixel's light its match does not explain.

A pixel that shows two surfaces, a thin stem and the wall behind it, has the light of both under
every pattern. Its match on the wall explains only the wall's share: the rest does not correlate,
and the pixel is darker or brighter than its match by another factor than its neighbours. A window
does not reveal this, since most of its pixels show the wall alone; a pixel under many patterns
does.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map

_LEVELS = 16
_NOISE = 1.5
"""Noise explains this many times what it leaves in half of the pixels of the same brightness."""
_BLOCK_PX = 32
_FEWEST = 32
"""Pixels of a block from which a gain can be estimated."""
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
