"""Error bars: whether the variance that comes with the labels is the variance of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map

EXPECTED = {1: 68.2689, 2: 95.4500}
"""Percentage of normal errors within this many standard deviations."""
_BINS = 10


def bar_figures(error: Map, variance: Map, bins: int = _BINS) -> dict[str, Any]:
    """How errors compare with the predicted standard deviations.

    Args:
        error: Estimate minus truth in px, NaN where there is none.
        variance: The predicted variance in px^2.
        bins: Rows of the table, with equally many pixels each.

    Returns:
        `within_1_sigma_percent` and `within_2_sigma_percent` (normal errors: 68.3 and 95.4),
        `rms_z` and `median_abs_z` of z = error / sigma (1 and 0.674), `factor_68`: the factor by
        which sigma must be multiplied so that 68.3 % lie within it, and a `table` by predicted
        sigma. Pixels without a usable variance are left out and counted (`without_variance`).
    """
    known = np.isfinite(error)
    usable = known & np.isfinite(variance) & (variance > 0)
    off = error[usable].astype(np.float64)
    sigma = np.sqrt(variance[usable].astype(np.float64))
    missing = int(known.sum()) - len(off)
    if not len(off):
        return {"pixels": 0, "without_variance": missing, "table": []}
    size = np.abs(off) / sigma
    return {
        "pixels": len(off),
        "without_variance": missing,
        "within_1_sigma_percent": _within(size, 1),
        "within_2_sigma_percent": _within(size, 2),
        "rms_z": float(np.sqrt(np.mean(size**2))),
        "median_abs_z": float(np.median(size)),
        "factor_68": float(np.percentile(size, EXPECTED[1])),
        "table": _table(off, sigma, bins),
    }


def _table(off: NDArray[np.float64], sigma: NDArray[np.float64], bins: int) -> list[dict[str, Any]]:
    """Rows of rising sigma; equal values stay together, so there may be fewer rows."""
    edges = np.unique(np.percentile(sigma, np.linspace(0, 100, bins + 1)))
    which = np.clip(np.searchsorted(edges, sigma, side="right") - 1, 0, max(len(edges) - 2, 0))
    rows = []
    for number in np.unique(which).tolist():
        here = which == number
        size = np.abs(off[here])
        rows.append(
            {
                "from_px": float(sigma[here].min()),
                "to_px": float(sigma[here].max()),
                "pixels": int(here.sum()),
                "sigma_px": float(np.sqrt(np.mean(sigma[here] ** 2))),
                "rms_error_px": float(np.sqrt(np.mean(off[here] ** 2))),
                # The sigma of normal errors, without the influence of a few outliers.
                "robust_error_px": float(np.percentile(size, EXPECTED[1])),
                "within_1_sigma_percent": _within(size / sigma[here], 1),
                "within_2_sigma_percent": _within(size / sigma[here], 2),
            }
        )
    return rows


def _within(size: NDArray[np.float64], times: int) -> float:
    return 100.0 * float((size <= times).mean())
