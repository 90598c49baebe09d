"""One depth everywhere: what depth from one picture has to beat where scales are fitted."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._images import image_size
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Estimate, Inputs


class PlaneOptions(MethodOptions):
    """Options of `plane`."""

    focal_px: float | None = Field(default=None, gt=0)
    """Focal length that the depth comes with, in px of the picture; None: the benchmark's own
    (`--focal`), if it needs one."""


SPEC = MethodSpec(
    id="plane",
    title="A wall before the camera: the depth 1 everywhere",
    quantities=("depth",),
    needs=("left_image",),
    cite="Chen et al. 2020, table 2",
    options=PlaneOptions,
)


def estimate(inputs: Inputs, options: PlaneOptions) -> Estimate:
    """The depth 1 at every pixel, and the focal length where one is said."""
    extras = {} if options.focal_px is None else {"focal_px": options.focal_px}
    return Estimate(np.ones(image_size(inputs), np.float32), "depth", extras=extras)
