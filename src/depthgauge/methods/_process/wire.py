"""Messages to and from a method's process: JSON, and arrays in memory that nobody can change.

Towards the method, objects may be pickled. Nothing that comes back is: a message is JSON, arrays
are raw float32 whose sizes are checked against the memory that came with them.
"""

from __future__ import annotations

import fcntl
import json
import math
import mmap
import os
import pickle
import socket
import struct
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEAD = struct.Struct("<I")
_MOST_JSON = 1 << 24
_MOST_AXES = 4
_LONGEST_WAIT_S = 1e6
_ALIGNED = 64
_ADD_SEALS, _GET_SEALS = 1033, 1034  # fcntl's F_ADD_SEALS and F_GET_SEALS; Python 3.11 lacks them
_SEALED = 0x1 | 0x2 | 0x4 | 0x8  # no further seals, no shrinking, growing or writing

Layout = list[tuple[str, list[int], int]]
"""Name, shape and first byte of each array."""


class WireError(Exception):
    """What arrived is no message, or no message that makes sense."""


def send(pipe: socket.socket, message: Mapping[str, Any], memory: int | None = None) -> None:
    """Sends a message, and a descriptor of shared memory with it.

    Raises:
        OSError: The other side has gone.
    """
    body = json.dumps(message).encode()
    head = _HEAD.pack(len(body))
    if memory is None:
        pipe.sendall(head + body)
    else:
        socket.send_fds(pipe, [head], [memory])
        pipe.sendall(body)


def receive(
    pipe: socket.socket, deadline: float | None = None
) -> tuple[dict[str, Any], int | None]:
    """The next message, and the descriptor that came with it, which the caller closes.

    Args:
        pipe: Where it arrives.
        deadline: By `time.monotonic()`: when the whole message must be there.

    Raises:
        EOFError: The other side has gone.
        WireError: It is no message.
        TimeoutError: It is not there in time.
    """
    _wait_until(pipe, deadline)
    head, descriptors, _, _ = socket.recv_fds(pipe, _HEAD.size, 1)
    try:
        if not head:
            raise EOFError
        head += _exactly(pipe, _HEAD.size - len(head), deadline)
        (length,) = _HEAD.unpack(head)
        if length > _MOST_JSON:
            raise WireError(f"a message of {length} bytes")
        return _parsed(_exactly(pipe, length, deadline)), next(iter(descriptors), None)
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _exactly(pipe: socket.socket, n: int, deadline: float | None) -> bytes:
    parts = []
    while n:
        _wait_until(pipe, deadline)
        part = pipe.recv(min(n, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def _wait_until(pipe: socket.socket, deadline: float | None) -> None:
    """Lets the next reading wait no longer than that, however little came before."""
    if deadline is None:
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    pipe.settimeout(min(left, _LONGEST_WAIT_S))


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON ({type(error).__name__})") from error
    if not isinstance(message, dict):
        raise WireError("no table")
    return message


def pack_arrays(arrays: Mapping[str, NDArray[np.float32]]) -> tuple[int, Layout]:
    """A descriptor of sealed memory with the arrays in it, and where they are: one copy."""
    layout: Layout = []
    end = 0
    for name, array in arrays.items():
        layout.append((name, list(array.shape), end))
        end = _next(end + array.nbytes)
    memory = _new_memory(max(end, 1))
    with mmap.mmap(memory, max(end, 1)) as view:
        for (_, _, start), array in zip(layout, arrays.values(), strict=True):
            target = np.frombuffer(view, np.float32, array.size, start)
            target[:] = array.reshape(-1)
            del target  # a view of the map keeps it from being closed
    _seal(memory)
    return memory, layout


def unpack_arrays(memory: int, layout: Any) -> dict[str, NDArray[np.float32]]:
    """The arrays that a method's process packed, after every number was checked.

    They can be written to, without anyone else seeing it.

    Raises:
        WireError: The layout does not fit the memory.
    """
    try:
        size = os.fstat(memory).st_size
        places = list(_checked(layout, size))
        if not size:
            raise WireError("empty memory")
        view = mmap.mmap(memory, size, access=mmap.ACCESS_COPY)
        arrays = {
            name: np.frombuffer(view, np.float32, math.prod(shape), start).reshape(shape)
            for name, shape, start in places
        }
        if _is_sealed(memory):
            return arrays
        # Whoever holds the file could still write to it: take a copy.
        return {name: array.copy() for name, array in arrays.items()}
    except (OSError, ValueError, OverflowError) as error:
        raise WireError(f"memory that cannot be used ({error})") from error


def _checked(layout: Any, size: int) -> Any:
    if not isinstance(layout, list):
        raise WireError("no layout")
    for entry in layout:
        if not (isinstance(entry, list) and len(entry) == 3):
            raise WireError("a layout of another form")
        name, shape, start = entry
        numbers = [*shape, start] if isinstance(shape, list) else [None]
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
            raise WireError("sizes that are no whole numbers")
        if not isinstance(name, str) or len(shape) > _MOST_AXES or start % 4:
            raise WireError("a layout of another form")
        if start + 4 * math.prod(shape) > size:
            raise WireError("arrays beyond their memory")
        yield name, tuple(shape), start


def pack_object(thing: Any) -> tuple[int, dict[str, Any]]:
    """A descriptor of memory with any object pickled in it, its arrays uncopied until here."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    places, end = [], _next(len(body))
    for part in raw:
        places.append([end, part.nbytes])
        end = _next(end + part.nbytes)
    memory = _new_memory(end or 1)
    with mmap.mmap(memory, end or 1) as view:
        view[: len(body)] = body
        for (start, length), part in zip(places, raw, strict=True):
            view[start : start + length] = part
    for part in raw:
        part.release()
    return memory, {"pickle": len(body), "buffers": places}


def unpack_object(memory: int, places: Mapping[str, Any]) -> Any:
    """The object; only in a method's process, of what its parent sent. Closes the descriptor."""
    size = os.fstat(memory).st_size
    view = mmap.mmap(memory, size, access=mmap.ACCESS_COPY)
    os.close(memory)
    whole = memoryview(view)
    buffers = [whole[start : start + length] for start, length in places["buffers"]]
    return pickle.loads(whole[: places["pickle"]], buffers=buffers)


def _next(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _new_memory(size: int) -> int:
    if hasattr(os, "memfd_create"):
        memory = os.memfd_create("depthgauge", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:  # not on Linux: a file without a name
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.truncate(memory, size)
    return memory


def _seal(memory: int) -> None:
    with suppress(OSError):
        fcntl.fcntl(memory, _ADD_SEALS, _SEALED)


def _is_sealed(memory: int) -> bool:
    try:
        return fcntl.fcntl(memory, _GET_SEALS) & _SEALED == _SEALED
    except OSError:
        return False
