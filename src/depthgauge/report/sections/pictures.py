"""The pictures of the report: one folding group per sample, colour bars shared where possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from depthgauge.report.charts.density import density_plot
from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import Picture, SamplePictures
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


@dataclass(frozen=True, slots=True)
class GroupView:
    """One sample on the page."""

    sample: str
    why: str
    first: Sequence[Figure]
    """Inputs, truth, and pictures about all methods together."""
    keys: Sequence[tuple[str, Markup]]
    """Shared colour bars."""
    methods: Sequence[tuple[str, str, Sequence[Figure]]]
    """Label, note, figures."""
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
    values = [group.truth, *(m.estimate for m in group.methods)]
    errors = [*(m.error for m in group.methods)]
    diffs = [m.median_diff for m in group.methods]
    keys: list[tuple[str, Markup]] = []
    shared = set()
    for title, pictures in (
        ("truth and estimates", values),
        ("errors", errors),
        ("against the median", diffs),
    ):
        bar = shared_bar(pictures)
        if bar is not None:
            shared.add(scale_of(bar))
            keys.append((title, colour_bar(bar, f"{name}-key{len(keys)}")))

    def figure(picture: Picture, of: str, place: str) -> Figure:
        return thumbnail(picture, f"{name}-{place}", of=of, sample=group.sample, shared=shared)

    first = [*group.inputs, *([group.truth] if group.truth else []), *group.together]
    methods = [
        (
            method.label,
            method.note,
            [
                figure(picture, method.label, f"m{k}-{i}")
                for i, picture in enumerate((method.estimate, method.error, method.median_diff))
                if picture is not None
            ],
        )
        for k, method in enumerate(group.methods)
    ]
    return GroupView(
        sample=group.sample,
        why=" \u00b7 ".join(group.why),
        first=[figure(picture, "", f"f{k}") for k, picture in enumerate(first)],
        keys=keys,
        methods=methods,
        rows=[*_rows(group, name), *_scatter(group, name, unit)],
    )


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
