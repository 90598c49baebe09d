"""The exact truth of a simulated session in the frames of its *estimated* rectification.

A pixel of a rectified image is mapped to the raw image by the estimated cameras, from there along
the ray of the true camera to the surface, into the other true camera's raw image, and through the
estimated rectification to its place in the other rectified image. So disparities are those between
pixels that really show the same point, and an error of the calibration appears as a row error and
as an error of the metric depth, not as an error of the matching.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.projection import project, slopes_at, to_camera
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import SimulatedTruth
from depthgauge.types import Camera, Map, Mask

Side = Literal["left", "right"]
Points = NDArray[np.float64]

_RAYS = 1 << 19
"""Rays that are traced at a time, in whole rows; limits the memory at any image size."""
_NOTHING = -1


@dataclass(frozen=True, slots=True)
class ExactTruth:
    """What a rectified view really shows; all maps have its size."""

    disparity: Map
    """In px of the pair's left image, positive; NaN where no ray reaches a surface."""
    depth_m: Map
    """Along the axis of this rectified view."""
    row_error_px: Map
    """How much lower the match is in the other image (resized to the same size) than it should
    be."""
    visible: Mask
    """Whether the other camera sees the point: inside its image, and nothing in front."""
    lit: Mask
    """Whether at least one projector reaches the point, at any angle."""
    materials: NDArray[np.int32]
    """Class 0..3; -1 where there is no surface."""
    surfaces: NDArray[np.int32]
    """0 neither, 1 transparent, 2 mirror; -1 where there is no surface."""
    objects: NDArray[np.int32]
    """Number of the object; -1 where there is none."""
    triangles: NDArray[np.int32]
    """Number of the mesh's triangle; -1 where there is none."""


def exact_truth(
    truth: SimulatedTruth,
    pair: RectifiedPair,
    cameras: str = "LR",
    side: Side = "left",
    *,
    scene: RayScene | None = None,
    progress: Progress | None = None,
) -> ExactTruth:
    """Traces a ray for every pixel of a rectified view.

    Args:
        truth: The truth of the simulated session.
        pair: The pair as estimated by `capture rectify`.
        cameras: The true cameras of the pair, `LR` or `LC`.
        side: The view whose truth is wanted.
        scene: `RayScene(truth.vertices, truth.triangles)` if it exists already.
        progress: Called with the number of finished rows.

    Raises:
        BadData: The truth lacks a camera.
    """
    if side not in ("left", "right"):
        raise Misuse(f"side must be 'left' or 'right', found {side!r}")
    left, right = (_camera(truth.cameras, name) for name in cameras)
    views = ((pair.left, left), (pair.right, right))
    here, there = views if side == "left" else views[::-1]
    walk = _Walk(truth, scene or RayScene(truth.vertices, truth.triangles), pair, here, there, side)
    width, height = here[0].camera.size_px
    out = _blank(height, width)
    step = max(1, _RAYS // width)
    for start in range(0, height, step):
        rows = np.arange(start, min(start + step, height))
        for name, values in walk.rows(rows, width):
            getattr(out, name)[rows] = values.reshape(len(rows), width)
        if progress is not None:
            progress("rays", int(rows[-1]) + 1, height)
    return out


def scaled_pair(pair: RectifiedPair, width_px: int, height_px: int) -> RectifiedPair:
    """The pair whose left image was resized; the right one is resized by the same ratios."""
    (width, height), (right_width, right_height) = (
        view.camera.size_px for view in (pair.left, pair.right)
    )
    right = (round(right_width * width_px / width), round(right_height * height_px / height))
    return RectifiedPair(
        replace(pair.left, camera=scale_camera(pair.left.camera, width_px, height_px)),
        replace(pair.right, camera=scale_camera(pair.right.camera, *right)),
        pair.baseline_m,
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    """Everything that rays from one view need."""

    truth: SimulatedTruth
    scene: RayScene
    pair: RectifiedPair
    here: tuple[RectifiedView, Camera]
    there: tuple[RectifiedView, Camera]
    side: Side

    def rows(self, rows: NDArray[np.intp], width: int) -> Iterator[tuple[str, NDArray[Any]]]:
        """The fields of `ExactTruth` of these rows, flat."""
        x, y = np.meshgrid(np.arange(width, dtype=np.float64), rows.astype(np.float64))
        place = np.stack([x.ravel(), y.ravel()], axis=-1)
        (view, camera), (other_view, other) = self.here, self.there
        raw = view.to_raw(place)
        raw[~_inside(raw, view.raw)] = np.nan
        points, triangle = self._hit(raw, camera)
        seen = project(to_camera(points, other), other)
        match = other_view.from_raw(seen)
        # The rectified axes are the camera's own axes, rotated as the calibration says.
        yield "depth_m", (to_camera(points, camera) @ view.rotation.T)[:, 2]
        yield from self._pair_values(place, match)
        normals = self._normals(points, triangle)
        yield "visible", self._visible(points, normals, seen, match)
        yield "lit", self._lit(points, normals)
        yield "triangles", triangle
        for name in ("materials", "surfaces", "objects"):
            labels = getattr(self.truth, name)[np.maximum(triangle, 0)]
            yield name, np.where(triangle >= 0, labels, _NOTHING)

    def _hit(self, raw: Points, camera: Camera) -> tuple[Points, NDArray[np.int32]]:
        slopes = slopes_at(raw, camera)
        ways = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
        ways = ways @ camera.world_from_camera[:3, :3].T
        hits = self.scene.cast(_centre(camera), ways)
        return _centre(camera) + ways * hits.distance[:, None], hits.triangle

    def _pair_values(self, place: Points, match: Points) -> Iterator[tuple[str, Points]]:
        left, right = (place, match) if self.side == "left" else (match, place)
        yield "disparity", self.pair.disparity(left, right)
        lower = self.pair.to_left_size(right)[:, 1] - left[:, 1]
        yield "row_error_px", lower if self.side == "left" else -lower

    def _normals(self, points: Points, triangle: NDArray[np.int32]) -> Points:
        """Normals on the side of the camera that sees the point; NaN for no surface."""
        normals = self.scene.normals()[np.maximum(triangle, 0)]
        towards = np.einsum("ij,ij->i", normals, _centre(self.here[1]) - points)
        return np.asarray(normals * np.sign(towards)[:, None])

    def _visible(self, points: Points, normals: Points, seen: Points, match: Points) -> Mask:
        view, other = self.there
        free = _inside(seen, other) & _inside(match, view.camera)
        free[free] = _cosine(points[free], normals[free], other) > 0
        free[free] = self.scene.sees(_centre(other), points[free])
        return free

    def _lit(self, points: Points, normals: Points) -> Mask:
        lit = np.zeros(len(points), bool)
        known = np.isfinite(points[:, 0])
        for projector in self.truth.projectors.values():
            # Only points that no other projector has reached; the first one reaches most.
            open_ = np.nonzero(known & ~lit)[0]
            facing = _cosine(points[open_], normals[open_], projector) > 0
            open_ = open_[facing]
            place = project(to_camera(points[open_], projector), projector)
            open_ = open_[_inside(place, projector)]
            lit[open_] = self.scene.sees(_centre(projector), points[open_])
        return lit


def _cosine(points: Points, normals: Points, device: Camera) -> Points:
    """The cosine between normals and directions to a device; negative behind the surface."""
    ways = _centre(device) - points
    length = np.sqrt(np.einsum("ij,ij->i", ways, ways))
    return np.asarray(np.einsum("ij,ij->i", normals, ways) / length)


def _camera(cameras: Mapping[str, Camera], name: str) -> Camera:
    if name not in cameras:
        raise BadData(
            f"the session's truth has no camera {name}, only {', '.join(sorted(cameras))}; "
            "make the session again."
        )
    return cameras[name]


def _centre(camera: Camera) -> Points:
    return np.asarray(camera.world_from_camera[:3, 3], np.float64)


def _inside(place: Points, camera: Camera) -> Mask:
    """Pixels are squares around their centres; NaN is outside."""
    width, height = camera.size_px
    x, y = place[:, 0], place[:, 1]
    return (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)


def _blank(height: int, width: int) -> ExactTruth:
    kinds = {"Map": (np.nan, np.float32), "Mask": (False, np.bool_)}
    made: dict[str, NDArray[Any]] = {
        field.name: np.full((height, width), *kinds.get(str(field.type), (_NOTHING, np.int32)))
        for field in fields(ExactTruth)
    }
    return ExactTruth(**made)
