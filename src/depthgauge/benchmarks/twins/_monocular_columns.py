"""The columns that public evaluators of monocular depth print, each over the valid pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Score

Values = NDArray[np.float64]
RATIOS = (1.25, 1.25**2, 1.25**3)


class ValidPixels:
    """Estimate and truth at the valid pixels, and what several columns need."""

    def __init__(self, estimate: Values, truth: Values, options: Mapping[str, Any]) -> None:
        self.estimate, self.truth, self.options = estimate, truth, options
        self.zeros = 0
        """Pixels that are not valid whose estimate is 0."""
        self.ratio = np.maximum(truth / estimate, estimate / truth)
        self.log = np.log10 if options["log_base"] == "10" else np.log
        self.log_error = self.log(estimate) - self.log(truth)

    @property
    def n(self) -> int:
        """The number of valid pixels."""
        return self.truth.size


def _mean(values: Values) -> float:
    return float(values.mean()) if values.size else math.nan


def _root_mean(values: Values) -> float:
    return math.sqrt(mean) if (mean := _mean(values * values)) >= 0 else math.nan


def _silog(p: ValidPixels) -> float:
    square, mean = _mean(p.log_error**2), _mean(p.log_error)
    inner = square - p.options["silog_weight"] * mean * mean
    return p.options["silog_scale"] * math.sqrt(max(inner, 0.0)) if inner == inner else math.nan


def _delta(power: int) -> Callable[[ValidPixels], float]:
    def share(p: ValidPixels) -> float:
        good = int((p.ratio < RATIOS[power - 1]).sum())
        if p.options["zero_estimates"] == "good":
            good += p.zeros
        return good / p.n

    return share


def _bad(power: int) -> Callable[[ValidPixels], float]:
    return lambda p: 100.0 * int((p.ratio > RATIOS[power - 1]).sum()) / p.n


COLUMNS: dict[str, tuple[Callable[[ValidPixels], float], str]] = {
    "abs_rel": (lambda p: _mean(np.abs(p.truth - p.estimate) / p.truth), ""),
    "sq_rel": (lambda p: _mean((p.truth - p.estimate) ** 2 / p.truth), "m"),
    "mae": (lambda p: _mean(np.abs(p.truth - p.estimate)), "m"),
    "rmse": (lambda p: _root_mean(p.truth - p.estimate), "m"),
    "rmse_log": (lambda p: _root_mean(p.log_error), ""),
    "rmse_log10": (lambda p: _root_mean(np.log10(p.estimate) - np.log10(p.truth)), ""),
    "log10": (lambda p: _mean(np.abs(np.log10(p.estimate) - np.log10(p.truth))), ""),
    "silog": (_silog, ""),
    "i_rmse": (lambda p: _root_mean(1.0 / p.estimate - 1.0 / p.truth), "1/m"),
    **{f"delta{power}": (_delta(power), "") for power in (1, 2, 3)},
    **{f"bad_delta{power}": (_bad(power), "%") for power in (1, 2)},
}
"""By the names of this package: functions of the valid pixels, and units."""
HIGHER = tuple(f"delta{power}" for power in (1, 2, 3))


def scores(pixels: ValidPixels, left_out: int) -> dict[str, Score]:
    """All wanted columns; `left_out` pixels have a truth but no estimate that counts."""
    found = {}
    for name in pixels.options["columns"]:
        measure, unit = COLUMNS[name]
        found[name] = Score(measure(pixels), pixels.n, left_out, None, unit)
    return found
