"""Scene flow of a stereo camera: its disparity, as disparity is drawn."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import SamplePictures

SPEC = Drawing(
    "image_scene_flow",
    meaning="The disparity of the first time; the second disparity and the flow are scored too.",
    wrong_above=3.0,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Values in colours from dark (far) to bright (near)."""
    return draw_maps(sample)
