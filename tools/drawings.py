"""Draws the house and the walks through it as SVG: `python -m tools.drawings`.

Text is on cards with their own colour, so the drawings can be read on light and dark pages.
`--check` writes nothing and exits with 1 where a drawing is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from tools.house import FLOORS, WALKS, Stop, Walk

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH = 960
_INK, _SOFT, _LINE = "#17302c", "#4b635f", "#7d928e"
_CARDS = ("#eef2ea", "#e3f0ec", "#dcebf2", "#f3ecdc", "#f1e4e0", "#e9e4f1")
_GAP, _MARGIN = 8, 12
_TEXT_PX = {"mono": 7.3, "small": 6.5}
"""Width of a character, on average."""


def main(arguments: list[str]) -> int:
    """Writes every stale drawing, or with `--check` only names them."""
    drawings = {"house.svg": house(), **{f"walk-{w.name}.svg": walk(w) for w in WALKS}}
    stale = {name: text for name, text in drawings.items() if _read(IMAGES / name) != text}
    for name, text in stale.items():
        if "--check" not in arguments:
            (IMAGES / name).write_text(text, encoding="utf-8")
        verb = "is stale; run `make docs`" if "--check" in arguments else "written"
        sys.stdout.write(f"docs/images/{name}: {verb}\n")
    return 1 if stale and "--check" in arguments else 0


def house() -> str:
    """Rooms on floors, the highest on top."""
    parts: list[str] = []
    y = float(_MARGIN)
    for number, rooms in reversed(list(enumerate(FLOORS))):
        height, cards = _floor(number, rooms, y)
        parts.append(_text(_MARGIN + 14, y + height / 2 + 5, str(number), "n", anchor="middle"))
        parts += cards
        y += height + _GAP
    note = "A room imports only from floors below its own."
    parts.append(_text(_MARGIN + 40, y + 12, note, "n"))
    return _svg(y + 24, "The house: rooms on floors", parts)


def _floor(number: int, rooms: Mapping[str, str], y: float) -> tuple[float, list[str]]:
    """How high a floor is, and its cards: one room has its text beside its name."""
    left = _MARGIN + 40
    width = (WIDTH - _MARGIN - left - _GAP * (len(rooms) - 1)) / len(rooms)
    alone = len(rooms) == 1
    lines = {name: _wrap(about, (width - 16) / _TEXT_PX["small"]) for name, about in rooms.items()}
    height = 30 if alone else 28 + 15 * max(map(len, lines.values()))
    cards: list[str] = []
    for place, (room, about) in enumerate(lines.items()):
        x = left + place * (width + _GAP)
        cards.append(_box(x, y, width, height, _card(number)))
        cards.append(_text(x + 8, y + 20, room, "b"))
        at = (x + 122, y + 20) if alone else (x + 8, y + 37)
        cards += [_text(at[0], at[1] + 15 * i, line, "s") for i, line in enumerate(about)]
    return height, cards


def _card(floor: int) -> str:
    return _CARDS[floor * len(_CARDS) // len(FLOORS)]


def walk(way: Walk) -> str:
    """The files of a walk from top to bottom; what goes on stands between them."""
    parts = [_text(_MARGIN, 24, f"$ {way.command}", "c")]
    y = 40.0
    last = len(way.stops) - 1
    for number, stop in enumerate(way.stops):
        parts += _stop(stop, y)
        y += 40
        if number < last:
            x = _MARGIN + 24 + 40 * min(stop.level, way.stops[number + 1].level)
            parts.append(f'<path class="a" d="M{x:g} {y:g}v14m-4 -5l4 5l4 -5"/>')
            if stop.passes:
                parts.append(_text(x + 14, y + 13, stop.passes, "n"))
            y += 20
    files = len({stop.file for stop in way.stops})
    parts.append(_text(_MARGIN, y + 20, f"{files} files", "n"))
    return _svg(y + 32, f"The walk of: {way.command}", parts)


def _stop(stop: Stop, y: float) -> Iterator[str]:
    room = stop.file.partition("/")[0]
    floor = next(n for n, rooms in enumerate(FLOORS) if room.removesuffix(".py") in rooms)
    x = _MARGIN + 40.0 * stop.level
    width = WIDTH - _MARGIN - x
    yield _box(x, y, width, 40, _card(floor))
    yield _text(x + 10, y + 25, stop.file, "m")
    beside = max(x + 20 + _TEXT_PX["mono"] * len(stop.file), _MARGIN + 360)
    yield _text(beside, y + 25, stop.does, "s")


def _wrap(text: str, most: float) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" '
        f'fill="{fill}" stroke="{_LINE}" stroke-opacity=".5"/>'
    )


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: float, title: str, parts: list[str]) -> str:
    style = (
        "text{font:12px system-ui,sans-serif}"
        f".b{{font-weight:600;font-size:13px;fill:{_INK}}}.s{{fill:{_SOFT}}}"
        f".m{{font:12px ui-monospace,monospace;fill:{_INK}}}.n{{fill:{_LINE}}}"
        f".c{{font:13px ui-monospace,monospace;fill:{_LINE}}}"
        f".a{{stroke:{_LINE};fill:none;stroke-width:1.5}}"
    )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n{body}\n</svg>\n"
    )


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
