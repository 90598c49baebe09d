"""Estimated boundaries thinned and matched with true ones, at many thresholds at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry.boundary_maps._thinning_kernels import thin_set
from depthgauge.metrics.kernels.matching import match_sets

Array = NDArray[Any]


@compiled()
def _thinned(codes: Array, pixels: Array, level: int, stride: int, deletable: Array) -> Array:
    """Places of the pixels whose code is at least the level, thinned."""
    chosen = np.zeros(pixels.size, np.int64)
    n = 0
    for i in range(pixels.size):
        if codes[pixels[i]] >= level:
            chosen[n] = pixels[i]
            n += 1
    chosen = chosen[:n]
    on = np.zeros(codes.size, np.uint8)
    for i in range(n):
        on[chosen[i]] = 1
    thin_set(on, chosen, stride, deletable)
    kept = 0
    for i in range(n):
        if on[chosen[i]]:
            chosen[kept] = chosen[i]
            kept += 1
    return chosen[:kept]


@compiled()
def _count_at(
    places: Array,
    true_places: Array,
    starts: Array,
    true_at: Array,
    true_reach: Array,
    steps: Array,
    squares: Array,
    stride: int,
    counts: Array,
) -> None:
    """Adds to the four counts: true pixels matched and total, then estimated ones."""
    hit = np.zeros(places.size, np.bool_)
    at = np.full(true_at.shape[1], -1, np.int32)
    for i in range(places.size):
        at[places[i]] = i
    for t in range(starts.size - 1):
        of_truth = true_places[starts[t] : starts[t + 1]]
        mates = np.full(places.size, -1, np.int64)
        true_mates = np.full(of_truth.size, -1, np.int64)
        truth = (of_truth, true_at[t], true_reach[t])
        match_sets(places, at, *truth, steps, squares, stride, mates, true_mates)
        for i in range(places.size):
            if mates[i] >= 0:
                hit[i] = True
                counts[0] += 1
        counts[1] += of_truth.size
    counts[2] += np.count_nonzero(hit)
    counts[3] += places.size


@banded("levels", cost=1000)
def count_matches(
    begin: int,
    end: int,
    codes: Array,
    pixels: Array,
    levels: Array,
    true_places: Array,
    starts: Array,
    true_at: Array,
    true_reach: Array,
    steps: Array,
    squares: Array,
    stride: int,
    deletable: Array,
    counts: Array,
) -> None:
    """The four counts at each level; the levels do not depend on each other.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        codes: Flattened plane of the estimate, uint8.
        pixels: Places whose code is not 0.
        levels: The smallest code of each threshold.
        true_places: Places of the true pixels, one truth after the other.
        starts: (truths + 1,) where each truth starts among them, and where the last one ends.
        true_at: (truths, plane) numbers of true pixels, -1 elsewhere.
        true_reach: (truths, plane) what is within the radius of a truth.
        steps: See `match_sets`.
        squares: See `match_sets`.
        stride: Width of the plane.
        deletable: Rules of thinning, see `DELETABLE`.
        counts: (levels, 4), zeros.
    """
    for i in range(begin, end):
        places = _thinned(codes, pixels, levels[i], stride, deletable)
        _count_at(
            places, true_places, starts, true_at, true_reach, steps, squares, stride, counts[i]
        )
