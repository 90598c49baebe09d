"""Planes: instances of planar surfaces, with a confidence each."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="planes",
    about="Planar instances, a channel each.",
    unit="",
    parts=(Part("planes", axes=("y", "x", "c"), channels=None),),
    error="matched",
    default_metrics=("plane_ap", "plane_ap:0.5", "plane_ap:0.75"),
    example_channels=1,
)
