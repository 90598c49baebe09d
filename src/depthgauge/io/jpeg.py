"""JPEG pictures: the segments are walked first, for the size and to see that the file is whole.

Decoders fill the rest of a truncated picture with grey and say nothing. So they are not given the
marker that ends the file, but a few more bytes of padding: a picture that is whole never needs
them, and a decoder that runs out of them fails.

Pictures of several scans need that marker. They are decoded again with arbitrary bytes after every
scan: no pixel of a picture that is whole depends on them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import (
    AnyPath,
    check_size,
    check_unpacked,
    most_bytes,
    opened,
    read_whole,
)

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_SEQUENTIAL, _PROGRESSIVE = (0xC0, 0xC1), 0xC2
"""Frames that are packed with Huffman's codes."""
_SCAN, _END, _RESTARTS = 0xDA, 0xD9, 0xDD
_NEEDED = _FRAMES | {0xC4, 0xDB, _RESTARTS, _SCAN}
"""Segments that decoding needs; the others are notes."""
_MOST_SCANS = 100
"""Every scan passes over all blocks; programs write up to 14."""
_PADDING = b"\xff\x00" * 8
"""Ones, as at the end of every scan; decoders read 8 bytes ahead."""
_ARBITRARY = bytes((73 * i * i + 41 * i + 29) % 255 for i in range(64))
# In compressed data a marker is FF and anything but a stuffed 0 or a restart.
_IN_SCAN = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL)
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])", re.DOTALL)
_RESTART = re.compile(rb"\xff([\xd0-\xd7])")


@dataclass(slots=True)
class _Component:
    """One colour: its sampling, and the bit to which each coefficient is known (None: not)."""

    sampling: tuple[int, int]
    bits: list[int | None] = field(default_factory=lambda: [None] * 64)


@dataclass(slots=True)
class _Layout:
    """What frame and scans say."""

    kind: int
    shape: tuple[int, int, int]
    components: dict[int, _Component]
    scans: int = 0
    end: int = 0
    """Where the data of the last scan end."""

    def blocks(self, names: list[int]) -> int:
        """The fewest blocks that a scan of these components has."""
        height, width, _ = self.shape
        most = [max(c.sampling[i] for c in self.components.values()) for i in (0, 1)]
        sides = [
            (-(-width * c.sampling[0] // most[0]), -(-height * c.sampling[1] // most[1]))
            for c in (self.components[name] for name in names)
        ]
        return sum(-(-w // 8) * -(-h // 8) for w, h in sides)

    def units(self, names: list[int]) -> int:
        """How many units (MCUs) a scan of these components has."""
        if len(names) == 1:
            return self.blocks(names)
        height, width, _ = self.shape
        most = [max(c.sampling[i] for c in self.components.values()) for i in (0, 1)]
        return -(-width // (8 * most[0])) * -(-height // (8 * most[1]))


def read_codes(path: AnyPath, limit: int) -> NDArray[np.uint8]:
    """Grey (H, W) or RGB (H, W, 3); the orientation tag is not applied."""
    import cv2

    with opened(path) as file:
        data = read_whole(path, file, most_bytes(limit))
    shape = parse(path, data)
    check_size(path, shape, limit)
    check_unpacked(path, shape[0] * shape[1] * shape[2], len(data))
    layout = _whole_layout(path, data)
    if layout.kind in _SEQUENTIAL and layout.scans == 1:
        data = data[: layout.end] + _PADDING
    else:
        _check_scans(path, data)
    flags = cv2.IMREAD_GRAYSCALE if shape[2] == 1 else cv2.IMREAD_COLOR
    try:
        pixels: NDArray[Any] | None = cv2.imdecode(
            np.frombuffer(data, dtype=np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION
        )
    except cv2.error:
        pixels = None
    if pixels is None or pixels.shape[:2] != shape[:2]:
        raise BadFile(f"{path}: the JPEG's pixels are damaged or truncated; get it again")
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB) if pixels.ndim == 3 else pixels


def parse(path: AnyPath, data: bytes) -> tuple[int, int, int]:
    """Walks the segments to the end marker; gives height, width and channels."""
    if data[:3] != b"\xff\xd8\xff":
        raise BadFile(f"{path}: a JPEG file starts with FF D8 FF, this one with {data[:3]!r}")
    shape = None
    for marker, body in segments(path, data):
        if marker in _FRAMES:
            shape = _frame(path, body, shape)
    if shape is None:
        raise BadFile(f"{path}: the JPEG says nothing of its size (no frame header)")
    return shape


def segments(path: AnyPath, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and body of each segment up to the end marker; bodies begin with their length."""
    return ((marker, body) for marker, body, _, _ in _walk(path, data))


def _walk(path: AnyPath, data: bytes) -> Iterator[tuple[int, bytes, int, int]]:
    """Marker, body, the place after it and that of the next marker: a scan's data are between."""
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
        body = data[at : at + length]
        at = start = at + length
        if marker == _SCAN:
            found = _IN_SCAN.search(data, at)
            at = found.start() if found else len(data)
        yield marker, body, start, at


def _frame(path: AnyPath, body: bytes, before: tuple[int, int, int] | None) -> tuple[int, int, int]:
    # Two frames could pass the check with one size and be decoded with the other.
    if before is not None or len(body) < 8:
        raise BadFile(f"{path}: the JPEG has a broken or a second frame header")
    height, width = int.from_bytes(body[3:5], "big"), int.from_bytes(body[5:7], "big")
    return height, width, 1 if body[7] == 1 else 3


# --- whether it is whole --------------------------------------------------------------------------


def _whole_layout(path: AnyPath, data: bytes) -> _Layout:
    """The layout of a file whose scans can be whole: all there, none too short for its blocks."""
    layout, interval = None, 0
    for marker, body, start, end in _walk(path, data):
        if marker in _FRAMES:
            layout = _layout(path, marker, body)
        elif marker == _RESTARTS:
            interval = int.from_bytes(body[2:4], "big")
        elif marker == _SCAN:
            if layout is None:
                raise BadFile(f"{path}: the JPEG has pixels before its frame header")
            _take_scan(path, layout, body, data[start:end], interval)
            layout.end = end
    if layout is None or not layout.scans:
        raise BadFile(f"{path}: the JPEG holds no pixels; it is truncated, get it again")
    if any(bit != 0 for component in layout.components.values() for bit in component.bits):
        raise BadFile(f"{path}: the JPEG ends before its last scan; it is truncated, get it again")
    return layout


def _layout(path: AnyPath, kind: int, body: bytes) -> _Layout:
    if kind not in (*_SEQUENTIAL, _PROGRESSIVE):
        # A truncated one cannot be told from a whole one: arithmetic coding drops bytes at its end.
        raise BadFile(
            f"{path}: the JPEG is lossless or uses arithmetic coding (frame FF {kind:02X}), which "
            "few programs read; save it again as a usual JPEG or a PNG"
        )
    count = body[7]
    if len(body) != 8 + 3 * count or not count:
        raise BadFile(f"{path}: the JPEG has a broken frame header")
    components = {
        body[i]: _Component((body[i + 1] >> 4, body[i + 1] & 15)) for i in range(8, len(body), 3)
    }
    if len(components) != count or any(
        not 1 <= n <= 4 for c in components.values() for n in c.sampling
    ):
        raise BadFile(f"{path}: the JPEG's frame header has impossible colours")
    return _Layout(kind, _frame(path, body, None), components)


def _take_scan(path: AnyPath, layout: _Layout, body: bytes, packed: bytes, interval: int) -> None:
    """Notes what a scan gives, and compares its length with its blocks."""
    layout.scans += 1
    if layout.scans > _MOST_SCANS:
        raise BadFile(f"{path}: the JPEG has more than {_MOST_SCANS} scans; save it again")
    count = body[2] if len(body) > 2 else 0
    names = [body[3 + 2 * i] for i in range(count)] if len(body) == 6 + 2 * count else []
    if not names or any(name not in layout.components for name in names):
        raise BadFile(f"{path}: a scan of the JPEG has a broken header")
    first, last, bit = body[-3], body[-2], body[-1] & 15
    if layout.kind in _SEQUENTIAL:
        first, last, bit = 0, 63, 0
    for name in names:
        bits = layout.components[name].bits
        bits[first : last + 1] = [bit] * len(bits[first : last + 1])
    # A code has at least one bit: the mean of each block, and in a sequential scan its end.
    least = (2 if layout.kind in _SEQUENTIAL else 1 if first == 0 else 0) * layout.blocks(names)
    if 8 * len(packed) < least:
        raise BadFile(
            f"{path}: a scan of the JPEG has {len(packed)} bytes, its size needs {-(-least // 8)} "
            "or more; it is truncated, get it again"
        )
    _check_restarts(path, layout.units(names), packed, interval)


def _check_scans(path: AnyPath, data: bytes) -> None:
    """Refuses a file with a scan whose decoder reads on beyond its data."""
    if not np.array_equal(_decoded(path, data, b""), _decoded(path, data, _ARBITRARY)):
        raise BadFile(f"{path}: a scan of the JPEG is damaged or truncated; get it again")


def _decoded(path: AnyPath, data: bytes, after: bytes) -> NDArray[Any]:
    """The pixels, with these bytes after each scan; Pillow does not print warnings, OpenCV does."""
    from PIL.JpegImagePlugin import JpegImageFile

    parts = [
        bytes([0xFF, marker]) + body + data[start:end] + (after if marker == _SCAN else b"")
        for marker, body, start, end in _walk(path, data)
        if marker in _NEEDED
    ]
    stream = io.BytesIO(b"\xff\xd8" + b"".join(parts) + b"\xff\xd9")
    try:
        return np.asarray(JpegImageFile(stream))
    except (OSError, SyntaxError, ValueError):
        raise BadFile(f"{path}: the JPEG's pixels are damaged or truncated; get it again") from None


def _check_restarts(path: AnyPath, units: int, packed: bytes, interval: int) -> None:
    if not interval:
        return
    found = [match[1][0] & 7 for match in _RESTART.finditer(packed)]
    expected = -(-units // interval) - 1
    # Some cameras write one more, after the last unit.
    if len(found) - expected not in (0, 1) or found != [i % 8 for i in range(len(found))]:
        raise BadFile(
            f"{path}: a scan of the JPEG has {len(found)} restart markers, {expected} expected in "
            "turn; it is damaged or truncated, get it again"
        )
