import numpy as np
import pytest

from depthgauge.analysis.precision_recall import boundary_spec, counts_of, precision_recall
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.types import Score, State

NAN = float("nan")


def boundaries(*more):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "none",
        "quantity": "boundaries",
        "pool": "pixel",
        "scores": [{"metric": "ods", "thresholds": 2, "name": "ods", "region": ""}, *more],
    }
    return make_protocol(body, "a test")


def score(*counts):
    table = np.array(counts, np.float64)
    sums = np.concatenate([table.ravel(), table[-1]])
    return Score(NAN, 10, 0, state=State(10, 0, sums), level="dataset")


def test_counts_are_added_over_samples(build):
    protocol = boundaries()
    found = {
        ("a", 0): {
            "s": {"ods": score((4, 10, 5, 20), (2, 10, 3, 4))},
            "t": {"ods": score((4, 10, 5, 20), (2, 10, 3, 6))},
        }
    }
    run = build.assemble(protocol, found, {})
    curve = precision_recall(run)["a"]
    assert curve.recall.tolist() == [0.4, 0.2]
    assert curve.precision.tolist() == [0.25, 0.6]
    assert curve.f.tolist() == pytest.approx([2 * 0.4 * 0.25 / 0.65, 0.3])
    assert curve.thresholds.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert curve.best == 0
    # The score itself may lie between two thresholds, never below the best of them.
    scores = {name: each["ods"] for name, each in found["a", 0].items()}
    pooled = pool_spec(protocol.specs[0], scores, {}, "pixel", "bad").value
    assert curve.f[curve.best] <= pooled + 1e-12 < 1


def test_counts_of_a_score_leave_the_images_own_out():
    assert counts_of(score((1, 2, 3, 4), (5, 6, 7, 8))).tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert counts_of(Score(NAN, 1, 0)) is None
    assert counts_of(Score(NAN, 1, 0, state=State(1, 0))) is None


def test_other_benchmarks_have_no_such_curve(build):
    run = build.from_errors({"a": {"s": np.array([1.0])}}, {})
    assert boundary_spec(run.protocol) is None
    assert precision_recall(run) == {}
