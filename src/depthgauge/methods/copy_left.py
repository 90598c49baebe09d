"""The left view itself: what a right view costs that has no stereo effect at all."""

from __future__ import annotations

from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.methods._views.warp import as_view
from depthgauge.types import Inputs, Map


class CopyLeftOptions(MethodOptions):
    """`copy_left` has no options."""


SPEC = MethodSpec(
    id="copy_left",
    title="The left view itself",
    quantities=("view",),
    needs=("left_image",),
    options=CopyLeftOptions,
    alignment="none: no shift at all",
)


def estimate(inputs: Inputs, options: CopyLeftOptions) -> Map:
    """The left view of one frame."""
    return as_view(inputs["left_image"])
