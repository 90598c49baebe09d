"""Disparity of every surface that a pixel shows: through glass there are several."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="layered_disparity",
    about="Shift between two views of each layer of a pixel, the nearest first.",
    unit="px",
    parts=(Part("layered_disparity", axes=("layer", "y", "x"), resize="x", like="disparity"),),
    error="difference",
    default_metrics=("multi_bad:1", "multi_bad:3", "multi_bad:5"),
)
