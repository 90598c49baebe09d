"""Flow: hue is the direction, saturation the length."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.layout import draw_maps, photo_of, unit_of
from depthgauge.report.pictures.lines import flow_lines, line_bar
from depthgauge.report.pictures.model import ColourBar, Picture, SamplePictures
from depthgauge.types import Image, Map, is_known

SPEC = Drawing("flow", wrong_above=3.0)


_WORST_PX = 5.0
"""Where lines are red if the protocol has no thresholds."""


def draw(sample: SampleMaps) -> SamplePictures:
    """Vectors as colours of the wheel, and as lines in the colours of their errors."""
    drawn = draw_maps(sample, wheel)
    if not is_known(sample.truth).any():
        return drawn
    bar = line_bar(_worst(sample), unit_of(sample))
    image = photo_of(sample)
    methods = (
        replace(method, lines=_lines(sample, method.label, image, bar))
        if method.label in sample.errors
        else method
        for method in drawn.methods
    )
    return replace(drawn, methods=tuple(methods))


def _lines(sample: SampleMaps, label: str, image: Image | None, bar: ColourBar) -> Picture:
    estimate, errors = sample.estimates.get(label), sample.errors[label]
    return flow_lines(estimate, sample.truth, image, bar, "lines by error", errors=errors)


def _worst(sample: SampleMaps) -> float:
    """The largest error that a score still tells apart."""
    specs = () if sample.protocol is None else sample.protocol.specs
    limits = (spec.params.get("threshold", spec.params.get("tau", 0.0)) for spec in specs)
    return max((float(limit) for limit in limits if 0 < limit < math.inf), default=_WORST_PX)


def wheel(values: Map, unit: str) -> ColourBar:
    """The wheel whose rim is the 99th percentile of the lengths."""
    here = values[is_known(values)]
    longest = float(np.percentile(np.linalg.norm(here, axis=-1), 99)) if here.size else 1.0
    return ColourBar(0.0, longest or 1.0, unit, "wheel")
