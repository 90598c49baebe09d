"""Optical flow: where each pixel moves, in px, (u right, v down)."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="flow",
    about="Where each pixel moves between two frames: u to the right, v down.",
    unit="px",
    parts=(Part("flow", axes=("y", "x", "c"), channels=2, channel_names=("u", "v"), resize="xy"),),
    error="length",
    default_metrics=("epe", "npx:1", "npx:3", "fl"),
    guessed_for=(2,),
    png="flow",
)
