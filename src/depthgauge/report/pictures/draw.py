"""All pictures of one sample: inputs, truth, and what each method made of it, on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from depthgauge.quantities import QUANTITIES
from depthgauge.report.page.model import (
    ColourBar,
    MethodPictures,
    Picture,
    PictureRow,
    SamplePictures,
    Scatter,
)
from depthgauge.report.pictures.encode import (
    error_bar,
    picture_of_image,
    picture_of_map,
    signed_bar,
    value_bar,
)
from depthgauge.report.pictures.kinds import Kind
from depthgauge.report.pictures.metric_maps import MetricMaps
from depthgauge.report.pictures.normal_row import normals_row
from depthgauge.report.pictures.outlines import Outline
from depthgauge.report.pictures.rows import best_quarter_row, metric_rows, outlined_row
from depthgauge.report.pictures.scatter import count_pairs, scatter_edges
from depthgauge.types import Image, Map, Mask, Rig, is_known


@dataclass(frozen=True)
class SampleMaps:
    """What is known of one sample before it is drawn; all maps have the truth's size."""

    sample: str
    quantity: str
    truth: Map
    """(H, W); of flow (H, W, 2), of normals (H, W, 3); NaN where there is none."""
    kind: Kind = "values"
    images: Mapping[str, Image] = field(default_factory=dict)
    """By caption: `left image` ..."""
    estimates: Mapping[str, Map] = field(default_factory=dict)
    """By label; NaN where there is none."""
    errors: Mapping[str, Map] = field(default_factory=dict)
    """By label, (H, W), as the metric shows them; NaN where there is no estimate."""
    judged: Mask | None = None
    """The pixels that errors are about; all with truth where it is None."""
    error_name: str = "absolute error"
    error_unit: str | None = None
    """The quantity's own where it is None."""
    median_diffs: Mapping[str, Map] = field(default_factory=dict)
    """By label, (H, W): error minus the median error of all methods; negative is better."""
    share_wrong: Map | None = None
    """(H, W) in percent: how many methods are wrong here."""
    share_wrong_at: str = ""
    """What wrong means: `error above 2 px`."""
    median_error: Map | None = None
    """(H, W): the median error of all methods at each pixel."""
    least_error: Map | None = None
    """(H, W): the error of the best method of each pixel."""
    outline: Outline | None = None
    """The truth's discontinuities, to be drawn over estimates."""
    rig: Rig | None = None
    """Through which surface normals are seen; None: they are not shown."""
    metric_maps: Iterable[MetricMaps] = ()
    """What metrics see; taken once, one metric after the other."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """By label: a few words such as the method's score here."""
    why: tuple[str, ...] = ()


def draw_sample(maps: SampleMaps) -> SamplePictures:
    """Draws a sample; truth and estimates share one scale, and so do all errors."""
    own = QUANTITIES[maps.quantity].unit
    unit = own if maps.error_unit is None else maps.error_unit
    known = is_known(maps.truth)
    errors = error_bar(maps.errors.values(), known, unit)
    if maps.judged is not None:
        errors = replace(errors, aside="not measured")
    return SamplePictures(
        sample=maps.sample,
        why=maps.why,
        inputs=tuple(picture_of_image(image, name) for name, image in maps.images.items()),
        truth=_truth(maps, own),
        together=tuple(_together(maps, errors)),
        methods=tuple(_methods(maps, own, unit, errors)),
        rows=tuple(_rows(maps, own, unit)),
        scatter=_scatter(maps),
    )


def _truth(maps: SampleMaps, own: str) -> Picture | None:
    """The true map; None where there is none, as where only pairs of points are known."""
    known = is_known(maps.truth)
    if not known.any():
        return None
    bar = value_bar(maps.truth, maps.quantity, own)
    return picture_of_map(maps.truth, known, bar, f"true {maps.quantity}")


def _rows(maps: SampleMaps, own: str, unit: str) -> Iterator[PictureRow]:
    if maps.outline is not None and maps.estimates:
        yield outlined_row(maps.estimates, maps.outline, maps.quantity, own)
    if maps.errors:
        yield best_quarter_row(maps.errors, is_known(maps.truth), unit)
    if maps.rig is not None:
        yield normals_row(maps.truth, maps.estimates, maps.quantity, maps.rig)
    yield from metric_rows(maps.metric_maps, is_known(maps.truth))


def _scatter(maps: SampleMaps) -> dict[str, Scatter]:
    if maps.kind != "values":
        return {}
    edges = scatter_edges([maps.truth])
    return {
        label: count_pairs(values, maps.truth, edges) for label, values in maps.estimates.items()
    }


def _methods(maps: SampleMaps, own: str, unit: str, errors: ColourBar) -> list[MethodPictures]:
    known = is_known(maps.truth)
    everywhere = known | True
    aside = None if maps.judged is None else known & ~maps.judged
    shared = value_bar(maps.truth, maps.quantity, own)
    differences = signed_bar(maps.median_diffs.values(), known, unit)
    labels = dict.fromkeys((*maps.estimates, *maps.errors, *maps.median_diffs, *maps.notes))
    made = []
    for label in labels:
        estimate = maps.estimates.get(label)
        error = maps.errors.get(label)
        difference = maps.median_diffs.get(label)
        values = shared
        if maps.kind == "shapes" and estimate is not None:
            values = value_bar(estimate, maps.quantity, "")
        made.append(
            MethodPictures(
                label=label,
                estimate=None
                if estimate is None
                else picture_of_map(estimate, everywhere, values, "estimate"),
                error=None
                if error is None
                else picture_of_map(
                    error, known, errors, maps.error_name, worst_of_block=True, aside=aside
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
                note=maps.notes.get(label, ""),
            )
        )
    return made


def _together(maps: SampleMaps, errors: ColourBar) -> list[Picture]:
    known = is_known(maps.truth)
    made = []
    if maps.share_wrong is not None:
        bar = ColourBar(0, 100, "%", "magma")
        at = f" ({maps.share_wrong_at})" if maps.share_wrong_at else ""
        caption = f"share of methods that are wrong{at}"
        made.append(picture_of_map(maps.share_wrong, known, bar, caption, worst_of_block=True))
    for values, caption in (
        (maps.median_error, "median error of all methods"),
        (maps.least_error, "least error of any method"),
    ):
        if values is not None:
            made.append(picture_of_map(values, known, errors, caption, worst_of_block=True))
    return made
