"""Batches in a loop: the numbers of `score` and `evaluate` to the bit, however they are split."""

import copy
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.engine.scoring.pool import plain_mean
from depthgauge.errors import (
    BadScoreId,
    CannotCompare,
    Misuse,
    NothingScored,
    UnknownName,
    WrongShape,
)

METRICS = ["badpix:1", "mae", "rms", "quantile:90", "density"]
N, SIZE = 9, (12, 17)


def made(seed=3, n=N, size=SIZE):
    """Truths and estimates with holes."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(2, 40, (n, *size)).astype(np.float32)
    estimate = truth + rng.normal(0, 1.5, truth.shape).astype(np.float32)
    truth[rng.random(truth.shape) < 0.1] = np.nan
    estimate[rng.random(truth.shape) < 0.1] = np.nan
    return estimate, truth, rng.random(truth.shape) < 0.4


ESTIMATE, TRUTH, MASK = made()
IDS = [f"s{n}" for n in range(N)]


def same(a, b):
    """Equal to the bit; NaN equals NaN."""
    assert a.to_json() == b.to_json()
    assert repr(a.to_dict()) == repr(b.to_dict())
    assert {n: list(s) for n, s in a.samples.items()} == {n: list(s) for n, s in b.samples.items()}


def fill(accumulator, cuts=(), order=None, **with_batch):
    order = list(range(N)) if order is None else list(order)
    for part in np.split(order, sorted({c for c in cuts if 0 < c < len(order)})):
        more = {name: [values[n] for n in part] for name, values in with_batch.items()}
        accumulator.update(ESTIMATE[part], TRUTH[part], **more)
    return accumulator


@settings(max_examples=20)
@given(cuts=st.sets(st.integers(1, N - 1)), order=st.permutations(range(N)))
@pytest.mark.parametrize("pool", ["image", "pixel"])
def test_any_split_gives_the_scores_of_each_sample_to_the_bit(pool, cuts, order):
    accumulator = dg.Accumulator(METRICS, quantity="disparity", pool=pool)
    result = fill(accumulator, cuts, order, ids=IDS).compute()
    assert list(result.samples) == IDS
    for n, name in enumerate(IDS):
        alone = dg.score(ESTIMATE[n], TRUTH[n], METRICS, quantity="disparity")
        assert {i: s.value for i, s in result.samples[name].items()} == alone.to_dict()
        for score_id in ("badpix:1@all", "mae@all"):
            assert result.samples[name][score_id] == alone[score_id]
    whole = fill(dg.Accumulator(METRICS, quantity="disparity", pool=pool), ids=IDS).compute()
    same(result, whole)
    if pool == "image":
        values = [found["mae@all"].value for found in result.samples.values()]
        assert result.summary["mae@all"].value == plain_mean(values)
        assert result.protocol.hash == alone.protocol_hash


@pytest.mark.parametrize("pool", ["image", "pixel", "scene"])
def test_a_benchmark_gives_what_evaluate_gives(folders, trial, pool):
    for name, truth in folders.truth.items():
        folders.write_mask("glass", name, truth > 20)
    scores = [{"metric": m, "region": ["all", "glass"]} for m in ("badpix", "mae", "quantile")]
    scores[2]["percent"] = 50
    protocol = trial(pool=pool, scores=scores)
    accumulator = dg.Accumulator(benchmark=protocol)
    for name in "cab":
        truth = folders.truth[name]
        accumulator.update(folders.estimate[name], truth, ids=[name], glass=truth > 20)
    same(accumulator.compute(), folders.evaluate(protocol))


def test_a_benchmark_that_aligns_and_resizes(folders, trial):
    protocol = trial(align={"kind": "scale_shift"}, estimate_resize="nearest")
    for name, estimate in folders.estimate.items():
        folders.write(name, estimate[::2, ::2])
    accumulator = dg.Accumulator(benchmark=protocol)
    for name, estimate in folders.estimate.items():
        accumulator.update(estimate[::2, ::2][None], folders.truth[name][None], ids=[name])
    same(accumulator.compute(), folders.evaluate(protocol))


@settings(max_examples=10)
@given(owner=st.lists(st.integers(0, 2), min_size=N, max_size=N), order=st.permutations(range(3)))
def test_merging_in_any_order_is_one_accumulator(owner, order):
    def part(rank):
        mine = [n for n in range(N) if owner[n] == rank]
        found = dg.Accumulator(METRICS, quantity="disparity", pool="pixel")
        return fill(found, order=mine, ids=IDS) if mine else found

    first, *others = (part(rank) for rank in order)
    for other in others:
        first.merge(other)
    whole = fill(dg.Accumulator(METRICS, quantity="disparity", pool="pixel"), ids=IDS)
    same(first.compute(), whole.compute())


def test_merging_takes_the_state_of_another_process():
    halves = [dg.Accumulator(METRICS) for _ in range(2)]
    for accumulator, part in zip(halves, (slice(0, 4), slice(4, N)), strict=True):
        accumulator.update(ESTIMATE[part], TRUTH[part])
    sent = json.loads(json.dumps(halves[1].state_dict(), allow_nan=False))
    same(halves[0].merge(sent).compute(), fill(dg.Accumulator(METRICS)).compute())


def test_what_a_distributed_sampler_adds_counts_once():
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    accumulator.update(ESTIMATE[[0, 1, 2, 1]], TRUTH[[0, 1, 2, 1]], ids=np.array([0, 1, 2, 1]))
    accumulator.update(ESTIMATE[[3, 0]], TRUTH[[3, 0]], ids=["3", "0"])
    assert len(accumulator) == 4
    other = dg.Accumulator(METRICS, quantity="disparity")
    other.update(ESTIMATE[[3, 4]], TRUTH[[3, 4]], ids=[3, 4])
    result = accumulator.merge(other).compute()
    assert list(result.samples) == ["0", "1", "2", "3", "4"]
    plain = dg.Accumulator(METRICS, quantity="disparity")
    plain.update(ESTIMATE[:5], TRUTH[:5])
    assert plain.compute().to_dict() == result.to_dict()


def test_ids_are_given_always_or_never():
    accumulator = dg.Accumulator("mae", quantity="disparity")
    accumulator.update(ESTIMATE[:2], TRUTH[:2])
    with pytest.raises(Misuse, match="the batches before had none; give ids= with every batch"):
        accumulator.update(ESTIMATE[:2], TRUTH[:2], ids=[1, 2])
    with pytest.raises(WrongShape, match="ids is 3 entries but the batch has 2 samples"):
        dg.Accumulator("mae", quantity="depth").update(ESTIMATE[:2], TRUTH[:2], ids=[1, 2, 3])
    with pytest.raises(WrongShape, match="ids is a text"):
        dg.Accumulator("mae", quantity="depth").update(ESTIMATE[:2], TRUTH[:2], ids="ab")


def test_pickled_copied_and_stored_it_goes_on():
    whole = fill(dg.Accumulator(METRICS, pool="pixel")).compute()
    begun = dg.Accumulator(METRICS, pool="pixel")
    begun.update(ESTIMATE[:4], TRUTH[:4])
    loaded = dg.Accumulator(METRICS, pool="pixel")
    loaded.load_state_dict(json.loads(json.dumps(begun.state_dict())))
    for accumulator in (pickle.loads(pickle.dumps(begun)), copy.deepcopy(begun), loaded):
        accumulator.update(ESTIMATE[4:], TRUTH[4:])
        same(accumulator.compute(), whole)
    assert len(begun) == 4
    fresh = pickle.loads(pickle.dumps(dg.Accumulator(METRICS, pool="pixel")))
    same(fill(fresh).compute(), whole)


def test_compute_may_be_asked_for_at_any_time_and_reset_forgets():
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    with pytest.raises(NothingScored, match=r"compute\(\) was called before update\(\)"):
        accumulator.compute()
    fill(accumulator)
    same(accumulator.compute(), accumulator.compute())
    accumulator.reset()
    assert len(accumulator) == 0
    accumulator.update(ESTIMATE[0], TRUTH[0], ids=["one"])
    alone = dg.score(ESTIMATE[0], TRUTH[0], METRICS, quantity="disparity")
    assert accumulator.compute().to_dict() == alone.to_dict()


def test_masks_come_with_the_batch():
    accumulator = dg.Accumulator("mae", regions=["glass"], quantity="disparity")
    accumulator.update(ESTIMATE[:4], TRUTH[:4], glass=MASK[:4])
    accumulator.update(ESTIMATE[4:, None], TRUTH[4:, None], glass=MASK[4:, None].astype(np.uint8))
    result = accumulator.compute()
    for n in range(N):
        alone = dg.score(ESTIMATE[n], TRUTH[n], "mae", regions={"glass": MASK[n]})
        assert result.samples[str(n)] == dict(alone)
    assert result.protocol.hash == alone.protocol_hash


def test_one_mask_for_all_and_a_mask_that_limits_all():
    accumulator = dg.Accumulator("mae", regions={"centre": None}, quantity="disparity")
    accumulator.update(ESTIMATE, TRUTH, centre=MASK[0], mask=MASK[1])
    alone = dg.score(ESTIMATE[2], TRUTH[2], "mae", regions={"centre": MASK[0]}, mask=MASK[1])
    result = accumulator.compute()
    assert result.samples["2"] == dict(alone)
    assert result.protocol.hash == alone.protocol_hash
    with pytest.raises(Misuse, match=r"the first batch had mask=; give it with every batch"):
        accumulator.update(ESTIMATE, TRUTH, centre=MASK[0])


def test_regions_that_are_computed_and_expressions_over_masks():
    for regions, given_masks, key in (
        (["discontinuities"], {}, "discontinuities"),
        ({"front": "near:20"}, {}, "front"),
        ({"glass": None, "near_glass": "glass & near:20"}, {"glass": MASK[0]}, "near_glass"),
    ):
        accumulator = dg.Accumulator("mae", regions=regions, quantity="disparity")
        accumulator.update(ESTIMATE[0], TRUTH[0], **given_masks)
        if key == "discontinuities":
            alone = dg.score(ESTIMATE[0], TRUTH[0], ["mae", "mae@discontinuities"])
        else:
            texts = {n: given_masks.get(n, text) for n, text in regions.items()}
            alone = dg.score(ESTIMATE[0], TRUTH[0], "mae", regions=texts)
        found = accumulator.compute().samples["0"]
        assert found[f"mae@{key}"] == alone[f"mae@{key}"]


@pytest.mark.parametrize(
    ("masks", "error", "sentence"),
    [
        ({}, Misuse, "needs the mask of region 'glass', which regions= names; give glass=mask"),
        ({"glas": MASK}, UnknownName, "Did you mean 'glass'"),
        ({"glass": MASK[:, :5]}, WrongShape, r"the mask 'glass' is \(9, 5, 17\) but the truth is"),
        ({"glass": MASK[:3]}, WrongShape, r"the mask 'glass' is \(3, 12, 17\) but the truth is"),
    ],
)
def test_wrong_masks_are_one_sentence(masks, error, sentence):
    accumulator = dg.Accumulator("mae", regions="glass", quantity="disparity")
    with pytest.raises(error, match=sentence):
        accumulator.update(ESTIMATE, TRUTH, **masks)
    assert len(accumulator) == 0


def test_names_are_refused_when_it_is_made():
    with pytest.raises(UnknownName, match="badpix"):
        dg.Accumulator("badpx", quantity="disparity")
    with pytest.raises(BadScoreId, match="letters, digits"):
        dg.Accumulator("mae", regions=["my glass"], quantity="disparity")
    with pytest.raises(Misuse, match="a benchmark says its metrics itself; leave metrics= out"):
        dg.Accumulator("mae", benchmark="middlebury")
    with pytest.raises(Misuse, match="a benchmark says its pool itself"):
        dg.Accumulator(benchmark="middlebury", pool="pixel")
    with pytest.raises(Misuse, match=r"is a twin, which reads files; use dg\.evaluate"):
        dg.Accumulator(benchmark="middlebury-toolkit")
    with pytest.raises(Misuse, match="device is 'gpu' but must be 'cpu'"):
        dg.Accumulator("mae", device="gpu")


def test_a_benchmark_refuses_masks_that_it_does_not_know(trial):
    accumulator = dg.Accumulator(benchmark=trial())
    with pytest.raises(UnknownName, match="no region of this accumulator 'glass'"):
        accumulator.update(ESTIMATE, TRUTH, glass=MASK)


def test_other_protocols_are_not_merged():
    one, other = dg.Accumulator("mae"), dg.Accumulator("rms")
    one.update(ESTIMATE, TRUTH)
    other.update(ESTIMATE, TRUTH)
    with pytest.raises(CannotCompare, match=r"other metrics, regions or settings.*mae@all"):
        one.merge(other)
    assert len(one) == N


def test_quantiles_over_all_pixels_are_refused_beyond_the_memory():
    most = 3 * SIZE[0] * SIZE[1] * 4
    accumulator = dg.Accumulator(
        "quantile:50", quantity="disparity", pool="pixel", memory_limit=most
    )
    accumulator.update(ESTIMATE[:3], TRUTH[:3])
    before = accumulator.compute()
    with pytest.raises(Misuse, match=r"keep every error: 0\.0 MiB, more than memory_limit.*raise"):
        accumulator.update(ESTIMATE[3:6], TRUTH[3:6])
    same(accumulator.compute(), before)
    by_image = dg.Accumulator("quantile:50", memory_limit=0)
    by_image.update(ESTIMATE, TRUTH)
    assert len(by_image) == N


def test_metrics_of_a_whole_dataset_pool_as_evaluate_does():
    rng = np.random.default_rng(1)
    truth = (rng.random((3, 20, 20)) < 0.1).astype(np.float32)
    estimate = np.clip(truth + rng.normal(0, 0.3, truth.shape), 0, 1).astype(np.float32)
    accumulator = dg.Accumulator(["ods:10"], quantity="boundaries")
    accumulator.update(estimate, truth)
    assert accumulator.protocol.pool == "pixel"
    assert 0 < accumulator.compute().summary["ods:10@all"].value <= 1


def test_flow_with_its_channels_first_or_last():
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 3, (4, 6, 7, 2)).astype(np.float32)
    estimate = truth + rng.normal(0, 1, truth.shape).astype(np.float32)
    last, first = dg.Accumulator(["epe", "fl"]), dg.Accumulator(["epe", "fl"])
    last.update(estimate, truth)
    first.update(estimate.transpose(0, 3, 1, 2), truth.transpose(0, 3, 1, 2))
    same(last.compute(), first.compute())
    for n in range(4):
        alone = dg.score(estimate[n], truth[n], ["epe", "fl"], quantity="flow")
        assert last.compute().samples[str(n)] == dict(alone)


def test_scenes_are_merged_before_the_mean():
    accumulator = dg.Accumulator("rms", quantity="disparity", pool="scene")
    fill(accumulator, scenes=["x"] * 3 + ["y"] * (N - 3))
    parts = []
    for part in (slice(0, 3), slice(3, N)):
        one = dg.Accumulator("rms", quantity="disparity", pool="pixel")
        one.update(ESTIMATE[part], TRUTH[part])
        parts.append(one.compute().to_dict()["rms@all"])
    assert accumulator.compute().to_dict()["rms@all"] == plain_mean(parts)


def test_items_come_for_all_samples_or_for_each():
    images = np.random.default_rng(0).integers(0, 255, (2, *SIZE, 3), dtype=np.uint8)
    images[0] = 128  # without any texture
    each, shared = (
        dg.Accumulator("mae", regions="textureless", quantity="disparity") for _ in "ab"
    )
    each.update(ESTIMATE[:2], TRUTH[:2], items=[{"left_image": image} for image in images])
    shared.update(ESTIMATE[:2], TRUTH[:2], items={"left_image": images[0]})
    alone = dg.score(ESTIMATE[1], TRUTH[1], "mae@textureless", items={"left_image": images[1]})
    found = each.compute().samples["1"]["mae@textureless"]
    assert repr(found) == repr(alone["mae@textureless"])  # NaN does not equal itself
    assert shared.compute().samples["1"]["mae@textureless"] != alone["mae@textureless"]
    with pytest.raises(BadScoreId, match="left_image"):
        dg.Accumulator("mae", regions="textureless").update(ESTIMATE, TRUTH)


def test_it_says_what_it_holds():
    accumulator = dg.Accumulator("mae")
    assert repr(accumulator) == "Accumulator(mae; 0 samples)"
    with pytest.raises(Misuse, match="not known before the first batch; say quantity="):
        _ = accumulator.protocol
    fill(accumulator)
    assert repr(accumulator) == "Accumulator(mae@all; 9 samples)"
    assert accumulator.protocol.quantity == "disparity"
    assert math.isfinite(accumulator.compute().to_dict()["mae@all"])


def test_a_crop_is_that_of_score():
    accumulator = dg.Accumulator("mae", quantity="disparity", crop=2)
    alone = dg.score(ESTIMATE[0], TRUTH[0], "mae", quantity="disparity", crop=2)
    accumulator.update(ESTIMATE[0], TRUTH[0])
    assert accumulator.compute().samples["0"] == dict(alone)
    assert alone["mae@all"].count < dg.score(ESTIMATE[0], TRUTH[0], "mae")["mae@all"].count


def test_the_first_sample_is_tested_once_for_being_read_as_what_it_is():
    rng = np.random.default_rng(4)
    truth = rng.uniform(5, 60, (2, 64, 80)).astype(np.float32)
    accumulator = dg.Accumulator("mae", quantity="disparity")
    with pytest.warns(dg.DepthgaugeWarning) as found:
        accumulator.update(-truth, truth)
    assert len(found) == 1
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accumulator.update(-truth, truth)
        dg.Accumulator("mae", quantity="disparity", check=False).update(-truth, truth)


def test_parts_are_for_score():
    with pytest.raises(Misuse, match=r"one map of each sample; score parts with dg\.score"):
        dg.Accumulator("mae").update({"disparity": ESTIMATE}, TRUTH)
