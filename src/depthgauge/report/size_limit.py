"""Keeps a page below a size: pictures shrink step by step, and a note says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from depthgauge.report.map_pictures import reduced
from depthgauge.report.page import MethodPictures, Page, Picture, SamplePictures

LIMIT_BYTES = 15_000_000
_SHARES = (0.85, 0.7, 0.55, 0.4, 0.3)


def fitted(page: Page, render: Callable[[Page], str], limit: int = LIMIT_BYTES) -> str:
    """The rendered page, with pictures as large as the limit allows.

    Args:
        page: What is shown.
        render: Makes the text of a page.
        limit: Largest size in bytes. Where even small pictures are too many, the last samples have
            none; numbers are never left out.
    """
    text = render(page)
    if not page.pictures or _size(text) <= limit:
        return text
    for share in _SHARES:
        small = _shrunk(page, share)
        note = f"Pictures have {100 * share:.0f} % of their width, to keep this page small."
        text = render(replace(small, notes=(*page.notes, note)))
        if _size(text) <= limit:
            return text
    while small.pictures and _size(text) > limit:
        small = replace(small, pictures=small.pictures[: len(small.pictures) // 2])
        note = (
            f"Pictures have {100 * _SHARES[-1]:.0f} % of their width and are of "
            f"{len(small.pictures)} of {len(page.pictures)} samples, to keep this page small."
        )
        text = render(replace(small, notes=(*page.notes, note)))
    return text


def _size(text: str) -> int:
    return len(text.encode())


def _shrunk(page: Page, share: float) -> Page:
    def one(picture: Picture | None) -> Picture | None:
        return None if picture is None else reduced(picture, share)

    def method(pictures: MethodPictures) -> MethodPictures:
        return replace(
            pictures,
            estimate=one(pictures.estimate),
            error=one(pictures.error),
            median_diff=one(pictures.median_diff),
        )

    def group(pictures: SamplePictures) -> SamplePictures:
        return replace(
            pictures,
            inputs=tuple(reduced(picture, share) for picture in pictures.inputs),
            truth=one(pictures.truth),
            together=tuple(reduced(picture, share) for picture in pictures.together),
            methods=tuple(method(pictures) for pictures in pictures.methods),
        )

    return replace(page, pictures=tuple(group(pictures) for pictures in page.pictures))
