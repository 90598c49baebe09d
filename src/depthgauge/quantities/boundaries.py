"""Boundaries: how likely each pixel lies on an occlusion or a fold."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="boundaries",
    about="Probability that a pixel lies on a boundary; one channel, or boundary and occlusion.",
    unit="",
    parts=(Part("boundaries", axes=("y", "x", "c"), channels=None),),
    error="matched",
    default_metrics=("ods", "boundary_ap"),
    bounds=(0.0, 1.0),
    example_channels=2,
)
