"""PGM and PPM in their binary forms (P5, P6), 8 or 16 bits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, check_size, expect_rest, opened, read_into
from depthgauge.io._values import Request, ask_for_scale, check_channels, from_codes
from depthgauge.types import Map

_GAP = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(rb"P([56])" + 3 * (_GAP + rb"(\d{1,18})") + rb"\s")


@dataclass(frozen=True, slots=True)
class _Header:
    shape: tuple[int, int, int]
    most: int
    start: int


def read(path: AnyPath, request: Request) -> Map:
    """The codes as a map: code / scale (default 1), code 0 missing."""
    codes, _ = read_codes(path, request.limit)
    check_channels(path, codes.shape, request.quantity)
    if codes.dtype.itemsize == 2:
        ask_for_scale(path, request)
    return from_codes(codes, request.scale or 1.0, request.raw, request.invalid)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels from the header."""
    with opened(path) as file:
        return _read_header(path, file, request.limit).shape


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The dtype of the codes, from the header."""
    with opened(path) as file:
        most = _read_header(path, file, request.limit).most
    return np.dtype(np.uint8 if most < 256 else np.uint16)


def read_codes(path: AnyPath, limit: int) -> tuple[NDArray[Any], int]:
    """The stored numbers, (H, W) or RGB (H, W, 3), and the largest that the header allows."""
    with opened(path) as file:
        header = _read_header(path, file, limit)
        shape = header.shape if header.shape[2] == 3 else header.shape[:2]
        codes = np.zeros(shape, dtype=np.uint8 if header.most < 256 else ">u2")
        file.seek(header.start)
        read_into(path, file, codes)
    return codes.astype(codes.dtype.newbyteorder("="), copy=False), header.most


def _read_header(path: AnyPath, file: BinaryIO, limit: int) -> _Header:
    head = file.read(4096)
    match = _HEADER.match(head)
    if match is None:
        raise BadFile(
            f"{path}: expected a binary PGM or PPM header (P5 or P6, width, height, largest), "
            f"found {head[:40]!r}"
        )
    kind, width, height, most = (int(group) for group in match.groups())
    shape = (height, width, 3 if kind == 6 else 1)
    check_size(path, shape, limit)
    if not 1 <= most <= 65535:
        raise BadFile(f"{path}: its largest value is {most}; it must be from 1 to 65535")
    need = shape[0] * shape[1] * shape[2] * (1 if most < 256 else 2)
    expect_rest(path, file, match.end(), need)
    return _Header(shape, most, match.end())
