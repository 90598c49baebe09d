"""TIFF: maps of float32, float64 or float16 as they are, of uint8 or uint16 with a scale."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import (
    AnyPath,
    check_size,
    check_unpacked,
    decoded,
    in_words,
    opened,
    replacing,
    size_of,
)
from depthgauge.io._values import (
    Request,
    as_map,
    ask_for_scale,
    check_channels,
    from_codes,
    with_map_axes,
)
from depthgauge.types import Map

if TYPE_CHECKING:
    from tifffile import TiffPage

_NONE, _DEFLATE, _OLD_DEFLATE = 1, 8, 32946
_NO_PREDICTOR, _DIFFERENCES = 1, 2
_MOST_SEGMENTS = 2**20
_QUIET = ContextVar("_QUIET", default=False)


def read(path: AnyPath, request: Request) -> Map:
    """The first page as a map; integers are codes as in PNG (16 bits: scale 256, 0 missing)."""
    with opened(path) as file, quiet():
        values = cast(NDArray[Any], decoded(path, "TIFF", lambda: _read(path, file, request)))
    if values.dtype.kind == "u":
        codes = with_map_axes(values, request.quantity)
        check_channels(path, codes.shape, request.quantity)
        default = 256.0 if values.dtype.itemsize == 2 else 1.0
        if values.dtype.itemsize == 2:
            ask_for_scale(path, request)
        return from_codes(codes, request.scale or default, request.raw, request.invalid)
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels of the first page."""
    return _header(path, request.limit)[0]


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The dtype of the first page, from its tags."""
    return _header(path, request.limit)[1]


def write(path: AnyPath, values: Map) -> None:
    """Plain float32, missing as NaN."""
    from tifffile import imwrite

    with replacing(path) as beside:
        layout = "contig" if values.ndim == 3 else None
        imwrite(beside, values, photometric="minisblack", planarconfig=layout, metadata=None)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps tifffile's remarks about odd files out of the log."""
    # tifffile logs what is odd about a file; what matters we raise. Other threads keep their logs.
    logging.getLogger("tifffile").addFilter(_is_loud)
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


def _is_loud(_: logging.LogRecord) -> bool:
    return not _QUIET.get()


def _header(path: AnyPath, limit: int) -> tuple[tuple[int, int, int], np.dtype[Any]]:
    from tifffile import TiffFile

    def parse() -> tuple[tuple[int, int, int], np.dtype[Any]]:
        with TiffFile(file) as tiff:
            page = tiff.pages[0]
            return _checked_shape(path, page, limit), page.dtype

    with opened(path) as file, quiet():
        return cast(tuple[tuple[int, int, int], np.dtype[Any]], decoded(path, "TIFF", parse))


def _read(path: AnyPath, file: Any, request: Request) -> NDArray[Any]:
    from tifffile import TiffFile

    with TiffFile(file) as tiff:
        return read_page(path, file, tiff.pages[0], request.limit)


def read_page(path: AnyPath, file: Any, page: TiffPage, limit: int) -> NDArray[Any]:
    """The values (H, W, C) of one page; everything that its tags say is checked first."""
    shape = _checked_shape(path, page, limit)
    _check_segments(path, file, page)
    values = np.asarray(page.asarray(maxworkers=1))
    if values.size != shape[0] * shape[1] * shape[2]:
        raise BadFile(
            f"{path}: the TIFF decodes to {values.size} values, its header says {in_words(shape)}"
        )
    return values.reshape(shape)


def _checked_shape(path: AnyPath, page: TiffPage, limit: int) -> tuple[int, int, int]:
    shape = (int(page.imagelength), int(page.imagewidth), int(page.samplesperpixel))
    check_size(path, shape, limit)
    if page.imagedepth != 1 or (page.planarconfig != 1 and shape[2] > 1):
        raise BadFile(f"{path}: expected a TIFF with channels side by side and no depth axis")
    if page.dtype is None or (page.dtype.kind, page.dtype.itemsize) not in {
        ("f", 2),
        ("f", 4),
        ("f", 8),
        ("u", 1),
        ("u", 2),
    }:
        raise BadFile(f"{path}: expected a TIFF of floats, uint8 or uint16, found {page.dtype}")
    if page.compression not in (_NONE, _DEFLATE, _OLD_DEFLATE):
        raise BadFile(f"{path}: TIFF compression {int(page.compression)} is not read; use deflate")
    if page.predictor not in (_NO_PREDICTOR, _DIFFERENCES):
        raise BadFile(f"{path}: TIFF predictor {int(page.predictor)} is not read; save without")
    return shape


def _check_segments(path: AnyPath, file: Any, page: TiffPage) -> None:
    """Strips or tiles must lie in the file and not unpack to more than their share."""
    offsets, counts = page.dataoffsets, page.databytecounts
    chunk_shape = page.chunks
    need = int(np.prod(chunk_shape, dtype=object)) * page.dtype.itemsize
    grid = [-(-a // b) for a, b in zip(page.shape, chunk_shape, strict=True)]
    expected = int(np.prod(grid, dtype=object))
    if len(offsets) != expected or len(counts) != expected or expected > _MOST_SEGMENTS:
        raise BadFile(f"{path}: the TIFF has {len(offsets)} strips or tiles, {expected} expected")
    if need > 16 * page.imagelength * page.imagewidth * page.samplesperpixel + 2**24:
        raise BadFile(f"{path}: the TIFF's tiles are larger than its picture")
    end = size_of(file)
    check_unpacked(path, expected * need, end)
    for offset, count in zip(offsets, counts, strict=True):
        if offset <= 0 or count <= 0 or offset + count > end:
            raise BadFile(f"{path}: the TIFF is truncated: a strip lies beyond the file's end")
        if page.compression != _NONE:
            _check_deflated(path, file, offset, count, need)


def _check_deflated(path: AnyPath, file: Any, offset: int, count: int, need: int) -> None:
    file.seek(offset)
    packed, got = file.read(count), 0
    unpack = zlib.decompressobj()
    while not unpack.eof:
        step = len(unpack.decompress(packed, 2**16))
        got, packed = got + step, unpack.unconsumed_tail
        if got > need or not (step or packed):
            raise BadFile(f"{path}: a strip of the TIFF unpacks to another size than announced")
