"""Surface normals: unit vectors that point to the viewer, so their z is negative."""

from __future__ import annotations

from depthgauge.quantities._quantity import Part, Quantity

SPEC = Quantity(
    name="normals",
    about="Unit normals of surfaces in camera axes; they point to the viewer.",
    unit="deg",
    parts=(Part("normals", axes=("y", "x", "c"), channels=3, channel_names=("X", "Y", "Z")),),
    error="angle",
    default_metrics=("mean_angle", "median_angle", "within:11.25", "within:22.5", "within:30"),
    from_depth=True,
    guessed_for=(3,),
)
