"""Kept pictures and colour bars as templates need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import Picture
from depthgauge.report.sections._figures import shared_bar
from depthgauge.serve.exhibits.files import bar_of
from depthgauge.serve.web.kept import Exhibit

Record = Mapping[str, Any]
NAMES = {"estimate": "estimate", "error": "error", "lines": "vectors", "truth": "truth"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture of a page."""

    url: str
    width: int
    height: int
    caption: str
    alt: str
    is_map: bool
    """Whether its pixels are values, which are not blurred when it is enlarged."""
    tiles: str = ""
    """The address of its tiles; empty if it has none."""


def figure(
    exhibit: Exhibit, record: Record, *, of: str, caption: str = "", tiles: str = ""
) -> Figure:
    """A kept picture.

    Args:
        exhibit: Where it is.
        record: What the index says about it.
        of: Whose picture it is, and of which sample, for those who cannot see it.
        caption: By default its own.
        tiles: The name of its tiles in the exhibit.
    """
    return Figure(
        f"{exhibit.base}{record['file']}",
        record["width"],
        record["height"],
        caption or record["caption"],
        f"{record['caption']}: {of}",
        record["bar"] is not None,
        f"{exhibit.base}{tiles}" if tiles else "",
    )


def key(records: Iterable[Record], name: str) -> Markup:
    """The colour bar that pictures share; empty if they have none, or several.

    Args:
        records: What the index says about them.
        name: Unique on the page.
    """
    pictures = [Picture(b"", (1, 1), "", bar_of(each["bar"])) for each in records]
    bar = shared_bar(pictures)
    return Markup("") if bar is None else colour_bar(bar, name)


def by_kind(records: Iterable[Record]) -> dict[str, Record]:
    """The pictures of a sample by what they show: `estimate`, `error`, `lines`, `truth`."""
    return {each["kind"]: each for each in records}
