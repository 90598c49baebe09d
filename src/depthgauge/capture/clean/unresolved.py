"""Structures that a map does not show: pixels beside those that their match does not explain."""

from __future__ import annotations

import numpy as np

from depthgauge.types import Map, Mask

_JUMP_PX = 1.5
_REACH = 2


def beside_unresolved(disparity: Map, confidence: Map, least: float, doubtful: float) -> Mask:
    """Doubtful pixels beside pixels of low confidence that no jump of the map explains.

    At a jump, pixels mix the two surfaces that the map has there. Where there is none, low
    confidence means something else: a wire before a wall that is thinner than a pixel. It reaches
    into the pixels beside it; those that are not quite sure belong to it.

    Args:
        disparity: (H, W), NaN where missing.
        confidence: (H, W), 0..1; NaN counts as 0.
        least: Confidence below which a pixel is not trusted.
        doubtful: Confidence below which a pixel beside such a one is not trusted either.
    """
    import cv2

    smooth = ~_near_jumps(disparity)
    seeds = smooth & ~(confidence >= least) & np.isfinite(disparity)
    beside = cv2.dilate(seeds.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.asarray(beside & smooth & ~(confidence >= doubtful))


def _near_jumps(disparity: Map) -> Mask:
    """Pixels in whose window of 5x5 the disparities differ by more than 1.5 px."""
    import cv2

    window = np.ones((2 * _REACH + 1,) * 2, np.uint8)
    known = np.isfinite(disparity)
    highest = cv2.dilate(np.where(known, disparity, -1e6).astype(np.float32), window)
    lowest = cv2.erode(np.where(known, disparity, 1e6).astype(np.float32), window)
    return np.asarray(highest - lowest > _JUMP_PX)
