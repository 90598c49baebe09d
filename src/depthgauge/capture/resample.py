"""Resamples raw photographs and label maps to a rectified camera."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.rectified import RectifiedView, inside_image
from depthgauge.types import Camera

How = Literal["spline", "cubic", "linear", "nearest"]
_BAND = 64
"""The number of rows whose positions are held at a time."""


def resample(
    view: RectifiedView,
    image: NDArray[Any],
    *,
    rows: slice = slice(None),
    how: How = "cubic",
    outside: float = 0.0,
) -> NDArray[Any]:
    """A raw image resampled to the rectified view, with the same dtype.

    Values are interpolated as they are stored (no gamma is undone), at positions that are
    accurate to a thousandth of a pixel.

    Args:
        view: The rectified view.
        image: A raw picture (uint8 or float32, (H, W) or (H, W, C)), map, label map or mask.
        rows: Only these rows of the rectified image.
        how: `spline` for pictures (cubic B-splines, clipped to 0..255 or 0..1). `cubic` for
            pictures too: it needs less memory, but blurs between pixels and not on them, which
            leaves stripes. `linear` for pictures and maps, `nearest` for labels and masks.
        outside: Value where the raw camera saw nothing.

    Raises:
        WrongShape: The image does not have the raw camera's size.
        Misuse: Labels or masks would be interpolated.
    """
    pixels = np.asarray(image)
    _check(view.raw, pixels, how)
    if how == "nearest":
        return _nearest(view, pixels, rows, outside)
    deep = np.ascontiguousarray(pixels if pixels.ndim == 3 else pixels[..., None])
    fill = _by_splines if how == "spline" else partial(_by_weights, cubic=how == "cubic")
    out = fill(view, deep, rows, outside)
    return _like(pixels, out if pixels.ndim == 3 else out[..., 0], how)


def take_nearest(
    pixels: NDArray[Any],
    x: NDArray[np.floating[Any]],
    y: NDArray[np.floating[Any]],
    out: NDArray[Any],
) -> None:
    """Fills `out` with the pixels nearest to positions; outside it is unchanged."""
    height, width = pixels.shape[:2]
    inside = inside_image(x, y, (width, height))
    column = np.clip(np.rint(x[inside]).astype(np.intp), 0, width - 1)
    row = np.clip(np.rint(y[inside]).astype(np.intp), 0, height - 1)
    out[inside] = pixels[row, column]


def empty_share(view: RectifiedView) -> float:
    """Share of the rectified image's pixels in which the raw camera saw nothing."""
    width, height = view.camera.size_px
    seen = 0
    for start in range(0, height, _BAND):
        x, y = view.raw_grid(slice(start, start + _BAND))
        seen += int(inside_image(x, y, view.raw.size_px).sum())
    return 1.0 - seen / (width * height)


def _check(raw: Camera, pixels: NDArray[Any], how: str) -> None:
    if how not in get_args(How):
        raise Misuse(f"how must be 'spline', 'cubic', 'linear' or 'nearest', found {how!r}")
    width, height = raw.size_px
    if pixels.ndim not in (2, 3) or pixels.shape[:2] != (height, width):
        raise WrongShape(
            f"the image is {'x'.join(str(n) for n in pixels.shape[1::-1])} but the camera was "
            f"calibrated at {width}x{height}; use the same size for both"
        )
    if how != "nearest" and pixels.dtype not in (np.uint8, np.float32):
        raise Misuse(
            f"only uint8 and float32 images are interpolated, found {pixels.dtype}; "
            "use how='nearest' for labels and masks"
        )


def _by_weights(
    view: RectifiedView, deep: NDArray[Any], rows: slice, outside: float, *, cubic: bool
) -> NDArray[np.float32]:
    from depthgauge.capture._resample_kernels import resample as fill

    numbers = np.arange(view.camera.size_px[1], dtype=np.float64)[rows]
    out = np.full((len(numbers), view.camera.size_px[0], deep.shape[2]), outside, np.float32)
    turn = np.ascontiguousarray(view.rotation.T, np.float64)
    fill(deep, _numbers(view.camera), turn, _numbers(view.raw), numbers, cubic, out)
    return out


def _by_splines(
    view: RectifiedView, deep: NDArray[Any], rows: slice, outside: float
) -> NDArray[np.float32]:
    from depthgauge.capture import _spline_kernels as kernels

    coefficients = deep.astype(np.float32)
    kernels.spline_rows(coefficients)
    kernels.spline_columns(coefficients.reshape(len(deep), -1))
    numbers = range(view.camera.size_px[1])[rows]
    out = np.full((len(numbers), view.camera.size_px[0], deep.shape[2]), outside, np.float32)
    for start in range(0, len(numbers), _BAND):
        band = numbers[start : start + _BAND]
        x, y = view.raw_grid(slice(band.start, band.stop, band.step))
        kernels.sample(coefficients, x, y, out[start : start + _BAND])
    return out


def _numbers(camera: Camera) -> NDArray[np.float64]:
    """The camera as fx fy cx cy k1 k2 p1 p2 k3."""
    bent = [*camera.distortion, *(0.0,) * 5][:5]
    return np.array([*camera.focal_px, *camera.centre_px, *bent], np.float64)


def _like(pixels: NDArray[Any], out: NDArray[np.float32], how: str) -> NDArray[Any]:
    if pixels.dtype == np.uint8:
        return np.asarray(np.rint(np.clip(out, 0, 255, out=out), out=out).astype(np.uint8))
    if how != "linear":
        np.clip(out, 0, 1, out=out)
    return out


def _nearest(
    view: RectifiedView, pixels: NDArray[Any], rows: slice, outside: float
) -> NDArray[Any]:
    numbers = range(view.camera.size_px[1])[rows]
    shape = (len(numbers), view.camera.size_px[0], *pixels.shape[2:])
    out = np.full(shape, outside, pixels.dtype)
    for start in range(0, len(numbers), _BAND):
        band = numbers[start : start + _BAND]
        x, y = view.raw_grid(slice(band.start, band.stop, band.step))
        take_nearest(pixels, x, y, out[start : start + _BAND])
    return out
