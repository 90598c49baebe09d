"""Scene flow as a stereo camera shows it: disparity now, disparity later, and flow between them."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="image_scene_flow",
    about="Disparity of a pixel, disparity of the same point at the next time, and its flow.",
    unit="px",
    parts=(
        Part("disparity", resize="x", like="disparity"),
        Part("second_disparity", resize="x", like="disparity"),
        Part(
            "flow",
            axes=("y", "x", "c"),
            channels=2,
            channel_names=("u", "v"),
            resize="xy",
            like="flow",
        ),
    ),
    error="difference",
    default_metrics=("badpix:3", "mae"),
    space="disparity",
    nearer="larger",
    range_input="disparity_range",
    cite="Menze & Geiger 2015 (KITTI); Mehl et al. 2023 (Spring)",
)
