""".npy: one array. The header is parsed here, so that a hostile one cannot allocate or execute."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import (
    MAX_PIXELS,
    AnyPath,
    check_size,
    expect_rest,
    opened,
    read_into,
    write_parts,
)
from depthgauge.io._values import Request, as_map, map_axes_of
from depthgauge.types import Map

MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}
_MOST_HEADER_BYTES = 10_000
_MOST_AXES = 32
_HEADER = re.compile(
    r"\s*\{(?=[^}]*'descr': *'([^']*)')(?=[^}]*'fortran_order': *(True|False))"
    r"(?=[^}]*'shape': *\(((?:\d{1,18}L?, *)*(?:\d{1,18}L?)?)\))[^}]*\}\s*"
)
_PLAIN_NUMBER = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|b1|\?)")
# A mapped file holds a file descriptor for as long as the map lives; small ones are read.
_MAP_FROM_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Header:
    """What an array's header says."""

    dtype: np.dtype[Any]
    fortran: bool
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Number of bytes of the values that follow."""
        return prod(self.shape) * self.dtype.itemsize


def read(path: AnyPath, request: Request) -> Map:
    """The array as a map. A large float32 file is mapped (copy on write), not read.

    Integers are values like others: 0 is 0, not missing. Only plain numbers are accepted.
    """
    with opened(path) as file:
        header = read_header(path, file)
        map_shape(path, header.shape, request)
        expect_rest(path, file, file.tell(), header.bytes)
        if _can_be_mapped(header):
            start = file.tell()
            values: NDArray[Any] = np.asarray(
                np.memmap(file, np.float32, mode="c", offset=start, shape=header.shape)
            )
        else:
            values = read_values(path, file, header)
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels from the header; axes of length 1 around them are left out."""
    with opened(path) as file:
        return map_shape(path, read_header(path, file).shape, request)


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The dtype of the array, from its header."""
    with opened(path) as file:
        header = read_header(path, file)
    map_shape(path, header.shape, request)
    return header.dtype


def read_array(path: AnyPath, limit: int = MAX_PIXELS) -> NDArray[Any]:
    """The array as it is stored, for masks and labels."""
    with opened(path) as file:
        header = read_header(path, file)
        map_shape(path, header.shape, Request(limit=limit))
        expect_rest(path, file, file.tell(), header.bytes)
        return read_values(path, file, header)


def write(path: AnyPath, values: Map) -> None:
    """Little-endian float32, missing as NaN."""
    stored = np.ascontiguousarray(values, dtype="<f4")
    write_parts(path, encode_header(stored), stored)


def encode_header(stored: NDArray[Any]) -> bytes:
    """Version 1.0, padded to 64 bytes as the format requires."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {stored.shape}, }}"
    text = text.ljust(-(-(len(text) + 11) // 64) * 64 - 11) + "\n"
    return MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def read_header(path: AnyPath, file: BinaryIO) -> Header:
    """Parses up to the first value; knows the three fields and nothing else."""
    head = file.read(8)
    if head[:6] != MAGIC or len(head) < 8 or head[6] not in _LENGTH_BYTES:
        raise BadFile(f"{path}: an .npy file starts with {MAGIC!r} and a version, found {head!r}")
    length = int.from_bytes(file.read(_LENGTH_BYTES[head[6]]), "little")
    if length > _MOST_HEADER_BYTES:
        raise BadFile(f"{path}: its .npy header claims {length} bytes; a plain array has about 100")
    text = file.read(length).decode("latin-1")
    match = _HEADER.fullmatch(text)
    if match is None or len(text) < length:
        raise BadFile(
            f"{path}: expected an .npy header of a plain array (descr, fortran_order, shape), "
            f"found {text[:80]!r}; save the array alone with numpy.save"
        )
    descr, fortran, shape = match.groups()
    if _PLAIN_NUMBER.fullmatch(descr) is None:
        raise BadFile(
            f"{path}: expected an array of floats, integers or bools, found dtype {descr!r}; "
            "save it as float32"
        )
    sizes = tuple(int(n.rstrip("L")) for n in re.findall(r"\d+L?", shape))
    if len(sizes) > _MOST_AXES:
        raise BadFile(f"{path}: its array has {len(sizes)} axes; at most {_MOST_AXES} are read")
    return Header(np.dtype(descr), fortran == "True", sizes)


def map_shape(path: AnyPath, shape: tuple[int, ...], request: Request) -> tuple[int, int, int]:
    """Height, width and channels of a stored shape, checked against the limit."""
    inner = tuple(shape[axis] for axis in map_axes_of(shape, request.quantity))
    if len(inner) not in (2, 3):
        layers = "; if it has layers, say so with a quantity such as layered_flow"
        raise BadFile(
            f"{path}: expected an array (H, W) or (H, W, C), found shape {shape}"
            f"{layers if len(inner) == 4 else ''}"
        )
    result = (inner[0], inner[1], inner[2] if len(inner) == 3 else 1)
    check_size(path, result, request.limit)
    return result


def read_values(path: AnyPath, file: BinaryIO, header: Header) -> NDArray[Any]:
    """The values that follow the header, in C order of the header's shape."""
    shape = header.shape[::-1] if header.fortran else header.shape
    stored = np.zeros(shape, dtype=header.dtype)
    read_into(path, file, stored)
    if stored.dtype.kind == "b":
        # Any byte but 0 and 1 in a bool array is undefined behaviour in numpy.
        stored = stored.view(np.uint8) != 0
    return stored.transpose() if header.fortran else stored


def _can_be_mapped(header: Header) -> bool:
    plain = header.dtype == np.dtype(np.float32) and header.dtype.isnative
    return plain and not header.fortran and header.bytes >= _MAP_FROM_BYTES
