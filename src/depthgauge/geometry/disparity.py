"""Conversion between disparity and depth, for stereo pairs and light fields."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry._maps import drop_infinite, need_positive
from depthgauge.types import Map


def depth_from_disparity(
    disparity_px: NDArray[np.generic], focal_px: float, baseline_m: float, offset_px: float = 0.0
) -> Map:
    """Depth in metres of a stereo pair: z = f b / (d + offset).

    Args:
        disparity_px: d = x_left - x_right; NaN where missing.
        focal_px: Focal length f.
        baseline_m: Distance b between the cameras.
        offset_px: x of the right principal point minus that of the left (Middlebury's `doffs`).

    Returns:
        Depth along the optical axis; NaN where d is missing or d + offset is not positive.

    >>> depth_from_disparity(np.array([[50.0, 0.0, np.nan]]), 1000.0, 0.1)
    array([[ 2., nan, nan]], dtype=float32)
    """
    need_positive(focal_px=focal_px, baseline_m=baseline_m)
    shifted = np.array(disparity_px, np.float32)
    shifted += np.float32(offset_px)
    return _over(focal_px * baseline_m, shifted)


def disparity_from_depth(
    depth_m: NDArray[np.generic], focal_px: float, baseline_m: float, offset_px: float = 0.0
) -> Map:
    """Disparity in pixels of a stereo pair: d = f b / z - offset; NaN where z is not positive.

    >>> disparity_from_depth(np.array([[2.0, -1.0, np.inf]]), 1000.0, 0.1, 30.0)
    array([[20., nan, nan]], dtype=float32)
    """
    need_positive(focal_px=focal_px, baseline_m=baseline_m)
    disparity = _over(focal_px * baseline_m, np.array(depth_m, np.float32))
    disparity -= np.float32(offset_px)
    return disparity


def depth_from_lightfield_disparity(
    disparity_px: NDArray[np.generic],
    focal_mm: float,
    sensor_mm: float,
    baseline_m: float,
    focus_m: float,
    size_px: int,
) -> Map:
    """Depth in metres of a light field whose views are focused on one plane.

    1 / z = d sensor / (b f size) + 1 / focus: a disparity of 0 is at the focus distance, positive
    ones are nearer.

    Args:
        disparity_px: Shift per step between neighbouring views, positive in front of the focus
            plane; NaN where missing.
        focal_mm: Focal length f.
        sensor_mm: Sensor's length along the larger side of the image.
        baseline_m: Distance b between neighbouring views.
        focus_m: Distance of the focus plane; infinity for parallel views.
        size_px: Pixels along the larger side of the image whose pixels are the unit of disparity
            (hci4d: the small image, also for the truth that is ten times larger).

    Returns:
        Depth; NaN where the disparity is missing or belongs to no point in front of the camera.

    >>> depth_from_lightfield_disparity(np.array([[0.0, 1.0]]), 100.0, 32.0, 0.025, 4.0, 512)
    array([[4.       , 3.6363635]], dtype=float32)
    """
    step = _lightfield_step(focal_mm, sensor_mm, baseline_m, focus_m, size_px)
    inverse = np.array(disparity_px, np.float32)
    inverse *= np.float32(1.0 / step)
    inverse += np.float32(1.0 / focus_m)
    return _over(1.0, inverse)


def lightfield_disparity_from_depth(
    depth_m: NDArray[np.generic],
    focal_mm: float,
    sensor_mm: float,
    baseline_m: float,
    focus_m: float,
    size_px: int,
) -> Map:
    """Disparity per step between neighbouring views: d = b f size / sensor (1 / z - 1 / focus).

    The arguments are those of `depth_from_lightfield_disparity`.

    >>> lightfield_disparity_from_depth(np.array([[4.25]]), 100.0, 35.0, 0.025, 4.25, 512)
    array([[0.]], dtype=float32)
    """
    step = _lightfield_step(focal_mm, sensor_mm, baseline_m, focus_m, size_px)
    disparity = _over(step, np.array(depth_m, np.float32))
    disparity -= np.float32(step / focus_m)
    return disparity


def _lightfield_step(
    focal_mm: float, sensor_mm: float, baseline_m: float, focus_m: float, size_px: int
) -> float:
    """Shift in pixels of a point at one metre between neighbouring parallel views."""
    need_positive(focal_mm=focal_mm, sensor_mm=sensor_mm, baseline_m=baseline_m, size_px=size_px)
    if math.isnan(focus_m) or focus_m <= 0:
        raise Misuse(f"focus_m must be positive (infinity for parallel views), found {focus_m}")
    return baseline_m * focal_mm * size_px / sensor_mm


def _over(numerator: float, values: Map) -> Map:
    """Numerator / values, written into `values`; NaN where a value is not positive and finite."""
    np.copyto(values, np.float32(np.nan), where=~((values > 0) & (values < np.inf)))
    with np.errstate(over="ignore"):
        np.divide(np.float32(numerator), values, out=values)
    return drop_infinite(values)
