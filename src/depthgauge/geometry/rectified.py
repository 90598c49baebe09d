"""Rectified views and pairs: from raw pixels of a real lens to pixels of an ideal camera and back.

A pair is rectified when matching points lie on the same row *after both images are resized to the
same size*. A balanced pair already has one size. In an unbalanced pair the views have different
sizes, and the second is scaled to the size of the first (areas aligned, as in `cv2.resize`:
u' = (u + 0.5) s - 0.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData
from depthgauge.geometry.camera_json import camera_from_json, camera_to_json
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.projection import project, slopes_at
from depthgauge.types import Camera, Mask, Rig

Pixels = NDArray[np.float64]
"""(..., 2) positions x, y in an image; NaN where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class RectifiedView:
    """One camera of a rectified pair."""

    raw: Camera
    """As calibrated, with its lens distortion."""
    rotation: NDArray[np.float64]
    """3x3, from the raw camera's axes to the rectified ones."""
    camera: Camera
    """The ideal camera of the rectified image, without distortion and with its own image size."""

    def from_raw(self, pixels: NDArray[np.generic]) -> Pixels:
        """Where positions of the raw image lie in the rectified one."""
        slopes = slopes_at(pixels, self.raw)
        return _seen(slopes, self.rotation, self.camera)

    def to_raw(self, pixels: NDArray[np.generic]) -> Pixels:
        """Where positions of the rectified image lie in the raw one."""
        slopes = slopes_at(pixels, self.camera)
        return _seen(slopes, self.rotation.T, self.raw)

    def grid(self, rows: slice = slice(None)) -> Pixels:
        """(rows, width, 2) positions of every rectified pixel of these rows."""
        width, height = self.camera.size_px
        ys = np.arange(height, dtype=np.float64)[rows]
        return np.stack(np.broadcast_arrays(np.arange(width, dtype=np.float64), ys[:, None]), -1)

    def raw_grid(self, rows: slice = slice(None)) -> tuple[NDArray[np.float32], ...]:
        """The raw x and y of every rectified pixel of these rows, for `cv2.remap`."""
        raw = self.to_raw(self.grid(rows))
        return raw[..., 0].astype(np.float32), raw[..., 1].astype(np.float32)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        return {
            "raw": camera_to_json(self.raw),
            "rotation": self.rotation.tolist(),
            "camera": camera_to_json(self.camera),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RectifiedView:
        """The view that `to_json` wrote."""
        rotation = np.asarray(data["rotation"], np.float64)
        return cls(camera_from_json(data["raw"]), rotation, camera_from_json(data["camera"]))


@dataclass(frozen=True, slots=True, eq=False)
class RectifiedPair:
    """Two rectified views; disparities are in px of the left one."""

    left: RectifiedView
    right: RectifiedView
    baseline_m: float

    @property
    def right_scale(self) -> float:
        """The factor that enlarges the right image to the width of the left one."""
        return self.left.camera.size_px[0] / self.right.camera.size_px[0]

    def right_camera(self) -> Camera:
        """The right camera after its image is resized to the size of the left one."""
        return scale_camera(self.right.camera, *self.left.camera.size_px)

    def rig(self) -> Rig:
        """Both ideal cameras; the offset of the principal points is in px of the left image."""
        offset = self.right_camera().centre_px[0] - self.left.camera.centre_px[0]
        cameras = {"left": self.left.camera, "right": self.right.camera}
        return Rig(cameras, self.baseline_m, offset)

    def to_left_size(self, right_px: NDArray[np.generic]) -> Pixels:
        """Positions in the right image after it is resized to the size of the left one."""
        (lw, lh), (rw, rh) = self.left.camera.size_px, self.right.camera.size_px
        ratio = np.array([lw / rw, lh / rh])
        return np.asarray((np.asarray(right_px, np.float64) + 0.5) * ratio - 0.5)

    def from_left_size(self, scaled_px: NDArray[np.generic]) -> Pixels:
        """Positions in the original right image, from those that `to_left_size` gives."""
        (lw, lh), (rw, rh) = self.left.camera.size_px, self.right.camera.size_px
        ratio = np.array([rw / lw, rh / lh])
        return np.asarray((np.asarray(scaled_px, np.float64) + 0.5) * ratio - 0.5)

    def disparity(
        self, left_px: NDArray[np.generic], right_px: NDArray[np.generic]
    ) -> NDArray[np.float64]:
        """Disparities of matching positions of the two rectified images."""
        left = np.asarray(left_px, np.float64)
        return np.asarray(left[..., 0] - self.to_left_size(right_px)[..., 0])

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        views = {"left": self.left.to_json(), "right": self.right.to_json()}
        return {"schema": 1, **views, "baseline_m": self.baseline_m}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RectifiedPair:
        """The pair that `to_json` wrote.

        Raises:
            BadData: Something is missing or has the wrong type.
        """
        try:
            left, right = (RectifiedView.from_json(data[side]) for side in ("left", "right"))
            return cls(left, right, float(data["baseline_m"]))
        except (KeyError, TypeError, ValueError) as error:
            raise BadData(f"not a rectified pair: {error!r}; run `capture rectify`") from error


def inside_image(
    x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]], size_px: tuple[int, int]
) -> Mask:
    """Which positions lie inside an image; pixels are squares around their centres, NaN is outside.

    Args:
        x: Columns.
        y: Rows.
        size_px: Width and height.

    >>> inside_image(np.array([-0.6, -0.5, 3.5, np.nan]), np.zeros(4), (4, 2))
    array([False,  True,  True, False])
    """
    width, height = size_px
    return (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)


def _seen(slopes: Pixels, rotation: NDArray[np.float64], camera: Camera) -> Pixels:
    """Positions in the camera of rays with these slopes after a rotation."""
    directions = np.concatenate([slopes, np.ones((*slopes.shape[:-1], 1))], axis=-1)
    return np.asarray(project(directions @ rotation.T, camera), np.float64)
