"""Stacks of maps, such as layers: an .npy file, or one array of an .npz file, `results.npz/4_0`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io import npy, npz
from depthgauge.io._files import MAX_PIXELS, expect_rest, opened
from depthgauge.io._values import to_float32, without_infinities
from depthgauge.io.maps import read_map
from depthgauge.io.text import read_text
from depthgauge.quantities import Part
from depthgauge.types import Map

_ARCHIVE = ".npz"
_PLACE = 3
"""The first columns of a row: u, v, layer."""
_MOST_TEXT = 2**28


def is_member(path: Path) -> bool:
    """Whether a path names an array of an .npz file: the file, `/`, and the name of the array.

    Raises:
        BadFile: The archive is damaged.
    """
    archive = path.parent
    if archive.suffix.lower() != _ARCHIVE or not archive.is_file():
        return False
    return path.name in npz.array_names(archive)


def read_stack(path: Path, axes: tuple[str, ...], limit: int = MAX_PIXELS) -> Map:
    """An array with these axes, infinities as NaN.

    Args:
        path: An .npy file, or an array of an .npz file.
        axes: Their names, for the error.
        limit: The most values that the header may claim; nothing of more is read.

    Raises:
        BadFile: It is damaged or has another number of axes.
        TooLarge: It claims more than the limit.
    """
    return without_infinities(read_raw_stack(path, axes, limit))


def read_raw_stack(path: Path, axes: tuple[str, ...], limit: int = MAX_PIXELS) -> Map:
    """The same with infinities as they are stored."""

    def check(header: npy.Header) -> None:
        if len(header.shape) != len(axes) or 0 in header.shape:
            named = ", ".join(axes)
            raise BadFile(
                f"{path}: expected an array with the axes ({named}), found {header.shape}"
            )
        if math.prod(header.shape) > limit:
            raise TooLarge(f"{path}: claims {header.shape} values, above the limit of {limit}")

    return to_float32(path, read_checked(path, check))


def read_checked(path: Path, check: Callable[[npy.Header], None]) -> NDArray[Any]:
    """The array as it is stored; `check` is called with its header before anything is read."""
    if is_member(path):
        return npz.read_checked(path.parent, path.name, check)
    if path.suffix.lower() == _ARCHIVE:
        return npz.read_checked(path, None, check)
    with opened(path) as file:
        header = npy.read_header(path, file)
        check(header)
        expect_rest(path, file, file.tell(), header.bytes)
        return npy.read_values(path, file, header)


def read_layers(path: Path, part: Part, limit: int = MAX_PIXELS) -> Map:
    """The layers of an estimate: a stack, one map, or rows of u, v, layer and values.

    Args:
        path: A stack or rows as .npy, .npz or an array of an .npz file; rows as .csv; one map in
            any format.
        part: The part with layers.
        limit: The most values that are read.

    Raises:
        BadFile: It is damaged or something else.
    """
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _text_rows(path, part)
    if suffix not in (".npy", _ARCHIVE) and not is_member(path):
        return read_map(path, quantity=part.like or None, limit=limit)[None]

    def check(header: npy.Header) -> None:
        if math.prod(header.shape) > limit:
            raise TooLarge(f"{path}: claims {header.shape} values, above the limit of {limit}")

    values = without_infinities(to_float32(path, read_checked(path, check)))
    channels = part.channels or 1
    one = len(part.axes) - 1
    is_rows = values.ndim == 2 and values.shape[1] == _PLACE + channels
    wrong = channels > 1 and values.ndim >= one and values.shape[-1] != channels
    if not values.size or not (is_rows or (values.ndim in (one, one + 1) and not wrong)):
        axes = ", ".join(part.axes)
        raise BadFile(
            f"{path}: expected an array with the axes ({axes}), one map without layers, or rows of "
            f"u, v, layer and {channels} value(s), found {values.shape}."
        )
    return values[None] if values.ndim == one and not is_rows else values


def _text_rows(path: Path, part: Part) -> Map:
    """Rows of a text file; the first line may name the columns."""
    lines = read_text(path, _MOST_TEXT).splitlines()
    columns = _PLACE + (part.channels or 1)
    if lines and lines[0].lower().replace(" ", "").startswith("u,v,layer"):
        lines = lines[1:]
    rows: list[list[float]] = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append([float(word) for word in line.split(",")])
        except ValueError:
            rows.append([])
        if len(rows[-1]) != columns:
            raise BadFile(
                f"{path}, row {number}: expected {columns} numbers (u, v, layer and the values of "
                f"the layer), found {line[:60]!r}."
            )
    return np.array(rows, np.float32).reshape(-1, columns)
