"""View: the picture that another camera would take, as in stereo generation."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="view",
    about="The picture of another camera: red, green and blue as they are shown, code / 255.",
    unit="",
    parts=(
        Part("view", axes=("y", "x", "c"), channels=3, channel_names=("R", "G", "B"), picture=True),
    ),
    error="channels",
    default_metrics=("psnr", "ssim"),
    bounds=(0.0, 1.0),
)
