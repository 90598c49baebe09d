"""Whether a generated view has the disparities of its camera: their scale, and its certainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge.geometry.warping import left_right_consistent, warp_forward
from depthgauge.metrics._judged import need_size
from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._frames import PAINTED, as_picture, whole_views
from depthgauge.metrics.views._stereo import fit_line, match_views
from depthgauge.types import Image, Map, Mask, State
from depthgauge.units import Unit

_CITE = "Cui, Qiao & Jacobs 2026, section 4 and appendix H"
_NEEDS = ("left_image", "disparity")
_MISSING = (
    f"{PAINTED}. A frame whose line is degenerate has no number, and its clip none; `skip`: it is "
    "left out"
)
_FEWEST_PX, _FEWEST_SHARE = 100, 0.01
_PERCENTILES = (5, 95)
_ERROR, _BIAS, _OFFSET, _RESIDUAL, _OUTLIERS, _VALID, _FRAMES, _LOST = range(8)


@dataclass(frozen=True, slots=True)
class ScaleRules:
    """How disparities are found and which lines are degenerate."""

    matcher: str = "sgbm"
    """The reference matcher: `sgbm`, our network (`nets-stereo-3`), or one by its hash
    (`onnx-...`)."""
    disparities: int = 256
    """The largest disparity that is searched; pixels beyond it are not judged."""
    spread_px: float = 1.0
    """Frames whose true disparities differ by less (5 to 95 %) are not judged."""
    least_spread_px: float = 0.5
    """A line is degenerate if the found disparities differ by less."""


def judged_disparities(disparity: Map, region: Mask | None, rules: ScaleRules) -> Mask:
    """Pixels of the left view that are judged: the right view sees them, and they are searched.

    Whether a pixel is seen follows from the true disparities alone: no nearer one lands there.
    """
    known = np.isfinite(disparity) & (disparity < rules.disparities)
    seen = left_right_consistent(disparity, warp_forward(disparity, disparity))
    return known & seen if region is None else known & seen & region


def _spread(values: np.ndarray) -> float:
    low, high = np.percentile(values, _PERCENTILES)
    return float(high - low)


class _Scale:
    """What these metrics share: the line of a frame."""

    parameters = ScaleRules

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        left_image: Image,
        disparity: Map,
        **parameters: Any,
    ) -> State:
        """Numbers of the frame's line; a frame that says nothing about a scale is empty."""
        rules = ScaleRules(**parameters)
        shown, _, counts = whole_views(estimate, truth, region)
        need_size(disparity, "disparity", truth)
        judged = judged_disparities(disparity, region, rules)
        n, sums = int(np.count_nonzero(judged)), np.zeros(8)
        if n < _FEWEST_PX or _spread(disparity[judged]) < rules.spread_px:
            return State(0, 0, sums)
        if not counts.count:
            sums[_LOST] = 1
            return State(0, counts.missing, sums)
        left = as_picture(left_image, shown.shape)
        found = match_views(left, shown, rules.matcher, rules.disparities)
        valid = judged & np.isfinite(found)
        share = np.count_nonzero(valid) / n
        sums[_VALID] = 100.0 * share
        enough = share >= _FEWEST_SHARE and np.count_nonzero(valid) >= _FEWEST_PX
        if not enough or _spread(found[valid]) < rules.least_spread_px:
            sums[_LOST] = 1
            return State(counts.count, counts.missing, sums)
        line = fit_line(found[valid].astype(np.float64), disparity[valid].astype(np.float64))
        sums[:_VALID] = (
            abs(line.scale - 1),
            line.scale - 1,
            line.offset,
            line.residual_px,
            100.0 * line.outliers,
        )
        sums[_FRAMES] = 1
        return State(counts.count, counts.missing, sums)


def _mean(state: State, missing: str, which: int) -> float:
    """The mean over frames; NaN if the line of one of them is degenerate."""
    frames, lost = state.sums[[_FRAMES, _LOST]]
    if which == _VALID:
        frames, lost = frames + lost, 0
    if not frames or (lost and missing not in ("skip", "good")):
        return math.nan
    return float(state.sums[which] / frames)


_COMMON: dict[str, Any] = {
    "of": ("view",),
    "cite": _CITE,
    "revision": 1,
    "needs": _NEEDS,
    "missing_costs": _MISSING,
}


@metric(
    "sd",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    formula="mean over frames of |a - 1|, true disparity = a * found disparity + b",
    **_COMMON,
)
class DisparityScaleError(_Scale):
    """How far the scale of a view's disparities is from the true one.

    A reference matcher finds disparities between the left view and the generated one, and a line
    maps them to the true disparities: d = a * found + b, least squares without outliers (three
    deviations, repeated). Pixels count if the true right view sees them, their true disparity is
    below `disparities`, and the matcher found one. A frame is degenerate if that holds for fewer
    than 1 % of its pixels, or if the found disparities hardly differ, as in a copy of the left view
    or a view that is shifted as a whole: then there is no scale, the clip has no number, and the
    method is incomplete and ranked last. Frames whose true disparities hardly differ are not
    judged. The numbers depend on the matcher, which is part of the protocol.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return _mean(state, missing, _ERROR)


@metric(
    "sd_bias",
    category="views",
    unit=Unit.RATIO,
    better="zero",
    bounds=(-math.inf, math.inf),
    formula="mean over frames of a - 1, true disparity = a * found disparity + b",
    **_COMMON,
)
class DisparityScaleBias(_Scale):
    """The scale a of `sd` with its sign: a - 1.

    1 means that the view has half of the disparities it should have, -0.5 that it has twice as
    many. The baseline that a method seems to use is the true one divided by 1 + `sd_bias`.
    """

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return _mean(state, missing, _BIAS)


@metric(
    "sd_offset",
    category="views",
    unit=Unit.PIXEL,
    better="zero",
    bounds=(-math.inf, math.inf),
    formula="mean over frames of b, true disparity = a * found disparity + b",
    **_COMMON,
)
class DisparityOffset(_Scale):
    """The offset b of the line of `sd`: a view that is shifted as a whole has one."""

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return _mean(state, missing, _OFFSET)


@metric(
    "sd_residual",
    category="views",
    unit=Unit.PIXEL,
    better="lower",
    bounds=(0, math.inf),
    formula="mean over frames of the root of the mean squared residual of the line",
    **_COMMON,
)
class DisparityResidual(_Scale):
    """How far true disparities are from the line of `sd`, over the pixels that it is fitted to."""

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return _mean(state, missing, _RESIDUAL)


@metric(
    "sd_outliers",
    category="views",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    formula="mean over frames of 100 * pixels left out of the fit / pixels with a found disparity",
    **_COMMON,
)
class DisparityOutliers(_Scale):
    """How many pixels the line of `sd` leaves out, because they are beyond three deviations."""

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return _mean(state, missing, _OUTLIERS)


@metric(
    "sd_valid",
    category="views",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    formula="mean over frames of 100 * judged pixels with a found disparity / judged pixels",
    **_COMMON,
)
class DisparityValid(_Scale):
    """How many of the judged pixels the reference matcher of `sd` finds a disparity for."""

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames, degenerate ones too."""
        return _mean(state, missing, _VALID)
