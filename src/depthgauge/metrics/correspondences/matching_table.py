"""The nine rates of Kostková, Čech & Šára 2003, from what both views see and from texture.

They look at a row of both images as a table of all possible matches. What is textured and visible
should be matched, what is occluded should not, and what has no texture is judged by itself. The
sets follow the account in Honauer 2019, section 3.2.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.metrics._judged import judged_pixels, need_size, shown
from depthgauge.metrics._metric import metric
from depthgauge.metrics.correspondences.half_occlusions import (
    count_state,
    is_bad,
    share_of_estimates,
    share_of_missing,
)
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.warping import Visibility

Levels = NDArray[np.uint8]
CITE = "Kostková, Čech & Šára 2003"
_RATE: dict[str, Any] = {
    "category": "correspondences",
    "unit": Unit.PERCENT,
    "better": "lower",
    "bounds": (0, 100),
    "of": ("disparity",),
    "cite": CITE,
}
"""What all of them declare."""
_NEEDS = ("visibility", "texture_level")
_LEFT_OUT = "is left out under any `missing` rule; `fnr` and `fnsr` count it"
_COUNTED = "is what it counts, under any `missing` rule"
_FAILS = "counts as a failure under any `missing` rule"


class _Rate:
    """A share of the pixels of one set."""

    where: ClassVar[Literal["textured", "textureless", "occluded"]]
    """Textured pixels that both views see, all textureless ones, or all occluded ones."""
    counts: ClassVar[Literal["wrong", "lost", "both"]]
    """Wrong matches among the matches, lost ones among all pixels, or both among all pixels."""

    @classmethod
    def measure(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        visibility: Visibility,
        texture_level: Levels,
        threshold: float = 1.0,
        level: int = 1,
    ) -> State:
        """How many pixels of the set are matched, how many are not, and how many are wrong."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        inside = judged & cls._set(truth, visibility, texture_level, level)
        return count_state(inside, is_known(estimate), is_bad(estimate, truth, threshold))

    @classmethod
    def finish(cls, state: State, *, missing: str, threshold: float = 1.0, level: int = 1) -> float:
        """The percentage."""
        if cls.counts == "wrong":
            return share_of_estimates(state)
        if cls.counts == "lost":
            return share_of_missing(state)
        n = state.count + state.missing
        return 100.0 * (float(state.sums[0]) + state.missing) / n if n else math.nan

    @classmethod
    def error_map(
        cls,
        estimate: Map,
        truth: Map,
        *,
        visibility: Visibility,
        texture_level: Levels,
        threshold: float = 1.0,
        level: int = 1,
    ) -> Map:
        """100 at the pixels of the set that count."""
        inside = cls._set(truth, visibility, texture_level, level) & is_known(truth)
        present, bad = is_known(estimate), is_bad(estimate, truth, threshold)
        if cls.counts == "wrong":
            return shown(100.0 * bad, inside & present)
        return shown(100.0 * (bad if cls.counts == "both" else ~present), inside)

    @classmethod
    def _set(cls, truth: Map, visibility: Visibility, texture: Levels, level: int) -> Mask:
        need_size(texture, "the texture", truth)
        need_size(visibility.visible, "the visibility", truth)
        if cls.where == "textureless":
            return np.asarray(texture >= level)
        if cls.where == "occluded":
            return visibility.occluded
        return np.asarray(visibility.visible & (texture < level))


@metric(
    "mir",
    needs=_NEEDS,
    formula="mean over rows of 100 * mean over textured, visible, estimated [|e| > threshold]",
    revision=1,
    missing_costs=_LEFT_OUT,
    **_RATE,
)
class MismatchRate(_Rate):
    """Mismatch rate: wrong matches where both views see texture, normalised row by row.

    Each row with such a match has the percentage of its wrong ones; the score is the mean over
    rows, so that rows with few matches count as much as others. `level` is that of the shared map
    `texture_level` from which on a pixel has no texture.

    >>> import numpy as np, depthgauge as dg
    >>> noise = np.random.default_rng(0).integers(0, 256, (20, 20), np.uint8)
    >>> truth, estimate = np.full((20, 20), 5.0), np.full((20, 20), 5.0)
    >>> estimate[0, :], estimate[1, 1:], estimate[1, 0] = 9, np.nan, 9
    >>> items = {"left_image": noise, "visible_mask": np.ones((20, 20))}
    >>> s = dg.score(estimate, truth, "mir", items=items)
    >>> s["mir@all"].value
    10.0
    """

    where, counts = "textured", "wrong"

    @classmethod
    def measure(
        cls,
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        visibility: Visibility,
        texture_level: Levels,
        threshold: float = 1.0,
        level: int = 1,
    ) -> State:
        """The sum of the rows' rates, and the number of rows."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        inside = judged & cls._set(truth, visibility, texture_level, level)
        here = inside & is_known(estimate)
        matches = np.count_nonzero(here, axis=1)
        wrong = np.count_nonzero(here & is_bad(estimate, truth, threshold), axis=1)
        rows = matches > 0
        sums = np.array([float(np.sum(wrong[rows] / matches[rows])), float(rows.sum())])
        count = int(matches.sum())
        return State(count, int(np.count_nonzero(inside)) - count, sums)

    @classmethod
    def finish(cls, state: State, *, missing: str, threshold: float = 1.0, level: int = 1) -> float:
        """The mean over rows."""
        total, rows = (float(value) for value in state.sums)
        return 100.0 * total / rows if rows else math.nan


@metric(
    "fnr",
    needs=_NEEDS,
    formula="100 * mean over textured, visible pixels of [no estimate]",
    revision=1,
    missing_costs=_COUNTED,
    **_RATE,
)
class FalseNegativeRate(_Rate):
    """False negative rate: textured pixels that both views see and that are not matched.

    >>> import numpy as np, depthgauge as dg
    >>> noise = np.random.default_rng(0).integers(0, 256, (20, 20), np.uint8)
    >>> truth, estimate = np.full((20, 20), 5.0), np.full((20, 20), 5.0)
    >>> estimate[0, :], estimate[1, 1:], estimate[1, 0] = 9, np.nan, 9
    >>> items = {"left_image": noise, "visible_mask": np.ones((20, 20))}
    >>> s = dg.score(estimate, truth, ["fnr", "fr"], items=items)
    >>> s["fnr@all"].value, s["fr@all"].value
    (4.75, 10.0)
    """

    where, counts = "textured", "lost"


@metric(
    "fr",
    needs=_NEEDS,
    formula="100 * mean over textured, visible pixels of [not |e| <= threshold]",
    revision=1,
    missing_costs=_FAILS,
    **_RATE,
)
class FailureRate(_Rate):
    """Failure rate: textured pixels that both views see and that are matched wrongly or not at all.

    >>> import numpy as np, depthgauge as dg
    >>> noise = np.random.default_rng(0).integers(0, 256, (20, 20), np.uint8)
    >>> truth, estimate = np.full((20, 20), 5.0), np.full((20, 20), 5.0)
    >>> estimate[0, :], estimate[1, :] = 9, np.nan
    >>> items = {"left_image": noise, "visible_mask": np.ones((20, 20))}
    >>> dg.score(estimate, truth, "fr", items=items)["fr@all"].value
    10.0
    """

    where, counts = "textured", "both"


@metric(
    "misr",
    needs=_NEEDS,
    formula="100 * mean over textureless, estimated pixels of [|e| > threshold]",
    revision=1,
    missing_costs=_LEFT_OUT,
    **_RATE,
)
class TexturelessMismatchRate(_Rate):
    """Mismatch rate in textureless areas: wrong matches where there is no texture.

    Occluded pixels are not left out. `level` is that of the shared map `texture_level`.

    >>> import numpy as np, depthgauge as dg
    >>> truth, estimate = np.full((10, 10), 5.0), np.full((10, 10), 5.0)
    >>> estimate[:3], estimate[5:] = 9, np.nan
    >>> items = {"left_image": np.zeros((10, 10), np.uint8), "visible_mask": np.ones((10, 10))}
    >>> s = dg.score(estimate, truth, ["misr", "fnsr"], items=items)
    >>> s["misr@all"].value, s["fnsr@all"].value
    (60.0, 50.0)
    """

    where, counts = "textureless", "wrong"


@metric(
    "fnsr",
    needs=_NEEDS,
    formula="100 * mean over textureless pixels of [no estimate]",
    revision=1,
    missing_costs=_COUNTED,
    **_RATE,
)
class TexturelessFalseNegativeRate(_Rate):
    """False negative rate in textureless areas: pixels without texture that are not matched.

    Occluded pixels are not left out.

    >>> import numpy as np, depthgauge as dg
    >>> truth, estimate = np.full((10, 10), 5.0), np.full((10, 10), 5.0)
    >>> estimate[5:] = np.nan
    >>> items = {"left_image": np.zeros((10, 10), np.uint8), "visible_mask": np.ones((10, 10))}
    >>> dg.score(estimate, truth, "fnsr", items=items)["fnsr@all"].value
    50.0
    """

    where, counts = "textureless", "lost"


@metric(
    "obi",
    needs=_NEEDS,
    formula="100 * mean over occluded pixels of [not |e| <= threshold]",
    revision=1,
    missing_costs=_FAILS,
    **_RATE,
)
class OcclusionBoundaryInaccuracy(_Rate):
    """Occlusion boundary inaccuracy: occluded pixels that are not estimated rightly.

    >>> import numpy as np, depthgauge as dg
    >>> items = {"left_image": np.zeros((1, 4), np.uint8), "visible_mask": np.array([[1, 0, 0, 0]])}
    >>> s = dg.score([[9, 5, 9, float("nan")]], [[5, 5, 5, 5]], "obi", items=items)
    >>> round(s["obi@all"].value, 2)
    66.67
    """

    where, counts = "occluded", "both"


@metric(
    "fpr",
    needs=("visibility",),
    formula="100 * mean over occluded pixels of [matched with what only the right view sees]",
    revision=1,
    missing_costs="is right: there is nothing to match",
    **_RATE,
)
class FalsePositiveRate:
    """False positive rate: matches between pixels that are occluded in both views.

    In the table of matches of a row, such pairs form the jointly occluded area: no surface says
    what is right there, so nothing should be matched. The percentage is of the occluded pixels of
    the left view. An occluded pixel that is matched with something that the left view sees is no
    false positive, but an error of `obi`.

    >>> import numpy as np, depthgauge as dg
    >>> truth = [[2, 2, 8, 8, 2, 2, 2, 2, 2, 2, 2, 2]]
    >>> items = {"visible_mask": np.array([[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]])}
    >>> s = dg.score([[2, 2, 8, 8, -7, 2, 2, 2, 2, 2, 2, 2]], truth, "fpr", items=items)
    >>> s["fpr@all"].value
    20.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, visibility: Visibility) -> State:
        """How many occluded pixels there are, and how many are matched with occluded ones."""
        fails, judged = _joint(estimate, truth, region, visibility)
        return count_state(judged, np.ones(judged.shape, bool), fails)

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Percentage of the occluded pixels."""
        return share_of_estimates(state)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, visibility: Visibility) -> Map:
        """100 where two occluded pixels are matched."""
        fails, judged = _joint(estimate, truth, None, visibility)
        return shown(100.0 * fails, judged)


def _joint(
    estimate: Map, truth: Map, region: Mask | None, visibility: Visibility
) -> tuple[Mask, Mask]:
    """Which pixels are matched with one that only the right view sees; the occluded ones."""
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    need_size(visibility.occluded, "the visibility", truth)
    if visibility.right_only is None:
        raise Unavailable("fpr needs a truth that says what only the right view sees.")
    height, width = truth.shape
    y, x = np.mgrid[0:height, 0:width]
    at = np.rint(x - np.where(np.isfinite(estimate), estimate, np.float32(np.inf)))
    inside = (at >= 0) & (at < width)
    fails = np.zeros(truth.shape, bool)
    fails[inside] = visibility.right_only[y[inside], at[inside].astype(np.int64)]
    return fails, judged & visibility.occluded
