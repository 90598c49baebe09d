"""Cameras from focal lengths in pixels or millimetres, and cameras for other image sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry._maps import need_positive
from depthgauge.types import Camera


def focal_px(focal_mm: float, sensor_mm: float, size_px: float) -> float:
    """Focal length in pixels: focal_mm / sensor_mm * size_px.

    Args:
        focal_mm: Focal length.
        sensor_mm: Length of one side of the sensor.
        size_px: Number of pixels along that side.

    >>> focal_px(35.0, 36.0, 1920)
    1866.6666666666667
    """
    need_positive(focal_mm=focal_mm, sensor_mm=sensor_mm, size_px=size_px)
    return focal_mm / sensor_mm * size_px


def camera_from_pixels(
    focal_px: float | tuple[float, float],
    width_px: int,
    height_px: int,
    *,
    centre_px: tuple[float, float] | None = None,
    distortion: Sequence[float] = (),
    world_from_camera: NDArray[np.float64] | None = None,
) -> Camera:
    """A camera with its focal length in pixels.

    Args:
        focal_px: Along x and y, or one number for square pixels.
        width_px: Width of the image.
        height_px: Height of the image.
        centre_px: Principal point (x, y); by default the middle of the image, ((W-1)/2, (H-1)/2),
            since pixel centres are at integers.
        distortion: k1 k2 p1 p2 k3, OpenCV's order.
        world_from_camera: 4x4 pose; the identity by default.

    >>> camera_from_pixels(500.0, 641, 481).centre_px
    (320.0, 240.0)
    """
    along_x, along_y = focal_px if isinstance(focal_px, tuple) else (focal_px, focal_px)
    need_positive(focal_x_px=along_x, focal_y_px=along_y, width_px=width_px, height_px=height_px)
    pose = np.eye(4) if world_from_camera is None else np.asarray(world_from_camera, np.float64)
    if pose.shape != (4, 4):
        raise Misuse(f"world_from_camera must be 4x4, found {pose.shape}")
    return Camera(
        focal_px=(float(along_x), float(along_y)),
        centre_px=centre_px or ((width_px - 1) / 2, (height_px - 1) / 2),
        size_px=(width_px, height_px),
        distortion=tuple(float(k) for k in distortion),
        world_from_camera=pose,
    )


def camera_from_mm(
    focal_mm: float,
    sensor_width_mm: float,
    width_px: int,
    height_px: int,
    *,
    sensor_height_mm: float | None = None,
    centre_px: tuple[float, float] | None = None,
    distortion: Sequence[float] = (),
    world_from_camera: NDArray[np.float64] | None = None,
) -> Camera:
    """A camera with its focal length and sensor in millimetres.

    Pixels are square unless `sensor_height_mm` is given. The other arguments are those of
    `camera_from_pixels`.

    >>> camera_from_mm(100.0, 35.0, 512, 512).focal_px
    (1462.857142857143, 1462.857142857143)
    """
    along_x = focal_px(focal_mm, sensor_width_mm, width_px)
    along_y = along_x
    if sensor_height_mm is not None:
        along_y = focal_px(focal_mm, sensor_height_mm, height_px)
    return camera_from_pixels(
        (along_x, along_y),
        width_px,
        height_px,
        centre_px=centre_px,
        distortion=distortion,
        world_from_camera=world_from_camera,
    )


def scale_camera(camera: Camera, width_px: int, height_px: int) -> Camera:
    """The same camera for an image of another size.

    The image's outline stays where it is, half a pixel outside the first and last pixel centres:
    f' = s f and c' = (c + 0.5) s - 0.5, with s the ratio of the widths (of the heights for y).
    Distortion is relative to the focal length and does not change.

    >>> scale_camera(camera_from_pixels(500.0, 640, 480), 320, 240).centre_px
    (159.5, 119.5)
    """
    need_positive(width_px=width_px, height_px=height_px)
    ratios = (width_px / camera.size_px[0], height_px / camera.size_px[1])
    (fx, fy), (cx, cy) = camera.focal_px, camera.centre_px
    return replace(
        camera,
        focal_px=(fx * ratios[0], fy * ratios[1]),
        centre_px=((cx + 0.5) * ratios[0] - 0.5, (cy + 0.5) * ratios[1] - 0.5),
        size_px=(width_px, height_px),
    )
