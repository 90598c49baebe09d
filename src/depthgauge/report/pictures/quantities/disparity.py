"""Disparity: near is bright."""

from __future__ import annotations

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import SamplePictures

SPEC = Drawing("disparity", wrong_above=2.0)


def draw(sample: SampleMaps) -> SamplePictures:
    """Values in colours from dark (far) to bright (near)."""
    return draw_maps(sample)
