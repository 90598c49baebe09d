"""Pictures on the page: thumbnails that open at full size, and the colour bars they share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from depthgauge.report.charts.density import data_url
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.tables.numbers import unit_after_number


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture on the page."""

    id: str
    """Its address: opened at `#id`, closed at `#id-at`."""
    url: str
    alt: str
    caption: str
    about: str
    """The text below the opened picture: what it shows, and the range of its colours."""
    width: int
    height: int
    kind: str = ""
    """`map` where pixels are values, which are not blurred when enlarged."""
    bars: tuple[Markup, ...] = ()
    """Its own colour bar, if it is not shared."""


def thumbnail(
    picture: Picture,
    name: str,
    *,
    of: str = "",
    sample: str = "",
    alt: str = "",
    shared: Collection[tuple[object, ...]] | None = None,
) -> Figure:
    """A picture that opens at full size when it is followed as a link.

    Args:
        picture: What it shows.
        name: Unique on the page.
        of: Whose picture it is; empty for inputs and truth.
        sample: The sample.
        alt: What it shows in words; by default its caption, `of` and `sample`.
        shared: The scales that have a colour bar elsewhere; None: the picture needs none.
    """
    bar = picture.bar
    own = bar is not None and shared is not None and scale_of(bar) not in shared
    shown = alt or f"{picture.caption}{f' of {of}' if of else ''}, sample {sample}"
    return Figure(
        name,
        data_url(picture.data),
        shown,
        picture.caption,
        shown + _range(bar),
        *picture.size_px,
        "" if bar is None else "map",
        (colour_bar(bar, f"{name}-bar"),) if own and bar is not None else (),
    )


_WITHOUT_RANGE = ("ball", "fragments", "entries")


def _range(bar: ColourBar | None) -> str:
    if bar is None or bar.colours in _WITHOUT_RANGE:
        return ""
    return f" (colours from {bar.low:.3g} to {bar.high:.3g}{unit_after_number(bar.unit)})"


def shared_bar(pictures: Iterable[Picture | None]) -> ColourBar | None:
    """The colour bar that pictures share; None if they have none or differ."""
    bars = [picture.bar for picture in pictures if picture is not None and picture.bar is not None]
    if not bars or len({scale_of(bar) for bar in bars}) > 1:
        return None
    return replace(
        bars[0],
        below=any(bar.below for bar in bars),
        above=any(bar.above for bar in bars),
        missing=any(bar.missing for bar in bars),
        no_truth=any(bar.no_truth for bar in bars),
        aside=next((bar.aside for bar in bars if bar.aside), ""),
    )


def scale_of(bar: ColourBar) -> tuple[object, ...]:
    """What two bars must agree in to be one."""
    return bar.low, bar.high, bar.unit, bar.colours, bar.entries
