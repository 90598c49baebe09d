"""The views of a light field: one PNG each, row by row, from the top left."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from math import isqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadData, TooLarge
from depthgauge.types import Image

Views = NDArray[np.uint8]
"""(rows, columns, H, W, 3): rows going down, columns going right."""
_MOST_VALUES = 2**33


def view_name(index: int) -> str:
    """The file of a view.

    >>> view_name(40)
    'input_Cam040.png'
    """
    return f"input_Cam{index:03d}.png"


def count_views(folder: Path) -> int:
    """How many views a scene has."""
    return sum(1 for name in os.listdir(folder) if is_view(name))


def is_view(name: str) -> bool:
    """Whether a file of this name is a view."""
    number = name.removeprefix("input_Cam").removesuffix(".png")
    return number.isdecimal() and name == view_name(int(number))


def square_grid(count: int) -> tuple[int, int] | None:
    """The grid of a scene without parameters.cfg: square, or unknown.

    >>> square_grid(81), square_grid(33)
    ((9, 9), None)
    """
    side = isqrt(count)
    return (side, side) if side > 0 and side * side == count else None


def read_views(folder: Path, grid: tuple[int, int], size_px: tuple[int, int] | None) -> Views:
    """All views of a scene.

    Args:
        folder: The scene's folder.
        grid: Rows and columns.
        size_px: The width and height that every view must have; by default those of the first.

    Raises:
        BadData: A view is missing, or differs from the others in size or type.
    """
    rows, columns = grid
    found = count_views(folder)
    if found != rows * columns:
        raise BadData(
            f"{folder}: has {found} views but its grid is {columns}x{rows}, {rows * columns} "
            f"views from {view_name(0)} to {view_name(rows * columns - 1)}."
        )
    height, width = io.map_size(folder / view_name(0))[:2]
    width, height = size_px or (width, height)
    if 3 * found * width * height > _MOST_VALUES:
        raise TooLarge(f"{folder}: {found} views of {width}x{height} do not fit in memory.")
    views = np.zeros((found, height, width, 3), np.uint8)

    def read(index: int) -> None:
        views[index] = _read_view(folder / view_name(index), (height, width, 3))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(read, range(found)):
            pass
    return views.reshape(rows, columns, height, width, 3)


def read_centre(folder: Path, grid: tuple[int, int], size_px: tuple[int, int] | None) -> Views:
    """Only the centre view (H, W, 3); for an even number of rows, the lower of the middle two."""
    rows, columns = grid
    path = folder / view_name(rows // 2 * columns + columns // 2)
    shape = None if size_px is None else (size_px[1], size_px[0], 3)
    return _read_view(path, shape)


def _read_view(path: Path, shape: tuple[int, int, int] | None) -> Views:
    image: Image = io.read_image(path)
    wanted = shape or (*image.shape[:2], 3)
    if image.dtype != np.uint8 or image.shape != wanted:
        bits = 8 if image.dtype == np.uint8 else 16
        kind = "RGB" if image.ndim == 3 else "grey"
        raise BadData(
            f"{path}: is a {kind} image of {bits} bits, {image.shape[1]}x{image.shape[0]}; "
            f"expected RGB of 8 bits, {wanted[1]}x{wanted[0]}, like the other views and "
            "parameters.cfg."
        )
    return image  # type: ignore[return-value]  # of bytes, as was just checked
