"""A grid of parallel cameras with sensors shifted to a common focus plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.types import Camera, Rig

SENSOR_MM = 35.0
FULL_SIZE_PX = 512
"""Size of the benchmark's images, for which `Optics` is given."""


@dataclass(frozen=True, slots=True)
class Optics:
    """The cameras of a scene, as the 4D light-field benchmark gives them."""

    baseline_mm: float
    """Baseline between neighbouring views, for images of 512 px."""
    focus_m: float
    """Distance of the plane with disparity 0."""
    focal_mm: float = 100.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Cameras that take square images of a size.

    Smaller images have a longer baseline, so that disparities in pixels stay the same.
    """

    optics: Optics
    size_px: int

    @property
    def focal_px(self) -> float:
        """Focal length in pixels."""
        return self.optics.focal_mm / SENSOR_MM * self.size_px

    @property
    def baseline_mm(self) -> float:
        """Distance between neighbouring views."""
        return self.optics.baseline_mm * FULL_SIZE_PX / self.size_px

    @property
    def baseline_m(self) -> float:
        """Distance between neighbouring views."""
        return self.baseline_mm / 1000

    @property
    def offset_px(self) -> float:
        """How far neighbouring sensors are shifted: depth = f b / (d + offset)."""
        return self.focal_px * self.baseline_m / self.optics.focus_m

    def depth_m(self, disparity_px: float) -> float:
        """The depth of points with a disparity."""
        return self.focal_px * self.baseline_m / (disparity_px + self.offset_px)

    def disparity_px(self, depth_m: float) -> float:
        """The disparity of points at a depth."""
        return self.focal_px * self.baseline_m / depth_m - self.offset_px

    def pair_rig(self, steps: float, nearest_px: float) -> Rig:
        """The centre view and a view `steps` to the right, shifted to disparities from 0 on.

        Args:
            steps: Baselines between the two.
            nearest_px: The light field's disparity that gets the pair's disparity 0.
        """
        offset = steps * (self.offset_px + nearest_px)
        left = self._camera(0.0, 0.0)
        right = self._camera(steps * self.baseline_m, offset)
        return Rig({"left": left, "right": right}, steps * self.baseline_m, offset)

    def _camera(self, x_m: float, offset_px: float) -> Camera:
        middle = (self.size_px - 1) / 2
        pose = np.eye(4)
        pose[0, 3] = x_m
        size = (self.size_px, self.size_px)
        focal = (self.focal_px, self.focal_px)
        return Camera(focal, (middle + offset_px, middle), size, world_from_camera=pose)
