""".mat: MATLAB's files of version 5 to 7 (`-v6`, `-v7`): numbers, texts, structs and cells.

They are parsed here and not by `scipy.io.loadmat`, which crashes the process on some damaged files
(segmentation faults within a few thousand random changes to a small file) and unpacks everything
that a compressed variable claims. Here every size is compared with the available bytes, what is
compressed is unpacked up to a limit, and a bad file is one sentence. Files of version 7.3 are HDF5,
which is another format.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io._files import AnyPath, most_unpacked, opened, read_whole

MatValue = NDArray[Any] | str | list[Any] | dict[str, Any]
"""An array of numbers, a text, the values of a cell array, or the fields of a struct."""

MOST_PIXELS = 2**26
"""The most pixels of an array, unless the caller says otherwise."""
_HEADER_BYTES = 128
_MOST_DEEP = 8
_MOST_INSIDE = 2**20
"""Values in cells and structs of one file: 8 packed bytes would cost a hundred each."""
_TAG_BYTES = 8
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
"""How the numbers of an element are stored, by its type."""
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _STRUCT, _CHAR = 1, 2, 4
_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
"""The type of an array, independent of how its numbers are stored."""
_OTHERS = {3: "an object", 5: "a sparse matrix", 16: "a function", 17: "an object"}
_COMPLEX, _LOGICAL = 0x0800, 0x0200


def read_mat(path: AnyPath, limit: int = MOST_PIXELS) -> dict[str, MatValue]:
    """The variables of a MAT file by name.

    Arrays keep their type and shape (logical ones are bool); a cell array is a list, column by
    column; a struct is a dict, an array of structs a list of them. Arrays may be read-only.

    Args:
        path: The file.
        limit: The most pixels that all arrays together may have, of 8 bytes each.

    Raises:
        BadFile: The file is damaged, of another version, or holds objects, functions, complex or
            sparse arrays.
        TooLarge: It unpacks to more than the limit.
    """
    most = 8 * limit + 2**20
    with opened(path) as file:
        data = read_whole(path, file, most)
    reader = _Reader(path, _byte_order(path, data), min(most, most_unpacked(len(data))))
    return dict(reader.variables(memoryview(data)[_HEADER_BYTES:]))


def _byte_order(path: AnyPath, data: bytes) -> str:
    if data.startswith(b"MATLAB 7.3") or data[512:516] == b"\x89HDF" or data[:4] == b"\x89HDF":
        raise BadFile(
            f"{path}: this MAT file is of version 7.3 (HDF5), which is not read; "
            "save it in MATLAB with the option -v7"
        )
    orders = {b"IM": "<", b"MI": ">"}
    order = orders.get(data[126:128])
    if len(data) < _HEADER_BYTES or order is None:
        raise BadFile(
            f"{path}: expected a MAT file of version 5, whose header of {_HEADER_BYTES} bytes ends "
            f"in IM or MI, found {data[124:128]!r}"
        )
    version = struct.unpack(order + "H", data[124:126])[0]
    if version != 0x0100:
        raise BadFile(f"{path}: expected a MAT file of version 0x0100, found {version:#06x}")
    return order


@dataclass(frozen=True, slots=True)
class _Element:
    kind: int
    body: memoryview
    used: int
    """Bytes up to the next element."""


class _Reader:
    """Reads elements one after the other, and knows how much may still be unpacked."""

    def __init__(self, path: AnyPath, order: str, most: int) -> None:
        self.path, self.order, self.most, self.left = path, order, most, most
        self.inside = _MOST_INSIDE

    def variables(self, data: memoryview) -> Iterator[tuple[str, MatValue]]:
        """All variables; elements that are something else are passed over."""
        while data:
            element = self._element(data)
            data = data[element.used :]
            if element.kind == _COMPRESSED:
                element = self._element(self._unpacked(element.body))
            if element.kind == _MATRIX and element.body:
                yield self._matrix(element.body, 0)

    def _bad(self, what: str) -> BadFile:
        return BadFile(f"{self.path}: damaged MAT file: {what}; get it again")

    def _unpacked(self, packed: memoryview) -> memoryview:
        machine = zlib.decompressobj()
        try:
            data = machine.decompress(packed, self.left)
        except zlib.error as error:
            raise self._bad(f"a variable cannot be unpacked ({error})") from None
        self.left -= len(data)
        if machine.unconsumed_tail or self.left <= 0:
            raise TooLarge(
                f"{self.path}: unpacks to more than {self.most // 2**20} MiB, far more than "
                "pictures have; get it again, or save it with fewer variables"
            )
        if not machine.eof:
            raise self._bad("a packed variable ends early")
        return memoryview(data)

    def _element(self, data: memoryview) -> _Element:
        if len(data) < _TAG_BYTES:
            raise self._bad(f"{len(data)} bytes where an element starts")
        first, size = struct.unpack(self.order + "II", data[:_TAG_BYTES])
        if first >> 16:  # four bytes of values or less are kept in the tag
            kind, size = first & 0xFFFF, first >> 16
            if size > 4:
                raise self._bad(f"a short element claims {size} bytes")
            return _Element(kind, data[4 : 4 + size], _TAG_BYTES)
        if size > len(data) - _TAG_BYTES:
            raise self._bad(f"an element claims {size} bytes, but {len(data) - _TAG_BYTES} exist")
        padded = size if first == _COMPRESSED else -(-size // 8) * 8
        return _Element(first, data[_TAG_BYTES : _TAG_BYTES + size], _TAG_BYTES + padded)

    def _numbers(self, element: _Element, what: str) -> NDArray[Any]:
        if element.kind not in _NUMBERS:
            raise self._bad(f"{what} are of the unknown type {element.kind}")
        dtype = np.dtype(self.order + _NUMBERS[element.kind])
        if len(element.body) % dtype.itemsize:
            raise self._bad(f"{what} have {len(element.body)} bytes of {dtype.itemsize} each")
        return np.frombuffer(element.body, dtype)

    def _matrix(self, data: memoryview, depth: int) -> tuple[str, MatValue]:
        if depth > _MOST_DEEP:
            raise self._bad(f"values within values, more than {_MOST_DEEP} deep")
        parts = _Parts(self, data)
        flags = self._numbers(parts.next(), "flags")
        dims = self._numbers(parts.next(), "dimensions")
        name = bytes(parts.next().body).decode("latin-1")
        if not flags.size or dims.dtype.kind not in "iu" or not 2 <= dims.size <= 16:
            raise self._bad(f"variable '{name}' has no proper flags or dimensions")
        shape = tuple(int(n) for n in dims)
        if min(shape) < 0:
            raise self._bad(f"variable '{name}' has the dimensions {shape}")
        return name, self._value(parts, int(flags[0]), shape, name, depth)

    def _value(
        self, parts: _Parts, flags: int, shape: tuple[int, ...], name: str, depth: int
    ) -> MatValue:
        kind = flags & 0xFF
        if kind == _CELL:
            return [self._inner(parts, depth) for _ in range(parts.expect(prod(shape)))]
        if kind == _STRUCT:
            return self._struct(parts, prod(shape), depth)
        if kind == _CHAR:
            return self._text(parts.next())
        if kind not in _CLASSES or flags & _COMPLEX:
            found = "complex numbers" if kind in _CLASSES else _OTHERS.get(kind, f"class {kind}")
            raise BadFile(
                f"{self.path}: expected numbers, texts, structs and cells, found {found} in "
                f"'{name}'; save without it"
            )
        values = self._numbers(parts.next(), f"values of '{name}'")
        if values.size != prod(shape):
            raise self._bad(f"'{name}' has {values.size} values, its dimensions are {shape}")
        dtype = np.dtype(bool if flags & _LOGICAL else _CLASSES[kind])
        with np.errstate(invalid="ignore", over="ignore"):  # for damaged files
            made = values.astype(dtype, copy=False)
        return made.reshape(shape, order="F")

    def _inner(self, parts: _Parts, depth: int) -> MatValue:
        element = parts.next()
        if element.kind != _MATRIX:
            raise self._bad(f"a value of type {element.kind} in a cell or struct")
        if not element.body:
            return np.zeros((0, 0))
        return self._matrix(element.body, depth + 1)[1]

    def _struct(self, parts: _Parts, count: int, depth: int) -> MatValue:
        length = self._numbers(parts.next(), "lengths of names")
        names = bytes(parts.next().body)
        width = int(length[0]) if length.size and length.dtype.kind in "iu" else 0
        if width < 1 or len(names) % width:
            raise self._bad(f"names of fields have {len(names)} bytes, {width} each")
        fields = [
            names[i : i + width].split(b"\0")[0].decode("latin-1")
            for i in range(0, len(names), width)
        ]
        parts.expect(count * max(len(fields), 1) if fields or count != 1 else 0)
        made = [{name: self._inner(parts, depth) for name in fields} for _ in range(count)]
        return made[0] if count == 1 else made

    def _text(self, element: _Element) -> str:
        encoding = _TEXTS.get(element.kind)
        if encoding is None:
            raise self._bad(f"a text is of the unknown type {element.kind}")
        if encoding in ("utf-16", "utf-32"):
            encoding += "-le" if self.order == "<" else "-be"
        return bytes(element.body).decode(encoding, errors="replace")


class _Parts:
    """The elements inside of a matrix, in turn."""

    def __init__(self, reader: _Reader, data: memoryview) -> None:
        self._reader, self._data = reader, data

    def next(self) -> _Element:
        element = self._reader._element(self._data)
        self._data = self._data[element.used :]
        return element

    def expect(self, count: int) -> int:
        """The count, if the data can hold that many elements."""
        if count * _TAG_BYTES > len(self._data):
            raise self._reader._bad(f"{count} values are announced, {len(self._data)} bytes left")
        self._reader.inside -= count
        if self._reader.inside < 0:
            raise TooLarge(
                f"{self._reader.path}: has more than {_MOST_INSIDE} values in cells and structs; "
                "save pictures as arrays"
            )
        return count
