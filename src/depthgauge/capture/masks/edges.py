"""Moves the rim of a region to where the picture changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Mask

Colours = NDArray[np.uint8]
"""(H, W, 3)."""
_SMALL_HOLE = 0.002
"""Holes below this share of a region are specks of it."""
_AROUND = 2


def snapped(image: Colours, inside: Mask, reach_px: int) -> Mask:
    """A region whose rim follows the strongest edges of the picture near it.

    Both sides grow from where they are certain, farther than `reach_px` from the rim, in the order
    of the smallest contrast, until they meet (a watershed). Parts that are thinner than the reach
    stay as they are.

    Args:
        image: The picture.
        inside: The region, of the same size.
        reach_px: How far the rim may move.
    """
    import cv2

    if reach_px < 1 or not inside.any() or inside.all():
        return inside
    rows, columns = _near_rim(inside, 2 * reach_px + 2)
    part = np.pad(inside[rows, columns], 1, mode="edge")
    colours = np.pad(image[rows, columns], ((1, 1), (1, 1), (0, 0)), mode="edge")
    markers = np.zeros(part.shape, np.int32)
    markers[_certain(~part, reach_px)] = 1
    markers[_certain(part, reach_px)] = 2
    # What is at the border of the cut would be taken for a ridge.
    blurred = cv2.GaussianBlur(colours, (0, 0), 0.8)
    cv2.watershed(np.ascontiguousarray(blurred), markers)
    found = markers == 2
    _decide_ridges(blurred, markers, found)
    out = inside.copy()
    out[rows, columns] = found[1:-1, 1:-1]
    return out


def _near_rim(inside: Mask, margin: int) -> tuple[slice, slice]:
    """The rows and columns in which a region begins or ends, with a margin."""
    height, width = inside.shape
    cut = []
    for axis, size in ((1, height), (0, width)):
        mixed = inside.any(axis=axis) & ~inside.all(axis=axis)
        places = np.flatnonzero(mixed)
        if not places.size:  # it changes along the other axis only
            places = np.array([0, size - 1])
        cut.append(slice(max(0, int(places[0]) - margin), min(size, int(places[-1]) + margin + 1)))
    return cut[0], cut[1]


def _certain(side: Mask, reach_px: int) -> Mask:
    """The pixels of a side that are farther from the other one, and its thin parts."""
    import cv2

    core = cv2.distanceTransform(side.astype(np.uint8), cv2.DIST_L2, 3) > reach_px
    if not core.any():
        return side
    away = cv2.distanceTransform((~core).astype(np.uint8), cv2.DIST_L2, 3)
    return np.asarray(core | (side & (away > 2 * reach_px + 1)))


def _decide_ridges(colours: Colours, markers: NDArray[np.int32], found: Mask) -> None:
    """Gives the pixels between both sides to the side that has their colour, in place."""
    y, x = np.nonzero(markers == -1)
    own = colours[y, x].astype(np.float32)
    total, count = np.zeros((2, len(y), 3), np.float32), np.zeros((2, len(y)), np.float32)
    height, width = markers.shape
    for down in range(-_AROUND, _AROUND + 1):
        for right in range(-_AROUND, _AROUND + 1):
            at = np.clip(y + down, 0, height - 1), np.clip(x + right, 0, width - 1)
            for side in (0, 1):
                here = (markers[at] == side + 1).astype(np.float32)
                count[side] += here
                total[side] += colours[at] * here[:, None]
    far = np.abs(total / np.maximum(count, 1)[..., None] - own).sum(axis=-1)
    far[count == 0] = np.inf
    found[y, x] = far[1] <= far[0]


def without_specks(inside: Mask) -> Mask:
    """A region without its smallest holes."""
    import cv2

    limit = max(4.0, _SMALL_HOLE * float(np.count_nonzero(inside)))
    _, numbers, stats, _ = cv2.connectedComponentsWithStats(
        (~inside).astype(np.uint8), connectivity=4
    )
    small = np.asarray(stats[:, cv2.CC_STAT_AREA]) <= limit
    small[0] = False
    return np.asarray(inside | small[numbers])


def parts_at(inside: Mask, places: NDArray[np.intp]) -> Mask:
    """The connected parts of a region that contain some of the places (n, 2) x, y."""
    import cv2

    count, numbers = cv2.connectedComponents(inside.astype(np.uint8), connectivity=8)
    wanted = np.zeros(count, np.bool_)
    wanted[numbers[places[:, 1], places[:, 0]]] = True
    wanted[0] = False
    return np.asarray(wanted[numbers])
