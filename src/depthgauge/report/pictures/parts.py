"""The parts of estimates other than the main map, as folded rows: further maps, confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.sample_maps import PartMaps, SampleMaps
from depthgauge.quantities import CONFIDENCE
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import ROW_WIDE, picture_of_map, value_bar
from depthgauge.report.pictures.model import Picture, PictureRow
from depthgauge.types import is_known


def part_rows(sample: SampleMaps) -> Iterator[PictureRow]:
    """Of every part its truth and estimates, and its errors, as its quantity is drawn."""
    for part in sample.parts:
        if part.truth is None:
            yield _given_row(part)
        else:
            yield from _scored_rows(part, sample.sample)


def _scored_rows(part: PartMaps, sample: str) -> Iterator[PictureRow]:
    assert part.truth is not None
    maps = SampleMaps(
        sample,
        part.quantity,
        part.truth,
        has_value_errors=False,
        estimates=part.estimates,
        errors=part.errors,
        most_wide=ROW_WIDE,
    )
    drawn = drawing_of(part.quantity).draw(maps)
    shown = _labelled({"the truth": drawn.truth, **{m.label: m.estimate for m in drawn.methods}})
    yield PictureRow(_title(part), f"The part '{part.name}': truth and estimates.", shown)
    if errors := _labelled({m.label: m.error for m in drawn.methods}):
        yield PictureRow(f"{_title(part)}: errors", f"Errors of the part '{part.name}'.", errors)


def _labelled(pictures: dict[str, Picture | None]) -> dict[str, Picture]:
    """Pictures with their labels as captions."""
    return {
        label: replace(picture, caption=label)
        for label, picture in pictures.items()
        if picture is not None
    }


def _given_row(part: PartMaps) -> PictureRow:
    """Maps that nothing is scored by, all methods on one scale; vectors by their length."""
    maps = {
        label: values if values.ndim == 2 else np.linalg.norm(values, axis=-1)
        for label, values in part.estimates.items()
    }
    known = [values[is_known(values)] for values in maps.values()]
    bar = value_bar(np.concatenate(known)[np.newaxis], "")
    pictures = {
        label: picture_of_map(values, np.ones(values.shape, bool), bar, label, wide=ROW_WIDE)
        for label, values in maps.items()
    }
    about = f"The part '{part.name}' as methods gave it; it is not scored."
    if part.name == CONFIDENCE.name:
        about = "How sure each method is of each pixel, in its own unit; it is not scored."
    return PictureRow(_title(part), about, pictures)


def _title(part: PartMaps) -> str:
    return part.name.replace("_", " ").capitalize()
