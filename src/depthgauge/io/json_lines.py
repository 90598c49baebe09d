"""Files of JSON lines: read strictly, and appended to so that no line is lost or mixed up."""

from __future__ import annotations

import codecs
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from depthgauge.errors import BadData, BadFile, CannotWrite, Misuse
from depthgauge.io._locks import only_one

MOST_LINE_BYTES = 4 * 2**20
_MOST_DIGITS = 4000
_PATIENCE_S = 10.0


def parse_object(where: str, line: bytes) -> dict[str, Any]:
    """The JSON object of one line, without NaN, duplicate keys or absurd nesting.

    Raises:
        BadFile: The line is not such an object.
    """
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
        raise BadFile(f"{where}: expected a JSON object, found {kind_of(found)}.")
    return found


def without_mark(whole: bytes) -> bytes:
    """A file's bytes without the byte order mark that some editors write first."""
    return whole.removeprefix(codecs.BOM_UTF8)


def is_whole(line: bytes) -> bool:
    """Whether a last line lacks only its end; otherwise a killed process left it half written."""
    try:
        parse_object("", without_mark(line))
    except BadFile:
        return False
    return True


def shown(value: object) -> str:
    """A found value in a message: short, printable, on one line.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    if isinstance(value, str):
        return ascii(value if len(value) <= 40 else value[:40] + "...")
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value) if not isinstance(value, int) or abs(value) < 10**18 else "a huge number"
    return text[:60]


def kind_of(value: object) -> str:
    """What a JSON value is, in a word or two."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "null" if value is None else "a number")


def _reason(error: Exception, line: bytes) -> str:
    """What is wrong with the JSON, in words for annotators."""
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


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            break
        seen.add(key)
    raise ValueError(f"it has the field {shown(key)} twice")


def append_line(path: Path, line: str) -> None:
    """Appends one line of JSON to a file, alone and synced; creates the file if there is none.

    A last line that a killed process left half written is first moved to `<name>.damaged`.

    Raises:
        CannotWrite: No space, no permission; the file is unchanged.
        BadData: Another process holds the file for too long.
    """
    path = Path(path)
    if "\n" in line:
        raise Misuse("a record is one line; this one has several.")
    with alone(path), _plain_errors(path):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            _append(path, handle, line.encode())
        finally:
            os.close(handle)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else writes to the file meanwhile; waits for others to finish their line."""
    busy = f"{path}: another process is writing there; try again when it is done."
    until = time.monotonic() + _PATIENCE_S
    while True:
        lock = only_one(path, busy)
        try:
            lock.__enter__()
            break
        except BadData:
            if time.monotonic() > until:
                raise
            time.sleep(0.005)
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{path}: cannot be written: {error.strerror or error}.") from None


def _append(path: Path, handle: int, line: bytes) -> None:
    _set_damaged_aside(path, handle)
    before = os.fstat(handle).st_size
    body = line + b"\n"
    try:
        if os.write(handle, body) != len(body):
            raise OSError(28, "the disk is full")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, before)
        raise


def _set_damaged_aside(path: Path, handle: int) -> None:
    """Ends the last line, or moves it away if it is incomplete."""
    size = os.fstat(handle).st_size
    rest = b""
    while size > 0 and b"\n" not in rest:
        if len(rest) > MOST_LINE_BYTES:
            raise BadFile(f"{path}: its last line is longer than any record; get the file again.")
        step = min(size, 2**16)
        size -= step
        os.lseek(handle, size, os.SEEK_SET)
        rest = os.read(handle, step) + rest
    kept = rest.rfind(b"\n") + 1
    tail = rest[kept:]
    if not tail:
        return
    if is_whole(tail):
        os.write(handle, b"\n")
        return
    set_aside(path, [tail])
    os.ftruncate(handle, size + kept)


def set_aside(path: Path, lines: list[bytes]) -> None:
    """Appends damaged lines of a file to `<name>.damaged`; when this returns, they are on disk.

    Raises:
        CannotWrite: No space, no permission.
    """
    with _plain_errors(path), open(path.with_name(f"{path.name}.damaged"), "ab") as aside:
        aside.write(b"".join(line + b"\n" for line in lines))
        aside.flush()
        os.fsync(aside.fileno())
