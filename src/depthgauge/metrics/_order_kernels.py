"""The two passes behind `order.py`."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from depthgauge._parallel import one_at_a_time

SHIFT = 16
BINS = 1 << (31 - SHIFT)  # the sign bit of an absolute error is 0


@njit(cache=True, inline="always")
def _error(estimate, truth, i, low, high, channels):
    """The absolute error of a pixel, negative where there is no estimate."""
    if channels == 1:
        x = estimate[i]
        return abs(x - truth[i]) if (x >= low) & (x <= high) else np.float32(-1.0)
    u, v = estimate[2 * i], estimate[2 * i + 1]
    if not ((u >= low) & (u <= high) & (v >= low) & (v <= high)):
        return np.float32(-1.0)
    du, dv = u - truth[2 * i], v - truth[2 * i + 1]
    return np.sqrt(du * du + dv * dv)


@one_at_a_time
@njit(cache=True, parallel=True)
def count_bins(estimate, truth, codes, lookup, n_atoms, chunks, low, high, channels):
    """Errors by upper bits, (chunks, atoms, bins), and missing estimates, (atoms,)."""
    n = codes.size
    histograms = np.zeros((chunks, n_atoms, BINS), np.uint32)
    missing = np.zeros((chunks, n_atoms), np.int64)
    step = (n + chunks - 1) // chunks
    for c in prange(chunks):
        cell = np.zeros(1, np.float32)
        bits = cell.view(np.uint32)
        for i in range(c * step, min((c + 1) * step, n)):
            atom = lookup[codes[i]]
            cell[0] = _error(estimate, truth, i, low, high, channels)
            if cell[0] >= 0:
                histograms[c, atom, bits[0] >> SHIFT] += 1
            else:
                # Also a pixel without truth, whose error is NaN: it is in no region.
                missing[c, atom] += 1
    return histograms, missing.sum(axis=0)


@one_at_a_time
@njit(cache=True, parallel=True)
def collect_bins(estimate, truth, codes, lookup, begins, slots, out, low, high, channels):
    """Copies the errors of the wanted bins into `out`; `begins` (bins, atoms, chunks) moves on."""
    n = codes.size
    chunks = begins.shape[2]
    step = (n + chunks - 1) // chunks
    for c in prange(chunks):
        cell = np.zeros(1, np.float32)
        bits = cell.view(np.uint32)
        for i in range(c * step, min((c + 1) * step, n)):
            cell[0] = _error(estimate, truth, i, low, high, channels)
            if cell[0] >= 0:
                slot = slots[bits[0] >> SHIFT]
                if slot >= 0:
                    atom = lookup[codes[i]]
                    out[begins[slot, atom, c]] = cell[0]
                    begins[slot, atom, c] += 1
