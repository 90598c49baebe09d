"""How difficult a stereo pair is: SIFT matches between both pictures without the epipolar line.

After Haeusler, Morales, Hermann and Klette 2010: keypoints of the left picture are matched with
those of the whole right picture. Few matches, and many wrong ones, mean a difficult pair. A match
is wrong if its rows differ (in a rectified pair they cannot), or, where the truth is known, if it
is elsewhere than the truth says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics.views._keypoints import Features, find_features
from depthgauge.types import Image, Map

RATIO = 0.8
"""The second nearest descriptor must be farther by this ratio (Lowe 2004)."""
TOLERANCE_PX = 2.0
"""How far a correct match may be off."""
MOST_KEYPOINTS = 4000
"""The strongest of each picture."""


@dataclass(frozen=True)
class PairDifficulty:
    """SIFT matches of one pair."""

    keypoints: int
    """Of the left picture."""
    matches: int
    off_row: int
    """Matches whose rows differ by more than 2 px."""
    judged: int
    """Matches at whose left point the truth is known."""
    wrong: int
    """Those among them that are more than 2 px from where the truth says."""
    megapixels: float

    @property
    def matches_per_megapixel(self) -> float:
        """How densely a pair can be matched; few: difficult."""
        return self.matches / self.megapixels if self.megapixels else math.nan

    @property
    def off_row_share(self) -> float:
        """The share of matches that leave their row; many: difficult."""
        return self.off_row / self.matches if self.matches else math.nan

    @property
    def wrong_share(self) -> float:
        """The share of judged matches that the truth contradicts."""
        return self.wrong / self.judged if self.judged else math.nan


def pair_difficulty(left: Image, right: Image, truth: Map | None = None) -> PairDifficulty:
    """Matches of a rectified pair.

    Args:
        left: RGB or grey.
        right: The same size.
        truth: Disparity of the left picture, NaN where it is not known.
    """
    features = [find_features(_picture(each), "sift", MOST_KEYPOINTS) for each in (left, right)]
    first, second = matched(*features)
    points, others = features[0].points[first], features[1].points[second]
    off_row = np.abs(points[:, 1] - others[:, 1]) > TOLERANCE_PX
    judged = wrong = 0
    if truth is not None and len(points):
        height, width = truth.shape
        x = np.clip(np.rint(points[:, 0]).astype(int), 0, width - 1)
        y = np.clip(np.rint(points[:, 1]).astype(int), 0, height - 1)
        expected = points[:, 0] - truth[y, x]
        known = np.isfinite(expected)
        apart = np.hypot(others[:, 0] - expected, others[:, 1] - points[:, 1])
        judged, wrong = int(known.sum()), int((known & ~(apart <= TOLERANCE_PX)).sum())
    size = left.shape[0] * left.shape[1] / 1e6
    return PairDifficulty(
        len(features[0].points), len(first), int(off_row.sum()), judged, wrong, size
    )


def matched(left: Features, right: Features) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of keypoints that are each other's nearest, and clearly nearer than the second."""
    none = np.zeros(0, np.intp)
    if len(left.points) == 0 or len(right.points) < 2:
        return none, none
    squares = [np.sum(each.words.astype(np.float64) ** 2, axis=1) for each in (left, right)]
    products = left.words.astype(np.float64) @ right.words.astype(np.float64).T
    distances = np.maximum(squares[0][:, None] + squares[1][None] - 2 * products, 0)
    rows = np.arange(len(left.points))
    nearest = distances.argmin(axis=1)
    mutual = distances.argmin(axis=0)[nearest] == rows
    least = distances[rows, nearest].copy()
    distances[rows, nearest] = np.inf
    clear = np.sqrt(least) < RATIO * np.sqrt(distances.min(axis=1))
    chosen = np.flatnonzero(mutual & clear)
    return chosen, nearest[chosen]


def _picture(image: Image) -> NDArray[np.float32]:
    """RGB in 0..1, as the detector takes it."""
    values: Any = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    values = values[..., :3]
    if values.dtype == np.uint8:
        return np.asarray(values, np.float32) / np.float32(255)
    return np.clip(np.asarray(values, np.float32), 0, 1)
