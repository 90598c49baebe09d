"""Labels of one view in another one: of the other camera, or of a photograph that moved.

The other camera sees surfaces that the first does not. Those pixels are holes: they get no label
from a surface that hides them (255, `UNLABELLED`), unless they are filled by the rule of `filled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.resample import take_nearest
from depthgauge.errors import WrongShape
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.types import Map, Mask

Labels = NDArray[np.uint8]
UNLABELLED = 255
_BAND = 256
"""The number of rows whose positions are held at a time."""
_WAYS = ((1, False), (1, True), (0, False), (0, True))
"""To the left, to the right, up and down: the axis, and whether ahead on it."""


@dataclass(frozen=True, slots=True, eq=False)
class CarriedLabels:
    """Labels in the other view."""

    labels: Labels
    """`UNLABELLED` in holes."""
    disparity: Map
    """Of the other view, by which they were carried; NaN where nothing is known."""

    @property
    def holes(self) -> Mask:
        """What has no label."""
        return np.asarray(self.labels == UNLABELLED)


def carry_right(
    labels: Labels, left: Map, right: Map | None = None, *, threshold_px: float = 2.0
) -> CarriedLabels:
    """Labels of the left view in the right one, by disparity.

    A pixel of the right view takes the label of the left pixel that its disparity leads to, if
    the left disparity there leads back. Where the right view has no disparity of its own, the
    nearest surface of the left view that lands there counts.

    Args:
        labels: (H, W) of the left view.
        left: Its disparities, NaN where there is none.
        right: Those of the right view, if they were measured.
        threshold_px: Largest difference of the two disparities of one point, as in eq. (9).

    Raises:
        WrongShape: The maps have different sizes.
    """
    from depthgauge.capture.warp._kernels import seen_from_right

    shapes = {m.shape for m in (labels, left, right) if m is not None}
    if len(shapes) > 1:
        raise WrongShape(f"labels and disparities have different sizes: {sorted(shapes)}.")
    plane = np.ascontiguousarray(left, np.float32)
    seen = np.full(plane.shape, np.nan, np.float32)
    seen_from_right(plane, threshold_px, seen)
    way = seen if right is None else np.where(np.isfinite(right), right, seen).astype(np.float32)
    out = np.full(plane.shape, UNLABELLED, np.uint8)
    columns = np.arange(plane.shape[1], dtype=np.float32)
    for start in range(0, len(out), _BAND):
        rows = slice(start, start + _BAND)
        out[rows] = _fetched(labels[rows], plane[rows], way[rows], columns, threshold_px)
    return CarriedLabels(out, way)


def _fetched(
    labels: Labels, left: Map, way: Map, columns: NDArray[np.float32], threshold_px: float
) -> Labels:
    at = np.rint(columns + way)
    inside = (at >= 0) & (at < len(columns))  # a NaN is not
    source = np.where(inside, at, 0).astype(np.intp)
    back = np.take_along_axis(left, source, axis=1)
    agree = inside & (np.abs(back - way) <= threshold_px)
    found = np.take_along_axis(labels, source, axis=1)
    return np.where(agree, found, np.uint8(UNLABELLED))


def filled(carried: CarriedLabels) -> Labels:
    """Labels without the holes that can be filled; the others stay `UNLABELLED`.

    Of the nearest labelled pixels to the left, to the right, above and below, a hole takes the
    label of the one whose disparity is nearest to its own. If it has no disparity, it takes the
    farther one of the two in its row, because what only one view sees is behind something; if
    there are not two, as beyond the border of the other view, it stays a hole.
    """
    labels, disparity = carried.labels.copy(), carried.disparity
    holes = np.nonzero(carried.holes)
    own = disparity[holes]
    known = np.isfinite(own)
    places = {way: _nearest(~carried.holes, *way)[holes] for way in _WAYS}
    between = (places[_WAYS[0]] >= 0) & (places[_WAYS[1]] >= 0)
    least = np.full(len(own), np.inf, np.float32)
    found = labels[holes]
    for (axis, _), at in places.items():
        source = (at, holes[1]) if axis == 0 else (holes[0], at)
        there = disparity[source]
        may = (at >= 0) & (known | (between & (axis == 1)))
        aside = np.where(known, np.abs(there - own), there)
        better = may & (aside < least)
        least[better] = aside[better]
        found[better] = labels[source][better]
    labels[holes] = found
    return labels


def _nearest(known: Mask, axis: int, ahead: bool) -> NDArray[np.int32]:
    """Of every pixel: the place of the nearest known one before or ahead of it; -1 for none."""
    size = known.shape[axis]
    places = np.arange(size, dtype=np.int32)
    places = places if axis == 1 else places[:, None]
    if not ahead:
        return np.asarray(np.maximum.accumulate(np.where(known, places, -1), axis=axis), np.int32)
    turned = np.flip(np.where(known, places, size), axis)
    found = np.flip(np.minimum.accumulate(turned, axis=axis), axis)
    return np.asarray(np.where(found < size, found, -1), np.int32)


def to_right_size(labels: Labels, pair: RectifiedPair) -> Labels:
    """Labels of the right view at the left one's size, at the size of its own picture."""
    width, height = pair.right.camera.size_px
    out = np.full((height, width), UNLABELLED, np.uint8)
    for start in range(0, height, _BAND):
        rows = slice(start, start + _BAND)
        place = pair.to_left_size(pair.right.grid(rows))
        take_nearest(labels, place[..., 0], place[..., 1], out[rows])
    return out


def intersection_over_union(
    found: NDArray[np.integer[Any]], truth: NDArray[np.integer[Any]]
) -> list[float]:
    """Of each class 0 to 3, over the pixels whose truth is known; NaN if neither map has it.

    >>> intersection_over_union(np.array([[0, 1, 1, 255]]), np.array([[0, 0, 1, -1]]))[:2]
    [0.5, 0.5]
    """
    known = (truth >= 0) & (truth < UNLABELLED)
    shares = []
    for label in range(4):
        one, other = (known & (m == label) for m in (found, truth))
        union = int(np.count_nonzero(one | other))
        shares.append(int(np.count_nonzero(one & other)) / union if union else float("nan"))
    return shares
