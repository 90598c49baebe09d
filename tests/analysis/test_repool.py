"""A run pooled in another way: from the values of its samples alone."""

import numpy as np
import pytest

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.bootstrap.intervals import interval, replicate
from depthgauge.analysis.bootstrap.resampling import draw_units, drawn_median
from depthgauge.analysis.curves import correct_curves
from depthgauge.analysis.thresholds import curves_of
from depthgauge.engine.store.repool import repool
from depthgauge.errors import BadProtocol

RNG = np.random.default_rng(2)
ERRORS = {
    label: {f"s{i}": RNG.gamma(1 + i, scale, 30) for i in range(11)}
    for label, scale in (("a", 0.3), ("b", 0.6))
}


@pytest.fixture
def run(build):
    return build.from_errors(ERRORS)


def test_every_summary_is_the_median_of_its_samples(run):
    found = repool(run, "median")
    board = make_board(found)
    for label in ERRORS:
        result = found.results[label, 0]
        for name in run.protocol.score_ids:
            values = [scores[name].value for scores in result.samples.values()]
            assert result.summary[name].value == pytest.approx(np.median(values))
            row = next(row for row in board.rows if row.label == label)
            assert row.cells[name].value == result.summary[name].value
            assert row.cells[name].low <= row.cells[name].value <= row.cells[name].high


def test_it_is_another_protocol_and_back_again(run):
    found = repool(run, "median")
    assert found.protocol.hash != run.protocol.hash
    again = repool(found, "image")
    assert again.protocol.hash == run.protocol.hash
    assert repool(run, "image") is run
    for key, result in run.results.items():
        assert again.results[key].summary == result.summary


def test_a_run_of_medians_is_what_the_benchmark_says(run, build):
    made = build.from_errors(ERRORS, pool="median")
    assert made.protocol.hash == repool(run, "median").protocol.hash
    assert made.results["a", 0].summary == repool(run, "median").results["a", 0].summary


def test_curves_go_through_the_pooled_values(run):
    found = repool(run, "median")
    for label, curve in correct_curves(found).items():
        at = curve.thresholds.tolist().index(1.0)
        bad = found.results[label, 0].summary["badpix:1@all"].value
        assert 100 - curve.percent[at] == pytest.approx(bad)
    assert curves_of(found) is not None


def test_resampled_medians_are_those_of_the_drawn_samples(run):
    found = repool(run, "median")
    draws = draw_units(found, resamples=50)
    made = replicate(found, "a", "mae@all", draws).values
    values = [found.results["a", 0].samples[name]["mae@all"].value for name in draws.units.names]
    for replicated, counts in zip(made, draws.counts.astype(int), strict=True):
        assert replicated == pytest.approx(np.median(np.repeat(values, counts)))
    assert interval(replicate(found, "a", "mae@all", draws)).known


def test_a_resample_without_samples_has_no_median():
    found = drawn_median(np.array([1.0, 2.0]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert np.isnan(found[0])
    assert found[1] == 1


def test_scores_of_a_dataset_cannot_be_pooled_so(build):
    with pytest.raises(BadProtocol, match="median"):
        build.protocol(pool="median", quantity="boundaries", scores=[{"metric": "ods"}])
