"""OpenCV storage in YAML: the part of YAML 1.0 that OpenCV writes, and what people edit into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath
from depthgauge.io._opencv_values import MOST_DEPTH, Value, matrix, scalar

_TOKEN = re.compile(
    r"""\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|([\[\]{},])|(!![\w-]+)|([^\s\[\]{},"'][^\[\]{},]*))"""
)
_PIECE = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^"'\[\]{}#]+|.""", re.DOTALL)
_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|[^\s"'\[\]{},:#-][^:\[\]{}"']{0,200}?|-[^\s:]{1,200}?)\s*:(?=\s|$)\s*"""
)
_TAG = re.compile(r"!!([\w-]+)(?:\s+|$)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def parse(path: AnyPath, data: bytes) -> dict[str, Value]:
    """The storage's values."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected UTF-8 text, found other bytes at {error.start}") from None
    blocks = _Blocks(path, _logical_lines(path, text))
    values = blocks.parse(0, 0) if blocks.lines else {}
    if blocks.at < len(blocks.lines):
        raise blocks.error("this line's indent fits none above")
    if not isinstance(values, dict):
        raise BadFile(f"{path}: expected named values (key: value), found {type(values).__name__}")
    return values


def _logical_lines(path: AnyPath, text: str) -> list[_Line]:
    """Lines without comments; those inside brackets are joined to the one that opens them."""
    lines: list[_Line] = []
    held: list[str] = []
    start, depth = 0, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not held and (line.startswith("%") or line.rstrip() in ("---", "...", "")):
            continue
        content, change = _strip(line)
        if not held:
            start = number
        held.append(content)
        depth += change
        if depth > MOST_DEPTH:
            raise BadFile(f"{path}: line {number}: nested deeper than {MOST_DEPTH} levels")
        if depth <= 0:
            joined = "\n".join(held)
            held, depth = [], 0
            if joined.strip():
                indent = len(joined) - len(joined.lstrip())
                lines.append(_Line(start, indent, joined.strip()))
    if held:
        raise BadFile(f"{path}: line {start}: a bracket is not closed; the file is truncated")
    return lines


def _strip(line: str) -> tuple[str, int]:
    """The line without its comment, and how many more brackets it opens than it closes."""
    kept: list[str] = []
    change = 0
    for piece in _PIECE.findall(line):
        if piece == "#" and (not kept or kept[-1][-1].isspace()):
            break
        change += {"[": 1, "{": 1, "]": -1, "}": -1}.get(piece, 0)
        kept.append(piece)
    return "".join(kept).rstrip(), change


class _Blocks:
    """Maps and sequences by indent."""

    def __init__(self, path: AnyPath, lines: list[_Line]) -> None:
        self.path = path
        self.lines = lines
        self.at = 0

    def error(self, what: str) -> BadFile:
        line = self.lines[min(self.at, len(self.lines) - 1)]
        return BadFile(f"{self.path}: line {line.number}: {what}: {line.text[:60]!r}")

    def parse(self, indent: int, depth: int) -> Any:
        """The block that starts at the current line, whose indent is at least `indent`."""
        if depth > MOST_DEPTH:
            raise self.error(f"nested deeper than {MOST_DEPTH} levels")
        line = self.lines[self.at]
        if line.text == "-" or line.text.startswith("- "):
            return self._sequence(line.indent, depth)
        if _KEY.match(line.text):
            return self._mapping(line.indent, depth)
        self.at += 1
        return _flow(self.path, line, line.text)

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while self.at < len(self.lines) and self.lines[self.at].indent == indent:
            line = self.lines[self.at]
            match = _KEY.match(line.text)
            if match is None:
                raise self.error("expected key: value, found")
            key = _unquote(match[1])
            values[key] = self._value(key, line, line.text[match.end() :], depth)
        return values

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        items: list[Any] = []
        while self.at < len(self.lines) and self.lines[self.at].indent == indent:
            line = self.lines[self.at]
            if not (line.text == "-" or line.text.startswith("- ")):
                break
            rest = line.text[1:].lstrip()
            if _KEY.match(rest) and not rest.startswith(("{", "[")):
                # "- key: value" opens a map whose keys stand under the first one.
                inner = indent + len(line.text) - len(rest)
                self.lines[self.at] = _Line(line.number, inner, rest)
                items.append(self.parse(inner, depth + 1))
            else:
                items.append(self._value("-", line, rest, depth))
        return items

    def _value(self, key: str, line: _Line, rest: str, depth: int) -> Any:
        tag = _TAG.match(rest)
        rest = rest[tag.end() :] if tag else rest
        self.at += 1
        value = _flow(self.path, line, rest) if rest else self._nested(key, line, depth)
        if tag and tag[1] in ("opencv-matrix", "opencv-nd-matrix"):
            return matrix(self.path, key, value)
        return value

    def _nested(self, key: str, line: _Line, depth: int) -> Any:
        if self.at >= len(self.lines):
            return ""
        following = self.lines[self.at]
        # A sequence may stand at its key's own indent.
        listed = (
            following.indent == line.indent and key != "-" and following.text[:2] in ("-", "- ")
        )
        return self.parse(0, depth + 1) if following.indent > line.indent or listed else ""


def _flow(path: AnyPath, line: _Line, text: str) -> Any:
    """A scalar, or [ ... ] or { ... } with anything in it."""
    tokens: list[tuple[str, str, str, str]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at:].strip():
                raise BadFile(f"{path}: line {line.number}: expected a value: {text[at:][:40]!r}")
            break
        tokens.append(match.groups(default=""))  # type: ignore[arg-type]  # four groups
        at = match.end()
    if not any(bracket for _, bracket, _, _ in tokens) or text[0] not in "[{":
        # Outside brackets a comma is a character like others.
        return _unquote(text) if text[:1] in "\"'" and len(tokens) == 1 else scalar(text)
    reader = _Flow(path, line, tokens)
    value = reader.value()
    if reader.at < len(tokens):
        raise reader.error()
    return value


class _Flow:
    """Reads bracketed values from their tokens."""

    def __init__(self, path: AnyPath, line: _Line, tokens: list[tuple[str, str, str, str]]) -> None:
        self.path, self.line, self.tokens = path, line, tokens
        self.at, self.depth = 0, 0

    def error(self) -> BadFile:
        return BadFile(
            f"{self.path}: line {self.line.number}: brackets or commas are out of place: "
            f"{self.line.text[:60]!r}"
        )

    def _next(self) -> tuple[str, str, str, str]:
        if self.at >= len(self.tokens):
            raise self.error()
        self.at += 1
        return self.tokens[self.at - 1]

    def value(self) -> Any:
        quoted, bracket, tag, bare = self._next()
        while tag:
            quoted, bracket, tag, bare = self._next()
        if bracket == "[":
            return self._items("]", self.value)
        if bracket == "{":
            return dict(self._items("}", self._pair))
        if bracket:
            raise self.error()
        return _unquote(quoted) if quoted else scalar(bare.strip())

    def _items(self, end: str, item: Any) -> list[Any]:
        items: list[Any] = []
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise BadFile(
                f"{self.path}: line {self.line.number}: nested deeper than {MOST_DEPTH} levels"
            )
        while self.at < len(self.tokens):
            if self.tokens[self.at][1] == end:
                self.at += 1
                self.depth -= 1
                return items
            if items:
                if self._next()[1] != ",":
                    self.at -= 1
                    raise self.error()
                if self.at < len(self.tokens) and self.tokens[self.at][1] == end:
                    continue
            items.append(item())
        raise self.error()

    def _pair(self) -> tuple[str, Any]:
        quoted, bracket, _, bare = self._next()
        if bracket or not (quoted or bare):
            raise self.error()
        if quoted:
            following = self._next()[3]
            if not following.startswith(":"):
                raise self.error()
            key, rest = _unquote(quoted), following[1:].strip()
        else:
            key, colon, rest = bare.partition(":")
            if not colon:
                raise self.error()
        return key.strip(), scalar(rest.strip()) if rest.strip() else self.value()


def _unquote(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] == '"':
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.DOTALL)
    return text
