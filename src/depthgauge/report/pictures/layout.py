"""The pictures of one sample: inputs, truth, and what each method made of it, on one scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from depthgauge.analysis.maps.sample_maps import SampleMaps, SampleResult
from depthgauge.analysis.maps.scatter import Scatter, count_pairs, scatter_edges
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.encode import (
    MOST_WIDE,
    Outline,
    error_bar,
    picture_of_image,
    picture_of_map,
    signed_bar,
    value_bar,
)
from depthgauge.report.pictures.model import (
    ColourBar,
    MethodPictures,
    Picture,
    PictureRow,
    SamplePictures,
)
from depthgauge.report.pictures.pairs import order_rows, relations_picture
from depthgauge.report.pictures.photo import image_of
from depthgauge.report.pictures.points import with_larger_points
from depthgauge.report.pictures.rows import (
    best_quarter_row,
    metric_rows,
    normals_row,
    outlined_row,
)
from depthgauge.report.tables.numbers import show_amount
from depthgauge.types import Image, Map, is_known

ScaleOf = Callable[[Map, str], ColourBar]
"""From a map and its unit to the colours in which it is drawn."""

_ERROR_NAMES = {"length": "end-point error", "angle": "angle to the truth"}


def draw_maps(sample: SampleMaps, scale_of: ScaleOf = value_bar) -> SamplePictures:
    """Draws a sample whose maps have a value per pixel.

    Truth and estimates share one scale, and so do all errors. Where values are known up to a scale
    only, every estimate has its own scale.

    Args:
        sample: All maps.
        scale_of: The colours of truth and estimates.
    """
    unit = unit_of(sample) if sample.error_unit is None else sample.error_unit
    exact, sample = sample, with_larger_points(sample)
    errors = error_bar(sample.errors.values(), is_known(sample.truth), unit)
    if sample.judged is not None:
        errors = replace(errors, aside="not measured")
    if sample.errors_up_to is not None:
        low = -sample.errors_up_to if errors.low < 0 else 0.0
        errors = replace(errors, low=low, high=sample.errors_up_to)
    return SamplePictures(
        sample=sample.sample,
        why=sample.why,
        inputs=input_pictures(sample),
        truth=_truth(sample, scale_of),
        together=tuple(_together(sample, errors)),
        methods=tuple(_methods(sample, scale_of, unit, errors)),
        rows=(
            *_rows(sample, scale_of, unit),
            *metric_rows(sample.metric_maps, is_known(exact.truth)),
        ),
        scatter=_scatter(exact),
    )


def with_pairs(drawn: SamplePictures, sample: SampleMaps) -> SamplePictures:
    """The pictures of a sample with those of its pairs of points, if scores need them."""
    if sample.protocol is None or sample.unestimated is None:
        return drawn
    image = photo_of(sample)
    relations = relations_picture(sample.protocol, sample.unestimated, image)
    return replace(
        drawn,
        together=(*drawn.together, *([relations] if relations is not None else [])),
        rows=(*drawn.rows, *order_rows(sample.protocol, sample.prepared, image)),
    )


def unit_of(sample: SampleMaps) -> str:
    """The unit of the sample's quantity."""
    return QUANTITIES[sample.quantity].unit


def photo_of(sample: SampleMaps) -> Image | None:
    """The photograph over which maps are drawn."""
    return image_of(sample.images)


def input_pictures(sample: SampleMaps) -> tuple[Picture, ...]:
    """The images that methods were given; one that has two names is shown once."""
    shown: list[Image] = []
    pictures = []
    for name, image in sample.images.items():
        if not any(np.array_equal(image, other) for other in shown):
            shown.append(image)
            caption = name.replace("_", " ")
            pictures.append(picture_of_image(image, caption, wide=width_of(sample)))
    return tuple(pictures)


def width_of(sample: SampleMaps) -> int:
    """The largest width of the sample's pictures."""
    return MOST_WIDE if sample.most_wide is None else sample.most_wide


def note_of(sample: SampleMaps, label: str) -> str:
    """A few words below a method's name: its score on this sample, or why it failed."""
    result = sample.results.get(label, SampleResult())
    if result.failed:
        return f"failed: {result.failed}"
    if result.rates is not None:
        rates = result.rates
        return f"F {rates.f:.2f}, precision {rates.precision:.2f}, recall {rates.recall:.2f}"
    if result.value is None or sample.main is None:
        return ""
    score = f"{sample.main.metric} {show_amount(result.value, sample.main.unit)}"
    return f"{score} of this sample alone" if result.is_alone else score


def _value_scale(sample: SampleMaps, scale_of: ScaleOf) -> ColourBar:
    """The colours of the truth, and of estimates where these can be compared with it."""
    values = sample.truth if sample.scale_truth is None else sample.scale_truth
    return scale_of(values, unit_of(sample))


def _truth(sample: SampleMaps, scale_of: ScaleOf) -> Picture | None:
    """The true map; None if there is none, as when only pairs of points are known."""
    known = is_known(sample.truth)
    if not known.any():
        return None
    bar = _value_scale(sample, scale_of)
    caption = f"true {sample.quantity.replace('_', ' ')}"
    return picture_of_map(sample.truth, known, bar, caption, wide=width_of(sample))


def _rows(sample: SampleMaps, scale_of: ScaleOf, unit: str) -> Iterator[PictureRow]:
    known = is_known(sample.truth)
    if sample.edges is not None and sample.estimates:
        bar = _value_scale(sample, scale_of)
        yield outlined_row(sample.estimates, Outline(sample.edges, sample.truth), bar)
    if sample.errors:
        yield best_quarter_row(sample.errors, known, unit)
    if sample.normals_of is not None:
        yield normals_row(sample.truth, sample.estimates, sample.normals_of)


def _scatter(sample: SampleMaps) -> dict[str, Scatter]:
    if not sample.has_value_errors:
        return {}
    edges = scatter_edges([sample.truth])
    return {
        label: count_pairs(values, sample.truth, edges)
        for label, values in sample.estimates.items()
    }


def _error_name(sample: SampleMaps) -> str:
    if sample.is_up_to_scale:
        return "distance after the best scale of each surface"
    return _ERROR_NAMES.get(QUANTITIES[sample.quantity].error, "absolute error")


def _methods(
    sample: SampleMaps, scale_of: ScaleOf, unit: str, errors: ColourBar
) -> Iterator[MethodPictures]:
    known = is_known(sample.truth)
    everywhere = known | True
    aside = None if sample.judged is None else known & ~sample.judged
    shared = _value_scale(sample, scale_of)
    differences = signed_bar(sample.median_diffs.values(), known, unit)
    for label in dict.fromkeys((*sample.estimates, *sample.errors, *sample.results)):
        estimate = sample.estimates.get(label)
        error = sample.errors.get(label)
        difference = sample.median_diffs.get(label)
        scale = scale_of(estimate, "") if sample.is_up_to_scale and estimate is not None else shared
        yield MethodPictures(
            label=label,
            estimate=None
            if estimate is None
            else picture_of_map(estimate, everywhere, scale, "estimate", wide=width_of(sample)),
            error=None
            if error is None
            else picture_of_map(
                error,
                known,
                errors,
                _error_name(sample),
                worst_of_block=True,
                aside=aside,
                wide=width_of(sample),
            ),
            median_diff=None
            if difference is None
            else picture_of_map(
                difference,
                known,
                differences,
                "against the median method (blue: better)",
                worst_of_block=True,
            ),
            note=note_of(sample, label),
        )


def _together(sample: SampleMaps, errors: ColourBar) -> Iterator[Picture]:
    known = is_known(sample.truth)
    if sample.share_wrong is not None:
        bar = ColourBar(0, 100, "%", "magma")
        caption = f"share of methods that are wrong{_wrong_words(sample)}"
        yield picture_of_map(sample.share_wrong, known, bar, caption, worst_of_block=True)
    for values, caption in (
        (sample.median_error, "median error of all methods"),
        (sample.least_error, "least error of any method"),
    ):
        if values is not None:
            yield picture_of_map(values, known, errors, caption, worst_of_block=True)


def _wrong_words(sample: SampleMaps) -> str:
    if sample.wrong_above is None:
        return ""
    return f" (error above {f'{sample.wrong_above:g} {unit_of(sample)}'.strip()})"
