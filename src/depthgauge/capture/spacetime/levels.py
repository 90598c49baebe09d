"""Grey levels of rectified patterns: what is saturated, and how bright each photograph is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Pairs, Stack
from depthgauge.types import Mask

_FULL_LEVEL = 254
"""From this grey level on, a rectified pixel is saturated; splines undershoot a little."""
_WINDOW_PX = 5
_FEWEST_SHOWN = 2
"""Patterns that must show something in a window."""
_LOOKED_AT = 250
"""About this many rows and columns are sampled for the brightness of a picture."""
_MOST_UNEVEN = 0.02
"""If the brightness of one camera against the other changes by more, it is evened out."""


def resolved(stack: Stack, places: Sequence[int]) -> Mask:
    """Where enough patterns show anything: their windows are not saturated as a whole.

    A clipped pattern still tells bright from dark, so it is matched as it is. But a window that is
    saturated under all patterns but one has nothing to compare.

    Args:
        stack: Rectified pictures of one camera, perhaps a mapped file.
        places: The patterns to use.
    """
    import cv2

    shown = np.zeros(stack.shape[1:3], np.uint16)
    window = np.ones((_WINDOW_PX, _WINDOW_PX), np.uint8)
    for t in places:
        full = (np.asarray(stack[t]).min(axis=2) >= _FULL_LEVEL).astype(np.uint8)
        shown += np.asarray(cv2.erode(full, window) == 0)
    return np.asarray(shown >= min(_FEWEST_SHOWN, len(places)))


def with_resolved(pairs: Pairs, places: Sequence[int]) -> Pairs:
    """The pairs, in which unresolved pixels are unknown."""
    left = pairs.left_known & resolved(pairs.left, places)
    right = pairs.right_known & resolved(pairs.right, places)
    return Pairs(pairs.left, pairs.right, left, right)


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Factors that give all pictures of a camera the same brightness."""

    left: NDArray[np.float32]
    """(T, C)."""
    right: NDArray[np.float32]
    uneven: float
    """How much the brightness of L against R changes between patterns: 0.1 is 10 %."""

    def applied(self, pairs: Pairs) -> Pairs:
        """The pairs, evenly bright; their pictures are then float32."""
        stacks = [
            np.clip(stack * gains[:, None, None], 0, 255).astype(np.float32)
            for stack, gains in ((pairs.left, self.left), (pairs.right, self.right))
        ]
        return Pairs(stacks[0], stacks[1], pairs.left_known, pairs.right_known)


def uneven_gains(pairs: Pairs, places: Sequence[int]) -> Gains | None:
    """How to even out exposures that changed from pattern to pattern; None if they did not.

    A pattern that is brighter in both cameras does no harm. If only one camera took in more light,
    its pixels no longer have the same mean over the patterns as those of the other camera.

    Args:
        pairs: The pictures, perhaps mapped files.
        places: The patterns to use.
    """
    left, right = (
        _brightness(stack, places, known)
        for stack, known in ((pairs.left, pairs.left_known), (pairs.right, pairs.right_known))
    )
    ratio = np.log(left.mean(axis=1) / right.mean(axis=1))
    uneven = float(np.exp(np.abs(ratio - np.median(ratio)).max()) - 1)
    if not uneven > _MOST_UNEVEN:
        return None
    gains = [(v.mean(axis=0) / v).astype(np.float32) for v in (left, right)]
    return Gains(gains[0], gains[1], uneven)


def _brightness(stack: Stack, places: Sequence[int], known: Mask) -> NDArray[np.float64]:
    """(T, C) mean grey levels; never 0."""
    step = max(1, min(stack.shape[1:3]) // _LOOKED_AT)
    seen = known[::step, ::step]
    means = [np.asarray(stack[t, ::step, ::step])[seen].mean(axis=0) for t in places]
    return np.maximum(np.asarray(means, np.float64), 1.0)
