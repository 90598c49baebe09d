""".npz: a zip of .npy files. The map is the array named `map`, or the only one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, as_bytes, decoded, opened, replacing
from depthgauge.io._values import Request, as_map
from depthgauge.io.npy import Header, encode_header, map_shape, read_header, read_values
from depthgauge.types import Map

KEY = "map"
_MOST_EXPANSION = 1100  # deflate reaches 1032 : 1


def read(path: AnyPath, request: Request) -> Map:
    """The array `map`, or the only array of the archive, as a map."""
    with opened(path) as file:
        return as_map(path, decoded(path, ".npz file", lambda: _read(path, file, request)), request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels from the array's header."""
    return map_shape(path, _header(path).shape, request)


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """Of the array, from its header."""
    header = _header(path)
    map_shape(path, header.shape, request)
    return header.dtype


def write(path: AnyPath, values: Map) -> None:
    """One compressed array named `map`, missing as NaN."""
    stored = np.ascontiguousarray(values, dtype="<f4")
    # A fixed date: the same map gives the same bytes.
    info = zipfile.ZipInfo(f"{KEY}.npy", date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    with (
        replacing(path) as beside,
        zipfile.ZipFile(beside, "x") as archive,
        archive.open(info, "w", force_zip64=stored.nbytes > 2**31) as stream,
    ):
        stream.write(encode_header(stored))
        stream.write(as_bytes(stored))


def _header(path: AnyPath) -> Header:
    def parse() -> Header:
        with zipfile.ZipFile(file) as archive, _member(path, archive) as (_, stream):
            return read_header(path, stream)

    with opened(path) as file:
        return cast(Header, decoded(path, ".npz file", parse))


@contextmanager
def _member(path: AnyPath, archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, BinaryIO]]:
    info = _find(path, archive)
    with archive.open(info) as stream:
        yield info, cast(BinaryIO, stream)


def _find(path: AnyPath, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    arrays = {info.filename: info for info in archive.infolist() if info.filename[-4:] == ".npy"}
    if f"{KEY}.npy" in arrays:
        return arrays[f"{KEY}.npy"]
    if len(arrays) != 1:
        names = ", ".join(sorted(name[:-4] for name in arrays)[:10]) or "none"
        raise BadFile(
            f"{path}: expected an array named '{KEY}' or a single array, found {names}; "
            f"save it with numpy.savez(path, {KEY}=...)"
        )
    return next(iter(arrays.values()))


def _read(path: AnyPath, file: IO[bytes], request: Request) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive, _member(path, archive) as (info, stream):
        header = read_header(path, stream)
        map_shape(path, header.shape, request)
        length = stream.tell() + header.bytes
        if info.file_size != length or info.compress_size * _MOST_EXPANSION < length - 1000:
            raise BadFile(
                f"{path}: the header of '{info.filename}' announces {length} bytes, the archive "
                f"holds {info.file_size}; header and values disagree"
            )
        values = read_values(path, stream, header)
        # The end of the stream is where zipfile compares the checksum.
        if stream.read(io.DEFAULT_BUFFER_SIZE):
            raise BadFile(f"{path}: '{info.filename}' goes on after its values")
        return values
