"""The pose of a second depth source, from planes that it and the labels show in common.

A plane in both fixes two angles and one distance. Three planes whose normals are independent fix
all six numbers of a pose; fewer, or planes that are all parallel to one line, leave something free,
and are refused. Which plane is which is tried: angles between planes must agree, and with the right
pose most points of one lie on the surfaces of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.audit.find_planes import find_planes
from depthgauge.capture.audit.second_source import SecondSource, label_points
from depthgauge.errors import BadData
from depthgauge.geometry.projection import backproject, project, transform
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.types import Camera, Map, Mask

Array = NDArray[np.float64]
_MOST_PLANES = 8
"""The largest planes of each; more are not tried."""
_ANGLE_DEG = 4.0
"""Angles between planes of both may differ by this much."""
_NEAR_M, _NEAR_SHARE = 0.02, 0.01
"""A point agrees if it is this near to the other surface, or this share of its depth."""
_AGREED = 0.5
"""The least share of the points that must agree."""
_POINTS = 3000
"""Points that are compared, and that the pose is refined with from each plane."""
_WEAKEST = 0.12
"""Smallest singular value of the unit normals: below it, planes can slide on each other."""
_APART = (5.0, 0.10)
"""Poses that differ by more degrees or metres are different."""
_RIVAL = 0.9
"""Another pose with this share of the best one's agreement leaves the choice open."""
_ROUNDS = 30
_FEWEST = 40


@dataclass(frozen=True, slots=True, eq=False)
class FoundPose:
    """A pose that was found, and how well it is known."""

    second_from_left: Array
    """4x4."""
    planes: int
    """Common planes."""
    rms_mm: float
    """Distances of the second source's points from the labels' planes."""
    uncertain_mm: float
    """Standard deviation of the position in its weakest direction."""
    uncertain_deg: float
    agreed_percent: float
    """Share of the labels' points that lie on the second source's surfaces."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for the audit."""
        return {
            "from": "common planes",
            "planes": self.planes,
            "rms_mm": self.rms_mm,
            "uncertain_mm": self.uncertain_mm,
            "uncertain_deg": self.uncertain_deg,
            "agreed_percent": self.agreed_percent,
            "second_from_left": np.round(self.second_from_left, 9).tolist(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Plane:
    """n X = d, with n a unit vector towards the viewer."""

    normal: Array
    distance: float
    points: Array


def pose_from_planes(
    disparity: Map, pair: RectifiedPair, regions: Mapping[str, Mask], depth_m: Map, camera: Camera
) -> FoundPose:
    """Finds the pose of a second source.

    Args:
        disparity: Labels of the rectified left image.
        pair: Their pair.
        regions: Planar regions of the labels.
        depth_m: The second source's depth along its own axis.
        camera: Its camera.

    Raises:
        BadData: There are too few common planes, they do not fix all six degrees of freedom, or
            several poses fit.
    """
    ours = label_points(disparity, pair).reshape(*disparity.shape, 3).astype(np.float64)
    own = _planes(ours, regions)
    theirs = backproject(depth_m, camera).reshape(*depth_m.shape, 3).astype(np.float64)
    scale = pair.left.camera.focal_px[0] * pair.baseline_m
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(depth_m > 0, scale / depth_m, np.nan).astype(np.float32)
    other = _planes(theirs, find_planes(inverse, most=_MOST_PLANES))
    _need_three(own, other)
    flat = ours[np.isfinite(ours).all(axis=2)]
    sample = flat[:: max(1, len(flat) // _POINTS)]
    ranked = _tried(own, other, sample, depth_m, camera)
    if not ranked or ranked[0][0] < _AGREED:
        best = f" (at best {100 * ranked[0][0]:.0f} % of the points agree)" if ranked else ""
        raise BadData(
            f"no pose of the second source makes its planes fit those of the labels{best}; check "
            "that it is in metres and shows the same scene, or give its pose."
        )
    _need_one(ranked)
    return _refined(ranked[0][1], own, other, sample, depth_m, camera)


def _planes(points: Array, regions: Mapping[str, Mask]) -> list[_Plane]:
    found = []
    for mask in regions.values():
        inside = points[mask & np.isfinite(points).all(axis=2)]
        if len(inside) < _FEWEST:
            continue
        inside = inside[:: max(1, len(inside) // _POINTS)]
        found.append(_fitted(inside))
    return found[:_MOST_PLANES]


def _fitted(points: Array) -> _Plane:
    """A plane by total least squares, without the points that are farthest from it."""
    kept = points
    for _ in range(4):
        middle = kept.mean(axis=0)
        normal = np.linalg.svd(kept - middle, full_matrices=False)[2][2]
        off = np.abs((points - middle) @ normal)
        kept = points[off <= max(3 * 1.4826 * float(np.median(off)), 1e-9)]
    distance = float(middle @ normal)
    sign = -1.0 if distance > 0 else 1.0  # normals point to the viewer, at the origin
    return _Plane(sign * normal, sign * distance, kept)


def _need_three(own: Sequence[_Plane], other: Sequence[_Plane]) -> None:
    for who, planes in (("the labels", own), ("the second source", other)):
        weakest = _weakest([plane.normal for plane in planes])
        if len(planes) < 3 or weakest < _WEAKEST:
            raise BadData(
                f"planes found in {who}: {len(planes)}; they do not fix all six degrees of freedom "
                "of a pose, which takes three with independent normals, such as two walls and a "
                "floor; give the pose of the second source (--second-pose)."
            )


def _weakest(normals: Sequence[Array]) -> float:
    """Smallest singular value of unit normals: 0 if all are parallel to one plane."""
    if len(normals) < 3:
        return 0.0
    return float(np.linalg.svd(np.array(normals), compute_uv=False)[-1])


def _tried(
    own: Sequence[_Plane],
    other: Sequence[_Plane],
    sample: Array,
    depth_m: Map,
    camera: Camera,
) -> list[tuple[float, Array]]:
    """Poses of all assignments of three planes whose angles agree, the best first."""
    found = []
    for ours in itertools.combinations(own, 3):
        if _weakest([plane.normal for plane in ours]) < _WEAKEST:
            continue
        angles = _angles(ours)
        for theirs in itertools.permutations(other, 3):
            if np.abs(angles - _angles(theirs)).max() > _ANGLE_DEG:
                continue
            pose = _pose(ours, theirs)
            found.append((_agreed(pose, sample, depth_m, camera), pose))
    return sorted(found, key=lambda one: -one[0])


def _angles(planes: Sequence[_Plane]) -> Array:
    cosines = [float(a.normal @ b.normal) for a, b in itertools.combinations(planes, 2)]
    return np.asarray(np.degrees(np.arccos(np.clip(cosines, -1, 1))))


def _pose(own: Sequence[_Plane], other: Sequence[_Plane]) -> Array:
    """The rotation that turns the normals, then the shift that moves the distances."""
    a = np.array([plane.normal for plane in own])
    b = np.array([plane.normal for plane in other])
    u, _, vt = np.linalg.svd(b.T @ a)
    turn = u @ np.diag([1.0, 1.0, float(np.sign(np.linalg.det(u @ vt)))]) @ vt
    change = np.array([p.distance for p in other]) - np.array([p.distance for p in own])
    pose = np.eye(4)
    pose[:3, :3] = turn
    pose[:3, 3] = np.linalg.lstsq(b, change, rcond=None)[0]
    return pose


def _agreed(pose: Array, sample: Array, depth_m: Map, camera: Camera) -> float:
    """Share of the points that the second source would see and whose depth it confirms."""
    points = transform(sample, pose)
    points = points[points[:, 2] > 0.05]
    if not len(points):
        return 0.0
    place = np.floor(project(points, camera) + 0.5)
    width, height = camera.size_px
    inside = ((place >= 0) & (place < [width, height])).all(axis=1)
    if inside.sum() < 0.1 * len(sample):
        return 0.0
    x, y = place[inside].astype(np.intp).T
    seen = depth_m[y, x].astype(np.float64)
    known = np.isfinite(seen)
    off = np.abs(points[inside, 2] - seen)[known]
    near = off < np.maximum(_NEAR_M, _NEAR_SHARE * seen[known])
    return float(near.mean()) if known.sum() > 0.05 * len(sample) else 0.0


def _need_one(ranked: Sequence[tuple[float, Array]]) -> None:
    best, pose = ranked[0]
    for share, other in ranked[1:]:
        turn, shift = _apart(pose, other)
        if share >= _RIVAL * best and (turn > _APART[0] or shift > _APART[1]):
            raise BadData(
                f"two poses of the second source fit about equally well ({100 * best:.0f} and "
                f"{100 * share:.0f} % of the points agree; they differ by {turn:.0f} degrees and "
                f"{shift:.2f} m); give its pose (--second-pose)."
            )


def _apart(one: Array, other: Array) -> tuple[float, float]:
    """Degrees and metres between two poses."""
    turn = one[:3, :3] @ other[:3, :3].T
    angle = math.degrees(math.acos(float(np.clip((np.trace(turn) - 1) / 2, -1, 1))))
    return angle, float(np.linalg.norm(one[:3, 3] - other[:3, 3]))


def _refined(
    pose: Array,
    own: Sequence[_Plane],
    other: Sequence[_Plane],
    sample: Array,
    depth_m: Map,
    camera: Camera,
) -> FoundPose:
    """The pose with the second source's points as near as possible to the labels' planes."""
    pairs = _common(pose, own, other)
    if _weakest([plane.normal for plane, _ in pairs]) < _WEAKEST:
        raise BadData(
            f"the {len(pairs)} planes that labels and second source have in common do not fix all "
            "six degrees of freedom; give its pose (--second-pose)."
        )
    for _ in range(_ROUNDS):
        slopes, off = _residuals(pose, pairs)
        weights = _tukey(off)
        normal = slopes.T @ (weights[:, None] * slopes)
        step = np.asarray(np.linalg.solve(normal, slopes.T @ (weights * -off)), np.float64)
        pose = _moved(pose, step)
        if np.abs(step).max() < 1e-9:
            break
    slopes, off = _residuals(pose, pairs)
    weights = _tukey(off)
    rms = float(np.sqrt((weights * off**2).sum() / weights.sum()))
    # Points of a plane have errors in common: a plane counts as one measurement of each number.
    spread = rms**2 * np.linalg.inv(slopes.T @ (weights[:, None] * slopes)) * len(off)
    spread /= 3 * len(pairs)
    return FoundPose(
        pose,
        len(pairs),
        1000 * rms,
        1000 * float(np.sqrt(np.linalg.eigvalsh(spread[3:, 3:])[-1])),
        float(np.degrees(np.sqrt(np.linalg.eigvalsh(spread[:3, :3])[-1]))),
        100 * _agreed(pose, sample, depth_m, camera),
    )


def _common(
    pose: Array, own: Sequence[_Plane], other: Sequence[_Plane]
) -> list[tuple[_Plane, _Plane]]:
    """Planes of both that coincide under a pose: the same direction, and points on each other."""
    pairs = []
    for plane in own:
        normal = pose[:3, :3] @ plane.normal
        for candidate in other:
            angle = math.degrees(math.acos(float(np.clip(normal @ candidate.normal, -1, 1))))
            off = (candidate.points - pose[:3, 3]) @ normal - plane.distance
            if angle < _ANGLE_DEG and abs(float(np.median(off))) < 2 * _NEAR_M:
                pairs.append((plane, candidate))
    return pairs


def _residuals(pose: Array, pairs: Sequence[tuple[_Plane, _Plane]]) -> tuple[Array, Array]:
    """Distances of points from planes, and their slopes by a turn and a shift of the pose."""
    slopes, offs = [], []
    for plane, candidate in pairs:
        normal = pose[:3, :3] @ plane.normal
        away = candidate.points - pose[:3, 3]
        offs.append(away @ normal - plane.distance)
        slopes.append(
            np.concatenate([-np.cross(away, normal), np.tile(-normal, (len(away), 1))], axis=1)
        )
    return np.concatenate(slopes), np.concatenate(offs)


def _tukey(off: Array) -> Array:
    limit = 4.685 * max(1.4826 * float(np.median(np.abs(off))), 1e-6)
    return np.asarray(np.clip(1 - (off / limit) ** 2, 0, None) ** 2)


def _moved(pose: Array, step: Array) -> Array:
    """The pose after a small turn about its own place and a shift."""
    import cv2

    moved = pose.copy()
    moved[:3, :3] = cv2.Rodrigues(step[:3])[0] @ pose[:3, :3]
    moved[:3, 3] = pose[:3, 3] + step[3:]
    return moved


def with_found_pose(
    depth_m: Map, camera: Camera, disparity: Map, pair: RectifiedPair, regions: Mapping[str, Mask]
) -> tuple[SecondSource, FoundPose]:
    """A second source whose pose was not given, and the pose that was found."""
    found = pose_from_planes(disparity, pair, regions, depth_m, camera)
    return SecondSource(depth_m, camera, found.second_from_left), found


def pose_in_words(pose: Mapping[str, Any]) -> str:
    """What a reader of the comparison must know about a pose that was found."""
    return (
        f"the pose of the second source was found from {pose['planes']} common planes (residual "
        f"{pose['rms_mm']:.1f} mm, known to about {pose['uncertain_mm']:.1f} mm and "
        f"{pose['uncertain_deg']:.2f} degrees): a common shift or turn of all labels cannot be "
        "seen in this comparison."
    )
