"""Raw photographs and label maps as a rectified camera sees them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.rectified import RectifiedView
from depthgauge.types import Camera

How = Literal["cubic", "linear", "nearest"]
_BAND = 64
"""Rows whose positions are held at a time."""


def resample(
    view: RectifiedView,
    image: NDArray[Any],
    *,
    rows: slice = slice(None),
    how: How = "cubic",
    outside: float = 0.0,
) -> NDArray[Any]:
    """A raw image brought into the rectified view, of the same kind as it was.

    Values are interpolated as they are stored (no gamma is undone), at exact positions.

    Args:
        view: The rectified view.
        image: A raw picture (uint8 or float32, (H, W) or (H, W, C)), map, label map or mask.
        rows: Only these rows of the rectified image.
        how: `cubic` for pictures (clipped to 0..255 or 0..1), `linear` for pictures and maps,
            `nearest` for labels and masks.
        outside: Value where the raw camera saw nothing.

    Raises:
        WrongShape: The image is not of the raw camera's size.
        Misuse: Labels or masks are to be interpolated.
    """
    pixels = np.asarray(image)
    _check(view.raw, pixels, how)
    if how == "nearest":
        return _nearest(view, pixels, rows, outside)
    numbers = np.arange(view.camera.size_px[1], dtype=np.float64)[rows]
    deep = np.ascontiguousarray(pixels if pixels.ndim == 3 else pixels[..., None])
    out = np.full((len(numbers), view.camera.size_px[0], deep.shape[2]), outside, np.float32)
    from depthgauge.capture._resample_kernels import resample as fill

    turn = np.ascontiguousarray(view.rotation.T, np.float64)
    fill(deep, _numbers(view.camera), turn, _numbers(view.raw), numbers, how == "cubic", out)
    return _like(pixels, out if pixels.ndim == 3 else out[..., 0], how)


def empty_share(view: RectifiedView) -> float:
    """Share of the rectified image's pixels in which the raw camera saw nothing."""
    (width, height), (raw_width, raw_height) = view.camera.size_px, view.raw.size_px
    seen = 0
    for start in range(0, height, _BAND):
        x, y = view.raw_grid(slice(start, start + _BAND))
        seen += int(_inside(x, y, raw_width, raw_height).sum())
    return 1.0 - seen / (width * height)


def _check(raw: Camera, pixels: NDArray[Any], how: str) -> None:
    if how not in ("cubic", "linear", "nearest"):
        raise Misuse(f"how is 'cubic', 'linear' or 'nearest', found {how!r}")
    width, height = raw.size_px
    if pixels.ndim not in (2, 3) or pixels.shape[:2] != (height, width):
        raise WrongShape(
            f"the image is {'x'.join(str(n) for n in pixels.shape[1::-1])}, the camera was "
            f"calibrated at {width}x{height}; take both at one size"
        )
    if how != "nearest" and pixels.dtype not in (np.uint8, np.float32):
        raise Misuse(
            f"only uint8 and float32 images are interpolated, found {pixels.dtype}; "
            "labels and masks take how='nearest'"
        )


def _numbers(camera: Camera) -> NDArray[np.float64]:
    """The camera as fx fy cx cy k1 k2 p1 p2 k3."""
    bent = [*camera.distortion, *(0.0,) * 5][:5]
    return np.array([*camera.focal_px, *camera.centre_px, *bent], np.float64)


def _like(pixels: NDArray[Any], out: NDArray[np.float32], how: str) -> NDArray[Any]:
    if pixels.dtype == np.uint8:
        return np.asarray(np.rint(np.clip(out, 0, 255, out=out), out=out).astype(np.uint8))
    if how == "cubic":
        np.clip(out, 0, 1, out=out)
    return out


def _nearest(
    view: RectifiedView, pixels: NDArray[Any], rows: slice, outside: float
) -> NDArray[Any]:
    height, width = pixels.shape[:2]
    numbers = range(view.camera.size_px[1])[rows]
    shape = (len(numbers), view.camera.size_px[0], *pixels.shape[2:])
    out = np.full(shape, outside, pixels.dtype)
    for start in range(0, len(numbers), _BAND):
        band = numbers[start : start + _BAND]
        x, y = view.raw_grid(slice(band.start, band.stop, band.step))
        inside = _inside(x, y, width, height)
        column = np.clip(np.rint(x[inside]).astype(np.intp), 0, width - 1)
        row = np.clip(np.rint(y[inside]).astype(np.intp), 0, height - 1)
        out[start : start + _BAND][inside] = pixels[row, column]
    return out


def _inside(
    x: NDArray[np.float32], y: NDArray[np.float32], width: int, height: int
) -> NDArray[np.bool_]:
    """Pixels are squares around their centres; NaN is outside."""
    return (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
