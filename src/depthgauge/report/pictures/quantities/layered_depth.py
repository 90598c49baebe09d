"""Depth of every layer: a slider through the layers, each drawn as depth is."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layers import ABOUT, RANGE_RULE, draw_layers, write_error_maps
from depthgauge.report.pictures.model import SamplePictures

__all__ = ["SPEC", "draw", "write_error_maps"]

SPEC = Drawing("layered_depth", about=ABOUT, range_rule=RANGE_RULE, wrong_above=0.1)


def draw(sample: SampleMaps) -> SamplePictures:
    """Every layer as depth on one scale."""
    return draw_layers(sample)
