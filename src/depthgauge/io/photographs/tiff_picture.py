"""TIFF as a picture: 8 or 16 bits, or float; grey or RGB; plain, deflate, LZW or PackBits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io import tiff
from depthgauge.io._files import (
    AnyPath,
    check_size,
    check_unpacked,
    decoded,
    most_bytes,
    opened,
    read_whole,
    size_of,
)

if TYPE_CHECKING:
    from tifffile import TiffPage

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _CFA, _LINEAR_RAW = 0, 1, 2, 32803, 34892
_LZW, _PACKBITS = 5, 32773
"""Compressions that OpenCV unpacks; tifffile needs another package for them."""
_KINDS = {("u", 1), ("u", 2), ("f", 4)}


def read_picture(path: AnyPath, limit: int) -> NDArray[Any]:
    """Grey (H, W) or RGB (H, W, 3): uint8, or float32 with 16 bits from 0 to 1; without alpha.

    Raises:
        BadFile: It is damaged, or it is no picture of this kind.
    """
    codes = read_codes(path, limit)
    if codes.dtype == np.uint16:
        return codes.astype(np.float32) / np.float32(65535)
    return codes


def read_codes(path: AnyPath, limit: int) -> NDArray[Any]:
    """The same as it is stored: uint8, uint16 or float32."""
    with opened(path) as file, tiff.quiet():
        return cast(NDArray[Any], decoded(path, "TIFF", lambda: _read(path, file, limit)))


def dtype(path: AnyPath) -> np.dtype[Any]:
    """uint8, uint16 or float32, from the tags."""
    from tifffile import TiffFile

    def parse() -> Any:
        with TiffFile(file) as opened_tiff:
            return opened_tiff.pages[0].dtype

    with opened(path) as file, tiff.quiet():
        found: np.dtype[Any] = np.dtype(decoded(path, "TIFF", parse))
    return found


def _read(path: AnyPath, file: Any, limit: int) -> NDArray[Any]:
    from tifffile import TiffFile

    with TiffFile(file) as opened_tiff:
        page = opened_tiff.pages[0]
        _check_kind(path, page)
        if page.compression in (_LZW, _PACKBITS):
            shape = (int(page.imagelength), int(page.imagewidth), int(page.samplesperpixel))
            check_size(path, shape, limit)
            promised = shape[0] * shape[1] * shape[2] * page.dtype.itemsize
            check_unpacked(path, promised, size_of(file))
            values = _unpacked(path, read_whole(path, file, most_bytes(limit)), shape)
        else:
            values = tiff.read_page(path, file, page, limit)
        inverted = page.photometric == _WHITE_IS_ZERO
    if inverted:
        top = 1.0 if values.dtype.kind == "f" else np.iinfo(values.dtype).max
        values = (top - values).astype(values.dtype)
    channels = values.shape[2] if values.ndim == 3 else 1
    return np.ascontiguousarray(
        values[..., :3] if channels > 2 else values.reshape(*values.shape[:2], channels)[..., 0]
    )


def _check_kind(path: AnyPath, page: TiffPage) -> None:
    if page.photometric in (_CFA, _LINEAR_RAW):
        raise BadFile(
            f"{path}: is a RAW photograph; `depthgauge capture import` develops it, or save it as "
            "a TIFF of 16 bits"
        )
    if page.photometric not in (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB):
        raise BadFile(
            f"{path}: expected a grey or RGB TIFF, found colours of kind {int(page.photometric)}; "
            "save it as RGB"
        )
    bits = page.bitspersample
    kind = (page.dtype.kind, page.dtype.itemsize) if page.dtype is not None else None
    if kind not in _KINDS or bits != 8 * page.dtype.itemsize:
        raise BadFile(f"{path}: expected a TIFF picture of 8 or 16 bits, found {bits}; save it so")


def _unpacked(path: AnyPath, data: bytes, shape: tuple[int, int, int]) -> NDArray[Any]:
    import cv2

    flags = cv2.IMREAD_UNCHANGED
    values = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    if values is None or values.shape[:2] != shape[:2]:
        raise BadFile(f"{path}: the TIFF's pixels are damaged or truncated; get it again")
    if values.ndim == 3:
        values = values[..., [2, 1, 0, *range(3, values.shape[2])]]
    return np.asarray(values)
