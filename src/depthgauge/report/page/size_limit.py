"""Keeps a page below a size: pictures shrink step by step, and a note says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from depthgauge.report.page.model import Page
from depthgauge.report.pictures.encode import reduced
from depthgauge.report.pictures.model import (
    LayerPictures,
    MethodPictures,
    Picture,
    PictureRow,
    SamplePictures,
)

LIMIT_BYTES = 15_000_000
_SHARES = (0.85, 0.7, 0.55, 0.4, 0.3)
_MARKUP_BYTES = 1200
"""Approximate size of a picture without its data: links, texts, its part of a colour bar."""
_WITH_ROWS = 4
"""How many samples keep the pictures of what metrics see when the page gets too large."""
_OTHER_ROWS = " The other pictures of what metrics see are left out."


def fitted(page: Page, render: Callable[[Page], str], limit: int = LIMIT_BYTES) -> str:
    """The rendered page, with pictures as large as the limit allows.

    Args:
        page: What is shown.
        render: Makes the text of a page.
        limit: Largest size in bytes. Pictures of what metrics see go before any picture loses half
            of its width; where even small pictures are too many, the last samples have none.
            Numbers are never left out.
    """
    text = render(page)
    if not page.pictures or _size(text) <= limit:
        return text
    frame = _size(text) - _picture_bytes(page)
    for small, note in _smaller(page):
        if small.pictures and frame + _picture_bytes(small) > 1.1 * limit:
            continue  # far too large; rendering takes long
        text = render(replace(small, notes=(*page.notes, note)))
        if _size(text) <= limit:
            break
    return text


def _smaller(page: Page) -> Iterator[tuple[Page, str]]:
    """The page with smaller and fewer pictures at each step, and a note that says so."""
    stages: list[tuple[Page, tuple[float, ...], str]] = [(page, _SHARES, "")]
    if any(group.rows for group in page.pictures):
        few, none = _with_rows(page, _WITH_ROWS), _with_rows(page, 0)
        stages = [
            (page, _SHARES[:2], ""),
            (few, _SHARES[:3], _OTHER_ROWS),
            (none, _SHARES[2:], _OTHER_ROWS),
        ]
    for start, shares, more in stages:
        for share in shares:
            small = _shrunk(start, share)
            note = f"Pictures have {100 * share:.0f} % of their width, to keep this page small."
            yield small, note + more
    while small.pictures:
        fewer = small.pictures[: len(small.pictures) // 2]
        small = replace(small, pictures=fewer, examples=small.examples if fewer else ())
        yield (
            small,
            f"Pictures have {100 * _SHARES[-1]:.0f} % of their width and are of "
            f"{len(small.pictures)} of {len(page.pictures)} samples, to keep this page small.",
        )


def _size(text: str) -> int:
    return len(text.encode())


def _picture_bytes(page: Page) -> int:
    """What the pictures add to a page; base64 uses four characters for three bytes."""
    return sum(
        4 * len(picture.data) // 3 + _MARKUP_BYTES
        for group in (*page.examples, *page.pictures)
        for picture in _all_pictures(group)
        if picture is not None
    )


def _all_pictures(group: SamplePictures) -> Iterator[Picture | None]:
    yield from (*group.inputs, group.truth, *group.together)
    yield from (layer.truth for layer in group.layers)
    for method in (*group.methods, *(m for layer in group.layers for m in layer.methods)):
        yield from (method.estimate, method.error, method.lines, method.median_diff)
    for row in group.rows:
        yield from row.pictures.values()


def _with_rows(page: Page, samples: int) -> Page:
    """The page with the rows of its first samples only."""
    groups = (
        replace(group, rows=group.rows if n < samples else ())
        for n, group in enumerate(page.pictures)
    )
    return replace(page, pictures=tuple(groups))


def _shrunk(page: Page, share: float) -> Page:
    def one(picture: Picture | None) -> Picture | None:
        return None if picture is None else reduced(picture, share)

    def method(pictures: MethodPictures) -> MethodPictures:
        return replace(
            pictures,
            estimate=one(pictures.estimate),
            error=one(pictures.error),
            median_diff=one(pictures.median_diff),
            lines=one(pictures.lines),
        )

    def layer(pictures: LayerPictures) -> LayerPictures:
        methods = tuple(method(each) for each in pictures.methods)
        return replace(pictures, truth=one(pictures.truth), methods=methods)

    def row(pictures: PictureRow) -> PictureRow:
        shrunk = {label: reduced(each, share) for label, each in pictures.pictures.items()}
        return replace(pictures, pictures=shrunk)

    def group(pictures: SamplePictures) -> SamplePictures:
        return replace(
            pictures,
            inputs=tuple(reduced(picture, share) for picture in pictures.inputs),
            truth=one(pictures.truth),
            together=tuple(reduced(picture, share) for picture in pictures.together),
            methods=tuple(method(each) for each in pictures.methods),
            layers=tuple(layer(each) for each in pictures.layers),
            rows=tuple(row(each) for each in pictures.rows),
        )

    return replace(
        page,
        examples=tuple(group(pictures) for pictures in page.examples),
        pictures=tuple(group(pictures) for pictures in page.pictures),
    )
