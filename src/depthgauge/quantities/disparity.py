"""Disparity: the shift between two views, in px, larger where things are near."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="disparity",
    about="Shift between two views, d = x_left - x_right; of light fields per step between views.",
    unit="px",
    parts=(
        Part("disparity", resize="x"),
        Part("right_disparity", resize="x", like="disparity", required=False),
    ),
    error="difference",
    default_metrics=("badpix:0.5", "badpix:1", "badpix:2", "badpix:4", "mae", "rms", "bias"),
    space="disparity",
    nearer="larger",
    range_input="disparity_range",
    between_views=True,
    value_rule="d = x_left - x_right",
    guessed_for=(1,),
)
