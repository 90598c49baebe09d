"""Quantities without their own drawing: three channels are a picture, others are numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.report.pictures.encode import ROW_WIDE, picture_of_map, value_bar
from depthgauge.report.pictures.layout import draw_maps, unit_of
from depthgauge.report.pictures.model import ColourBar, PictureRow, SamplePictures
from depthgauge.types import Map, is_known

_RGB = 3
_MOST_CHANNELS = 8
"""More of them are not shown one by one."""


def draw(sample: SampleMaps) -> SamplePictures:
    """One channel in colours of its values, three as red, green and blue, others one by one."""
    channels = _channels(sample.truth)
    if channels == _RGB:
        return draw_maps(sample, rgb)
    if channels == 1:
        return draw_maps(_of_channel(sample, 0))
    drawn = draw_maps(_of_channel(sample, 0))
    return replace(drawn, rows=(*_channel_rows(sample), *drawn.rows))


def rgb(values: Map, unit: str) -> ColourBar:
    """Black is 0 (or the least value, where some are negative), white the 99th percentile."""
    here = values[is_known(values)]
    low, high = (float(v) for v in np.percentile(here, (1, 99))) if here.size else (0.0, 1.0)
    low = min(low, 0.0)
    return ColourBar(low, high if high > low else low + 1.0, unit, "rgb")


def _channels(values: Map) -> int:
    return values.shape[2] if values.ndim == 3 else 1


def _of_channel(sample: SampleMaps, channel: int) -> SampleMaps:
    """The sample with one channel of its truth and estimates; errors stay those of all."""
    if sample.truth.ndim == 2:
        return sample
    return replace(
        sample,
        truth=sample.truth[..., channel],
        estimates={label: values[..., channel] for label, values in sample.estimates.items()},
    )


def _channel_rows(sample: SampleMaps) -> Iterator[PictureRow]:
    for channel in range(min(_channels(sample.truth), _MOST_CHANNELS)):
        here = _of_channel(sample, channel)
        bar = value_bar(here.truth, unit_of(here))
        known = is_known(here.truth)
        pictures = {"the truth": picture_of_map(here.truth, known, bar, "truth", wide=ROW_WIDE)}
        for label, values in here.estimates.items():
            pictures[label] = picture_of_map(values, known | True, bar, label, wide=ROW_WIDE)
        yield PictureRow(f"Channel {channel + 1}", "One channel of the maps.", pictures)
