"""PNG containers: header and chunks are checked here before any decoder sees a byte.

Decoders differ in what they do with a truncated file (some return half an image), so lengths and
checksums are verified here; and they get a rebuilt file of header and pixels only, which keeps
colour profiles, orientation, animation frames and everything else in chunks away from them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DepthgaugeError
from depthgauge.io._files import (
    AnyPath,
    check_size,
    check_unpacked,
    in_words,
    most_bytes,
    opened,
    read_whole,
    size_of,
)

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER_BYTES = 33
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
_DEPTHS = {
    GREY: (1, 2, 4, 8, 16),
    RGB: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GREY_ALPHA: (8, 16),
    RGB_ALPHA: (8, 16),
}
_CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 1, RGB_ALPHA: 3}
_STORED_CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
_PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)
)  # fmt: skip
"""Of interlacing: first column and row, and the steps to the next."""
_FREE_EXCESS = 2**18
"""Packed bytes that cannot unpack to more than `FREE_BYTES`: deflate reaches 1032 : 1."""
_CRITICAL = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of IHDR."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width, channels; alpha and palette colours do not count."""
        return self.height, self.width, _CHANNELS[self.colour]

    @property
    def bytes(self) -> int:
        """Of all rows unpacked, each after the byte that names its filter."""
        pixel_bits = self.depth * _STORED_CHANNELS[self.colour]
        if not self.interlaced:
            return self.height * (1 + -(-self.width * pixel_bits // 8))
        # Seven smaller pictures: those that have no pixels have no rows.
        sizes = [
            (-(-(self.width - x) // dx), -(-(self.height - y) // dy)) for x, y, dx, dy in _PASSES
        ]
        return sum(h * (1 + -(-w * pixel_bits // 8)) for w, h in sizes if w > 0 and h > 0)


@dataclass(slots=True)
class Png:
    """A file whose chunks are complete and whose checksums are right."""

    header: Header
    text: dict[str, str] = field(default_factory=dict)
    palette: NDArray[np.uint8] | None = None
    data: list[memoryview] = field(default_factory=list)


def load(path: AnyPath, limit: int) -> Png:
    """Reads and checks a file; the header's size is compared with the limit first."""
    with opened(path) as file:
        header = parse_header(path, file.read(HEADER_BYTES))
        check_size(path, header.shape, limit)
        check_unpacked(path, header.bytes, size_of(file))
        # Compressed pixels are hardly longer than plain ones, metadata has 16 MiB.
        data = read_whole(path, file, most_bytes(header.width * header.height))
    return parse(path, data)


def parse_header(path: AnyPath, head: bytes) -> Header:
    """The first chunk, which must be a right IHDR."""
    if head[:8] != SIGNATURE:
        raise BadFile(f"{path}: a PNG file starts with {SIGNATURE!r}, this one with {head[:8]!r}")
    if len(head) < HEADER_BYTES or head[8:16] != b"\0\0\0\rIHDR":
        raise BadFile(f"{path}: its PNG header is missing or cut off; get the file again")
    if zlib.crc32(head[12:29]) != int.from_bytes(head[29:33], "big"):
        raise BadFile(f"{path}: the checksum of its PNG header is wrong; get the file again")
    width, height, depth, colour, method, filters, interlaced = struct.unpack(
        ">IIBBBBB", head[16:29]
    )
    if depth not in _DEPTHS.get(colour, ()) or method or filters or interlaced > 1:
        raise BadFile(
            f"{path}: its PNG header has colour type {colour} with {depth} bits, method {method}, "
            f"filter {filters}, interlace {interlaced}; that is not a PNG of this world"
        )
    return Header(width, height, depth, colour, bool(interlaced))


def parse(path: AnyPath, data: bytes) -> Png:
    """Walks all chunks to IEND and verifies each."""
    png = Png(parse_header(path, data[:HEADER_BYTES]))
    view, at = memoryview(data), 8
    while True:
        if len(data) - at < 12:
            raise BadFile(f"{path}: the PNG ends without an IEND chunk; it is truncated")
        length = int.from_bytes(view[at : at + 4], "big")
        kind = bytes(view[at + 4 : at + 8])
        end = at + 12 + length
        if end > len(data):
            raise BadFile(
                f"{path}: PNG chunk {kind!r} announces {length} bytes, {len(data) - at - 12} are "
                "left; the file is truncated"
            )
        if zlib.crc32(view[at + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise BadFile(f"{path}: the checksum of PNG chunk {kind!r} is wrong; it is damaged")
        if kind == b"IEND":
            return _complete(path, png)
        _take(path, png, kind, view[at + 8 : end - 4])
        at = end


def _take(path: AnyPath, png: Png, kind: bytes, body: memoryview) -> None:
    if kind == b"IDAT":
        png.data.append(body)
    elif kind == b"PLTE":
        if not len(body) or len(body) % 3:
            raise BadFile(f"{path}: its PNG palette has {len(body)} bytes, not 3 for each colour")
        png.palette = np.frombuffer(body, dtype=np.uint8).reshape(-1, 3)
    elif kind == b"tEXt":
        key, _, value = bytes(body).partition(b"\0")
        png.text[key.decode("latin-1")] = value.decode("latin-1")
    elif kind not in _CRITICAL and kind[:1].isupper():
        raise BadFile(f"{path}: PNG chunk {kind!r} is critical but not in the standard")


def _complete(path: AnyPath, png: Png) -> Png:
    if not png.data:
        raise BadFile(f"{path}: the PNG holds no pixels (no IDAT chunk)")
    if png.header.colour == PALETTE and png.palette is None:
        raise BadFile(f"{path}: the PNG has palette colours but no palette (no PLTE chunk)")
    return png


def chunk(kind: bytes, body: bytes | memoryview) -> bytes:
    """One chunk with its length and checksum."""
    crc = zlib.crc32(body, zlib.crc32(kind))
    return b"".join([len(body).to_bytes(4, "big"), kind, body, crc.to_bytes(4, "big")])


def codes(path: AnyPath, png: Png) -> NDArray[Any]:
    """The stored numbers: (H, W) grey or palette indices, (H, W, 3) RGB, uint8 or uint16.

    Palette indices and pixels of 1, 2 or 4 bits are asked of the decoder as bytes of a grey image
    (PNG filters both alike), because it would scale them or look them up.
    """
    header = png.header
    packed = header.depth < 8
    if packed and header.interlaced:
        raise BadFile(
            f"{path}: interlaced PNG with {header.depth} bits is not supported; "
            "save it without interlacing"
        )
    if header.colour not in (PALETTE, GREY):
        return _without_alpha(path, _decode(path, header, png.data), header)
    width = -(-header.width * header.depth // 8) if packed else header.width
    plain = Header(width, header.height, max(header.depth, 8), GREY, header.interlaced)
    pixels = _decode(path, plain, png.data)
    if not packed:
        return _checked(path, pixels, (header.height, header.width))
    _checked(path, pixels, (header.height, width))
    bits = np.unpackbits(pixels, axis=1)[:, : header.width * header.depth]
    weights = (1 << np.arange(header.depth - 1, -1, -1)).astype(np.uint8)
    parts = bits.reshape(header.height, header.width, header.depth) * weights
    whole: NDArray[np.uint8] = parts.sum(axis=2, dtype=np.uint8)
    return whole


def _checked(path: AnyPath, pixels: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if pixels.shape != shape:
        raise BadFile(
            f"{path}: the PNG decodes to {in_words(pixels.shape)}, its header says "
            f"{in_words(shape)}"
        )
    return pixels


def _without_alpha(path: AnyPath, pixels: NDArray[Any], header: Header) -> NDArray[Any]:
    import cv2

    if pixels.ndim != 3 or pixels.shape[:2] != (header.height, header.width):
        raise BadFile(
            f"{path}: the PNG decodes to {in_words(pixels.shape)}, its header says "
            f"{in_words(header.shape)}"
        )
    if header.colour == GREY_ALPHA:
        return np.ascontiguousarray(pixels[..., 0])
    conversion = cv2.COLOR_BGRA2RGB if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGB
    rgb: NDArray[Any] = cv2.cvtColor(pixels, conversion)
    return rgb


def _decode(path: AnyPath, header: Header, data: list[memoryview]) -> NDArray[Any]:
    import cv2

    fields = (header.width, header.height, header.depth, header.colour, 0, 0, header.interlaced)
    body = [chunk(b"IDAT", part) for part in _bounded(path, header, data)]
    rebuilt = b"".join(
        [SIGNATURE, chunk(b"IHDR", struct.pack(">IIBBBBB", *fields)), *body, chunk(b"IEND", b"")]
    )
    try:
        pixels = cv2.imdecode(np.frombuffer(rebuilt, dtype=np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        pixels = None
    if pixels is None:
        raise BadFile(f"{path}: the PNG's compressed pixels are damaged or too few")
    result: NDArray[Any] = pixels
    return result


def _bounded(path: AnyPath, header: Header, data: list[memoryview]) -> Sequence[bytes | memoryview]:
    """The same rows in parts that unpack to no more than these.

    The decoder unpacks everything, also what follows the last row. Where that could be much, it is
    unpacked here as far as the header promises, and given to the decoder unpacked.
    """
    if sum(len(part) for part in data) <= _FREE_EXCESS:
        return data
    unpack = zlib.decompressobj()
    try:
        rows = unpack.decompress(b"".join(data), header.bytes + 1)
    except zlib.error:
        raise BadFile(f"{path}: the PNG's compressed pixels are damaged") from None
    if len(rows) != header.bytes:
        raise BadFile(
            f"{path}: the PNG's header promises {header.bytes} bytes of pixels, it holds "
            f"{'more' if len(rows) > header.bytes else len(rows)}; header and pixels disagree"
        )
    return [zlib.compress(rows, 0)]


def encode(pixels: NDArray[Any], text: dict[str, str] | None = None) -> bytes:
    """A PNG file of (H, W) or RGB (H, W, 3), uint8 or uint16, with text chunks after its header."""
    import cv2

    if pixels.ndim == 3:
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    done, encoded = cv2.imencode(".png", pixels)
    if not done:
        raise DepthgaugeError("OpenCV cannot encode this image as PNG")
    data: bytes = encoded.tobytes()
    extra = [
        chunk(b"tEXt", f"{key}\0{value}".encode("latin-1")) for key, value in (text or {}).items()
    ]
    return b"".join([data[:HEADER_BYTES], *extra, data[HEADER_BYTES:]])
