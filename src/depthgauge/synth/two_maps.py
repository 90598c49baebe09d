"""Two small disparity maps to try things on: an exact truth and a flawed estimate of it."""

from __future__ import annotations

import numpy as np

from depthgauge.types import Map


def make_truth(height: int = 360, width: int = 480) -> Map:
    """A slanted wall, a box in front of it, a ball, and thin bars; nothing is known at the rim."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    u, v = x / width, y / height
    disparity = 12 + 10 * u + 4 * v
    ball = 1 - ((x - 0.74 * width) ** 2 + (y - 0.55 * height) ** 2) / (0.16 * width) ** 2
    disparity = np.where(ball > 0, 34 + 6 * np.sqrt(np.maximum(ball, 0)), disparity)
    box = (np.abs(u - 0.3) < 0.14) & (np.abs(v - 0.62) < 0.22)
    disparity = np.where(box, 30 + 3 * u, disparity)
    bars = (v > 0.08) & (v < 0.3) & (x % 24 < 3) & (u > 0.1) & (u < 0.9)
    disparity = np.where(bars, 40.0, disparity)
    disparity[(x < 6) | (x > width - 7)] = np.nan
    return disparity.astype(np.float32)


def make_estimate(truth: Map, seed: int = 0) -> Map:
    """What a matcher might return: noise, fattened edges, lost bars, holes."""
    from scipy import ndimage

    rng = np.random.default_rng(seed)
    filled = np.where(np.isfinite(truth), truth, np.nanmin(truth))
    blurred = ndimage.median_filter(filled, size=9)
    fattened = ndimage.maximum_filter(blurred, size=5)
    estimate = fattened + rng.normal(0, 0.3, truth.shape)
    height, width = truth.shape
    y, x = np.mgrid[0:height, 0:width]
    shadow = (np.abs(x / width - 0.145) < 0.012) & (np.abs(y / height - 0.62) < 0.22)
    lost = ndimage.gaussian_filter(rng.normal(size=truth.shape), 6) > 0.11
    estimate[shadow | lost] = np.nan
    return np.asarray(estimate, np.float32)
