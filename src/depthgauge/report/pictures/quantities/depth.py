"""Depth: near is bright; up to a scale, every map has its own scale."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.encode import value_bar
from depthgauge.report.pictures.layout import draw_maps, with_pairs
from depthgauge.report.pictures.model import ColourBar, SamplePictures
from depthgauge.types import Map

SPEC = Drawing(
    "depth",
    about_up_to_scale=(
        "Depth is known up to a scale of each surface, so every map has its own colour scale: "
        "compare shapes and orders, not metres."
    ),
    range_rule="A depth that is not above 0 counts as missing.",
    wrong_above=0.1,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Values in colours from bright (near) to dark (far), and the order of pairs of points."""
    drawn = draw_maps(sample, _scale)
    return with_pairs(drawn, sample) if sample.is_up_to_scale else drawn


def _scale(values: Map, unit: str) -> ColourBar:
    return value_bar(values, unit, "viridis_r")
