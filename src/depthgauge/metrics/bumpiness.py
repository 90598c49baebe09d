"""Smoothness of surfaces: how much more, or less, a map bends than it should.

The bend of a map at a pixel is the larger magnitude of the two eigenvalues of its Hessian (Honauer
2019, equation 4.3): 0 on all planes, even tilted ones.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry._maps import as_plane
from depthgauge.metrics._judged import (
    finish_mean,
    judged_pixels,
    mean_state,
    whole_region,
)
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")


def bend(values: Map) -> Map:
    """The larger magnitude of the Hessian's two eigenvalues, per pixel squared (equation 4.3).

    NaN in the outermost rows and columns and where any of the 3 x 3 pixels is missing.

    >>> y, x = np.mgrid[0:3, 0:3]
    >>> float(bend(0.5 * x * x - 2 * y * y)[1, 1])
    4.0
    """
    from depthgauge.metrics.kernels.surfaces import bending

    plane = as_plane(values, "the map")
    found = np.full(plane.shape, np.nan, np.float32)
    bending(plane, found)
    return found


def _excess(estimate: Map, truth: Map, region: Mask | None, sign: float) -> tuple[Map, Mask]:
    """How much more (or less) the estimate bends, and where the truth's own bend is known."""
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    true_bend = bend(truth)
    more = np.float32(sign) * (bend(estimate) - true_bend)
    return np.maximum(more, np.float32(0)), judged & np.isfinite(true_bend)


class _MeanBend:
    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """100 times the mean."""
        return finish_mean(state, missing, factor=100.0)


@metric(
    "bumpiness",
    category="geometry",
    unit=Unit.HUNDREDTH_PER_PX2,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.4",
    formula="100 * mean max(0, bend of the estimate - bend of the truth)",
    revision=1,
)
class Bumpiness(_MeanBend):
    """How much more the estimate bends than the truth, on average, times 100.

    The bend is the larger magnitude of the Hessian's eigenvalues, in the quantity's unit per pixel
    squared. Neither a tilt nor a shift of a surface matters. Pixels beside unknown truth are left
    out; a missing estimate takes its eight neighbours with it.

    >>> import depthgauge as dg
    >>> flat, ridge = [[0, 0, 0]] * 3, [[0, 0.5, 0]] * 3
    >>> dg.score(ridge, flat, "bumpiness")["bumpiness@all"].value
    100.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None) -> State:
        """Sum of the excess bend of the estimate."""
        return mean_state(*_excess(estimate, truth, region, 1.0))

    @staticmethod
    def error_map(estimate: Map, truth: Map) -> Map:
        """100 times the excess bend of the estimate over the truth, at each pixel."""
        return np.float32(100) * _excess(estimate, truth, None, 1.0)[0]


@metric(
    "smoothing",
    category="geometry",
    unit=Unit.HUNDREDTH_PER_PX2,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.5",
    formula="100 * mean max(0, bend of the truth - bend of the estimate)",
    revision=1,
)
class Smoothing(_MeanBend):
    """How much less the estimate bends than the truth, on average, times 100: lost detail.

    The counterpart of `bumpiness`, with the same bend and the same pixels.

    >>> import depthgauge as dg
    >>> flat, ridge = [[0, 0, 0]] * 3, [[0, 0.5, 0]] * 3
    >>> dg.score(flat, ridge, "smoothing")["smoothing@all"].value
    100.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None) -> State:
        """Sum of the bend that the estimate lacks."""
        return mean_state(*_excess(estimate, truth, region, -1.0))

    @staticmethod
    def error_map(estimate: Map, truth: Map) -> Map:
        """100 times the bend that the estimate lacks, at each pixel."""
        return np.float32(100) * _excess(estimate, truth, None, -1.0)[0]


@metric(
    "weak_bumpiness",
    category="no_reference",
    unit=Unit.HUNDREDTH_PER_PX2,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    cite="Honauer 2019, equation 5.2",
    formula="100 * mean bend of the estimate",
    revision=1,
    uses_truth=False,
)
class WeakBumpiness(_MeanBend):
    """How much the estimate bends, on average, times 100; no truth is used.

    For regions that are known to be smooth (walls, roads, a mask drawn by hand), where a good
    estimate hardly bends. It does not tell whether the surface is in the right place, and a
    constant map is perfect.

    >>> import depthgauge as dg
    >>> dg.score([[0, 0.5, 0]] * 3, None, "weak_bumpiness")["weak_bumpiness@all"].value
    100.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map | None, region: Mask | None) -> State:
        """Sum of the estimate's bend."""
        found = bend(estimate)
        judged = np.zeros(found.shape, bool)
        # No map has a bend in its outermost rows and columns, so they are not missing there.
        judged[1:-1, 1:-1] = whole_region(region, found)[1:-1, 1:-1]
        return mean_state(found, judged)

    @staticmethod
    def error_map(estimate: Map, truth: Map | None) -> Map:
        """100 times the estimate's bend at each pixel."""
        return np.float32(100) * bend(estimate)


@metric(
    "light_field_bumpiness",
    category="geometry",
    unit=Unit.HUNDREDTH_PER_PX2,
    better="lower",
    bounds=(0, math.inf),
    of=NUMBERS,
    cite="Honauer 2019, equation 7.1",
    formula="100 * mean min(clip, Frobenius norm of the Hessian of estimate - truth)",
    revision=1,
    missing_costs="`bad`: counts as 100 times the clip; `skip`: is left out.",
)
class LightFieldBumpiness:
    """How much the error bends, on average, times 100; each pixel counts for at most the clip.

    The simpler bumpiness of the 4D Light Field Benchmark: any difference in bend counts, more or
    less. The Hessian here is the true one. That of the benchmark's own program is four times as
    large because of its derivative filter, so its clip of 0.05 is 0.0125 here, and four times
    `light_field_bumpiness:0.0125` is close to its number; the twin gives it exactly. A missing
    pixel under `bad` counts as the clip.

    >>> import depthgauge as dg
    >>> flat, ridge = [[0, 0, 0]] * 3, [[0, 0.01, 0]] * 3
    >>> round(dg.score(ridge, flat, "light_field_bumpiness")["light_field_bumpiness@all"].value, 4)
    2.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, clip: float = 0.05) -> State:
        """Sum of the clipped norms."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        known = np.isfinite(bend(truth))
        return mean_state(_clipped_norm(estimate, truth, clip), judged & known)

    @staticmethod
    def finish(state: State, *, missing: str, clip: float = 0.05) -> float:
        """100 times the mean."""
        return finish_mean(state, missing, factor=100.0, worst=clip)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, clip: float = 0.05) -> Map:
        """100 times the clipped norm at each pixel."""
        return np.asarray(100.0 * _clipped_norm(estimate, truth, clip), np.float32)


def _clipped_norm(estimate: Map, truth: Map, clip: float) -> NDArray[np.float64]:
    from depthgauge.metrics.kernels.surfaces import hessian_norm

    error = as_plane(estimate - truth, "the error")
    norms = np.full(error.shape, np.nan, np.float32)
    hessian_norm(error, norms)
    # In float64: a missing pixel must not cost less than a clipped one.
    return np.minimum(norms.astype(np.float64), clip)
