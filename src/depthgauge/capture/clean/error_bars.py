"""Standard deviations of labels: what is known about a label, and the error that goes with it.

Leaving out patterns shows the noise of a match and nothing else: not the pull of a second surface
in the window, not a bend that smoothing flattens, and with two patterns hardly anything. So the
standard deviation is a model of everything that can be seen without the truth (`covariates`). Its
logarithm is a sum of broken lines, one per covariate, to which a share of what smoothing can
flatten is added in quadrature. Both were fitted on simulated sessions (`bar_model`), so that 68 %
of the errors are within one standard deviation and 95 % within two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.clean.bar_model import Line, bar_model
from depthgauge.geometry.distances import distance_to
from depthgauge.types import Map, Mask, is_known

NEAR_PX = 3.0
"""The weight of lines that matter near edges falls to 1/e over this distance."""
EDGE_PX = 0.5
"""Neighbours that differ by more are on two sides of an edge."""
_FARTHEST_PX = 48
_MORE_PX = 3
"""Bends are averaged over a window that reaches this much farther than the filter's."""
_MATCHED_PX = 2
"""The reach of matching's windows in the pictures that are matched."""
_RADIUS = 2
_LEAST_VARIANCE = 1e-8
_NOT_MATCHED_PX = 1.5
_BAND = 256


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What one view's labels were made from; maps of one size, NaN where there is no label."""

    disparity: Map
    """After smoothing."""
    before: Map
    """Before smoothing."""
    variance: Map
    """Before smoothing, px^2, from leaving out patterns."""
    confidence: Map
    choice: Map | None
    """Share of the density at the chosen one of two candidates; NaN where there was only one."""
    other: Map
    """The labels of the other view."""
    side: str
    """`left` or `right`."""
    patterns: int
    """The number of patterns that were matched."""
    window_px: int
    """The filter's window; 1 without a filter."""
    scale: float = 1.0
    """The size at which patterns were matched, as a share of the labels' size."""


def error_variance(labels: Labels, row_variance: Map | None = None) -> Map:
    """The variance of each label, px^2: positive and finite where there is a label.

    NaN for all labels where the patterns give no variance at all, as one pattern.

    Args:
        labels: The labels of a view.
        row_variance: Variance of the row at which the match lies, from the calibration, px^2. On a
            surface that is inclined from row to row, a wrong row is a wrong disparity.
    """
    known = is_known(labels.disparity)
    if not (known & is_known(labels.variance)).any():
        return np.full(known.shape, np.nan, np.float32)
    found = covariates(labels)
    variance = np.exp(2 * log_sigma(found)).astype(np.float32)
    if row_variance is not None:
        down = _slopes(labels.disparity, 0)[0]
        variance += np.nan_to_num(row_variance) * down**2
    return np.where(known, variance, np.float32(np.nan))


def covariates(labels: Labels) -> dict[str, Map]:
    """What is known about the error of each label, as maps without NaN.

    Logarithms, of px except where something else is said:

    - `noise`: mean standard deviation of the surface's pixels in 5x5, from leaving out patterns
    - `moved`: how far smoothing moved the label
    - `bend`: difference of the slopes to both sides, mean over 5x5
    - `sag`: how far the surface bends away from its tangent plane within the filter's window, of
      which a filter that keeps planes flattens a part
    - `slope`: change of disparity per px
    - `views`: difference from the other view's label; `unmatched`: 1 where it has none (no
      logarithm)
    - `doubt`: 1 - confidence (no unit)
    - `step`: greatest minus least disparity of 3x3
    - `edge`: px to an edge or to a missing label (no logarithm)
    - `rim`: the same, as a multiple of how far the windows of the filter and of matching reach (no
      logarithm)
    - `choice`: the share of the candidate that was not taken; `chosen`: 1 where there were two
      candidates (no logarithm)
    - `middle`: 1 for a value halfway between the least and the greatest of 5x5, 0 at either end (no
      logarithm); `front`: -0.5 for the least, 0.5 for the greatest
    - `patterns`: the number of patterns
    - `window`: the radius of the filter's window, at least 1 px
    - `shrunk`: how many times smaller the pictures were in which patterns were matched (no unit)
    """
    from depthgauge.capture.clean._bar_kernels import neighbourhoods

    disparity = np.ascontiguousarray(labels.disparity, np.float32)
    known = is_known(disparity)
    across, bend_x = _slopes(disparity, 1)
    down, bend_y = _slopes(disparity, 0)
    log_variance = np.log(np.maximum(labels.variance, _LEAST_VARIANCE)).astype(np.float32)
    log_variance[~(known & is_known(labels.variance))] = np.nan
    window = np.zeros((4, *disparity.shape), np.float32)
    neighbourhoods(disparity, log_variance, np.hypot(bend_x, bend_y), _RADIUS, window)
    noise, bend, step, between = window
    reach = max(labels.window_px // 2, 1)
    edge = _edge_distance(disparity)
    apart = _apart(labels)
    unmatched = known & ~is_known(apart)
    choice = labels.choice if labels.choice is not None else np.full(known.shape, np.nan)
    chosen = is_known(choice) & known
    found = {
        "noise": np.where(is_known(noise), noise / 2, _middle(noise / 2, known)),
        "moved": _log(np.abs(labels.disparity - labels.before)),
        "bend": _log(bend),
        "sag": _log(_sag(bend_x, bend_y, reach)),
        "slope": _log(np.hypot(across, down)),
        "views": _log(np.where(unmatched, 0.0, apart)),
        "unmatched": unmatched,
        "doubt": _log(1 - labels.confidence),
        "step": _log(step),
        "edge": edge,
        "rim": edge / (reach + _MATCHED_PX / labels.scale),
        "choice": _log(np.where(chosen, 1 - choice, 0.0)),
        "chosen": chosen,
        "middle": 1 - 2 * np.abs(between - 0.5),
        "front": between - 0.5,
        "patterns": np.full(known.shape, np.log(labels.patterns)),
        "window": np.full(known.shape, np.log(reach)),
        "shrunk": np.full(known.shape, -np.log(labels.scale)),
    }
    return {name: np.where(known, values, 0).astype(np.float32) for name, values in found.items()}


def log_sigma(found: Mapping[str, Map]) -> NDArray[np.float64]:
    """The natural logarithm of the standard deviation in px."""
    shape = found["edge"].shape
    model = bar_model()
    out = np.full(shape, model.constant)
    for start in range(0, shape[0], _BAND):
        rows = slice(start, start + _BAND)
        part = {name: values[rows] for name, values in found.items()}
        for line in model.lines:
            for value, column in zip(line.slopes, columns_of(line, part), strict=True):
                out[rows] += value * column
        out[rows] = with_sag(out[rows], part["sag"] + np.log(model.flattened))
    return out


def with_sag(log_sigma: NDArray[np.float64], log_sag: NDArray[Any]) -> NDArray[np.float64]:
    """The logarithm of both in quadrature: a label is noisy, and its surface was flattened."""
    return np.asarray(np.logaddexp(2 * log_sigma, 2 * log_sag) / 2, np.float64)


def columns_of(line: Line, found: Mapping[str, Map]) -> list[NDArray[np.float64]]:
    """For each piece of a broken line: how much of it lies below the covariate's value.

    Beyond its ends a line is level, so nothing is extrapolated.
    """
    values = found[line.covariate].astype(np.float64)
    weight = np.exp(-found["edge"].astype(np.float64) / NEAR_PX) if line.near_edges else 1.0
    ends = zip(line.knots[:-1], line.knots[1:], strict=True)
    return [(np.clip(values, low, high) - low) * weight for low, high in ends]


def _log(values: NDArray[np.floating]) -> NDArray[np.float32]:
    return np.asarray(np.log(np.maximum(np.nan_to_num(values), 1e-6)), np.float32)


def _middle(values: Map, known: Mask) -> float:
    """The median, for labels whose whole neighbourhood has no variance."""
    return float(np.median(values[known & is_known(values)]))


def _slopes(disparity: Map, axis: int) -> tuple[Map, Map]:
    """Mean of the differences to both neighbours of the same surface, and their difference."""
    along = np.moveaxis(disparity, axis, 0)
    steps = np.diff(along, axis=0)
    steps[~(np.abs(steps) <= 1)] = np.nan  # NaN beside a missing pixel, too
    after, before = (np.full(along.shape, np.nan, np.float32) for _ in range(2))
    after[:-1], before[1:] = steps, steps
    both = is_known(after) & is_known(before)
    slope = np.where(both, (after + before) / 2, np.where(is_known(after), after, before))
    bend = np.where(both, after - before, np.float32(0))
    found = np.nan_to_num(slope), np.nan_to_num(bend)
    first, second = (np.ascontiguousarray(np.moveaxis(m, 0, axis)) for m in found)
    return first, second


def _sag(bend_x: Map, bend_y: Map, reach: int) -> NDArray[np.float32]:
    """Distance from the tangent plane at the rim of a window, from the mean bend there, px.

    Signed bends are averaged, so noise cancels and a jump, which has none, does not count.
    """
    from scipy.ndimage import uniform_filter

    size = 2 * (reach + _MORE_PX) + 1
    mean = (uniform_filter(bend, size, mode="nearest") for bend in (bend_x, bend_y))
    return np.asarray(np.hypot(*mean) * np.float32(reach**2 / 2), np.float32)


def _apart(labels: Labels) -> Map:
    """Difference from the other view's label at the match; NaN where it sees no such surface."""
    disparity, other = labels.disparity, labels.other
    width = disparity.shape[1]
    sign = -1 if labels.side == "left" else 1
    place = np.arange(width, dtype=np.float32) + sign * disparity
    outside = ~((place >= 0) & (place <= width - 1))
    place = np.where(outside, 0, place)
    first = np.minimum(place.astype(np.intp), max(width - 2, 0))
    one = np.take_along_axis(other, first, axis=1)
    two = np.take_along_axis(other, np.minimum(first + 1, width - 1), axis=1)
    share = place - first
    joined = np.abs(one - two) <= 1
    nearest = np.where(
        is_known(two) & ~(np.abs(one - disparity) < np.abs(two - disparity)), two, one
    )
    found = np.abs(np.where(joined, one * (1 - share) + two * share, nearest) - disparity)
    found[outside | ~(found <= _NOT_MATCHED_PX)] = np.nan
    return np.asarray(found, np.float32)


def _edge_distance(disparity: Map) -> Map:
    edges = np.zeros(disparity.shape, bool)
    for axis in (0, 1):
        steps = np.abs(np.diff(disparity, axis=axis))
        jump = np.moveaxis(~(steps <= EDGE_PX), axis, 0)  # NaN counts as a jump
        along = np.moveaxis(edges, axis, 0)
        along[:-1] |= jump
        along[1:] |= jump
    if not edges.any():
        return np.full(disparity.shape, _FARTHEST_PX, np.float32)
    distance = distance_to(edges, limit_px=_FARTHEST_PX)
    return np.minimum(distance, _FARTHEST_PX).astype(np.float32)
