"""PFM: `Pf` (one channel) and `PF` (three), 32-bit floats, rows from the bottom up.

The sign of the header's scale is the byte order (negative: little endian), its size multiplies the
values. One exception: Middlebury's imageLib writes 1/255 (`0.003922`) into every file as a hint for
viewers and no reader of that benchmark applies it, so exactly that scale is read as 1.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io._files import (
    MAX_PIXELS,
    AnyPath,
    check_size,
    expect_rest,
    opened,
    read_into,
    size_of,
    write_parts,
)
from depthgauge.io._values import Request, as_map, channels_of, scaled
from depthgauge.types import Map

_HEADER_BYTES = 4096
_GAP = rb"\s+(?:#[^\n]*\n\s*)*"
_HEADER = re.compile(
    rb"P([fF])"
    + _GAP
    + rb"([+-]?\d{1,18})"
    + _GAP
    + rb"([+-]?\d{1,18})"
    + _GAP
    + rb"([^\s#]{1,40})\s"
)
_VIEWER_SCALE = "0.003922"


@dataclass(frozen=True, slots=True)
class _Header:
    shape: tuple[int, int, int]
    little_endian: bool
    factor: float
    """The factor of the values: `scale`, except for the viewers' hint."""
    scale: float
    """As the header has it, without its sign."""
    start: int


def read(path: AnyPath, request: Request) -> Map:
    """The map of a PFM file; a `PF` file gives three channels, for flow the first two of them.

    `request.scale` replaces the header's: values are then those stored, divided by it.
    """
    with opened(path) as file:
        header = _read_header(path, file, request.limit)
        values = _read_rows(path, file, header)
    if header.little_endian != (sys.byteorder == "little"):
        values.byteswap(inplace=True)
    if header.factor != 1 and request.scale is None:
        values = scaled(path, values, np.multiply, header.factor)
    if header.shape[2] == 3 and channels_of(request.quantity) == 2:
        values = np.ascontiguousarray(values[..., :2])
    return as_map(path, values, request)


def map_pfm(path: AnyPath, limit: int = MAX_PIXELS) -> Map:
    """The values of a `Pf` file where they are on disk; they are read when they are used.

    For twins and other single passes over large files: as `read_map(path, raw=True, scale=1)`, but
    read-only and with the rows as the file has them, from the bottom up. Where the processor could
    not use them so (big endian, a header of odd length) they are copied.

    Args:
        path: The file; it must not be cut short while the map is in use.
        limit: The most pixels the header may claim.
    """
    with opened(path) as file:
        header = _read_header(path, file, limit)
        height, width, channels = header.shape
        if channels != 1:
            raise BadFile(f"{path}: expected a PFM with one channel (Pf), found a colour one (PF)")
        order = "<f4" if header.little_endian else ">f4"
        rows: Map = np.memmap(file, order, "r", header.start, (height, width)).view(np.ndarray)
    if not (rows.dtype.isnative and rows.flags.aligned):
        rows = np.array(rows, np.float32)
    rows.flags.writeable = False
    return rows


def pfm_scale(path: AnyPath) -> float | None:
    """The scale of a PFM's header without its sign, None if the file is not a PFM.

    `read_map` multiplies by it, except for the hint in Middlebury's files.
    """
    with opened(path) as file:
        if file.read(2) not in (b"Pf", b"PF"):
            return None
        file.seek(0)
        return _read_header(path, file, MAX_PIXELS).scale


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and the channels that `read` gives, from the header."""
    with opened(path) as file:
        height, width, channels = _read_header(path, file, request.limit).shape
    pair = channels == 3 and channels_of(request.quantity) == 2
    return height, width, 2 if pair else channels


def dtype(path: AnyPath, request: Request) -> np.dtype[np.float32]:
    """float32, if the header is right."""
    size(path, request)
    return np.dtype(np.float32)


def write(path: AnyPath, values: Map) -> None:
    """Little endian, scale -1. Missing is written as +inf.

    Middlebury and ETH3D take +inf as missing; their tools count NaN as a value, and the 4D light
    field evaluator as a correct one. Two channels (flow) become `PF` with a third that is 0.
    """
    channels = values.shape[2] if values.ndim == 3 else 1
    if channels > 3:
        raise DoesNotFit(f"{path}: a PFM file holds 1 to 3 channels, the map has {channels}")
    stored = np.where(np.isnan(values), np.float32(np.inf), values)
    if channels == 2:
        stored = np.concatenate([stored, np.zeros_like(stored[..., :1])], axis=2)
    height, width = stored.shape[:2]
    magic = "Pf" if channels == 1 else "PF"
    rows = np.ascontiguousarray(stored[::-1], dtype="<f4")
    write_parts(path, f"{magic}\n{width} {height}\n-1\n".encode(), rows)


def _read_header(path: AnyPath, file: BinaryIO, limit: int) -> _Header:
    head = file.read(_HEADER_BYTES)
    if head[:2] not in (b"Pf", b"PF"):
        raise BadFile(f"{path}: a PFM file starts with Pf or PF, this one with {head[:2]!r}")
    match = _HEADER.match(head)
    if match is None:
        raise BadFile(
            f"{path}: expected a PFM header 'Pf, width height, scale', found {head[:40]!r}"
        )
    kind, width, height, scale = match.groups()
    shape = (int(height), int(width), 3 if kind == b"F" else 1)
    check_size(path, shape, limit)
    factor = _parse_scale(path, scale)
    need = 4 * shape[0] * shape[1] * shape[2]
    start = match.end()
    # A header with Windows line ends has one more byte; only the file's length shows it.
    if head[start - 1 : start + 1] == b"\r\n" and size_of(file) == start + 1 + need:
        start += 1
    expect_rest(path, file, start, need)
    viewer = scale.lstrip(b"+-").decode("latin-1") == _VIEWER_SCALE
    return _Header(shape, factor < 0, 1.0 if viewer else abs(factor), abs(factor), start)


def _parse_scale(path: AnyPath, text: bytes) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if scale == 0 or not math.isfinite(scale):
        raise BadFile(
            f"{path}: the PFM scale is {text.decode('latin-1')!r}, it must be a number other than "
            "0 (negative for little endian)"
        )
    return scale


def _read_rows(path: AnyPath, file: BinaryIO, header: _Header) -> Map:
    height, width, channels = header.shape
    shape = (height, width) if channels == 1 else header.shape
    values = np.zeros(shape, dtype=np.float32)
    file.seek(header.start)
    # Straight to where each row belongs: no flipped copy afterwards.
    for row in values[::-1]:
        read_into(path, file, row)
    return values
