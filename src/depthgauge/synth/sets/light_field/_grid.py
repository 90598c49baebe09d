"""A grid of cameras in front of a scene, all focused on one plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

from depthgauge.errors import Misuse
from depthgauge.io import LightFieldParameters
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.render.closed_form.rays import View
from depthgauge.synth.scene.frame import Array, Frame, turned
from depthgauge.synth.scene.model import ShapeScene

SENSOR_MM = 35.0
_RANGE_WIDTHS = 1.8 / 512
"""Default disparity of the nearest point, in widths of the image."""
_PROBE_PX = 256
"""Rays along a side that find the nearest and the farthest point, the same at every size."""
_DIGITS = 3
"""Digits of the chosen values, so that parameters.cfg holds round numbers."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cameras side by side and above each other, with parallel axes and shifted sensors."""

    scene: ShapeScene
    parameters: LightFieldParameters

    @property
    def offset_px(self) -> float:
        """How far the sensor of a view is shifted against that of its neighbour."""
        return self.parameters.rig.principal_offset_px

    @property
    def centre(self) -> View:
        """The centre camera, whose truth is computed."""
        return View(_frame(self.scene), self.parameters.focal_px, self.parameters.size_px)

    def view(self, row: int, column: int) -> View:
        """The camera of a row, counted from the top, and a column, from the left."""
        rows, columns = self.parameters.grid
        right, down = column - columns // 2, row - rows // 2
        centre, step_m = self.centre, self.parameters.rig.baseline_m
        frame = _moved(centre.frame, right * step_m, down * step_m)
        shift_px = (right * self.offset_px, down * self.offset_px)
        return View(frame, centre.focal_px, centre.size_px, shift_px)

    def finer(self, scale: int) -> View:
        """The centre camera with pixels `scale` times as small on the same sensor."""
        centre = self.centre
        width, height = centre.size_px
        return View(centre.frame, scale * centre.focal_px, (scale * width, scale * height))

    def disparity(self, depth_m: Array) -> Array:
        """Disparities of points at depths, in px of the views per step."""
        rig = self.parameters.rig
        return self.parameters.focal_px * rig.baseline_m / depth_m - rig.principal_offset_px


def grid(
    scene: ShapeScene,
    size_px: int,
    views: int,
    *,
    baseline_m: float | None = None,
    focus_m: float | None = None,
    range_px: float | None = None,
) -> Grid:
    """A grid of views x views cameras around the middle of the scene's pair.

    Missing values are chosen so that the disparities of the centre view's nearest and farthest
    point are equally far from 0; the baseline then does not depend on the image's size.

    Args:
        scene: What is seen.
        size_px: Width and height of every view.
        views: Number of views along a side of the grid.
        baseline_m: Distance of neighbouring cameras.
        focus_m: Distance of the plane whose points are at the same pixel in every view.
        range_px: The largest disparity, in front of the focus plane or behind it; determines the
            baseline.

    Raises:
        Misuse: Both a baseline and a range are given, or a camera would be inside the scene.
    """
    if baseline_m is not None and range_px is not None:
        raise Misuse("the range of disparities follows from the baseline; give one of the two.")
    nearest_m, farthest_m = _depths(scene)
    if focus_m is None:
        focus_m = _rounded(2 / (1 / nearest_m + 1 / farthest_m))
    if baseline_m is None:
        widths = _RANGE_WIDTHS if range_px is None else range_px / size_px
        off_focus = max(abs(1 / z - 1 / focus_m) for z in (nearest_m, farthest_m))
        baseline_m = _rounded(widths / (scene.focal_widths * off_focus))
    reach_m = views // 2 * baseline_m
    # Half of the field of view is half a focal length wide; nearer, a camera could pass a wall.
    if reach_m > nearest_m / 2:
        raise Misuse(
            f"{views} views per side, {1000 * baseline_m:g} mm apart, reach {reach_m:.2f} m to "
            f"each side; the nearest point of the scene is {nearest_m:.2f} m away and the cameras "
            "may reach half as far. Use a smaller baseline or range, or fewer views."
        )
    return Grid(scene, _parameters(scene, size_px, views, baseline_m, focus_m))


def _parameters(
    scene: ShapeScene, size_px: int, views: int, baseline_m: float, focus_m: float
) -> LightFieldParameters:
    """In Blender's convention: the floor is z = 0, and a camera without rotation looks down."""
    return LightFieldParameters(
        focal_length_mm=scene.focal_widths * SENSOR_MM,
        image_resolution_x_px=size_px,
        image_resolution_y_px=size_px,
        sensor_size_mm=SENSOR_MM,
        num_cams_x=views,
        num_cams_y=views,
        # Millionths of a millimetre are rounding: 0.0166 m are 16.6 mm, not 16.599999999999998.
        baseline_mm=round(1000 * baseline_m, 6),
        focus_distance_m=focus_m,
        center_cam_z_m=scene.eye_m,
        center_cam_rx_rad=math.radians(90 - scene.down_deg),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _depths(scene: ShapeScene) -> tuple[float, float]:
    """Depths of the nearest and the farthest point that the centre camera sees."""
    probe = View(_frame(scene), scene.focal_widths * _PROBE_PX, (_PROBE_PX, _PROBE_PX))
    depth_m = pictures.centre_hits(scene, probe).depth_m
    return float(depth_m.min()), float(depth_m.max())


def _frame(scene: ShapeScene) -> Frame:
    """The frame of the centre camera, in the middle between the two of the stereo pair."""
    return turned((0.0, -scene.eye_m, 0.0), pitch_deg=-scene.down_deg)


def _moved(frame: Frame, right_m: float, down_m: float) -> Frame:
    """The frame, moved but not turned."""
    right, down, _ = frame.axes
    x, y, z = (
        c + right_m * a + down_m * b for c, a, b in zip(frame.centre, right, down, strict=True)
    )
    return Frame((x, y, z), frame.axes)
