"""Figures of a scene, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from depthgauge.datasets._stereogen.scene import RigScene
from depthgauge.engine.auditing.colours import ColourMatch
from depthgauge.engine.auditing.pairs import Floats, RoundTrip
from depthgauge.geometry.projection import inverse_pose
from depthgauge.types import Rig

_FEWEST = 40
"""Fewer windows with texture say nothing."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What was measured of two views over some frames; None where the data does not say."""

    pair: str
    frames: int
    baseline_m: float | None
    reprojection_px: float | None
    """Median error of pixels that are not occluded, there and back by both depths."""
    reprojection_p99_px: float | None
    visible_share: float | None
    """Of the pixels with depth in both views, those about whose depth the views agree."""
    colour_px: float | None
    """Median of what colours add to the disparity that depth gives."""
    colour_spread_px: float | None
    """Median distance of single windows from it."""
    vertical_px: float | None
    """Median of how far colours are above or below."""
    scale: float | None
    """Disparity by colours over disparity by depth."""
    scale_error: float | None
    """Standard error of it."""
    matched_share: float | None
    windows: int
    """Windows with texture that were compared."""
    worst_frame: int | None = None
    """The frame whose colours are farthest from where depth says."""
    worst_frame_px: float | None = None
    """The median distance of its windows, along and across."""
    usual_frame_px: float | None = None
    """The same of the median frame."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that speaks against a scene."""

    check: str
    """`files`, `fields`, `lens`, `poses`, `depth`, `reprojection` or `colours`."""
    what: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class SceneAudit:
    """What was found in one scene or sample."""

    scene: str
    frames: int = 0
    focal_px: tuple[float, float] | None = None
    pose_baseline_m: float | None = None
    """The largest difference between a baseline of the poses and the recorded one."""
    turned_deg: float | None = None
    """The largest angle between two cameras of one frame."""
    valid_depth: float | None = None
    """The smallest share of pixels with depth, of all cameras and frames that were read."""
    pairs: tuple[PairFigures, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "ok": self.ok}


def pose_figures(scene: RigScene) -> tuple[float, float]:
    """The largest error of a recorded baseline in metres, and angle between cameras in degrees."""
    worst_m, worst_deg = 0.0, 0.0
    for a, b in combinations(range(scene.camera_count), 2):
        apart = scene.poses[:, b, :3, 3] - scene.poses[:, a, :3, 3]
        length = np.linalg.norm(apart, axis=-1)
        worst_m = max(worst_m, float(np.abs(length - scene.baseline_m((a, b))).max()))
        turn = np.einsum("fji,fjk->fik", scene.poses[:, a, :3, :3], scene.poses[:, b, :3, :3])
        # The antisymmetric part is exact for small angles, where the cosine is flat.
        sine = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0]], axis=-1)
        sine = np.hypot(np.hypot(*sine.T), turn[:, 1, 0] - turn[:, 0, 1]) / 2
        cosine = (np.trace(turn, axis1=1, axis2=2) - 1) / 2
        worst_deg = max(worst_deg, float(np.degrees(np.arctan2(sine, cosine)).max()))
    return worst_m, worst_deg


def rig_error_m(rig: Rig) -> float | None:
    """How far the distance of two cameras is from the baseline; None if poses do not say it."""
    if not {"left", "right"} <= set(rig.cameras) or not math.isfinite(rig.baseline_m):
        return None
    left, right = (rig.cameras[side].world_from_camera[:3, 3] for side in ("left", "right"))
    distance = float(np.linalg.norm(right - left))
    return abs(distance - rig.baseline_m) if distance > 0 else None


def off_the_row_m(scene: RigScene) -> float:
    """How far a camera is above, below, before or behind the x axis of camera 00, at most."""
    worst = 0.0
    for cameras in scene.poses:
        first = inverse_pose(cameras[0])
        for pose in cameras[1:]:
            place = (first @ pose)[:3, 3]
            worst = max(worst, float(np.hypot(place[1], place[2])))
    return worst


def pair_figures(
    name: str,
    baseline_m: float | None,
    trips: Sequence[RoundTrip | None],
    matches: Sequence[ColourMatch],
    frames: Sequence[int],
) -> PairFigures:
    """The figures of a pair from its frames."""
    errors = [trip.error_px[trip.visible] for trip in trips if trip is not None]
    error = np.concatenate(errors) if errors else np.zeros(0)
    inside = sum(trip.inside for trip in trips if trip is not None)
    along = np.concatenate([match.along_px for match in matches])
    across = np.concatenate([match.across_px for match in matches])
    shift = np.concatenate([match.shift_px for match in matches])
    tried = sum(match.tried for match in matches)
    enough = tried >= _FEWEST
    middle = _median(along) if enough else None
    separate = sum(match.separate for match in matches)
    scale, scale_error = _scale(along, shift, separate) if enough else (None, None)
    return PairFigures(
        name,
        len(frames),
        baseline_m,
        _median(error),
        float(np.quantile(error, 0.99)) if error.size else None,
        error.size / inside if inside else None,
        middle,
        None if middle is None else _median(np.abs(along - middle)),
        _median(across) if enough else None,
        scale,
        scale_error,
        len(along) / tried if enough else None,
        tried,
        *_by_frame(matches, frames),
    )


def _median(values: Floats) -> float | None:
    return float(np.median(values)) if values.size else None


def _scale(along: Floats, shift: Floats, separate: float) -> tuple[float | None, float | None]:
    """Median ratio of the disparities, and its error from the scatter of separate windows."""
    use = shift > 1.0
    if use.sum() < _FEWEST:
        return None, None
    ratio = along[use] / shift[use]
    middle = float(np.median(ratio))
    deviation = 1.4826 * float(np.median(np.abs(ratio - middle)))
    return 1 + middle, 1.2533 * deviation / math.sqrt(max(separate * use.mean(), 1.0))


def _by_frame(
    matches: Sequence[ColourMatch], frames: Sequence[int]
) -> tuple[int | None, float | None, float | None]:
    """The worst frame, how far its windows are off, and how far those of the median frame are."""
    found = [
        (float(np.median(np.hypot(match.along_px, match.across_px))), frame)
        for match, frame in zip(matches, frames, strict=True)
        if len(match.along_px) >= _FEWEST
    ]
    if not found:
        return None, None, None
    size, frame = max(found)
    return frame, size, float(np.median([each for each, _ in found]))
