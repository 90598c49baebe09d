import math
from dataclasses import replace

import numpy as np
import pytest

from depthgauge.analysis.bootstrap.resampling import draw_units
from depthgauge.analysis.curves import correct_curves, percent_bad_at
from depthgauge.engine.store.record import THRESHOLDS

NAN = math.nan
ERRORS = {
    "s": [0.5, 0.5, 2.5, NAN],
    "t": [0.0, 5.0],
    "u": [0.5, 0.5, 0.5, 0.5, 0.5, NAN],
}
AT_1 = THRESHOLDS.index(1.0)
AT_3 = THRESHOLDS.index(3.0)


@pytest.mark.parametrize(
    ("pool", "missing", "at_1"),
    [
        ("image", "bad", (50 + 50 + 500 / 6) / 3),
        ("image", "skip", (200 / 3 + 50 + 100) / 3),
        ("pixel", "bad", 100 * 8 / 12),
        ("pixel", "skip", 100 * 8 / 10),
        ("scene", "bad", (100 * 3 / 6 + 500 / 6) / 2),
        ("scene", "skip", (100 * 3 / 5 + 100) / 2),
    ],
)
def test_curves_by_hand(build, pool, missing, at_1):
    scenes = {"s": "x", "t": "x"}
    run = build.from_errors({"a": ERRORS}, scenes, pool=pool, missing=missing)
    curve = correct_curves(run)["a"]
    assert curve.percent[AT_1] == pytest.approx(at_1)
    assert np.isnan(curve.low).all()


@pytest.mark.parametrize("pool", ["image", "pixel", "scene"])
@pytest.mark.parametrize("missing", ["bad", "skip"])
def test_the_curve_agrees_with_badpix(build, pool, missing):
    scenes = {"s": "x", "t": "x"}
    run = build.from_errors({"a": ERRORS}, scenes, pool=pool, missing=missing)
    curve, summary = correct_curves(run)["a"], run.results["a", 0].summary
    assert 100 - curve.percent[AT_1] == pytest.approx(summary["badpix:1@all"].value)
    assert 100 - curve.percent[AT_3] == pytest.approx(summary["badpix:3@all"].value)


def test_a_sample_without_a_curve_counts_as_one_without_an_estimate(build):
    run = build.from_errors({"a": ERRORS, "b": ERRORS})
    lost = {name: curve for name, curve in run.curves["b", 0].items() if name != "u"}
    run = replace(run, curves={**run.curves, ("b", 0): lost})
    curves = correct_curves(run)
    assert curves["b"].percent[AT_1] == pytest.approx((50 + 50 + 0) / 3)
    skipping = replace(run, protocol=build.protocol(missing="skip"))
    assert np.isnan(correct_curves(skipping)["b"].percent).all()


def test_methods_without_curves_are_left_out(build):
    run = build.from_errors({"a": ERRORS, "b": ERRORS})
    assert list(correct_curves(replace(run, curves={("a", 0): run.curves["a", 0]}))) == ["a"]
    assert correct_curves(replace(run, curves={})) == {}


def test_seeds_are_averaged(build):
    run = build.from_errors({("a", 0): {"s": [0.5, 0.5]}, ("a", 1): {"s": [0.5, 2.0]}})
    assert correct_curves(run)["a"].percent[AT_1] == 75.0


def test_bands_hold_the_curve(build):
    rng = np.random.default_rng(1)
    table = {f"s{i}": rng.exponential(2, 30) for i in range(10)}
    run = build.from_errors({"a": table}, pool="pixel")
    curve = correct_curves(run, draws=draw_units(run, resamples=400))["a"]
    assert (curve.low <= curve.percent).all()
    assert (curve.percent <= curve.high).all()
    assert curve.high[AT_1] - curve.low[AT_1] > 1
    assert (np.diff(curve.percent) >= 0).all()
    few = build.from_errors({"a": dict(list(table.items())[:7])})
    assert np.isnan(correct_curves(few, draws=draw_units(few))["a"].low).all()


def test_bad_percentages_between_thresholds(build):
    run = build.from_errors({"a": {"s": [0.5, 1.1, 5.0, 500.0]}})
    curve = correct_curves(run)["a"]
    assert percent_bad_at(curve, 1.0) == 75.0
    assert percent_bad_at(curve, 1.25) == 50.0
    assert percent_bad_at(curve, 1.125) == 62.5
    assert percent_bad_at(curve, 0.0) == 100.0
    assert percent_bad_at(curve, 1e6) == 25.0
