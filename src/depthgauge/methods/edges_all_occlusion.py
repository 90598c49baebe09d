"""Every edge of a picture, classified as an occlusion."""

from __future__ import annotations

import numpy as np

from depthgauge.methods._edges import EdgeOptions, edge_probability
from depthgauge.methods._spec import MethodSpec
from depthgauge.types import Inputs, Map

SPEC = MethodSpec(
    id="edges_all_occlusion",
    title="Edges of the picture, all called occlusions",
    quantities=("boundaries",),
    needs=("left_image",),
    cite="baseline of Chen et al. 2020, with our own edge detector",
    options=EdgeOptions,
)


def estimate(inputs: Inputs, options: EdgeOptions) -> Map:
    """(H, W, 2): the probability of a boundary, and 1 for an occlusion."""
    found = edge_probability(inputs, options)
    return np.stack([found, np.full_like(found, 1)], axis=2)
