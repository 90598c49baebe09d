"""Sums of terms over batches of tensors, where the tensors are: on a GPU, without waiting for it.

The same terms as in `kernels.moments`, written as operations of PyTorch. Errors are float32; what
they are compared with and what is summed is float64, as there. So what counts pixels is equal, and
sums differ only by the order of their additions. PyTorch is imported when tensors arrive, never
before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge._once import cached_property
from depthgauge.metrics.terms import LARGEST, ErrorKind, Kind, Term

Tensor = Any
"""A `torch.Tensor`."""


@dataclass(frozen=True)
class TensorPixels:
    """Two batches of maps, compared pixel by pixel: all is (B, H, W) and on one device.

    Where estimate or truth is missing the error is 0 and the ratio 1, so that every term is 0.
    """

    error: Tensor
    """float32."""
    known: Tensor
    """Where there is truth."""
    both: Tensor
    """Where there is also an estimate."""
    size: Tensor
    """How large the truth is, float32: its value, or its length."""
    estimate: Tensor | None = None
    """The estimate itself if it is a number."""

    @cached_property
    def absolute(self) -> Tensor:
        """|e|."""
        return self.error.abs()

    @cached_property
    def exact(self) -> Tensor:
        """The error as float64."""
        return self.error.double()

    @cached_property
    def reach(self) -> Tensor:
        """How large the truth is, as float64 and not negative."""
        return self.size.double().abs_()

    @cached_property
    def ratio(self) -> Tensor:
        """Estimate by truth, as float64; 1 for vectors, which have none."""
        if self.estimate is None:
            return self.exact.new_ones(1).expand(self.exact.shape)
        ratio = self.estimate.double() / self.size.double()
        return ratio.masked_fill_(self.both.logical_not(), 1.0)

    @cached_property
    def log_ratio(self) -> Tensor:
        """The natural logarithm of it."""
        return self.ratio.log()


def _over(p: TensorPixels, first: float, second: float) -> Tensor:
    return p.absolute > float(np.float32(first))


def _over_both(p: TensorPixels, first: float, second: float) -> Tensor:
    return (p.absolute.double() > p.reach * second).logical_and_(_over(p, first, second))


def _relative(p: TensorPixels, first: float, second: float) -> Tensor:
    return (p.absolute.double() / p.reach).masked_fill_(p.error == 0, 0.0)


def _relative_square(p: TensorPixels, first: float, second: float) -> Tensor:
    return (p.exact * p.exact / p.reach).masked_fill_(p.error == 0, 0.0)


def _beyond(p: TensorPixels, first: float, second: float) -> Tensor:
    return (p.ratio.maximum(p.ratio.reciprocal()) < first).logical_not_()


TERMS: Mapping[Kind, Callable[[TensorPixels, float, float], Tensor]] = {
    Kind.ABS: lambda p, first, second: p.absolute,
    Kind.SQUARE: lambda p, first, second: p.exact * p.exact,
    Kind.SIGNED: lambda p, first, second: p.error,
    Kind.OVER: _over,
    Kind.OVER_BOTH: _over_both,
    Kind.RELATIVE: _relative,
    Kind.RELATIVE_SQUARE: _relative_square,
    Kind.LOG_SQUARE: lambda p, first, second: p.log_ratio * p.log_ratio,
    Kind.LOG: lambda p, first, second: p.log_ratio,
    Kind.LOG10: lambda p, first, second: p.ratio.log10().abs_(),
    Kind.BEYOND: _beyond,
}
"""The value of each kind of term at every pixel."""


@dataclass(frozen=True)
class Limits:
    """Which values count as an estimate, and which as a truth; all others are missing."""

    low: float = -LARGEST
    high: float = LARGEST
    truth_low: float = -LARGEST
    truth_high: float = LARGEST


def compare_tensors(
    estimate: Tensor, truth: Tensor, kind: ErrorKind, limits: Limits
) -> TensorPixels:
    """Compares two batches, (B, H, W) or (B, H, W, C), of float32.

    Args:
        estimate: What is scored.
        truth: What it is compared with.
        kind: How two pixels are compared.
        limits: What is missing.
    """
    known = _all_within(truth, limits.truth_low, limits.truth_high)
    error = _ERRORS[kind](estimate, truth)
    if kind == ErrorKind.ANGLE:
        both = (error >= 0).logical_and_(known)
    else:
        both = _all_within(estimate, limits.low, limits.high).logical_and_(known)
    error = error.masked_fill_(both.logical_not(), 0.0)
    if kind == ErrorKind.DIFFERENCE:
        return TensorPixels(error, known, both, truth, estimate)
    return TensorPixels(error, known, both, _SIZES[kind](truth))


def sum_tensors(
    pixels: TensorPixels, masks: Sequence[Tensor | None], terms: Sequence[Term]
) -> Tensor:
    """Count, missing and the sum of each term, for every sample and region, on the device.

    Args:
        pixels: What is summed.
        masks: The pixels of each region, (B, H, W); None for the region of all.
        terms: What is summed of them.

    Returns:
        (B, regions, 2 + terms), float64.
    """
    import torch

    values = [TERMS[term.kind](pixels, *(*term.params, 0.0, 0.0)[:2]) for term in terms]
    regions = []
    for mask in masks:
        inside = [each if mask is None else _inside(each, mask) for each in values]
        both = pixels.both if mask is None else pixels.both.logical_and(mask)
        known = pixels.known if mask is None else pixels.known.logical_and(mask)
        count = _total(both)
        sums = [count, _total(known) - count, *map(_total, inside)]
        regions.append(torch.stack(sums, dim=1))
    return torch.stack(regions, dim=1)


def _inside(values: Tensor, mask: Tensor) -> Tensor:
    """The values in a region, and 0 elsewhere."""
    import torch

    is_flag = values.dtype == torch.bool
    return values.logical_and(mask) if is_flag else values.masked_fill(mask.logical_not(), 0.0)


def _total(values: Tensor) -> Tensor:
    """The sum of each sample, as float64; flags are counted exactly."""
    import torch

    if values.dtype == torch.bool:
        return values.sum(dim=(1, 2)).double()
    return values.sum(dim=(1, 2), dtype=torch.float64)


def _all_within(values: Tensor, low: float, high: float) -> Tensor:
    """Whether all channels of a pixel are in the range; NaN is not."""
    low, high = float(np.float32(low)), float(np.float32(high))
    inside = (values >= low).logical_and_(values <= high)
    return inside if values.ndim == 3 else inside.all(dim=3)


def _norm(vectors: Tensor) -> Tensor:
    """The length, channel by channel as the kernel adds them; a fused product would round else.

    Not every root of float32 is rounded correctly on the CPU; that of float64 is, as float32.
    """
    squares = vectors * vectors
    total = squares[..., 0]
    for channel in range(1, squares.shape[3]):
        total = total + squares[..., channel]
    return total.double().sqrt_().float()


def _mean_size(vectors: Tensor) -> Tensor:
    """The mean size of the channels."""
    sizes = vectors.abs()
    total = sizes[..., 0]
    for channel in range(1, sizes.shape[3]):
        total = total + sizes[..., channel]
    return total / float(sizes.shape[3])


def _angles(estimate: Tensor, truth: Tensor) -> Tensor:
    """The angle between two directions in degrees, as float32; NaN where one is none."""
    a, b = (vectors.double().unbind(dim=3) for vectors in (estimate, truth))
    a, b = _unit(*a), _unit(*b)
    across = (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )
    sine = (across[0] * across[0] + across[1] * across[1] + across[2] * across[2]).sqrt()
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return sine.atan2(cosine).rad2deg().float()


def _unit(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    # A vector without a length, or of an infinite one, becomes NaN.
    length = (x * x + y * y + z * z).sqrt()
    return x / length, y / length, z / length


_ERRORS: Mapping[ErrorKind, Callable[[Tensor, Tensor], Tensor]] = {
    ErrorKind.DIFFERENCE: lambda estimate, truth: estimate - truth,
    ErrorKind.LENGTH: lambda estimate, truth: _norm(estimate - truth),
    ErrorKind.CHANNELS: lambda estimate, truth: _mean_size(estimate - truth),
    ErrorKind.ANGLE: _angles,
}
_SIZES: Mapping[ErrorKind, Callable[[Tensor], Tensor]] = {
    ErrorKind.LENGTH: _norm,
    ErrorKind.CHANNELS: _mean_size,
    ErrorKind.ANGLE: lambda truth: truth.new_ones(1).expand(truth.shape[:3]),
}
"""How large the truth is; a direction has size 1."""
