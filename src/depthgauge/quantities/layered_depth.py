"""Depth of every surface that a pixel shows: through glass there are several."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="layered_depth",
    about="Distance along the optical axis of each layer of a pixel, the nearest first.",
    unit="m",
    parts=(Part("layered_depth", axes=("layer", "y", "x"), resize="keep", like="depth"),),
    error="difference",
    default_metrics=("multi_bad:0.05", "multi_bad:0.1", "multi_bad:0.5"),
)
