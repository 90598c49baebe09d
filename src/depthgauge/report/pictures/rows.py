"""Rows of pictures, one a method: the truth's edges over estimates, Q25, what metrics see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.report.page.model import ColourBar, PictureRow
from depthgauge.report.pictures.encode import ROW_WIDE, error_bar, picture_of_map, value_bar
from depthgauge.report.pictures.metric_maps import MetricMaps
from depthgauge.report.pictures.outlines import Outline
from depthgauge.report.tables.numbers import show_amount
from depthgauge.types import Map, Mask

_BEST = 25


def outlined_row(
    estimates: Mapping[str, Map], outline: Outline, quantity: str, unit: str
) -> PictureRow:
    """The estimates with the truth's discontinuities drawn over them."""
    bar = value_bar(outline.truth, quantity, unit)
    everywhere = np.ones(outline.truth.shape[:2], bool)
    pictures = {
        label: picture_of_map(values, everywhere, bar, label, outline=outline, wide=ROW_WIDE)
        for label, values in estimates.items()
    }
    about = (
        "Lines are where the truth jumps, white on the higher side and black on the lower. An "
        "estimate that is right changes its colour between the two."
    )
    return PictureRow("Estimates with the truth's discontinuities", about, pictures)


def best_quarter_row(errors: Mapping[str, Map], known: Mask, unit: str) -> PictureRow:
    """The errors of each method within its own best quarter (figure 7.8 of Honauer 2019)."""
    limits = {label: _quantile(values, known) for label, values in errors.items()}
    kept = {
        label: np.where(values <= limits[label], values, np.float32(np.nan))
        for label, values in errors.items()
    }
    bar = replace(error_bar(kept.values(), known, unit), colours="YlOrRd", aside=f"above Q{_BEST}")
    pictures = {
        label: picture_of_map(
            kept[label],
            known,
            bar,
            f"{label}, Q{_BEST} {show_amount(limits[label], unit)}",
            aside=np.isfinite(values) & np.isnan(kept[label]),
            wide=ROW_WIDE,
        )
        for label, values in errors.items()
    }
    about = (
        f"Errors of the {_BEST} % of the pixels that each method does best: where it is most "
        f"accurate, and how accurate it can be. Q{_BEST} is the largest of them; pixels above it "
        "are grey."
    )
    return PictureRow(f"The best quarter of each method (Q{_BEST})", about, pictures)


def _quantile(values: Map, known: Mask) -> float:
    here = values[known & np.isfinite(values)]
    return float(np.percentile(here, _BEST)) if here.size else float("nan")


def metric_rows(maps: Iterable[MetricMaps], known: Mask) -> list[PictureRow]:
    """What each metric sees, on one scale for all methods; what looks the same is shown once.

    Maps are taken one after the other, so that those of large images need not all be at hand.
    """
    rows: list[PictureRow] = []
    for each in maps:
        row = _metric_row(each, known)
        same = [n for n, other in enumerate(rows) if row.pictures and _looks(other) == _looks(row)]
        if same:
            before = rows[same[0]]
            rows[same[0]] = replace(before, title=f"{before.title}, {row.title}")
        else:
            rows.append(row)
    return rows


def _looks(row: PictureRow) -> dict[str, bytes]:
    return {label: picture.data for label, picture in row.pictures.items()}


def _metric_row(maps: MetricMaps, known: Mask) -> PictureRow:
    if not maps.judged.any():
        return PictureRow(maps.title, f"{maps.about} This sample has nothing that it judges.", {})
    seen = any(np.nan_to_num(values[known]).any() for values in maps.maps.values())
    if not seen and not maps.numbered:
        return PictureRow(maps.title, f"{maps.about} Here it is 0 at every pixel.", {})
    bar, aside = _metric_bar(maps, known), known & ~maps.judged
    pictures = {
        label: picture_of_map(
            values,
            known,
            bar,
            maps.captions.get(label, label),
            worst_of_block=True,
            aside=aside,
            wide=ROW_WIDE,
        )
        for label, values in maps.maps.items()
    }
    return PictureRow(maps.title, maps.about, pictures)


def _metric_bar(maps: MetricMaps, known: Mask) -> ColourBar:
    """As for errors; a percentage goes to 100 so that all or nothing looks the same everywhere."""
    if maps.numbered:
        return ColourBar(0.0, 1.0, "", "fragments", aside="no structure")
    bar = replace(error_bar(maps.maps.values(), known, maps.unit), aside="not measured")
    return replace(bar, high=100.0) if maps.unit == "%" and 0 <= bar.low < bar.high <= 100 else bar
