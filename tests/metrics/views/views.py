"""Small stereo pairs with a known disparity, for tests of metrics of views."""

from __future__ import annotations

import numpy as np

from depthgauge.metrics import METRICS

SIZE = (64, 160)


def smooth(rng, height, width):
    """A picture of random structure, a few px large, from 0 to 1."""
    import cv2

    noise = rng.random((height, width, 3)).astype(np.float32)
    blurred = cv2.GaussianBlur(noise, (0, 0), 1.5)
    low, high = blurred.min(), blurred.max()
    return ((blurred - low) / (high - low)).astype(np.float32)


def pair(seed=0, size=SIZE, low=4.0, high=14.0, factor=1.0):
    """Left view, right view and disparity of a slanted plane that nothing occludes.

    `factor` multiplies the disparities of the right view, not the true ones.
    """
    import cv2

    height, width = size
    texture = smooth(np.random.default_rng(seed), height, width + 80)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    disparity = (low + (high - low) * y / height).astype(np.float32)
    # Pixel x of the left view shows what the right one shows at x - d.
    left = texture[:, 40 : 40 + width].copy()
    right = cv2.remap(texture, x + factor * disparity + 40, y, cv2.INTER_LINEAR)
    return left, np.clip(right, 0, 1), disparity


def measured(name, estimate, truth, items=None, region=None, missing="bad", **params):
    """Value and state of one frame."""
    metric = METRICS[name]
    bound = metric.bind(params)
    state = metric.measure(estimate, truth, region, **(items or {}), **bound)
    return metric.finish(state, missing, **bound), state


def value(*args, **keywords):
    return measured(*args, **keywords)[0]
