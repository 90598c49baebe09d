"""Scene flow as KITTI judges it, and errors that change from frame to frame."""

import math

import numpy as np
import pytest
from hypothesis import given
from maps import make_pair, seeds

from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.metrics import METRICS
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs, Sample, Truth

SF = METRICS["sf"]


def parts(seed):
    """Flow and two disparities: estimates and truths, in this order."""
    flow = make_pair(seed, quantity="flow")
    first, second = make_pair(seed + 1), make_pair(seed + 2)
    needs = {
        "disparity": first[1],
        "second_disparity": second[1],
        "estimate_disparity": first[0],
        "estimate_second_disparity": second[0],
    }
    return flow, (first, second), needs


@given(seed=seeds)
def test_scene_flow_outliers_are_those_of_a_loop(seed):
    (flow, true_flow), others, needs = parts(seed)
    region = np.random.default_rng(seed).random(true_flow.shape[:2]) < 0.8
    bad = n = lost = 0
    for at in np.argwhere(region):
        y, x = at
        pairs = [(e[y, x], t[y, x]) for e, t in others]
        pairs.append((flow[y, x], true_flow[y, x]))
        if not all(np.isfinite(t).all() for _, t in pairs):
            continue
        if not all(np.isfinite(e).all() for e, _ in pairs):
            lost += 1
            continue
        n += 1
        sizes = [(np.linalg.norm(e - t), np.linalg.norm(t)) for e, t in pairs]
        bad += any(s > 3 and s > 0.05 * length for s, length in sizes)
    state = SF.measure(flow, true_flow, region, **needs, **SF.bind({}))
    assert (state.count, state.missing, state.sums[0]) == (n, lost, bad)
    assert SF.finish(state, **SF.bind({})) == pytest.approx(100 * (bad + lost) / (n + lost))
    assert SF.finish(state, "skip", **SF.bind({})) == pytest.approx(100 * bad / n)
    shown = SF.error_map(flow, true_flow, **needs, **SF.bind({}))
    assert set(np.unique(shown[np.isfinite(shown)])) <= {0, 100}


@given(seed=seeds)
def test_it_is_at_least_as_bad_as_each_part(seed):
    (flow, true_flow), others, needs = parts(seed)
    every = [np.isfinite(t) for _, t in others] + [np.isfinite(true_flow).all(axis=-1)]
    judged = np.logical_and.reduce(every)
    whole = SF.finish(SF.measure(flow, true_flow, judged, **needs, **SF.bind({})), **SF.bind({}))
    fl, d1 = METRICS["fl"], METRICS["d1"]
    found = [fl.finish(fl.measure(flow, true_flow, judged, **fl.bind({})), **fl.bind({}))]
    for e, t in others:
        found.append(d1.finish(d1.measure(e, t, judged, **d1.bind({})), **d1.bind({})))
    assert max(found) <= whole + 1e-9 <= sum(found) + 1e-6


def temporal(name, now, before, truths, region=None, missing="bad", **params):
    m = METRICS[name]
    bound = m.bind(params)
    needs = {"previous_estimate": before, "previous_truth": truths[1]}
    state = m.measure(now, truths[0], region, **needs, **bound)
    return m.finish(state, missing, **bound)


@pytest.mark.parametrize("quantity", ["disparity", "flow"])
@given(seed=seeds)
def test_changes_of_errors_are_those_of_numpy(quantity, seed):
    now, truth = make_pair(seed, quantity=quantity)
    before, true_before = make_pair(seed + 1, quantity=quantity)
    change = (now - truth) - (before - true_before)
    size = np.abs(change) if change.ndim == 2 else np.sqrt((change.astype(float) ** 2).sum(-1))
    judged = np.isfinite(truth - true_before)
    judged = judged if judged.ndim == 2 else judged.all(axis=-1)
    known = size[judged & np.isfinite(size)]
    maps = (now, before, (truth, true_before))
    assert temporal("tepe", *maps) == pytest.approx(known.mean(), rel=1e-4)
    bad = (known > 2).sum() + (judged & ~np.isfinite(size)).sum()
    share = 100 * bad / judged.sum()
    assert temporal("temporal_bad", *maps, threshold=2) == pytest.approx(share, abs=1e-6)
    m = METRICS["tepe"]
    shown = m.error_map(now, truth, previous_estimate=before, previous_truth=true_before)
    assert shown[np.isfinite(shown)].mean() == pytest.approx(known.mean(), rel=1e-4)


@given(seed=seeds)
def test_an_error_that_stays_costs_nothing(seed):
    _, truth = make_pair(seed)
    _, before = make_pair(seed + 1)
    truth, before = np.round(truth), np.round(before)
    found = temporal("tepe", truth + 5, before + 5, (truth, before))
    assert found == 0
    assert temporal("temporal_bad", truth + 5, before, (truth, before)) == 100


def test_a_clip_is_judged_from_its_second_frame_on():
    """Errors of 0, 1, 0, 1 px: each frame changes by 1."""
    truth = np.full((3, 5), 9, np.float32)
    sample = Sample(
        "street", Inputs({"speed": 3}), Truth({"disparity": Frames([truth + i for i in range(4)])})
    )
    body = {
        "id": "clips", "version": 1, "dataset": "none", "quantity": "disparity", "pool": "image",
        "scores": [{"metric": "tepe"}, {"metric": "temporal_bad", "threshold": [0.5, 1]}],
    }  # fmt: skip
    judge = Judge(Rules.of(make_protocol(body, "a test"), [sample]))
    frames = [Estimate(truth + i + np.float32(i % 2), "disparity") for i in range(4)]
    outcome = judge.score_map(sample, lambda: ClipEstimate(Frames(frames), "disparity"))
    assert outcome.scores["tepe@all"].count == 3 * 15
    values = {name: score.value for name, score in outcome.scores.items()}
    expected = {"tepe@all": 1, "temporal_bad:0.5@all": 100, "temporal_bad:1@all": 0}
    assert values == pytest.approx(expected)


def test_nothing_estimated():
    nothing, truth = np.full((2, 2), np.nan, "f4"), np.ones((2, 2), "f4")
    assert math.isnan(temporal("tepe", nothing, truth, (truth, truth)))
    assert temporal("temporal_bad", nothing, truth, (truth, truth)) == 100
    assert math.isnan(temporal("temporal_bad", nothing, truth, (truth, truth), missing="skip"))
