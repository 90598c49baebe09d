"""Lines that end in the middle of a surface: they separate nothing there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.quality.problems import Enlarged, Problem
from depthgauge.annotate.reconstruct._lines import clean_points
from depthgauge.annotate.reconstruct.segmentation import Segmentation, pixel_of
from depthgauge.annotate.records.annotation import Annotation

Array = NDArray[np.float64]

_CLOSED_PX = 5.0
"""Ends this close are joined by `segment` (a gap of 4 px is 5 px from centre to centre)."""
_NEAR_PX = 40.0
"""A gap up to this long is probably one; a longer way is not mentioned."""


def loose_ends(
    annotation: Annotation, surfaces: Segmentation, enlarged: Enlarged | None = None
) -> list[Problem]:
    """The ends of lines that meet no other line, not the region's edge and not themselves.

    A fold may fade out, and an occlusion may end where its surfaces become one; so this is a
    question, not an error.

    Args:
        annotation: What was drawn, in pixels of `surfaces`.
        surfaces: Its surfaces.
        enlarged: Where both belong to a preview: how it becomes the photograph.
    """
    view = enlarged or Enlarged()
    lines = {name: clean_points(stroke.points_px) for name, stroke in annotation.strokes.items()}
    lines = {name: points for name, points in lines.items() if len(points) > 1}
    found = []
    for name, points in lines.items():
        closed = bool(np.hypot(*(points[0] - points[-1])) <= _CLOSED_PX) and len(points) > 2
        for end in () if closed else (0, -1):
            at = points[end]
            if _leaves(at, surfaces):
                continue
            gaps = {other: _distance(at, there) for other, there in lines.items() if other != name}
            nearest = min(gaps, key=lambda other: gaps[other], default="")
            gap = gaps.get(nearest, np.inf)
            if gap > _CLOSED_PX:
                x, y = view.at(float(at[0]), float(at[1]))
                found.append(Problem(_sentence(name, nearest, gap * view.across), (x, y)))
    return found


def _sentence(name: str, nearest: str, gap_px: float) -> str:
    if gap_px <= _NEAR_PX:
        return (
            f"Stroke '{name}' ends {gap_px:.0f} px before '{nearest}'; "
            "drag its end there if they meet."
        )
    return f"Stroke '{name}' ends in the middle of a surface; go on, or leave it if it fades there."


def _leaves(at: Array, surfaces: Segmentation) -> bool:
    """Whether a point is at the edge of the region or of the picture, or outside."""
    place = pixel_of((float(at[0]), float(at[1])), surfaces.region.shape)
    if place is None:
        return True
    reach = int(_CLOSED_PX)
    row, column = place
    height, width = surfaces.region.shape
    if min(row, column, height - 1 - row, width - 1 - column) <= reach:
        return True
    around = surfaces.region[row - reach : row + reach + 1, column - reach : column + reach + 1]
    return not bool(around.all())


def _distance(point: Array, line: Array) -> float:
    """From a point to the nearest point of a polyline."""
    start, way = line[:-1], np.diff(line, axis=0)
    length = np.maximum((way**2).sum(axis=1), 1e-12)
    share = np.clip(((point - start) * way).sum(axis=1) / length, 0, 1)
    return float(np.hypot(*(start + share[:, None] * way - point).T).min())
