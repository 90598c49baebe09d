"""Maps in PNG: 16-bit (KITTI, scale 256) and 8-bit disparity or depth, KITTI's flow, Sintel's RGB.

A value is code / scale and code 0 is missing. The scale is kept in the file, in a text chunk
`depthgauge:scale`. Values are rounded to the nearest code; KITTI's own writer truncates, so its
files are half a code (1/512 px) lower on average.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DoesNotFit, Misuse
from depthgauge.io import _png_chunks as chunks
from depthgauge.io._files import AnyPath, check_size, opened, write_parts
from depthgauge.io._values import (
    Request,
    ask_for_scale,
    channels_of,
    check_channels,
    from_codes,
    to_codes,
)
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map

SCALE_KEY = "depthgauge:scale"
DEFAULT_SCALE = {8: 1.0, 16: 256.0}
FLOW_SCALE, FLOW_ZERO = 64, 32768
BYTES_SCALE = 1 << 14
"""Of Sintel's disparity: red, green and blue are the bytes of one number, disparity * 2^14."""
_MOST_STEP_PX = 2.0
_FEWEST_STEPS = 4


def read(path: AnyPath, request: Request) -> Map:
    """A map; `quantity="flow"` reads 3 x 16 bits as KITTI does.

    Colour files whose three channels are equal (Middlebury's older disparities) are one channel.
    """
    png = chunks.load(path, request.limit)
    if png.header.colour == chunks.PALETTE:
        raise BadFile(f"{path}: expected a PNG with values, found one with palette colours")
    if is_coded_as_flow(request.quantity):
        return _read_flow(path, png, request)
    codes = one_channel_if_equal(chunks.codes(path, png))
    if channels_of(request.quantity) == 1 and codes.ndim == 3:
        return _read_bytes(path, codes, request)
    check_channels(path, codes.shape, request.quantity)
    scale = request.scale or _stored_scale(path, png, request)
    return from_codes(codes, scale, request.raw, request.invalid)


def is_coded_as_flow(quantity: str | None) -> bool:
    """Whether PNG files of that quantity have KITTI's three channels: u, v and valid."""
    return quantity in QUANTITIES and QUANTITIES[str(quantity)].png == "flow"


def looks_like_flow(path: AnyPath) -> bool:
    """Whether it has three channels of 16 bits, as KITTI's flow."""
    header = _header(path)
    return header.depth == 16 and header.colour == chunks.RGB


def dtype(path: AnyPath, _: Request) -> np.dtype[Any]:
    """The dtype of the codes, from the header; fewer bits than 8 are read as bytes."""
    return np.dtype(np.uint16 if _header(path).depth == 16 else np.uint8)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and channels from the header; as stored, but two for flow."""
    height, width, channels = shape = _header(path).shape
    check_size(path, shape, request.limit)
    flow = is_coded_as_flow(request.quantity) and channels == 3
    return height, width, 2 if flow else channels


def write(path: AnyPath, values: Map, quantity: str, scale: float | None) -> None:
    """16 bits; flow as KITTI stores it, other maps with one channel as value * scale."""
    if is_coded_as_flow(quantity):
        if scale is not None:
            raise Misuse(f"{path}: flow in PNG has a fixed scale (64); leave scale out")
        write_parts(path, chunks.encode(_flow_codes(path, values)))
        return
    if values.ndim != 2:
        raise DoesNotFit(f"{path}: a PNG map holds one channel, the map has {values.shape[2]}")
    used = DEFAULT_SCALE[16] if scale is None else float(scale)
    codes = to_codes(path, values, used)
    write_parts(path, chunks.encode(codes, {SCALE_KEY: repr(used)}))


def one_channel_if_equal(codes: NDArray[Any]) -> NDArray[Any]:
    """(H, W) for a grey picture that is stored as RGB, else what it was."""
    if codes.ndim == 3 and codes.shape[2] == 3 and (codes == codes[..., :1]).all():
        return np.ascontiguousarray(codes[..., 0])
    return codes


def _header(path: AnyPath) -> chunks.Header:
    with opened(path) as file:
        return chunks.parse_header(path, file.read(chunks.HEADER_BYTES))


def _stored_scale(path: AnyPath, png: chunks.Png, request: Request) -> float:
    text = png.text.get(SCALE_KEY)
    if text is None and png.header.depth == 16:
        if request.png_scale is None:
            ask_for_scale(path, request)
        return request.png_scale or DEFAULT_SCALE[16]
    if text is None:
        return DEFAULT_SCALE[8]
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not (math.isfinite(scale) and scale > 0):
        raise BadFile(f"{path}: its text chunk {SCALE_KEY} is {text!r}, not a positive number")
    return scale


def _read_flow(path: AnyPath, png: chunks.Png, request: Request) -> Map:
    header = png.header
    if header.depth != 16 or header.colour not in (chunks.RGB, chunks.RGB_ALPHA):
        raise BadFile(
            f"{path}: flow in PNG has 3 channels of 16 bits (KITTI), this file has "
            f"{header.shape[2]} of {header.depth}"
        )
    if request.scale is not None:
        raise Misuse(f"{path}: flow in PNG has a fixed scale (64); leave scale out")
    codes = chunks.codes(path, png)
    flow = codes[..., :2].astype(np.float32)
    flow -= FLOW_ZERO
    flow *= np.float32(1 / FLOW_SCALE)  # a power of two: exact
    if not request.raw:
        np.copyto(flow, np.float32(np.nan), where=codes[..., 2:] == 0)
    return flow


def _read_bytes(path: AnyPath, codes: NDArray[Any], request: Request) -> Map:
    """Sintel's disparity, of which every value is known; colour pictures are refused."""
    between_views = QUANTITIES[str(request.quantity)].between_views
    if not (between_views and _are_bytes_of_numbers(codes)):
        raise BadFile(
            f"{path}: {request.quantity} is a map (H, W), this PNG is a colour picture; "
            "a map drawn in colours cannot be scored"
        )
    if request.scale is not None:
        raise Misuse(f"{path}: disparity in three bytes has a fixed scale; leave scale out")
    return (_numbers(codes) / BYTES_SCALE).astype(np.float32)


def _numbers(codes: NDArray[Any]) -> NDArray[np.int64]:
    red, green, blue = (codes[..., i].astype(np.int64) for i in range(3))
    return red * 65536 + green * 256 + blue


def _are_bytes_of_numbers(codes: NDArray[Any]) -> bool:
    """Whether the three channels are the bytes of one number, and not colours.

    Surfaces are smooth. Where the first byte of a number counts one up or down from a pixel to the
    next, the second one starts over (255, 0), so that the number itself hardly changes. In
    pictures, which include maps drawn in colours, green does not jump where red changes by one.
    """
    if codes.dtype != np.uint8 or codes.shape[2] != 3:
        return False
    numbers = _numbers(codes)
    found = total = 0
    for axis in (0, 1):
        counts = np.abs(np.diff(codes[..., 0].astype(np.int16), axis=axis)) == 1
        steps = np.abs(np.diff(numbers, axis=axis))[counts]
        total += steps.size
        found += int((steps < _MOST_STEP_PX * BYTES_SCALE).sum())
    return total >= _FEWEST_STEPS and 2 * found > total


def _flow_codes(path: AnyPath, values: Map) -> NDArray[np.uint16]:
    valid = np.asarray(~np.isnan(values).any(axis=2))
    codes = np.zeros((*valid.shape, 3), dtype=np.uint16)
    flow = to_codes(path, values, FLOW_SCALE, offset=FLOW_ZERO, least=0)
    codes[..., :2] = np.where(valid[..., None], flow, 0)
    codes[..., 2] = valid
    return codes
