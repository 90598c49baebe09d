"""OpenCV's FileStorage files in XML, as Booster keeps its calibrations.

They are parsed here: `cv2.FileStorage` may abort the process on a hostile file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io._files import AnyPath, opened, read_whole, write_parts

MOST_BYTES = 2**22
"""A calibration has some kilobytes; this much takes a second or two."""
MOST_DEPTH = 64
_NUMBER = re.compile(r"[+-]?(?:\d+(\.\d*)?|(\.\d+))([eE][+-]?\d{1,4})?", re.ASCII)
_SPECIAL = {".nan": math.nan, ".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
_DTYPES = {"u": "u1", "c": "i1", "w": "u2", "s": "i2", "i": "i4", "f": "f4", "d": "f8", "h": "f2"}

Value = float | int | str | NDArray[Any] | list[Any] | dict[str, Any]
# A quoted string ends at its quote, which `&quot;` must not be taken for: it travels as this.
_QUOTE = "\ue000"
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_KINDS = {"u1": "u", "i1": "c", "u2": "w", "i2": "s", "i4": "i", "f4": "f", "f8": "d"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDTH = 76


def read_opencv_calibration(path: AnyPath) -> dict[str, Value]:
    """All top-level values: numbers, strings, lists, dicts, and matrices as arrays.

    A matrix of type `2f` is (rows, cols, 2). A DOCTYPE is rejected, so entities cannot explode;
    base64 data and OpenCV's YAML are not read.
    """
    with opened(path) as file:
        data = read_whole(path, file, MOST_BYTES)
    start = data[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%YAML"):
        raise BadFile(
            f"{path}: expected OpenCV storage in XML, found YAML; write it with cv2.FileStorage to "
            "a name that ends in .xml"
        )
    if not start.startswith(b"<"):
        raise BadFile(
            f"{path}: an OpenCV storage file starts with <?xml, this one with {start[:12]!r}"
        )
    return _parsed(path, data)


def write_opencv_calibration(path: AnyPath, values: dict[str, Any]) -> None:
    """Writes XML that OpenCV reads too.

    Arrays (N,) become N x 1, (R, C, 1) R x C; bools and other integers are written as int32.

    Raises:
        DoesNotFit: The name does not end in .xml, by which OpenCV knows the format, or a value has
            no place in such a file.
    """
    if not str(path).lower().endswith(".xml"):
        raise DoesNotFit(f"{path}: OpenCV storage is written as XML; give a name that ends in .xml")
    lines = [
        line for name, value in values.items() for line in _xml(path, _name(path, name), value)
    ]
    whole = ['<?xml version="1.0"?>', "<opencv_storage>", *lines, "</opencv_storage>\n"]
    write_parts(path, "\n".join(whole).encode())


# --- reading --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    name: str
    type_id: str = ""
    text: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


def _parsed(path: AnyPath, data: bytes) -> dict[str, Value]:
    """The storage's values; the document type (and with it every entity) is rejected."""
    builder = _Builder(path)
    try:
        builder.parser.Parse(data.replace(b"&quot;", _QUOTE.encode()), True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: expected OpenCV XML, found an error: {error}") from None
    root = builder.root
    if root is None or root.name != "opencv_storage":
        found = root.name[:40] if root else "nothing"
        raise BadFile(f"{path}: expected XML in <opencv_storage>, found <{found}>")
    return {child.name: _value(path, child) for child in root.children}


class _Builder:
    """Collects the nodes that expat reports."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.root: _Node | None = None
        self.open: list[_Node] = []
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _refuse(self, *_: object) -> None:
        raise BadFile(f"{self.path}: the XML has a DOCTYPE or entities; remove them")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        node = _Node(name, attributes.get("type_id", ""))
        if len(self.open) >= MOST_DEPTH:
            raise BadFile(f"{self.path}: the XML is nested deeper than {MOST_DEPTH} levels")
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def _end(self, _: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        if self.open:
            self.open[-1].text.append(text)


def _value(path: AnyPath, node: _Node) -> Any:
    if node.children:
        if all(child.name == "_" for child in node.children):
            return [_value(path, child) for child in node.children]
        fields = {child.name: _value(path, child) for child in node.children}
        return _array_of(path, node.name, fields) if node.type_id.startswith("opencv-") else fields
    values = [
        (quoted.replace(_QUOTE, '"') if match[0][0] == '"' else _scalar(bare.replace(_QUOTE, '"')))
        for match in _WORD.finditer("".join(node.text))
        for quoted, bare in [(match[1], match[2])]
    ]
    return values[0] if len(values) == 1 else values or ""


def _scalar(word: str) -> float | int | str:
    """An unquoted word: a number if it looks like one, else itself.

    >>> _scalar("12"), _scalar("1."), _scalar("left")
    (12, 1.0, 'left')
    """
    match = _NUMBER.fullmatch(word)
    if match is None:
        return _SPECIAL.get(word.lower(), word)
    if any(match.groups()) or len(word) > 18:
        return float(word)
    return int(word)


def _array_of(path: AnyPath, name: str, fields: Any) -> NDArray[Any]:
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


# --- writing --------------------------------------------------------------------------------------


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
