"""The numbers of the light-field evaluator that are computed pixel by pixel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins._hci4d_maps import MapPair
from depthgauge.benchmarks.twins._hci4d_regions import (
    GENERAL_IDS,
    SQUARE,
    THRESHOLDS,
    MaskedScore,
)
from depthgauge.errors import BadData
from depthgauge.types import Mask, Score

_QUARTER = 25
_DOT_THRESHOLD, _DOT_SHARE, _LAST_DOT = 0.4, 50.0, 8
_MOST_BOXES = 1000


def percent(part: int, whole: int, present: int) -> Score:
    """A percentage of a region's pixels, of which some have no finite estimate."""
    value = 100.0 * part / whole if whole else float("nan")
    return Score(value, present, whole - present, float(part), "%")


def mean_square(total: float, count: int, whole: int) -> Score:
    """A mean of squared errors, times 100."""
    value = 100.0 * total / count if count else float("nan")
    return Score(value, count, whole - count, 100.0 * total, "0.01 px\u00b2")


def measure(
    compared: MapPair, general: bool, regions: Sequence[MaskedScore], masks: Mask
) -> Iterator[tuple[str, Score]]:
    """All of them in one pass, and a second one for the quantile.

    Args:
        compared: The maps.
        general: Whether to compute the numbers of the whole map.
        regions: What to compute under masks.
        masks: (regions, H, W).
    """
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    thresholds = np.array(THRESHOLDS if general else (), np.float32)
    over = np.zeros((kernels.CHUNKS, thresholds.size), np.int64)
    squares = np.zeros(kernels.CHUNKS)
    bins = np.zeros((kernels.CHUNKS, kernels.UPPER_BINS), np.uint32)
    counts = np.zeros((kernels.CHUNKS, len(regions), 3), np.int64)
    sums = np.zeros((kernels.CHUNKS, len(regions)))
    kernels.measure(
        compared.estimate,
        compared.rows,
        compared.columns,
        compared.truth,
        compared.border,
        thresholds,
        over,
        squares,
        bins,
        masks,
        np.array([region.rule for region in regions], np.int64),
        np.array([region.limit for region in regions], np.float32),
        _references(compared, regions),
        counts,
        sums,
    )
    if general:
        found = _general(compared, over.sum(axis=0), float(squares.sum()), bins.sum(axis=0))
        yield from zip(GENERAL_IDS, found, strict=True)
    for region, (members, present, hits), total in zip(
        regions, counts.sum(axis=0).tolist(), sums.sum(axis=0).tolist(), strict=True
    ):
        if region.rule == SQUARE:
            yield region.id, mean_square(total, hits, members)
        else:
            yield region.id, percent(hits, members, present)


def _references(compared: MapPair, regions: Sequence[MaskedScore]) -> NDArray[np.float32]:
    """The truth in each region's column, row by row from the top."""
    rows = compared.truth[::-1]
    height, width = rows.shape
    found = np.zeros((len(regions), height), np.float32)
    for k, region in enumerate(regions):
        found[k] = rows[:, np.clip(region.column, -width, width - 1)]
    return found


def _general(
    compared: MapPair, over: NDArray[np.int64], squares: float, bins: NDArray[Any]
) -> Iterator[Score]:
    pixels, present = compared.pixels, int(bins.sum())
    yield mean_square(squares, present, pixels)
    for part in over.tolist():
        yield percent(part, pixels, present)
    yield Score(_quantile(compared, bins), present, pixels - present, None, "0.01 px")


def _quantile(compared: MapPair, bins: NDArray[Any]) -> float:
    """The exact element at a quarter of the sorted errors, times 100."""
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    ends = np.cumsum(bins, dtype=np.int64)
    if not ends[-1]:
        return float("nan")
    rank = int(int(ends[-1]) * _QUARTER / 100.0)
    upper = int(np.searchsorted(ends, rank, side="right"))
    lower_bins = np.zeros((kernels.CHUNKS, kernels.LOWER_BINS), np.uint32)
    kernels.narrow(
        compared.estimate,
        compared.rows,
        compared.columns,
        compared.truth,
        compared.border,
        upper,
        lower_bins,
    )
    before = int(ends[upper - 1]) if upper else 0
    lower_ends = np.cumsum(lower_bins.sum(axis=0), dtype=np.int64)
    lower = int(np.searchsorted(lower_ends, rank - before, side="right"))
    error = np.array((upper << kernels.SHIFT) | lower, np.uint32).view(np.float32)
    return float(np.float32(100.0) * error)


def missed_dots(
    compared: MapPair, boxes: NDArray[np.int32], dots: NDArray[np.int32], scene: str
) -> Score:
    """The percentage of dots that are wrong in at least half of their pixels; no border is left
    out.

    Dots are numbered from 1 in every box. The number of labels examined, counted from 1, is the
    number of distinct labels between 1 and 8 in all boxes; a label without pixels counts as missed.
    """
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    most = int(boxes.max())
    if most >= _MOST_BOXES or int(boxes.min()) < 0 or int(dots.min()) < 0:
        raise BadData(f"{scene}: mask_boxes has labels up to {most}; expected 1, 2, 3 ...")
    table = np.zeros((kernels.CHUNKS, most + 1, _LAST_DOT + 2, 2), np.int64)
    kernels.count_dots(
        compared.estimate,
        compared.rows,
        compared.columns,
        compared.truth,
        boxes,
        dots,
        np.float32(_DOT_THRESHOLD),
        table,
    )
    pixels, bad = np.moveaxis(table.sum(axis=0), 2, 0)
    n_dots = int(np.count_nonzero(pixels[:, 1 : _LAST_DOT + 1].any(axis=0)))
    used = [box for box in range(1, most + 1) if pixels[box].any()]
    found = 0
    for box in used:
        for dot in range(1, n_dots + 1):
            n = int(pixels[box, dot])
            found += n > 0 and 100.0 * int(bad[box, dot]) / n < _DOT_SHARE
    whole = len(used) * n_dots
    return percent(whole - found, whole, whole)
