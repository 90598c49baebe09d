"""Depth: the distance along the optical axis, in metres."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="depth",
    about="Distance along the optical axis.",
    unit="m",
    parts=(Part("depth"), Part("focal_px", axes=(), required=False, positive=True)),
    error="difference",
    default_metrics=(
        "absrel",
        "rms",
        "rmse_log",
        "silog",
        "delta:1.25",
        "delta:1.5625",
        "delta:1.953125",
        "mae",
        "bias",
    ),
    space="depth",
    nearer="smaller",
    positive=True,
    scale_free=True,
    value_rule="along the axis",
    code_scales=((256.0, "KITTI's code / 256"), (1000.0, "millimetres")),
)
