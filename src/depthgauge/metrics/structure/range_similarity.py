"""Structural similarity of range maps: R-SSIM, at one scale and at several."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.metrics._judged import judged_pixels
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")
_SIGMA = 1.5
_ANY = 1e150
"""A constant beside which everything else vanishes: that factor of the similarity is 1.

Its product with the other factor must stay finite, so it is far below the largest float64.
"""
_LEAST = 1e-6
"""The smallest noise: below it, float32 rounds."""
Values = NDArray[np.float64]


def window_weights(window: int) -> Values:
    """Gaussian weights along one axis of a window, with a deviation of 1.5 px.

    Raises:
        BadScoreId: The window has no pixel in its middle.
    """
    if window < 3 or window % 2 == 0:
        raise BadScoreId(f"r_ssim: window is {window} but must be odd and at least 3.")
    at = np.arange(window) - window // 2
    weights = np.exp(-0.5 * (at / _SIGMA) ** 2)
    return np.asarray(weights / weights.sum())


def similarities(first: Map, second: Map, window: int, c_depth: float, c_shape: float) -> Values:
    """D r s of every window that lies within two maps without gaps: (H - w + 1, W - w + 1).

    With means m, variances v and the covariance c of a window:
    (2 m1 m2 + c_depth) / (m1^2 + m2^2 + c_depth) * (2 c + c_shape) / (v1 + v2 + c_shape).
    """
    from depthgauge.metrics.kernels.views import similarity

    weights = window_weights(window)
    height, width = (max(0, n - window + 1) for n in first.shape)
    found = np.zeros((height, width))
    if found.size:
        similarity(first, second, weights, 1, 1.0, c_depth, c_shape, found)
    return found


def whole_windows(known: Mask, window: int) -> Mask:
    """Which windows within the map have all their pixels."""
    height, width = (max(0, n - window + 1) for n in known.shape)
    if not height or not width:
        return np.zeros((height, width), bool)
    import cv2

    side = np.ones((window, window), np.uint8)
    kept = cv2.erode(known.astype(np.uint8), side, borderType=cv2.BORDER_CONSTANT, borderValue=1)
    half = window // 2
    return np.asarray(kept[half : half + height, half : half + width] > 0)


def _judged_windows(
    estimate: Map, truth: Map, judged: Mask, window: int
) -> tuple[Map, Map, Mask, Mask]:
    """Both maps without gaps, the windows that are judged, and those of them that are whole.

    A window is judged if its middle is judged and all its truth is known.
    """
    known, present = np.isfinite(truth), np.isfinite(estimate)
    half = window // 2
    inner = judged[half : judged.shape[0] - half, half : judged.shape[1] - half]
    asked = whole_windows(known, window)
    asked &= inner if inner.shape == asked.shape else False
    filled = (np.where(known & present, values, np.float32(0)) for values in (estimate, truth))
    first, second = (np.ascontiguousarray(values, np.float32) for values in filled)
    return first, second, asked, asked & whole_windows(known & present, window)


@metric(
    "r_ssim",
    category="structure",
    unit=Unit.RATIO,
    better="higher",
    bounds=(-1, 1),
    of=NUMBERS,
    cite="Malpica & Bovik 2009; Honauer 2019, equations 3.11 and 3.12",
    formula="mean of 2 mx mg / (mx^2 + mg^2) * (2 cov + noise^2) / (vx + vg + noise^2)",
    revision=1,
    missing_costs="a window with a missing pixel has -1; `skip`: it is left out",
)
class RangeSimilarity:
    """Range structural similarity: how alike the neighbourhoods of a pixel are in both maps.

    Means, variances and the covariance of a Gaussian window (deviation 1.5 px) give similarities in
    depth, roughness and structure, with exponents of 1; the score is the mean of their product over
    the windows whose truth is complete. Equation 3.12 has no constants, so it is 0 / 0 on flat
    windows: `noise`, in the unit of the map, makes two windows equal that vary less than it. The
    windows of flat surfaces still decide most scores. For maps of one sign: where disparities pass
    0, as in light fields, the similarity in depth means little.

    >>> import numpy as np, depthgauge as dg
    >>> ramp = np.tile(np.arange(1, 10), (9, 1))
    >>> s = dg.score(ramp[:, ::-1], ramp, "r_ssim", check=False)
    >>> round(s["r_ssim@all"].value, 6)
    -1.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        window: int = 9,
        noise: float = 0.001,
    ) -> State:
        """The sum over windows."""
        maps = judged_pixels(estimate, truth, region)
        first, second, asked, whole = _judged_windows(*maps, window)
        found = similarities(first, second, window, _LEAST**2, max(noise, _LEAST) ** 2)
        count = int(np.count_nonzero(whole))
        total = float(np.sum(found if count == found.size else found[whole]))
        return State(count, int(np.count_nonzero(asked)) - count, np.array([total]))

    @staticmethod
    def finish(state: State, *, missing: str, window: int = 9, noise: float = 0.001) -> float:
        """The mean."""
        lost = state.missing if missing in ("bad", "interpolate") else 0
        n = state.count + lost
        return (float(state.sums[0]) - lost) / n if n else math.nan

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, window: int = 9, noise: float = 0.001) -> Map:
        """The similarity of the window around each pixel."""
        maps = judged_pixels(estimate, truth, None)
        first, second, asked, whole = _judged_windows(*maps, window)
        found = similarities(first, second, window, _LEAST**2, max(noise, _LEAST) ** 2)
        shown = np.full(truth.shape, np.nan, np.float32)
        half = window // 2
        inner = shown[half : half + found.shape[0], half : half + found.shape[1]]
        inner[asked] = np.where(whole, found, -1.0)[asked]
        return shown


@metric(
    "ms_r_ssim",
    category="structure",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=NUMBERS,
    cite="Malpica & Bovik 2009, after Wang, Simoncelli & Bovik 2003",
    formula="mean d * product over scales of max(0, mean r s)",
    revision=2,
    missing_costs="a window with a missing pixel has 0 at its scale; `skip`: it is left out",
)
class MultiScaleRangeSimilarity:
    """Multi-scale R-SSIM: similarity in depth, times roughness and structure at several scales.

    The similarity in depth is that of the full resolution. Roughness and structure are averaged at
    each scale and multiplied; from scale to scale, both maps are halved by means of 2 x 2 pixels
    that are all known. Scales at which no window fits are left out. The product is one of averages,
    so a state holds their sums, and samples are pooled scale by scale.

    >>> import numpy as np, depthgauge as dg
    >>> y, x = np.mgrid[0:48, 0:48]
    >>> truth = 20 + np.hypot(x - 24, y - 24)
    >>> s = dg.score(2 * truth, truth, "ms_r_ssim:2", check=False)
    >>> round(s["ms_r_ssim:2@all"].value, 4)
    0.512
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        scales: int = 5,
        window: int = 9,
        noise: float = 0.001,
    ) -> State:
        """Of depth and of each scale: the sum over whole windows, their number, and those lost."""
        if scales < 1:
            raise BadScoreId(f"ms_r_ssim: scales is {scales} but must be at least 1.")
        maps = judged_pixels(estimate, truth, region)
        constant = max(noise, _LEAST) ** 2
        sums = np.zeros((scales + 1, 3))
        for scale in range(scales):
            first, second, asked, whole = _judged_windows(*maps, window)
            n, lost = np.count_nonzero(whole), np.count_nonzero(asked & ~whole)
            if scale == 0:
                depth = similarities(first, second, window, _LEAST**2, _ANY)
                sums[0] = np.sum(depth[whole]), n, lost
                counts = State(int(n), int(lost))
            shape = similarities(first, second, window, _ANY, constant)
            sums[scale + 1] = np.sum(shape[whole]), n, lost
            maps = _halved(*maps)
        return State(counts.count, counts.missing, sums.ravel())

    @staticmethod
    def finish(
        state: State, *, missing: str, scales: int = 5, window: int = 9, noise: float = 0.001
    ) -> float:
        """The product of the means."""
        product = math.nan
        for total, n, lost in state.sums.reshape(-1, 3).tolist():
            n += lost if missing in ("bad", "interpolate") else 0
            if n:
                factor = max(0.0, total / n)
                product = factor if math.isnan(product) else product * factor
        return product


def _halved(estimate: Map, truth: Map, judged: Mask) -> tuple[Map, Map, Mask]:
    """Means of 2 x 2 pixels; NaN if one is unknown, judged if all are."""
    height, width = (n // 2 * 2 for n in truth.shape)
    blocks = (
        v[:height, :width].reshape(height // 2, 2, width // 2, 2) for v in (estimate, truth, judged)
    )
    first, second, inside = blocks
    return (
        np.asarray(first.mean(axis=(1, 3)), np.float32),
        np.asarray(second.mean(axis=(1, 3)), np.float32),
        np.asarray(inside.all(axis=(1, 3))),
    )
