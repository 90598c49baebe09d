"""Counts of estimates by true value: what density plots show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, is_known

_BINS = 160
"""Fine enough to show the steps of a method with a few dozen labels."""
_MOST_PIXELS = 400_000
"""Pixels of one sample; larger maps are subsampled, which is invisible in a density plot."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """How often each estimate occurs with each true value."""

    counts: NDArray[np.integer[Any]]
    """(truth bins, estimate bins)."""
    truth_edges: NDArray[np.floating[Any]]
    estimate_edges: NDArray[np.floating[Any]]


def scatter_edges(truths: Iterable[Map]) -> NDArray[np.float64]:
    """Bins that contain nearly all true values of some samples, with a small margin."""
    spans = []
    for truth in truths:
        values = _amounts(truth)[is_known(truth)]
        if values.size:
            spans.append(np.percentile(values[:: 1 + values.size // _MOST_PIXELS], [0.2, 99.8]))
    if not spans:
        return np.linspace(0.0, 1.0, _BINS + 1)
    low, high = np.min(spans, axis=0)[0], np.max(spans, axis=0)[1]
    room = 0.08 * (high - low) or 1.0
    return np.linspace(low - room, high + room, _BINS + 1)


def count_pairs(
    estimate: Map, truth: Map, edges: NDArray[np.float64], before: Scatter | None = None
) -> Scatter:
    """Adds one sample; estimates beyond the bins are counted in the outermost ones."""
    step = int(np.ceil(np.sqrt(truth.shape[0] * truth.shape[1] / _MOST_PIXELS)))
    estimate, truth = estimate[::step, ::step], truth[::step, ::step]
    both = is_known(estimate) & is_known(truth)
    counts, _, _ = np.histogram2d(
        np.clip(_amounts(truth)[both], edges[0], edges[-1]),
        np.clip(_amounts(estimate)[both], edges[0], edges[-1]),
        bins=(edges, edges),
    )
    total = counts.astype(np.int64) + (0 if before is None else before.counts)
    return Scatter(total, edges, edges)


def _amounts(values: Map) -> Map:
    """The values themselves; for vectors their length, for other channels their mean."""
    if values.ndim == 2:
        return values
    if values.shape[2] == 2:
        return np.asarray(np.hypot(values[..., 0], values[..., 1]))
    return np.asarray(values.mean(axis=-1))
