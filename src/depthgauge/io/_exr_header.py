"""The header of an OpenEXR file, parsed by ourselves: its size is known before it is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, check_size

MAGIC = b"\x76\x2f\x31\x01"
HEADER_BYTES = 2**16
_TILED, _LONG_NAMES, _DEEP, _MULTI_PART = 0x200, 0x400, 0x800, 0x1000
_PIXEL_TYPES = {0: np.uint32, 1: np.float16, 2: np.float32}
_LINES_A_BLOCK = {0: 1, 1: 1, 2: 1, 3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256}


@dataclass(frozen=True, slots=True)
class Header:
    """What is needed of it."""

    height: int
    width: int
    dtypes: dict[str, np.dtype[Any]]
    """Of each channel."""

    @property
    def channels(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.dtypes)


def parse(path: AnyPath, head: bytes, length: int, limit: int) -> Header:
    """Checks a single-part flat image; `head` is the file's beginning, `length` the whole's."""
    if head[:4] != MAGIC or len(head) < 8:
        raise BadFile(f"{path}: an EXR file starts with {MAGIC!r}, this one with {head[:4]!r}")
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
                f"{path}: its EXR header is truncated or longer than {HEADER_BYTES} bytes"
            )
        length = int.from_bytes(head[type_end + 1 : type_end + 5], "little")
        start = type_end + 5
        if length > len(head) - start:
            raise BadFile(
                f"{path}: its EXR header is truncated or longer than {HEADER_BYTES} bytes"
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
