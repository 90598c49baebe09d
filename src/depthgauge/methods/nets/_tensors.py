"""Files of tensors (safetensors), read and written with NumPy alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I16": np.dtype("<i2"),
    "U8": np.dtype("u1"),
    "BF16": np.dtype("<u2"),
}
"""Types by their names in the file. NumPy has no bfloat16: such tensors are their bits."""
_LONGEST_HEADER = 1 << 20
_ALIGNED = 8


def write_tensors(
    path: Path, tensors: Mapping[str, NDArray[Any]], about: Mapping[str, str] | None = None
) -> None:
    """Writes tensors by name; uint16 stands for the bits of bfloat16.

    Args:
        path: The file.
        tensors: Arrays of float32, float16, int64, int16, uint8 or uint16.
        about: Texts to store with them.
    """
    names = {dtype: name for name, dtype in _TYPES.items()}
    header: dict[str, Any] = {"__metadata__": dict(about or {})}
    start = 0
    for name, values in tensors.items():
        end = start + values.nbytes
        kind = names[values.dtype.newbyteorder("<")]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNED)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for values in tensors.values():
            file.write(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes())


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file by name, and the texts stored with them.

    Raises:
        ValueError: The file is not a complete file of tensors; the text says what is wrong.
    """
    body = path.read_bytes()
    length = int.from_bytes(body[:8], "little")
    if len(body) < 8 or length > min(_LONGEST_HEADER, len(body) - 8):
        raise ValueError(f"{path}: is not a file of tensors (safetensors), or it is cut off.")
    header = json.loads(body[8 : 8 + length])
    about = header.pop("__metadata__", {})
    data = memoryview(body)[8 + length :]
    return {name: _tensor(path, name, entry, data) for name, entry in header.items()}, about


def _tensor(path: Path, name: str, entry: dict[str, Any], data: memoryview) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    dtype = _TYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"{path}: tensor {name} is of type {entry['dtype']}, not {list(_TYPES)}.")
    if not 0 <= start <= end <= len(data) or end - start != dtype.itemsize * math.prod(
        entry["shape"]
    ):
        raise ValueError(f"{path}: tensor {name} does not fit into the file; it is cut off.")
    return np.frombuffer(data[start:end], dtype).reshape(tuple(entry["shape"]))


def average(paths: Sequence[Path], to: Path) -> None:
    """Stores the mean of the weights of several trainings that had the same start.

    Raises:
        ValueError: They are of different networks, or one is no such file.
    """
    found = [read_tensors(path)[0] for path in paths]
    shapes = [{name: values.shape for name, values in weights.items()} for weights in found]
    for path, own in zip(paths, shapes, strict=True):
        if own != shapes[0]:
            raise ValueError(f"{path}: has weights of another network than {paths[0]}.")
    means = {
        name: np.mean([weights[name].astype(np.float32) for weights in found], axis=0)
        for name in shapes[0]
    }
    weights = {name: mean.astype(np.float16) for name, mean in means.items()}
    write_tensors(to, weights, {"mean_of": str(len(found))})
