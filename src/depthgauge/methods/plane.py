"""One depth everywhere: the baseline for depth from one picture if scales are fitted."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._images import image_size
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Estimate, Inputs


class PlaneOptions(MethodOptions):
    """Options of `plane`."""

    focal_px: float | None = Field(default=None, gt=0)
    """Focal length returned with the depth, in px of the picture; None: the picture's width. It
    changes no score, because all points of a wall are scaled together."""


SPEC = MethodSpec(
    id="plane",
    title="A wall before the camera: the depth 1 everywhere",
    quantities=("depth",),
    needs=("left_image",),
    cite="Chen et al. 2020, table 2",
    options=PlaneOptions,
)


def estimate(inputs: Inputs, options: PlaneOptions) -> Estimate:
    """The depth 1 at every pixel, and a focal length."""
    height, width = image_size(inputs)
    focal_px = float(width) if options.focal_px is None else options.focal_px
    return Estimate(np.ones((height, width), np.float32), "depth", parts={"focal_px": focal_px})
