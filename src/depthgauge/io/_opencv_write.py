"""Text of OpenCV storage files, as OpenCV itself would read it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import DoesNotFit
from depthgauge.io._files import AnyPath

_KINDS = {"u1": "u", "i1": "c", "u2": "w", "i2": "s", "i4": "i", "f4": "f", "f8": "d"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDTH = 76
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def as_xml(path: AnyPath, values: dict[str, Any]) -> str:
    """`<opencv_storage>` with one child a value."""
    lines = [
        line for name, value in values.items() for line in _xml(path, _name(path, name), value)
    ]
    return "\n".join(['<?xml version="1.0"?>', "<opencv_storage>", *lines, "</opencv_storage>\n"])


def as_yaml(path: AnyPath, values: dict[str, Any]) -> str:
    """`%YAML:1.0` with one key a value."""
    lines = [line for name, value in values.items() for line in _yaml(path, name, value, "")]
    return "\n".join(["%YAML:1.0", "---", *lines]) + "\n"


def _xml(path: AnyPath, name: str, value: Any) -> Iterator[str]:
    if isinstance(value, np.ndarray) and value.ndim:
        rows, cols, kind, numbers = _matrix(path, name, value)
        yield f'<{name} type_id="opencv-matrix">'
        yield f"  <rows>{rows}</rows>"
        yield f"  <cols>{cols}</cols>"
        # Unquoted, OpenCV would take the 2 of 2f for a number.
        yield f'  <dt>"{kind}"</dt>'
        yield from _wrapped("  <data>", numbers, " ")
        yield f"  </data></{name}>"
    elif isinstance(value, dict):
        yield f"<{name}>"
        for key, inner in value.items():
            yield from (f"  {line}" for line in _xml(path, _name(path, key), inner))
        yield f"</{name}>"
    elif isinstance(value, (list, tuple)):
        yield f"<{name}>"
        for inner in value:
            yield from (f"  {line}" for line in _xml(path, "_", inner))
        yield f"</{name}>"
    else:
        yield f"<{name}>{_xml_scalar(path, name, value)}</{name}>"


def _yaml(path: AnyPath, name: str, value: Any, indent: str) -> Iterator[str]:
    yield from _yaml_value(path, name, value, indent, f"{indent}{_name(path, name)}:")


def _yaml_value(path: AnyPath, name: str, value: Any, indent: str, head: str) -> Iterator[str]:
    if isinstance(value, np.ndarray) and value.ndim:
        rows, cols, kind, numbers = _matrix(path, name, value)
        yield f"{head} !!opencv-matrix"
        yield f"{indent}   rows: {rows}"
        yield f"{indent}   cols: {cols}"
        yield f'{indent}   dt: "{kind}"'
        *lines, last = _wrapped(f"{indent}   data: [ ", numbers, ", ", f"{indent}       ")
        yield from lines
        yield f"{last.rstrip()} ]"
    elif isinstance(value, dict):
        yield head if value else f"{head} {{}}"
        for key, inner in value.items():
            yield from _yaml(path, key, inner, f"{indent}   ")
    elif isinstance(value, (list, tuple)):
        yield head if value else f"{head} []"
        for inner in value:
            yield from _yaml_value(path, name, inner, f"{indent}      ", f"{indent}   -")
    else:
        yield f"{head} {_yaml_scalar(path, name, value)}"


def _name(path: AnyPath, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DoesNotFit(f"{path}: {name!r} cannot be a name there: letters, digits and _ only")
    return name


def _matrix(path: AnyPath, name: str, value: NDArray[Any]) -> tuple[int, int, str, list[str]]:
    if value.dtype.kind in "bi" and value.dtype.itemsize not in (2, 4):
        wide = value.astype(np.int64)
        value = wide.astype(np.int32) if value.dtype != np.int8 else value
        if value.dtype == np.int32 and (value != wide).any():
            raise DoesNotFit(f"{path}: '{name}' holds integers beyond 32 bits")
    kind = _KINDS.get(value.dtype.str[1:])
    if kind is None or value.ndim > 3 or 0 in value.shape:
        raise DoesNotFit(
            f"{path}: '{name}' is {value.dtype} of shape {value.shape}; OpenCV keeps numbers in "
            "arrays of one to three axes"
        )
    rows, cols = value.shape[0], value.shape[1] if value.ndim > 1 else 1
    channels = value.shape[2] if value.ndim == 3 else 1
    # str() of a numpy number is the shortest text that gives the same number back.
    numbers = [_number(n) for n in value.reshape(-1)]
    return rows, cols, f"{channels}{kind}" if channels > 1 else kind, numbers


def _number(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if math.isnan(value):
        return ".Nan"
    if math.isinf(value):
        return ".Inf" if value > 0 else "-.Inf"
    text = str(value)
    return text if "." in text or "e" not in text else text.replace("e", ".e")


def _wrapped(first: str, words: list[str], gap: str, indent: str = "    ") -> Iterator[str]:
    line = first
    for i, word in enumerate(words):
        piece = word + (gap if i + 1 < len(words) else "")
        if len(line) + len(piece) > _WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += piece
    yield line


def _plain(path: AnyPath, name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.item()
    if isinstance(value, (int, np.integer)) and not -(2**31) <= int(value) < 2**31:
        raise DoesNotFit(f"{path}: '{name}' is {value}; OpenCV keeps integers of 32 bits")
    if not isinstance(value, (str, int, float, np.integer, np.floating, np.bool_)):
        raise DoesNotFit(f"{path}: '{name}' is a {type(value).__name__}, which has no place there")
    if isinstance(value, str) and (
        any(ord(c) < 32 and c not in "\t\n\r" for c in value) or not _encodable(value)
    ):
        raise DoesNotFit(f"{path}: '{name}' holds control characters")
    return value


def _encodable(text: str) -> bool:
    # Surrogates, and what the reader uses for itself.
    return not any(
        "\ud800" <= c <= "\ue000" or c in "\x7f\x85\u2028\u2029\ufffe\uffff" for c in text
    )


def _xml_scalar(path: AnyPath, name: str, value: Any) -> str:
    value = _plain(path, name, value)
    if not isinstance(value, str):
        return _number(value)
    return '"' + escape(value, {'"': "&quot;", "\r": "&#13;"}) + '"'


def _yaml_scalar(path: AnyPath, name: str, value: Any) -> str:
    value = _plain(path, name, value)
    return f'"{value.translate(_ESCAPES)}"' if isinstance(value, str) else _number(value)
