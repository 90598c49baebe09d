"""`read_map`, `write_map`, `map_size`, `stored_dtype`: one door to all map formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from depthgauge.errors import BadFile, Misuse, WrongShape
from depthgauge.io import exr, flo, hdf5, netpbm, npy, npz, pfm, png, tiff
from depthgauge.io._files import MAX_PIXELS, AnyPath
from depthgauge.io._recognise import by_name, recognise
from depthgauge.io._values import Request, check_scale, checked_map
from depthgauge.io.shown import shown_picture
from depthgauge.quantities import QUANTITIES, guess, map_axes
from depthgauge.types import Map

_READERS: dict[str, Callable[[AnyPath, Request], Map]] = {
    "pfm": pfm.read,
    "png": png.read,
    "flo": flo.read,
    "dpt": flo.read_depth,
    "hdf5": hdf5.read,
    "npy": npy.read,
    "npz": npz.read,
    "exr": exr.read,
    "tiff": tiff.read,
    "netpbm": netpbm.read,
}
_SIZES: dict[str, Callable[[AnyPath, Request], tuple[int, int, int]]] = {
    "pfm": pfm.size,
    "png": png.size,
    "flo": flo.size,
    "dpt": flo.depth_size,
    "hdf5": hdf5.size,
    "npy": npy.size,
    "npz": npz.size,
    "exr": exr.size,
    "tiff": tiff.size,
    "netpbm": netpbm.size,
}
_DTYPES: dict[str, Callable[[AnyPath, Request], np.dtype[Any]]] = {
    "pfm": pfm.dtype,
    "png": png.dtype,
    "flo": flo.dtype,
    "dpt": flo.depth_dtype,
    "hdf5": hdf5.dtype,
    "npy": npy.dtype,
    "npz": npz.dtype,
    "exr": exr.dtype,
    "tiff": tiff.dtype,
    "netpbm": netpbm.dtype,
}
_KINDS = "PFM, PNG, .flo, .dpt, .npy, .npz, EXR, TIFF, HDF5 or PGM"


def read_map(
    path: AnyPath,
    quantity: str | None = None,
    raw: bool = False,
    scale: float | None = None,
    limit: int = MAX_PIXELS,
    png_scale: float | None = None,
    invalid: Sequence[float] = (),
) -> Map:
    """A map as C-contiguous float32 (H, W) or (H, W, C), NaN where it is missing.

    The format is recognised by the file's content. Infinities, code 0 of integer pictures (PNG,
    TIFF, PGM) and unknown flow (.flo beyond 1e9, KITTI's third channel 0) become NaN.

    Args:
        path: The file.
        quantity: `disparity`, `depth`, `flow` ...: what is expected, so that another number of
            channels is an error; flow in PNG is read as KITTI stores it, flow in a three-channel
            PFM are its first two channels. None accepts any map.
        raw: Keep the file's own NaN, infinities, zeros and codes of invalid flow; for twins only.
        scale: Stored units per unit: value = stored / scale. Replaces what the file says (the
            header of a PFM, the text chunk of a PNG) and the defaults (256 for 16-bit codes,
            else 1).
        limit: The most pixels the header may claim.
        png_scale: The scale of 16-bit PNGs that do not state one, instead of 256; Booster's have
            64.
        invalid: Stored numbers that mean missing, such as 0 or -1 in floats, 65535 in codes.

    Raises:
        UnknownScale: The file holds whole numbers of depth, and neither it nor the call says
            whether they are millimetres or KITTI's codes.
        BadFile: The file is damaged, misstates its size or contains something else.
        TooLarge: Its header claims more than the limit.
    """
    request = Request(quantity, raw, scale, limit, png_scale, tuple(invalid))
    if quantity is not None and quantity in QUANTITIES and QUANTITIES[quantity].main.picture:
        return shown_picture(path, _kind(path), request)
    return _READERS[_kind(path)](path, request)


def map_size(
    path: AnyPath, quantity: str | None = None, limit: int = MAX_PIXELS
) -> tuple[int, int, int]:
    """Height, width and channels (1 for (H, W)) that `read_map` would give, from the header alone.

    Only the pixels show whether a colour PNG is grey: its channels are counted as stored.

    Args:
        path: The file.
        quantity: As for `read_map`.
        limit: The most pixels the header may claim.
    """
    return _SIZES[_kind(path)](path, Request(quantity, limit=limit))


def stored_dtype(path: AnyPath) -> np.dtype[Any]:
    """The type in which the file stores its values, from the header alone, in native byte order.

    For an EXR: of the channels that `read_map` uses without a quantity.
    """
    # Nothing of the map's size is allocated, so it may have any.
    return _DTYPES[_kind(path)](path, Request(limit=sys.maxsize)).newbyteorder("=")


def guess_quantity(path: AnyPath) -> str:
    """The quantity of a map by default, from its channels: one is disparity, two are flow.

    PNG with three channels of 16 bits is KITTI's flow, and a PFM with three channels is flow too.

    Raises:
        BadFile: It can be read in two ways, such as (2, H, W); both are named.
    """
    kind = _kind(path)
    if kind == "png":
        return guess(2 if png.looks_like_flow(path) else 1)
    height, width, channels = map_size(path)
    if kind == "pfm" and channels == 3:
        return guess(2)
    try:
        map_axes((height, width, channels), channels_last=True)
    except WrongShape as error:
        raise BadFile(f"{path}: {error}") from None
    return guess(channels)


def write_map(
    path: AnyPath, map: ArrayLike, quantity: str | None = None, scale: float | None = None
) -> None:
    """Writes a map in the format of the file's ending, atomically.

    Missing (NaN, infinities) becomes what the format has for it: +inf in PFM, code 0 in PNG, 1e10
    in .flo, NaN in the others.

    Args:
        path: Ends in .pfm, .png, .flo, .dpt, .flo5, .dsp5, .npy, .npz, .exr, .tif or .tiff.
        map: (H, W) or (H, W, C); values that float32 cannot represent are rejected.
        quantity: What it is; flow has its own PNG coding. Without it, one channel is disparity,
            two are flow and three are normals.
        scale: PNG only: codes per unit (default 256), kept in the file.

    Raises:
        DoesNotFit: The format cannot hold these values.
        DepthgaugeError: The file cannot be written.
    """
    check_scale(scale)
    kind = by_name(path)
    if kind not in _READERS or kind == "netpbm":
        raise Misuse(
            f"{path}: maps are written as .pfm .png .flo .dpt .flo5 .dsp5 .npy .npz .exr or .tiff"
        )
    if scale is not None and kind != "png":
        raise Misuse(f"{path}: only PNG keeps a scale; leave it out, {kind} holds floats")
    array = np.asarray(map)
    if quantity is None:
        quantity = guess(array.shape[2] if array.ndim == 3 else 1)
    values = checked_map(path, array, quantity)
    _write(kind, path, values, quantity, scale)


def _write(kind: str, path: AnyPath, values: Map, quantity: str, scale: float | None) -> None:
    if kind == "png":
        png.write(path, values, quantity, scale)
    elif kind == "exr":
        exr.write(path, values, quantity)
    else:
        writers = {"pfm": pfm.write, "flo": flo.write, "npy": npy.write, "npz": npz.write}
        writers |= {"dpt": flo.write_depth, "hdf5": hdf5.write}
        writers.get(kind, tiff.write)(path, values)


def _kind(path: AnyPath) -> str:
    kind = recognise(path)
    if kind == "jpeg":
        raise BadFile(f"{path}: expected a map, found a JPEG, which does not keep values exactly")
    if kind not in _READERS:
        raise BadFile(f"{path}: expected a map ({_KINDS}), found {kind or 'something else'}")
    return kind
