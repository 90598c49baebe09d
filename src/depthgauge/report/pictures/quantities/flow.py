"""Flow: hue is the direction, saturation the length."""

from __future__ import annotations

import numpy as np

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import ColourBar, SamplePictures
from depthgauge.types import Map, is_known

SPEC = Drawing("flow", wrong_above=3.0)


def draw(sample: SampleMaps) -> SamplePictures:
    """Vectors as colours of the wheel."""
    return draw_maps(sample, wheel)


def wheel(values: Map, unit: str) -> ColourBar:
    """The wheel whose rim is the 99th percentile of the lengths."""
    here = values[is_known(values)]
    longest = float(np.percentile(np.linalg.norm(here, axis=-1), 99)) if here.size else 1.0
    return ColourBar(0.0, longest or 1.0, unit, "wheel")
