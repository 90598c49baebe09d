"""FID and FVD: by hand, against scipy, over samples and clips, networks by their hash."""

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_onnx import one_node
from views import pair, smooth, value

import depthgauge as dg
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.errors import BadFile, BadScoreId, NotGiven, Unavailable
from depthgauge.io.weights import MATCHER, matcher_path, network_name
from depthgauge.metrics import METRICS
from depthgauge.metrics.views._features import (
    COUNTS,
    filter_features,
    motion_features,
    picture_features,
)
from depthgauge.metrics.views._stereo import match_views
from depthgauge.metrics.views.sets import frechet_distance
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs, Sample, Truth, merge_states

SIZE = (40, 48)


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A folder of weights; a function that puts a network there and gives its name."""
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))

    def put(*arguments, **keywords):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.onnx"
        path.write_bytes(one_node(*arguments, **keywords))
        return network_name(path)

    return put


def test_distance_by_hand():
    """One number each: (m - n)^2 + (s - t)^2."""
    first, second = np.array([[0.0], [2.0]]), np.array([[3.0], [3.0]])
    assert frechet_distance(first, second) == pytest.approx(4 + 2)
    assert frechet_distance(first, first + 5) == pytest.approx(25)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([8, 40]))
def test_distance_is_the_one_with_a_matrix_root(seed, n):
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((n, 5)) @ rng.standard_normal((5, 5))
    second = rng.standard_normal((60, 5)) + rng.standard_normal(5)
    covariances = [np.cov(rows, rowvar=False) for rows in (first, second)]
    root = np.real(scipy.linalg.sqrtm(covariances[0] @ covariances[1]))
    apart = first.mean(axis=0) - second.mean(axis=0)
    expected = apart @ apart + np.trace(covariances[0] + covariances[1] - 2 * root)
    assert frechet_distance(first, second) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert frechet_distance(second, first) == pytest.approx(frechet_distance(first, second))
    assert frechet_distance(first, first) == pytest.approx(0, abs=1e-6)


def test_features_by_hand():
    grey = np.full((9, 7, 3), 0.5, np.float32)
    found = filter_features(grey)
    assert len(found) == COUNTS["filters"] == 54
    # Means of luma in the four quarters; everything else is 0.
    np.testing.assert_allclose(found[[0, 3, 6, 9]], 50, atol=1e-4)
    np.testing.assert_allclose(np.delete(found, [0, 3, 6, 9]), 0, atol=1e-4)
    frames = np.stack([grey[:4, :4], grey[:4, :4] + np.float32(0.1), grey[:4, :4]])
    frames = np.repeat(np.repeat(frames, 16, axis=1), 16, axis=2)
    moved = motion_features(frames)
    assert len(moved) == COUNTS["motion"] == 78
    # |change| is 0.1, |change of change| is 0.2, in each quarter of each level.
    np.testing.assert_allclose(moved[54:].reshape(3, 2, 4)[:, 0], 40, atol=1e-3)
    np.testing.assert_allclose(moved[54:].reshape(3, 2, 4)[:, 1], 80, atol=1e-3)


def fid(estimates, truths, missing="bad", **params):
    metric = METRICS["fid"]
    bound = metric.bind(params)
    states = [metric.measure(e, t, None, **bound) for e, t in zip(estimates, truths, strict=True)]
    return metric.finish(merge_states(states), missing, **bound)


def test_sets_are_compared_not_pictures():
    rng = np.random.default_rng(0)
    truths = [smooth(rng, *SIZE) for _ in range(6)]
    assert fid(truths, truths) == pytest.approx(0, abs=1e-6)
    assert fid(truths[::-1], truths) == pytest.approx(0, abs=1e-6)
    pale = [0.5 + t / 2 for t in truths]
    darker = [0.9 * t for t in truths]
    assert fid(pale, truths) > fid(darker, truths) > 1


def test_missing_frames_and_sets_that_are_too_small():
    rng = np.random.default_rng(1)
    truths = [smooth(rng, *SIZE) for _ in range(4)]
    some = [*truths[:3], np.full_like(truths[3], np.nan)]
    assert math.isnan(fid(some, truths))
    assert fid(some, truths, "skip") == pytest.approx(0, abs=1e-6)
    gaps = [t.copy() for t in truths]
    gaps[0][:10] = np.nan
    assert fid(gaps, truths) > 0.1
    assert math.isnan(fid(truths[:1], truths[:1]))


def benchmark(*scores, pool="image"):
    body = {"id": "s", "version": 1, "dataset": "stereogenbench", "quantity": "view"}
    return make_protocol({**body, "pool": pool, "scores": list(scores)}, "test")


def clip(seed, length=5):
    """A clip and an estimate that is a little darker."""
    rng = np.random.default_rng(seed)
    views = [smooth(rng, *SIZE) for _ in range(length)]
    sample = Sample(f"s{seed}", Inputs({}), Truth({"view": Frames(views)}))
    return sample, ClipEstimate(Frames([Estimate(0.9 * v, "view") for v in views]), "view")


@pytest.mark.parametrize("pool", ["image", "scene", "pixel"])
def test_a_dataset_has_one_number_whatever_the_pool(pool):
    rules = benchmark({"metric": "psnr"}, {"metric": "fid"}, {"metric": "fvd"}, pool=pool)
    clips = [clip(seed) for seed in range(3)]
    judge = Judge(Rules.of(rules, [sample for sample, _ in clips]))
    outcomes = {s.id: judge.score_map(s, lambda e=e: e) for s, e in clips}
    result = gather(rules, outcomes, {})
    assert not any(outcome.left_out for outcome in outcomes.values())
    views = [v for s, _ in clips for v in s.truth["view"]]
    assert result.summary["fid@all"].value == pytest.approx(fid([0.9 * v for v in views], views))
    score = outcomes["s0"].scores["fid@all"]
    assert math.isnan(score.value)
    assert score.why == "dataset"
    # Five frames are one window of four; the rest is left out.
    windows = [outcome.scores["fvd@all"].state.rows for outcome in outcomes.values()]
    assert [rows.shape for rows in windows] == [(1, 156)] * 3
    frames = [[v for v in s.truth["view"]][:4] for s, _ in clips]
    expected = [motion_features(np.stack([_small(v) for v in each])) for each in frames]
    found = np.concatenate(windows)[:, 78:]
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert result.summary["fvd@all"].value > 0


def _small(view):
    from depthgauge.metrics.views._features import resized

    return resized(view, 64, 64)


def test_a_window_is_not_shared_by_two_scores():
    rules = benchmark({"metric": "fvd", "window": [2, 3]})
    sample, estimate = clip(0, length=6)
    outcome = Judge(Rules.of(rules, [sample])).score_map(sample, lambda: estimate)
    rows = {name: len(score.state.rows) for name, score in outcome.scores.items()}
    assert list(rows.values()) == [3, 2]


def test_two_pictures_have_a_distance_only_as_a_set():
    left, right, _ = pair(size=SIZE)
    assert math.isnan(dg.score(left, right, "fid", quantity="view")["fid@all"].value)
    with pytest.raises(NotGiven, match="clip_memory"):
        dg.score(left, right, "fvd", quantity="view")


def test_a_network_is_named_by_its_hash(weights):
    shape = (1, 3, 6, 8)
    name = weights("GlobalAveragePool", [("x", shape)], ("y", (1, 3, 1, 1)))
    picture = smooth(np.random.default_rng(0), *SIZE)
    found = picture_features(picture, name)
    np.testing.assert_allclose(found, picture.mean(axis=(0, 1)), atol=1e-5)
    truths = [smooth(np.random.default_rng(i), *SIZE) for i in range(5)]
    darker = [t * np.float32(0.5) for t in truths]
    assert fid(darker, truths, features=name) > 0
    with pytest.raises(Unavailable, match=rf"0\.onnx is {name}"):
        fid(truths, truths, features="onnx-0123456789ab")
    with pytest.raises(BadScoreId, match="features is 'inception' but must be filters, alex"):
        fid(truths, truths, features="inception")


def test_networks_of_the_wrong_kind_are_refused(weights):
    picture = smooth(np.random.default_rng(0), *SIZE)
    flat = weights("Identity", [("x", (1, 3))], ("y", (1, 3)))
    with pytest.raises(BadFile, match="takes 2 axes, but pictures"):
        picture_features(picture, flat)
    with pytest.raises(BadFile, match="a stereo network has two inputs"):
        match_views(picture, picture, flat, 64)
    memory = {"clip_memory": {}}
    with pytest.raises(BadFile, match="a network of videos has one input"):
        value("fvd", picture, picture, memory, features=flat)
    video = weights("ReduceMean", [("x", (1, 3, 5, 8, 8))], ("y", (1, 3, 1, 1, 1)), axes=(2, 3, 4))
    with pytest.raises(BadFile, match="say window = 5"):
        value("fvd", picture, picture, memory, features=video, window=1)


def test_a_network_may_be_the_reference_matcher_or_describe_videos(weights):
    rng = np.random.default_rng(0)
    left, right = (smooth(rng, *SIZE) for _ in range(2))
    shape, plane = (1, 3, *SIZE), (1, 1, *SIZE)
    both = [("left", shape), ("right", shape)]
    wide = weights("Sub", both, ("d", shape))
    with pytest.raises(BadFile, match=r"gave \(1, 3, 40, 48\)"):
        match_views(left, right, wide, 64)
    for side, view in (("left", left), ("right", right)):
        narrow = weights("ReduceSum", both, ("d", plane), axes=(1,), uses=[side])
        found = match_views(left, right, narrow, 64)
        np.testing.assert_allclose(found, 255 * view.sum(axis=2), atol=1e-3)
    # A network of another size: what it finds is scaled with the width.
    small = [(name, (1, 3, 20, 24)) for name in ("left", "right")]
    half = weights("ReduceMax", small, ("d", (1, 1, 20, 24)), axes=(1,), uses=["left"])
    found = match_views(np.ones_like(left), right, half, 64)
    np.testing.assert_allclose(found, np.full(SIZE, 510.0))
    name = weights("ReduceMean", [("x", (1, 3, 2, 8, 8))], ("y", (1, 3, 1, 1, 1)), axes=(2, 3, 4))
    metric, memory = METRICS["fvd"], {}
    bound = metric.bind({"features": name, "window": 2})
    for view in (left, right):
        state = metric.measure(view, view, None, clip_memory=memory, **bound)
    expected = (left.mean(axis=(0, 1)) + right.mean(axis=(0, 1))) / 2
    np.testing.assert_allclose(state.rows[0], [*expected, *expected], atol=1e-4)


def test_our_matcher_is_found_by_its_name_and_checked(tmp_path, monkeypatch):
    """Whatever has its name must say that it was made of these weights, at this size."""
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))
    picture = smooth(np.random.default_rng(0), *SIZE)
    with pytest.raises(Unavailable, match="train export stereo --as-matcher` writes it"):
        match_views(picture, picture, MATCHER, 64)
    sides = [("left", (1, 3, *SIZE)), ("right", (1, 3, *SIZE))]
    body = one_node("ReduceMax", sides, ("d", (1, 1, *SIZE)), axes=(1,), uses=["left"])
    matcher_path().write_bytes(body)
    with pytest.raises(Unavailable, match=f"is not the network {MATCHER} of this version"):
        match_views(picture, picture, MATCHER, 64)
