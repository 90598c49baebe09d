"""A picture as the right camera sees it, row by row, compiled.

Rows do not depend on each other, so the number of threads does not change a bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Array = NDArray[Any]


@compiled()
def _put(
    image: Array,
    y: int,
    x: int,
    share: float,
    place: int,
    near: float,
    view: Array,
    nearness: Array,
) -> None:
    """Writes the colour between two neighbours, unless something nearer is there."""
    if place < 0 or place >= view.shape[1] or near <= nearness[y, place]:
        return
    nearness[y, place] = near
    after = min(x + 1, image.shape[1] - 1)
    for c in range(image.shape[2]):
        view[y, place, c] = (1.0 - share) * image[y, x, c] + share * image[y, after, c]


@banded("image", cost=8)
def warp_rows(
    begin: int,
    end: int,
    image: Array,
    disparity: Array,
    jump_px: float,
    view: Array,
    nearness: Array,
) -> None:
    """Moves every row to the left by its disparities; the largest disparity is in front.

    Neighbours whose disparities differ by at most `jump_px` are one surface: what lies between
    them is interpolated. Elsewhere a pixel covers half a pixel beyond its centre.

    Args:
        begin: First row.
        end: Row after the last one.
        image: (H, W, C).
        disparity: (H, W), all finite.
        jump_px: Where a surface ends.
        view: (H, W, C), filled where something lands.
        nearness: (H, W), -inf at first; the disparity of what landed.
    """
    width = image.shape[1]
    for y in range(begin, end):
        for x in range(width):
            here = disparity[y, x]
            at = x - here
            joined = x + 1 < width and abs(disparity[y, x + 1] - here) <= jump_px
            if joined:
                step = 1.0 - (disparity[y, x + 1] - here)
                for place in range(math.ceil(at), math.floor(at + step) + 1):
                    share = (place - at) / step if step > 0 else 0.0
                    near = here + share * (disparity[y, x + 1] - here)
                    _put(image, y, x, share, place, near, view, nearness)
            before = x > 0 and abs(disparity[y, x - 1] - here) <= jump_px
            low = at if before else at - 0.5
            high = at if joined else at + 0.5
            for place in range(math.ceil(low), math.floor(high) + 1):
                _put(image, y, x, 0.0, place, here, view, nearness)


@compiled()
def _background(nearness: Array, y: int, first: int, after: int) -> int:
    """The pixel beside a hole from which it is filled: the farther one; -1 if there is none."""
    width = nearness.shape[1]
    if first == 0 and after == width:
        return -1
    if first == 0:
        return after
    if after == width or nearness[y, first - 1] < nearness[y, after]:
        return first - 1
    return after


@compiled()
def _inner(nearness: Array, y: int, place: int, towards: int, jump_px: float) -> int:
    """The next pixel of the same surface: the outermost one may be mixed with what is in front."""
    nxt = place + towards
    if nxt < 0 or nxt >= nearness.shape[1] or not math.isfinite(nearness[y, nxt]):
        return place
    return nxt if abs(nearness[y, nxt] - nearness[y, place]) <= jump_px else place


@banded("filled", cost=8)
def fill_rows(
    begin: int,
    end: int,
    view: Array,
    nearness: Array,
    jump_px: float,
    reach: int,
    filled: Array,
) -> None:
    """Fills holes from their farther side.

    A pixel of a hole takes the mean of the background's edge in its own row and, the deeper it is,
    in more rows around, as far as they are of the same surface; so stripes widen and fade.

    Args:
        begin: First row.
        end: Row after the last one.
        view: (H, W, C) with holes.
        nearness: (H, W) disparities of the view, -inf in holes.
        jump_px: Where a surface ends.
        reach: The most rows above and below.
        filled: (H, W, C), a copy of the view whose holes are filled. Rows without a single pixel
            stay as they are.
    """
    height, width, channels = view.shape
    for y in range(begin, end):
        first = 0
        while first < width:
            if nearness[y, first] > -np.inf:
                first += 1
                continue
            after = first
            while after < width and nearness[y, after] == -np.inf:
                after += 1
            edge = _background(nearness, y, first, after)
            if edge >= 0:
                towards = 1 if edge == after else -1
                far = nearness[y, edge]
                for x in range(first, after):
                    rows = min(reach, abs(x - edge) // 2)
                    for c in range(channels):
                        filled[y, x, c] = 0.0
                    total = 0.0
                    for other in range(max(0, y - rows), min(height, y + rows + 1)):
                        if abs(nearness[other, edge] - far) > jump_px:
                            continue
                        source = _inner(nearness, other, edge, towards, jump_px)
                        weight = 1.0 / (1 + abs(other - y))
                        total += weight
                        for c in range(channels):
                            filled[y, x, c] += weight * view[other, source, c]
                    for c in range(channels):
                        filled[y, x, c] /= total
            first = after
