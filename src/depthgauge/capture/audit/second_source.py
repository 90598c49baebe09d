"""Labels against a second depth source, such as a lidar, through its known pose (section III-G)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.audit.planes import fit_plane
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.camera_json import camera_from_json
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.projection import (
    backproject,
    inverse_pose,
    project,
    ray_slopes,
    transform,
)
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.io.text import parse_json
from depthgauge.types import Camera, Map, Mask

NEAR_M = 0.01
"""Points with larger differences are not inliers."""
_BEHIND = 0.01
"""Points that are behind the nearest one of a pixel by more than this share are hidden."""
_JUMP_PX = 1.0
"""Neighbouring labels that differ by more belong to two surfaces."""
_ROUNDS = 6
_SETTLED = 1e-4
"""A ray has met its surface if it moves by less than this share of the depth."""
_LEAST = 12


@dataclass(frozen=True, slots=True)
class SecondSource:
    """Another instrument's depth of the same scene."""

    depth_m: Map
    """Depth along its own axis, NaN where it has none."""
    camera: Camera
    pose: NDArray[np.float64]
    """4x4, from the axes of the rectified left camera to those of the second source."""


def read_second_source(depth: Path, camera: Path, pose: Path | None = None) -> SecondSource:
    """Reads the second source's files.

    Args:
        depth: A map in metres, as `.npy`, `.pfm` or another format of maps.
        camera: JSON with focal_px [fx, fy], centre_px [cx, cy], size_px [width, height] and
            distortion [k1, k2, p1, p2, k3] (optional).
        pose: JSON with `second_from_left`, 4x4, metres; None: it is not known, and the
            result has the identity in its place.

    Raises:
        BadData: A file lacks something.
        WrongShape: The depth map does not have the camera's size.
    """
    values = io.read_map(depth, quantity="depth")
    found = _json(camera)
    try:
        lens = camera_from_json({"distortion": (), "world_from_camera": np.eye(4), **found})
        known = np.eye(4) if pose is None else _json(pose)["second_from_left"]
        matrix = np.asarray(known, np.float64).reshape(4, 4)
    except (KeyError, TypeError, ValueError) as error:
        raise BadData(
            f"{camera}, {pose}: expected focal_px, centre_px, size_px in the first and a 4x4 "
            f"second_from_left in the second, found {error!r}."
        ) from error
    inverse_pose(matrix)  # rejects what is not a rigid motion
    if values.shape != lens.size_px[::-1]:
        raise WrongShape(
            f"{depth}: is {values.shape[1]}x{values.shape[0]} but its camera is "
            f"{lens.size_px[0]}x{lens.size_px[1]}; give the camera at the size of the map."
        )
    return SecondSource(np.where(values > 0, values, np.float32(np.nan)), lens, matrix)


def compare_depth(
    disparity: Map, pair: RectifiedPair, second: SecondSource, regions: Mapping[str, Mask]
) -> dict[str, Any]:
    """How well labels agree with a second source.

    The depth of the labels is taken along the ray of each pixel of the second source (labels are
    interpolated within surfaces, the second source is not).

    Args:
        disparity: Labels of the rectified left image.
        pair: The pair of the labels.
        second: The other instrument.
        regions: Planar regions of the left image, by name.

    Returns:
        `compared` pixels of the second source, `within_1cm_percent`, `inlier_rmse_mm`,
        `median_mm` (signed: labels minus second source), and `planes`: mean distance from fitted
        planes of the labels and of the second source, in px of disparity and in mm.
    """
    difference = depth_difference(disparity, pair, second)
    known = np.isfinite(difference)
    off = difference[known].astype(np.float64)
    near = off[np.abs(off) < NEAR_M]
    planes = _plane_residuals(disparity, pair, second, regions)
    return {
        "compared": len(off),
        "compared_percent": _percent(len(off), int(np.isfinite(second.depth_m).sum())),
        "within_1cm_percent": _percent(len(near), len(off)),
        "inlier_rmse_mm": 1000 * float(np.sqrt(np.mean(near**2))) if len(near) else None,
        "median_mm": 1000 * float(np.median(off)) if len(off) else None,
        "planes": planes,
    }


def depth_difference(disparity: Map, pair: RectifiedPair, second: SecondSource) -> Map:
    """Labels minus second source in metres, for each pixel of the second source."""
    return np.asarray(depth_seen_by(disparity, pair, second) - second.depth_m, np.float32)


def depth_seen_by(disparity: Map, pair: RectifiedPair, second: SecondSource) -> Map:
    """Depth of the labels along the ray of each pixel of the second source.

    The labels' points give the rough distance of the nearest surface; from there the ray is
    followed to the surface between the labels.
    """
    nearest = _nearest(disparity, pair, second)
    slope_x, slope_y = ray_slopes(second.camera)
    depth = nearest.copy()
    values = np.ascontiguousarray(disparity, np.float32)[..., None]
    for _ in range(_ROUNDS):
        points = np.stack([slope_x * depth, slope_y * depth, depth], axis=-1)
        met = _labels_at(transform(points, inverse_pose(second.pose)), values, pair)
        depth = transform(met, second.pose)[..., 2]
    here = np.stack([slope_x * depth, slope_y * depth, depth], axis=-1)
    met = _labels_at(transform(here, inverse_pose(second.pose)), values, pair)
    settled = np.abs(transform(met, second.pose)[..., 2] - depth) < _SETTLED * depth
    # A ray may also end on a hidden surface.
    return np.where(settled & (depth <= nearest * (1 + _BEHIND)), depth, np.nan).astype(np.float32)


def _nearest(disparity: Map, pair: RectifiedPair, second: SecondSource) -> NDArray[np.float64]:
    """Depth of the nearest label in each pixel of the second source."""
    points = transform(label_points(disparity, pair).astype(np.float64), second.pose)
    points = points[np.isfinite(points).all(axis=1)]
    place = project(points, second.camera)
    width, height = second.camera.size_px
    inside = (np.abs(place + 0.5 - [width / 2, height / 2]) < [width / 2, height / 2]).all(axis=1)
    pixel = np.floor(place[inside] + 0.5).astype(np.intp)
    nearest = np.full(height * width, np.inf)
    np.minimum.at(nearest, pixel[:, 0] + width * pixel[:, 1], points[inside, 2])
    return np.where(np.isfinite(nearest), nearest, np.nan).reshape(height, width)


def _labels_at(
    points: NDArray[np.float64], values: NDArray[np.float32], pair: RectifiedPair
) -> NDArray[np.float64]:
    """The labels' points in the directions in which the left camera sees some points."""
    from depthgauge.capture.warp._kernels import fetch

    place = project(points, pair.left.camera)
    columns, rows = (np.ascontiguousarray(place[..., n]) for n in (0, 1))
    fetched = np.full((*columns.shape, 1), np.nan, np.float32)
    fetch(values, columns, rows, _JUMP_PX, fetched)
    near = fetched[..., 0].astype(np.float64) + pair.rig().principal_offset_px
    depth = pair.left.camera.focal_px[0] * pair.baseline_m / np.where(near > 0, near, np.nan)
    slopes = (place - pair.left.camera.centre_px) / pair.left.camera.focal_px
    return np.asarray(
        np.concatenate([slopes, np.ones_like(slopes[..., :1])], -1) * depth[..., None]
    )


def label_points(disparity: Map, pair: RectifiedPair) -> NDArray[np.float32]:
    """(H * W, 3) points that labels show, in the axes of the rectified left camera."""
    rig = pair.rig()
    focal_px = pair.left.camera.focal_px[0]
    depth = depth_from_disparity(disparity, focal_px, pair.baseline_m, rig.principal_offset_px)
    return backproject(depth, pair.left.camera).reshape(-1, 3)


def _plane_residuals(
    disparity: Map, pair: RectifiedPair, second: SecondSource, regions: Mapping[str, Mask]
) -> dict[str, Any]:
    """Mean residuals of labels and second source on the same planar regions."""
    ours = label_points(disparity, pair).reshape(*disparity.shape, 3)
    theirs = backproject(second.depth_m, second.camera).reshape(-1, 3).astype(np.float64)
    theirs = transform(theirs[np.isfinite(theirs).all(axis=1)], inverse_pose(second.pose))
    place = np.floor(project(theirs, pair.left.camera) + 0.5)
    height, width = disparity.shape
    inside = ((place >= 0) & (place < [width, height])).all(axis=1)
    theirs, place = theirs[inside], place[inside].astype(np.intp)
    found = []
    for name, mask in regions.items():
        own = ours[mask & np.isfinite(ours[..., 2])].astype(np.float64)
        other = theirs[mask[place[:, 1], place[:, 0]]]
        other = _not_behind(other, own)
        if min(len(own), len(other)) >= _LEAST:
            one, two = (_off_plane(points, pair) for points in (own, other))
            found.append({"name": name, "labels": one, "second": two})
    return {"regions": found, **{who: _average(found, who) for who in ("labels", "second")}}


def _not_behind(points: NDArray[np.float64], like: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points without those that the second source sees beyond the region's surface."""
    if not len(like):
        return points
    low, high = np.percentile(like[:, 2], [0.5, 99.5])
    room = 0.05 * high
    between = (points[:, 2] > low - room) & (points[:, 2] < high + room)
    return np.asarray(points[between])


def _off_plane(points: NDArray[np.float64], pair: RectifiedPair) -> dict[str, float]:
    """Mean distances of points from their plane: in disparity, and in space."""
    rig = pair.rig()
    place = project(points, pair.left.camera)
    focal = pair.left.camera.focal_px[0] * pair.baseline_m
    values = focal / points[:, 2] - rig.principal_offset_px
    a, b, c = fit_plane(place[:, 0], place[:, 1], values)
    off = values - (a * place[:, 0] + b * place[:, 1] + c)
    # From disparity to distance along the normal of the plane n X = 1, with n from a, b, c.
    (fx, fy), (cx, cy) = pair.left.camera.focal_px, pair.left.camera.centre_px
    normal = np.array([a * fx, b * fy, a * cx + b * cy + c + rig.principal_offset_px]) / focal
    distance = np.abs(points @ normal - 1) / np.linalg.norm(normal)
    mean_mm = 1000 * float(distance.mean())
    return {"mean_abs_px": float(np.abs(off).mean()), "mean_abs_mm": mean_mm}


def _average(found: list[dict[str, Any]], who: str) -> dict[str, float | None]:
    names = ("mean_abs_px", "mean_abs_mm")
    if not found:
        return dict.fromkeys(names)
    return {name: float(np.mean([region[who][name] for region in found])) for name in names}


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None


def _json(path: Path) -> dict[str, Any]:
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadData(f"{path}: cannot be read as JSON: {error}.") from error
    if not isinstance(data, dict):
        raise BadData(f"{path}: expected a JSON object, found {type(data).__name__}.")
    return data
