"""Truths at single points, made visible: each point is drawn as a small disc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.types import Map, Mask, is_known

SPARSE = 0.02
"""Up to this share of pixels with a truth, they are drawn larger."""
_PER_RADIUS = 200
"""A disc has a radius of a pixel for each so many pixels of the map's width."""


def with_larger_points(sample: SampleMaps) -> SampleMaps:
    """The sample with discs in place of points, if its truth is sparse; else as it is.

    Truth and errors grow; estimates stay as they are.
    """
    known = is_known(sample.truth)
    if not 0 < known.mean() <= SPARSE:
        return sample
    index = nearest_points(known)

    def grown(values: Map) -> Map:
        flat = values.reshape(known.size, *values.shape[2:])
        found: Map = np.where(
            (index < 0).reshape(*known.shape, *(1,) * (values.ndim - 2)),
            np.float32(np.nan),
            flat[np.maximum(index, 0)],
        )
        return found

    def each(maps: Mapping[str, Map]) -> dict[str, Map]:
        return {label: grown(values) for label, values in maps.items()}

    def some(values: Map | None) -> Map | None:
        return None if values is None else grown(values)

    return replace(
        sample,
        truth=grown(sample.truth),
        errors=each(sample.errors),
        median_diffs=each(sample.median_diffs),
        share_wrong=some(sample.share_wrong),
        median_error=some(sample.median_error),
        least_error=some(sample.least_error),
        judged=None if sample.judged is None else _grown_mask(sample.judged, index),
        edges=None,
    )


def nearest_points(known: Mask) -> NDArray[np.intp]:
    """(H, W): the flat index of the point whose disc covers a pixel, the nearest one; -1: none."""
    height, width = known.shape
    reach = max(1, round(width / _PER_RADIUS))
    steps = [
        (dy, dx)
        for dy in range(-reach, reach + 1)
        for dx in range(-reach, reach + 1)
        if dy * dy + dx * dx <= reach * reach
    ]
    rows, columns = np.nonzero(known)
    index = np.full(known.shape, -1, np.intp)
    for dy, dx in sorted(steps, key=lambda step: -(step[0] ** 2 + step[1] ** 2)):
        y, x = rows + dy, columns + dx
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        index[y[inside], x[inside]] = (rows * width + columns)[inside]
    return index


def _grown_mask(mask: Mask, index: NDArray[np.intp]) -> Mask:
    return np.asarray((index >= 0) & mask.reshape(-1)[np.maximum(index, 0)])
