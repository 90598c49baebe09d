"""Normals: each direction has a colour, as on a ball."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps, with_pairs
from depthgauge.report.pictures.model import ColourBar, SamplePictures
from depthgauge.types import Map

SPEC = Drawing(
    "normals",
    about=(
        "Normals are colours: light blue faces the viewer, more red points to the right, more "
        "green upwards, as on the ball. The error of a pixel is the angle between the "
        "estimated and the true normal."
    ),
    meaning="The direction of the surface at each pixel, towards the viewer; errors are angles.",
    range_rule="The length of a normal means nothing; one without length counts as missing.",
    wrong_above=11.25,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Directions as colours, and relations of planes at pairs of points."""
    return with_pairs(draw_maps(sample, _ball), sample)


def _ball(values: Map, unit: str) -> ColourBar:
    return ColourBar(0.0, 1.0, "", "ball")
