"""Scores as rows of text."""

from __future__ import annotations

import math
from collections.abc import Mapping

from depthgauge.engine.scoring.pool import Summary
from depthgauge.engine.scoring.result import Result
from depthgauge.types import Score

Columns = list[tuple[str, str]]
Rows = list[list[str]]

SCORE_COLUMNS: Columns = [
    ("score", "left"),
    ("value", "right"),
    ("unit", "left"),
    ("pixels", "right"),
    ("missing", "right"),
    ("density", "right"),
]
SUMMARY_COLUMNS: Columns = [
    ("score", "left"),
    ("value", "right"),
    ("unit", "left"),
    ("samples", "right"),
    ("density", "right"),
]


def show_number(value: float) -> str:
    """A number for a table: fixed decimals, so that columns line up; more for small ones.

    >>> show_number(3.14159265), show_number(0.000123), show_number(12345.678)
    ('3.142', '0.0001230', '12345.678')
    """
    if not math.isfinite(value):
        return "-" if math.isnan(value) else str(value)
    if value == 0 or abs(value) >= 0.1:
        return f"{value:.3f}"
    decimals = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{decimals}f}" if decimals <= 9 else f"{value:.3e}"


def show_amount(value: float, unit: str) -> str:
    """A number with its unit.

    >>> show_amount(2.5, "px"), show_amount(2.5, ""), show_amount(2.5, "0.01 px")
    ('2.500 px', '2.500', '2.500 \u00d7 0.01 px')
    """
    return f"{show_number(value)}{unit_after_number(unit)}"


def unit_after_number(unit: str) -> str:
    """A unit as written after a number: one that begins with a number itself is a factor."""
    if not unit:
        return ""
    return f" \u00d7 {unit}" if unit[0].isdigit() else f" {unit}"


def score_rows(scores: Mapping[str, Score]) -> Rows:
    """One row per score, with its counts."""
    return [
        [
            name,
            show_number(score.value) if score.why is None else str(score.why),
            score.unit,
            f"{score.count:,}",
            f"{score.missing:,}",
            show_share(score.density),
        ]
        for name, score in scores.items()
    ]


def summary_rows(result: Result) -> Rows:
    """One row per score: the pooled value, and how many samples went into it."""
    return [
        [
            name,
            show_summary(found),
            found.unit,
            f"{found.used}/{found.all}",
            show_share(found.density),
        ]
        for name, found in result.summary.items()
    ]


def show_summary(found: Summary) -> str:
    """The pooled value, or why there is none."""
    if found.incomplete:
        return f"incomplete {found.used}/{found.all}"
    return "empty" if math.isnan(found.value) else show_number(found.value)


def show_share(share: float) -> str:
    """A share of pixels in percent."""
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"
