"""The passes over pixels of the light-field twin.

Maps at the high resolution are stored from the bottom up, as in their files; masks and labels from
the top down. The enlarged estimate is never stored: its row y and column x is
`estimate[rows[y], columns[x]]`. Rows are split into a fixed number of chunks, so that no number
depends on the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.benchmarks.twins._hci4d_regions import ABOVE, BAD, BELOW, FARTHER, NEARER, SQUARE
from depthgauge.types import Map, Mask

CHUNKS = 16
SHIFT = 16
UPPER_BINS = 1 << (31 - SHIFT)  # the sign bit of an absolute error is 0
LOWER_BINS = 1 << SHIFT
MEMBERS, PRESENT, HITS = range(3)
"""Places of the counts of a region: its pixels, those with a finite estimate, those that hit."""
_Ints = NDArray[Any]


@compiled()
def _enlarge(out: Map, row: Map, columns: _Ints) -> None:
    for x in range(out.size):
        out[x] = row[columns[x]]


@compiled()
def _fill_errors(out: Map, d: Map, g: Map) -> None:
    """Absolute errors, -1 where estimate or truth is not finite."""
    for x in range(out.size):
        finite = (d[x] - d[x] == 0) & (g[x] - g[x] == 0)
        out[x] = abs(g[x] - d[x]) if finite else np.float32(-1.0)


@compiled()
def _count_over(d: Map, g: Map, threshold: float) -> int:
    # NaN is not greater than anything: it counts as right, an infinity as wrong.
    n = 0
    for x in range(d.size):
        n += abs(g[x] - d[x]) > threshold
    return n


@compiled()
def _add_squares(errors: Map) -> float:
    # Four sums, so that no addition waits for the previous one.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    none = np.float32(0.0)
    whole = errors.size - errors.size % 4
    for x in range(0, whole, 4):
        p, q = max(errors[x], none), max(errors[x + 1], none)
        r, s = max(errors[x + 2], none), max(errors[x + 3], none)
        a += p * p
        b += q * q
        c += r * r
        d += s * s
    for x in range(whole, errors.size):
        a += max(errors[x], none) * max(errors[x], none)
    return (a + b) + (c + d)


@compiled()
def _count_hits(d: Map, g: Map, inside: Mask, rule: int, t: float, beside: float) -> int:
    n = 0
    half = np.float32(0.5)
    if rule == BAD:
        for x in range(d.size):
            n += inside[x] & (abs(g[x] - d[x]) > t)
    elif rule == BELOW:
        for x in range(d.size):
            n += inside[x] & (g[x] - d[x] < -t)
    elif rule == ABOVE:
        for x in range(d.size):
            n += inside[x] & (g[x] - d[x] > t)
    elif rule == NEARER:
        for x in range(d.size):
            n += inside[x] & (d[x] > half * (beside + g[x]))
    elif rule == FARTHER:
        for x in range(d.size):
            n += inside[x] & (d[x] < half * (beside + g[x]))
    return n


@compiled()
def _count_members(d: Map, inside: Mask, counts: _Ints) -> None:
    members, present = 0, 0
    for x in range(d.size):
        members += inside[x]
        present += inside[x] & (d[x] - d[x] == 0)
    counts[MEMBERS] += members
    counts[PRESENT] += present


@compiled()
def _add_masked_squares(d: Map, g: Map, inside: Mask, counts: _Ints) -> float:
    total, n = 0.0, 0
    for x in range(d.size):
        if inside[x] & (d[x] - d[x] == 0) & (g[x] - g[x] == 0):
            error = g[x] - d[x]
            total += error * error
            n += 1
    counts[HITS] += n
    return total


@banded("bins")
def measure(
    begin: int,
    end: int,
    estimate: Map,
    rows: _Ints,
    columns: _Ints,
    truth: Map,
    border: int,
    thresholds: Map,
    over: _Ints,
    squares: NDArray[np.float64],
    bins: _Ints,
    masks: Mask,
    rules: _Ints,
    limits: Map,
    beside: Map,
    counts: _Ints,
    sums: NDArray[np.float64],
) -> None:
    """Everything that one pass can compute from a map without its border.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        estimate: (h, w).
        rows: For each row of the truth, the row of the estimate that it is compared with.
        columns: The same for columns.
        truth: (H, W), from the bottom up.
        border: Rows and columns left out on every side.
        thresholds: Thresholds for the whole map; empty if only the masks are wanted.
        over: (chunks, thresholds) errors above each.
        squares: (chunks,) sum of squared errors.
        bins: (chunks, UPPER_BINS) errors by their upper bits.
        masks: (regions, H, W).
        rules: (regions,) what counts in each.
        limits: (regions,) the threshold of each.
        beside: (regions, H) the reference of each row, if the rule has one.
        counts: (chunks, regions, 3) members, present and hits.
        sums: (chunks, regions) squared errors, if that is the rule.
    """
    height, width = truth.shape
    step = (height + CHUNKS - 1) // CHUNKS
    low, high = border, width - border
    for c in range(begin, end):
        d = np.zeros(max(high - low, 0), np.float32)
        errors = np.zeros(d.size, np.float32)
        bits = errors.view(np.uint32)
        taken = -1
        for y in range(max(c * step, border), min((c + 1) * step, height - border)):
            g = truth[height - 1 - y, low:high]
            if rows[y] != taken:
                taken = rows[y]
                _enlarge(d, estimate[taken], columns[low:high])
            if thresholds.size:
                for i in range(thresholds.size):
                    over[c, i] += _count_over(d, g, thresholds[i])
                _fill_errors(errors, d, g)
                squares[c] += _add_squares(errors)
                for x in range(errors.size):
                    if bits[x] >> SHIFT < UPPER_BINS:
                        bins[c, bits[x] >> SHIFT] += 1
            for k in range(masks.shape[0]):
                inside = masks[k, y, low:high]
                _count_members(d, inside, counts[c, k])
                if rules[k] == SQUARE:
                    sums[c, k] += _add_masked_squares(d, g, inside, counts[c, k])
                else:
                    counts[c, k, HITS] += _count_hits(
                        d, g, inside, rules[k], limits[k], beside[k, y]
                    )


@banded("bins")
def narrow(
    begin: int,
    end: int,
    estimate: Map,
    rows: _Ints,
    columns: _Ints,
    truth: Map,
    border: int,
    upper: int,
    bins: _Ints,
) -> None:
    """Counts the errors of one upper bin by their lower bits, (chunks, LOWER_BINS)."""
    height, width = truth.shape
    step = (height + CHUNKS - 1) // CHUNKS
    low, high = border, width - border
    for c in range(begin, end):
        d = np.zeros(max(high - low, 0), np.float32)
        errors = np.zeros(d.size, np.float32)
        bits = errors.view(np.uint32)
        taken = -1
        for y in range(max(c * step, border), min((c + 1) * step, height - border)):
            if rows[y] != taken:
                taken = rows[y]
                _enlarge(d, estimate[taken], columns[low:high])
            _fill_errors(errors, d, truth[height - 1 - y, low:high])
            for x in range(errors.size):
                if bits[x] >> SHIFT == upper:
                    bins[c, bits[x] & (LOWER_BINS - 1)] += 1


@banded("table")
def count_dots(
    begin: int,
    end: int,
    estimate: Map,
    rows: _Ints,
    columns: _Ints,
    truth: Map,
    boxes: _Ints,
    dots: _Ints,
    threshold: float,
    table: _Ints,
) -> None:
    """Pixels and bad pixels of each dot, by box and dot label, (chunks, boxes, labels, 2).

    A dot label beyond the last place of the table counts there. A box without dots has a mark at
    label 0.
    """
    height, width = truth.shape
    step = (height + CHUNKS - 1) // CHUNKS
    last = table.shape[2] - 1
    for c in range(begin, end):
        d = np.zeros(width, np.float32)
        taken = -1
        for y in range(c * step, min((c + 1) * step, height)):
            if rows[y] != taken:
                taken = rows[y]
                _enlarge(d, estimate[taken], columns)
            before = -1
            for x in range(width):
                box = boxes[y, x]
                if box != before:
                    table[c, box, 0, 0] = 1
                    before = box
                if dots[y, x] > 0:
                    dot = min(dots[y, x], last)
                    table[c, box, dot, 0] += 1
                    table[c, box, dot, 1] += abs(truth[height - 1 - y, x] - d[x]) > threshold


@compiled()
def _across(values: NDArray[np.float64], y: int, x: int) -> Any:
    """The Scharr derivative along a row; taps with weight 0 are not read."""
    return (
        3.0 * (values[y - 1, x + 1] - values[y - 1, x - 1])
        + 10.0 * (values[y, x + 1] - values[y, x - 1])
        + 3.0 * (values[y + 1, x + 1] - values[y + 1, x - 1])
    )


@compiled()
def _down(values: NDArray[np.float64], y: int, x: int) -> Any:
    """The same along a column."""
    return (
        3.0 * (values[y + 1, x - 1] - values[y - 1, x - 1])
        + 10.0 * (values[y + 1, x] - values[y - 1, x])
        + 3.0 * (values[y + 1, x + 1] - values[y - 1, x + 1])
    )


@banded("values")
def differentiate(
    begin: int,
    end: int,
    values: NDArray[np.float64],
    across: NDArray[np.float64],
    down: NDArray[np.float64],
) -> None:
    """Both first derivatives, where a unit slope is 2; the outermost pixels are not changed."""
    height, width = values.shape
    for y in range(max(begin, 1), min(end, height - 1)):
        for x in range(1, width - 1):
            across[y, x] = _across(values, y, x) / 16.0
            down[y, x] = _down(values, y, x) / 16.0


@banded("out", cost=10)
def bend(
    begin: int,
    end: int,
    across: NDArray[np.float64],
    down: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The Frobenius norm of the second derivatives."""
    height, width = out.shape
    for y in range(max(begin, 2), min(end, height - 2)):
        for x in range(2, width - 2):
            xx, xy = _across(across, y, x) / 16.0, _down(across, y, x) / 16.0
            yy, yx = _down(down, y, x) / 16.0, _across(down, y, x) / 16.0
            out[y, x] = np.sqrt(xx * xx + xy * xy + yy * yy + yx * yx)


@compiled()
def _fill_normal(out: NDArray[np.float64], z: Map, y: int, x: int, lateral: float) -> None:
    """The unit normal of a depth map as in the evaluator; NaN where there is none.

    A pixel's place is its index times depth times `lateral`: from the image's corner, and half as
    far as it should be. The derivative that is called x goes down.
    """
    zx = zy = xx = xy = yx = yy = z[y, x] * 0.0  # NaN where the centre has no depth
    for j in range(-1, 2):
        for i in range(-1, 2):
            weight = 10.0 if i == 0 or j == 0 else 3.0
            depth = float(z[y + j, x + i])
            place_x, place_y = (x + i) * lateral * depth, (y + j) * lateral * depth
            zx += j * weight * depth
            xx += j * weight * place_x
            yx += j * weight * place_y
            zy += i * weight * depth
            xy += i * weight * place_x
            yy += i * weight * place_y
    out[0] = zx * xy - xx * zy
    out[1] = -(yx * zy - zx * yy)
    out[2] = -(xx * yy - yx * xy)
    length = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    for i in range(3):
        out[i] /= length


@banded("inside", cost=20)
def angles(
    begin: int,
    end: int,
    estimate: Map,
    truth: Map,
    inside: Mask,
    lateral: float,
    out: NDArray[np.float64],
) -> None:
    """Angles in degrees between the normals of two depth maps, where `inside`; else untouched."""
    height, width = inside.shape
    for y in range(max(begin, 1), min(end, height - 1)):
        here, there = np.zeros(3), np.zeros(3)
        for x in range(1, width - 1):
            if inside[y, x]:
                _fill_normal(here, estimate, y, x, lateral)
                _fill_normal(there, truth, y, x, lateral)
                cosine = here[0] * there[0] + here[1] * there[1] + here[2] * there[2]
                if cosine == cosine:
                    out[y, x] = np.degrees(np.arccos(min(max(cosine, -1.0), 1.0)))
