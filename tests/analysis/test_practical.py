from dataclasses import replace

import pytest

from depthgauge.analysis.practical import practical_thresholds, threshold_of

SCORES = [
    {"metric": "badpix", "threshold": 1},
    {"metric": "mae"},
    {"metric": "mse"},
    {"metric": "d1"},
    {"metric": "quantile", "percent": 90},
    {"metric": "density"},
]


def test_thresholds_by_hand(build):
    """Errors 0.8 and 1.2 change sides when the threshold moves from 1 to 0.75 or 1.25."""
    table = {
        "a": {"s": [0.1, 0.2, 0.8, 1.2, 3.0]},
        "b": {"s": [0.1, 0.2, 0.3, 1.2, 3.0]},
    }
    run = build.from_errors(table, scores=SCORES)
    got = practical_thresholds(run, 0.25)
    assert got == pytest.approx(
        {"badpix:1@all": (60 - 20) / 2, "mae@all": 0.25, "quantile:90@all": 0.25}
    )


def test_without_curves_percentages_have_none(build):
    run = replace(build.from_errors({"a": {"s": [0.5]}}, scores=SCORES), curves={})
    assert set(practical_thresholds(run, 0.25)) == {"mae@all", "quantile:90@all"}


def test_an_exact_truth_gives_no_thresholds(build):
    assert practical_thresholds(build.from_errors({"a": {"s": [0.5, 2.0]}}), 0.0) == {}


def test_only_plain_threshold_percentages_have_a_threshold(build):
    specs = {spec.id: threshold_of(spec) for spec in build.protocol(scores=SCORES).specs}
    assert {name: t for name, t in specs.items() if t is not None} == {"badpix:1@all": 1.0}
