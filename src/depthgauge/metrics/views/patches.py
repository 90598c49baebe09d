"""Whether patches of the left view are found in the generated one: P-PSNR."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._frames import (
    PAINTED,
    Picture,
    as_picture,
    finish_frames,
    frame_state,
    whole_views,
)
from depthgauge.types import Image, Map, Mask, State
from depthgauge.units import Unit

CAP_DB = 60.0
"""The largest PSNR of a patch by default: less than the rounding to 8 bits, which has 58.9 dB."""


def patch_errors(
    left: Picture, right: Picture, *, patch: int, stride: int, least_px: int, most_px: int
) -> NDArray[np.float64]:
    """The smallest mean squared error of each patch of the left view among its shifts.

    Args:
        left: (H, W, 3).
        right: The same size.
        patch: Width and height of a patch, in px.
        stride: Distance of patches, in px; the first is in the upper left corner.
        least_px: The smallest disparity that is tried.
        most_px: The largest one.

    Returns:
        (rows, columns) of patches; NaN where every shift leaves the picture.
    """
    from depthgauge.metrics.kernels.views import best_shifts

    height, width = left.shape[:2]
    rows, columns = (max(0, (n - patch) // stride + 1) for n in (height, width))
    best = np.full((rows, columns), np.nan)
    if rows and columns:
        flat = [np.ascontiguousarray(v, np.float32).reshape(height, -1) for v in (left, right)]
        best_shifts(flat[0], flat[1], patch, stride, least_px, most_px, left.shape[2], best)
    return best


@metric(
    "p_psnr",
    category="views",
    unit=Unit.DECIBEL,
    better="higher",
    bounds=(0, CAP_DB),
    of=("view",),
    cite="Cui, Qiao & Jacobs 2026, section 4",
    formula="mean over patches of max over d of PSNR(left patch, view patch d px to the left)",
    revision=1,
    needs=("left_image",),
    uses_truth=False,
    missing_costs=PAINTED,
)
class PatchPsnr:
    """How well patches of the left view are found in the generated right view; needs no target.

    For each patch of `patch` x `patch` px of the left view, every `stride` px, the patch of the
    view that is d px further left with the smallest squared error is found, d = `least_px` ...
    `most_px`; shifts that leave the picture are not tried, and patches without any are left out.
    The frame's value is the mean of its patches' PSNRs, each at most `cap`. A patch is judged where
    the region contains all pixels of its place. It rewards similar texture even if the geometry is
    wrong, so it is a diagnosis and no goal.
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        left_image: Image,
        patch: int = 16,
        stride: int = 16,
        least_px: int = 2,
        most_px: int = 48,
        cap: float = CAP_DB,
    ) -> State:
        """The frame's mean."""
        _check(patch, stride, least_px, most_px)
        shown, _, counts = whole_views(estimate, truth, region)
        left = as_picture(left_image, shown.shape)
        errors = patch_errors(
            left, shown, patch=patch, stride=stride, least_px=least_px, most_px=most_px
        )
        if region is not None and not region.all():
            errors[~_inside(region, patch, stride, errors.shape)] = np.nan
        return frame_state(counts, _mean_psnr(errors, counts, cap))

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return finish_frames(state, missing)


def _mean_psnr(errors: NDArray[np.float64], counts: State, cap: float) -> float:
    found = errors[np.isfinite(errors)]
    if not counts.count:
        return 0.0
    if not found.size:
        return math.nan
    least = 10.0 ** (-cap / 10)
    return float(np.mean(np.clip(-10.0 * np.log10(np.maximum(found, least)), 0.0, None)))


def _inside(region: Mask, patch: int, stride: int, shape: tuple[int, ...]) -> Mask:
    """Which patches lie in the region as a whole."""
    if not shape[0] or not shape[1]:
        return np.zeros(shape, bool)
    windows = np.lib.stride_tricks.sliding_window_view(region, (patch, patch))[::stride, ::stride]
    return np.asarray(windows.all(axis=(2, 3)))


def _check(patch: int, stride: int, least_px: int, most_px: int) -> None:
    if patch < 1 or stride < 1:
        raise BadScoreId(f"p_psnr: patch is {patch} and stride {stride}; both are at least 1.")
    if least_px > most_px:
        raise BadScoreId(f"p_psnr: least_px is {least_px} but most_px is {most_px}; swap them.")
