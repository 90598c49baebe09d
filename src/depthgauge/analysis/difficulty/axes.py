"""The difficulty at which 50 % fail, of every method on every axis of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge._canonical import finite_data
from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.degradation import Degradation, degradations
from depthgauge.analysis.difficulty.psychometric import (
    FEWEST_BINS,
    LEVEL,
    PsychometricCurve,
    fit_psychometric,
)
from depthgauge.analysis.seeds import seeds_of
from depthgauge.engine.store.record import Run
from depthgauge.types import Score

POOR_FIT = 0.1
"""Residual above which failures do not follow the curve."""
_PERCENT = "%"
_EVEN = 0.02
"""Largest relative difference between ratios of neighbours on a geometric axis."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Where a method fails at 50 %, in numbers of bins and in the unit of the axis."""

    curve: PsychometricCurve
    value: float
    """The property of the scene there; infinite as the curve's place is; NaN without values."""
    low: float
    high: float
    """The property at the ends of the interval, which goes from easy to hard: `high` is the
    smaller number where the property falls with the difficulty."""

    def to_json(self) -> dict[str, Any]:
        """As plain data; places beyond the axis are null, and `reaches` says on which side."""
        curve = self.curve
        return {
            "reaches": "within" if curve.reaches else "never" if curve.difficulty > 0 else "always",
            **finite_data(
                {
                    "bin": curve.difficulty,
                    "bin_interval": [curve.low, curve.high],
                    "value": self.value,
                    "value_interval": [self.low, self.high],
                    "floor": curve.floor,
                    "lapse": curve.lapse,
                    "residual": curve.residual,
                }
            ),
        }


@dataclass(frozen=True, slots=True)
class AxisDifficulty:
    """All methods on one axis."""

    axis: Degradation
    methods: Mapping[str, Difficulty]
    """In the order of the board; methods without failure rates are left out."""

    @property
    def id(self) -> str:
        """As a score: `difficulty:badpix:1@slant`."""
        return f"difficulty:{self.axis.metric}@{self.axis.stem}"

    @property
    def has_values(self) -> bool:
        """Whether the axis has values beyond the numbers of its bins."""
        return self.axis.bins != tuple(float(k + 1) for k in range(len(self.axis.bins)))

    def ranking(self) -> list[str]:
        """Labels of methods, the one that fails last first."""
        return sorted(self.methods, key=lambda label: -self.methods[label].curve.difficulty)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "metric": self.axis.metric,
            "region": self.axis.stem,
            "label": self.axis.label,
            "unit": self.axis.axis_unit,
            "bins": list(self.axis.bins),
            "level": LEVEL,
            "methods": {label: found.to_json() for label, found in self.methods.items()},
        }


def difficulties(run: Run, board: Board) -> tuple[AxisDifficulty, ...]:
    """A psychometric curve of every method on every axis of a run.

    Axes are numbered regions whose score is a percentage of failures (`badpix`, fattening, missed
    dots). If several samples or seeds have the axis, all of them count.

    Args:
        run: The scores of every sample.
        board: Its leaderboard; oracles have no curve.
    """
    found = []
    for axis in degradations(board, run.protocol):
        if axis.unit != _PERCENT or axis.better != "lower" or sum(axis.filled) < FEWEST_BINS:
            continue
        methods = {}
        for label in axis.lines:
            rates, counts = _failures(run, label, axis.score_ids)
            if np.isfinite(rates).any(axis=0).sum() >= FEWEST_BINS:
                methods[label] = _difficulty(fit_psychometric(rates, counts), axis.bins)
        if methods:
            found.append(AxisDifficulty(axis, methods))
    return tuple(found)


def value_at(bins: Sequence[float], place: float) -> float:
    """The value of an axis at a place between its bins, which are counted from 1.

    On an axis whose values grow or shrink by the same factor, so does what is between them.

    >>> value_at([0.0, 0.5, 1.0], 2.5), value_at([1.0, 0.1, 0.01], 2.0)
    (0.75, 0.1)
    """
    if not math.isfinite(place):
        return place
    values = np.asarray(bins, np.float64)
    lower = int(np.clip(math.floor(place), 1, len(bins) - 1))
    share = place - lower
    first, last = values[lower - 1], values[lower]
    if _is_geometric(values):
        return float(first * (last / first) ** share)
    return float(first + share * (last - first))


def _is_geometric(values: np.ndarray) -> bool:
    if len(values) < 3 or not (values > 0).all():
        return False
    ratios, steps = values[1:] / values[:-1], np.diff(values)
    even = np.ptp(ratios) <= _EVEN * abs(ratios).max()
    return bool(even and np.ptp(steps) > _EVEN * abs(steps).max())


def _difficulty(curve: PsychometricCurve, bins: Sequence[float]) -> Difficulty:
    places = (curve.difficulty, curve.low, curve.high)
    return Difficulty(curve, *(value_at(bins, place) for place in places))


def _failures(run: Run, label: str, ids: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Shares of failures and pixels of each bin, a row for each sample and seed."""
    rows = []
    for seed in seeds_of(run, label):
        for scores in run.results[label, seed].samples.values():
            row = [_share(scores.get(name)) for name in ids]
            if any(math.isfinite(share) for share, _ in row):
                rows.append(row)
    if not rows:
        rows = [[(math.nan, 0.0)] * len(ids)]
    found = np.array(rows)
    return found[..., 0], found[..., 1]


def _share(score: Score | None) -> tuple[float, float]:
    if score is None or not math.isfinite(score.value):
        return math.nan, 0.0
    return min(max(score.value / 100, 0.0), 1.0), float(score.count + score.missing)
