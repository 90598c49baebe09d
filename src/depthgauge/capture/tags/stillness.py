"""Whether something moved between a picture without tags and the one with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.boards import grey_levels
from depthgauge.types import Image

Points = NDArray[np.float64]

_DETAILS = 2000
_WINDOW_PX = 21
_BACK_PX = 0.3
"""A detail that is not found again this near, when it is followed back, was not followed."""
_STICKER = 1.6
"""A tag's sticker and its shadow, in sides of the black square."""
_FEWEST = 20
_SHARE = 0.02
_FEWEST_MOVED = 5


@dataclass(frozen=True, slots=True, eq=False)
class Stillness:
    """How details outside of the tags moved between two pictures."""

    start: Points
    """(n, 2) px of the picture without tags."""
    moved: Points
    """(n, 2) by how much."""
    limit_px: float

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which details moved by more than the limit."""
        return np.asarray(np.linalg.norm(self.moved, axis=1) > self.limit_px)

    @property
    def verdict(self) -> str:
        """`still`, `moved`, or `cannot be told` where there are too few details."""
        if len(self.start) < _FEWEST:
            return "cannot be told"
        count = int(self.far.sum())
        return "moved" if count >= max(_FEWEST_MOVED, _SHARE * len(self.start)) else "still"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        rows = np.round(np.column_stack([self.start, self.moved]), 3).tolist()
        return {"limit_px": self.limit_px, "details": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Stillness:
        """What `to_json` wrote; others raise KeyError, TypeError, ValueError."""
        rows = np.asarray(data["details"], np.float64).reshape(-1, 4)
        return cls(rows[:, :2], rows[:, 2:], float(data["limit_px"]))

    def figures(self) -> dict[str, Any]:
        """For people: counts, and how far."""
        far = np.linalg.norm(self.moved, axis=1)
        known = len(far) > 0
        return {
            "verdict": self.verdict,
            "details": len(far),
            "median_px": float(np.median(far)) if known else None,
            "details_moved": int(self.far.sum()),
        }


def compare_pictures(
    plain: Image, tagged: Image, tags: Iterable[Points], *, limit_px: float
) -> Stillness:
    """Follows details of the picture without tags into the one with tags.

    Stickers cover what was there: details on and beside the given tags are not looked at, and one
    that cannot be followed there and back is left out.

    Args:
        plain: The picture without tags.
        tagged: The picture with tags, of the same camera.
        tags: (4, 2) corners of each tag in it.
        limit_px: Details that moved by more count as moved.
    """
    import cv2

    before, after = grey_levels(plain), grey_levels(tagged)
    free = _free(before.shape[:2], tags)
    found = cv2.goodFeaturesToTrack(before, _DETAILS, 0.005, 7, mask=free, blockSize=7)
    if found is None:
        return Stillness(np.zeros((0, 2)), np.zeros((0, 2)), limit_px)
    there, first, _ = _follow(before, after, found)
    back, second, _ = _follow(after, before, there)
    same = np.linalg.norm((back - found).reshape(-1, 2), axis=1) < _BACK_PX
    kept = same & (first.ravel() == 1) & (second.ravel() == 1)
    start = found.reshape(-1, 2)[kept].astype(np.float64)
    return Stillness(start, there.reshape(-1, 2)[kept] - start, limit_px)


def _follow(one: Any, other: Any, points: Any) -> Any:
    import cv2

    window = (_WINDOW_PX, _WINDOW_PX)
    return cv2.calcOpticalFlowPyrLK(one, other, points, None, winSize=window, maxLevel=3)


def _free(shape: tuple[int, ...], tags: Iterable[Points]) -> NDArray[np.uint8]:
    """255 outside of the stickers."""
    import cv2

    free = np.full(shape, 255, np.uint8)
    for corners in tags:
        if np.isfinite(corners).all():
            middle = corners.mean(axis=0)
            sticker = np.rint(middle + _STICKER * (corners - middle)).astype(np.int32)
            cv2.fillConvexPoly(free, cv2.convexHull(sticker), 0)
    margin = np.ones((_WINDOW_PX, _WINDOW_PX), np.uint8)
    return np.asarray(cv2.erode(free, margin, borderValue=255), np.uint8)
