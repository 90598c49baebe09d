"""OpenEXR: maps in channel `Z`, flow in `u` and `v`, pictures in `R`, `G`, `B` or `Y`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DepthgaugeError, DoesNotFit
from depthgauge.io import _exr_header as exr_header
from depthgauge.io._files import AnyPath, decoded, opened, replacing, size_of
from depthgauge.io._values import Request, as_map, to_float32
from depthgauge.quantities import QUANTITIES, guess
from depthgauge.types import Map

_ONE = ("Z", "Y", "R")
_USUAL = {1: ("Z",), 3: ("R", "G", "B")}
"""Channels of quantities that do not name theirs."""
_ONE_AT_A_TIME = threading.Lock()


def read(path: AnyPath, request: Request) -> Map:
    """The map: the channels of its quantity; else `Z`, else the only channel, else `Y`, else `R`.

    Flow is `u, v`, normals are `X, Y, Z`, other maps of three channels are `R, G, B`. Without a
    quantity, a file whose channels are exactly `u, v` is flow.
    """
    header = _header(path, request.limit)
    names = _choose(path, header.channels, request.quantity)
    planes = _planes(path, header)
    values = planes[names[0]] if len(names) == 1 else np.stack([planes[n] for n in names], axis=2)
    return as_map(path, values, request)


def size(path: AnyPath, request: Request) -> tuple[int, int, int]:
    """Height, width and channels that `read_map` would give, from the header."""
    header = _header(path, request.limit)
    return header.height, header.width, len(_choose(path, header.channels, request.quantity))


def dtype(path: AnyPath, request: Request) -> np.dtype[Any]:
    """Of the channels that `read` takes, from the header."""
    header = _header(path, request.limit)
    names = _choose(path, header.channels, request.quantity)
    return np.result_type(*(header.dtypes[name] for name in names))


def read_picture(path: AnyPath, limit: int) -> NDArray[np.float32]:
    """Linear RGB (H, W, 3), or grey (H, W) from `Y` or the only channel."""
    header = _header(path, limit)
    names = ("R", "G", "B") if {"R", "G", "B"} <= set(header.channels) else ("Y",)
    if len(header.channels) == 1:
        names = header.channels[:1]
    if not set(names) <= set(header.channels):
        raise BadFile(f"{path}: expected EXR channels R, G, B or Y, found {_listed(header)}")
    planes = _planes(path, header)
    picture = planes[names[0]] if len(names) == 1 else np.stack([planes[n] for n in names], axis=2)
    return to_float32(path, picture)


def write(path: AnyPath, values: Map, quantity: str) -> None:
    """32-bit floats, zip, missing as NaN; channels as `read` expects them."""
    import OpenEXR

    channels = values.shape[2] if values.ndim == 3 else 1
    names = _names(quantity, channels)
    if len(names) != channels:
        raise DoesNotFit(f"{path}: an EXR map holds 1 to 3 channels, two of them only for flow")
    planes = np.atleast_3d(values)
    stored = {name: np.ascontiguousarray(planes[..., i]) for i, name in enumerate(names)}
    fields = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    with replacing(path) as beside:
        # OpenEXR reports a missing folder or a full disk as it likes; the system says it plainly.
        beside.touch(exist_ok=False)
        try:
            OpenEXR.File(fields, stored).write(str(beside))
        except (RuntimeError, ValueError) as error:
            raise DepthgaugeError(f"{path}: cannot be written: {error}") from None


def _header(path: AnyPath, limit: int) -> exr_header.Header:
    with opened(path) as file:
        return exr_header.parse(path, file.read(exr_header.HEADER_BYTES), size_of(file), limit)


def _choose(path: AnyPath, channels: tuple[str, ...], quantity: str | None) -> tuple[str, ...]:
    flow = guess(2)
    if quantity is None and set(channels) == set(_names(flow, 2)):
        quantity = flow
    count = QUANTITIES[str(quantity)].channels if quantity in QUANTITIES else 1
    if count in (None, 1):
        return channels if len(channels) == 1 else _first(path, channels)
    wanted = _names(str(quantity), count)
    if not set(wanted) <= set(channels):
        raise BadFile(
            f"{path}: expected EXR channels {', '.join(wanted)} for {quantity}, found "
            f"{', '.join(channels[:10])}"
        )
    return wanted


def _names(quantity: str, channels: int) -> tuple[str, ...]:
    """What the channels of a map are called; empty where there are no names for so many."""
    own = QUANTITIES[quantity].main.channel_names if quantity in QUANTITIES else ()
    return own if len(own) == channels else _USUAL.get(channels, ())


def _first(path: AnyPath, channels: tuple[str, ...]) -> tuple[str, ...]:
    for name in _ONE:
        if name in channels:
            return (name,)
    raise BadFile(
        f"{path}: expected an EXR channel Z (or Y, R, or a single one), found "
        f"{', '.join(channels[:10])}"
    )


def _listed(header: exr_header.Header) -> str:
    return ", ".join(header.channels[:10])


class _Said:
    """Standard output that keeps what one thread writes and passes on what others do."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.thread: int | None = threading.get_ident()
        self.text = ""

    def write(self, text: str) -> int:
        if threading.get_ident() != self.thread:
            return self.real.write(text) if self.real else 0
        self.text += text
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@contextmanager
def _listening() -> Iterator[_Said]:
    """OpenEXR prints what is wrong with the pixels, to standard output, and carries on."""
    # Standard output belongs to the process: two threads would restore each other's. Decoding one
    # file at a time costs nothing, four threads on their own were not faster (OpenEXR 3.5).
    with _ONE_AT_A_TIME:
        said = _Said(sys.stdout)
        try:
            with redirect_stdout(said):
                yield said
        finally:
            said.thread = None


def _planes(path: AnyPath, header: exr_header.Header) -> dict[str, NDArray[Any]]:
    import OpenEXR

    def decode() -> dict[str, NDArray[Any]]:
        with _listening() as said, OpenEXR.File(str(path), separate_channels=True) as file:
            if said.text or not file.parts:
                raise ValueError(said.text.rpartition(" - ")[2] or "it has no pixels")
            return {name: channel.pixels for name, channel in file.channels().items()}

    planes = cast(dict[str, NDArray[Any]], decoded(path, "EXR file", decode))
    for name in header.channels:
        if name not in planes or planes[name].shape != (header.height, header.width):
            raise BadFile(f"{path}: EXR channel {name!r} does not have the size of its header")
    return planes
