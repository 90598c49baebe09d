"""Whether the two cameras still stand as they were calibrated: rows of matching points.

Both cameras photograph the same patterns, so matches are dense and precise. A match that is not in
its row shows that a camera has turned, or that its photographs were shifted, since the calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.calibration import Calibration, with_poses
from depthgauge.capture.photographs.motion import Motion, motion_slopes, rotation_matrix
from depthgauge.capture.register.windows import details
from depthgauge.capture.spacetime.disparity_range import matches, small_matches
from depthgauge.capture.spacetime.engine import Pairs
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.types import Camera

Array = NDArray[np.float64]

_BAND_PX = 2.5
"""Slower changes of grey levels are left out."""
_WINDOW_PX = 11
_ROUNDS = 4
_CELLS = 12
"""Along the width."""
_FEWEST_CELLS = 12
_SEARCH = 12
"""Rows up and down, in px of small pictures, in which the right pictures are searched."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Row differences of matching points, in cells of the rectified pair."""

    left_px: Array
    """(n, 2) positions in the rectified left image."""
    right_px: Array
    """(n, 2) where the calibration expects them in the right one."""
    lower_px: Array
    """(n,) how much lower they are there, in px of the rectified images."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """How the right camera moved against the left one since the calibration."""

    motion: Motion
    """Of the right camera's photographs."""
    median_px: float
    """Median row difference before the correction."""
    most_px: float
    """Largest row difference that the motion explains."""
    left_px: float
    """Median absolute row difference that remains."""
    sigma_px: float
    """Standard deviation of the median, from the scatter around the motion."""


def row_differences(pairs: Pairs, pair: RectifiedPair) -> Rows | None:
    """Row differences of the patterns' matches; None if too little matches.

    Args:
        pairs: Rectified pictures of some patterns at any scale.
        pair: The pair that they were rectified with.
    """
    offset = _row_offset(pairs)
    moved = _rolled(pairs, offset)
    patterns = {str(t): t for t in range(pairs.size[0])}
    most = pairs.size[2] / 2
    found, disparity = small_matches(moved, patterns, (-most, most))
    if not matches(found):
        return None
    scale = pair.left.camera.size_px[0] / pairs.size[2]
    x, y, u, lower = _refined(moved, disparity)
    if len(x) < _FEWEST_CELLS:
        return None
    left = (np.stack([x, y], -1) + 0.5) * scale - 0.5
    right = (np.stack([u, y], -1) + 0.5) * scale - 0.5
    return Rows(left, right, (lower + offset) * scale)


def fit_drift(rows: Rows, view: RectifiedView) -> Drift:
    """The simplest motion of the right camera that explains the row differences.

    A shift of its photographs, or a turn of the camera; the turn towards the side, which rows show
    only in the corners, must explain them clearly better than none.
    """
    at = view.to_raw(rows.right_px)
    across = _row_slopes(view, rows.right_px)
    fits = [_rows_fit(kind, parts, rows, at, across, view.raw) for kind, parts in _MODELS]
    scale = max(min(float(np.median(np.abs(f[1]))) for f in fits) / 0.6745, 1e-4)
    costs = [
        np.minimum((f[1] / scale) ** 2, 25.0).sum() + len(parts) * np.log(len(at)) * _CAUTION
        for f, (_, parts) in zip(fits, _MODELS, strict=True)
    ]
    motion, left = fits[int(np.argmin(costs))]
    explained = rows.lower_px - left
    return Drift(
        motion,
        float(np.median(rows.lower_px)),
        float(np.abs(explained).max()),
        float(np.median(np.abs(left))),
        float(1.25 * scale / np.sqrt(len(at))),
    )


_MODELS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("shift", (1,)),
    ("turn", (0,)),
    ("turn", (0, 2)),
    ("turn", (0, 1, 2)),
)
"""Kinds of motions, and which of their numbers are fitted."""
_CAUTION = 3.0
"""Row differences of neighbours are not independent (errors of the lens model), so more numbers
must explain more."""


def corrected(calibration: Calibration, drift: Motion, name: str = "R") -> Calibration:
    """The calibration after a motion of camera R or C."""
    cameras, pairs = dict(calibration.cameras), dict(calibration.pairs)
    if drift.kind == "shift":
        right = cameras[name]
        centre = (right.centre_px[0] + drift.numbers[0], right.centre_px[1] + drift.numbers[1])
        cameras[name] = replace(right, centre_px=centre)
    elif drift.kind == "turn":
        turn, pose = rotation_matrix(drift.numbers), pairs[f"L{name}"]
        pairs[f"L{name}"] = replace(
            pose, rotation=turn @ pose.rotation, translation_m=turn @ pose.translation_m
        )
    return replace(calibration, cameras=with_poses(cameras, pairs), pairs=pairs)


def _row_slopes(view: RectifiedView, pixels: Array) -> Array:
    """(n, 2): how the rectified row changes with the position in the raw photograph."""
    at = view.to_raw(pixels)
    sides = [view.to_raw(pixels + step) - at for step in ([0.5, 0.0], [0.0, 0.5])]
    return np.asarray(np.linalg.inv(np.stack(sides, axis=-1) / 0.5)[:, 1])


def _rows_fit(
    kind: str, parts: Sequence[int], rows: Rows, at: Array, across: Array, camera: Camera
) -> tuple[Motion, Array]:
    """A motion of a kind, and the row differences that it leaves."""
    size = 2 if kind == "shift" else 3
    numbers = np.zeros(size)
    slope = motion_slopes(kind, numbers, at, camera)[..., list(parts)]  # type: ignore[arg-type]
    along = np.einsum("nik,ni->nk", slope, across)
    weights = np.ones(len(at))
    for _ in range(10):
        heavy = np.sqrt(weights)
        found = np.linalg.lstsq(along * heavy[:, None], rows.lower_px * heavy, rcond=None)[0]
        left = rows.lower_px - along @ found
        middle = max(float(np.median(np.abs(left))), 1e-4)
        weights = 1.0 / (1.0 + (left / (3.0 * middle)) ** 2)
    numbers[list(parts)] = found
    return Motion(kind, tuple(numbers.tolist())), left  # type: ignore[arg-type]


def _row_offset(pairs: Pairs) -> int:
    """How many rows lower the right pictures are, roughly: where most rows correlate best."""
    spectra = []
    for stack in (pairs.left, pairs.right):
        grey = np.stack([details(_grey(p), _BAND_PX) for p in stack])
        grey -= grey.mean(axis=2, keepdims=True)
        size = np.sqrt((grey * grey).sum(axis=(0, 2), keepdims=True)) + 1e-6
        spectra.append(np.fft.rfft(grey / size, axis=2))
    best: dict[int, float] = {}
    height = pairs.size[1]
    for lower in range(-_SEARCH, _SEARCH + 1):
        first, last = max(0, -lower), min(height, height - lower)
        if last - first < height // 2:
            continue
        one, other = spectra[0][:, first:last], spectra[1][:, first + lower : last + lower]
        shared = np.fft.irfft((one * np.conj(other)).sum(axis=0), n=pairs.size[2], axis=1)
        best[lower] = float(np.mean(shared.max(axis=1)))
    found = max(best, key=lambda k: best[k])
    return found if best[found] > 1.05 * best[0] else 0


def _rolled(pairs: Pairs, lower: int) -> Pairs:
    """The right pictures moved up by some rows."""
    if not lower:
        return pairs
    known = np.roll(pairs.right_known, -lower, axis=0)
    known[slice(-lower, None) if lower > 0 else slice(-lower)] = False
    return Pairs(pairs.left, np.roll(pairs.right, -lower, axis=1), pairs.left_known, known)


def _refined(pairs: Pairs, disparity: NDArray[np.floating[Any]]) -> tuple[Array, ...]:
    """Matches to fractions of a pixel, along and across rows: medians in cells.

    Returns:
        Columns and rows in the left pictures, columns in the right ones, and how much lower.
    """
    left, right = (_bands(stack) for stack in (pairs.left, pairs.right))
    height, width = disparity.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    matched = np.isfinite(disparity) & pairs.left_known
    u, v = np.where(matched, x - disparity, -1e3), y.copy()
    left *= matched[..., None]  # unmatched pixels count nowhere
    slopes = [np.gradient(left, axis=axis) * matched[..., None] for axis in (1, 0)]
    sums = {
        (i, j): _boxed((slopes[i] * slopes[j]).sum(axis=2)) for i, j in ((0, 0), (0, 1), (1, 1))
    }
    determinant = sums[0, 0] * sums[1, 1] - sums[0, 1] ** 2
    good = matched & (determinant > 1e-3 * np.median(determinant[matched]))
    determinant = np.where(good, determinant, 1.0)
    likeness = np.zeros(disparity.shape)
    for _ in range(_ROUNDS):
        there = np.nan_to_num(_sampled(right, u, v)) * matched[..., None]
        difference = there - left
        a, b = (_boxed((s * difference).sum(axis=2)) for s in slopes)
        along = (sums[1, 1] * a - sums[0, 1] * b) / determinant
        across = (sums[0, 0] * b - sums[0, 1] * a) / determinant
        u -= np.where(good, np.clip(along, -0.7, 0.7), 0.0)
        v -= np.where(good, np.clip(across, -0.7, 0.7), 0.0)
        power = _boxed((left * left).sum(axis=2)) * _boxed((there * there).sum(axis=2))
        likeness = _boxed((left * there).sum(axis=2)) / np.sqrt(np.maximum(power, 1e-20))
    lower = v - y
    good &= (likeness > 0.8) & (np.abs(x - disparity - u) < 3.0) & (np.abs(lower) < 3.0)
    return _in_cells(good, x, y, u, lower)


def _in_cells(good: NDArray[np.bool_], *values: Array) -> tuple[Array, ...]:
    height, width = good.shape
    side = max(width // _CELLS, 8)
    found = []
    for top in range(0, height - side // 2, side):
        for first in range(0, width - side // 2, side):
            cell = slice(top, top + side), slice(first, first + side)
            inside = good[cell]
            if inside.mean() > 0.2:
                found.append([np.median(v[cell][inside]) for v in values])
    return tuple(np.asarray(found, np.float64).reshape(-1, len(values)).T)


def _bands(stack: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W, T) details of all pictures."""
    return np.stack([details(_grey(picture), _BAND_PX) for picture in stack], axis=-1)


def _grey(picture: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.asarray(picture, np.float32).mean(axis=2))


def _boxed(values: NDArray[np.floating[Any]]) -> Array:
    import cv2

    window = (_WINDOW_PX, _WINDOW_PX)
    return np.asarray(cv2.boxFilter(np.asarray(values, np.float64), -1, window))


def _sampled(values: NDArray[np.float32], x: Array, y: Array) -> NDArray[np.float32]:
    from depthgauge.capture import _spline_kernels

    coefficients = values.copy()
    _spline_kernels.spline_rows(coefficients)
    _spline_kernels.spline_columns(coefficients.reshape(len(values), -1))
    out = np.full(values.shape, np.nan, np.float32)
    _spline_kernels.sample(coefficients, x.astype(np.float32), y.astype(np.float32), out)
    return out
