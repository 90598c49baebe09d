"""The bar, wheel, ball or swatches beside pictures that says what their colours mean."""

from __future__ import annotations

from markupsafe import Markup

from depthgauge.report.charts.density import data_url
from depthgauge.report.charts.svg import Scale, chart, nice_ticks, path, tag, words
from depthgauge.report.pictures.colours import (
    ASIDE_COLOUR,
    LEVELS,
    MISSING_COLOURS,
    NO_TRUTH_COLOUR,
    colour_table,
    flow_wheel,
    fragment_table,
    hex_of,
    normal_ball,
)
from depthgauge.report.pictures.encode import encode
from depthgauge.report.pictures.model import ColourBar
from depthgauge.report.tables.numbers import unit_after_number

_WIDTH, _HEIGHT, _PAD, _STOPS = 186.0, 10.0, 11.0, 16
_FRAGMENTS = 6


def colour_bar(bar: ColourBar, name: str) -> Markup:
    """The bar with its range and unit, arrows where values exceed it, and missing values."""
    parts, y, about = _meaning(bar, name)
    masks = [("no estimate", MISSING_COLOURS[bar.colours])] if bar.missing else []
    masks += [("no truth", NO_TRUTH_COLOUR)] if bar.no_truth else []
    masks += [(bar.aside, ASIDE_COLOUR)] if bar.aside else []
    for k, (text, colour) in enumerate(masks):
        x, low = _PAD + 92 * (k % 2), y + 16 * (k // 2)
        parts.append(tag("rect", x=x, y=low, width=10, height=10, fill=colour))
        parts.append(words(text, x + 16, low + 9, "tick"))
    height = y - 4 + (18 if masks else 0) + (16 if len(masks) > 2 else 0)
    return chart(name, "Meaning of the colours", about, (_WIDTH + 30, height), *parts, class_="key")


def _meaning(bar: ColourBar, name: str) -> tuple[list[Markup], float, str]:
    """What is drawn, its height, and the same in words."""
    if bar.colours == "ball":
        return _ball(), 66.0, "the directions of surfaces, on a ball"
    if bar.colours == "entries":
        about = ", ".join(f"{text}: {colour}" for text, colour in bar.entries)
        return _entries(bar), 10.0 + 16 * len(bar.entries), about
    if bar.colours == "fragments":
        return _swatches(), 38.0, "fragments, each in its own colour; dark: not found"
    about = f"from {bar.low:g} to {bar.high:g}{unit_after_number(bar.unit)}"
    if bar.colours == "wheel":
        return _wheel(bar), 66.0, about
    if bar.colours == "rgb":
        return _greys(bar, name), 58.0, f"red, green and blue, each {about}"
    return _gradient(bar, name), 42.0, about


def _greys(bar: ColourBar, name: str) -> list[Markup]:
    """The scale of each channel, as greys."""
    text = words("red, green and blue, each on this scale", _PAD, 46, "tick")
    return [*_gradient(bar, name, "gray"), text]


def _gradient(bar: ColourBar, name: str, colours: str = "") -> list[Markup]:
    table = colour_table(colours or bar.colours)[0]
    stops = [
        tag(
            "stop",
            offset=f"{100 * k / (_STOPS - 1):.1f}%",
            stop_color=hex_of(table[round(k / (_STOPS - 1) * (LEVELS - 1))]),
        )
        for k in range(_STOPS)
    ]
    x = Scale(bar.low, bar.high, _PAD, _PAD + _WIDTH - 2 * _PAD)
    parts = [
        tag("linearGradient", *stops, id=f"{name}-fill"),
        tag(
            "rect",
            x=x.start,
            y=4,
            width=x.end - x.start,
            height=_HEIGHT,
            fill=f"url(#{name}-fill)",
        ),
    ]
    middle = 4 + _HEIGHT / 2
    for on, tip, base, colour in (
        (bar.below, 1.0, x.start, table[0]),
        (bar.above, _WIDTH - 1, x.end, table[-1]),
    ):
        if on:
            arrow = path([(base, 4), (tip, middle), (base, 4 + _HEIGHT)], closed=True)
            parts.append(tag("path", d=arrow, fill=hex_of(colour)))
    parts += [
        words(f"{tick:g}", x(tick), 4 + _HEIGHT + 14, "tick", "middle")
        for tick in _ticks(bar.low, bar.high)
    ]
    parts.append(words(bar.unit, _WIDTH + 4, 4 + _HEIGHT, "tick"))
    return parts


def _ticks(low: float, high: float) -> list[float]:
    """A few round numbers, at least three."""
    tries = (nice_ticks(low, high, about) for about in (3, 4, 5, 6, 8))
    return next((ticks for ticks in tries if len(ticks) > 2), [low, high])


def _wheel(bar: ColourBar) -> list[Markup]:
    href = data_url(encode(flow_wheel(), lossless=True))
    rim = f"rim: {bar.high:.3g} {bar.unit}".strip() + (" or more" if bar.above else "")
    return [
        tag("image", href=href, x=4, y=0, width=60, height=60),
        words("direction of motion", 74, 26, "tick"),
        words(rim, 74, 42, "tick"),
    ]


def _ball() -> list[Markup]:
    href = data_url(encode(normal_ball(), lossless=True))
    return [
        tag("image", href=href, x=4, y=0, width=60, height=60),
        words("a ball in these colours,", 74, 26, "tick"),
        words("seen from the front", 74, 42, "tick"),
    ]


def _entries(bar: ColourBar) -> list[Markup]:
    """A few colours, one below the other, each with its meaning."""
    parts = []
    for k, (text, colour) in enumerate(bar.entries):
        parts.append(tag("rect", x=_PAD, y=4 + 16 * k, width=10, height=10, fill=colour))
        parts.append(words(text, _PAD + 16, 13 + 16 * k, "tick"))
    return parts


def _swatches() -> list[Markup]:
    """Some colours of fragments, and the colour of what was not found."""
    table, side = fragment_table()[0], 10
    parts = [
        tag("rect", x=_PAD + side * k, y=4, width=side, height=side, fill=hex_of(table[k]))
        for k in range(_FRAGMENTS)
    ]
    x = _PAD + side * _FRAGMENTS + 6
    dark = MISSING_COLOURS["fragments"]
    return [
        *parts,
        words("fragments", x, 13, "tick"),
        tag("rect", x=_PAD, y=22, width=side, height=side, fill=dark),
        words("not found", _PAD + 16, 31, "tick"),
    ]
