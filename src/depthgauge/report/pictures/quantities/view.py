"""Views: pictures as they are, on the scale of pictures."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import ColourBar, SamplePictures
from depthgauge.types import Map

SPEC = Drawing(
    "view",
    meaning="The picture that another camera would take; errors are differences of its channels.",
    range_rule="Channels are from 0 to 1.",
    wrong_above=0.05,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Red, green and blue from 0 to 1."""
    return draw_maps(sample, _as_shown)


def _as_shown(values: Map, unit: str) -> ColourBar:
    return ColourBar(0.0, 1.0, unit, "rgb")
