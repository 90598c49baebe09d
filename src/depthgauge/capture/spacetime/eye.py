"""One rectified view at the size of matching: turns photographs into pictures to match."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.photographs.exposure import levels_of
from depthgauge.capture.photographs.movements import Way, moved_view
from depthgauge.geometry.rectified import RectifiedView, inside_image
from depthgauge.types import Image, Mask

_Grid = tuple[NDArray[np.float32], ...]


class Eye:
    """One rectified view; the raw positions of its pixels are computed once."""

    def __init__(self, view: RectifiedView, size: tuple[int, int]) -> None:
        self.view = view
        self.size = size
        self._way: Way = ()
        self._grid = view.raw_grid()

    def see(self, image: Image, way: Way = ()) -> NDArray[np.float32]:
        """Rectifies a raw picture at the matching size: grey levels from 0 to 255, not rounded.

        Uses splines: Keys' cubic kernel left stripes in the disparities of simulated sessions.

        Args:
            image: The photograph.
            way: How it moved against the frame of the view.
        """
        from depthgauge.capture import _spline_kernels

        xs, ys = self._positions(way)
        values = _colours(image)
        _spline_kernels.spline_rows(values)
        _spline_kernels.spline_columns(values.reshape(values.shape[0], -1))
        out = np.zeros((*xs.shape, values.shape[2]), np.float32)
        _spline_kernels.sample(values, xs, ys, out)
        out = _shrunk(out, self.size)
        return np.asarray(np.clip(out, 0, 255, out=out))

    def known(self, ways: Iterable[Way] = ((),)) -> Mask:
        """Where the camera saw anything, without a border of one pixel, where slopes are wrong.

        The border of the whole picture does not count.

        Args:
            ways: Those of all pictures; a pixel must be seen in each.
        """
        import cv2

        inside = np.ones(self._grid[0].shape, bool)
        for way in dict.fromkeys(ways):
            xs, ys = self._positions(way)
            inside &= inside_image(xs, ys, self.view.raw.size_px)
        seen = _shrunk(np.where(inside, np.uint8(255), np.uint8(0)), self.size)
        return np.asarray(cv2.erode(seen, np.ones((3, 3), np.uint8)) == 255)

    def _positions(self, way: Way) -> _Grid:
        if way != self._way:
            self._grid, self._way = moved_view(self.view, way).raw_grid(), way
        return self._grid


def _colours(image: Image) -> NDArray[np.float32]:
    """RGB from 0 to 255, a copy."""
    levels = levels_of(image)
    levels = levels if levels.ndim == 3 else levels[..., None]
    return np.ascontiguousarray(np.repeat(levels, 3, axis=2) if levels.shape[2] == 1 else levels)


def _shrunk(image: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    if image.shape[1::-1] == size:
        return image
    import cv2

    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
