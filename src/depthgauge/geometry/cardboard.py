"""Disparities for objects with a mask but no depth: each becomes an upright cardboard cut-out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.geometry._maps import as_plane, missing, need_same_size
from depthgauge.types import Map, Mask

Indices = NDArray[np.intp]

REVISION = 2
"""Raised whenever a filled value may change; part of the protocol's hash."""
_FOOT = 0.1
"""Columns that end within this share of the object's height above its lowest pixel are its feet."""
_BELOW = 5
"""px; how far below an object, or beside one that the image cuts off, to look for the ground."""
_STRAY = 0.1
"""Truth at a smaller share of an object's pixels is not its own."""


def fill_cardboard(truth: Map, labels: NDArray[np.generic]) -> Map:
    """The truth with one value added for each object that has none (Honauer 2019, section 5.1.2).

    An object that stands on the ground is as far away as the ground at its feet. Its feet are the
    columns in which it reaches down to within a tenth of its height above its lowest pixel. The
    ground at the feet is everything known and unlabelled among the five pixels below the object in
    each of these columns. The object's pixels get the median of the ground (the lower of two). If
    there is no ground there, the five pixels below all of its columns are used.

    If the lower border of the image cuts the object off, its feet are not visible. It is then as
    far away as the ground beside it at the border: the five pixels to its left and right in its
    five lowest rows. It may stand nearer than that, but still in front of all that it hides. An
    object without any ground stays missing.

    An object with truth at a tenth of its pixels or more is left unchanged. Less than that is not
    its own (a moving object's mask has points that were scanned without it), and is replaced.

    Args:
        truth: (H, W) disparity or depth, NaN where missing.
        labels: (H, W) integers; every value above 0 is one object, whose pixels need not be
            connected.

    Returns:
        A new map.

    Raises:
        WrongShape: Truth and labels are not (H, W) of the same size.

    >>> truth = np.array([[1, 1, 1], [1, np.nan, 1], [4, 5, 6]])
    >>> fill_cardboard(truth, np.isnan(truth))
    array([[1., 1., 1.], [1., 5., 1.], [4., 5., 6.]], dtype=float32)
    """
    values = as_plane(truth, "the truth")
    if labels.ndim != 2:
        raise WrongShape(f"labels must be (H, W), found {labels.shape}")
    need_same_size(labels, values, ("the label map", "the truth"))
    known = ~missing(values)
    ground = known & np.less_equal(labels, 0)
    filled = values.copy()
    for rows, columns, inside in _objects(labels):
        if known[rows, columns][inside].mean() >= _STRAY:
            continue
        if rows.stop == values.shape[0]:
            found = _beside(values, ground, rows, columns, inside)
        else:
            found = _at_feet(values, ground, rows, columns, inside)
        if found.size > 0:
            filled[rows, columns][inside] = np.sort(found)[(found.size - 1) // 2]
    return filled


def _at_feet(values: Map, ground: Mask, rows: slice, columns: slice, inside: Mask) -> Map:
    """The values of the ground below an object's feet, or else below all of it."""
    lowest, at = _outline(rows, columns, inside)
    feet = lowest > rows.stop - 1 - _FOOT * inside.shape[0]
    found = _below(values, ground, lowest[feet], at[feet])
    return found if found.size > 0 else _below(values, ground, lowest, at)


def _beside(values: Map, ground: Mask, rows: slice, columns: slice, inside: Mask) -> Map:
    """The values of the ground left and right of an object's lowest rows."""
    found = [np.zeros(0, np.float32)]
    for row in range(max(rows.start, rows.stop - _BELOW), rows.stop):
        at = columns.start + np.flatnonzero(inside[row - rows.start])
        if at.size > 0:
            left = slice(max(0, at[0] - _BELOW), at[0])
            right = slice(at[-1] + 1, at[-1] + 1 + _BELOW)
            found += [values[row, side][ground[row, side]] for side in (left, right)]
    return np.concatenate(found)


def _objects(labels: NDArray[np.generic]) -> Iterator[tuple[slice, slice, Mask]]:
    """The bounding box of each object, and its pixels within it."""
    from scipy import ndimage

    # Instance labels may be large and sparse.
    at = np.flatnonzero(np.greater(labels, 0))
    _, dense = np.unique(labels.reshape(-1)[at], return_inverse=True)
    numbers = np.zeros(labels.shape, np.int32)
    numbers.reshape(-1)[at] = dense + 1
    for number, (rows, columns) in enumerate(ndimage.find_objects(numbers), start=1):
        yield rows, columns, numbers[rows, columns] == number


def _outline(rows: slice, columns: slice, inside: Mask) -> tuple[Indices, Indices]:
    """The lowest row of an object in each of its columns, and the columns."""
    at = np.flatnonzero(inside.any(axis=0))
    lowest = rows.stop - 1 - np.argmax(inside[::-1, at], axis=0)
    return lowest, at + columns.start


def _below(values: Map, ground: Mask, lowest: Indices, columns: Indices) -> Map:
    """The values of the ground in the pixels below these."""
    down = np.arange(1, _BELOW + 1)[:, np.newaxis]
    rows, across = np.broadcast_arrays(lowest + down, columns)
    within = rows < values.shape[0]
    rows, across = rows[within], across[within]
    usable = ground[rows, across]
    found: Map = values[rows[usable], across[usable]]
    return found
