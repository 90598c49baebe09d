"""What a pickle may build in addition to plain values: only NumPy's arrays, scalars and types.

No function of a pickle's choosing is ever called. A name that a pickle mentions is either one of a
few that stand for a function below, or the file is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_AXES = 8
_TYPE = re.compile(r"[<>=|]?(f[248]|[iu][1248]|b1|O8?)")
_ORDERS = "<>=|"
_OBJECT = "O"
_LATIN1 = ("latin1", "latin-1")


class Refused(Exception):
    """What is wrong with a pickle, to follow the file's name."""


class Name:
    """A function or class that a pickle mentions; it can only be called, and only with `call`."""

    def __init__(self, title: str, call: Callable[..., Any] | None) -> None:
        self.title = title
        self.call = call


class Kind:
    """The type of an array's values, as a pickle builds it: its code, and later its byte order."""

    def __init__(self, code: str) -> None:
        match = _TYPE.fullmatch(code)
        if match is None:
            raise Refused(f"holds an array of type {code[:40]!r}, not of plain numbers")
        self.code = match[1]
        self.order = code[0] if code[0] in _ORDERS else "="

    @property
    def is_object(self) -> bool:
        """Whether arrays of it hold any objects."""
        return self.code.startswith(_OBJECT)

    def dtype(self) -> np.dtype[Any]:
        """As NumPy has it; plain numbers only."""
        if self.is_object:
            raise Refused("holds an array of objects; only arrays of numbers are read")
        return np.dtype(self.order + self.code)

    def set_state(self, state: Any) -> None:
        """The second half of a pickled type: its byte order."""
        if not (isinstance(state, tuple) and len(state) >= 2):
            raise Refused("holds an array type whose description is damaged")
        order = _text(state[1])
        plain = all(part is None for part in state[2:5])
        if len(order) != 1 or order not in _ORDERS or not plain:
            raise Refused("holds an array of a structured type; only plain numbers are read")
        self.order = order


class Box:
    """The one array of objects that may be: of a single value, around everything else."""

    def __init__(self) -> None:
        self.value: Any = None


class Builder:
    """Builds what names of a pickle stand for, within a budget of bytes.

    Args:
        budget: The most bytes that all arrays and decoded strings together may take.
        boxed: Whether one array of a single object is allowed.
    """

    def __init__(self, budget: int, *, boxed: bool = False) -> None:
        self.budget = budget
        self.boxed = boxed
        self.box: Box | None = None
        self._names = _names(self)

    def find(self, module: str, name: str) -> Name:
        """What a name stands for.

        Raises:
            Refused: It is not one of the few that are known.
        """
        found = self._names.get((module, name))
        if found is None:
            said = "".join(c if c.isprintable() else "?" for c in f"{module[:60]}.{name[:60]}")
            raise Refused(
                f"contains {said}; only numbers, text, lists, dicts and NumPy "
                "arrays are read, so do not trust this file"
            )
        return found

    def take(self, size: int) -> None:
        """Counts bytes that are about to be used."""
        self.budget -= size
        if self.budget < 0:
            raise Refused("unpacks to far more than its own size")

    def set_state(self, thing: Any, state: Any) -> None:
        """Fills an array or a type that was made empty."""
        if isinstance(thing, Kind):
            thing.set_state(state)
        elif isinstance(thing, np.ndarray):
            self._fill(thing, state)
        elif isinstance(thing, Box):
            raise Refused("holds an array of objects that is filled twice")
        else:
            raise Refused("sets the inside of something that is not a NumPy array")

    def fills_box(self, thing: Any, state: Any) -> Box | None:
        """The box that an array of one object becomes; None if it is any other array."""
        if not (isinstance(thing, np.ndarray) and isinstance(state, tuple) and len(state) == 5):
            return None
        _, shape, kind, _, values = state
        if not (isinstance(kind, Kind) and kind.is_object):
            return None
        single = isinstance(shape, tuple) and shape in ((), (1,))
        if not self.boxed or self.box is not None or not single:
            raise Refused("holds an array of objects; only arrays of numbers are read")
        if not (isinstance(values, list) and len(values) == 1):
            raise Refused("holds an array of objects that is damaged")
        self.box = Box()
        self.box.value = values[0]
        return self.box

    def _fill(self, array: NDArray[Any], state: Any) -> None:
        # The oldest files have no version in front.
        parts = state[-4:] if isinstance(state, tuple) and len(state) in (4, 5) else None
        if parts is None or not isinstance(parts[1], Kind) or not isinstance(parts[2], int):
            raise Refused("holds an array whose description is damaged")
        shape, kind, fortran, values = parts
        dtype = kind.dtype()
        body = self._body(values, shape, dtype)
        if array.size or array.base is not None:
            raise Refused("holds an array that is filled twice")
        # All of it was checked above: NumPy is never given a state that does not fit.
        array.__setstate__((1, shape, dtype, bool(fortran), body))  # type: ignore[arg-type]  # NumPy takes no bool of its own here

    def _body(self, values: Any, shape: Any, dtype: np.dtype[Any]) -> bytes:
        """The bytes of an array, if there are as many as its shape needs."""
        if isinstance(values, str):
            values = _latin1(values)
        need = _count(shape) * dtype.itemsize
        if not isinstance(values, (bytes, bytearray)) or len(values) != need:
            found = f"{len(values)} bytes" if isinstance(values, (bytes, bytearray)) else "no bytes"
            raise Refused(f"holds an array of {need} bytes by its shape, but {found} of values")
        self.take(need)
        if dtype.kind == "b":
            # Any byte but 0 and 1 in a bool array is undefined behaviour in numpy.
            stored: NDArray[np.bool_] = np.frombuffer(values, np.uint8) != 0
            return stored.tobytes()
        return bytes(values)

    def reconstruct(self, kind: Any, shape: Any, _: Any) -> NDArray[Any]:
        """`numpy.core.multiarray._reconstruct`: an empty array, to be filled."""
        plain = isinstance(kind, Name) and kind.title == "numpy.ndarray"
        if not (plain and isinstance(shape, tuple) and shape == (0,)):
            raise Refused("holds a special kind of NumPy array; only plain ones are read")
        return np.zeros((0,), np.int8)

    def from_buffer(self, values: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
        """`numpy.core.numeric._frombuffer`: a whole array."""
        if not (isinstance(kind, Kind) and isinstance(order, str) and order in ("C", "F")):
            raise Refused("holds an array whose description is damaged")
        dtype = kind.dtype()
        body = self._body(values, shape, dtype)
        flat: NDArray[Any] = np.frombuffer(body, dtype).copy()
        if order == "F":
            return flat.reshape(shape[::-1]).transpose()
        return flat.reshape(shape)

    def scalar(self, kind: Any, values: Any = None) -> Any:
        """`numpy.core.multiarray.scalar`: one number, as Python has it."""
        if not isinstance(kind, Kind):
            raise Refused("holds a NumPy number whose description is damaged")
        dtype = kind.dtype()
        return np.frombuffer(self._body(values, (), dtype), dtype)[0].item()

    def kind(self, code: Any, *_: Any) -> Kind:
        """`numpy.dtype`."""
        return Kind(_text(code))

    def encode(self, text: Any, encoding: Any) -> bytes:
        """`_codecs.encode`: how Python 2 protocols write bytes."""
        if not (isinstance(text, str) and isinstance(encoding, str) and encoding in _LATIN1):
            raise Refused("encodes text in another way than NumPy arrays are")
        self.take(len(text))
        return _latin1(text)

    def empty(self) -> bytes:
        """`bytes()`: no bytes at all."""
        return b""


def _names(builder: Builder) -> Mapping[tuple[str, str], Name]:
    found: dict[tuple[str, str], Name] = {
        ("numpy", "ndarray"): Name("numpy.ndarray", None),
        ("numpy", "dtype"): Name("numpy.dtype", builder.kind),
        ("_codecs", "encode"): Name("_codecs.encode", builder.encode),
    }
    for core in ("numpy.core", "numpy._core"):
        multiarray = f"{core}.multiarray"
        found[multiarray, "_reconstruct"] = Name("numpy._reconstruct", builder.reconstruct)
        found[multiarray, "scalar"] = Name("numpy.scalar", builder.scalar)
        found[f"{core}.numeric", "_frombuffer"] = Name("numpy._frombuffer", builder.from_buffer)
    for module in ("builtins", "__builtin__"):
        found[module, "bytes"] = Name("bytes", builder.empty)
    return found


def _count(shape: Any) -> int:
    """How many values an array of that shape has."""
    if not isinstance(shape, tuple) or len(shape) > MOST_AXES:
        raise Refused("holds an array whose shape is damaged")
    if any(type(size) is not int or not 0 <= size < 2**48 for size in shape):
        raise Refused("holds an array whose shape is damaged")
    return prod(shape)


def _latin1(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise Refused("holds an array whose bytes are damaged") from None


def _text(thing: Any) -> str:
    if isinstance(thing, bytes):
        return thing.decode("latin-1")
    if not isinstance(thing, str) or not thing:
        raise Refused("holds an array type whose description is damaged")
    return thing
