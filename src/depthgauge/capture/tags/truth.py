"""For simulated sessions: how far correspondences are from the exact ones, and what glass cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.tags.points import PAIRS, ObjectPoints, View
from depthgauge.geometry.projection import inverse_pose
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions.tags import TagSessionTruth, TagTruth

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Error:
    px: float
    glass: bool
    kind: str


def compare_with_truth(
    points: ObjectPoints, truth: TagSessionTruth, pair: RectifiedPair
) -> dict[str, Any]:
    """Errors of correspondences in px of the rectified pictures, and tags lost behind glass.

    The exact places in the raw photographs go through the *estimated* rectification; a
    correspondence is wrong by the difference of the two displacements.

    Args:
        points: What the pipeline found.
        truth: What the simulation knows.
        pair: The estimated rectification.
    """
    known = {tag.identity: tag for tag in truth.tags}
    errors = list(_errors(points, known, pair))
    return {
        "all": _figures([e.px for e in errors]),
        "in_front_of_glass": _figures([e.px for e in errors if not e.glass]),
        "behind_glass": _figures([e.px for e in errors if e.glass]),
        "flow": _figures([e.px for e in errors if e.kind == "flow"]),
        "stereo": _figures([e.px for e in errors if e.kind == "stereo"]),
        "position": _position_figures(points, known, truth, pair),
        "tags": {
            "in_front_of_glass": _lost(points, truth.tags, glass=False),
            "behind_glass": _lost(points, truth.tags, glass=True),
        },
        "unknown_identities": sorted({t.identity for t in points.tags} - set(known)),
    }


def _errors(
    points: ObjectPoints, known: Mapping[int, TagTruth], pair: RectifiedPair
) -> Iterator[_Error]:
    for name, views in PAIRS.items():
        for found in points.pairs(name, annotated=False):
            tag = known.get(found.tag.identity)
            if tag is None or not all(view in tag.corners_px for view in views):
                continue
            first, second = (_exact(tag, view, pair)[found.corner] for view in views)
            wrong = (found.second - found.first) - (second - first)
            if np.isfinite(wrong).all():
                yield _Error(float(np.linalg.norm(wrong)), _is_behind(tag, views), name.split()[0])


def _exact(tag: TagTruth, view: View, pair: RectifiedPair) -> Points:
    lens = pair.right if view[1] else pair.left
    return lens.from_raw(tag.corners_px[view])


def _is_behind(tag: TagTruth, views: Sequence[View]) -> bool:
    return any(tag.glass.get(view, 0) > 0 for view in views)


def _figures(errors: Sequence[float]) -> dict[str, Any]:
    if not errors:
        return {"correspondences": 0, "median_px": None, "p95_px": None, "largest_px": None}
    return {
        "correspondences": len(errors),
        "median_px": float(np.median(errors)),
        "p95_px": float(np.percentile(errors, 95)),
        "largest_px": float(np.max(errors)),
    }


def _position_figures(
    points: ObjectPoints,
    known: Mapping[int, TagTruth],
    truth: TagSessionTruth,
    pair: RectifiedPair,
) -> dict[str, Any]:
    """Errors of triangulated corners without glass in front: behind it, light is bent."""
    errors: list[float] = []
    for found in points.tags:
        tag = known.get(found.identity)
        for time, positions in found.positions_m.items():
            views = [(time, 0), (time, 1)]
            if tag is None or time not in tag.corners_m or _is_behind(tag, views):
                continue
            world_to_left = inverse_pose(truth.cameras[time, 0].world_from_camera)
            exact = tag.corners_m[time] @ world_to_left[:3, :3].T + world_to_left[:3, 3]
            wrong = np.linalg.norm(positions @ pair.left.rotation - exact, axis=1)
            errors += wrong[np.isfinite(wrong)].tolist()
    if not errors:
        return {"corners": 0, "median_mm": None, "p95_mm": None}
    return {
        "corners": len(errors),
        "median_mm": 1000 * float(np.median(errors)),
        "p95_mm": 1000 * float(np.percentile(errors, 95)),
    }


def _lost(points: ObjectPoints, tags: Sequence[TagTruth], *, glass: bool) -> dict[str, int]:
    """Over all pairs of pictures: tags that both show completely, and what became of them."""
    counts = {"shown": 0, "not_found": 0, "excluded": 0, "kept": 0}
    seen = {tag.identity: tag for tag in points.tags}
    for name, views in PAIRS.items():
        kept = {pair.tag.identity for pair in points.pairs(name, annotated=False)}
        for tag in tags:
            if _is_behind(tag, views) != glass or not _is_shown(tag, views):
                continue
            counts["shown"] += 1
            found = seen.get(tag.identity)
            if tag.identity in kept:
                counts["kept"] += 1
            elif found is not None and all(view in found.corners_px for view in views):
                counts["excluded"] += 1
            else:
                counts["not_found"] += 1
    return counts


def _is_shown(tag: TagTruth, views: Sequence[View]) -> bool:
    return all(view in tag.corners_px and np.isfinite(tag.corners_px[view]).all() for view in views)
