"""Sums of depth errors and of relative errors, as Cabezas et al. define them.

A sum grows with the number of pixels, so it compares maps of one size and of one density only. Both
metrics can give the mean over the same pixels instead.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._judged import judged_pixels, mean_state, shown
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, Rig, State
from depthgauge.units import Unit

OVER = {"over": ("sum", "mean")}
_LEFT_OUT = (
    "is left out, which makes a sum smaller: compare sums of maps with the same `density` only"
)


def _finish(state: State, over: str) -> float:
    """The sum, or the mean; NaN without any estimate."""
    if not state.count:
        return math.nan
    return float(state.sums[0]) / (state.count if over == "mean" else 1)


@metric(
    "sze",
    category="depths",
    unit=Unit.METRE,
    better="lower",
    bounds=(0, math.inf),
    of=("disparity",),
    needs=("rig",),
    choices=OVER,
    cite="Cabezas, Padilla & Trujillo 2011; Honauer 2019, equation 3.8",
    formula="sum |f b / estimate - f b / truth|",
    revision=1,
    missing_costs=_LEFT_OUT,
)
class SigmaZError:
    """Sigma-Z error: the sum of the absolute depth errors of a disparity map, in metres.

    Depth is f b / (d + offset) with the rig's focal length, baseline and difference of principal
    points. A disparity that means no finite depth (d + offset is not positive) is missing, and a
    pixel whose truth means none is not judged. `mean` gives the mean instead of the sum; for an
    estimate of depth, that is `mae`.

    >>> import depthgauge as dg
    >>> from depthgauge.types import Camera, Rig
    >>> rig = Rig({"left": Camera((100.0, 100.0), (1.0, 0.0), (3, 1))}, baseline_m=0.1)
    >>> s = dg.score([[5, 2, 4]], [[10, 2, 2]], ["sze", "sze:mean"], items={"rig": rig})
    >>> s["sze@all"].value, s["sze:mean@all"].value
    (3.5, 1.1666666666666667)
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, rig: Rig, over: str = "sum"
    ) -> State:
        """The sum of the errors."""
        return mean_state(*_depth_errors(estimate, truth, region, rig))

    @staticmethod
    def finish(state: State, *, missing: str, over: str = "sum") -> float:
        """The sum, or the mean."""
        return _finish(state, over)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, rig: Rig, over: str = "sum") -> Map:
        """The error of each depth."""
        return shown(*_depth_errors(estimate, truth, None, rig))


def _depth_errors(
    estimate: Map, truth: Map, region: Mask | None, rig: Rig
) -> tuple[NDArray[np.float64], Mask]:
    """The absolute depth error of each pixel, and which pixels are judged."""
    from depthgauge.geometry.rigs import depth_from_map, main_camera

    estimate, truth, judged = judged_pixels(estimate, truth, region)
    camera = main_camera(rig)
    depths = [depth_from_map(d, "disparity", rig, camera) for d in (estimate, truth)]
    known = np.isfinite(depths[1])
    return np.abs(np.subtract(*depths, dtype=np.float64)), judged & known


@metric(
    "bmpre",
    category="depths",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("disparity", "depth"),
    choices=OVER,
    cite="Cabezas, Padilla & Trujillo 2012; Honauer 2019, equation 3.10",
    formula="sum |e| / |truth| over the pixels with not |e| <= threshold",
    revision=1,
    missing_costs=_LEFT_OUT,
)
class BadMatchedRelativeError:
    """Bad matched pixels relative error: the relative errors of the pixels that are bad, summed.

    `badpix` counts bad pixels, `absrel` averages the relative errors of all; this sums those of the
    bad ones. `mean` divides the sum by the number of all pixels with an estimate. Infinite if a
    true disparity of 0 is bad.

    >>> import depthgauge as dg
    >>> s = dg.score([[12, 4.5, 8, 2]], [[10, 4, 2, 2]], ["bmpre:1", "bmpre:1,mean"])
    >>> s["bmpre:1@all"].value, s["bmpre:1,mean@all"].value
    (3.2, 0.8)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        threshold: float = 1.0,
        over: str = "sum",
    ) -> State:
        """The sum of the relative errors of bad pixels."""
        values, judged = _bad_relative(estimate, truth, region, threshold)
        present = judged & ~np.isnan(values)
        lost = int(np.count_nonzero(judged & ~present))
        total = np.sum(values[present], dtype=np.float64)
        return State(int(np.count_nonzero(present)), lost, np.array([total]))

    @staticmethod
    def finish(state: State, *, missing: str, threshold: float = 1.0, over: str = "sum") -> float:
        """The sum, or the mean over all estimated pixels."""
        return _finish(state, over)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, threshold: float = 1.0, over: str = "sum") -> Map:
        """The relative error of bad pixels, 0 at good ones."""
        return shown(*_bad_relative(estimate, truth, None, threshold))


def _bad_relative(
    estimate: Map, truth: Map, region: Mask | None, threshold: float
) -> tuple[NDArray[np.float64], Mask]:
    """The relative error where a pixel is bad, 0 where it is not, NaN without an estimate."""
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    size = np.abs(estimate - truth)
    relative = np.zeros(truth.shape)
    bad = judged & ~(size <= np.float32(threshold))
    with np.errstate(divide="ignore"):
        relative[bad] = size[bad].astype(np.float64) / np.abs(truth[bad].astype(np.float64))
    relative[~np.isfinite(estimate)] = np.nan
    return relative, judged
