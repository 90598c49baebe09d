"""The errors of pixels, one kernel for each way to compare two of them."""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import compiled
from depthgauge.geometry._shared_kernels import pixel_angle
from depthgauge.metrics.terms import ErrorKind

DIFFERENCE, LENGTH = int(ErrorKind.DIFFERENCE), int(ErrorKind.LENGTH)
ANGLE, CHANNELS = int(ErrorKind.ANGLE), int(ErrorKind.CHANNELS)


@compiled()
def fill_numbers(estimate, truth, low, high, error, other, present):
    """Fills one block's buffers: the error, the estimate, and whether there is one.

    A missing estimate is replaced by the truth, so that every term is 0 there and needs no test of
    its own.
    """
    for i in range(error.size):
        x = estimate[i]
        ok = (x >= low) & (x <= high)
        present[i] = ok
        error[i] = x - truth[i] if ok else np.float32(0.0)
        other[i] = x if ok else truth[i]


@compiled()
def fill_flow(estimate, truth, low, high, error, other, present):
    """The same for vectors: the error is the end-point error, `other` the truth's length."""
    for i in range(error.size):
        u, v = estimate[2 * i], estimate[2 * i + 1]
        ok = (u >= low) & (u <= high) & (v >= low) & (v <= high)
        du, dv = u - truth[2 * i], v - truth[2 * i + 1]
        error[i] = np.sqrt(du * du + dv * dv) if ok else np.float32(0.0)
        other[i] = np.sqrt(truth[2 * i] * truth[2 * i] + truth[2 * i + 1] * truth[2 * i + 1])
        present[i] = ok


@compiled()
def fill_angles(estimate, truth, error, other, present):
    """The same for normals: the error is the angle in degrees, `other` is not used."""
    for i in range(error.size):
        angle = pixel_angle(estimate, truth, i)
        present[i] = angle >= 0
        error[i] = angle if angle >= 0 else np.float32(0.0)
        other[i] = np.float32(1.0)


@compiled()
def vector_size(values, i, channels, kind):
    """The size of a pixel: its length, or the mean of its channels' sizes."""
    total = np.float32(0.0)
    for c in range(channels):
        x = values[channels * i + c]
        total += x * x if kind == LENGTH else abs(x)
    return np.sqrt(total) if kind == LENGTH else total / np.float32(channels)


@compiled()
def vector_error(estimate, truth, i, channels, kind):
    """The same for the difference of two pixels."""
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
def fill_vectors(estimate, truth, low, high, channels, kind, error, other, present):
    """The same for any number of channels."""
    for i in range(error.size):
        ok = is_within(estimate, i, channels, low, high)
        present[i] = ok
        error[i] = vector_error(estimate, truth, i, channels, kind) if ok else np.float32(0.0)
        other[i] = vector_size(truth, i, channels, kind)


@compiled()
def find_inside(codes, lookup, empty_atom, present, here, absent):
    """The places of the pixels in a region, with an estimate and without; and their numbers."""
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
