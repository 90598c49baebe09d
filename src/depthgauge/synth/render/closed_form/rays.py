"""The cameras that see scenes of shapes, and what each ray meets first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from depthgauge.synth.render.closed_form.windows import EVERYWHERE, Positions, Window
from depthgauge.synth.scene.frame import Array, Frame, Vector, along, turned
from depthgauge.synth.scene.model import Body, ShapeScene
from depthgauge.synth.scene.shape import Shape, corners
from depthgauge.types import Camera, Rig


@dataclass(frozen=True, slots=True)
class View:
    """One camera of a pair or a grid."""

    frame: Frame
    focal_px: float
    size_px: tuple[int, int]
    shift_px: tuple[float, float] = (0.0, 0.0)
    """How far the principal point is from the middle of the image, right and down."""

    @property
    def centre_px(self) -> tuple[float, float]:
        """The principal point."""
        (width, height), (right, down) = self.size_px, self.shift_px
        return (width - 1) / 2 + right, (height - 1) / 2 + down

    def origin(self, kind: DTypeLike) -> Vector:
        """Where all rays begin."""
        x, y, z = (np.full(1, part, kind) for part in self.frame.centre)
        return x, y, z

    def directions(self, x_px: Array, y_px: Array) -> Vector:
        """Directions of rays in the world; their steps are depths along the optical axis."""
        slope_x, slope_y = self.slopes(x_px, y_px)
        return self.frame.direction_outside((slope_x, slope_y, np.ones_like(slope_x)))

    def slopes(self, x_px: Array, y_px: Array) -> tuple[Array, Array]:
        """Slopes x / z and y / z of the rays through image positions."""
        centre_x, centre_y = self.centre_px
        return (x_px - centre_x) / self.focal_px, (y_px - centre_y) / self.focal_px

    def camera(self) -> Camera:
        """The camera as methods receive it."""
        pose = np.eye(4)
        pose[:3, :3] = np.array(self.frame.axes).T
        pose[:3, 3] = self.frame.centre
        focal = (self.focal_px, self.focal_px)
        return Camera(focal, self.centre_px, self.size_px, world_from_camera=pose)


@dataclass(frozen=True, slots=True)
class Hits:
    """What rays meet first."""

    depth_m: Array
    """Along the optical axis; infinity where a ray meets nothing."""
    which: NDArray[Any]
    """Index of the thing, -1 for nothing."""


def views(scene: ShapeScene, size_px: tuple[int, int]) -> tuple[View, View]:
    """The left and the right camera of a scene."""
    focal_px = scene.focal_widths * size_px[0]
    half = scene.baseline_m / 2
    left, right = (
        View(turned((x, -scene.eye_m, 0.0), pitch_deg=-scene.down_deg), focal_px, size_px)
        for x in (-half, half)
    )
    return left, right


def rig(scene: ShapeScene, size_px: tuple[int, int]) -> Rig:
    """Both cameras as methods receive them."""
    left, right = views(scene, size_px)
    return Rig({"left": left.camera(), "right": right.camera()}, scene.baseline_m)


def cast(things: Sequence[Body], view: View, x_px: Array, y_px: Array) -> Hits:
    """What the rays through image positions meet first."""
    flat = x_px.ravel(), y_px.ravel()
    slopes = Positions(*view.slopes(*flat))
    direction, origin = view.directions(*flat), view.origin(x_px.dtype)
    depth = np.full(x_px.size, np.inf, x_px.dtype)
    which = np.full(x_px.size, -1, np.int16)
    for index, thing in enumerate(things):
        rays = slopes.within(_window(thing.shape, view))
        if rays is not None:
            step = enter(thing.shape, origin, pick(direction, rays))
            before = depth[rays]
            which[rays] = np.where(step < before, index, which[rays])
            depth[rays] = np.minimum(step, before)
    return Hits(depth.reshape(x_px.shape), which.reshape(x_px.shape))


def points(view: View, x_px: Array, y_px: Array, depth_m: Array) -> Vector:
    """The points of the world at depths along the rays through image positions."""
    return along(view.origin(x_px.dtype), view.directions(x_px, y_px), depth_m)


def enter(shape: Shape, origin: Vector, direction: Vector) -> Array:
    """`shape.enter` without warnings for rays that miss or run along a face."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return shape.enter(origin, direction)


def pick(vector: Vector, indices: NDArray[np.intp] | slice) -> Vector:
    """Some of the elements."""
    x, y, z = (part[indices] for part in vector)
    return x, y, z


@lru_cache(maxsize=256)
def _window(shape: Shape, view: View) -> Window:
    """The slopes of rays that can meet a shape."""
    if not math.isfinite(max(shape.extent_m)):
        return EVERYWHERE
    seen = []
    for corner in corners(shape):
        x, y, z = (
            sum((c - o) * a for c, o, a in zip(corner, view.frame.centre, axis, strict=True))
            for axis in view.frame.axes
        )
        if z <= 0:
            return EVERYWHERE
        seen.append((x / z, y / z))
    return Window.around(seen)
