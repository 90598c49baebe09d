"""OpenEXR: maps in channel `Z`, flow in `u` and `v`, pictures in `R`, `G`, `B` or `Y`."""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DepthgaugeError, DoesNotFit
from depthgauge.io._files import (
    AnyPath,
    check_size,
    check_unpacked,
    decoded,
    opened,
    replacing,
    size_of,
)
from depthgauge.io._values import Request, as_map, to_float32
from depthgauge.quantities import QUANTITIES, guess
from depthgauge.types import Map

_MAGIC = b"\x76\x2f\x31\x01"
_HEADER_BYTES = 2**16
_TILED, _LONG_NAMES, _DEEP, _MULTI_PART = 0x200, 0x400, 0x800, 0x1000
_PIXEL_TYPES = {0: np.uint32, 1: np.float16, 2: np.float32}
_LINES_A_BLOCK = {0: 1, 1: 1, 2: 1, 3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256}
_ONE = ("Z", "Y", "R")
_USUAL = {1: ("Z",), 3: ("R", "G", "B")}
"""Channels of quantities that do not name theirs."""
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Header:
    """What is needed of it."""

    height: int
    width: int
    dtypes: dict[str, np.dtype[Any]]
    """The dtype of each channel."""

    @property
    def channels(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.dtypes)


def read(path: AnyPath, request: Request) -> Map:
    """The map: the channels of its quantity; else `Z`, else the only channel, else `Y`, else `R`.

    Flow is `u, v`, normals are `X, Y, Z`, other maps of three channels are `R, G, B`. Without a
    quantity, a file whose channels are exactly `u, v` is flow.
    """
    header = _header(path, request.limit)
    names = _choose(path, header.channels, request.quantity)
    planes = _planes(path, header)
    values = planes[names[0]] if len(names) == 1 else np.stack([planes[n] for n in names], axis=2)
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and channels that `read_map` would give, from the header."""
    header = _header(path, request.limit)
    return header.height, header.width, len(_choose(path, header.channels, request.quantity))


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The dtype of the channels that `read` takes, from the header."""
    header = _header(path, request.limit)
    names = _choose(path, header.channels, request.quantity)
    return np.result_type(*(header.dtypes[name] for name in names))


def read_picture(path: AnyPath, limit: int) -> NDArray[np.float32]:
    """Linear RGB (H, W, 3), or grey (H, W) from `Y` or the only channel."""
    header = _header(path, limit)
    names = ("R", "G", "B") if {"R", "G", "B"} <= set(header.channels) else ("Y",)
    if len(header.channels) == 1:
        names = header.channels[:1]
    if not set(names) <= set(header.channels):
        raise BadFile(f"{path}: expected EXR channels R, G, B or Y, found {_listed(header)}")
    planes = _planes(path, header)
    picture = planes[names[0]] if len(names) == 1 else np.stack([planes[n] for n in names], axis=2)
    return to_float32(path, picture)


def write(path: AnyPath, values: Map, quantity: str) -> None:
    """32-bit floats, zip, missing as NaN; channels as `read` expects them."""
    import OpenEXR

    channels = values.shape[2] if values.ndim == 3 else 1
    names = _names(quantity, channels)
    if len(names) != channels:
        raise DoesNotFit(f"{path}: an EXR map holds 1 to 3 channels, two of them only for flow")
    planes = np.atleast_3d(values)
    stored = {name: np.ascontiguousarray(planes[..., i]) for i, name in enumerate(names)}
    fields = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    with replacing(path) as beside:
        # OpenEXR reports a missing folder or a full disk unclearly; the system's error is clear.
        beside.touch(exist_ok=False)
        try:
            OpenEXR.File(fields, stored).write(str(beside))
        except (RuntimeError, ValueError) as error:
            raise DepthgaugeError(f"{path}: cannot be written: {error}") from None


def _header(path: AnyPath, limit: int) -> Header:
    with opened(path) as file:
        return _parsed_header(path, file.read(_HEADER_BYTES), size_of(file), limit)


def _choose(path: AnyPath, channels: tuple[str, ...], quantity: str | None) -> tuple[str, ...]:
    flow = guess(2)
    if quantity is None and set(channels) == set(_names(flow, 2)):
        quantity = flow
    count = QUANTITIES[str(quantity)].channels if quantity in QUANTITIES else 1
    if count in (None, 1):
        return channels if len(channels) == 1 else _first(path, channels)
    wanted = _names(str(quantity), count)
    if not set(wanted) <= set(channels):
        raise BadFile(
            f"{path}: expected EXR channels {', '.join(wanted)} for {quantity}, found "
            f"{', '.join(channels[:10])}"
        )
    return wanted


def _names(quantity: str, channels: int) -> tuple[str, ...]:
    """The names of the channels of a map; empty if there are no names for that many."""
    own = QUANTITIES[quantity].main.channel_names if quantity in QUANTITIES else ()
    return own if len(own) == channels else _USUAL.get(channels, ())


def _first(path: AnyPath, channels: tuple[str, ...]) -> tuple[str, ...]:
    for name in _ONE:
        if name in channels:
            return (name,)
    raise BadFile(
        f"{path}: expected an EXR channel Z (or Y, R, or a single one), found "
        f"{', '.join(channels[:10])}"
    )


def _listed(header: Header) -> str:
    return ", ".join(header.channels[:10])


class _Said:
    """Standard output that keeps what one thread writes and passes on what others do."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.thread: int | None = threading.get_ident()
        self.text = ""

    def write(self, text: str) -> int:
        if threading.get_ident() != self.thread:
            return self.real.write(text) if self.real else 0
        self.text += text
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@contextmanager
def _listening() -> Iterator[_Said]:
    """OpenEXR prints what is wrong with the pixels, to standard output, and carries on."""
    # Standard output belongs to the process: two threads would restore each other's. Decoding one
    # file at a time costs nothing, four threads on their own were not faster (OpenEXR 3.5).
    with _ONE_AT_A_TIME:
        said = _Said(sys.stdout)
        try:
            with redirect_stdout(said):
                yield said
        finally:
            said.thread = None


def _planes(path: AnyPath, header: Header) -> dict[str, NDArray[Any]]:
    import OpenEXR

    def decode() -> dict[str, NDArray[Any]]:
        with _listening() as said, OpenEXR.File(str(path), separate_channels=True) as file:
            if said.text or not file.parts:
                raise ValueError(said.text.rpartition(" - ")[2] or "it has no pixels")
            return {name: channel.pixels for name, channel in file.channels().items()}

    planes = cast(dict[str, NDArray[Any]], decoded(path, "EXR file", decode))
    for name in header.channels:
        if name not in planes or planes[name].shape != (header.height, header.width):
            raise BadFile(f"{path}: EXR channel {name!r} does not have the size of its header")
    return planes


def _parsed_header(path: AnyPath, head: bytes, length: int, limit: int) -> Header:
    """Checks a single-part flat image; `head` is the file's beginning, `length` the whole's."""
    if head[:4] != _MAGIC or len(head) < 8:
        raise BadFile(f"{path}: an EXR file starts with {_MAGIC!r}, this one with {head[:4]!r}")
    version = int.from_bytes(head[4:8], "little")
    if version & 0xFF != 2 or version & ~(0xFF | _TILED | _LONG_NAMES):
        kind = "deep" if version & _DEEP else "multi-part" if version & _MULTI_PART else "unknown"
        raise BadFile(
            f"{path}: expected an EXR of one flat image, found a {kind} one; save it flat"
        )
    attributes, end = _attributes(path, head)
    height, width = _window(path, attributes)
    dtypes = _channels(path, attributes.get(b"channels", b""))
    check_size(path, (height, width, len(dtypes)), limit)
    pixel_bytes = sum(dtype.itemsize for dtype in dtypes.values())
    check_unpacked(path, height * width * pixel_bytes, length)
    _check_offsets(path, attributes, height, length - end, tiled=bool(version & _TILED))
    return Header(height, width, dtypes)


def _attributes(path: AnyPath, head: bytes) -> tuple[dict[bytes, bytes], int]:
    found: dict[bytes, bytes] = {}
    at = 8
    while head[at : at + 1] != b"\0":
        name_end = head.find(b"\0", at)
        type_end = head.find(b"\0", name_end + 1)
        if name_end < 0 or type_end < 0 or type_end + 5 > len(head):
            raise BadFile(
                f"{path}: its EXR header is truncated or longer than {_HEADER_BYTES} bytes"
            )
        length = int.from_bytes(head[type_end + 1 : type_end + 5], "little")
        start = type_end + 5
        if length > len(head) - start:
            raise BadFile(
                f"{path}: its EXR header is truncated or longer than {_HEADER_BYTES} bytes"
            )
        found[head[at:name_end]] = head[start : start + length]
        at = start + length
    return found, at + 1


def _window(path: AnyPath, attributes: dict[bytes, bytes]) -> tuple[int, int]:
    body = attributes.get(b"dataWindow", b"")
    if len(body) != 16:
        raise BadFile(f"{path}: its EXR header has no data window, so no size")
    left, top, right, bottom = struct.unpack("<4i", body)
    return bottom - top + 1, right - left + 1


def _check_offsets(
    path: AnyPath, attributes: dict[bytes, bytes], height: int, left: int, *, tiled: bool
) -> None:
    compression = attributes.get(b"compression", b"")
    if len(compression) != 1 or compression[0] not in _LINES_A_BLOCK:
        raise BadFile(f"{path}: its EXR compression {compression!r} is not a known one")
    # Each block of rows has 8 bytes in a table and 8 of its own header.
    blocks = 1 if tiled else -(-height // _LINES_A_BLOCK[compression[0]])
    if left < 16 * blocks:
        raise BadFile(f"{path}: the EXR is truncated: {left} bytes follow its header")


def _channels(path: AnyPath, body: bytes) -> dict[str, np.dtype[Any]]:
    found: dict[str, np.dtype[Any]] = {}
    at = 0
    while at < len(body) and body[at] != 0:
        end = body.find(b"\0", at)
        if end < 0 or end + 17 > len(body):
            raise BadFile(f"{path}: its EXR list of channels is damaged")
        kind, _, x_step, y_step = struct.unpack("<iiii", body[end + 1 : end + 17])
        if kind not in _PIXEL_TYPES or (x_step, y_step) != (1, 1):
            raise BadFile(f"{path}: EXR channel {body[at:end]!r} is subsampled or of unknown type")
        found[body[at:end].decode("latin-1")] = np.dtype(_PIXEL_TYPES[kind])
        at = end + 17
    if not found:
        raise BadFile(f"{path}: the EXR has no channels")
    return found
