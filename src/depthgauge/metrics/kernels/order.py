"""The two passes behind `order.py`."""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import pixel_angle
from depthgauge.metrics.kernels.moments import ANGLE, DIFFERENCE, LENGTH, is_within, vector_error

SHIFT = 16
BINS = 1 << (31 - SHIFT)  # the sign bit of an absolute error is 0
BLOCK = 1 << 10  # pixels whose errors stay in the first-level cache


@compiled()
def _fill_errors(errors, estimate, truth, start, stop, low, high, channels, error_kind):
    """The absolute errors of the pixels start..stop, -1 where there is no estimate or no truth."""
    none = np.float32(-1.0)
    # Slices begin at 0: only then does the compiler know that no index is negative.
    errors = errors[: stop - start]
    x = estimate[start * channels : stop * channels]
    g = truth[start * channels : stop * channels]
    if error_kind == DIFFERENCE:
        for i in range(errors.size):
            error = abs(x[i] - g[i])
            errors[i] = error if (x[i] >= low) & (x[i] <= high) & (error >= 0) else none
    elif error_kind == ANGLE:
        for i in range(errors.size):
            error = pixel_angle(x, g, i)
            errors[i] = error if error >= 0 else none
    elif error_kind == LENGTH and channels == 2:
        for i in range(errors.size):
            u, v = x[2 * i], x[2 * i + 1]
            du, dv = u - g[2 * i], v - g[2 * i + 1]
            error = np.sqrt(du * du + dv * dv)
            inside = (u >= low) & (u <= high) & (v >= low) & (v <= high)
            errors[i] = error if inside & (error >= 0) else none
    else:
        for i in range(errors.size):
            error = vector_error(x, g, i, channels, error_kind)
            inside = is_within(x, i, channels, low, high)
            errors[i] = error if inside & (error >= 0) else none


@banded("histograms")
def count_bins(
    begin, end, estimate, truth, codes, lookup, histograms, missing, low, high, channels, error_kind
):
    """Counts errors by upper bits, (chunks, atoms, bins), and missing ones, (chunks, atoms)."""
    n = codes.size
    chunks = histograms.shape[0]
    step = (n + chunks - 1) // chunks
    for c in range(begin, end):
        errors = np.zeros(BLOCK, np.float32)
        bits = errors.view(np.uint32)
        end = min((c + 1) * step, n)
        for start in range(c * step, end, BLOCK):
            stop = min(start + BLOCK, end)
            block = codes[start:stop]
            _fill_errors(errors, estimate, truth, start, stop, low, high, channels, error_kind)
            for i in range(block.size):
                atom, bin_ = lookup[block[i]], bits[i] >> SHIFT
                if bin_ < BINS:
                    histograms[c, atom, bin_] += 1
                else:
                    # Also a pixel without truth: it is in no region.
                    missing[c, atom] += 1


@banded("begins", axis=2)
def collect_bins(
    begin,
    end,
    estimate,
    truth,
    codes,
    lookup,
    begins,
    wanted,
    slots,
    out,
    low,
    high,
    channels,
    error_kind,
):
    """Copies the errors of the wanted bins into `out`; `begins` (bins, atoms, chunks) moves on.

    `wanted` has a 1 for each bin that has a slot, and as many places again: what is missing is
    negative, and its upper bits are beyond the bins.
    """
    n = codes.size
    chunks = begins.shape[2]
    step = (n + chunks - 1) // chunks
    for c in range(begin, end):
        errors = np.zeros(BLOCK, np.float32)
        hits = np.zeros(BLOCK + 1, np.int32)
        bits = errors.view(np.uint32)
        end = min((c + 1) * step, n)
        for start in range(c * step, end, BLOCK):
            stop = min(start + BLOCK, end)
            block = codes[start:stop]
            _fill_errors(errors, estimate, truth, start, stop, low, high, channels, error_kind)
            # First the places of the wanted errors, without a branch that nobody can predict.
            found = 0
            for i in range(block.size):
                hits[found] = i
                found += wanted[bits[i] >> SHIFT]
            for i in hits[:found]:
                slot, atom = slots[bits[i] >> SHIFT], lookup[block[i]]
                out[begins[slot, atom, c]] = errors[i]
                begins[slot, atom, c] += 1


@compiled()
def count_within(estimate, truth, inside, thresholds, counts, low, high, channels, error_kind):
    """Counts errors by the first threshold that they do not exceed; the last place is missing.

    `counts` has one place a threshold, one for larger errors and one for missing estimates.
    """
    errors = np.zeros(BLOCK, np.float32)
    for start in range(0, inside.size, BLOCK):
        stop = min(start + BLOCK, inside.size)
        _fill_errors(errors, estimate, truth, start, stop, low, high, channels, error_kind)
        for i in range(stop - start):
            if not inside[start + i]:
                continue
            if errors[i] < 0:
                counts[thresholds.size + 1] += 1
                continue
            below, above = 0, thresholds.size
            while below < above:
                middle = (below + above) >> 1
                if errors[i] <= thresholds[middle]:
                    above = middle
                else:
                    below = middle + 1
            counts[below] += 1
