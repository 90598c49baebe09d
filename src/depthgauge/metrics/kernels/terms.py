"""The value of a term at a pixel; a row of values, and a map of them."""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import pixel_angle
from depthgauge.metrics.kernels.errors import (
    ANGLE,
    DIFFERENCE,
    LENGTH,
    vector_error,
    vector_size,
)
from depthgauge.metrics.terms import Kind

ABS, SQUARE, SIGNED = int(Kind.ABS), int(Kind.SQUARE), int(Kind.SIGNED)
OVER, OVER_BOTH = int(Kind.OVER), int(Kind.OVER_BOTH)
RELATIVE, RELATIVE_SQUARE = int(Kind.RELATIVE), int(Kind.RELATIVE_SQUARE)
LOG_SQUARE, LOG, LOG10 = int(Kind.LOG_SQUARE), int(Kind.LOG), int(Kind.LOG10)
BEYOND = int(Kind.BEYOND)
CASES = {ABS, SQUARE, SIGNED, OVER, OVER_BOTH, RELATIVE, RELATIVE_SQUARE}
CASES |= {LOG_SQUARE, LOG, LOG10, BEYOND}
if set(Kind) != CASES:
    raise ImportError(f"term has no case for {sorted(k.name for k in set(Kind) - set(CASES))}")


@compiled(inline="always")
def term(kind, first, second, error, estimate, truth):
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
        # Without an error there is no relative error, even if the truth is 0.
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
    return np.nan  # no such kind: no number may stand for its value


@compiled()
def term_values(kind, first, second, error, estimate, truth, out):
    """The value of one term at each pixel of filled buffers.

    Loops over a known kind have no branches and become SIMD, or compute one logarithm, not two.
    """
    if kind == RELATIVE:
        for i in range(out.size):
            out[i] = term(RELATIVE, first, second, error[i], estimate[i], truth[i])
    elif kind == RELATIVE_SQUARE:
        for i in range(out.size):
            out[i] = term(RELATIVE_SQUARE, first, second, error[i], estimate[i], truth[i])
    elif kind == LOG:
        for i in range(out.size):
            out[i] = term(LOG, first, second, error[i], estimate[i], truth[i])
    elif kind == LOG10:
        for i in range(out.size):
            out[i] = term(LOG10, first, second, error[i], estimate[i], truth[i])
    elif kind == BEYOND:
        for i in range(out.size):
            out[i] = term(BEYOND, first, second, error[i], estimate[i], truth[i])
    else:
        for i in range(out.size):
            out[i] = term(kind, first, second, error[i], estimate[i], truth[i])


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
            out[i] = term(kind, first, second, error, x, g)
