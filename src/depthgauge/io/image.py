"""Pictures, masks and label maps in any of the common formats."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io import _png_chunks as chunks
from depthgauge.io import exr, jpeg, netpbm, npy
from depthgauge.io._files import MAX_PIXELS, AnyPath, opened, write_parts
from depthgauge.io._recognise import recognise
from depthgauge.io._values import Request
from depthgauge.io.photographs import tiff_picture
from depthgauge.io.photographs.exif import read_exif
from depthgauge.io.photographs.orientation import upright
from depthgauge.io.png import one_channel_if_equal
from depthgauge.types import Image, Mask


def read_image(path: AnyPath, limit: int = MAX_PIXELS) -> Image:
    """A picture: RGB (H, W, 3) or grey (H, W), without alpha.

    PNG, JPEG, TIFF, PPM and PGM with 8 bits are uint8; with 16 bits float32 from 0 to 1. EXR is
    linear float32. An orientation tag (EXIF, in JPEG, TIFF and PNG) is applied: the picture is
    upright, as every viewer shows it.

    Args:
        path: The file; its format is recognised by its content.
        limit: The most pixels it may have.
    """
    return upright(read_stored(path, limit), read_exif(path).orientation)


def read_stored(path: AnyPath, limit: int = MAX_PIXELS) -> Image:
    """The same as it is stored: no orientation tag is applied."""
    return _reader(path, _IMAGES, "a picture (PNG, JPEG, TIFF, PPM, PGM or EXR)")(path, limit)


def is_deep(path: AnyPath) -> bool:
    """Whether a picture has more than 8 bits for each channel, from its header alone.

    Raises:
        BadFile: It cannot be read, or is no picture.
    """
    kind = recognise(path)
    if kind == "png":
        with opened(path) as file:
            return chunks.parse_header(path, file.read(chunks.HEADER_BYTES)).depth == 16
    if kind == "tiff":
        return tiff_picture.dtype(path).itemsize > 1
    if kind == "netpbm":
        return netpbm.dtype(path, Request(limit=sys.maxsize)).itemsize > 1
    _reader(path, _IMAGES, "a picture (PNG, JPEG, TIFF, PPM, PGM or EXR)")
    return kind == "exr"


def read_mask(path: AnyPath, limit: int = MAX_PIXELS) -> Mask:
    """A mask (H, W): True where any channel is not 0 (and not NaN)."""
    stored = _reader(path, _MASKS, "a mask (PNG, JPEG, PPM, PGM or NPY)")(path, limit)
    inside = (stored != 0) & (stored == stored)
    if inside.ndim == 3:
        inside = inside.any(axis=2)
    return np.ascontiguousarray(_flat(path, inside, "a mask"))


def read_labels(path: AnyPath, limit: int = MAX_PIXELS) -> NDArray[np.int32]:
    """A map of integer labels (H, W), exactly as stored (in a palette PNG: the indices)."""
    stored = _reader(path, _LABELS, "a label map (PNG, PGM or NPY)")(path, limit)
    if stored.dtype.kind not in "iub":
        raise BadFile(f"{path}: labels are integers, this file holds {stored.dtype}")
    stored = _flat(path, one_channel_if_equal(stored), "a label map")
    most = np.iinfo(np.int32)
    if stored.size and (int(stored.max()) > most.max or int(stored.min()) < most.min):
        raise BadFile(f"{path}: holds labels beyond 32 bits, such as {stored.max()}")
    return np.ascontiguousarray(stored, dtype=np.int32)


def write_image(path: AnyPath, image: Image | Mask | NDArray[np.uint16]) -> None:
    """Writes a PNG: uint8 and uint16 as they are, float32 from 0 to 1 with 16 bits, bool as 0, 255.

    Args:
        path: Ends in `.png`.
        image: Grey (H, W) or RGB (H, W, 3).
    """
    pixels = np.asarray(image)
    if not str(path).lower().endswith(".png"):
        raise DoesNotFit(f"{path}: pictures are written as PNG; name it *.png")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3) or not pixels.size:
        raise DoesNotFit(f"{path}: a picture is (H, W) or (H, W, 3), this one is {pixels.shape}")
    write_parts(path, chunks.encode(_codes(path, pixels)))


def _codes(path: AnyPath, pixels: NDArray[Any]) -> NDArray[Any]:
    if pixels.dtype.kind == "b":
        return np.where(pixels, np.uint8(255), np.uint8(0))
    if pixels.dtype in (np.uint8, np.uint16):
        return np.ascontiguousarray(pixels)
    if pixels.dtype.kind != "f":
        raise DoesNotFit(f"{path}: a picture is uint8, uint16, bool or float, not {pixels.dtype}")
    if not ((pixels >= 0) & (pixels <= 1)).all():
        raise DoesNotFit(f"{path}: a float picture has values from 0 to 1; clip it before writing")
    return np.rint(pixels * np.float64(65535)).astype(np.uint16)


_Reader = Callable[[AnyPath, int], NDArray[Any]]


def _reader(path: AnyPath, readers: dict[str, _Reader], wanted: str) -> _Reader:
    kind = recognise(path)
    if kind not in readers:
        raise BadFile(f"{path}: expected {wanted}, found {kind or 'something else'}")
    return readers[kind]


def _flat(path: AnyPath, stored: NDArray[Any], what: str) -> NDArray[Any]:
    stored = stored[..., 0] if stored.ndim == 3 and stored.shape[2] == 1 else stored
    if stored.ndim != 2:
        raise BadFile(f"{path}: {what} is (H, W), this file holds {stored.shape}")
    return stored


def _png_picture(path: AnyPath, limit: int) -> NDArray[Any]:
    png = chunks.load(path, limit)
    codes = chunks.codes(path, png)
    if png.palette is not None and png.header.colour == chunks.PALETTE:
        if int(codes.max()) >= len(png.palette):
            raise BadFile(f"{path}: the PNG uses colour {codes.max()} of {len(png.palette)}")
        colours: NDArray[np.uint8] = png.palette[codes]
        return colours
    if png.header.depth == 16:
        values: NDArray[np.float32] = codes.astype(np.float32) / np.float32(65535)
        return values
    if png.header.depth < 8:
        # Fewer bits span black to white too.
        codes *= np.uint8(255 // (2**png.header.depth - 1))
    return codes


def _png_codes(path: AnyPath, limit: int) -> NDArray[Any]:
    return chunks.codes(path, chunks.load(path, limit))


def _netpbm_picture(path: AnyPath, limit: int) -> NDArray[Any]:
    codes, most = netpbm.read_codes(path, limit)
    if most == 255:
        return codes
    values: NDArray[np.float32] = codes.astype(np.float32) / np.float32(most)
    return np.minimum(values, np.float32(1))


def _netpbm_codes(path: AnyPath, limit: int) -> NDArray[Any]:
    return netpbm.read_codes(path, limit)[0]


_IMAGES: dict[str, _Reader] = {
    "png": _png_picture,
    "jpeg": jpeg.read_codes,
    "netpbm": _netpbm_picture,
    "exr": exr.read_picture,
    "tiff": tiff_picture.read_picture,
}
_MASKS: dict[str, _Reader] = {
    "png": _png_picture,
    "jpeg": jpeg.read_codes,
    "netpbm": _netpbm_codes,
    "npy": npy.read_array,
}
_LABELS: dict[str, _Reader] = {
    "png": _png_codes,
    "netpbm": _netpbm_codes,
    "npy": npy.read_array,
}
