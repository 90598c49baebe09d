"""Compiled loops over the layers of pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@banded("last", cost=3)
def layer_errors(
    begin: int,
    end: int,
    estimate: Floats,
    truth: Floats,
    errors: Floats,
    estimated: Bytes,
    last: Bytes,
) -> None:
    """Length of the difference in each layer; one pass over each layer.

    Args:
        begin: First pixel.
        end: Beyond the last one.
        estimate: (layers, pixels, channels).
        truth: The same with its own number of layers.
        errors: (layers of the truth, pixels) to be filled: NaN without a truth, infinite without an
            estimate.
        estimated: (pixels) to be filled: how many layers are estimated, up to the first gap.
        last: (pixels) to be filled: the last layer with a truth, from 1; 0 if there is none.
    """
    channels = truth.shape[2]
    for i in range(begin, end):
        estimated[i] = 0
        last[i] = 0
    for k in range(max(estimate.shape[0], truth.shape[0])):
        for i in range(begin, end):
            square = np.float32(0.0)
            known = k < estimate.shape[0]
            if known:
                for c in range(channels):
                    x = estimate[k, i, c]
                    known = known and x - x == np.float32(0.0)
                if known and estimated[i] == k:
                    estimated[i] = k + 1
            if k < truth.shape[0]:
                there = True
                for c in range(channels):
                    g = truth[k, i, c]
                    there = there and g - g == np.float32(0.0)
                if not there:
                    errors[k, i] = np.float32(np.nan)
                    continue
                last[i] = k + 1
                if not known:
                    errors[k, i] = np.float32(np.inf)
                    continue
                for c in range(channels):
                    d = estimate[k, i, c] - truth[k, i, c]
                    square += d * d
                errors[k, i] = np.sqrt(square)


@banded("worst", cost=2)
def worst_errors(
    begin: int,
    end: int,
    errors: Floats,
    materials: Bytes,
    layer: int,
    material: int,
    worst: Floats,
) -> None:
    """The largest error of the chosen layers of each pixel; NaN where none has a truth.

    Args:
        begin: First pixel.
        end: Beyond the last one.
        errors: (layers, pixels).
        materials: (layers, pixels) codes; not looked at if `material` is negative.
        layer: The only layer that counts, from 1; 0: all.
        material: The only material that counts; negative: all.
        worst: (pixels) to be filled.
    """
    for i in range(begin, end):
        worst[i] = np.float32(np.nan)
    for k in range(errors.shape[0]):
        if layer not in (0, k + 1):
            continue
        for i in range(begin, end):
            e = errors[k, i]
            if e != e or (material >= 0 and materials[k, i] != material):
                continue
            if not (worst[i] >= e):
                worst[i] = e


@compiled()
def count_over(
    worst: Floats,
    materials: Bytes,
    material: int,
    right: Flags,
    region: Flags,
    limit: np.float32,
    counts: NDArray[np.int64],
) -> None:
    """Pixels of a region with an error, without an estimate, and bad ones among the former.

    Args:
        worst: (pixels) errors; NaN: not judged, infinite: no estimate.
        materials: (pixels) codes; not looked at if `material` is negative.
        material: The only material that is judged; negative: all.
        right: (pixels) whether the number of layers is right.
        region: (pixels) whether a pixel is looked at.
        limit: Errors beyond it are bad.
        counts: (3) to be filled.
    """
    judged, missing, bad = 0, 0, 0
    for i in range(worst.size):
        e = worst[i]
        if region[i] and e == e and (material < 0 or materials[i] == material):
            if e == np.float32(np.inf):
                missing += 1
            else:
                judged += 1
                if not (e <= limit) or not right[i]:
                    bad += 1
    counts[0] = judged
    counts[1] = missing
    counts[2] = bad
