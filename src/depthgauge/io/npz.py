""".npz: a zip of .npy files; one map, or several named ones.

A single map is the array named `map`, or the only one of the file.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import (
    MAX_PIXELS,
    AnyPath,
    as_bytes,
    check_unpacked,
    decoded,
    opened,
    replacing,
)
from depthgauge.io._values import Request, as_map
from depthgauge.io.npy import Header, encode_header, map_shape, read_header, read_values
from depthgauge.types import Map

KEY = "map"
T = TypeVar("T")


def read(path: AnyPath, request: Request) -> Map:
    """The array `map`, or the only array of the archive, as a map."""
    values = _with_archive(path, lambda a: _values(path, a, _only(path, a), request))
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width, channels from the array's header."""
    return map_shape(path, _header(path).shape, request)


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The dtype of the array, from its header."""
    header = _header(path)
    map_shape(path, header.shape, request)
    return header.dtype


def write(path: AnyPath, values: Map) -> None:
    """One compressed array named `map`, missing as NaN."""
    write_arrays(path, {KEY: values})


def array_names(path: AnyPath) -> tuple[str, ...]:
    """The names of all arrays of the file."""
    return _with_archive(path, lambda archive: tuple(name[:-4] for name in _arrays(archive)))


def read_arrays(path: AnyPath, names: Iterable[str], limit: int = MAX_PIXELS) -> dict[str, Map]:
    """Some arrays of the file as maps, infinities as NaN.

    Args:
        path: The file.
        names: Names of the arrays.
        limit: The most pixels that an array may claim; nothing of more is unpacked.

    Raises:
        BadFile: One of them is missing or damaged.
        TooLarge: One claims more than the limit.
    """
    request = Request(limit=limit)

    def read_all(archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
        return {
            name: _values(path, archive, _named(path, archive, name), request) for name in names
        }

    found = _with_archive(path, read_all)
    return {name: as_map(path, values, Request()) for name, values in found.items()}


def read_checked(path: AnyPath, name: str | None, check: Callable[[Header], None]) -> NDArray[Any]:
    """An array with any number of axes, as it is stored.

    Args:
        path: The file.
        name: The array's name; None: the array `map`, or the only one.
        check: Called with the header before anything is unpacked; raises where it does not fit.
    """

    def read_one(archive: zipfile.ZipFile) -> NDArray[Any]:
        info = _only(path, archive) if name is None else _named(path, archive, name)
        return _unpacked(path, archive, info, check)

    return _with_archive(path, read_one)


def write_arrays(path: AnyPath, arrays: Mapping[str, Map]) -> None:
    """Writes compressed float32 arrays; the same arrays give the same bytes."""
    with replacing(path) as beside, zipfile.ZipFile(beside, "x") as archive:
        for name, values in arrays.items():
            stored = np.ascontiguousarray(values, dtype="<f4")
            # A fixed date: the same map gives the same bytes.
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with archive.open(info, "w", force_zip64=stored.nbytes > 2**31) as stream:
                stream.write(encode_header(stored))
                stream.write(as_bytes(stored))


def _with_archive(path: AnyPath, use: Callable[[zipfile.ZipFile], T]) -> T:
    """The result of a function on the archive; any error in it becomes one sentence."""

    def used() -> T:
        with zipfile.ZipFile(file) as archive:
            return use(archive)

    with opened(path) as file:
        return cast(T, decoded(path, ".npz file", used))


def _arrays(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    return {info.filename: info for info in archive.infolist() if info.filename[-4:] == ".npy"}


def _only(path: AnyPath, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The array named `map`, or the only one."""
    arrays = _arrays(archive)
    if f"{KEY}.npy" in arrays:
        return arrays[f"{KEY}.npy"]
    if len(arrays) != 1:
        names = ", ".join(sorted(name[:-4] for name in arrays)[:10]) or "none"
        raise BadFile(
            f"{path}: expected an array named '{KEY}' or a single array, found {names}; "
            f"save it with numpy.savez(path, {KEY}=...)"
        )
    return next(iter(arrays.values()))


def _named(path: AnyPath, archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(f"{name}.npy")
    except KeyError:
        found = ", ".join(archive.namelist()[:10]) or "nothing"
        raise BadFile(f"{path}: expected an array named '{name}', found {found}.") from None


def _header(path: AnyPath) -> Header:
    def parse(archive: zipfile.ZipFile) -> Header:
        with archive.open(_only(path, archive)) as stream:
            return read_header(path, cast(BinaryIO, stream))

    return _with_archive(path, parse)


def _values(
    path: AnyPath, archive: zipfile.ZipFile, info: zipfile.ZipInfo, request: Request
) -> NDArray[Any]:
    """The values of one map; its size is checked before anything is unpacked."""

    def check(header: Header) -> None:
        map_shape(path, header.shape, request)

    return _unpacked(path, archive, info, check)


def _unpacked(
    path: AnyPath, archive: zipfile.ZipFile, info: zipfile.ZipInfo, check: Callable[[Header], None]
) -> NDArray[Any]:
    with archive.open(info) as opened_stream:
        stream = cast(BinaryIO, opened_stream)
        header = read_header(path, stream)
        check(header)
        length = stream.tell() + header.bytes
        check_unpacked(path, length, info.compress_size)
        if info.file_size != length:
            raise BadFile(
                f"{path}: the header of '{info.filename}' announces {length} bytes, the archive "
                f"holds {info.file_size}; header and values disagree"
            )
        values = read_values(path, stream, header)
        # The end of the stream is where zipfile compares the checksum.
        if stream.read(io.DEFAULT_BUFFER_SIZE):
            raise BadFile(f"{path}: '{info.filename}' continues after its values")
        return values
