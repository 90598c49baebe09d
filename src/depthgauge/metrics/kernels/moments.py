"""The one pass over the pixels: numba kernels behind `moments.py`.

A run is summed by halves, so that wider vector units do not change a bit. Pixels are numbers here:
vectors come as their errors, with nothing to subtract.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.metrics.kernels import BLOCK, TILE
from depthgauge.metrics.kernels.terms import OVER, SIGNED, SQUARE


def room(*_: Any) -> tuple[NDArray[np.float64]]:
    """The scratch space of a thread for one run."""
    return (np.zeros(BLOCK),)


@banded("sums", room=room)
def moments(
    begin,
    end,
    values,
    estimate,
    truth,
    reference,
    low,
    high,
    begins,
    ends,
    atoms,
    found,
    kinds,
    params,
    counts,
    missing,
    sums,
):
    """Counts, missing and sums of every term for every atom of each tile.

    A missing estimate adds nothing to any sum. It is one long function; `runs.py` says why.

    Args:
        begin: First tile.
        end: The index after the last.
        values: See `room`.
        estimate: Flat float32.
        truth: What is subtracted from it; finite at every pixel in a region.
        reference: What errors are compared with: the truth, or the lengths of vectors.
        low: Estimates below it are missing.
        high: And those above it.
        begins: (tiles, runs) see `find_runs`.
        ends: The same.
        atoms: The same.
        found: (tiles,), the same.
        kinds: Kind of each term, up to `OVER_BOTH`.
        params: Its two parameters.
        counts: (tiles, atoms).
        missing: The same.
        sums: (tiles, atoms, terms).
    """
    for t in range(begin, end):
        base = t * TILE
        for run in range(found[t]):
            a = atoms[t, run]
            first, last = base + begins[t, run], base + ends[t, run]
            # Slices begin at 0: only then does the compiler know that no index is negative, and
            # make vectors of the loops.
            x, g, r = estimate[first:last], truth[first:last], reference[first:last]
            n = x.size
            present = np.int32(0)
            for i in range(n):
                # Numba adds 32-bit numbers as 64-bit ones; cutting back keeps the vectors narrow.
                present = np.int32(present + np.int32((x[i] >= low) & (x[i] <= high)))
            counts[t, a] += present
            missing[t, a] += n - present
            for k in range(kinds.size):
                kind = kinds[k]
                if kind >= OVER:
                    limit, share, over = np.float32(params[k, 0]), params[k, 1], np.int32(0)
                    if kind == OVER:
                        for i in range(n):
                            hit = (x[i] >= low) & (x[i] <= high)
                            hit &= not (abs(x[i] - g[i]) <= limit)
                            over = np.int32(over + np.int32(hit))
                    else:
                        for i in range(n):
                            size = abs(x[i] - g[i])
                            hit = (x[i] >= low) & (x[i] <= high) & (not (size <= limit))
                            hit &= np.float64(size) > share * abs(np.float64(r[i]))
                            over = np.int32(over + np.int32(hit))
                    sums[t, a, k] += over
                    continue
                for i in range(n):
                    error = np.float64(x[i] - g[i]) if (x[i] >= low) & (x[i] <= high) else 0.0
                    sign = 1.0 if (kind == SIGNED) | (error >= 0.0) else -1.0
                    values[i] = error * (error if kind == SQUARE else sign)
                # Zeros fill up whole vectors, so no loop has a remainder. Then the upper half is
                # added to the lower: each step is a loop without a carried sum, and the order of
                # additions is the same for vectors of any width.
                left = (n + 31) // 32 * 32
                for i in range(n, left):
                    values[i] = 0.0
                while left > 16:
                    half = (left // 2 + 15) // 16 * 16
                    lower, upper = values[: left - half], values[half:left]
                    for i in range(lower.size):
                        lower[i] += upper[i]
                    left = half
                for i in range(8):
                    values[i] += values[i + 8]
                for i in range(4):
                    values[i] += values[i + 4]
                sums[t, a, k] += (values[0] + values[1]) + (values[2] + values[3])


@compiled()
def sum_rows(values, rows, begins, ends, atoms, found, sums):
    """Adds values of one tile's pixels to the sums of their atoms, in the same order.

    Args:
        values: See `room`.
        rows: (rows, pixels), float64.
        begins: (runs,), see `find_runs`.
        ends: The same.
        atoms: The same.
        found: The number of runs.
        sums: (atoms, rows).
    """
    for run in range(found):
        n = ends[run] - begins[run]
        for row in range(rows.shape[0]):
            line = rows[row, begins[run] : ends[run]]
            for i in range(n):
                values[i] = line[i]
            left = (n + 31) // 32 * 32
            for i in range(n, left):
                values[i] = 0.0
            while left > 16:
                half = (left // 2 + 15) // 16 * 16
                for i in range(left - half):
                    values[i] += values[half + i]
                left = half
            for i in range(8):
                values[i] += values[i + 8]
            for i in range(4):
                values[i] += values[i + 4]
            sums[atoms[run], row] += (values[0] + values[1]) + (values[2] + values[3])
