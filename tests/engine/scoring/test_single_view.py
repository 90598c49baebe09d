"""What scoring single pictures added: focal lengths, normals made of depth, scores of datasets."""

import json
import math

import numpy as np
import pytest

from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.measure import measure
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.engine.scoring.rules import Outcome, Rules
from depthgauge.engine.scoring.truth_maps import has_map, truth_map
from depthgauge.engine.store.estimates import estimate_hash
from depthgauge.engine.store.item import Item, read_item, write_item
from depthgauge.engine.store.record import Timing
from depthgauge.errors import BadEstimate, BadFile, BadProtocol, Misuse, WrongShape
from depthgauge.geometry.surfaces import normals_from_depth
from depthgauge.io.beside import read_parts
from depthgauge.metrics import METRICS
from depthgauge.metrics._metric import metric
from depthgauge.types import (
    Camera,
    Estimate,
    Inputs,
    Sample,
    Score,
    State,
    Truth,
    merge_states,
    sorted_rows,
)
from depthgauge.units import Unit

CAMERA = Camera((50.0, 50.0), (9.5, 7.5), (20, 16))


class _Ranked:
    """How many rows, and how often `measure` was called."""

    calls = 0

    @staticmethod
    def measure(estimate, truth, region, *, estimate_focal_px, step=1.0):
        _Ranked.calls += 1
        rows = np.array([[estimate_focal_px, float(region.sum())]])
        return State(1, 0, np.array([estimate_focal_px]), rows=rows)

    @staticmethod
    def finish(state, *, missing, step=1.0):
        return float(state.rows[:, 0].max())


@pytest.fixture
def ranked():
    declared = dict(
        unit=Unit.RATIO,
        better="lower",
        bounds=(0, 1),
        of=("depth",),
        cite="common",
        formula="1",
        revision=1,
        pools=("pixel",),
        needs=("estimate_focal_px",),
        level="dataset",
    )
    names = ("ranked_test", "ranked_test_again")
    for name in names:
        metric(name, **declared)(_Ranked)
    _Ranked.calls = 0
    yield
    for name in names:
        METRICS._things.pop(name)
        METRICS._homes.pop(name)


def trial(**more):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "none",
        "quantity": "depth",
        "pool": "pixel",
        "estimate_resize": "nearest",
        "scores": [
            {"metric": "ranked_test", "region": ""},
            {"metric": "ranked_test_again", "region": "", "name": "again"},
        ],
        **more,
    }
    return make_protocol(body, "a test")


def test_region_nothing_has_no_at_and_measures_all(ranked):
    protocol = trial()
    assert protocol.score_ids == ("ranked_test", "again")
    assert {spec.region for spec in protocol.specs} == {"all"}


def test_the_focal_length_follows_the_size_and_one_measure_serves_both(ranked):
    protocol = trial()
    truth = np.full((16, 20), 2.0, np.float32)
    ready = prepare_truth(protocol, truth, {})
    small = Estimate(np.full((8, 5), 2.0, np.float32), "depth", parts={"focal_px": 10})
    prepared = prepare(protocol, small, ready)
    assert prepared.items["estimate_focal_px"] == 10 * (2 + 4) / 2
    scores = measure(prepared, protocol.specs, "depth", "bad", "pixel")
    assert _Ranked.calls == 1
    assert [s.why for s in scores.values()] == ["dataset", "dataset"]
    assert all(math.isnan(s.value) for s in scores.values())


def test_an_estimate_without_focal_length_needs_one_from_the_protocol(ranked):
    truth = np.full((16, 20), 2.0, np.float32)
    ready = prepare_truth(trial(), truth, {})
    plain = Estimate(truth, "depth", extras={"path": "depth/7.npy"})
    with pytest.raises(BadEstimate, match=r"depth/7\.npy: has no focal length.*--focal"):
        prepare(trial(), plain, ready)
    given = trial().with_settings(focal_px=77.0)
    assert prepare(given, plain, ready).items["estimate_focal_px"] == 77.0
    assert math.isnan(prepare(given, None, ready).items["estimate_focal_px"])
    assert given.hash != trial().hash


def test_settings_that_nothing_has_are_refused(ranked):
    with pytest.raises(Misuse, match="several thresholds"):
        trial().with_settings(thresholds=5)
    plain = trial(scores=[{"metric": "mae"}])
    with pytest.raises(Misuse, match="needs a focal length"):
        plain.with_settings(focal_px=5.0)
    assert plain.with_settings() is plain


def test_dataset_scores_pool_by_merged_rows_and_survive_their_file(ranked, tmp_path):
    protocol = trial()
    states = [State(1, 0, np.array([v]), rows=np.array([[v, 1.0]])) for v in (3.0, 5.0, 4.0)]
    scores = {
        str(i): Score(math.nan, 1, 0, state=state, level="dataset")
        for i, state in enumerate(states)
    }
    pooled = pool_spec(protocol.specs[0], scores, {}, "pixel", "bad")
    assert pooled.value == 5.0
    assert (pooled.used, pooled.all) == (3, 3)
    timing = Timing("m", 0, "s", 1.0, 1.0, 1.0, 1.0, "h")
    item = Item("m", "", 0, "s", Outcome({"ranked_test": scores["1"]}), timing)
    write_item(tmp_path / "i.json", item)
    back = read_item(tmp_path / "i.json").outcome.scores["ranked_test"]
    assert back.state == states[1]
    assert back.level == "dataset"
    assert back.why == "dataset"


def test_rows_merge_in_one_order():
    a = State(2, 0, rows=np.array([[2.0, 1.0], [1.0, 5.0]]))
    b = State(1, 1, rows=np.array([[1.0, 4.0]]))
    merged = merge_states([a, b])
    assert merged.rows.tolist() == [[1.0, 4.0], [1.0, 5.0], [2.0, 1.0]]
    assert (merged.count, merged.missing) == (3, 1)
    assert merge_states([b, a]) == merged == a + b
    with pytest.raises(WrongShape):
        a + State(1, 0)
    with pytest.raises(WrongShape):
        a + State(1, 0, rows=np.zeros((1, 3)))
    assert sorted_rows(np.zeros((0, 2))).shape == (0, 2)


def test_merging_many_states_is_adding_them():
    rng = np.random.default_rng(0)
    states = [State(n, 1, rng.uniform(size=2), np.sort(rng.uniform(size=n))) for n in (3, 0, 5)]
    merged = merge_states(states)
    assert np.array_equal(merged.values, np.sort(np.concatenate([s.values for s in states])))
    assert np.allclose(merged.sums, sum(s.sums for s in states))
    assert merged.count == 8
    assert merged.missing == 3


def normals_protocol(**more):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "none",
        "quantity": "normals",
        "pool": "pixel",
        "scores": [{"metric": "mean_angle", "region": ""}],
        **more,
    }
    return make_protocol(body, "a test")


FROM_DEPTH = {"truth": {"from_depth": True}}


def test_normals_are_made_of_depth_only_where_the_protocol_says_so():
    depth = np.full((16, 20), 3.0, np.float32)
    own = np.zeros((16, 20, 3), np.float32)
    truth = Truth({"depth": depth, "camera": CAMERA, "normals": own})
    stored, made = normals_protocol(), normals_protocol(**FROM_DEPTH)
    assert stored.hash != made.hash
    assert truth_map(stored, truth, truth) is own
    found = truth_map(made, truth, truth)
    assert np.allclose(found, normals_from_depth(depth, CAMERA), equal_nan=True)
    without = Sample("a", Inputs({}), Truth({"depth": depth, "camera": CAMERA}))
    assert has_map(without, made)
    assert not has_map(without, stored)
    assert not has_map(Sample("b", Inputs({}), Truth({"depth": depth})), made)
    assert not has_map(Sample("c", Inputs({}), None), made)


def test_only_normals_are_made_of_depth():
    with pytest.raises(BadProtocol, match=r"truth\.from_depth"):
        trial(scores=[{"metric": "mae"}], **FROM_DEPTH)


def test_a_perfect_estimate_before_a_jump_is_not_wrong():
    depth = np.full((16, 20), 2.0, np.float32)
    depth[4:12, 5:15] = 1.2
    sample = Sample("a", Inputs({}), Truth({"depth": depth, "camera": CAMERA}))
    protocol = normals_protocol(**FROM_DEPTH)
    facing = np.zeros((16, 20, 3), np.float32)
    facing[..., 2] = -1.0
    scores = Judge(Rules.of(protocol, [sample])).score_map(sample, lambda: facing).scores
    assert scores["mean_angle"].value == pytest.approx(0.0, abs=1e-4)
    assert scores["mean_angle"].count > 100


def test_normals_of_depth_are_scored():
    protocol = normals_protocol(**FROM_DEPTH)
    depth = np.full((16, 20), 3.0, np.float32)
    sample = Sample("a", Inputs({}), Truth({"depth": depth, "camera": CAMERA}))
    judge = Judge(Rules.of(protocol, [sample]))
    tilted = np.zeros((16, 20, 3), np.float32)
    tilted[..., 0], tilted[..., 2] = 1.0, -1.0
    scores = judge.score_map(sample, lambda: tilted).scores
    assert scores["mean_angle"].value == pytest.approx(45.0, abs=1e-4)


@pytest.mark.parametrize(
    ("body", "focal"),
    [
        ('{"focal_px": 12.5}', 12.5),
        ('{"extras": {"focal_px": 7}}', 7.0),
        ('{"parts": {"focal_px": 9}}', 9.0),
        ('{"label": "x"}', None),
        ("[1]", None),
    ],
)
def test_the_focal_length_beside_a_map(tmp_path, body, focal):
    (tmp_path / "estimate.json").write_text(body)
    assert read_parts(tmp_path / "depth.npy", "depth").get("focal_px") == focal


@pytest.mark.parametrize(
    "body", ["{", '{"focal_px": 0}', '{"focal_px": true}', '{"focal_px": "5"}', "[" * 9999]
)
def test_a_damaged_file_beside_a_map_is_one_sentence(tmp_path, body):
    (tmp_path / "estimate.json").write_text(body)
    with pytest.raises(BadFile, match=r"estimate\.json"):
        read_parts(tmp_path / "depth.npy", "depth")
    assert read_parts(tmp_path / "elsewhere" / "depth.npy", "depth") == {}


def test_the_hash_of_an_estimate_knows_its_focal_length():
    values = np.ones((2, 2), np.float32)
    with_focal = Estimate(values, "depth", parts={"focal_px": 5})
    assert estimate_hash(with_focal) != estimate_hash(Estimate(values, "depth"))
    assert estimate_hash(with_focal) == estimate_hash(
        Estimate(values, "depth", {"focal_px": 5.0}, {"path": "x"})
    )


def test_the_folder_of_estimates_gives_the_focal_length(tmp_path):
    from depthgauge.datasets import find_estimate, read_estimate

    place = tmp_path / "a"
    place.mkdir()
    np.save(place / "depth.npy", np.ones((2, 3), np.float32))
    (place / "estimate.json").write_text(json.dumps({"extras": {"focal_px": 31.0}}))
    dataset = DATASETS["depthgauge"]
    found = read_estimate(find_estimate(tmp_path, dataset, "a", "depth"), dataset, "depth")
    assert found.parts["focal_px"] == 31.0
    assert found.extras["path"].endswith("depth.npy")
