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
    if not lines:
        return []
    pieces = _Pieces(lines)
    found = []
    for name, points in lines.items():
        closed = bool(np.hypot(*(points[0] - points[-1])) <= _CLOSED_PX) and len(points) > 2
        for at in () if closed else (points[0], points[-1]):
            if _leaves(at, surfaces):
                continue
            nearest, gap = pieces.nearest(at, name)
            if gap > _CLOSED_PX:
                x, y = view.at(float(at[0]), float(at[1]))
                found.append(Problem(_sentence(name, nearest, gap * view.across), (x, y)))
    return found


class _Pieces:
    """The straight pieces of all lines, in one array: a page asks after every stroke."""

    def __init__(self, lines: dict[str, Array]) -> None:
        self._names = [name for name, points in lines.items() for _ in points[1:]]
        self._owner = np.array([list(lines).index(name) for name in self._names])
        self._lines = list(lines)
        self._start = np.concatenate([points[:-1] for points in lines.values()])
        self._way = np.concatenate([np.diff(points, axis=0) for points in lines.values()])
        self._square = np.maximum((self._way**2).sum(axis=1), 1e-12)

    def nearest(self, point: Array, own: str) -> tuple[str, float]:
        """The line nearest to a point, besides its own, and how far it is."""
        share = np.clip(((point - self._start) * self._way).sum(axis=1) / self._square, 0, 1)
        away = np.hypot(*(self._start + share[:, None] * self._way - point).T)
        away[self._owner == self._lines.index(own)] = np.inf
        first = int(np.argmin(away))
        return self._names[first], float(away[first])


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
