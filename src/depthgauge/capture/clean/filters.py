"""What `capture clean` does to maps: finds pixels to remove, and smooths the remaining surfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask, is_known

PAPER_WIDTH_PX = 4112
"""Width of the images that the filter was published for."""
WINDOW_PX, SIGMA_PX, SIGMA_DISTANCE_PX = 35, 5.0, 50.0
"""The published bilateral filter."""
PLANES_SIGMA_PX = 0.5
"""Sigma of differences from the tangent plane: wide for noise, narrow for steps of 1 or 2 px."""
Verdict = Literal["agrees", "unmatched", "nearer", "farther"]


def find_mismatches(
    disparity: Map, other: Map, side: str, threshold_px: float
) -> dict[Verdict, Mask]:
    """What the other view says about each pixel that has a value.

    A pixel's match is one of the two pixels around x - d (from the left view; x + d from the
    right one): the one that agrees more. `nearer`: the other view has something in front there, as
    it must if the pixel is occluded. `farther`: the other view looks through the claimed surface.
    `unmatched`: the other view has no value there, or the position is outside.

    Args:
        disparity: (H, W), NaN where missing.
        other: The other view's map.
        side: The view of the first map: `left` or `right`.
        threshold_px: Smaller differences count as agreement.

    >>> left, right = np.full((1, 4), 1.0), np.array([[1.0, 3.0, np.nan, np.nan]])
    >>> {word: np.flatnonzero(m).tolist()
    ...  for word, m in find_mismatches(left, right, "left", 1.5).items()}
    {'agrees': [1], 'unmatched': [0, 3], 'nearer': [2], 'farther': []}
    """
    if disparity.shape != other.shape:
        raise WrongShape(
            f"both views need maps of the same size, found {disparity.shape} and {other.shape}"
        )
    from depthgauge.capture.clean import _match_kernels as kernels

    verdict = np.full(disparity.shape, 255, np.uint8)
    sign = -1 if side == "left" else 1
    mine, theirs = (np.ascontiguousarray(m, np.float32) for m in (disparity, other))
    kernels.match(mine, theirs, sign, threshold_px, verdict)
    codes: dict[Verdict, int] = {
        "agrees": kernels.AGREES,
        "unmatched": kernels.UNMATCHED,
        "nearer": kernels.NEARER,
        "farther": kernels.FARTHER,
    }
    return {word: verdict == code for word, code in codes.items()}


def patch_sizes(disparity: Map, difference_px: float = 1.0) -> NDArray[np.int32]:
    """The number of pixels in the patch of similar disparities around each pixel; 0 for missing.

    Args:
        disparity: (H, W), NaN where missing.
        difference_px: 4-neighbours that differ by at most this belong to one patch.

    >>> patch_sizes(np.array([[1.0, 1.5, 9.0], [np.nan, 2.4, 9.0]]))
    array([[3, 3, 2], [0, 3, 2]], dtype=int32)
    """
    from depthgauge.capture.clean import _match_kernels as kernels

    values = np.ascontiguousarray(disparity, np.float32)
    parents = np.arange(values.size, dtype=np.int32)
    sizes = np.zeros(values.size, np.int32)
    kernels.patch_sizes(values, difference_px, parents, sizes)
    return np.where(is_known(values), sizes.reshape(values.shape), np.int32(0))


def scaled_window(width_px: int, window_px: float = WINDOW_PX) -> int:
    """The odd window that covers the same share of an image as the published one did.

    >>> scaled_window(4112), scaled_window(1168), scaled_window(320)
    (35, 9, 3)
    """
    half = window_px / 2 * width_px / PAPER_WIDTH_PX
    return 2 * max(1, int(half)) + 1


def smooth_plain(
    disparity: Map,
    window_px: int = WINDOW_PX,
    sigma_px: float = SIGMA_PX,
    sigma_distance_px: float = SIGMA_DISTANCE_PX,
) -> Map:
    """The bilateral filter: each known pixel becomes a weighted mean of its window's known pixels.

    Weights are exp(-(d_i - d_j)^2 / (2 sigma_px^2)) exp(-r^2 / (2 sigma_distance_px^2)). At image
    borders and next to holes a slanted surface is bent, because more of it lies on one side.

    Args:
        disparity: (H, W), NaN where missing, also in the result.
        window_px: Odd.
        sigma_px: Standard deviation of differences of disparity.
        sigma_distance_px: Standard deviation of distances.
    """
    _check(window_px, sigma_px, sigma_distance_px)
    from depthgauge.capture.clean import _smooth_kernels as kernels

    radius = window_px // 2
    out = np.full(disparity.shape, np.nan, np.float32)
    near = _near(radius, sigma_distance_px)
    factor = 1 / (2 * sigma_px * sigma_px)
    kernels.smooth_plain(_padded(disparity, radius, kernels.MISSING), radius, factor, near, out)
    return out


def smooth_planes(
    disparity: Map,
    window_px: int = WINDOW_PX,
    sigma_px: float = PLANES_SIGMA_PX,
    sigma_distance_px: float = SIGMA_DISTANCE_PX,
) -> Map:
    """A bilateral filter of first order: planes do not change, even next to holes.

    Each known pixel becomes the centre of a plane, fitted with bilateral weights. Differences are
    taken from the pixel's tangent plane, which is first found in a smaller window, so that
    `sigma_px` can be narrow and steps of a few pixels are kept.

    Args:
        disparity: (H, W), NaN where missing, also in the result.
        window_px: Odd.
        sigma_px: Standard deviation of differences from the tangent plane.
        sigma_distance_px: Standard deviation of distances.
    """
    _check(window_px, sigma_px, sigma_distance_px)
    known = is_known(disparity)
    planes = np.zeros((3, *disparity.shape), np.float32)
    planes[0] = np.where(known, disparity, 0)
    radius = window_px // 2
    # A small window first: a tangent tilted across a step would smooth the step.
    for small, sigma in _passes(radius, sigma_px):
        planes = _fit(disparity, planes, small, sigma, sigma_distance_px)
    return np.where(known, planes[0], np.float32(np.nan))


def _passes(radius: int, sigma_px: float) -> Iterator[tuple[int, float]]:
    first = min(radius, max(2, radius // 3))
    yield first, 2 * sigma_px
    yield first, sigma_px
    if radius > first:
        yield radius, sigma_px


def _fit(
    disparity: Map, planes: Map, radius: int, sigma_px: float, sigma_distance_px: float
) -> Map:
    from depthgauge.capture.clean import _smooth_kernels as kernels

    out = np.zeros(planes.shape, np.float32)
    factor = 1 / (2 * sigma_px * sigma_px)
    padded = _padded(disparity, radius, kernels.MISSING)
    kernels.smooth_planes(padded, planes, radius, factor, _near(radius, sigma_distance_px), out)
    return out


def _check(window_px: int, sigma_px: float, sigma_distance_px: float) -> None:
    if window_px < 1 or window_px % 2 == 0:
        raise Misuse(f"window_px must be odd and at least 1, found {window_px}")
    if not sigma_px > 0 or not sigma_distance_px > 0:
        raise Misuse(f"sigmas must be above 0, found {sigma_px} and {sigma_distance_px}")


def _near(radius: int, sigma: float) -> NDArray[np.float32]:
    offsets = np.arange(-radius, radius + 1) ** 2
    return np.exp(-(offsets[:, None] + offsets) / (2 * sigma * sigma)).astype(np.float32)


def _padded(disparity: Map, radius: int, missing: Any) -> Map:
    filled = np.where(is_known(disparity), disparity, missing).astype(np.float32)
    return np.pad(filled, radius, constant_values=missing)


SMOOTHINGS: dict[str, Callable[[Map, int, float, float], Map]] = {
    "planes": smooth_planes,
    "plain": smooth_plain,
}
"""The filters by their names in the options of `capture clean`."""
