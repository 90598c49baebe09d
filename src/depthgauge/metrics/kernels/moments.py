"""The one pass over the pixels: numba kernels behind `moments.py`.

The image is cut into tiles of fixed size; each tile adds its own float64 sums, and tiles are added
in their order, so the number of threads never changes a bit. Inside a tile the pixels are taken in
blocks that stay in the first-level cache, and a block is summed run by run, a run being pixels of
one atom; a block of many short runs is sorted by atom first. A run is summed by halves, so that
wider vector units do not change a bit either.
"""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import pixel_angle
from depthgauge.metrics.terms import ErrorKind, Kind

TILE = 1 << 16
BLOCK = 1 << 10
PIECE = 64  # pixels that are looked through at once for a change of atom
MAX_RUNS = 32  # a block with more runs than this is sorted by atom first

ABS, SQUARE, SIGNED = int(Kind.ABS), int(Kind.SQUARE), int(Kind.SIGNED)
OVER, OVER_BOTH = int(Kind.OVER), int(Kind.OVER_BOTH)
RELATIVE, RELATIVE_SQUARE = int(Kind.RELATIVE), int(Kind.RELATIVE_SQUARE)
LOG_SQUARE, LOG, LOG10 = int(Kind.LOG_SQUARE), int(Kind.LOG), int(Kind.LOG10)
BEYOND = int(Kind.BEYOND)
FIRST_RATIO = RELATIVE  # from here on a term needs the estimate itself, not only the error
CASES = {ABS, SQUARE, SIGNED, OVER, OVER_BOTH, RELATIVE, RELATIVE_SQUARE}
CASES |= {LOG_SQUARE, LOG, LOG10, BEYOND}
if set(Kind) != CASES:
    raise ImportError(f"_term has no case for {sorted(k.name for k in set(Kind) - set(CASES))}")

DIFFERENCE, LENGTH = int(ErrorKind.DIFFERENCE), int(ErrorKind.LENGTH)
ANGLE, CHANNELS = int(ErrorKind.ANGLE), int(ErrorKind.CHANNELS)


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
    if kind == BEYOND:
        return np.float64(not (max(ratio, 1.0 / ratio) < first))
    return np.nan  # no such kind; no number may be taken for its value


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
def _add_given(given, begin, end, values, sums):
    """Adds the given values of one atom's pixels to `sums`, one row after the other."""
    n = end - begin
    padded = (n + 31) // 32 * 32
    for row in range(given.shape[0]):
        for i in range(n):
            values[i] = given[row, begin + i]
        values[n:padded] = 0.0
        sums[row] += _total(values[:padded])


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
def vector_size(values, i, channels, kind):
    """How large a pixel is: its length, or the mean of its channels' sizes."""
    total = np.float32(0.0)
    for c in range(channels):
        x = values[channels * i + c]
        total += x * x if kind == LENGTH else abs(x)
    return np.sqrt(total) if kind == LENGTH else total / np.float32(channels)


@compiled()
def vector_error(estimate, truth, i, channels, kind):
    """The same of the difference of two pixels."""
    total = np.float32(0.0)
    for c in range(channels):
        d = estimate[channels * i + c] - truth[channels * i + c]
        total += d * d if kind == LENGTH else abs(d)
    return np.sqrt(total) if kind == LENGTH else total / np.float32(channels)


@compiled()
def is_within(values, i, channels, low, high):
    """Whether all channels of a pixel are in the range; NaN is not."""
    ok = True
    for c in range(channels):
        x = values[channels * i + c]
        ok &= (x >= low) & (x <= high)
    return ok


@compiled()
def _fill_vectors(estimate, truth, low, high, channels, kind, error, other, present):
    """The same for any number of channels."""
    for i in range(error.size):
        ok = is_within(estimate, i, channels, low, high)
        present[i] = ok
        error[i] = vector_error(estimate, truth, i, channels, kind) if ok else np.float32(0.0)
        other[i] = vector_size(truth, i, channels, kind)


@compiled()
def fill(estimate, truth, low, high, channels, error_kind, ratios, error, other, present):
    """Fills the buffers of some pixels, whatever the kind of their error.

    `other` is the estimate of numbers (where `ratios` says that it is needed), and the truth's size
    of everything else.
    """
    if error_kind == DIFFERENCE:
        _fill_scalar(estimate, truth, low, high, ratios, error, other, present)
    elif error_kind == ANGLE:
        _fill_angles(estimate, truth, error, other, present)
    elif error_kind == LENGTH and channels == 2:
        _fill_flow(estimate, truth, low, high, error, other, present)
    else:
        _fill_vectors(estimate, truth, low, high, channels, error_kind, error, other, present)


@compiled()
def term_values(kind, first, second, error, estimate, truth, out):
    """One term's value of each pixel of filled buffers."""
    for i in range(out.size):
        out[i] = _term(kind, first, second, error[i], estimate[i], truth[i])


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


@compiled()
def sum_tile(
    t,
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
    error_kind,
    given,
    counts,
    missing,
    sums,
    over,
):
    """Counts, missing and sums of every term for every atom of one tile.

    Args:
        t: number of the tile.
        estimate: flat float32, `channels` values per pixel.
        truth: the same; finite wherever a pixel is in a region.
        codes: flat plane of the regions; `lookup[code]` is the atom.
        lookup: from code to atom.
        empty_atom: the atom of the pixels that are in no region, or -1; they are not summed.
        kinds: kind of each term.
        params: its two parameters.
        low: estimates below it are missing.
        high: and those above it.
        channels: numbers per pixel.
        error_kind: how two pixels are compared.
        given: (rows, pixels of the tile), float64: values that were computed elsewhere, 0 where
            they do not count.
        counts: (tiles, atoms), is filled for this tile.
        missing: the same.
        sums: (tiles, atoms, terms + rows), is filled for this tile.
        over: (tiles, atoms, limits), is filled for this tile.
    """
    n_atoms = counts.shape[1]
    n = codes.size
    n_kinds = kinds.size
    # Plain loops here and below: functions of arrays would double the time to compile this.
    limits = np.full(over.shape[2], np.inf, np.float32)
    n_limits = 0
    ratios = False
    for k in range(n_kinds):
        ratios |= kinds[k] >= FIRST_RATIO
        if kinds[k] == OVER:
            limits[n_limits] = params[k, 0]
            n_limits += 1
    buffers = np.zeros((6, BLOCK), np.float32)
    flags = np.zeros((2, BLOCK), np.bool_)
    places = np.zeros(BLOCK, np.int32)
    segments = max(MAX_RUNS, n_atoms)
    atoms = np.zeros(segments, np.int32)
    ends = np.zeros(segments, np.int32)
    values = np.zeros(BLOCK, np.float64)
    rows = np.zeros((given.shape[0], BLOCK), np.float64)
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
        fill(
            block_estimate,
            block_truth,
            low,
            high,
            channels,
            error_kind,
            ratios,
            error,
            other,
            present,
        )
        if error_kind != DIFFERENCE:
            block_truth = other
        here = start - t * TILE
        if n_segments == 0:
            n_segments = _sort_by_atom(block, lookup, atoms[:n_atoms], ends, places)
            _permute(error, places, buffers[2])
            _permute(other, places, buffers[3])
            _permute(block_truth, places, buffers[4])
            _permute(present, places, flags[1])
            error, other, block_truth = buffers[2], buffers[3], buffers[4]
            present = flags[1]
            for row in range(given.shape[0]):
                _permute(given[row, here : here + size], places, rows[row])
        else:
            for row in range(given.shape[0]):
                for i in range(size):
                    rows[row, i] = given[row, here + i]
        begin = 0
        for k in range(n_segments):
            end, a = ends[k], atoms[k]
            if end > begin and a != empty_atom:
                known = _count_true(present[begin:end])
                counts[t, a] += known
                missing[t, a] += end - begin - known
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
                _add_given(rows, begin, end, values, sums[t, a, n_kinds:])
            begin = end


@banded("counts")
def moments(
    begin,
    end,
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
    error_kind,
    counts,
    missing,
    sums,
    over,
):
    """The same of all tiles, where nothing is given."""
    none = np.zeros((0, 0), np.float64)
    for t in range(begin, end):
        sum_tile(
            t,
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
            error_kind,
            none,
            counts,
            missing,
            sums,
            over,
        )


@compiled()
def find_inside(codes, lookup, empty_atom, present, here, absent):
    """The places of the pixels in a region, with an estimate and without; how many there are."""
    n_here, n_absent = 0, 0
    for i in range(codes.size):
        if lookup[codes[i]] != empty_atom:
            if present[i]:
                here[n_here] = i
                n_here += 1
            else:
                absent[n_absent] = i
                n_absent += 1
    return n_here, n_absent


@banded("out")
def term_map(begin, end, estimate, truth, kind, first, second, low, channels, error_kind, out):
    """One term's value at every pixel; nothing is written where estimate or truth is missing."""
    for i in range(begin, end):
        if error_kind == DIFFERENCE:
            x, g = estimate[i], truth[i]
            error = x - g
        elif error_kind == ANGLE:
            error = pixel_angle(estimate, truth, i)
            x, g = error, np.float32(1.0)
        elif error_kind == LENGTH and channels == 2:
            du = estimate[2 * i] - truth[2 * i]
            dv = estimate[2 * i + 1] - truth[2 * i + 1]
            error = np.sqrt(du * du + dv * dv)
            x = error
            g = np.sqrt(truth[2 * i] * truth[2 * i] + truth[2 * i + 1] * truth[2 * i + 1])
        else:
            error = vector_error(estimate, truth, i, channels, error_kind)
            x, g = error, vector_size(truth, i, channels, error_kind)
        if np.isfinite(error) and x >= low:
            out[i] = _term(kind, first, second, error, x, g)
