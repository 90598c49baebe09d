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
from depthgauge.types import Map

_ARCHIVE = ".npz"


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


def stack_shape(path: Path) -> tuple[int, ...]:
    """The shape of an .npy file's array, from its header."""
    with opened(path) as file:
        return npy.read_header(path, file).shape


def write_stack(path: Path, values: NDArray[np.generic]) -> None:
    """Writes any number of axes as float32."""
    npy.write(path, np.asarray(values, np.float32))
