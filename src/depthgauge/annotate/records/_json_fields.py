"""One line of strict JSON as typed fields; whatever is wrong is one `BadFile` sentence."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from depthgauge.annotate.records.annotation import Point, Vector
from depthgauge.errors import BadFile

MOST_POINTS = 20_000
"""Of one line or polygon."""
MOST_LETTERS = 500
"""Of one id or name."""
MOST_SECONDS = 1e12
MOST_COORDINATE_PX = 1e6
_MOST_DIGITS = 4000
MOST_LINE_BYTES = 4 * 2**20


def parse_object(where: str, line: bytes) -> dict[str, Any]:
    """The JSON object of one line; no NaN, no key twice, nothing nested absurdly."""
    if len(line) > MOST_LINE_BYTES:
        raise BadFile(f"{where}: has {len(line)} bytes, a record has at most {MOST_LINE_BYTES}.")
    try:
        found = json.loads(
            line.decode("utf-8"),
            parse_constant=_no_constant,
            parse_int=_whole,
            object_pairs_hook=_no_key_twice,
        )
    except UnicodeDecodeError:
        raise BadFile(f"{where}: is not UTF-8 text; the file is damaged.") from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{where}: is not a JSON record: {_reason(error, line)}.") from None
    if not isinstance(found, dict):
        raise BadFile(f"{where}: expected a JSON object, found {_kind(found)}.")
    return found


def without_mark(whole: bytes) -> bytes:
    """A file without the byte order mark that some editors put before its text."""
    return whole.removeprefix(codecs.BOM_UTF8)


def _reason(error: Exception, line: bytes) -> str:
    """What is wrong with JSON, in words for people who draw."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return " ".join(str(error).split())[:200]
    if not line.lstrip().startswith(b"{"):
        return "it does not begin with {"
    if error.pos >= len(error.doc.rstrip()):
        return "it ends early"
    found = shown(error.doc[error.pos : error.pos + 10])
    return f"from character {error.pos + 1} on, at {found}, it cannot be understood"


def _whole(digits: str) -> int | float:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"it has the field {shown(key)} twice")
        found[key] = value
    return found


class Fields:
    """The fields of a JSON object, each taken once by name and kind; `done` finds what is left."""

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self._where = where
        self._data = dict(data)

    def fail(self, what: str) -> BadFile:
        """The error for something that is wrong here."""
        return BadFile(f"{self._where}: {what}.")

    def take(self, name: str) -> Any:
        """A field as it is; it has to be there."""
        if name not in self._data:
            raise self.fail(f"lacks the field '{name}'")
        return self._data.pop(name)

    def has(self, name: str) -> bool:
        """Whether the field is there and not taken yet."""
        return name in self._data

    def text(self, name: str, otherwise: str | None = None) -> str:
        """A text of some letters."""
        if otherwise is not None and name not in self._data:
            return otherwise
        value = self.take(name)
        if not isinstance(value, str):
            raise self.fail(f"'{name}' is {_kind(value)}, expected a text")
        if len(value) > MOST_LETTERS:
            raise self.fail(f"'{name}' has {len(value)} letters, at most {MOST_LETTERS} are read")
        if not is_unicode(value):
            raise self.fail(f"'{name}' holds half a character (a lone surrogate)")
        return value

    def name(self, name: str) -> str:
        """A text that is not empty."""
        value = self.text(name)
        if not value:
            raise self.fail(f"'{name}' is empty")
        return value

    def choice(self, name: str, choices: Iterable[str], otherwise: str | None = None) -> Any:
        """One of some words."""
        value = self.text(name, otherwise)
        if value not in tuple(choices):
            raise self.fail(f"'{name}' is {shown(value)}, expected one of {', '.join(choices)}")
        return value

    def flag(self, name: str, otherwise: bool) -> bool:
        """True or false."""
        value = self._data.pop(name, otherwise)
        if not isinstance(value, bool):
            raise self.fail(f"'{name}' is {_kind(value)}, expected true or false")
        return value

    def number(self, name: str, otherwise: float | None = None) -> float:
        """A finite number."""
        if otherwise is not None and name not in self._data:
            return otherwise
        return self._finite(name, self.take(name))

    def count(self, name: str, least: int, most: int) -> int:
        """A whole number within limits."""
        value = self.take(name)
        if type(value) is not int or not least <= value <= most:
            found = shown(value) if type(value) in (int, float) else _kind(value)
            raise self.fail(f"'{name}' is {found}, expected a whole number from {least} to {most}")
        return value

    def seconds(self, name: str) -> float:
        """A time span; 0 where it is not told."""
        value = self.number(name, 0.0)
        if not 0 <= value <= MOST_SECONDS:
            raise self.fail(f"'{name}' is {value}, expected 0 to {MOST_SECONDS:g}")
        return value

    def time(self, name: str) -> str:
        """An ISO 8601 time with its zone, as it was written; empty where it is not told."""
        value = self.text(name, "")
        if value and not is_time(value):
            raise self.fail(
                f"'{name}' is {shown(value)}, expected an ISO 8601 time with its zone, such as "
                "2026-01-31T09:30:00+00:00"
            )
        return value

    def point(self, name: str) -> Point:
        """x, y."""
        x, y = self._place(name, self.take(name))
        return x, y

    def vector(self, name: str) -> Vector:
        """x, y, z."""
        x, y, z = self._numbers(name, self.take(name), 3)
        return x, y, z

    def points(self, name: str) -> tuple[Point, ...]:
        """A list of x, y."""
        value = self.take(name)
        if not isinstance(value, list):
            raise self.fail(f"'{name}' is {_kind(value)}, expected a list of points")
        if len(value) > MOST_POINTS:
            raise self.fail(f"'{name}' has {len(value)} points, at most {MOST_POINTS} are read")
        return tuple(self._place(name, item) for item in value)

    def fields(self, name: str) -> Fields:
        """An object within the object."""
        value = self.take(name)
        if not isinstance(value, dict):
            raise self.fail(f"'{name}' is {_kind(value)}, expected an object")
        return Fields(f"{self._where}: {name}", value)

    def done(self) -> None:
        """Refuses what nobody asked for: a misspelt field would be lost without a word."""
        if self._data:
            raise self.fail(f"has a field {shown(next(iter(self._data)))} that schema 1 lacks")

    def _place(self, name: str, value: Any) -> Point:
        x, y = self._numbers(name, value, 2)
        if max(abs(x), abs(y)) > MOST_COORDINATE_PX:
            raise self.fail(
                f"'{name}' holds the point ({x:g}, {y:g}), which is no place near a picture; "
                f"coordinates are at most {MOST_COORDINATE_PX:g} px"
            )
        return x, y

    def _numbers(self, name: str, value: Any, count: int) -> list[float]:
        if not isinstance(value, list) or len(value) != count:
            found = f"a list of {len(value)}" if isinstance(value, list) else _kind(value)
            raise self.fail(f"'{name}' holds {found}, expected {count} numbers")
        return [self._finite(name, item) for item in value]

    def _finite(self, name: str, value: Any) -> float:
        # True is an int in Python, and none in JSON.
        if type(value) not in (int, float):
            raise self.fail(f"'{name}' holds {_kind(value)}, expected a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(f"'{name}' holds a number that is too large")
        return number


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_time(text: str) -> bool:
    """Whether a text is an ISO 8601 time with its zone.

    >>> is_time("2026-01-31T09:30:00Z"), is_time("2026-01-31T09:30:00"), is_time("noon")
    (True, False, False)
    """
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def shown(value: object) -> str:
    """A found value in a message: short, printable, on one line.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    if isinstance(value, str):
        return ascii(value if len(value) <= 40 else value[:40] + "...")
    text = str(value) if not isinstance(value, int) or abs(value) < 10**18 else "a huge number"
    return text[:60]


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "null" if value is None else "a number")
