"""Adds single lines to a file of JSON lines, so that none is ever lost or mixed with another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from depthgauge.annotate.records._json_fields import MOST_LINE_BYTES, parse_object, without_mark
from depthgauge.errors import BadData, BadFile, CannotWrite, Misuse
from depthgauge.io._locks import only_one

_PATIENCE_S = 10.0


def append_line(path: Path, line: str) -> None:
    """Adds one line of JSON to a file, alone and synced; makes the file where there is none.

    What a killed process left half written at the end is moved to `<name>.damaged` first.

    Raises:
        CannotWrite: No space, no permission; then the file is as it was.
        BadData: Another process holds the file for too long.
    """
    path = Path(path)
    if "\n" in line:
        raise Misuse("a record is one line; this one has several.")
    with _alone(path), _plain_errors(path):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            _append(path, handle, line.encode())
        finally:
            os.close(handle)


def is_whole(line: bytes) -> bool:
    """Whether a line without an end lacks only that; a damaged one of another kind is a file's."""
    try:
        parse_object("", without_mark(line))
    except BadFile:
        return False
    return True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits for others to finish their line."""
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
    """Gives the last line its end, or moves it away where it is only half there."""
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
    with open(path.with_name(f"{path.name}.damaged"), "ab") as aside:
        aside.write(tail + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    os.ftruncate(handle, size + kept)
