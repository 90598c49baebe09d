"""The left view moved by the given disparity; what it does not show is filled from behind."""

from __future__ import annotations

from pydantic import Field

from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.methods._views.warp import JUMP_PX, REACH, right_view
from depthgauge.types import Inputs, Map


class WarpInpaintOptions(MethodOptions):
    """Options of `warp_inpaint`."""

    jump_px: float = Field(default=JUMP_PX, gt=0)
    """Neighbours whose disparities differ by more are two surfaces, and what lies between them in
    the right view is a hole."""
    reach: int = Field(default=REACH, ge=0)
    """How many rows above and below are averaged deep inside a hole."""


SPEC = MethodSpec(
    id="warp_inpaint",
    title="The left view moved by the given disparity, holes filled from behind",
    quantities=("view",),
    needs=("left_image", "disparity"),
    options=WarpInpaintOptions,
    alignment="the target camera's, by the given disparity",
)


def estimate(inputs: Inputs, options: WarpInpaintOptions) -> Map:
    """The right view of one frame."""
    return right_view(
        inputs["left_image"], inputs["disparity"], jump_px=options.jump_px, reach=options.reach
    )
