"""Pickles that are data: dicts, lists, tuples, text, numbers and NumPy arrays of numbers.

A pickle is a program; Python's own reader runs everything it asks for. This one knows the steps
that data needs and no others, so a file from the internet can be opened. `dump` writes what
programs of 2019 can read: protocol 2, with the names that NumPy had then.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import Any

import numpy as np

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, decoded, opened, read_whole, write_parts
from depthgauge.io.npy import MAGIC
from depthgauge.io.pickles._steps import run
from depthgauge.io.pickles._values import Builder, Refused

MOST_BYTES = 2**30
"""The longest file that is read, unless the caller says otherwise."""
_EXPANSION, _SPARE = 4, 2**20
"""Arrays may take this many times the file's size: text in a pickle is longer than its bytes."""
_OLD, _NEW = b"numpy.core.", b"numpy._core."
_OBJECT_HEADERS = (b"{'descr': '|O', 'fortran_order': False, 'shape': (",)
_MOST_HEADER_BYTES = 10_000


def load(path: AnyPath, *, most_bytes: int = MOST_BYTES) -> Any:
    """The content of a pickle.

    Text of Python 2 is read as Latin-1. NumPy scalars become Python numbers.

    Args:
        path: The file; any protocol up to 5.
        most_bytes: Longer files are rejected unread.

    Raises:
        BadFile: It is damaged, or contains anything other than data; nothing of it was run.
    """
    with opened(path) as file:
        body = read_whole(path, file, most_bytes)
    return _decode(path, body, boxed=False)


def dump(path: AnyPath, value: Any) -> None:
    """Writes dicts, lists, text, numbers and arrays as a pickle that Python 2 and 3 can read."""
    write_parts(path, encode(value))


def encode(value: Any) -> bytes:
    """The bytes of a pickle of protocol 2, with names that every NumPy knows."""
    body = pickle.dumps(value, protocol=2)
    parts: list[bytes] = []
    done = 0
    for step, argument, place in pickletools.genops(body):
        if step.name == "GLOBAL" and place is not None and str(argument).startswith("numpy._core."):
            parts += [body[done : place + 1], _OLD]
            done = place + 1 + len(_NEW)
    return b"".join([*parts, body[done:]])


def is_object_npy(path: AnyPath) -> bool:
    """Whether an .npy file holds a single object (as `numpy.save` writes a dict) and no array."""
    with opened(path) as file:
        head = file.read(10)
        text = file.read(_MOST_HEADER_BYTES) if head[:6] == MAGIC else b""
    return text.startswith(_OBJECT_HEADERS)


def load_object_npy(path: AnyPath, *, most_bytes: int = MOST_BYTES) -> Any:
    """The single object of an .npy file, as `numpy.load(path, allow_pickle=True).item()` gives it.

    Raises:
        BadFile: It is damaged, or contains anything other than data; nothing of it was run.
    """
    with opened(path) as file:
        body = read_whole(path, file, most_bytes)
    length = int.from_bytes(body[8:10], "little")
    header = body[10 : 10 + length]
    if body[:7] != MAGIC + b"\x01" or not header.startswith(_OBJECT_HEADERS):
        raise BadFile(f"{path}: expected an .npy file of one object, found {body[:80]!r}")
    return _decode(path, body[10 + length :], boxed=True)


def dump_object_npy(path: AnyPath, value: dict[str, Any]) -> None:
    """Writes a dict as `numpy.save` does, as an array of a single object."""
    box = np.full((), None, dtype=object)
    box[()] = value
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(box))
    write_parts(path, stream.getvalue(), encode(box))


def _decode(path: AnyPath, body: bytes, *, boxed: bool) -> Any:
    def read() -> Any:
        builder = Builder(_EXPANSION * len(body) + _SPARE, boxed=boxed)
        try:
            value = run(body, builder)
        except Refused as error:
            raise BadFile(f"{path}: this pickle {error}.") from None
        if boxed and builder.box is None:
            raise BadFile(f"{path}: this pickle holds no array of one object; it is damaged.")
        return value

    return decoded(path, "pickle", read)


def require_dict(path: AnyPath, value: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    """A dict with all of these keys.

    Raises:
        BadFile: It is something else.
    """
    if not isinstance(value, dict) or any(key not in value for key in keys):
        found = ", ".join(map(str, list(value)[:10])) if isinstance(value, dict) else _word(value)
        raise BadFile(
            f"{path}: expected a dict with {', '.join(keys)}, found {found or 'nothing'}."
        )
    return value


def _word(value: Any) -> str:
    return f"a {type(value).__name__}"
