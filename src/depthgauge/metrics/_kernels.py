"""The one pass over the pixels: numba kernels behind `moments.py`.

The image is cut into tiles of fixed size; each tile adds its own float64 sums, and tiles are added
in their order, so the number of threads never changes a bit. Inside a tile the pixels are taken in
blocks that stay in the first-level cache, and a block is summed run by run, a run being pixels of
one atom; a block of many short runs is sorted by atom first. A run is summed by halves, so that
wider vector units do not change a bit either.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from depthgauge._compiled import compiled
from depthgauge.geometry._shared_kernels import pixel_angle
from depthgauge.metrics.terms import KINDS

TILE = 1 << 16
BLOCK = 1 << 10
PIECE = 64  # pixels that are looked through at once for a change of atom
MAX_RUNS = 32  # a block with more runs than this is sorted by atom first

ABS, SQUARE, SIGNED = KINDS["abs"], KINDS["square"], KINDS["signed"]
OVER, OVER_BOTH = KINDS["over"], KINDS["over_both"]
RELATIVE, RELATIVE_SQUARE = KINDS["relative"], KINDS["relative_square"]
LOG_SQUARE, LOG, LOG10 = KINDS["log_square"], KINDS["log"], KINDS["log10"]
FIRST_RATIO = RELATIVE  # from here on a term needs the estimate itself, not only the error


@compiled(inline="always")
def _term(kind, first, second, error, estimate, truth):
    """One pixel's value of a term."""
    if kind == ABS:
        return np.float64(abs(error))
    if kind == SQUARE:
        return np.float64(error) * np.float64(error)
    if kind == SIGNED:
        return np.float64(error)
    if kind == OVER:
        return np.float64(not (abs(error) <= np.float32(first)))
    if kind == OVER_BOTH:
        size = np.float64(abs(error))
        above = not (abs(error) <= np.float32(first))
        return np.float64(above and size > second * abs(np.float64(truth)))
    if kind in (RELATIVE, RELATIVE_SQUARE):
        # No error is no relative error, also where the truth is 0.
        size = np.float64(abs(error)) if kind == RELATIVE else np.float64(error) * error
        return size / abs(np.float64(truth)) if error != 0 else 0.0
    ratio = np.float64(estimate) / np.float64(truth)
    if kind == LOG_SQUARE:
        return np.log(ratio) * np.log(ratio)
    if kind == LOG:
        return np.log(ratio)
    if kind == LOG10:
        return abs(np.log10(ratio))
    return np.float64(not (max(ratio, 1.0 / ratio) < first))


@compiled()
def _total(values):
    """The sum of a multiple of 16 values, by adding the upper half to the lower; spoils them.

    Each step is a loop without a carried sum, which the compiler turns into vectors, and the order
    of the additions is the same for vectors of any width.
    """
    n = values.size
    while n > 16:
        half = (n // 2 + 15) // 16 * 16
        low, high = values[: n - half], values[half:n]
        for i in range(low.size):
            low[i] += high[i]
        n = half
    for i in range(8):
        values[i] += values[i + 8]
    for i in range(4):
        values[i] += values[i + 4]
    return (values[0] + values[1]) + (values[2] + values[3])


@compiled()
def _count_over(sizes, limits, counts):
    """Adds to `counts` how many sizes exceed each limit; four limits a pass."""
    for k in range(0, limits.size, 4):
        a, b, c, d = limits[k], limits[k + 1], limits[k + 2], limits[k + 3]
        n_a, n_b, n_c, n_d = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for i in range(sizes.size):
            # Numba adds 32-bit numbers as 64-bit ones; cutting back keeps the vectors narrow.
            n_a = np.int32(n_a + np.int32(not (sizes[i] <= a)))
            n_b = np.int32(n_b + np.int32(not (sizes[i] <= b)))
            n_c = np.int32(n_c + np.int32(not (sizes[i] <= c)))
            n_d = np.int32(n_d + np.int32(not (sizes[i] <= d)))
        counts[k] += n_a
        counts[k + 1] += n_b
        counts[k + 2] += n_c
        counts[k + 3] += n_d


@compiled()
def _sum_term(kind, first, second, error, estimate, truth, sizes, values):
    """Sum of one term over buffers of one atom's pixels; `values` is room for them."""
    # The frequent cases are written out: each is a loop that the compiler turns into vectors.
    if kind == ABS:
        for i in range(values.size):
            values[i] = sizes[i]
    elif kind == SQUARE:
        for i in range(values.size):
            values[i] = np.float64(sizes[i]) * np.float64(sizes[i])
    else:
        for i in range(error.size):
            values[i] = _term(kind, first, second, error[i], estimate[i], truth[i])
        values[error.size :] = 0.0
    return _total(values)


@compiled()
def _add_terms(kinds, params, limits, error, estimate, truth, sizes, values, sums, over):
    """Adds the terms of one atom's pixels to `sums`, how many are over the limits to `over`."""
    n = error.size
    # With zeros up to whole vectors no loop has a rest. Slices begin at 0: only then does the
    # compiler know that no index is negative.
    padded = (n + 31) // 32 * 32
    sizes, values = sizes[:padded], values[:padded]
    for i in range(n):
        sizes[i] = abs(error[i])
    sizes[n:] = np.float32(0.0)
    _count_over(sizes, limits, over)
    for k in range(kinds.size):
        if kinds[k] != OVER:
            sums[k] += _sum_term(
                kinds[k], params[k, 0], params[k, 1], error, estimate, truth, sizes, values
            )


@compiled()
def _changes(codes):
    """Whether the code changes from one pixel to the next anywhere."""
    n = np.int32(0)
    before, after = codes[:-1], codes[1:]
    for i in range(before.size):
        n = np.int32(n + np.int32(before[i] != after[i]))
    return n > 0


@compiled()
def _fill_scalar(estimate, truth, low, high, ratios, error, other, present):
    """Fills one block's buffers: the error, the estimate, and whether there is one.

    Where the estimate is missing it is replaced by the truth, so that every term is 0 there and
    needs no test of its own.
    """
    for i in range(error.size):
        x = estimate[i]
        ok = (x >= low) & (x <= high)
        present[i] = ok
        error[i] = x - truth[i] if ok else np.float32(0.0)
    if ratios:
        for i in range(error.size):
            x = estimate[i]
            other[i] = x if (x >= low) & (x <= high) else truth[i]


@compiled()
def _fill_flow(estimate, truth, low, high, error, other, present):
    """The same for vectors: the error is the end-point error, `other` the truth's length."""
    for i in range(error.size):
        u, v = estimate[2 * i], estimate[2 * i + 1]
        ok = (u >= low) & (u <= high) & (v >= low) & (v <= high)
        du, dv = u - truth[2 * i], v - truth[2 * i + 1]
        error[i] = np.sqrt(du * du + dv * dv) if ok else np.float32(0.0)
        other[i] = np.sqrt(truth[2 * i] * truth[2 * i] + truth[2 * i + 1] * truth[2 * i + 1])
        present[i] = ok


@compiled()
def _fill_angles(estimate, truth, error, other, present):
    """The same for normals: the error is the angle in degrees, `other` says nothing."""
    for i in range(error.size):
        angle = pixel_angle(estimate, truth, i)
        present[i] = angle >= 0
        error[i] = angle if angle >= 0 else np.float32(0.0)
        other[i] = np.float32(1.0)


@compiled()
def _find_runs(codes, lookup, atoms, ends):
    """Stretches of the block that lie in one atom: their atoms and ends.

    Returns how many there are, 0 where they are more than MAX_RUNS.
    """
    runs = 0
    for start in range(0, codes.size, PIECE):
        piece = codes[start : start + PIECE + 1]  # with the first pixel of the next
        if not _changes(piece):
            continue
        for i in range(1, piece.size):
            if piece[i] != piece[i - 1]:
                if runs == MAX_RUNS - 1:
                    return 0
                atoms[runs] = lookup[piece[i - 1]]
                ends[runs] = start + i
                runs += 1
    atoms[runs] = lookup[codes[-1]]
    ends[runs] = codes.size
    return runs + 1


@compiled()
def _sort_by_atom(codes, lookup, atoms, ends, places):
    """The same for the block sorted by atom, and the place of each pixel in it."""
    n_atoms = atoms.size
    ends[:n_atoms] = 0
    for i in range(codes.size):
        ends[lookup[codes[i]]] += 1
    total = 0
    for a in range(n_atoms):
        total, ends[a] = total + ends[a], total
        atoms[a] = a
    for i in range(codes.size):
        a = lookup[codes[i]]
        places[i] = ends[a]
        ends[a] += 1
    return n_atoms


@compiled()
def _permute(values, places, out):
    for i in range(values.size):
        out[places[i]] = values[i]


@compiled()
def _count_true(flags):
    n = np.int32(0)
    for i in range(flags.size):
        n = np.int32(n + np.int32(flags[i]))
    return n


@compiled(parallel=True)
def moments(
    estimate,
    truth,
    codes,
    lookup,
    empty_atom,
    kinds,
    params,
    low,
    high,
    channels,
    all_counts,
    all_missing,
    all_sums,
):
    """Counts, missing and sums of every term for every atom.

    Args:
        estimate: flat float32, `channels` values a pixel.
        truth: the same; finite wherever a pixel is in a region.
        codes: flat plane of the regions; `lookup[code]` is the atom.
        lookup: from code to atom.
        empty_atom: the atom of the pixels that are in no region, or -1; they are not summed.
        kinds: kind of each term.
        params: its two parameters.
        low: estimates below it are missing.
        high: and those above it.
        channels: 1 for maps of numbers, 2 for flow, 3 for normals.
        all_counts: (atoms,), is filled.
        all_missing: (atoms,), is filled.
        all_sums: (atoms, terms), is filled.
    """
    n_atoms = all_counts.size
    n = codes.size
    tiles = (n + TILE - 1) // TILE
    counts = np.zeros((tiles, n_atoms), np.int64)
    missing = np.zeros((tiles, n_atoms), np.int64)
    sums = np.zeros((tiles, n_atoms, kinds.size), np.float64)
    columns = np.flatnonzero(kinds == OVER)
    limits = np.full((columns.size + 3) // 4 * 4, np.inf, np.float32)
    for k in range(columns.size):
        limits[k] = params[columns[k], 0]
    over = np.zeros((tiles, n_atoms, limits.size), np.int64)
    ratios = False
    for k in range(kinds.size):
        ratios |= kinds[k] >= FIRST_RATIO
    for t in prange(tiles):
        buffers = np.zeros((6, BLOCK), np.float32)
        flags = np.zeros((2, BLOCK), np.bool_)
        places = np.zeros(BLOCK, np.int32)
        segments = max(MAX_RUNS, n_atoms)
        atoms = np.zeros(segments, np.int32)
        ends = np.zeros(segments, np.int32)
        values = np.zeros(BLOCK, np.float64)
        for start in range(t * TILE, min((t + 1) * TILE, n), BLOCK):
            stop = min(start + BLOCK, n)
            size = stop - start
            block = codes[start:stop]
            n_segments = _find_runs(block, lookup, atoms, ends)
            if n_segments == 1 and atoms[0] == empty_atom:
                continue
            block_estimate = estimate[start * channels : stop * channels]
            block_truth = truth[start * channels : stop * channels]
            error, other, present = buffers[0, :size], buffers[1, :size], flags[0, :size]
            if channels == 1:
                _fill_scalar(block_estimate, block_truth, low, high, ratios, error, other, present)
            else:
                if channels == 2:
                    _fill_flow(block_estimate, block_truth, low, high, error, other, present)
                else:
                    _fill_angles(block_estimate, block_truth, error, other, present)
                block_truth = other
            if n_segments == 0:
                n_segments = _sort_by_atom(block, lookup, atoms[:n_atoms], ends, places)
                _permute(error, places, buffers[2])
                _permute(other, places, buffers[3])
                _permute(block_truth, places, buffers[4])
                _permute(present, places, flags[1])
                error, other, block_truth = buffers[2], buffers[3], buffers[4]
                present = flags[1]
            begin = 0
            for k in range(n_segments):
                end, a = ends[k], atoms[k]
                if end > begin and a != empty_atom:
                    here = _count_true(present[begin:end])
                    counts[t, a] += here
                    missing[t, a] += end - begin - here
                    _add_terms(
                        kinds,
                        params,
                        limits,
                        error[begin:end],
                        other[begin:end],
                        block_truth[begin:end],
                        buffers[5],
                        values,
                        sums[t, a],
                        over[t, a],
                    )
                begin = end
    all_counts[:] = counts.sum(axis=0)
    all_missing[:] = missing.sum(axis=0)
    all_sums[:] = sums.sum(axis=0)
    for k in range(columns.size):
        all_sums[:, columns[k]] = over[:, :, k].sum(axis=0)


@compiled(parallel=True)
def term_map(estimate, truth, kind, first, second, low, channels, out):
    """One term's value at every pixel; nothing is written where estimate or truth is missing."""
    for i in prange(out.size):
        if channels == 1:
            x, g = estimate[i], truth[i]
            error = x - g
        elif channels == 3:
            error = pixel_angle(estimate, truth, i)
            x, g = error, np.float32(1.0)
        else:
            du = estimate[2 * i] - truth[2 * i]
            dv = estimate[2 * i + 1] - truth[2 * i + 1]
            error = np.sqrt(du * du + dv * dv)
            x = error
            g = np.sqrt(truth[2 * i] * truth[2 * i] + truth[2 * i + 1] * truth[2 * i + 1])
        if np.isfinite(error) and x >= low:
            out[i] = _term(kind, first, second, error, x, g)
