"""Maps of several methods at once, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.angles import angles_between
from depthgauge.quantities import QUANTITIES, ErrorKind, guess
from depthgauge.types import Map

Stack = Sequence[Map] | NDArray[np.float32]
"""The estimates of M methods of one sample: M maps, or one array (M, H, W[, C])."""

_BLOCK_BYTES = 1 << 22


def by_blocks(
    estimates: Stack, truth: Map, shape: tuple[int, ...], work: Callable[[Map, Map], Map]
) -> Map:
    """Fills a map of that shape, block by block: 10 methods of 12 Mpx need no second copy.

    Args:
        estimates: The estimates that fill each block's (M, h, W[, C]) array; missing vectors are
            all NaN.
        truth: The truth, of the same size.
        shape: Shape of the resulting map.
        work: Computes a block of the map from the block's estimates and truth.
    """
    _check(estimates, truth)
    made = np.full(shape, np.nan, np.float32)
    for rows in _row_blocks(len(estimates), truth):
        block = np.stack([np.asarray(each[rows], np.float32) for each in estimates])
        known = np.isfinite(block) if block.ndim == 3 else np.isfinite(block).all(axis=-1)
        block[~known] = np.nan
        made[rows] = work(block, truth[rows])
    return made


def _check(estimates: Stack, truth: Map) -> None:
    if not len(estimates):
        raise Misuse("there are no estimates to combine; give at least one.")
    for i, each in enumerate(estimates):
        if each.shape != truth.shape:
            raise WrongShape(f"estimate {i} is {each.shape} but the truth is {truth.shape}.")


def _row_blocks(methods: int, truth: Map) -> Iterator[slice]:
    row_bytes = 4 * methods * max(1, truth[:1].size)
    step = max(1, _BLOCK_BYTES // row_bytes)
    for start in range(0, truth.shape[0], step):
        yield slice(start, start + step)


def absolute_errors(block: Map, truth: Map, error: ErrorKind | None = None) -> Map:
    """(M, h, W): |estimate - truth|; NaN where either is missing.

    Args:
        block: (M, h, W[, C]).
        truth: (h, W[, C]).
        error: How values are compared: for vectors (`length`) it is the length of their difference,
            for directions (`angle`) the angle between them in degrees, for `channels` the mean over
            them. By default as for disparity, flow or normals, by the number of channels.
    """
    error = error or error_kind(truth)
    if error == "angle":
        return angles_between(block, truth)
    with np.errstate(invalid="ignore", over="ignore"):
        away = block - truth
        if truth.ndim == 2:
            errors = np.abs(away)
        elif error == "channels":
            errors = np.abs(away).mean(axis=-1)
        else:
            errors = np.sqrt(sum(away[..., c] ** 2 for c in range(truth.shape[2])))
    errors[~np.isfinite(errors)] = np.nan
    return np.asarray(errors, np.float32)


def error_kind(truth: Map) -> ErrorKind:
    """How maps are compared if their quantity is not given, by the number of channels."""
    return QUANTITIES[guess(truth.shape[2] if truth.ndim == 3 else 1)].error


def unit_vectors(values: Map) -> Map:
    """(..., 3) normals with length 1; NaN where there is no direction.

    >>> unit_vectors(np.array([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 0.0, -1.0], [nan, nan, nan]]
    """
    length = np.linalg.norm(values, axis=-1, keepdims=True)
    there = np.isfinite(length) & (length > 0)
    made = np.divide(values, length, out=np.full(values.shape, np.nan), where=there)
    return np.asarray(made, np.float32)


def known_median(values: Map) -> Map:
    """Median over the first axis without NaN; for an even number the mean of the two middle ones.

    >>> known_median(np.array([[1.0, np.nan], [4.0, np.nan], [np.nan, np.nan]])).tolist()
    [2.5, nan]
    """
    ordered = np.sort(values, axis=0)  # NaN goes to the end
    n = (~np.isnan(values)).sum(axis=0, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(n - 1, 0) // 2, axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(n // 2, len(values) - 1), axis=0)[0]
    return np.asarray(low + (high - low) / 2)
