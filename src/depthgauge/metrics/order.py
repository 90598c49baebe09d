"""Exact order statistics of the absolute error, for every region at once.

The bits of a non-negative float32 grow with its value. A first pass counts, for each atom, the
errors by their upper 15 bits; this gives the bin of each wanted place. A second pass collects only
the errors in those bins, and the exact ones are selected among them. Nothing is sorted as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics.fused.tiles import Pixels, as_numbers
from depthgauge.metrics.moments import channels_of, error_kind, map_recipe, same_size
from depthgauge.metrics.terms import LARGEST, ErrorKind, ErrorName, Order
from depthgauge.types import Map, Mask, Plane, State

_HISTOGRAM_BYTES = 1 << 24
_MOST_ATOMS = 128  # each has a histogram of 128 KiB


def sorted_errors(
    estimate: Map,
    truth: Map,
    plane: Plane,
    region: str,
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
    error: ErrorName | None = None,
) -> State:
    """A state that merges: all absolute errors of a region, sorted."""
    estimate, truth = same_size(estimate, truth)
    inside = plane.members(region)[plane.lookup][plane.codes]
    here, there = estimate[inside], truth[inside]
    kind = error_kind(truth, error)
    if kind == ErrorKind.ANGLE:
        angles = map_recipe(Order(50.0), estimate, truth, error=error)[inside]
        errors = np.sort(angles[np.isfinite(angles)])
        return State(errors.size, int(angles.size - errors.size), values=errors)
    present = (here >= np.float32(low)) & (here <= np.float32(high))
    if truth.ndim == 3:
        present = present.all(axis=-1)
    difference = here[present] - there[present]
    if kind == ErrorKind.DIFFERENCE:
        errors = np.abs(difference).reshape(-1)
    else:
        errors = _sizes(difference.reshape(-1, channels_of(truth)), kind)
    errors.sort()
    return State(errors.size, int(present.size - errors.size), values=errors)


def _sizes(difference: Map, kind: ErrorKind) -> Map:
    """Lengths, or means over the channels, added channel by channel as in the kernels."""
    squared = kind == ErrorKind.LENGTH
    total = np.zeros(len(difference), np.float32)
    with np.errstate(over="ignore"):  # a length beyond float32 is infinite
        for channel in difference.T:
            total += channel * channel if squared else np.abs(channel)
    return np.sqrt(total) if squared else total / np.float32(difference.shape[1])


def count_within(
    estimate: Map,
    truth: Map,
    inside: Mask,
    thresholds: Sequence[float],
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
    error: ErrorName | None = None,
) -> tuple[NDArray[np.int64], int, int]:
    """How many absolute errors of a region are at most each threshold; count and missing.

    Thresholds must ascend and are compared in float32, as in `badpix` and `npx`.
    """
    from depthgauge.metrics.kernels import order as kernels

    estimate, truth = same_size(estimate, truth)
    counts = np.zeros(len(thresholds) + 2, np.int64)
    mask = np.ascontiguousarray(inside, np.bool_).reshape(-1)
    pixels = _numbers(estimate, truth, mask, np.zeros(0, np.int32), low, high, error)
    maps, limits = (pixels.estimate, pixels.truth, mask), (pixels.low, pixels.high)
    kernels.count_within(*maps, *limits, np.array(thresholds, np.float32), counts)
    return np.cumsum(counts[:-2]), int(counts[:-1].sum()), int(counts[-1])


def _numbers(
    estimate: Map,
    truth: Map,
    codes: NDArray[Any],
    lookup: NDArray[np.int32],
    low: float,
    high: float,
    error: ErrorName | None,
) -> Pixels:
    maps, limits = (estimate.reshape(-1), truth.reshape(-1)), (np.float32(low), np.float32(high))
    kind = error_kind(truth, error)
    return as_numbers(Pixels(*maps, codes, lookup, -1, *limits, channels_of(truth), kind))


def _flat(pixels: Pixels) -> tuple[Any, ...]:
    """Pixels that are numbers, as the kernels take them."""
    maps, regions = (pixels.estimate, pixels.truth), (pixels.codes, pixels.lookup)
    return *maps, *regions, pixels.low, pixels.high


def select(
    estimate: Map,
    truth: Map,
    plane: Plane,
    wanted: Iterable[tuple[str, Order]],
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
    error: ErrorName | None = None,
) -> dict[tuple[str, Order], tuple[float, int, int]]:
    """Value, count and missing of each wanted (region, order statistic), in two passes."""
    from depthgauge.metrics.kernels import order as kernels

    estimate, truth = same_size(estimate, truth)
    wanted = list(wanted)
    if plane.atoms.size > _MOST_ATOMS:
        return _select_by_sorting(estimate, truth, plane, wanted, low, high, error)
    codes = np.ascontiguousarray(plane.codes).reshape(-1)
    pixels = _numbers(estimate, truth, codes, plane.lookup, low, high, error)
    n_atoms = plane.atoms.size
    # Fewer chunks if there are many atoms, so that the histograms stay small; the number never
    # depends on the threads.
    chunks = max(1, min(4, _HISTOGRAM_BYTES // (n_atoms * kernels.BINS * 4)))
    histograms = np.zeros((chunks, n_atoms, kernels.BINS), np.uint32)
    lost = np.zeros((chunks, n_atoms), np.int64)
    kernels.count_bins(*_flat(pixels), histograms, lost)
    missing = lost.sum(axis=0)
    per_atom = histograms.sum(axis=0, dtype=np.uint32)
    occupied = np.flatnonzero(per_atom.any(axis=0))  # a few thousand of the bins
    members = {region: plane.members(region) for region, _ in wanted}
    # For each occupied bin, how many errors of a region are in it or below.
    ends = {
        region: np.cumsum(per_atom[inside][:, occupied].sum(axis=0, dtype=np.int64))
        for region, inside in members.items()
    }
    counts = {region: int(up_to[-1]) if up_to.size else 0 for region, up_to in ends.items()}
    ranks = [
        (members[region], int(occupied[i]), rank)
        for region, order in wanted
        if counts[region]
        for i, rank in _places(order, ends[region])
    ]
    values = iter(_collect(pixels, histograms, ranks))
    out: dict[tuple[str, Order], tuple[float, int, int]] = {}
    for region, order in wanted:
        n = counts[region]
        value = order.between(next(values), next(values), n) if n else math.nan
        out[region, order] = (value, n, int(missing[members[region]].sum()))
    return out


def _select_by_sorting(
    estimate: Map,
    truth: Map,
    plane: Plane,
    wanted: list[tuple[str, Order]],
    low: float,
    high: float,
    error: ErrorName | None,
) -> dict[tuple[str, Order], tuple[float, int, int]]:
    """The same, region by region, because histograms of so many atoms would not fit."""
    out: dict[tuple[str, Order], tuple[float, int, int]] = {}
    for region in dict.fromkeys(region for region, _ in wanted):
        state = sorted_errors(estimate, truth, plane, region, low=low, high=high, error=error)
        errors, n = state.values, state.count
        for order in (order for name, order in wanted if name == region):
            value = math.nan
            if errors is not None and n:
                first, second, _ = order.indices(n)
                value = order.between(float(errors[first]), float(errors[second]), n)
            out[region, order] = (value, n, state.missing)
    return out


def _places(order: Order, ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """For both places of an order statistic: the index of the bin, and the rank in the bin."""
    found = []
    for place in order.indices(int(ends[-1]))[:2]:
        i = int(np.searchsorted(ends, place, side="right"))
        found.append((i, place - int(ends[i - 1] if i else 0)))
    return found


def _collect(
    pixels: Pixels,
    histograms: NDArray[np.uint32],
    ranks: list[tuple[NDArray[np.bool_], int, int]],
) -> list[float]:
    """The exact error at each (region, bin, rank)."""
    from depthgauge.metrics.kernels import order as kernels

    bins = sorted({bin_ for _, bin_, _ in ranks})
    if not bins:
        return []
    slots = np.full(histograms.shape[2], -1, np.int32)
    slots[bins] = np.arange(len(bins), dtype=np.int32)
    # One stretch of the buffer for each (bin, atom, chunk), so that no two chunks write to the same
    # place.
    sizes = histograms[:, :, bins].transpose(2, 1, 0).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())])
    begins = starts[:-1].reshape(sizes.shape)
    buffer = np.zeros(int(starts[-1]), np.float32)
    kernels.collect_bins(*_flat(pixels), begins.copy(), slots, buffer)
    ends = starts[1:].reshape(sizes.shape)
    values = []
    for inside, bin_, rank in ranks:
        slot = int(slots[bin_])
        parts = [buffer[begins[slot, a, 0] : ends[slot, a, -1]] for a in np.flatnonzero(inside)]
        parts = [part for part in parts if part.size]
        # In place: the order within a stretch does not matter.
        pool = parts[0] if len(parts) == 1 else np.concatenate(parts)
        pool.partition(rank)
        values.append(float(pool[rank]))
    return values
