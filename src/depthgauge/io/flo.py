""".flo, the Middlebury and Sintel flow format: `PIEH`, width, height, then u, v by rows.

Sintel's depth, .dpt, has the same header and one float per pixel: only its name and its length tell
it from flow.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io._files import AnyPath, check_size, expect_rest, opened, read_into, write_parts
from depthgauge.io._values import Request, as_map
from depthgauge.types import Map

MAGIC = b"PIEH"  # 202021.25 as a little-endian float
UNKNOWN = 1e9
"""A component beyond this means that the flow is not known there."""
_WRITTEN_UNKNOWN = np.float32(1e10)


def read(path: AnyPath, request: Request) -> Map:
    """Flow (H, W, 2); a pixel with a component beyond 1e9 is missing in both, unless raw."""
    with opened(path) as file:
        shape = _read_header(path, file, request.limit, channels=2)
        stored = np.zeros(shape, dtype="<f4")
        read_into(path, file, stored)
    values = stored.astype(np.float32, copy=False)
    if not request.raw:
        with np.errstate(all="ignore"):
            known = np.abs(values) <= UNKNOWN
        if not known.all():
            values[~known.all(axis=2)] = np.nan
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels from the header."""
    with opened(path) as file:
        return _read_header(path, file, request.limit, channels=2)


def dtype(path: AnyPath, request: Request) -> np.dtype[np.float32]:
    """float32, if the header is right."""
    size(path, request)
    return np.dtype(np.float32)


def write(path: AnyPath, values: Map) -> None:
    """Missing becomes 1e10 in both components."""
    if values.ndim != 3 or values.shape[2] != 2:
        raise DoesNotFit(f"{path}: a .flo file holds (H, W, 2) flow, the map is {values.shape}")
    if (np.abs(values) > UNKNOWN).any():
        raise DoesNotFit(f"{path}: a .flo file holds flow up to 1e9 px, the map has more")
    missing = np.isnan(values).any(axis=2, keepdims=True)
    stored = np.where(missing, _WRITTEN_UNKNOWN, values).astype("<f4")
    height, width = values.shape[:2]
    write_parts(path, MAGIC + struct.pack("<ii", width, height), stored)


def read_depth(path: AnyPath, request: Request) -> Map:
    """The map (H, W) of a .dpt file; what is not finite is missing, unless raw."""
    with opened(path) as file:
        shape = _read_header(path, file, request.limit, channels=1)
        stored = np.zeros(shape[:2], dtype="<f4")
        read_into(path, file, stored)
    return as_map(path, stored.astype(np.float32, copy=False), request)


def depth_size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and one channel from the header of a .dpt file."""
    with opened(path) as file:
        return _read_header(path, file, request.limit, channels=1)


def depth_dtype(path: AnyPath, request: Request) -> np.dtype[np.float32]:
    """float32, if the header is right."""
    depth_size(path, request)
    return np.dtype(np.float32)


def write_depth(path: AnyPath, values: Map) -> None:
    """A .dpt file; missing stays NaN."""
    if values.ndim != 2:
        raise DoesNotFit(f"{path}: a .dpt file holds a map (H, W), this one is {values.shape}")
    height, width = values.shape
    write_parts(path, MAGIC + struct.pack("<ii", width, height), values.astype("<f4"))


def _read_header(
    path: AnyPath, file: BinaryIO, limit: int, *, channels: int
) -> tuple[int, int, int]:
    head = file.read(12)
    if head[:4] != MAGIC or len(head) < 12:
        kind = ".flo" if channels == 2 else ".dpt"
        raise BadFile(
            f"{path}: a {kind} file starts with PIEH, width and height, this one with {head!r}"
        )
    width, height = struct.unpack("<ii", head[4:])
    shape = (height, width, channels)
    check_size(path, shape, limit)
    expect_rest(path, file, 12, 4 * channels * height * width)
    return shape
