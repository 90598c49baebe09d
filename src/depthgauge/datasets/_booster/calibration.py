"""Booster's calibration files: rectified cameras, and the baseline in millimetres."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.types import Camera, Rig

LEFT_MATRIX, RIGHT_MATRIX, BASELINE = "proj_matL", "proj_matR", "baselineLR"
RANGE = ("disparity_min", "disparity_max")
"""Our own addition, in px; the dataset's own files do not have it."""
_SAME = 1e-3
"""Two focal lengths count as equal if they differ by less than this share."""

Calibration = dict[str, Any]


def read_calibration(path: Path) -> Calibration:
    """All values of the file by name.

    Raises:
        BadFile: It has no usable `proj_matL` or `baselineLR`.
    """
    values: Calibration = dict(io.read_opencv_calibration(path))
    _matrix(path, values, LEFT_MATRIX)
    if RIGHT_MATRIX in values:
        _matrix(path, values, RIGHT_MATRIX)
    baseline = values.get(BASELINE)
    if not isinstance(baseline, (int, float)) or not (0 < baseline < math.inf):
        raise BadFile(
            f"{path}: expected the positive baseline in millimetres as {BASELINE}, found "
            f"{baseline!r}; the file must belong to a calibrated pair."
        )
    return values


def read_rig(path: Path, left_px: tuple[int, int], right_px: tuple[int, int] | None) -> Rig:
    """The two rectified cameras, with the widths and heights of their pictures.

    A smaller right picture has a camera of its own size, whether the file's `proj_matR` refers to
    that size or to the size of the left picture.
    """
    values = read_calibration(path)
    baseline_m = float(values[BASELINE]) / 1000
    left = _camera(values[LEFT_MATRIX], left_px)
    cameras = {"left": left}
    offset_px = 0.0
    if RIGHT_MATRIX in values:
        right = _camera(values[RIGHT_MATRIX], left_px if right_px is None else right_px)
        pose = np.eye(4)
        pose[0, 3] = baseline_m
        offset_px = _offset(left, right)
        cameras["right"] = replace(_of_its_size(left, right), world_from_camera=pose)
    return Rig(cameras, baseline_m, offset_px)


def read_range(path: Path) -> tuple[float, float]:
    """The disparity range in the file; see `has_range`."""
    values = read_calibration(path)
    return float(values[RANGE[0]]), float(values[RANGE[1]])


def has_range(path: Path) -> bool:
    """Whether a file contains a disparity range; False if the file cannot be read."""
    try:
        values = io.read_opencv_calibration(path)
    except BadFile:
        return False
    found = [values.get(name) for name in RANGE]
    return all(isinstance(value, (int, float)) for value in found)


def calibration_of(rig: Rig, disparity_range: tuple[float, float] | None) -> Calibration:
    """The values that a file contains for a rectified pair.

    Raises:
        DoesNotFit: The rig has no left camera or baseline, or its cameras are not rectified.
    """
    if "left" not in rig.cameras or not 0 < rig.baseline_m < math.inf:
        raise DoesNotFit(
            "a Booster calibration needs a left camera and a positive baseline, found cameras "
            f"{', '.join(rig.cameras) or 'none'} and a baseline of {rig.baseline_m} m."
        )
    baseline_mm = _millimetres(rig.baseline_m)
    values: Calibration = {LEFT_MATRIX: _projection(rig.cameras["left"], 0.0)}
    if "right" in rig.cameras:
        values[RIGHT_MATRIX] = _projection(rig.cameras["right"], baseline_mm)
    values[BASELINE] = baseline_mm
    if disparity_range is not None:
        values |= dict(zip(RANGE, map(float, disparity_range), strict=True))
    return values


def _matrix(path: Path, values: Mapping[str, Any], name: str) -> None:
    found = values.get(name)
    shape = getattr(found, "shape", None)
    if shape not in ((3, 3), (3, 4)) or not np.isfinite(found).all():  # type: ignore[arg-type]  # has a shape
        what = f"a matrix of {shape}" if shape else repr(found)
        raise BadFile(f"{path}: expected {name} as a finite 3x4 matrix, found {what}.")
    if not (found[0, 0] > 0 and found[1, 1] > 0):  # type: ignore[index]  # is an array here
        raise BadFile(f"{path}: {name} has a focal length that is not positive.")


def _camera(matrix: NDArray[Any], size_px: tuple[int, int]) -> Camera:
    focal = (float(matrix[0, 0]), float(matrix[1, 1]))
    return Camera(focal, (float(matrix[0, 2]), float(matrix[1, 2])), size_px)


def _offset(left: Camera, right: Camera) -> float:
    """The right principal point's x minus the left one's, in px of the left picture."""
    # A pair is rectified at a common size, at which its focal lengths agree.
    scale = left.focal_px[0] / right.focal_px[0]
    if scale == 1:
        return right.centre_px[0] - left.centre_px[0]
    return (right.centre_px[0] + 0.5) * scale - 0.5 - left.centre_px[0]


def _of_its_size(left: Camera, right: Camera) -> Camera:
    """The right camera in pixels of its own picture."""
    ratio = right.size_px[0] / left.size_px[0]
    at_lefts_size = abs(right.focal_px[0] / left.focal_px[0] - 1) < _SAME
    if not at_lefts_size or ratio == 1:
        return right
    scales = (ratio, right.size_px[1] / left.size_px[1])
    fx, fy = (f * s for f, s in zip(right.focal_px, scales, strict=True))
    cx, cy = ((c + 0.5) * s - 0.5 for c, s in zip(right.centre_px, scales, strict=True))
    return replace(right, focal_px=(fx, fy), centre_px=(cx, cy))


def _projection(camera: Camera, baseline_mm: float) -> NDArray[np.float64]:
    if any(camera.distortion):
        raise DoesNotFit("Booster's cameras are rectified; this one has lens distortion.")
    matrix = np.zeros((3, 4))
    matrix[:, :3] = camera.matrix()
    # As in OpenCV's rectification; minus zero would be a different number in the file.
    matrix[0, 3] = -camera.focal_px[0] * baseline_mm if baseline_mm else 0.0
    return matrix


def _millimetres(baseline_m: float) -> float:
    """A number that gives exactly the baseline when divided by 1000, if there is one."""
    near = baseline_m * 1000
    for candidate in (near, math.nextafter(near, math.inf), math.nextafter(near, 0.0)):
        if candidate / 1000 == baseline_m:
            return candidate
    return near
