"""Small helpers for inline SVG: escaped tags, scales, ticks, labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from depthgauge.report.sanitize import clean

CHARACTER = 7.4
"""Width of an average character at the charts' 12 px, for room beside a label."""


def tag(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """An element; children and values are escaped, `text_anchor` becomes `text-anchor`.

    >>> print(tag("text", "a < b", x=1.25, class_="axis"))
    <text x="1.25" class="axis">a &lt; b</text>
    """
    head = "".join(
        f' {_attribute(key)}="{_escaped(value if isinstance(value, str) else number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    body = "".join(map(_escaped, children))
    return Markup(f"<{name}{head}>{body}</{name}>" if body else f"<{name}{head}/>")


def words(text: str, x: float, y: float, kind: str, anchor: str = "start") -> Markup:
    """A text of the class `label`, `number`, `tick` or `axis-title`.

    >>> print(words("a < b", 1, 2, "tick"))
    <text x="1" y="2" class="tick">a &lt; b</text>
    """
    side = None if anchor == "start" else anchor
    return tag("text", text, x=x, y=y, class_=kind, text_anchor=side)


def _escaped(text: str) -> str:
    return str(text) if isinstance(text, Markup) else str(escape(clean(text)))


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def number(value: float) -> str:
    """A coordinate: short, and the same on every machine.

    >>> number(1.0), number(-0.004), number(12.3456)
    ('1', '0', '12.35')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def chart(
    name: str, title: str, about: str, size: tuple[float, float], *parts: Markup, class_: str = ""
) -> Markup:
    """A chart with a title and a description for screen readers.

    Args:
        name: Unique on the page, for the ids.
        title: Its title.
        about: What it shows, in words.
        size: Width and height of its coordinates.
        *parts: What is in it.
        class_: For the style sheet.
    """
    width, height = size
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", about, id=f"{name}-about"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_labelledby=f"{name}-title {name}-about",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        class_=f"chart {class_}".strip(),
    )


def path(points: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
    """The `d` of a line through points; NaN breaks it.

    >>> path([(0, 0), (1, 2), (float("nan"), 0), (3, 3), (4, 4)])
    'M0 0L1 2M3 3L4 4'
    """
    text, pen = "", "M"
    for x, y in points:
        if math.isnan(x) or math.isnan(y):
            pen = "M"
            continue
        text += f"{pen}{number(x)} {number(y)}"
        pen = "L"
    return f"{text}Z" if closed and text else text


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to coordinates, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / ((high - low) or 1.0)
        return self.start + share * (self.end - self.start)


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two values.

    >>> nice_ticks(0, 100), nice_ticks(3.2, 4.1)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [3.2, 3.4, 3.6, 3.8, 4.0])
    """
    if not low < high:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 ... between two positive values.

    >>> log_ticks(0.3, 7)
    [0.5, 1.0, 2.0, 5.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{k}e{power}") for power in powers for k in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved apart so that neighbours keep a gap, as near as possible to their original
    places.

    >>> spread([10, 11, 50], 10, 0, 60)
    [5.5, 15.5, 50.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, list[int]]] = []
    for i in order:
        blocks.append((min(max(float(places[i]), low), high), [i]))
        while len(blocks) > 1 and _top(blocks[-1], gap) - _bottom(blocks[-2], gap) < gap - 1e-9:
            (a, first), (b, second) = blocks[-2:]
            middle = (a * len(first) + b * len(second)) / (len(first) + len(second))
            half = gap * (len(first) + len(second) - 1) / 2
            middle = max(min(middle, high - half), low + half)
            blocks[-2:] = [(middle, first + second)]
    moved = [0.0] * len(places)
    for block in blocks:
        for k, i in enumerate(block[1]):
            moved[i] = _top(block, gap) + k * gap
    return moved


def _top(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] - gap * (len(block[1]) - 1) / 2


def _bottom(block: tuple[float, list[int]], gap: float) -> float:
    return block[0] + gap * (len(block[1]) - 1) / 2


def room_for(labels: Sequence[str], most: float = 190) -> float:
    """Width that labels need, within reason.

    >>> room_for(["ab"]), room_for(["x" * 100])
    (14.8, 190)
    """
    return min(most, max((len(label) for label in labels), default=0) * CHARACTER)


def shorten(label: str, room: float = 190) -> str:
    """A label that fits; the whole one is in the table.

    >>> shorten("short"), shorten("a-very-long-name-of-a-method", 100)
    ('short', 'a-very-long-\u2026')
    """
    most = int(room / CHARACTER + 1e-6)
    return label if len(label) <= most else f"{label[: most - 1]}\u2026"
