"""Windows of photographs in which displacements are measured: only what does not depend on light.

A photograph is turned into the high frequencies of the logarithm of its grey levels: light that
changes slowly drops out, and so does most of a projected pattern, whose blobs are blurred. Edges
and texture of surfaces remain, whatever light falls on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.photographs.exposure import levels_of
from depthgauge.capture.photographs.motion import Displacements, Pixels
from depthgauge.types import Image

Array = NDArray[np.float32]

_COLUMNS, _ROWS = 8, 6
_MOST_SIDE = 128
"""Of a window; memory does not grow with the size of photographs."""
_MARGIN = 12
"""Around a window: splines and a few pixels of motion."""
_BORDER = 4
"""Of a photograph: its filtered border is wrong."""
_OFFSET = 8.0
"""Added to grey levels before the logarithm, so that noise of dark pixels stays small."""
_SHARP_PX, _COARSE_PX = 0.7, 1.2
_FINER_PX = 6
_CLEAR = 5.0
"""A shift stands out from all others by this many standard deviations of the correlation."""
_SMALL = 640
"""Width of the small pictures in which large motions are searched."""


def grey_levels(image: Image) -> Array:
    """(H, W) from 0 to 255."""
    levels = levels_of(image)
    return np.ascontiguousarray(levels if levels.ndim == 2 else levels.mean(axis=2))


def details(grey: Array, coarse_px: float = _COARSE_PX) -> Array:
    """What remains of a photograph in any light: (H, W) float32 around 0.

    Args:
        grey: (H, W) grey levels.
        coarse_px: Slower changes, in standard deviations of a blur, are left out.
    """
    import cv2

    light = np.log(grey + np.float32(_OFFSET))
    fine = cv2.GaussianBlur(light, (0, 0), _SHARP_PX)
    return np.asarray(fine - cv2.GaussianBlur(light, (0, 0), coarse_px), np.float32)


def small_details(grey: Array) -> tuple[Array, float]:
    """Details of a small picture, and how many px of the photograph its pixels are wide."""
    import cv2

    ratio = max(1.0, grey.shape[1] / _SMALL)
    size = (round(grey.shape[1] / ratio), round(grey.shape[0] / ratio))
    small = grey if ratio == 1.0 else cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    return details(np.asarray(small)), ratio


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The windows of photographs of one size, in a grid; each is divided into 2x2 cells."""

    size_px: tuple[int, int]
    """Of the photographs."""

    @property
    def side(self) -> tuple[int, int]:
        """Height and width of a window; both are even."""
        width, height = self.size_px
        return _side((height - 2 * _BORDER) // _ROWS), _side((width - 2 * _BORDER) // _COLUMNS)

    @property
    def corners(self) -> NDArray[np.intp]:
        """(N, 2): row and column of the first pixel of every window."""
        (width, height), (h, w) = self.size_px, self.side
        rows = np.linspace(_BORDER, max(height - _BORDER - h, _BORDER), _ROWS).astype(np.intp)
        columns = np.linspace(_BORDER, max(width - _BORDER - w, _BORDER), _COLUMNS)
        y, x = np.meshgrid(rows, columns.astype(np.intp), indexing="ij")
        return np.stack([y.ravel(), x.ravel()], axis=-1)

    def cut(self, picture: Array, coarse: tuple[int, int] = (0, 0)) -> Array:
        """Spline coefficients (N * (h + margins), w + margins, 1) of all windows, one below the
        other; NaN where a window leaves the photograph.

        Args:
            picture: `details` of a photograph.
            coarse: Whole px to the right and down by which the photograph has moved.
        """
        from depthgauge.capture import _spline_kernels

        values = np.ascontiguousarray(picture)[..., None].copy()
        _spline_kernels.spline_rows(values)
        _spline_kernels.spline_columns(values.reshape(len(values), -1))
        more = _MARGIN + max(abs(coarse[0]), abs(coarse[1]))
        padded = np.pad(values[..., 0], more, constant_values=np.nan)
        (h, w), parts = self.side, []
        for y, x in self.corners:
            top, first = y + coarse[1] + more - _MARGIN, x + coarse[0] + more - _MARGIN
            parts.append(padded[top : top + h + 2 * _MARGIN, first : first + w + 2 * _MARGIN])
        return np.concatenate(parts)[..., None]

    def places(self) -> Pixels:
        """(N, h, w, 2) positions x, y of all pixels of the windows."""
        h, w = self.side
        y, x = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
        own = np.stack([x, y], axis=-1)
        return np.asarray(own + self.corners[:, None, None, ::-1], np.float64)

    def sample(self, cut: Array, moved: Pixels, coarse: tuple[int, int] = (0, 0)) -> Array:
        """(N, h, w) values at positions of the photograph that `cut` was made from.

        Args:
            cut: From `cut`, with the same `coarse`.
            moved: (N, h, w, 2) positions in the photograph; NaN results near its border.
            coarse: As for `cut`.
        """
        from depthgauge.capture import _spline_kernels

        h, w = self.side
        high = h + 2 * _MARGIN
        own = moved - self.corners[:, None, None, ::-1] - np.array(coarse) + _MARGIN
        x, y = own[..., 0], own[..., 1]
        inside = (x >= 2) & (x <= w + 2 * _MARGIN - 3) & (y >= 2) & (y <= high - 3)
        y = y + high * np.arange(len(own))[:, None, None]
        shape = (len(own) * h, w)
        out = np.full((*shape, 1), np.nan, np.float32)
        place = [np.where(inside, v, np.nan).astype(np.float32).reshape(shape) for v in (x, y)]
        _spline_kernels.sample(cut, place[0], place[1], out)
        return out.reshape(len(own), h, w)

    def cells(self, values: NDArray[Any]) -> NDArray[Any]:
        """(N, h, w, ...) -> (4 N, pixels of a cell, ...)."""
        n, (h, w), rest = len(values), self.side, values.shape[3:]
        parts = values.reshape(n, 2, h // 2, 2, w // 2, *rest).swapaxes(2, 3)
        return parts.reshape(4 * n, (h // 2) * (w // 2), *rest)

    def centres(self) -> Pixels:
        """(4 N, 2) centres of the cells."""
        return np.asarray(self.cells(self.places()).mean(axis=1))

    def whole(self, by_cell: NDArray[Any]) -> NDArray[Any]:
        """(4 N, ...) numbers of cells, for every pixel of the windows: (N, h, w, ...)."""
        h, w = self.side
        n, rest = len(by_cell) // 4, by_cell.shape[1:]
        grid = by_cell.reshape(n, 2, 2, *rest)
        return np.repeat(np.repeat(grid, h // 2, axis=1), w // 2, axis=2)


def _side(room: int) -> int:
    return max(min(room, _MOST_SIDE) // 2 * 2, 2)


def slopes_of(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """(N, h, w, 2) slopes along x and y of windows."""
    y, x = np.gradient(values.astype(np.float64), axis=(1, 2))
    return np.stack([x, y], axis=-1)


def coarse_shift(one: Array, other: Array) -> tuple[tuple[int, int], float]:
    """By how many whole px the second picture's details are right of and below the first one's.

    Returns:
        The shift, and how much it stands out from all others: its correlation in units of the
        scatter of all correlations.
    """
    flat = [np.nan_to_num(np.clip(p, *np.percentile(p, (1, 99)))) for p in (one, other)]
    spectra = [np.fft.rfft2(p - p.mean()) for p in flat]
    found = np.fft.irfft2(spectra[1] * np.conj(spectra[0]), s=one.shape)
    y, x = np.unravel_index(int(np.argmax(found)), found.shape)
    height, width = found.shape
    right = int(x) - (width if x > width // 2 else 0)
    down = int(y) - (height if y > height // 2 else 0)
    return (right, down), float(found.max() / max(float(found.std()), 1e-12))


def finer_shift(template: NDArray[np.floating[Any]], seen: Array) -> tuple[int, int]:
    """By how many whole px windows show the same things farther right and down than a template.

    It finds what is left after `coarse_shift` in small pictures: a few px.

    Args:
        template: (N, h, w).
        seen: (N, h, w) of another photograph.
    """
    # Details are around 0, so what is missing may be 0.
    spectra = [np.fft.rfft2(np.nan_to_num(v)) for v in (template, seen)]
    found = np.fft.irfft2((spectra[1] * np.conj(spectra[0])).sum(axis=0), s=template.shape[1:])
    reach = [min(_FINER_PX, side // 4) for side in found.shape]
    # The middle of the correlation, from -reach to reach.
    near = np.roll(found, reach, axis=(0, 1))[: 2 * reach[0] + 1, : 2 * reach[1] + 1]
    down, right = np.unravel_index(int(np.argmax(near)), near.shape)
    if near.max() < _CLEAR * found.std():
        return 0, 0
    return int(right) - reach[1], int(down) - reach[0]


def measured(
    windows: Windows,
    normal: NDArray[np.float64],
    right: NDArray[np.float64],
    so_far: Pixels,
) -> Displacements:
    """Displacements from the normal equations of cells.

    Args:
        windows: The windows.
        normal: (4 N, 2, 2) of every cell.
        right: (4 N, 2).
        so_far: (4 N, 2) displacements at which the equations were made.
    """
    size = np.trace(normal, axis1=1, axis2=2)
    known = np.linalg.det(normal) > 1e-12 * np.maximum(size**2, 1e-30)
    known &= np.isfinite(right).all(axis=1) & np.isfinite(normal).all(axis=(1, 2))
    step = np.linalg.solve(normal[known], right[known][..., None])[..., 0]
    return Displacements(windows.centres()[known], so_far[known] - step, normal[known])
