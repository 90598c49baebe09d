"""Any photograph as numbers, RAW and HEIC included: what `capture import` reads."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, MissingExtra
from depthgauge.io import image
from depthgauge.io._files import MAX_PIXELS, AnyPath, check_size, decoded, opened
from depthgauge.io.photographs.exif import Exif, exif_of, read_exif

RAW = (".dng", ".nef", ".cr2", ".cr3", ".arw", ".raf", ".orf", ".rw2", ".pef", ".srw")
HEIC = (".heic", ".heif", ".hif")
_SRGB = (2.4, 12.92)
"""The tone curve of all pictures here that are no EXR."""


def ending(path: AnyPath) -> str:
    """The file's ending in lower case, with its dot."""
    return PurePath(os.fspath(path)).suffix.lower()


def stored_pixels(path: AnyPath, limit: int = MAX_PIXELS) -> NDArray[Any]:
    """Grey (H, W) or RGB (H, W, 3), uint8 or uint16, as the sensor lay: no orientation is applied.

    RAW is developed with 16 bits, the sRGB curve, the camera's daylight colours and no automatic
    brightness, so that photographs of a camera can be compared. HEIC is always upright.

    Raises:
        BadFile: It cannot be read.
        MissingExtra: RAW or HEIC, and the package that reads it is not installed.
    """
    if ending(path) in RAW:
        return _raw_pixels(path, limit)
    if ending(path) in HEIC:
        return _heic_pixels(path, limit)
    stored = image.read_stored(path, limit)
    if stored.dtype == np.uint8:
        return stored
    shown: NDArray[np.float64] = np.clip(np.asarray(stored, np.float64), 0, 1)
    return np.rint(shown * 65535).astype(np.uint16)


def notes_of(path: AnyPath) -> Exif:
    """The notes of a camera in any photograph; the defaults if there are none.

    Raises:
        BadFile: The file cannot be opened.
        MissingExtra: It is a HEIC, and the package that reads it is not installed.
    """
    if ending(path) not in HEIC:
        return read_exif(path)
    with opened(path):
        block = decoded(path, "HEIC", lambda: _heif(path).info.get("exif")) or b""
    found = exif_of(bytes(block).removeprefix(b"Exif\0\0"))
    return Exif(1, found.taken_s, found.has_fraction, found.exposure_s, found.model)


def _raw_pixels(path: AnyPath, limit: int) -> NDArray[Any]:
    try:
        import rawpy
    except ImportError:
        raise MissingExtra(
            f"{path}: RAW photographs need rawpy; install depthgauge[photographs]"
        ) from None

    def develop() -> NDArray[Any]:
        with rawpy.imread(os.fspath(path)) as raw:
            check_size(path, (raw.sizes.height, raw.sizes.width, 3), limit)
            pixels = raw.postprocess(
                output_bps=16,
                gamma=_SRGB,
                no_auto_bright=True,
                adjust_maximum_thr=0.0,
                user_flip=0,
            )
        return np.asarray(pixels, np.uint16)

    with opened(path):
        return cast(NDArray[Any], decoded(path, "RAW", develop))


def _heic_pixels(path: AnyPath, limit: int) -> NDArray[Any]:
    def decode() -> NDArray[Any]:
        found = _heif(path)
        width, height = found.size
        check_size(path, (height, width, 3), limit)
        return np.asarray(found)

    with opened(path):
        pixels = cast(NDArray[Any], decoded(path, "HEIC", decode))
    if pixels.dtype not in (np.uint8, np.uint16) or pixels.ndim not in (2, 3):
        raise BadFile(f"{path}: expected a HEIC of 8 to 16 bits, found {pixels.dtype}")
    return np.ascontiguousarray(pixels[..., :3] if pixels.ndim == 3 else pixels)


def _heif(path: AnyPath) -> Any:
    try:
        import pillow_heif
    except ImportError:
        raise MissingExtra(
            f"{path}: HEIC photographs need pillow-heif; install depthgauge[photographs]"
        ) from None
    return pillow_heif.open_heif(os.fspath(path), convert_hdr_to_8bit=False)
