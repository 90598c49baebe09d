"""Metrics: what is measured, and the number it gives. A new metric is one function here."""

from depthgauge.metrics._metric import (
    METRICS,
    Metric,
    Missing,
    Pool,
    metric,
    total_of,
    value_and_total,
)
from depthgauge.metrics.terms import Order, Recipe, Term

__all__ = [
    "METRICS",
    "Metric",
    "Missing",
    "Order",
    "Pool",
    "Recipe",
    "Term",
    "metric",
    "total_of",
    "value_and_total",
]
