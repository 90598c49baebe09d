"""Maps over the methods of one sample: where each is better than the others, and what is hard.

Estimates are M maps, or one array (M, H, W[, C]), NaN where a method has none.
"""

from __future__ import annotations

import numpy as np

from depthgauge.analysis.maps.stacks import Stack, absolute_errors, by_blocks, known_median
from depthgauge.quantities import ErrorKind
from depthgauge.types import Map


def median_difference_map(
    estimates: Stack, truth: Map, method: int, *, error: ErrorKind | None = None
) -> Map:
    """The |error| of one method minus the median |error| of all (MedianDiff, Honauer 2019).

    Negative where that method is better than the median, as in reports and on sites. Methods
    without an estimate at a pixel are left out of its median; for an even number the two middle
    errors are averaged. NaN where there is no truth or that method has no estimate.

    Args:
        estimates: All methods, including that one.
        truth: The truth, NaN where unknown.
        method: Index of that method.
        error: How values are compared, see `absolute_errors`.

    >>> stack = [np.array([[d]]) for d in (1.0, 2.0, 5.0)]
    >>> median_difference_map(stack, np.array([[0.0]]), 0).tolist()
    [[-1.0]]
    """

    def work(block: Map, known: Map) -> Map:
        errors = absolute_errors(block, known, error)
        return np.asarray(errors[method] - known_median(errors))

    return by_blocks(estimates, truth, truth.shape[:2], work)


def share_wrong(
    estimates: Stack, truth: Map, threshold: float, *, error: ErrorKind | None = None
) -> Map:
    """Share (0..1) of methods whose error at a pixel exceeds the threshold or is missing.

    NaN where there is no truth. 1 marks pixels that no method gets right.
    """

    def work(block: Map, known: Map) -> Map:
        wrong = ~(absolute_errors(block, known, error) <= np.float32(threshold))
        share = wrong.mean(axis=0)
        finite = np.isfinite(known) if known.ndim == 2 else np.isfinite(known).all(axis=-1)
        return np.where(finite, share, np.nan).astype(np.float32)

    return by_blocks(estimates, truth, truth.shape[:2], work)


def least_error(estimates: Stack, truth: Map, *, error: ErrorKind | None = None) -> Map:
    """The smallest |error| of all methods at each pixel; NaN where none has an estimate."""

    def work(block: Map, known: Map) -> Map:
        return np.asarray(np.fmin.reduce(absolute_errors(block, known, error), axis=0))

    return by_blocks(estimates, truth, truth.shape[:2], work)


def median_error(estimates: Stack, truth: Map, *, error: ErrorKind | None = None) -> Map:
    """The median |error| of the methods that have an estimate at a pixel; NaN where none has."""

    def work(block: Map, known: Map) -> Map:
        return known_median(absolute_errors(block, known, error))

    return by_blocks(estimates, truth, truth.shape[:2], work)


def best_method(estimates: Stack, truth: Map, *, error: ErrorKind | None = None) -> Map:
    """The index of the method with the smallest |error| at each pixel.

    -1 where several share the smallest error; NaN where none has an estimate, or there is no truth.

    >>> stack = [np.array([[1.0, 3.0, 2.0]]), np.array([[2.0, 1.0, 2.0]])]
    >>> best_method(stack, np.zeros((1, 3))).tolist()
    [[0.0, 1.0, -1.0]]
    """

    def work(block: Map, known: Map) -> Map:
        errors = absolute_errors(block, known, error)
        least = np.fmin.reduce(errors, axis=0)
        shared = (errors == least).sum(axis=0) > 1
        first = np.argmax(errors == least, axis=0)
        return np.where(np.isnan(least), np.nan, np.where(shared, -1, first)).astype(np.float32)

    return by_blocks(estimates, truth, truth.shape[:2], work)
