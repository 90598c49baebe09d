"""The left view, shifted as a whole: a flat picture before or behind the screen."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.methods._views.warp import right_view
from depthgauge.types import Inputs, Map


class ShiftOptions(MethodOptions):
    """Options of `shift`."""

    share: float = Field(default=0.03, gt=-1, lt=1)
    """The disparity of every pixel, as a share of the picture's width."""
    disparity_px: float | None = None
    """The same in px, in place of the share."""


SPEC = MethodSpec(
    id="shift",
    title="The left view, shifted by one disparity",
    quantities=("view",),
    needs=("left_image",),
    options=ShiftOptions,
    alignment="none: one disparity everywhere, whatever the baseline",
)


def estimate(inputs: Inputs, options: ShiftOptions) -> Map:
    """The right view of one frame; what enters at the border is extended."""
    image = inputs["left_image"]
    height, width = image.shape[:2]
    moved = options.share * width if options.disparity_px is None else options.disparity_px
    return right_view(image, np.full((height, width), moved))
