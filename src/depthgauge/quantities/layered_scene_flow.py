"""Scene flow of every surface that a pixel shows: through glass there are several."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="layered_scene_flow",
    about="How the point of each layer moves in space, along the axes of the first camera.",
    unit="m",
    parts=(
        Part(
            "layered_scene_flow",
            axes=("layer", "y", "x", "c"),
            channels=3,
            channel_names=("X", "Y", "Z"),
            like="scene_flow",
        ),
    ),
    error="length",
    default_metrics=("multi_bad:0.05", "multi_bad:0.1", "multi_bad:0.5"),
)
