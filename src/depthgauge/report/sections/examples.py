"""The best, the median and the worst sample of the best method, directly below the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from depthgauge.report.page.model import Page
from depthgauge.report.page.templates import render
from depthgauge.report.pictures.model import ColourBar, Picture, SamplePictures
from depthgauge.report.sections._figures import Figure, scale_of, shared_bar, thumbnail
from depthgauge.report.sections._section import SectionSpec

SPEC = SectionSpec("examples", "Best, median and worst sample", "Examples", order=20)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One sample: a row of pictures."""

    what: str
    """`best`, `median and worst` ..."""
    sample: str
    note: str
    """The method's score on it, or why it failed."""
    figures: Sequence[Figure]


def body(page: Page) -> Markup | None:
    """A row for each example: the image, the truth, the estimate and its error."""
    if not page.examples:
        return None
    label = next((m.label for group in page.examples for m in group.methods), "")
    views = [_view(group, f"example{k}") for k, group in enumerate(page.examples)]
    return render("examples.html.j2", label=label, main=page.board.main, views=views)


def _view(group: SamplePictures, name: str) -> ExampleView:
    estimates = [method.estimate for method in group.methods]
    shared = shared_bar([group.truth, *estimates])
    below_truth = {scale_of(shared)} if shared is not None and group.truth is not None else set()
    pictures: list[tuple[str, Picture | None, set[tuple[object, ...]]]] = [
        *(("", picture, set()) for picture in group.inputs),
        ("", group.truth if shared is None else _with_bar(group.truth, shared), set()),
    ]
    for method in group.methods:
        pictures += [
            (method.label, method.estimate, below_truth),
            (method.label, method.error, set()),
        ]
    figures = [
        thumbnail(picture, f"{name}-{k}", of=of, sample=group.sample, shared=elsewhere)
        for k, (of, picture, elsewhere) in enumerate(pictures)
        if picture is not None
    ]
    note = next((method.note for method in group.methods), "")
    return ExampleView(" and ".join(group.why), group.sample, note, figures)


def _with_bar(picture: Picture | None, bar: ColourBar) -> Picture | None:
    """The truth with a bar that also says what the estimates have: values out of range, gaps."""
    return None if picture is None else replace(picture, bar=bar)
