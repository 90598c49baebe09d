"""Alignment of estimates that are known only up to scale: by medians or by least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.errors import Misuse
from depthgauge.geometry._maps import as_map, as_plane, need_same_size
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask

REVISION = 2
"""Raised whenever an aligned value may change; part of the protocol's hash."""

Kind = Literal["none", "median", "scale", "scale_shift"]
Space = Literal["depth", "disparity"]
KINDS = ("none", "median", "scale", "scale_shift")
SPACES = ("depth", "disparity")


@dataclass(frozen=True, slots=True)
class Alignment:
    """The fitted relation: in `space`, the aligned estimate is scale * estimate + shift."""

    kind: Kind
    space: Space
    scale: float
    """NaN if none could be fitted."""
    shift: float
    """NaN if none could be fitted; 0 for all kinds except `scale_shift`."""
    count: int
    """Number of pixels used in the fit."""
    reason: str = ""
    """Why there is no scale, in one phrase; empty if there is one."""

    def __str__(self) -> str:
        if self.reason:
            return f"aligned by {self.kind} in {self.space}: not possible, {self.reason}"
        return (
            f"aligned by {self.kind} in {self.space}: {self.scale:.6g} * estimate "
            f"{'-' if self.shift < 0 else '+'} {abs(self.shift):.6g}, fitted on {self.count:,} px"
        )


def fit_alignment(
    estimate: NDArray[np.generic],
    truth: NDArray[np.generic],
    mask: Mask | None = None,
    *,
    kind: Kind,
    space: Space,
    quantity: str,
) -> Alignment:
    """Finds the scale (and shift) that brings an estimate to the truth.

    With e and t the estimate and the truth in the given space, over the pixels of the mask that
    have both:

    - `none`: scale 1, shift 0.
    - `median`: scale = median(t) / median(e).
    - `scale`: least squares through the origin, scale = sum(e t) / sum(e e).
    - `scale_shift`: least squares, scale = cov(e, t) / var(e), shift = mean(t) - scale mean(e).

    Where the space is not that of the quantity, e and t are inverses, 1 / x, and values that are
    not positive are left out. All sums are float64.

    Args:
        estimate: (H, W), of the quantity.
        truth: (H, W), of the quantity.
        mask: Pixels to fit on; all by default.
        kind: One of the four.
        space: `depth` or `disparity`: where the relation is linear.
        quantity: `depth` or `disparity`: what both maps hold.

    Returns:
        An alignment. If there are too few pixels, if the estimate is zero and is only scaled, or if
        the result is not finite, scale and shift are NaN and `reason` says why. With a shift, a
        constant estimate keeps its scale and is shifted to the truth's mean.

    >>> truth = np.array([[1.0, 3.0, 5.0]])
    >>> found = fit_alignment(
    ...     (truth - 1) / 2, truth, kind="scale_shift", space="depth", quantity="depth"
    ... )
    >>> found.scale, found.shift, found.count
    (2.0, 1.0, 3)
    """
    inverse = _is_inverse(kind, space, quantity)
    values, target = as_plane(estimate, "the estimate"), as_plane(truth, "the truth")
    need_same_size(values, target, ("the estimate", "the truth"))
    used = _used(values, target, mask, inverse)
    count = int(np.count_nonzero(used))
    if kind == "none":
        return Alignment(kind, space, 1.0, 0.0, count)
    if count < (2 if kind == "scale_shift" else 1):
        return Alignment(kind, space, math.nan, math.nan, count, "too few pixels")
    if kind == "median":
        scale, shift, reason = _fit_median(values[used], target[used], inverse)
    else:
        scale, shift, reason = _fit_squares(values, target, used, kind, inverse)
    if not reason and not (math.isfinite(scale) and math.isfinite(shift)):
        reason = "result not finite"
    if reason:
        scale = shift = math.nan
    return Alignment(kind, space, scale, shift, count, reason)


def apply_alignment(estimate: NDArray[np.generic], alignment: Alignment, quantity: str) -> Map:
    """The aligned estimate, of the same quantity.

    Without a scale every pixel is missing. If the alignment is of inverses, values that are not
    positive before or after become missing. Kind `none` returns the estimate unchanged.

    >>> halved = Alignment("scale", "disparity", 2.0, 0.0, 9)
    >>> apply_alignment(np.array([[4.0, -1.0]]), halved, "depth")
    array([[ 2., nan]], dtype=float32)
    """
    inverse = _is_inverse(alignment.kind, alignment.space, quantity)
    values = as_map(estimate)
    if alignment.kind == "none":
        return values
    from depthgauge.geometry._kernels import scale_and_shift

    aligned: Map = scale_and_shift(values.ravel(), alignment.scale, alignment.shift, inverse)
    return aligned.reshape(values.shape)


def _is_inverse(kind: str, space: str, quantity: str) -> bool:
    if kind not in KINDS:
        raise unknown("kind of alignment", kind, KINDS)
    if space not in SPACES:
        raise unknown("space of alignment", space, SPACES)
    own = QUANTITIES[quantity].space
    if kind != "none" and own is None:
        raise Misuse(f"only depth and disparity can be aligned, not {quantity}")
    return space != own


def _used(values: Map, target: Map, mask: Mask | None, inverse: bool) -> Mask:
    used: Mask = np.isfinite(values) & np.isfinite(target)
    if inverse:
        used &= (values > 0) & (target > 0)
    if mask is not None:
        need_same_size(values, mask, ("the estimate", "the mask"))
        used &= mask.astype(bool, copy=False)
    return used


def _fit_median(values: Map, target: Map, inverse: bool) -> tuple[float, float, str]:
    below, above = _median(values, inverse), _median(target, inverse)
    if below == 0 or above == 0:
        return math.nan, math.nan, "zero median"
    return above / below, 0.0, ""


def _median(values: Map, inverse: bool) -> float:
    """Median of the values or of their inverses, whose order is reversed."""
    middle = [(values.size - 1) // 2, values.size // 2]
    pair = np.partition(values, middle)[middle].astype(np.float64)
    return float((1.0 / pair if inverse else pair).mean())


def _fit_squares(
    values: Map, target: Map, used: Mask, kind: str, inverse: bool
) -> tuple[float, float, str]:
    from depthgauge.geometry._kernels import centred_sums, raw_sums

    if kind == "scale":
        squares, products = raw_sums(values, target, used, inverse)
        if squares == 0:
            return math.nan, math.nan, "zero estimate"
        return products / squares, 0.0, ""
    mean, target_mean, squares, products, varies = centred_sums(values, target, used, inverse)
    if not varies or squares == 0:
        # Every scale fits equally well with its own shift; the result is the truth's mean.
        return 1.0, target_mean - mean, ""
    scale = products / squares
    return scale, target_mean - scale * mean, ""
