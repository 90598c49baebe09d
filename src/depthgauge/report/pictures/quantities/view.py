"""Views: pictures as they are, on the scale of pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.io.shown import shown
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.encode import picture_of_image
from depthgauge.report.pictures.layout import draw_maps
from depthgauge.report.pictures.model import ColourBar, PictureRow, SamplePictures
from depthgauge.types import Image, Map

_ABOUT = (
    "Red of the left view, green and blue of the right one, for glasses of red and cyan; without "
    "them, coloured fringes show how far things are shifted."
)
SPEC = Drawing(
    "view",
    meaning="The picture that another camera would take; errors are differences of its channels.",
    range_rule="Channels are from 0 to 1.",
    wrong_above=0.05,
)


def draw(sample: SampleMaps) -> SamplePictures:
    """Red, green and blue from 0 to 1; with the left view, also anaglyphs."""
    drawn = draw_maps(sample, _as_shown)
    left = sample.images.get("left_image")
    if left is None:
        return drawn
    return replace(drawn, rows=(_anaglyphs(sample, left), *drawn.rows))


def _anaglyphs(sample: SampleMaps, left: Image) -> PictureRow:
    views = {"truth": sample.truth, **sample.estimates}
    pictures = {
        label: picture_of_image(anaglyph(left, view), f"anaglyph of {label}")
        for label, view in views.items()
    }
    return PictureRow("Anaglyphs", _ABOUT, pictures)


def anaglyph(left: Image, right: Map) -> Map:
    """Red of the left view, green and blue of the right one, at the right view's size."""
    import cv2

    seen = shown(np.asarray(left))
    if seen.ndim == 2:
        seen = np.repeat(seen[..., None], 3, axis=2)
    height, width = right.shape[:2]
    if seen.shape[:2] != (height, width):
        seen = cv2.resize(seen, (width, height), interpolation=cv2.INTER_AREA)
    both = np.nan_to_num(right).astype(np.float32)
    both[..., 0] = seen[..., 0]
    return both


def _as_shown(values: Map, unit: str) -> ColourBar:
    return ColourBar(0.0, 1.0, unit, "rgb")
