"""Text files, JSON and TOML: read whole and decoded; anything wrong with them is one sentence.

JSON and TOML hold values at most `DEEPEST` levels deep and numbers that 64 bits hold. So nothing
that is made from them can overflow or exceed the depth of Python's calls.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import Any

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, opened, read_whole

MOST_BYTES = 2**28
"""The longest text that is read."""
MOST_JSON_BYTES = 2**24
"""Of a description of something; two or three seconds for the worst content."""
MOST_TOML_BYTES = 2**20
"""A table of options or a benchmark; the parser takes a second for it."""
DEEPEST = 64
"""Levels of lists and tables within each other."""
_MOST_PARTS = 16
"""Parts of a dotted key: the parser's time grows with their square."""
_LEAST_INT, _MOST_INT = -(2**63), 2**63 - 1
_MAY_BE_HUGE = re.compile(r"[0-9]{19}|[eE]\+?[0-9]{3}")
_LONG_KEY = re.compile(rf"(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}")


def read_text(path: AnyPath, most_bytes: int = MOST_BYTES) -> str:
    """The text of a UTF-8 file, without a byte order mark, its lines ending in a newline.

    Raises:
        BadFile: It does not exist, is too long, or is not text.
    """
    with opened(path) as file:
        body = read_whole(path, file, most_bytes)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected text in UTF-8, but byte {error.start} is not.") from None
    if "\0" in text:
        raise BadFile(f"{path}: expected text, found a NUL character.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: AnyPath, most_bytes: int = MOST_JSON_BYTES) -> Any:
    """The content of a JSON file.

    Raises:
        BadFile: It cannot be read, is not JSON, is nested too deeply, or holds a giant number.
    """
    text = read_text(path, most_bytes)
    try:
        return parse_json(text)
    except ValueError as error:
        raise BadFile(f"{path}: is not JSON ({error}).") from None


def parse_json(text: str, *, finite: bool = False) -> Any:
    """The value of a JSON text, for callers with a sentence of their own.

    Args:
        text: The text.
        finite: Whether NaN and infinities, which are not JSON, are mistakes.

    Raises:
        ValueError: It is not JSON, is nested too deeply, or holds a number beyond 64 bits; the
            reason alone, without the file.
    """
    hooks: dict[str, Any] = {"parse_constant": _no_constant} if finite else {}
    if _MAY_BE_HUGE.search(text):  # the hooks take longer
        hooks |= {"parse_int": _integer, "parse_float": _number}
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _check_depth(value)
    return value


def read_toml(path: AnyPath) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        BadFile: It cannot be read, is not TOML, is nested too deeply, or holds a giant number.
    """
    text = read_text(path, MOST_TOML_BYTES)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise BadFile(f"{path}: is not TOML ({error}).") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text, for callers with a sentence of their own.

    Raises:
        ValueError: It is not TOML, is nested too deeply, or holds a number beyond 64 bits; the
            reason alone, without the file.
    """
    if any(_LONG_KEY.match(key) for key in _keys(text)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python's own limit on digits
        raise ValueError(_TOO_LONG) from None
    for level in _check_depth(table):
        for node in level:
            for value in node.values() if isinstance(node, dict) else node:
                if type(value) is int and not _LEAST_INT <= value <= _MOST_INT:
                    raise ValueError(_TOO_LONG)
    return table


_TOO_DEEP = f"its values are more than {DEEPEST} levels deep; write it flat"
_TOO_LONG = "it holds an integer beyond 64 bits; write a shorter one"


def _check_depth(value: Any) -> list[list[Any]]:
    """All lists and tables, level by level; an error where there are too many levels."""
    levels: list[list[Any]] = []
    level = [value] if isinstance(value, (dict, list)) else []
    while level:
        levels.append(level)
        if len(levels) > DEEPEST:
            raise ValueError(_TOO_DEEP)
        level = [
            inner
            for node in level
            for inner in (node.values() if isinstance(node, dict) else node)
            if isinstance(inner, (dict, list))
        ]
    return levels


def _integer(digits: str) -> int:
    if len(digits) > 20 or not _LEAST_INT <= int(digits) <= _MOST_INT:
        raise ValueError(_TOO_LONG)
    return int(digits)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("it holds a number beyond 1e308; write a smaller one")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed; write null, or leave it out")


def _keys(text: str) -> list[str]:
    """What stands where keys do: at the beginning of lines, and of tables within a line."""
    return [piece.lstrip(" \t[") for line in text.split("\n") for piece in re.split("[{,]", line)]
