"""Sums over all known pixels of two maps in one pass, without a plane of regions.

Block by block, the pixels are summed in the same order as in `moments.py`, so both give the same
bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded
from depthgauge.metrics.kernels import BLOCK, MAX_RUNS, TILE
from depthgauge.metrics.kernels.terms import OVER, SIGNED, SQUARE


def room(*_: Any) -> tuple[NDArray[Any], ...]:
    """The scratch space of a thread: for one run, the pixels of a block, and where runs end."""
    return np.zeros(BLOCK), np.zeros((2, BLOCK), np.float32), np.zeros(2 * MAX_RUNS + 2, np.int32)


@banded("counts", cost=2, room=room)
def whole(
    begin,
    end,
    values,
    kept,
    places,
    estimate,
    truth,
    lowest,
    highest,
    low,
    high,
    kinds,
    params,
    counts,
    missing,
    sums,
):
    """Counts, missing and sums of every term over the known pixels of each tile.

    It is one long function; `runs.py` says why.

    Args:
        begin: First tile.
        end: The index after the last.
        values: See `room`, like the next two.
        kept: The known pixels of a rough block.
        places: Begins and ends of the runs of a block.
        estimate: Flat float32.
        truth: The same.
        lowest: Truths below it are not known.
        highest: And those above it.
        low: Estimates below it are missing.
        high: And those above it.
        kinds: Kind of each term, up to `OVER_BOTH`.
        params: Its two parameters.
        counts: (tiles,).
        missing: The same.
        sums: (tiles, terms).
    """
    for t in range(begin, end):
        for start in range(t * TILE, min((t + 1) * TILE, truth.size), BLOCK):
            stop = min(start + BLOCK, truth.size)
            e, g = estimate[start:stop], truth[start:stop]
            size = g.size
            known = np.int32(0)
            for i in range(size):
                # Numba adds 32-bit numbers as 64-bit ones; cutting back keeps the vectors narrow.
                known = np.int32(known + np.int32((g[i] >= lowest) & (g[i] <= highest)))
            if known == 0:
                continue
            runs = 1
            places[0], places[1] = 0, size
            if known < size:
                changes = np.int32(0)
                for i in range(size - 1):
                    here = (g[i] >= lowest) & (g[i] <= highest)
                    after = (g[i + 1] >= lowest) & (g[i + 1] <= highest)
                    changes = np.int32(changes + np.int32(here != after))
                if changes < MAX_RUNS:
                    runs, inside = 0, False
                    for i in range(size):
                        here = (g[i] >= lowest) & (g[i] <= highest)
                        if here and not inside:
                            places[2 * runs] = i
                        elif inside and not here:
                            places[2 * runs + 1] = i
                            runs += 1
                        inside = here
                    if inside:
                        places[2 * runs + 1] = size
                        runs += 1
                else:
                    n = 0
                    for i in range(size):
                        # Written always and kept if known: no branch that nobody can foresee.
                        kept[0, n], kept[1, n] = e[i], g[i]
                        n += np.int32((g[i] >= lowest) & (g[i] <= highest))
                    e, g = kept[0], kept[1]
                    places[1] = n
            for run in range(runs):
                first, last = places[2 * run], places[2 * run + 1]
                x, r = e[first:last], g[first:last]
                n = x.size
                present = np.int32(0)
                for i in range(n):
                    present = np.int32(present + np.int32((x[i] >= low) & (x[i] <= high)))
                counts[t] += present
                missing[t] += n - present
                for k in range(kinds.size):
                    kind = kinds[k]
                    if kind >= OVER:
                        limit, share, over = np.float32(params[k, 0]), params[k, 1], np.int32(0)
                        if kind == OVER:
                            for i in range(n):
                                hit = (x[i] >= low) & (x[i] <= high)
                                hit &= not (abs(x[i] - r[i]) <= limit)
                                over = np.int32(over + np.int32(hit))
                        else:
                            for i in range(n):
                                off = abs(x[i] - r[i])
                                hit = (x[i] >= low) & (x[i] <= high) & (not (off <= limit))
                                hit &= np.float64(off) > share * abs(np.float64(r[i]))
                                over = np.int32(over + np.int32(hit))
                        sums[t, k] += over
                        continue
                    for i in range(n):
                        error = np.float64(x[i] - r[i]) if (x[i] >= low) & (x[i] <= high) else 0.0
                        sign = 1.0 if (kind == SIGNED) | (error >= 0.0) else -1.0
                        values[i] = error * (error if kind == SQUARE else sign)
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
                    sums[t, k] += (values[0] + values[1]) + (values[2] + values[3])
