"""How close a view is to the true one, pixel by pixel and window by window: PSNR and SSIM."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._frames import Picture, finish_frames, frame_state, judged_views
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

CAP_DB = 100.0
"""The largest PSNR by default: that of two equal pictures."""
_C1, _C2 = 0.01**2, 0.03**2
_GAUSSIAN_RADIUS, _SIGMA, _UNIFORM_RADIUS = 5, 1.5, 3
_WORST_SSIM = -1.0
Values = NDArray[np.float64]


def decibels(mean_square: float, cap: float) -> float:
    """PSNR of a mean squared error of values from 0 to 1; at most the cap.

    >>> decibels(0.01, 100), decibels(0, 60)
    (20.0, 60)
    """
    if math.isnan(mean_square):
        return math.nan
    least = 10.0 ** (-cap / 10)
    return cap if mean_square <= least else max(0.0, -10.0 * math.log10(mean_square))


@metric(
    "psnr",
    category="views",
    unit=Unit.DECIBEL,
    better="higher",
    bounds=(0, CAP_DB),
    of=("view",),
    cite="common",
    formula="mean over frames of -10 log10 mean e^2",
    revision=1,
    missing_costs="a missing pixel has the largest possible error, 1 in each channel",
)
class Psnr:
    """Peak signal-to-noise ratio of a view, in decibels.

    Channels are from 0 to 1, so the peak is 1. The squared error is averaged over pixels and
    channels of a frame. A frame that is equal to its truth has `cap`. A clip has the mean of its
    frames' values. Equal to `peak_signal_noise_ratio(..., data_range=1)` of scikit-image, frame by
    frame.
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, cap: float = CAP_DB) -> State:
        """The frame's PSNR with and without its missing pixels."""
        estimate, truth, judged, present = judged_views(estimate, truth, region)
        count = int(np.count_nonzero(present))
        views = (estimate, truth) if count == present.size else (estimate[present], truth[present])
        errors = np.subtract(*views, dtype=np.float64)
        squares = float(np.sum(np.square(errors, out=errors))) / 3
        lost = int(np.count_nonzero(judged)) - count
        both = (squares + lost) / (count + lost) if count + lost else math.nan
        known = squares / count if count else math.nan
        return frame_state(State(count, lost), decibels(both, cap), decibels(known, cap))

    @staticmethod
    def finish(state: State, *, missing: str, cap: float = CAP_DB) -> float:
        """The mean over frames."""
        return finish_frames(state, missing)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, cap: float = CAP_DB) -> Map:
        """PSNR of single pixels."""
        estimate, truth, judged, present = judged_views(estimate, truth, None)
        squares = np.mean((estimate.astype(np.float64) - truth) ** 2, axis=2)
        squares[judged & ~present] = 1.0
        least = 10.0 ** (-cap / 10)
        shown = -10.0 * np.log10(
            np.maximum(squares, least, where=judged, out=np.ones_like(squares))
        )
        return np.where(judged, shown, np.nan).astype(np.float32)


def ssim_map(first: Picture, second: Picture, window: str) -> tuple[Values, int]:
    """SSIM of every window that lies within the picture, the mean over channels.

    Args:
        first: (H, W, C).
        second: The same size.
        window: `gaussian` or `uniform`.

    Returns:
        (H - 2 r, W - 2 r), and r, the window's radius.
    """
    from depthgauge.metrics.kernels.views import similarity

    weights, spread = _window(window)
    radius = len(weights) // 2
    height, width, channels = first.shape
    inner = tuple(max(0, n - 2 * radius) for n in (height, width))
    if 0 in inner:
        return np.zeros(inner), radius
    x, y = (np.ascontiguousarray(v).reshape(height, -1) for v in (first, second))
    found = np.zeros((inner[0], inner[1] * channels))
    similarity(x, y, weights, channels, spread, _C1, _C2, found)
    planes = found.reshape(*inner, channels)
    return sum(planes[..., c] for c in range(channels)) / channels, radius


def _window(name: str) -> tuple[Values, float]:
    """Weights along one axis, and the factor that makes a covariance of a weighted mean."""
    if name == "uniform":
        n = 2 * _UNIFORM_RADIUS + 1
        return np.full(n, 1.0 / n), n * n / (n * n - 1.0)
    at = np.arange(-_GAUSSIAN_RADIUS, _GAUSSIAN_RADIUS + 1)
    weights = np.exp(-0.5 * (at / _SIGMA) ** 2)
    return weights / weights.sum(), 1.0


@metric(
    "ssim",
    category="views",
    unit=Unit.RATIO,
    better="higher",
    bounds=(-1, 1),
    of=("view",),
    cite="Wang, Bovik, Sheikh & Simoncelli 2004",
    formula="mean of (2 mx my + c1)(2 sxy + c2) / ((mx^2 + my^2 + c1)(sx^2 + sy^2 + c2))",
    revision=1,
    choices={"window": ("gaussian", "uniform")},
    missing_costs="a window with a missing pixel has -1; `skip`: it is left out",
)
class Ssim:
    """Structural similarity of a view and its truth.

    Means, variances and the covariance of a window around each pixel; c1 = 0.01^2 and c2 = 0.03^2
    for channels from 0 to 1. Channels are compared one by one and averaged. `gaussian` is the
    original: weights with a deviation of 1.5 px in 11 x 11 px. `uniform` is scikit-image's default:
    7 x 7 px of equal weight and sample covariances. Windows that reach beyond the picture are left
    out. Both agree with `structural_similarity` of scikit-image in float64 (for `gaussian` with
    `gaussian_weights=True, sigma=1.5, use_sample_covariance=False`).
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, window: str = "gaussian"
    ) -> State:
        """The frame's mean with and without windows that have missing pixels."""
        found, judged, lost = _windows(estimate, truth, region, window)
        present = judged & ~lost
        count = int(np.count_nonzero(present))
        total = float(np.sum(found if count == found.size else found[present]))
        missing = int(np.count_nonzero(judged)) - count
        n = count + missing
        both = (total + _WORST_SSIM * missing) / n if n else math.nan
        known = total / count if count else math.nan
        return frame_state(State(count, missing), both, known)

    @staticmethod
    def finish(state: State, *, missing: str, window: str = "gaussian") -> float:
        """The mean over frames."""
        return finish_frames(state, missing)

    @staticmethod
    def error_map(estimate: Map, truth: Map, *, window: str = "gaussian") -> Map:
        """SSIM of the window around each pixel."""
        found, judged, lost = _windows(estimate, truth, None, window)
        shown = np.full(truth.shape[:2], np.nan, np.float32)
        radius = (truth.shape[0] - found.shape[0]) // 2
        inner = shown[radius : radius + found.shape[0], radius : radius + found.shape[1]]
        inner[judged] = np.where(lost, _WORST_SSIM, found)[judged]
        return shown


def _windows(
    estimate: Map, truth: Map, region: Mask | None, window: str
) -> tuple[Values, Mask, Mask]:
    """SSIM of every window within the picture, which are judged, and which have missing pixels.

    A window with a pixel that has no truth is not judged.
    """
    estimate, truth, judged, _ = judged_views(estimate, truth, region)
    unknown = ~is_known(truth)
    gaps = ~unknown & ~is_known(estimate)
    if (lost := unknown | gaps).any():
        estimate, truth = (np.where(lost[..., None], 0, view) for view in (estimate, truth))
    found, radius = ssim_map(estimate, truth, window)
    height, width = found.shape
    inner = judged[radius : radius + height, radius : radius + width]
    return found, inner & ~_near(unknown, radius), _near(gaps, radius)


def _near(marked: Mask, radius: int) -> Mask:
    """Which windows within the picture hold a marked pixel."""
    height, width = (max(0, n - 2 * radius) for n in marked.shape)
    if not marked.any() or not height or not width:
        return np.zeros((height, width), bool)
    import cv2

    side = 2 * radius + 1
    spread = cv2.dilate(marked.astype(np.uint8), np.ones((side, side), np.uint8))
    return np.asarray(spread[radius : radius + height, radius : radius + width] > 0)
