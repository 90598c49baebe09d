"""Every edge of a picture, classified as a fold."""

from __future__ import annotations

import numpy as np

from depthgauge.methods._edges import EdgeOptions, edge_probability
from depthgauge.methods._spec import MethodSpec
from depthgauge.types import Inputs, Map

SPEC = MethodSpec(
    id="edges_all_fold",
    title="Edges of the picture, all called folds",
    quantities=("boundaries",),
    needs=("left_image",),
    cite="baseline of Chen et al. 2020, with our own edge detector",
    options=EdgeOptions,
)


def estimate(inputs: Inputs, options: EdgeOptions) -> Map:
    """(H, W, 2): the probability of a boundary, and 0 for a fold."""
    found = edge_probability(inputs, options)
    return np.stack([found, np.full_like(found, 0)], axis=2)
