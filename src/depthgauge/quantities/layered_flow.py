"""Flow of every surface that a pixel shows: through glass there are several."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="layered_flow",
    about="Flow of each layer of a pixel, the nearest first.",
    unit="px",
    parts=(
        Part(
            "layered_flow",
            axes=("layer", "y", "x", "c"),
            channels=2,
            channel_names=("u", "v"),
            resize="xy",
            like="flow",
        ),
    ),
    error="length",
    default_metrics=("multi_bad:1", "multi_bad:3", "multi_bad:5"),
)
