"""The elements of a PLY file: header, then columns and lists, from text or from bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath

_TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
_ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
_HEADER_BYTES = 2**16
_END = re.compile(rb"\nend_header[ \t]*\r?\n")


@dataclass(slots=True)
class Element:
    """One table of a file: plain columns, and lists grouped by their length."""

    name: str
    count: int
    properties: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Name, type of the value, type of a list's length (None for a plain one)."""
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    lists: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    """For each list property: arrays (count, length) int64, one for each length that occurs."""

    @property
    def has_lists(self) -> bool:
        """Whether rows can differ in length."""
        return any(length is not None for _, _, length in self.properties)


def parse(path: AnyPath, data: bytes) -> dict[str, Element]:
    """All elements by name; every claimed count is compared with the available bytes."""
    end = _END.search(data, 0, _HEADER_BYTES)
    if data[:3] != b"ply" or end is None:
        raise BadFile(
            f"{path}: a PLY file starts with 'ply' and a header to 'end_header', this one with "
            f"{data[:20]!r}"
        )
    order, found = _header(path, data[: end.start()].decode("latin-1").splitlines())
    if order == "ascii":
        _read_text(path, data[end.end() :].split(), found)
    else:
        _read_binary(path, memoryview(data)[end.end() :], found, _ORDERS[order])
    return {element.name: element for element in found}


def _header(path: AnyPath, lines: list[str]) -> tuple[str, list[Element]]:
    order, found = "", list[Element]()
    for at, line in enumerate(lines[1:], start=2):
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", ("ascii" | "binary_little_endian" | "binary_big_endian") as order, _]:
                pass
            case ["element", name, count] if re.fullmatch(r"\d{1,15}", count, re.ASCII):
                found.append(Element(name, int(count)))
            case ["property", "list", length, value, name] if found and _are_types(length, value):
                if _TYPES[length][0] == "f":
                    raise BadFile(f"{path}: line {at}: the length of a PLY list is an integer")
                found[-1].properties.append((name, _TYPES[value], _TYPES[length]))
            case ["property", value, name] if found and _are_types(value):
                found[-1].properties.append((name, _TYPES[value], None))
            case _:
                raise BadFile(f"{path}: line {at} of the PLY header is {line[:60]!r}")
    if not order:
        raise BadFile(f"{path}: the PLY header does not say its format (ascii or binary)")
    return order, _distinct(path, found)


def _are_types(*names: str) -> bool:
    return all(name in _TYPES for name in names)


def _distinct(path: AnyPath, found: list[Element]) -> list[Element]:
    for names in ([e.name for e in found], *([p[0] for p in e.properties] for e in found)):
        if len(set(names)) != len(names):
            raise BadFile(f"{path}: the PLY header names something twice: {', '.join(names)[:80]}")
    return found


def _short(path: AnyPath, element: Element) -> BadFile:
    return BadFile(
        f"{path}: the PLY header announces {element.count} of '{element.name}', the file ends "
        "before; it is truncated"
    )


def _read_text(path: AnyPath, words: list[bytes], found: list[Element]) -> None:
    at = 0
    for element in found:
        if not element.properties:
            continue
        if element.has_lists:
            at = _read_text_rows(path, words, at, element)
            continue
        width = len(element.properties)
        end = at + width * element.count
        if end > len(words):
            raise _short(path, element)
        table = _numbers(path, words[at:end]).reshape(element.count, width)
        for i, (name, kind, _) in enumerate(element.properties):
            element.columns[name] = _typed(path, table[:, i], kind)
        at = end


def _numbers(path: AnyPath, words: list[bytes]) -> NDArray[np.float64]:
    try:
        return np.array([float(word) for word in words], dtype=np.float64)
    except ValueError as error:
        raise BadFile(f"{path}: expected numbers in the PLY, {str(error)[:80]}") from None


def _typed(path: AnyPath, values: NDArray[np.float64], kind: str) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        if kind[0] == "f":
            return values.astype(kind)
        most = np.iinfo(kind)
        if not ((values >= most.min) & (values <= most.max)).all():
            raise BadFile(f"{path}: the PLY holds values that its property type {kind} cannot")
        return values.astype(kind)


def _read_text_rows(path: AnyPath, words: list[bytes], at: int, element: Element) -> int:
    rows = _Rows(element)
    for _ in range(element.count):
        for name, _, length in element.properties:
            if at >= len(words):
                raise _short(path, element)
            if length is None:
                rows.columns[name].append(_numbers(path, words[at : at + 1])[0])
                at += 1
                continue
            count = _numbers(path, words[at : at + 1])[0]
            if not 0 <= count <= len(words) - at - 1:
                raise _short(path, element)
            at += 1 + int(count)
            rows.lists[name].append(_numbers(path, words[at - int(count) : at]))
    rows.finish(path)
    return at


def _read_binary(path: AnyPath, data: memoryview, found: list[Element], order: str) -> None:
    at = 0
    for element in found:
        if not element.properties:
            continue
        dtype = _row_type(element, order, data[at:])
        end = at + dtype.itemsize * element.count
        whole = end <= len(data)
        if not whole and not element.has_lists:
            raise _short(path, element)
        if whole:
            table = np.frombuffer(data[at:end], dtype=dtype)
            if _take(element, table):
                at = end
                continue
        at = _read_binary_rows(path, data, at, element, order)


def _row_type(element: Element, order: str, data: memoryview) -> np.dtype[Any]:
    """The layout of a row, if every list is as long as the first row's."""
    fields: list[tuple[Any, ...]] = []
    at = 0
    for name, kind, length in element.properties:
        if length is None:
            fields.append((f"v:{name}", order + kind))
            at += np.dtype(kind).itemsize
            continue
        step = np.dtype(length).itemsize
        first = data[at : at + step]
        count = int(np.frombuffer(first, order + length)[0]) if len(first) == step else 0
        # A row longer than the file is caught by the caller; this keeps the type itself sane.
        count = min(max(count, 0), 2**16)
        fields += [(f"n:{name}", order + length), (f"l:{name}", order + kind, (count,))]
        at += step + count * np.dtype(kind).itemsize
    return np.dtype(fields)


def _take(element: Element, table: NDArray[Any]) -> bool:
    """Columns and lists of a table with rows of one length; False where the lengths differ."""
    for name, _, length in element.properties:
        if length is not None and (table[f"n:{name}"] != table[f"l:{name}"].shape[1]).any():
            return False
    for name, kind, length in element.properties:
        if length is None:
            column = table[f"v:{name}"]
            element.columns[name] = column.astype(column.dtype.newbyteorder("="))
        elif kind[0] != "f":
            element.lists[name] = [table[f"l:{name}"].astype(np.int64)]
    return True


def _read_binary_rows(
    path: AnyPath, data: memoryview, at: int, element: Element, order: str
) -> int:
    rows = _Rows(element)
    for _ in range(element.count):
        for name, kind, length in element.properties:
            count, step = 1, np.dtype(kind).itemsize
            if length is not None:
                if at + np.dtype(length).itemsize > len(data):
                    raise _short(path, element)
                count = int(np.frombuffer(data, order + length, 1, at)[0])
                at += np.dtype(length).itemsize
            if count < 0 or at + count * step > len(data):
                raise _short(path, element)
            values = np.frombuffer(data, order + kind, count, at).astype(np.float64)
            at += count * step
            if length is None:
                rows.columns[name].append(values[0])
            else:
                rows.lists[name].append(values)
    rows.finish(path)
    return at


class _Rows:
    """Gathers rows one by one, for elements whose lists differ in length."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.columns: dict[str, list[float]] = {
            name: [] for name, _, length in element.properties if length is None
        }
        self.lists: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name, _, length in element.properties if length is not None
        }

    def finish(self, path: AnyPath) -> None:
        """Hands the rows to the element, lists grouped by length."""
        for name, kind, length in self.element.properties:
            if length is None:
                column = np.array(self.columns[name], dtype=np.float64)
                self.element.columns[name] = _typed(path, column, kind)
            elif kind[0] != "f":
                by_length: dict[int, list[NDArray[np.float64]]] = {}
                for row in self.lists[name]:
                    by_length.setdefault(len(row), []).append(row)
                self.element.lists[name] = [
                    _typed(path, np.stack(rows), kind).astype(np.int64)
                    for _, rows in sorted(by_length.items())
                ]
