"""The left view moved by a disparity that comes from an estimated depth and the given cameras."""

from __future__ import annotations

import math

from pydantic import Field

from depthgauge.errors import MethodFailed
from depthgauge.geometry.disparity import disparity_from_depth
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.methods._views.warp import JUMP_PX, REACH, right_view
from depthgauge.types import Estimate, Inputs, Map


class WarpEstimatedOptions(MethodOptions):
    """Options of `warp_estimated`."""

    depth: str = "ground-plane"
    """The method that estimates depth from the left view: `ground-plane`, `plane`, or a file."""
    scale_m: float = Field(default=1.0, gt=0)
    """What its depth is multiplied with; with `plane`, the distance of the wall in metres."""
    jump_px: float = Field(default=JUMP_PX, gt=0)
    """Neighbours whose disparities differ by more are two surfaces."""
    reach: int = Field(default=REACH, ge=0)
    """How many rows above and below are averaged deep inside a hole."""


SPEC = MethodSpec(
    id="warp_estimated",
    title="The left view moved by estimated depth and the given cameras",
    quantities=("view",),
    needs=("left_image", "rig"),
    options=WarpEstimatedOptions,
    alignment="the target camera's, as far as the estimated depth is right",
)


def estimate(inputs: Inputs, options: WarpEstimatedOptions) -> Map:
    """The right view of one frame.

    Raises:
        MethodFailed: The rig has no right camera beside the left one.
    """
    from depthgauge.methods._find import find_here

    rig = inputs["rig"]
    left = rig.cameras.get("left")
    if left is None or not math.isfinite(rig.baseline_m):
        raise MethodFailed("the rig has no left camera with a baseline.")
    given = Inputs({"left_image": inputs["left_image"], "rig": rig, "quantity": "depth"})
    found = find_here(options.depth).estimate(given, "depth")
    if not isinstance(found, Estimate):
        raise MethodFailed(f"'{options.depth}' returned several frames for one picture.")
    disparity = disparity_from_depth(
        found.values * options.scale_m, left.focal_px[0], rig.baseline_m, rig.principal_offset_px
    )
    return right_view(inputs["left_image"], disparity, jump_px=options.jump_px, reach=options.reach)
