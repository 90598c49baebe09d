"""Scene flow: how the point that a pixel shows moves in space, in metres."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="scene_flow",
    about="How the point of a pixel moves in space, along the axes of the first camera.",
    unit="m",
    parts=(Part("scene_flow", axes=("y", "x", "c"), channels=3, channel_names=("X", "Y", "Z")),),
    error="length",
    default_metrics=("epe",),
)
