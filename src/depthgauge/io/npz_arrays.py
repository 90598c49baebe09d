"""Several named maps in one .npz file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from typing import BinaryIO, cast

import numpy as np

from depthgauge.errors import BadFile
from depthgauge.io._files import MAX_PIXELS, AnyPath, as_bytes, decoded, opened, replacing
from depthgauge.io._values import Request, as_map
from depthgauge.io.npy import encode_header, map_shape, read_header, read_values
from depthgauge.types import Map

_MOST_EXPANSION = 1100  # deflate reaches 1032 : 1


def array_names(path: AnyPath) -> tuple[str, ...]:
    """The names of all arrays of the file."""
    with opened(path) as file:

        def names() -> tuple[str, ...]:
            with zipfile.ZipFile(file) as archive:
                found = archive.namelist()
            return tuple(name[:-4] for name in found if name.endswith(".npy"))

        return cast("tuple[str, ...]", decoded(path, ".npz file", names))


def read_arrays(path: AnyPath, names: Iterable[str], limit: int = MAX_PIXELS) -> dict[str, Map]:
    """Some arrays of the file as maps, infinities as NaN.

    Args:
        path: The file.
        names: Of the arrays.
        limit: The most pixels that an array may claim; nothing of more is unpacked.

    Raises:
        BadFile: One of them is not there or is damaged.
        TooLarge: One claims more than the limit.
    """
    with opened(path) as file:

        def read() -> dict[str, Map]:
            with zipfile.ZipFile(file) as archive:
                return {name: _read(path, archive, name, limit) for name in names}

        return cast("dict[str, Map]", decoded(path, ".npz file", read))


def write_arrays(path: AnyPath, arrays: Mapping[str, Map]) -> None:
    """Writes compressed float32 arrays; the same arrays give the same bytes."""
    with replacing(path) as beside, zipfile.ZipFile(beside, "x") as archive:
        for name, values in arrays.items():
            stored = np.ascontiguousarray(values, dtype="<f4")
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with archive.open(info, "w", force_zip64=stored.nbytes > 2**31) as stream:
                stream.write(encode_header(stored))
                stream.write(as_bytes(stored))


def _read(path: AnyPath, archive: zipfile.ZipFile, name: str, limit: int) -> Map:
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        found = ", ".join(archive.namelist()[:10]) or "nothing"
        raise BadFile(f"{path}: expected an array named '{name}', found {found}.") from None
    with archive.open(info) as opened_stream:
        stream = cast(BinaryIO, opened_stream)
        header = read_header(path, stream)
        map_shape(path, header.shape, Request(limit=limit))
        length = stream.tell() + header.bytes
        if info.file_size != length or info.compress_size * _MOST_EXPANSION < length - 1000:
            raise BadFile(
                f"{path}: the header of '{name}' announces {length} bytes, the archive holds "
                f"{info.file_size}; header and values disagree"
            )
        values = read_values(path, stream, header)
        # The end of the stream is where zipfile compares the checksum.
        if stream.read(1):
            raise BadFile(f"{path}: '{name}' goes on after its values")
    return as_map(path, values, Request())
