"""Maps in HDF5: Spring's `.dsp5` (dataset `disparity`) and `.flo5` (dataset `flow`), and others.

A file that holds one array only needs no particular name for it. Arrays that point to other files
(external or virtual storage) are refused: a downloaded map must not read somebody's disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from depthgauge.errors import BadFile, DepthgaugeError, DoesNotFit, MissingExtra
from depthgauge.io._files import AnyPath, check_size, check_unpacked, opened, size_of, write_bytes
from depthgauge.io._values import Request, as_map
from depthgauge.types import Map

_NAMES = {".dsp5": "disparity", ".flo5": "flow"}
_COMPRESSION = 5
"""As Spring's own writer."""


def read(path: AnyPath, request: Request) -> Map:
    """The array named after the quantity, or the only one; NaN is missing."""
    with _array(path, request) as array:
        shape = _shape(path, array)
        check_size(path, shape, request.limit)
        _check_packed(path, shape, array.dtype)
        values = np.asarray(array[()])
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and channels, without reading a value."""
    with _array(path, request) as array:
        shape = _shape(path, array)
    check_size(path, shape, request.limit)
    return shape


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """The stored type."""
    with _array(path, request) as array:
        found: np.dtype[Any] = array.dtype
    return found


def write(path: AnyPath, values: Map) -> None:
    """Packed float32; the dataset is called `flow` for two channels and `disparity` for one."""
    import io

    h5py = _library(path)
    channels = values.shape[2] if values.ndim == 3 else 1
    name = {1: "disparity", 2: "flow"}.get(channels)
    wanted = _NAMES.get(PurePath(path).suffix.lower(), name)
    if name is None or name != wanted:
        raise DoesNotFit(
            f"{path}: .dsp5 holds one channel and .flo5 two, the map has {channels}; rename it"
        )
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        file.create_dataset(name, data=values, compression="gzip", compression_opts=_COMPRESSION)
    write_bytes(path, memory.getvalue())


def _library(path: AnyPath) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra(f"{path}: HDF5 files need h5py: pip install 'depthgauge[hdf5]'.") from (
            error
        )
    return h5py


@contextmanager
def _array(path: AnyPath, request: Request) -> Iterator[Any]:
    """The array of a file while it is open; whatever the library raises becomes one sentence."""
    h5py = _library(path)
    try:
        with opened(path) as plain, h5py.File(plain, "r") as file:
            yield _chosen(path, file, request, h5py)
    except DepthgaugeError:
        raise
    except Exception as error:  # the library raises many kinds for damaged files
        said = " ".join(str(error).split()) or type(error).__name__
        raise BadFile(f"{path}: the HDF5 file is damaged: {said}") from None


def _chosen(path: AnyPath, file: Any, request: Request, h5py: Any) -> Any:
    arrays = {
        name: file[name]
        for name in file
        if isinstance(file.get(name, getlink=True), h5py.HardLink)
        and isinstance(file[name], h5py.Dataset)
    }
    wanted = request.quantity or _NAMES.get(PurePath(path).suffix.lower(), "")
    if wanted not in arrays and len(arrays) != 1:
        raise BadFile(
            f"{path}: expected an array '{wanted or 'disparity'}' or a single one, found "
            f"{', '.join(sorted(arrays)) or 'none'}"
        )
    array = arrays[wanted] if wanted in arrays else next(iter(arrays.values()))
    if array.external or array.is_virtual:
        raise BadFile(f"{path}: its values are in other files, which are not opened")
    if array.dtype.kind not in "fiu":
        raise BadFile(f"{path}: holds {array.dtype}, not numbers")
    return array


def _shape(path: AnyPath, array: Any) -> tuple[int, int, int]:
    shape = tuple(int(n) for n in array.shape)
    if len(shape) not in (2, 3):
        raise BadFile(f"{path}: expected an array (H, W) or (H, W, C), found {shape}")
    return (*shape, 1) if len(shape) == 2 else shape  # type: ignore[return-value]  # three


def _check_packed(path: AnyPath, shape: tuple[int, int, int], kind: np.dtype[Any]) -> None:
    """A short file must not unpack to a huge map."""
    with opened(path) as file:
        check_unpacked(path, shape[0] * shape[1] * shape[2] * kind.itemsize, size_of(file))
