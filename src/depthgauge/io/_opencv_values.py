"""Words and matrices of OpenCV storage, the same in XML and in YAML."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath

MOST_BYTES = 2**27
MOST_DEPTH = 64
_NUMBER = re.compile(r"[+-]?(?:\d+(\.\d*)?|(\.\d+))([eE][+-]?\d{1,4})?", re.ASCII)
_SPECIAL = {".nan": math.nan, ".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
_DTYPES = {"u": "u1", "c": "i1", "w": "u2", "s": "i2", "i": "i4", "f": "f4", "d": "f8", "h": "f2"}

Value = float | int | str | NDArray[Any] | list[Any] | dict[str, Any]


def scalar(word: str) -> float | int | str:
    """An unquoted word: a number if it looks like one, else itself.

    >>> scalar("12"), scalar("1."), scalar("left")
    (12, 1.0, 'left')
    """
    match = _NUMBER.fullmatch(word)
    if match is None:
        return _SPECIAL.get(word.lower(), word)
    if any(match.groups()) or len(word) > 18:
        return float(word)
    return int(word)


def matrix(path: AnyPath, name: str, fields: Any) -> NDArray[Any]:
    """The array of an `opencv-matrix` or `opencv-nd-matrix` node."""
    if not isinstance(fields, dict):
        raise BadFile(f"{path}: matrix '{name}' has no rows, cols, dt and data")
    shape = _shape(path, name, fields)
    kind = re.fullmatch(r"(\d{1,4})?([ucwsifdh])", str(fields.get("dt")), re.ASCII)
    if kind is None:
        raise BadFile(f"{path}: matrix '{name}' has elements {fields.get('dt')!r}, e.g. d expected")
    channels = int(kind[1] or 1)
    data = fields.get("data", [])
    data = data if isinstance(data, list) else [data] if data != "" else []
    count = math.prod(shape) * channels
    if len(data) != count or not all(isinstance(n, (int, float)) for n in data):
        raise BadFile(
            f"{path}: matrix '{name}' needs {count} numbers, its data are {len(data)} values "
            "(base64 is not read; write it as plain numbers)"
        )
    return _array(path, name, data, _DTYPES[kind[2]]).reshape(
        shape if channels == 1 else (*shape, channels)
    )


def _shape(path: AnyPath, name: str, fields: dict[str, Any]) -> tuple[int, ...]:
    sizes = fields.get("sizes", [fields.get("rows"), fields.get("cols")])
    sizes = sizes if isinstance(sizes, list) else [sizes]
    if not sizes or not all(isinstance(n, int) and 0 <= n <= 2**31 for n in sizes):
        raise BadFile(f"{path}: matrix '{name}' has rows and cols {sizes}; numbers expected")
    if math.prod(max(n, 1) for n in sizes) > MOST_BYTES or len(sizes) > 8:
        raise BadFile(f"{path}: matrix '{name}' claims rows and cols {sizes}; that is too large")
    return tuple(sizes)


def _array(path: AnyPath, name: str, data: list[Any], kind: str) -> NDArray[Any]:
    values = np.array(data, dtype=np.float64)
    if kind[0] != "f":
        most = np.iinfo(kind)
        if not ((values >= most.min) & (values <= most.max)).all():
            raise BadFile(f"{path}: matrix '{name}' holds values that its type {kind} cannot")
    with np.errstate(all="ignore"):
        return values.astype(kind)
