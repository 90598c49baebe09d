"""Rows with a picture per method: the truth's edges, Q25, surface normals, what metrics see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.metric_maps import MetricMaps
from depthgauge.report.pictures.encode import ROW_WIDE, Outline, error_bar, picture_of_map
from depthgauge.report.pictures.model import ColourBar, Picture, PictureRow
from depthgauge.report.tables.numbers import show_amount
from depthgauge.report.words.regions import first_paragraph
from depthgauge.types import Map, Mask, is_known

_BEST = 25
_ABOUT_NORMALS = (
    "Where surfaces face: light blue to the viewer, redder to the right, greener upwards. Noise, "
    "steps and patches that are too small to be visible in the values show here."
)
_ABOUT_FRAGMENTS = (
    " Every fragment has its own colour; dark pixels belong to a structure but were not found."
)


def outlined_row(estimates: Mapping[str, Map], outline: Outline, bar: ColourBar) -> PictureRow:
    """The estimates with the truth's discontinuities drawn over them."""
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
        f"Errors of the {_BEST} % of the pixels that each method estimates best: where it is most "
        f"accurate, and how accurate it can be. Q{_BEST} is the largest of them; pixels above it "
        "are grey."
    )
    return PictureRow(f"The best quarter of each method (Q{_BEST})", about, pictures)


def _quantile(values: Map, known: Mask) -> float:
    here = values[known & np.isfinite(values)]
    return float(np.percentile(here, _BEST)) if here.size else float("nan")


def normals_row(
    truth: Map, estimates: Mapping[str, Map], normals_of: Callable[[Map], Map]
) -> PictureRow:
    """The normals of the truth first, then those of every method (figure 4.4 of Honauer 2019).

    One map after the other, so that large ones need not be in memory together.
    """
    pictures = {"the truth": _normals(truth, normals_of, "truth", is_truth=True)}
    for label, values in estimates.items():
        pictures[label] = _normals(values, normals_of, label)
    return PictureRow("Surface normals", _ABOUT_NORMALS, pictures)


def _normals(
    values: Map, normals_of: Callable[[Map], Map], caption: str, *, is_truth: bool = False
) -> Picture:
    """Missing values are missing; the pixels beside them and at the border only have no normal."""
    normals = normals_of(values)
    there = is_known(values)
    known = there if is_truth else np.ones(there.shape, bool)
    bar = ColourBar(0.0, 1.0, "", "ball", aside="no normal")
    aside = there & ~is_known(normals)
    return picture_of_map(normals, known, bar, caption, aside=aside, wide=ROW_WIDE)


def metric_rows(maps: Iterable[MetricMaps], known: Mask) -> list[PictureRow]:
    """What each metric sees, on one scale for all methods; what looks the same is shown once.

    Maps are processed one after the other, so that large ones need not be in memory together.
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
    about = _about(maps)
    if not maps.judged.any():
        return PictureRow(maps.title, f"{about} This sample has no pixels for it.", {})
    seen = any(np.nan_to_num(values[known]).any() for values in maps.maps.values())
    if not seen and maps.counts is None:
        return PictureRow(maps.title, f"{about} Here it is 0 at every pixel.", {})
    bar, aside = _metric_bar(maps, known), known & ~maps.judged
    pictures = {
        label: picture_of_map(
            values,
            known,
            bar,
            _caption(maps, label),
            worst_of_block=True,
            aside=aside,
            wide=ROW_WIDE,
        )
        for label, values in maps.maps.items()
    }
    return PictureRow(maps.title, about, pictures)


def _metric_bar(maps: MetricMaps, known: Mask) -> ColourBar:
    """As for errors; percentages end at 100, so that extremes look the same everywhere."""
    if maps.counts is not None:
        return ColourBar(0.0, 1.0, "", "fragments", aside="no structure")
    bar = replace(error_bar(maps.maps.values(), known, maps.unit), aside="not measured")
    return replace(bar, high=100.0) if maps.unit == "%" and 0 <= bar.low < bar.high <= 100 else bar


def _about(maps: MetricMaps) -> str:
    """The first paragraph of the metric's description, and how to read its picture."""
    finer = (
        f" Scored at resolution '{maps.resolution}'; drawn at the images' size, where a length in "
        "px covers more of the scene."
    )
    more = _ABOUT_FRAGMENTS if maps.counts is not None else ""
    return first_paragraph(maps.doc) + more + (finer if maps.resolution else "")


def _caption(maps: MetricMaps, label: str) -> str:
    text = label
    if label in maps.scores:
        region = "" if maps.region == "all" else f" on {maps.region}"
        text += f", {show_amount(maps.scores[label], maps.unit)}{region}"
    if maps.counts is not None:
        count = maps.counts[label]
        text += f", {count} fragment{'' if count == 1 else 's'}"
    return text
