"""JPEG pictures: the segments are walked first, for the size and to see that the file is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, check_size, most_bytes, opened, read_whole

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_SCAN, _END = 0xDA, 0xD9
# In compressed data a marker is FF and anything but a stuffed 0 or a restart.
_IN_SCAN = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])", re.DOTALL)


def read_codes(path: AnyPath, limit: int) -> NDArray[np.uint8]:
    """Grey (H, W) or RGB (H, W, 3); the orientation tag is not applied."""
    import cv2

    with opened(path) as file:
        data = read_whole(path, file, most_bytes(limit))
    shape = parse(path, data)
    check_size(path, shape, limit)
    flags = cv2.IMREAD_GRAYSCALE if shape[2] == 1 else cv2.IMREAD_COLOR
    try:
        pixels: NDArray[Any] | None = cv2.imdecode(
            np.frombuffer(data, dtype=np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION
        )
    except cv2.error:
        pixels = None
    if pixels is None or pixels.shape[:2] != shape[:2]:
        raise BadFile(f"{path}: the JPEG's compressed pixels are damaged")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB) if pixels.ndim == 3 else pixels


def parse(path: AnyPath, data: bytes) -> tuple[int, int, int]:
    """Walks the segments to the end marker; gives height, width and channels."""
    if data[:3] != b"\xff\xd8\xff":
        raise BadFile(f"{path}: a JPEG file starts with FF D8 FF, this one with {data[:3]!r}")
    shape = None
    for marker, body in _segments(path, data):
        if marker in _FRAMES:
            shape = _frame(path, body, shape)
    if shape is None:
        raise BadFile(f"{path}: the JPEG says nothing of its size (no frame header)")
    return shape


def _segments(path: AnyPath, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 2
    while True:
        match = _MARKER.match(data, at)
        if match is None:
            raise BadFile(f"{path}: the JPEG is damaged or truncated at byte {at}; get it again")
        marker, at = match.group(1)[0], match.end()
        if marker == _END:
            return
        length = int.from_bytes(data[at : at + 2], "big")
        if length < 2 or at + length > len(data):
            raise BadFile(f"{path}: the JPEG is truncated at byte {at}; get it again")
        yield marker, data[at : at + length]
        at += length
        if marker == _SCAN:
            found = _IN_SCAN.search(data, at)
            at = found.start() if found else len(data)


def _frame(path: AnyPath, body: bytes, before: tuple[int, int, int] | None) -> tuple[int, int, int]:
    # Two frames could pass the check with one size and be decoded with the other.
    if before is not None or len(body) < 8:
        raise BadFile(f"{path}: the JPEG has a broken or a second frame header")
    height, width = int.from_bytes(body[3:5], "big"), int.from_bytes(body[5:7], "big")
    return height, width, 1 if body[7] == 1 else 3
