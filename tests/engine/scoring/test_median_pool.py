"""`pool = "median"`: the median over samples, in benchmarks, accumulators and files."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.engine.scoring.pool import plain_median, pool_spec
from depthgauge.types import Score

VALUES = st.floats(-1e6, 1e6, width=32)


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_the_median_is_python_s_and_no_order_matters(values):
    assert plain_median(values) == pytest.approx(statistics.median(values), abs=1e-9)
    assert plain_median(reversed(values)) == plain_median(values)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([], math.nan),
        ([1.0, math.nan], math.nan),
        ([1.0, 2.0, math.inf], 2.0),
        ([math.inf], math.inf),
    ],
)
def test_incomplete_scores_have_none_and_one_infinite_does_not_matter(values, wanted):
    assert plain_median(values) == pytest.approx(wanted, nan_ok=True)


def spec_of(metric="mae", **keys):
    body = {"id": "m", "version": 1, "dataset": "none", "quantity": "disparity", "pool": "median"}
    return make_protocol({**body, "scores": [{"metric": metric, **keys}]}, "a test").specs[0]


def test_empty_samples_are_left_out_and_missing_ones_count():
    scores = {n: Score(v, 5, 0, unit="px") for n, v in zip("abc", (1.0, 9.0, 2.0), strict=True)}
    empty = Score(math.nan, 0, 0, unit="px")
    found = pool_spec(spec_of(), {**scores, "d": empty}, {}, "median", "bad")
    assert (found.value, found.used, found.all, found.empty) == (2.0, 3, 4, 1)
    missing = Score(math.nan, 0, 5, unit="px")
    assert pool_spec(spec_of(), {**scores, "d": missing}, {}, "median", "bad").incomplete


def test_an_accumulator_pools_medians():
    rng = np.random.default_rng(0)
    truths = rng.uniform(1, 9, (5, 8, 8)).astype(np.float32)
    errors = np.arange(1, 6, dtype=np.float32)[:, None, None] ** 2
    accumulator = dg.Accumulator(
        ["mae", "quantile:90", "badpix:5"], quantity="disparity", pool="median"
    )
    accumulator.update(truths + errors, truths, ids=list("abcde"))
    found = {name: summary.value for name, summary in accumulator.compute().summary.items()}
    assert found["mae@all"] == pytest.approx(9, abs=1e-5)
    assert found["quantile:90@all"] == pytest.approx(9, abs=1e-5)
    assert found["badpix:5@all"] == 100


def test_a_median_is_another_protocol():
    mean, median = (
        make_protocol({"id": "m", "version": 1, "dataset": "none", "quantity": "disparity",
                       "pool": pool, "scores": [{"metric": "mae"}]}, "a test")
        for pool in ("image", "median")
    )  # fmt: skip
    assert mean.hash != median.hash
