"""Metrics: what is measured, and the number that it gives. A new metric is one function here."""

from depthgauge.metrics._metric import METRICS, Metric, metric
from depthgauge.metrics.terms import Order, Recipe, Term

__all__ = ["METRICS", "Metric", "Order", "Recipe", "Term", "metric"]
