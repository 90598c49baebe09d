"""The two passes behind `order.py`, over pixels that are numbers."""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import banded, compiled

SHIFT = 16
BINS = 1 << (31 - SHIFT)  # the sign bit of an absolute error is 0


@banded("histograms")
def count_bins(begin, end, estimate, truth, codes, lookup, low, high, histograms, missing):
    """Counts errors by upper bits, (chunks, atoms, bins), and missing ones, (chunks, atoms)."""
    step = (codes.size + histograms.shape[0] - 1) // histograms.shape[0]
    for c in range(begin, end):
        for i in range(c * step, min((c + 1) * step, codes.size)):
            x, atom = estimate[i], lookup[codes[i]]
            error = np.float32(abs(x - truth[i]))
            if (x >= low) & (x <= high) & (error >= 0):
                histograms[c, atom, error.view(np.uint32) >> SHIFT] += 1
            else:
                # This includes pixels without truth: they are in no region.
                missing[c, atom] += 1


@banded("begins", axis=2)
def collect_bins(begin, end, estimate, truth, codes, lookup, low, high, begins, slots, out):
    """Copies the errors of the bins that have a slot; `begins` (slots, atoms, chunks) advances."""
    step = (codes.size + begins.shape[2] - 1) // begins.shape[2]
    for c in range(begin, end):
        for i in range(c * step, min((c + 1) * step, codes.size)):
            x = estimate[i]
            error = np.float32(abs(x - truth[i]))
            if (x >= low) & (x <= high) & (error >= 0):
                slot = slots[error.view(np.uint32) >> SHIFT]
                if slot >= 0:
                    atom = lookup[codes[i]]
                    out[begins[slot, atom, c]] = error
                    begins[slot, atom, c] += 1


@compiled()
def count_within(estimate, truth, inside, low, high, thresholds, counts):
    """Counts errors by the first threshold that they do not exceed; the last place is missing.

    `counts` has one place per threshold, one for larger errors and one for missing estimates.
    """
    for i in range(inside.size):
        if not inside[i]:
            continue
        x = estimate[i]
        error = np.float32(abs(x - truth[i]))
        if not ((x >= low) & (x <= high) & (error >= 0)):
            counts[thresholds.size + 1] += 1
            continue
        below, above = 0, thresholds.size
        while below < above:
            middle = (below + above) >> 1
            if error <= thresholds[middle]:
                above = middle
            else:
                below = middle + 1
        counts[below] += 1
