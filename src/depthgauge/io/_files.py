"""Opening and replacing files, with every failure turned into one sentence."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, CannotWrite, DepthgaugeError, TooLarge

MAX_PIXELS = 2**28
"""The most pixels a map or image may claim, unless the caller says otherwise."""

FREE_BYTES = 2**28
"""A file may unpack to this much, however short it is: a constant mask of 12 Mpx has 12 kB."""
MOST_RATIO = 200
"""To more than that it unpacks by at most this factor; pictures and maps reach 50."""

AnyPath = str | os.PathLike[str]


@contextmanager
def opened(path: AnyPath) -> Iterator[BinaryIO]:
    """Opens a regular file for reading; errors in the block also become a `BadFile`."""
    try:
        # A pipe would block in open(), a device would never end.
        if "\0" in os.fspath(path):
            raise BadFile(f"{path!r}: a file name cannot hold a NUL character")
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            found = "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
            raise BadFile(f"{path}: expected a file, found {found}")
        with open(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise TooLarge(f"{path}: does not fit in memory; give this process more of it") from None


def size_of(file: BinaryIO) -> int:
    """The file's length in bytes."""
    return os.fstat(file.fileno()).st_size


def read_whole(path: AnyPath, file: BinaryIO, most: int) -> bytes:
    """The whole file from its beginning; more than `most` bytes are rejected unread."""
    if size_of(file) > most:
        raise TooLarge(
            f"{path}: has {size_of(file)} bytes, at most {most} are expected of such a file; "
            "raise the limit if it is what it seems"
        )
    file.seek(0)
    return file.read()


def most_bytes(limit: int) -> int:
    """How long a file of at most `limit` pixels can reasonably be, metadata included."""
    return 32 * limit + 2**24


def as_bytes(array: NDArray[Any]) -> memoryview:
    """The memory of a C-contiguous array."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # it is a buffer


def read_into(path: AnyPath, file: BinaryIO, array: NDArray[Any]) -> None:
    """Fills a C-contiguous array from the file's current place."""
    view = as_bytes(array)
    while view:
        got = file.readinto(view)  # type: ignore[attr-defined]  # BinaryIO lacks what files have
        if not got:
            raise BadFile(f"{path}: ends {len(view)} bytes early; it is truncated, get it again")
        view = view[got:]


def expect_rest(path: AnyPath, file: BinaryIO, start: int, need: int) -> None:
    """The bytes from `start` to the end must be exactly those that the header announces."""
    have = size_of(file) - start
    if have != need:
        raise BadFile(
            f"{path}: the header announces {need} bytes of values, the file holds {have}; "
            + ("it is truncated, get it again" if have < need else "header and values disagree")
        )


def in_words(shape: tuple[int, ...]) -> str:
    """A shape (H, W) or (H, W, C) as messages give it: the width first.

    >>> in_words((4, 5, 3))
    '5 x 4 pixels and 3 channels'
    """
    return f"{shape[1]} x {shape[0]} pixels and {shape[2] if len(shape) > 2 else 1} channels"


def check_size(path: AnyPath, shape: tuple[int, int, int], limit: int) -> None:
    """Rejects an impossible header before anything of that size is allocated.

    Args:
        path: Named in the error.
        shape: Height, width and channels as the header gives them.
        limit: The most pixels; a map may have four values a pixel, or more if it is smaller.
    """
    height, width, channels = shape
    if min(shape) < 1:
        raise BadFile(f"{path}: the header says {in_words(shape)}; all of them must be at least 1")
    if height * width > limit or height * width * channels > 4 * limit:
        raise TooLarge(
            f"{path}: the header says {in_words(shape)}, the limit is {limit} pixels; "
            "pass a larger limit if that is right"
        )


def most_unpacked(packed: int) -> int:
    """The one rule for decoders: how many bytes a file of that many bytes may unpack to."""
    return max(FREE_BYTES, MOST_RATIO * packed)


def check_unpacked(path: AnyPath, unpacked: int, packed: int) -> None:
    """Rejects a header that promises more than a file of its length may unpack to.

    Args:
        path: Named in the error.
        unpacked: Bytes that the header promises.
        packed: Bytes of the file, or of the part of it that is unpacked.
    """
    if unpacked > most_unpacked(packed):
        raise TooLarge(
            f"{path}: {packed} bytes promise to unpack to {unpacked}, at most "
            f"{most_unpacked(packed)} are expected ({FREE_BYTES // 2**20} MiB, or {MOST_RATIO} "
            "times the file); save it without compression if that is right"
        )


@contextmanager
def replacing(path: AnyPath) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends well, else removed.

    So a full disk or a killed process never leaves half a file under the real name. A link stays
    a link: what it leads to is replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise CannotWrite(f"{path}: cannot be written: it is a folder, device or pipe")
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield beside
        os.replace(beside, target)
    except OSError as error:
        raise CannotWrite(
            f"{path}: cannot be written: {error.strerror or error}; "
            "check that the folder exists, is writable and has space"
        ) from None
    except ValueError as error:
        if isinstance(error, DepthgaugeError):
            raise
        raise CannotWrite(f"{path}: cannot be written: {error}") from None
    finally:
        with suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)


def write_parts(path: AnyPath, *parts: bytes | memoryview | NDArray[Any]) -> None:
    """Writes the parts one after the other, atomically."""
    with replacing(path) as beside, open(beside, "xb") as file:
        for part in parts:
            file.write(part)  # type: ignore[arg-type]  # C-contiguous arrays are buffers


def write_bytes(path: AnyPath, body: Any) -> None:
    """Writes a file atomically and synced: after a power cut it is old or new."""
    with replacing(path) as beside, open(beside, "xb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def write_text(path: AnyPath, text: str) -> None:
    """Writes a text file, UTF-8, atomically and synced: after a power cut it is old or new.

    A device or pipe is written to as it is.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CannotWrite(f"{path}: cannot be written: {error.strerror}") from None
        return
    try:
        body = text.encode()
    except UnicodeEncodeError as error:
        raise CannotWrite(f"{path}: cannot be written: {error}") from None
    write_bytes(path, body)


def decoded(path: AnyPath, what: str, decode: Callable[[], Any]) -> Any:
    """Runs a library's decoder; any exception becomes one `BadFile`.

    Decoders raise anything (struct.error, IndexError, cv2.error, RuntimeError ...): their contract
    for a broken file is "some exception", so that is what is caught.
    """
    try:
        return decode()
    except (DepthgaugeError, MemoryError, OSError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadFile(f"{path}: this {what} cannot be decoded: {reason}") from None
