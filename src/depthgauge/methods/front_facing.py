"""Every surface faces the camera: the baseline for normals from one picture."""

from __future__ import annotations

import numpy as np

from depthgauge.methods._images import image_size
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Inputs, Map

SPEC = MethodSpec(
    id="front_facing",
    title="Normals that all point to the camera",
    quantities=("normals",),
    needs=("left_image",),
    cite="Chen et al. 2020, table 3",
)


def estimate(inputs: Inputs, options: MethodOptions) -> Map:
    """(0, 0, -1) at every pixel of the picture."""
    normal = np.array([0.0, 0.0, -1.0], np.float32)
    return np.tile(normal, (*image_size(inputs), 1))
