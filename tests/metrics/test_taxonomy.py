"""The table of contents of metrics: categories are used, and declarations name one that exists."""

import itertools

import pytest

from depthgauge.errors import BadDeclaration
from depthgauge.metrics import METRICS, metric
from depthgauge.metrics._taxonomy import CATEGORIES
from depthgauge.metrics.terms import ABS, mean
from depthgauge.units import Unit

DECLARED = {
    "unit": Unit.RATIO,
    "better": "lower",
    "bounds": (0, 1),
    "of": ("disparity",),
    "cite": "nobody",
    "formula": "1",
}


def test_every_category_has_metrics_and_parts_stay_together():
    used = {METRICS[name].category for name in METRICS}
    assert set(CATEGORIES) - {""} <= used
    parts = [part for part, _ in itertools.groupby(c.part for c in CATEGORIES.values())]
    assert len(parts) == len(set(parts))


def test_measures_without_a_truth_are_among_those_that_need_none():
    allowed = {"weak_reference", "no_reference", "sparse_estimates", "layers", "views"}
    found = {m.category for m in METRICS.values() if not m.uses_truth}
    assert found <= allowed
    references = {"weak_reference", "no_reference"}
    assert not any(m.uses_truth for m in METRICS.values() if m.category in references)


def test_an_unknown_category_is_refused():
    with pytest.raises(BadDeclaration, match="category is 'value' but must be one of values"):

        @metric("odd", category="value", **DECLARED)
        def odd():
            """Something."""
            return mean(ABS)


def test_a_parameter_cannot_hide_how_pixels_are_compared():
    with pytest.raises(BadDeclaration, match="a parameter cannot be called error"):

        @metric("odd", **DECLARED)
        class Odd:
            """Something."""

            @staticmethod
            def measure(estimate, truth, region, *, error="mae"):
                """Nothing."""

            @staticmethod
            def finish(state, *, missing, error="mae"):
                """Nothing."""
