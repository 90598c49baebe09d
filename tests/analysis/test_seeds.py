import math

import numpy as np
import pytest

from depthgauge.analysis.bootstrap.intervals import pooled_interval, replicate
from depthgauge.analysis.bootstrap.resampling import draw_units
from depthgauge.analysis.seeds import labels_of, sample_values, seeds_of, spread_of


def test_mean_and_deviation_by_hand(build):
    run = build.from_values(
        {("a", 0): {"s": 1.0, "t": 2.0}, ("a", 7): {"s": 3.0, "t": 4.0}, "b": {"s": 1.0, "t": 1.0}}
    )
    assert labels_of(run) == ["a", "b"]
    assert seeds_of(run, "a") == [0, 7]
    found = spread_of(run, "a", "mae@all")
    assert found.mean == 2.5
    assert found.deviation == pytest.approx(math.sqrt(2))
    assert found.values == {0: 1.5, 7: 3.5}
    assert sample_values(run, "a", "mae@all") == {"s": 2.0, "t": 3.0}
    alone = spread_of(run, "b", "mae@all")
    assert alone.mean == 1.0
    assert math.isnan(alone.deviation)


def test_one_incomplete_seed_makes_the_mean_incomplete(build):
    run = build.from_values({("a", 0): {"s": 1.0}, ("a", 1): {"s": math.nan}})
    found = spread_of(run, "a", "mae@all")
    assert math.isnan(found.mean)
    assert math.isnan(found.deviation)
    assert math.isnan(sample_values(run, "a", "mae@all")["s"])


def test_no_results_at_all(build):
    run = build.from_values({"a": {"s": 1.0}})
    assert math.isnan(spread_of(run, "nobody", "mae@all").mean)


def test_intervals_are_of_the_samples_means_over_seeds(build):
    rng = np.random.default_rng(2)
    table = rng.uniform(0, 9, (3, 10))
    seeds = {("a", k): {f"s{i}": v for i, v in enumerate(row)} for k, row in enumerate(table)}
    mean = {f"s{i}": v for i, v in enumerate(table.mean(axis=0))}
    several, one = build.from_values(seeds), build.from_values({"a": mean})
    got, expected = (pooled_interval(r, "a", "mae@all", resamples=300) for r in (several, one))
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_pooled_pixels_take_the_mean_of_the_seeds_values(build):
    rng = np.random.default_rng(2)
    table = {("a", k): {f"s{i}": rng.normal(0, 1 + k, 20) for i in range(9)} for k in range(2)}
    run = build.from_errors(table, pool="pixel", scores=[{"metric": "rms"}])
    draws = draw_units(run, resamples=20)
    alone = []
    for k in range(2):
        one = build.from_errors({"a": table["a", k]}, pool="pixel", scores=[{"metric": "rms"}])
        alone.append(replicate(one, "a", "rms@all", draws).values)
    assert replicate(run, "a", "rms@all", draws).values == pytest.approx(np.mean(alone, axis=0))
