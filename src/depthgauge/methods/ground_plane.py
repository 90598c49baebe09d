"""A room seen from inside: depth without looking at the picture."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from depthgauge.geometry.disparity import disparity_from_depth
from depthgauge.methods._images import image_size
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Inputs, Map, Rig


class GroundPlaneOptions(MethodOptions):
    """Options of `ground-plane`: a room, and the position of the camera in it.

    If a benchmark fits scale and shift, only proportions matter: a table seen from 40 cm above is
    equivalent to a floor seen from 1.2 m.
    """

    height_m: float = Field(default=1.2, gt=0)
    """Height of the camera above the floor or table."""
    pitch_deg: float = Field(default=25, gt=-90, lt=90)
    """How far the camera is tilted down from the horizontal; negative: up."""
    wall_m: float = Field(default=3.5, gt=0)
    """Distance along the floor to the wall ahead; nothing is farther."""
    half_width_m: float = Field(default=2.5, gt=0)
    """Distance to the walls on both sides, which make the middle of a picture the farthest."""
    ceiling_m: float = Field(default=1.5, gt=0)
    """Height of the ceiling above the camera."""
    field_of_view_deg: float = Field(default=60, gt=0, lt=180)
    """Field of view across the picture's width, if the sample has no camera."""
    relative: bool = False
    """For disparity: return the inverse depth in 1/m even if it could be in px; for benchmarks that
    fit a scale."""


SPEC = MethodSpec(
    id="ground-plane",
    title="A room with a floor, seen from inside; blind to the picture",
    quantities=("depth", "disparity"),
    needs=("quantity",),
    options=GroundPlaneOptions,
)


def estimate(inputs: Inputs, options: GroundPlaneOptions) -> Map:
    """Depth in metres, or disparity, of the room; only the size of the picture is used.

    If the sample has a rig with a baseline, disparity is in px, limited to the sample's range. Else
    it is the inverse depth spread over that range, or, without a range, the inverse depth in 1/m.
    """
    height, width = image_size(inputs)
    camera = _camera(inputs, height, width, options)
    depth = room_depth(height, width, camera, options)
    if QUANTITIES[inputs["quantity"]].space == "depth":
        return depth
    return _disparity(depth, inputs, options)


def room_depth(height: int, width: int, camera: Camera, options: GroundPlaneOptions) -> Map:
    """Depth along the optical axis of the room's nearest surface.

    The room is rotated, not the camera: with pitch p, "down" is (0, cos p, sin p) and "ahead" is
    (0, -sin p, cos p) in the camera's axes. A ray (x, y, 1) meets the plane at distance a in the
    direction n at the depth a / (n . ray).
    """
    pitch = math.radians(options.pitch_deg)
    x = (np.arange(width) - camera.centre_px[0]) / camera.focal_px[0]
    y = (np.arange(height) - camera.centre_px[1]) / camera.focal_px[1]
    down = math.cos(pitch) * y + math.sin(pitch)
    ahead = math.cos(pitch) - math.sin(pitch) * y
    by_row = np.maximum.reduce(
        [down / options.height_m, -down / options.ceiling_m, ahead / options.wall_m]
    )
    by_column = np.abs(x) / options.half_width_m
    # The nearest plane has the largest inverse depth, which is never 0: a room is closed.
    inverse = np.maximum(by_row[:, None], by_column[None, :])
    depth: Map = (1.0 / inverse).astype(np.float32)
    return depth


def _camera(inputs: Inputs, height: int, width: int, options: GroundPlaneOptions) -> Camera:
    """The sample's own camera at the picture's size; else one centred on the picture."""
    known = _rig_camera(inputs)
    if known is None:
        focal = width / 2 / math.tan(math.radians(options.field_of_view_deg) / 2)
        centre = ((width - 1) / 2, (height - 1) / 2)
        return Camera((focal, focal), centre, (width, height))
    return known


def _rig_camera(inputs: Inputs) -> Camera | None:
    rig = inputs.get("rig")
    return rig.cameras.get("left") if isinstance(rig, Rig) else None


def _disparity(depth: Map, inputs: Inputs, options: GroundPlaneOptions) -> Map:
    camera, inverse = _rig_camera(inputs), np.reciprocal(depth)
    if options.relative:
        return inverse
    if camera is not None and math.isfinite(inputs["rig"].baseline_m):
        rig = inputs["rig"]
        focal, offset = camera.focal_px[0], rig.principal_offset_px
        return _within_range(disparity_from_depth(depth, focal, rig.baseline_m, offset), inputs)
    return _spread(inverse, inputs)


def _within_range(disparity: Map, inputs: Inputs) -> Map:
    """Clips disparities to the sample's range."""
    if "disparity_range" not in inputs:
        return disparity
    low, high = (np.float32(end) for end in inputs["disparity_range"])
    return np.clip(disparity, low, high)


def _spread(inverse: Map, inputs: Inputs) -> Map:
    """Spreads values over the sample's range, if it has one."""
    if "disparity_range" not in inputs:
        return inverse
    low, high = (np.float32(end) for end in inputs["disparity_range"])
    span = np.ptp(inverse)
    share = (inverse - inverse.min()) / span if span > 0 else np.zeros_like(inverse)
    return np.asarray(low + (high - low) * share, np.float32)
