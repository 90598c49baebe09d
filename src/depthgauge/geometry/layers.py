"""Stacks of layers: which is the last one of a pixel, and estimates given by rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate
from depthgauge.types import Map, is_known

MATERIALS = ("diffuse", "transparent", "reflective")
"""Their codes in a map of materials are 0, 1, 2."""
TRANSPARENT = MATERIALS.index("transparent")
NO_MATERIAL = 255
"""The code where there is no layer."""
MOST_LAYERS = 16
"""Estimates may have this many."""
_NAMED = 3


def last_layer(stack: Map) -> NDArray[np.uint8]:
    """(H, W): the number of the last layer with a value, from 1; 0 where there is none."""
    found = np.zeros(stack.shape[1:3], np.uint8)
    for number, layer in enumerate(stack, start=1):
        found[is_known(layer)] = number
    return found


def pick_layer(stack: Map, numbers: NDArray[np.uint8]) -> Map:
    """One layer per pixel, from 1; NaN where its number is 0 or it has no such layer."""
    picked = np.array(stack[0], np.float32)
    # Most pixels show one layer, so only the others are looked up.
    wanted = numbers.reshape(-1)
    others = np.flatnonzero(wanted != 1)
    rows, flat = picked.reshape(wanted.size, -1), stack.reshape(len(stack), wanted.size, -1)
    layer = wanted[others].astype(np.intp)
    there = (layer > 0) & (layer <= len(stack))
    rows[others[~there]] = np.nan
    rows[others[there]] = flat[layer[there] - 1, others[there]]
    return picked


def require_order(stack: Map, nearer: str | None = None) -> None:
    """Refuses layers that are not in order: none behind a missing one, the nearest first.

    Args:
        stack: (L, H, W) or (L, H, W, C), at most `MOST_LAYERS`.
        nearer: `smaller` or `larger` where values show what is closer; None: they do not.

    Raises:
        BadEstimate: A pixel has a layer without the one before it, or most pixels of several
            layers have them in reverse order.
    """
    if len(stack) > MOST_LAYERS:
        raise BadEstimate(f"it has {len(stack)} layers; at most {MOST_LAYERS} are scored.")
    known = [is_known(layer) for layer in stack]
    for number in range(1, len(stack)):
        gap = known[number] & ~known[number - 1]
        if gap.any():
            row, column = (int(place[0]) for place in np.nonzero(gap))
            raise BadEstimate(
                f"{int(gap.sum())} pixels, the first at column {column} and row {row}, have layer "
                f"{number + 1} but no layer {number}; layers count from the nearest without gaps, "
                "so move the ones behind up."
            )
        if nearer is None or stack.ndim != 3:
            continue
        both = known[number] & known[number - 1]
        before, behind = stack[number - 1][both], stack[number][both]
        turned = behind < before if nearer == "smaller" else behind > before
        if 2 * int(turned.sum()) > both.sum():
            raise BadEstimate(
                f"layer {number + 1} is in front of layer {number} at {int(turned.sum())} of "
                f"{int(both.sum())} pixels; the nearest layer comes first, so turn their order."
            )


def are_rows(values: Map, channels: int) -> bool:
    """Whether an array is a sparse estimate: rows of u, v, layer and the values of that layer."""
    return values.ndim == 2 and values.shape[1] == _NAMED + channels


def layers_from_rows(rows: Map, size: tuple[int, int]) -> Map:
    """A dense stack from rows of u, v, layer (from 1) and the values of that layer.

    Args:
        rows: (N, 3 + C); column u and row v are rounded to the nearest pixel.
        size: Height and width of the picture.

    Raises:
        BadEstimate: A row is outside the picture, its layer is not a whole number from 1, or two
            rows give one layer of one pixel.
    """
    height, width = size
    channels = rows.shape[1] - _NAMED
    known = np.isfinite(rows[:, :_NAMED]).all(axis=1, keepdims=True)
    whole = np.where(known, np.rint(rows[:, :_NAMED]), -1).astype(np.int64)
    column, row, layer = whole.T
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    right = (layer >= 1) & (layer <= MOST_LAYERS) & (layer == rows[:, 2])
    _refuse_rows(rows, ~inside, f"is outside the picture of {width}x{height}")
    _refuse_rows(rows, ~right, f"has a layer that is not a whole number from 1 to {MOST_LAYERS}")
    places = (layer * height + row) * width + column
    order = np.argsort(places, kind="stable")
    again = np.zeros(len(rows), bool)
    again[order[1:]] = places[order[1:]] == places[order[:-1]]
    _refuse_rows(rows, again, "gives a layer of a pixel a second time")
    count = int(layer.max(initial=1))
    stack = np.full((count, height, width, channels), np.nan, np.float32)
    stack[layer - 1, row, column] = rows[:, _NAMED:]
    return stack if channels > 1 else stack[..., 0]


def _refuse_rows(rows: Map, wrong: NDArray[np.bool_], why: str) -> None:
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        shown = ", ".join(f"{value:g}" for value in rows[index].tolist())
        raise BadEstimate(
            f"row {index + 1} ({shown}) {why}; a row is u, v, layer and the values of the layer."
        )
