"""Ideal cameras for two real ones: the balanced pair, and the unbalanced one.

Both have no empty borders and equal principal points (disparity 0 is infinity). For the unbalanced
pair, the wider camera is cropped and resized on paper to the field of view, shape and size of the
narrower one. The two cameras, now equal, are rectified, and the wider one is then scaled back to
its own resolution.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.calibration import Pose, horizontal_field_deg
from depthgauge.errors import BadData
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.types import Camera

Rotation = NDArray[np.float64]


def balanced_pair(left: Camera, right: Camera, pose: Pose) -> RectifiedPair:
    """Two cameras of the same size, rectified at that size.

    Raises:
        BadData: The images have different sizes, or the cameras do not look in the same direction.
    """
    if left.size_px != right.size_px:
        raise BadData(
            f"the left images are {_size(left)} but the right ones are {_size(right)}; a balanced "
            "pair needs equal sizes, others are rectified as an unbalanced pair"
        )
    views = _rectified(left, right, pose)
    return _full_pair(left, right, views, pose)


def unbalanced_pair(left: Camera, right: Camera, pose: Pose) -> RectifiedPair:
    """Two cameras of any sizes and fields of view; each keeps about its own resolution.

    Rows agree after the right image is resized to the left one's size.

    Raises:
        BadData: The cameras do not look in the same direction.
    """
    if horizontal_field_deg(right) < horizontal_field_deg(left):
        size_px = _cropped_size(left, like=right)
        left_view, right_view = _rectified(_like_narrow(left, right, size_px), right, pose)
        views = scale_camera(left_view[1], *size_px), right_view[1]
    else:
        size_px = _cropped_size(right, like=left)
        left_view, right_view = _rectified(left, _like_narrow(right, left, size_px), pose)
        views = left_view[1], scale_camera(right_view[1], *size_px)
    return _full_pair(left, right, ((left_view[0], views[0]), (right_view[0], views[1])), pose)


def _cropped_size(wide: Camera, *, like: Camera) -> tuple[int, int]:
    """The size in whole pixels of the part of the wide image that the narrow camera also shows."""
    width = like.size_px[0] / like.focal_px[0] * wide.focal_px[0]
    height = like.size_px[1] / like.size_px[0] * width
    return max(1, round(width)), max(1, round(height))


def _like_narrow(wide: Camera, narrow: Camera, size_px: tuple[int, int]) -> Camera:
    """The wide camera after a central crop to `size_px`, resized to the narrow one's size.

    The paper's matrix counts pixels from their corners, (u0 - (W - W') / 2) s. Ours are counted
    from their centres: the crop's corner is half a pixel before its first centre, and resizing
    keeps corners, so the principal point is (u0 + 0.5 - (W - W') / 2) s - 0.5; `scale_camera` does
    this.
    """
    (cx, cy), (width, height) = wide.centre_px, wide.size_px
    centre = (cx - (width - size_px[0]) / 2, cy - (height - size_px[1]) / 2)
    return scale_camera(replace(wide, centre_px=centre, size_px=size_px), *narrow.size_px)


_View = tuple[Rotation, Camera]


def _rectified(left: Camera, right: Camera, pose: Pose) -> tuple[_View, _View]:
    """Rotation and ideal camera of each of two cameras with the same size."""
    import cv2

    found = cv2.stereoRectify(
        left.matrix(),
        _lens(left),
        right.matrix(),
        _lens(right),
        left.size_px,
        pose.rotation,
        pose.translation_m.reshape(3, 1),
        flags=cv2.CALIB_ZERO_DISPARITY,
        alpha=0,
    )
    left_turn, right_turn, left_matrix, right_matrix = (np.asarray(m, float) for m in found[:4])
    # A vertical pair is rectified to columns; both shifts would be in the other row.
    if not np.isfinite(right_matrix).all() or not right_matrix[0, 3] < 0:
        raise BadData(
            "the two cameras cannot be rectified: the second must stand to the right of the first "
            f"and look the same way, but it is at {np.round(pose.place_m, 4).tolist()} m"
        )
    ideal = tuple(_ideal(m, left.size_px) for m in (left_matrix, right_matrix))
    return (left_turn, ideal[0]), (right_turn, ideal[1])


def _ideal(matrix: NDArray[np.float64], size_px: tuple[int, int]) -> Camera:
    focal = (float(matrix[0, 0]), float(matrix[1, 1]))
    return Camera(focal, (float(matrix[0, 2]), float(matrix[1, 2])), size_px)


def _full_pair(
    left: Camera, right: Camera, views: tuple[_View, _View], pose: Pose
) -> RectifiedPair:
    """The pair, enlarged just enough that no border is empty."""

    def pair(zoom: float) -> tuple[RectifiedView, RectifiedView]:
        return _placed(left, *views[0], zoom), _placed(right, *views[1], zoom)

    enough = 1.0
    while not all(_is_full(view) for view in pair(enough)):
        # OpenCV checks only a few points of the border and does not know the crop.
        enough *= 1.0005 if enough < 1.05 else 1.01
        if enough > 20:
            raise BadData(
                "the two cannot be rectified without empty borders: the cameras have too little in "
                "common, or the calibration is wrong; check the picture of that step"
            )
    return RectifiedPair(*pair(enough), baseline_m=pose.baseline_m)


def _placed(raw: Camera, rotation: Rotation, ideal: Camera, zoom: float) -> RectifiedView:
    focal = (ideal.focal_px[0] * zoom, ideal.focal_px[1] * zoom)
    raw_from_ideal = np.eye(4)
    raw_from_ideal[:3, :3] = rotation.T
    world = raw.world_from_camera @ raw_from_ideal
    return RectifiedView(raw, rotation, replace(ideal, focal_px=focal, world_from_camera=world))


def _is_full(view: RectifiedView) -> bool:
    """Whether the raw camera sees all of the rectified image's border (hence of its inside)."""
    (width, height), raw_size = view.camera.size_px, np.array(view.raw.size_px)
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
    lines = [np.stack([x, np.full(width, edge)], -1) for edge in (0.0, height - 1.0)]
    lines += [np.stack([np.full(height, edge), y], -1) for edge in (0.0, width - 1.0)]
    raw = view.to_raw(np.concatenate(lines))
    return bool(((raw >= -0.5) & (raw <= raw_size - 0.5)).all())


def _lens(camera: Camera) -> NDArray[np.float64]:
    return np.array([*camera.distortion, *(0.0,) * 5][:5])


def _size(camera: Camera) -> str:
    return "x".join(str(n) for n in camera.size_px)
