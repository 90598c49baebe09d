"""Scene flow: motion along X, Y and Z as red, green and blue."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import SamplePictures
from depthgauge.report.pictures.quantities._default import rgb

SPEC = Drawing(
    "scene_flow",
    about=(
        "Red is motion to the right, green downwards, blue away from the camera; each is brighter "
        "where it is larger, and darker where it is the other way."
    ),
    meaning="How the point of each pixel moves in space; errors are distances.",
    wrong_above=0.1,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Three components as three colours."""
    return draw_maps(sample, rgb)
