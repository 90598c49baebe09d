"""The fragments into which fine structures break, as maps of numbers."""

from __future__ import annotations

import numpy as np

from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import Prepared
from depthgauge.metrics.fine_structures import fragments
from depthgauge.types import Map

FRAGMENT_COLOURS = (
    " Every fragment has a colour of its own; what is dark belongs to a structure but was not "
    "found."
)


def shows_fragments(spec: ScoreSpec) -> bool:
    """Whether a metric is about fragments, which tell more than its error map does."""
    return spec.metric.name == "fragmentation"


def fragment_map(prepared: Prepared, spec: ScoreSpec) -> Map:
    """The number of each pixel's fragment; 0 where a structure is not found, NaN elsewhere."""
    structures = prepared.items["structures"]
    numbers = fragments(prepared.allowed, prepared.truth, structures, **spec.params)
    here = structures.mask & prepared.known
    return np.where(here, numbers, np.nan).astype(np.float32)


def fragment_words(numbers: Map) -> str:
    """How many fragments a map has.

    >>> fragment_words(np.array([[1.0, 0.0, 3.0]], np.float32))
    '2 fragments'
    """
    count = np.unique(numbers[numbers > 0]).size
    return f"{count} fragment{'' if count == 1 else 's'}"
