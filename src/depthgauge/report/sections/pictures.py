"""The pictures of the report: one folding group per sample, colour bars shared where possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.report.charts.density import density_plot
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import (
    ColourBar,
    LayerPictures,
    MethodPictures,
    Picture,
    SamplePictures,
)
from depthgauge.report.sections._figures import Figure, scale_of, shared_bar, thumbnail
from depthgauge.report.sections._section import SectionSpec

OPEN_FIRST = 1
"""How many samples are unfolded when the page opens."""


@dataclass(frozen=True, slots=True)
class RowView:
    """One thing of every method, folded."""

    title: str
    about: str
    keys: tuple[Markup, ...] = ()
    figures: Sequence[Figure] = ()
    charts: Sequence[Markup] = ()


MethodView = tuple[str, str, Sequence[Figure]]
"""Label, note, figures."""


@dataclass(frozen=True, slots=True)
class LayerView:
    """One layer: a stop of the slider."""

    name: str
    about: str
    methods: Sequence[MethodView]
    """The truth first."""


@dataclass(frozen=True, slots=True)
class GroupView:
    """One sample on the page."""

    sample: str
    why: str
    first: Sequence[Figure]
    """Inputs, truth, and pictures about all methods together."""
    keys: Sequence[tuple[str, Markup]]
    """Shared colour bars."""
    methods: Sequence[MethodView]
    slider: str = ""
    """The name of the slider; empty: there is none."""
    layers: Sequence[LayerView] = ()
    """Where there are some, they have the pictures of methods."""
    rows: Sequence[RowView] = ()


SPEC = SectionSpec("pictures", "Where the errors are", "Pictures", order=120)


def body(page: Page) -> Markup | None:
    """The pictures of the samples that were chosen."""
    return pictures_html(page.pictures, page.unit, page.about_pictures) if page.pictures else None


def pictures_html(groups: Sequence[SamplePictures], unit: str = "", about: str = "") -> Markup:
    """All groups, the first ones open.

    Args:
        groups: What is shown.
        unit: That of the quantity.
        about: How to read the pictures, where colour bars do not say enough.
    """
    views = [_group(group, f"sample{k}", unit) for k, group in enumerate(groups)]
    states = [Markup(" open") if k < OPEN_FIRST else "" for k in range(len(views))]
    texts = [about] if about else []
    return render("pictures.html.j2", texts=texts, groups=list(zip(views, states, strict=True)))


def _group(group: SamplePictures, name: str, unit: str) -> GroupView:
    stops = group.layers or (LayerPictures("", "", group.truth, group.methods),)
    keys = list(_keys(group, stops, name))
    shared = {scale_of(bar) for _, bar in keys}

    def figure(picture: Picture, of: str, place: str) -> Figure:
        return thumbnail(picture, f"{name}-{place}", of=of, sample=group.sample, shared=shared)

    def method(each: MethodPictures, place: str) -> MethodView:
        pictures = (each.estimate, each.error, each.lines, each.median_diff)
        shown = [
            figure(picture, each.label, f"{place}-{i}")
            for i, picture in enumerate(pictures)
            if picture is not None
        ]
        return each.label, each.note, shown

    def layer(stop: LayerPictures, place: str) -> LayerView:
        truth = [figure(stop.truth, "", f"{place}-t")] if stop.truth is not None else []
        methods = [method(each, f"{place}-m{k}") for k, each in enumerate(stop.methods)]
        return LayerView(stop.name, stop.about, [("truth", "", truth), *methods])

    has_truth = group.truth is not None and not group.layers
    first = [*group.inputs, *([group.truth] if group.truth and has_truth else []), *group.together]
    return GroupView(
        sample=group.sample,
        why=" \u00b7 ".join(group.why),
        first=[figure(picture, "", f"f{k}") for k, picture in enumerate(first)],
        keys=[(title, colour_bar(bar, f"{name}-key{k}")) for k, (title, bar) in enumerate(keys)],
        methods=[]
        if group.layers
        else [method(each, f"m{k}") for k, each in enumerate(group.methods)],
        slider=f"{name}-layer" if group.layers else "",
        layers=[layer(each, f"l{k}") for k, each in enumerate(group.layers)],
        rows=[*_rows(group, name), *_scatter(group, name, unit)],
    )


def _keys(
    group: SamplePictures, stops: Sequence[LayerPictures], name: str
) -> Iterator[tuple[str, ColourBar]]:
    """The colour bars that all methods share, in all layers."""
    methods = [method for stop in stops for method in stop.methods]
    for title, pictures in (
        ("truth and estimates", [*(s.truth for s in stops), *(m.estimate for m in methods)]),
        ("errors", [m.error for m in methods]),
        ("lines, by error", [m.lines for m in methods]),
        ("against the median", [m.median_diff for m in methods]),
    ):
        bar = shared_bar(pictures)
        if bar is not None:
            yield title, bar


def _rows(group: SamplePictures, name: str) -> Iterator[RowView]:
    """The folded rows; the pictures of a row share one scale."""
    for k, row in enumerate(group.rows):
        bar = shared_bar(row.pictures.values())
        yield RowView(
            title=row.title,
            about=row.about,
            keys=(colour_bar(bar, f"{name}-row{k}"),) if bar is not None else (),
            figures=[
                thumbnail(
                    picture,
                    f"{name}-row{k}-{n}",
                    alt=f"{row.title}, {label}, sample {group.sample}",
                )
                for n, (label, picture) in enumerate(row.pictures.items())
            ],
        )


def _scatter(group: SamplePictures, name: str, unit: str) -> Iterator[RowView]:
    if group.scatter:
        about = "A perfect method has all pixels on the line; a staircase shows discrete labels."
        charts = [
            density_plot(found, label, unit, f"{name}-scatter{k}")
            for k, (label, found) in enumerate(group.scatter.items())
        ]
        yield RowView("Truth against estimate", about, charts=charts)
