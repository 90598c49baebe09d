"""Resizing of maps, with their values scaled accordingly; cropping and padding of borders."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.errors import Misuse, SizesDiffer, WrongShape
from depthgauge.geometry._maps import as_map, need_positive, size_of
from depthgauge.geometry.crops import KB_SIZE, kb_window
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map

Resizing = Literal["none", "nearest", "block", "bilinear", "zoom", "area", "kb"]
REVISION = 1
"""Raised whenever a resized value may change; part of the protocol's hash."""

RESIZINGS = ("none", "nearest", "block", "bilinear", "zoom", "area", "kb")

Array = TypeVar("Array", bound=NDArray[Any])


def resize(
    values: NDArray[np.generic],
    shape: tuple[int, int],
    how: Resizing,
    quantity: str,
    *,
    scale_values: bool = True,
) -> Map:
    """A map resized to another size.

    - `none`: the sizes must be equal already.
    - `nearest`: the pixels that OpenCV's INTER_NEAREST takes, floor(i * source / target).
    - `block`: every pixel repeated k times, i // k; the target must be a whole multiple of the
      source, per axis.
    - `bilinear`: as OpenCV's INTER_LINEAR, pixel areas aligned, no smoothing when shrinking. NaN
      where a neighbour whose weight is not zero is missing.
    - `zoom`: the pixels that `scipy.ndimage.zoom(order=0)` takes: corner centres aligned,
      floor(i * (source - 1) / (target - 1) + 0.5). Not the same as `block`. (Where scipy's rounding
      runs past the last pixel it writes 0; here it is the last pixel.)
    - `area`: along an axis that shrinks, the mean of the area that a pixel covers, as OpenCV's
      INTER_AREA, so that nothing finer is left to alias; along one that grows, as `bilinear`. NaN
      where a part of the area is missing. For pictures.
    - `kb`: a map of 1216x352 is put back where KITTI's benchmark crop took it from, at the bottom
      in the middle, and is missing around; any other size but the target's is wrong.

    Values in pixels are scaled with the image: disparity by the ratio of the widths, flow's u by
    that and its v by the ratio of the heights. All other quantities keep their values.

    Args:
        values: (H, W) or (H, W, C).
        shape: Target height and width.
        how: One of the seven.
        quantity: Decides how values scale.
        scale_values: False where the values stay in pixels of the original image (hci4d, Spring).

    Returns:
        float32; the same array if there is nothing to do.

    Raises:
        UnknownName: No such way of resizing.
        WrongShape: `none` between different sizes, or `block` without whole ratios.

    >>> resize(np.array([[1.0, 2.0]]), (2, 4), "block", "disparity")
    array([[2., 2., 4., 4.], [2., 2., 4., 4.]], dtype=float32)
    """
    source = as_map(values)
    height, width = _check(source, shape, how)
    if source.shape[:2] == (height, width):
        return source
    if how == "kb":
        placed = np.full((height, width, *source.shape[2:]), np.nan, np.float32)
        placed[kb_window(height, width)] = source
        return placed
    if how == "bilinear":
        resized = _bilinear(source, height, width)
    elif how == "area":
        resized = _area(source, height, width)
    else:
        resized = _pick(source, height, width, how)
    if not scale_values:
        return resized
    return QUANTITIES[quantity].scale(resized, width / source.shape[1], height / source.shape[0])


def resize_labels(labels: Array, shape: tuple[int, int], how: Resizing) -> Array:
    """Masks, labels or images resized by picking pixels; dtype and values do not change.

    `how` is as in `resize`, without `bilinear`, `area` and `kb`.

    >>> resize_labels(np.array([[3, 7]]), (1, 4), "nearest")
    array([[3, 3, 7, 7]])
    """
    if how in ("bilinear", "area", "kb"):
        raise Misuse("labels cannot be blended; resize them by nearest, block or zoom")
    height, width = _check(labels, shape, how)
    return labels if labels.shape[:2] == (height, width) else _pick(labels, height, width, how)


def subsample_truth(values: Array, factor: float, quantity: str) -> Array:
    """Every k-th row and column starting with the first, k = 1 / factor, without blending.

    Maps are scaled as in `resize`, by exactly the factor; masks and labels (any dtype but floating
    point) keep their values.

    Args:
        values: (H, W) or (H, W, C).
        factor: 1, 0.5, 0.25 ...: one over a whole number.
        quantity: Decides how values scale.

    >>> subsample_truth(np.array([[8, 1, 6]], np.float32), 0.5, "disparity")
    array([[4., 3.]], dtype=float32)
    """
    step = round(1 / factor) if 0 < factor <= 1 else 0
    if step == 0 or abs(step * factor - 1) > 1e-9:
        raise Misuse(f"truth can be subsampled by 1, 0.5, 0.25 ... (one over k), found {factor}")
    if step == 1:
        return values
    taken = values[::step, ::step].copy()
    if np.issubdtype(taken.dtype, np.floating):
        taken = QUANTITIES[quantity].scale(as_map(taken), 1 / step, 1 / step)
    return taken  # type: ignore[return-value]  # the original dtype, or float32


def crop_border(values: Array, border_px: int) -> Array:
    """The map without its outermost rows and columns; a view.

    >>> crop_border(np.arange(16.0).reshape(4, 4), 1)
    array([[ 5., 6.], [ 9., 10.]])
    """
    height, width = values.shape[:2]
    if border_px < 0 or 2 * border_px >= min(height, width):
        raise WrongShape(
            f"a border of {border_px} px cannot be removed from a map of {size_of(values)}"
        )
    return values[border_px : height - border_px, border_px : width - border_px]  # type: ignore[return-value]  # a view of the same type


def pad_border(values: NDArray[np.generic], border_px: int) -> Map:
    """The map with missing rows and columns added around it.

    >>> pad_border(np.array([[1.0]]), 1)[1]
    array([nan, 1., nan], dtype=float32)
    """
    source = as_map(values)
    if border_px < 0:
        raise Misuse(f"a border must be 0 px or more, found {border_px}")
    height, width = source.shape[:2]
    shape = (height + 2 * border_px, width + 2 * border_px, *source.shape[2:])
    padded = np.full(shape, np.nan, np.float32)
    padded[border_px : border_px + height, border_px : border_px + width] = source
    return padded


def _check(source: NDArray[Any], shape: tuple[int, int], how: str) -> tuple[int, int]:
    if how not in RESIZINGS:
        raise unknown("way of resizing", how, RESIZINGS)
    height, width = (int(n) for n in shape)
    need_positive(height=height, width=width)
    if how == "none" and source.shape[:2] != (height, width):
        raise SizesDiffer(size_of(source), f"{width}x{height}")
    if how == "kb" and source.shape[:2] not in (KB_SIZE, (height, width)):
        raise WrongShape(
            f"the estimate is {size_of(source)} but must be {width}x{height} as the truth, or "
            "1216x352, KITTI's crop of it."
        )
    if how == "block" and (height % source.shape[0] or width % source.shape[1]):
        raise WrongShape(
            f"{width}x{height} is not a whole multiple of {size_of(source)}, which block "
            "replication needs; use nearest or bilinear"
        )
    return height, width


def _pick(source: Array, height: int, width: int, how: str) -> Array:
    rows = _indices(source.shape[0], height, how)
    columns = _indices(source.shape[1], width, how)
    return source[rows[:, None], columns[None, :]]  # type: ignore[return-value]  # same dtype


def _indices(source: int, target: int, how: str) -> NDArray[np.intp]:
    """Which source index each target index takes."""
    i = np.arange(target)
    if how == "block":
        return i // (target // source)
    if how == "nearest":
        # The reciprocal of a quotient is OpenCV's arithmetic; source / target rounds differently.
        positions = i * (1.0 / (target / source))
    else:
        positions = i * ((source - 1) / max(target - 1, 1)) + 0.5
    taken: NDArray[np.intp] = np.minimum(np.floor(positions).astype(np.intp), source - 1)
    return taken


def _bilinear(source: Map, height: int, width: int) -> Map:
    from depthgauge.geometry._kernels import blend

    rows, row_weights = _neighbours(source.shape[0], height)
    columns, column_weights = _neighbours(source.shape[1], width)
    blended: Map = blend(
        source.reshape(*source.shape[:2], -1), rows, row_weights, columns, column_weights
    )
    return blended.reshape(height, width, *source.shape[2:])


def _area(source: Map, height: int, width: int) -> Map:
    """Means where an axis shrinks, then blends where the other one grows."""
    import cv2

    small = (min(width, source.shape[1]), min(height, source.shape[0]))
    if small == source.shape[1::-1]:
        return _bilinear(source, height, width)
    missing = ~np.isfinite(source)
    shrunk = cv2.resize(
        np.where(missing, np.float32(0), source), small, interpolation=cv2.INTER_AREA
    )
    if missing.any():
        gaps = cv2.resize(missing.astype(np.float32), small, interpolation=cv2.INTER_AREA)
        shrunk[gaps > 0] = np.nan
    shrunk = shrunk.reshape(small[1], small[0], *source.shape[2:])
    return shrunk if small == (width, height) else _bilinear(shrunk, height, width)


def _neighbours(source: int, target: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The first neighbour of each target index, and the weight of the second."""
    # In integers, so that a weight that should be zero is zero: it decides what is missing.
    numerator = (2 * np.arange(target) + 1) * source - target
    first = numerator // (2 * target)
    weight = (numerator % (2 * target)) / (2 * target)
    weight[(first < 0) | (first >= source - 1)] = 0.0
    return np.clip(first, 0, source - 1).astype(np.intp), weight.astype(np.float32)
