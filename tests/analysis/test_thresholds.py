"""Which thresholds the charts show: where something happens, and those of the protocol."""

import numpy as np
import pytest
from tests.report.conftest import run_of_errors

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.thresholds import curves_of, own_thresholds, spaced, stability_of
from depthgauge.engine.store.record import THRESHOLDS


def run_of(table, thresholds=(0.01, 0.03, 0.07)):
    errors = {label: {"s": values} for label, values in table.items()}
    return run_of_errors(errors, scores=[{"metric": "badpix", "threshold": list(thresholds)}])


RNG = np.random.default_rng(0)
FINE = np.abs(RNG.normal(0, 0.02, 4000))
COARSE = np.abs(RNG.normal(0, 0.06, 4000))


def test_curves_end_where_nothing_changes_any_more():
    found = curves_of(run_of({"fine": FINE, "coarse": COARSE}))
    shown = [point.threshold for point in found.lines["fine"]]
    assert found.marks == (0.01, 0.03, 0.07)
    assert shown[0] == 0.01
    assert 0.2 <= shown[-1] <= 0.3  # errors end near 0.24


def test_curves_keep_the_thresholds_that_are_scored():
    run = run_of({"fine": FINE}, thresholds=(0.07, 5))
    shown = [point.threshold for point in curves_of(run).lines["fine"]]
    assert shown[-1] > 5


def test_stereo_errors_show_the_whole_range():
    run = run_of({"a": 10 ** RNG.uniform(-2, 2, 4000)}, thresholds=(1, 2))
    shown = [point.threshold for point in curves_of(run).lines["a"]]
    assert (shown[0], shown[-1]) == (0.01, 100)


def test_incomplete_methods_have_no_say():
    table = {"a": {"s": FINE, "t": FINE}, "b": {"s": FINE, "t": [np.nan] * 5}}
    run = run_of_errors(table, scores=[{"metric": "badpix", "threshold": 0.07}], missing="skip")
    assert len(curves_of(run).lines["a"]) < 20


def test_ranks_are_shown_at_the_protocols_own_thresholds():
    run = run_of({"fine": FINE, "coarse": COARSE})
    found = stability_of(run, make_board(run))
    assert {0.01, 0.03, 0.07} <= set(found.thresholds)
    assert max(found.thresholds) <= 0.3
    assert len(found.thresholds) <= 10
    assert found.ranks["fine"][0] == 1
    assert found.values["coarse"][0] == pytest.approx(100 * np.mean(COARSE > 0.01), abs=0.05)


def test_ranks_of_one_method_say_nothing():
    run = run_of({"fine": FINE})
    assert stability_of(run, make_board(run)) is None


def test_the_widest_gaps_are_filled_first():
    grid = np.array(THRESHOLDS)
    chosen = grid[spaced(grid, np.arange(len(grid)), [2.0], 6)]
    assert {0.01, 2.0, 100.0} <= set(chosen)
    # 10000 in five steps would be 6.3 each; every choice halves a gap.
    assert (chosen[1:] / chosen[:-1]).max() <= 15
    few = spaced(grid, np.array([3, 4]), [0.05, 50.0], 10)
    assert few.tolist() == [3, 4]


def test_thresholds_of_other_metrics_do_not_count():
    run = run_of_errors({"a": {"s": [1.0]}})
    assert own_thresholds(run.protocol) == [1.0, 3.0]
