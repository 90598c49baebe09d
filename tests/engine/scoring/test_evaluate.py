"""A benchmark on folders: what is compared, what missing estimates cost, how samples are pooled."""

import importlib
import json
import math
import shutil

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import BENCHMARKS
from depthgauge.benchmarks.protocol import hash_json
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.errors import BadData, NothingScored, UnknownName, WrongShape
from depthgauge.types import Score, State

NAN = np.nan


def errors(folders, name):
    e = folders.estimate[name] - folders.truth[name]
    return np.abs(e[np.isfinite(e)]).astype(np.float64)


def test_scores_of_a_sample_are_those_of_its_maps(folders, trial):
    result = folders.evaluate(trial())
    for name in "abc":
        alone = dg.score(folders.estimate[name], folders.truth[name], ["badpix:1", "mae"])
        assert result.samples[name]["badpix:1@all"] == alone["badpix:1@all"]
        assert result.samples[name]["mae@all"].value == pytest.approx(errors(folders, name).mean())


def test_pooling_by_image_pixel_and_scene_differ_as_they_should(folders, trial):
    by_image = folders.evaluate(trial()).summary["mae@all"].value
    by_pixel = folders.evaluate(trial(pool="pixel")).summary["mae@all"].value
    by_scene = folders.evaluate(trial(pool="scene")).summary["mae@all"].value
    every = [errors(folders, name) for name in "abc"]
    assert by_image == pytest.approx(np.mean([e.mean() for e in every]))
    assert by_pixel == pytest.approx(np.concatenate(every).mean())
    assert by_scene == pytest.approx(by_image)  # here every sample is a scene of its own
    assert by_pixel != pytest.approx(by_image)


def test_quantiles_pool_over_all_pixels(folders, trial):
    pooled = folders.evaluate(trial(pool="pixel")).summary["quantile:90@all"].value
    every = np.concatenate([errors(folders, name) for name in "abc"])
    assert pooled == pytest.approx(np.percentile(every, 90), rel=1e-6)


def test_a_missing_estimate_costs_the_worst_and_leaves_unbounded_metrics_incomplete(folders, trial):
    whole = folders.evaluate(trial())
    (folders.estimates / "b.pfm").unlink()
    for pool in ("image", "pixel", "scene"):
        result = folders.evaluate(trial(pool=pool))
        assert "no estimate for 'b'" in result.failed["b"]
        assert result.samples["b"]["badpix:1@all"].value == 100
        assert result.samples["b"]["badpix:1@all"].count == 0
        assert result.summary["badpix:1@all"].value > whole.summary["badpix:1@all"].value
        assert result.samples["b"]["mae@all"].why == "missing"
        assert math.isnan(result.summary["mae@all"].value)
        assert result.summary["mae@all"].incomplete
        assert (result.summary["mae@all"].used, result.summary["mae@all"].all) == (2, 3)


@pytest.mark.parametrize("score", ["badpix:1@all", "mae@all", "rms@all", "quantile:90@all"])
def test_removing_an_estimate_never_improves_a_rank(folders, trial, score):
    before = folders.evaluate(trial()).summary[score].value
    for name in "abc":
        (folders.estimates / f"{name}.pfm").rename(folders.estimates / f"{name}.away")
        after = folders.evaluate(trial()).summary[score].value
        assert rank_key(after, "lower") >= rank_key(before, "lower")
        (folders.estimates / f"{name}.away").rename(folders.estimates / f"{name}.pfm")


def test_an_unreadable_estimate_fails_its_sample_and_the_others_go_on(folders, trial):
    path = folders.estimates / "a.pfm"
    path.write_bytes(path.read_bytes()[:40])
    result = folders.evaluate(trial())
    assert set(result.failed) == {"a"}
    assert str(path) in result.failed["a"]
    assert result.samples["a"]["density@all"].value == 0
    assert result.samples["b"]["density@all"].value > 80


def test_an_estimate_of_another_size_fails_unless_the_protocol_resizes(folders, trial):
    folders.write("c", np.ones((20, 12)))
    assert "20x12" in folders.evaluate(trial()).failed["c"].replace("12x20", "20x12")
    folders.write("c", folders.truth["c"][::2, ::2] / 2)
    blocks = folders.evaluate(trial(estimate_resize="block")).samples["c"]["mae@all"]
    doubled = np.repeat(np.repeat(folders.truth["c"][::2, ::2], 2, 0), 2, 1)
    e = np.abs(doubled - folders.truth["c"])
    assert blocks.value == pytest.approx(e[np.isfinite(e)].mean(dtype=np.float64))


def test_the_truth_can_be_subsampled_and_thresholds_stay(folders, trial):
    quarter = trial(truth_scale=0.5, estimate_resize="nearest", estimate={"range": "none"})
    result = folders.evaluate(quarter)
    truth = folders.truth["a"][::2, ::2] / 2
    estimate = folders.estimate["a"][::2, ::2] / 2
    alone = dg.score(estimate, truth, ["badpix:1"])
    assert result.samples["a"]["badpix:1@all"] == alone["badpix:1@all"]


def test_a_cropped_estimate_is_scored_on_what_it_has(folders, trial):
    whole = folders.evaluate(trial(crop=3)).samples["a"]["mae@all"]
    folders.write("a", folders.estimate["a"][3:-3, 3:-3])
    cropped = folders.evaluate(trial(crop=3)).samples["a"]["mae@all"]
    assert cropped == whole
    inside = dg.score(folders.estimate["a"][3:-3, 3:-3], folders.truth["a"][3:-3, 3:-3], "mae")
    assert whole.value == pytest.approx(inside["mae@all"].value, rel=1e-12)


def test_regions_come_from_masks_labels_and_expressions(folders, trial):
    left = {n: np.indices(t.shape)[1] < 8 for n, t in folders.truth.items()}
    for name, mask in left.items():
        folders.write_mask("left", name, mask)
    made = trial(
        regions={"rest": "all - left", "rim": "left & border:2"},
        scores=[{"metric": "mae", "region": ["all", "left", "rest", "rim", "near:20"]}],
    )
    sample = folders.evaluate(made).samples["a"]
    e = np.abs(folders.estimate["a"] - folders.truth["a"])
    known = np.isfinite(e)
    assert sample["mae@left"].value == pytest.approx(e[known & left["a"]].mean(dtype=np.float64))
    assert sample["mae@rest"].value == pytest.approx(e[known & ~left["a"]].mean(dtype=np.float64))
    assert sample["mae@left"].count + sample["mae@rest"].count == sample["mae@all"].count
    near = known & (folders.truth["a"] > 20)
    assert sample["mae@near:20"].value == pytest.approx(e[near].mean(dtype=np.float64))


def test_a_region_that_a_sample_cannot_give_is_left_out_and_named(folders, trial):
    for name in "ab":
        folders.write_mask("visible", name, np.ones(folders.truth[name].shape, bool))
    made = trial(scores=[{"metric": "mae", "region": ["all", "visible"]}])
    result = folders.evaluate(made)
    assert result.left_out == ("c@visible",)
    assert "mae@visible" not in result.samples["c"]
    assert result.summary["mae@visible"].all == 2


def test_a_mask_that_only_some_samples_have_is_left_out_of_the_others(folders, trial):
    folders.write_mask("glass", "a", np.ones(folders.truth["a"].shape, bool))
    result = folders.evaluate(trial(scores=[{"metric": "mae", "region": ["all", "glass"]}]))
    assert result.left_out == ("b@glass", "c@glass")
    assert result.summary["mae@glass"].all == 1
    with pytest.raises(UnknownName, match=r"no region 'glas'\. Did you mean 'glass'"):
        folders.evaluate(trial(scores=[{"metric": "mae", "region": "glas"}]))


def test_an_empty_region_is_left_out_of_pooling(folders, trial):
    masks = {"a": True, "b": False, "c": True}
    for name, filled in masks.items():
        folders.write_mask("glass", name, np.full(folders.truth[name].shape, filled))
    result = folders.evaluate(trial(scores=[{"metric": "mae", "region": "glass"}]))
    assert result.samples["b"]["mae@glass"].why == "empty"
    found = result.summary["mae@glass"]
    assert not found.incomplete
    values = [result.samples[n]["mae@glass"].value for n in "ac"]
    assert (found.used, found.all, found.value) == (2, 3, pytest.approx(np.mean(values)))


def test_missing_estimates_can_be_filled_first(folders, trial):
    made = trial(missing="interpolate", interpolate="constant", interpolate_constant=5.0)
    sample = folders.evaluate(made).samples["a"]["mae@all"]
    filled = np.where(np.isfinite(folders.estimate["a"]), folders.estimate["a"], np.float32(5))
    e = np.abs(filled - folders.truth["a"])
    assert sample.missing == 0
    assert sample.value == pytest.approx(e[np.isfinite(e)].mean(dtype=np.float64))


def test_what_could_not_be_filled_is_still_missing_and_bad(folders, trial):
    made = trial(missing="interpolate", interpolate="background")
    (folders.estimates / "b.pfm").unlink()
    sample = folders.evaluate(made).samples["b"]
    assert sample["badpix:1@all"].value == 100
    assert sample["mae@all"].why == "missing"


def test_removing_an_estimate_does_not_help_where_a_constant_is_filled_in(folders, trial):
    made = trial(missing="interpolate", interpolate="constant", interpolate_constant=5.0)
    folders.write("b", folders.truth["b"] + 100)
    before = folders.evaluate(made).summary
    (folders.estimates / "b.pfm").unlink()
    after = folders.evaluate(made).summary
    assert after["badpix:1@all"].value >= before["badpix:1@all"].value
    assert after["mae@all"].incomplete


def test_a_sample_that_cannot_be_aligned_is_left_out_and_named(folders, trial):
    for name in "ab":
        folders.write_mask("glass", name, np.ones(folders.truth[name].shape, bool))
    result = folders.evaluate(trial(align={"kind": "median", "fit_on": "glass"}))
    assert set(result.samples) == {"a", "b"}
    assert result.left_out[0].startswith("c: the alignment is fitted on 'glass'")


def test_a_sample_without_the_range_that_others_have_is_named(golden_middlebury, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(golden_middlebury / "trainingF", data)
    (data / "Canal" / "calib.txt").unlink()
    result = dg.evaluate("middlebury", data, golden_middlebury / "trainingF", name="EST")
    assert result.left_out == ("Canal: disparity_range",)


def test_a_constant_outside_the_range_is_filled_in_all_the_same(folders, trial):
    made = trial(
        missing="interpolate",
        interpolate="constant",
        interpolate_constant=-1.0,
        estimate={"range": [0, 100]},
    )
    sample = folders.evaluate(made).samples["a"]
    assert sample["mae@all"].missing == 0


def test_samples_of_a_scene_are_merged_before_the_mean(trial):
    from depthgauge.engine.scoring.pool import pool_spec

    spec = next(s for s in trial().specs if s.id == "mae@all")
    scores = {
        name: Score(total / count, count, 0, total, "px", State(count, 0, np.array([total])))
        for name, (total, count) in {"a/1": (10.0, 1), "a/2": (0.0, 9), "b": (3.0, 1)}.items()
    }
    scenes = {"a/1": "a", "a/2": "a", "b": ""}
    assert pool_spec(spec, scores, scenes, "scene", "bad").value == (1.0 + 3.0) / 2
    # A sample that is called like another's scene is a scene of its own.
    scenes = {"a/1": "b", "a/2": "b", "b": ""}
    assert pool_spec(spec, scores, scenes, "scene", "bad").value == (1.0 + 3.0) / 2
    assert pool_spec(spec, scores, scenes, "image", "bad").value == (10 + 0 + 3) / 3
    assert pool_spec(spec, scores, scenes, "pixel", "bad").value == 13 / 11


def test_maps_do_not_pile_up(folders, trial, monkeypatch):
    module = importlib.import_module("depthgauge.engine.scoring.evaluate")
    kept = []
    choose = module.choose
    monkeypatch.setattr(
        module, "choose", lambda found, only: kept.extend(found) or choose(found, only)
    )
    folders.evaluate(trial())
    assert len(kept) == 3
    assert not any("disparity" in sample.truth._values for sample in kept)


def test_a_crop_that_leaves_nothing_is_an_error(folders, trial):
    with pytest.raises(WrongShape, match="crop = 6 leaves nothing of a truth of 18x12"):
        folders.evaluate(trial(crop=6))


def test_a_mask_is_known_whichever_samples_are_chosen(folders, trial):
    folders.write_mask("glass", "a", np.ones(folders.truth["a"].shape, bool))
    made = trial(scores=[{"metric": "mae", "region": ["all", "glass"]}])
    assert folders.evaluate(made, only=["b"]).left_out == ("b@glass",)


def test_skip_counts_only_what_is_estimated(folders, trial):
    skipped = folders.evaluate(trial(missing="skip")).samples["a"]["badpix:1@all"]
    assert skipped.value == pytest.approx(100 * (errors(folders, "a") > 1).mean())
    assert skipped.missing > 0


def test_estimates_outside_the_range_are_missing_or_clipped(folders, trial):
    folders.write("a", np.where(folders.estimate["a"] > 20, 1000, folders.estimate["a"]))
    inside = folders.evaluate(trial(estimate={"range": [0, 100]})).samples["a"]["density@all"]
    assert inside.value < 60
    clipped = folders.evaluate(trial(estimate={"clip": [0, 40], "range": [0, 100]}))
    assert clipped.samples["a"]["density@all"].value > 80


def test_the_alignment_is_stored_with_the_score(folders, trial):
    folders.write("a", (folders.truth["a"] - 3) / 2)
    result = folders.evaluate(trial(align={"kind": "scale_shift"}))
    score = result.samples["a"]["mae@all"]
    assert score.value == pytest.approx(0, abs=1e-5)
    assert score.alignment["scale"] == pytest.approx(2, rel=1e-5)
    assert score.alignment["shift"] == pytest.approx(3, rel=1e-4)
    body = result.to_json()["samples"]["a"]["mae@all"]
    assert body["alignment"]["kind"] == "scale_shift"


def test_a_degenerate_alignment_leaves_no_estimate_and_says_why(folders, trial):
    folders.write("a", np.zeros_like(folders.truth["a"]))
    result = folders.evaluate(trial(align={"kind": "scale"}))
    score = result.samples["a"]["mae@all"]
    assert score.why == "missing"
    assert score.alignment["reason"]
    text = json.dumps(result.to_json(), allow_nan=False)
    assert '"scale": null' in text


def test_samples_without_truth_are_left_out_and_named(tmp_path, golden_middlebury):
    for split in ("trainingF", "testF"):
        shutil.copytree(golden_middlebury / "trainingF/Edges", tmp_path / "root" / split / "Edges")
    (tmp_path / "root/testF/Edges").rename(tmp_path / "root/testF/Hidden")
    (tmp_path / "root/testF/Hidden/disp0GT.pfm").unlink()
    made = BENCHMARKS["middlebury"].model_copy(update={"split": "all"})
    result = dg.evaluate(made, tmp_path / "root", golden_middlebury / "trainingF", name="EST")
    assert "Hidden" in result.left_out
    assert set(result.samples) == {"Edges"}


def test_nothing_to_score_is_an_error(folders, trial, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NothingScored, match="none of the 3 samples could be scored"):
        dg.evaluate(trial(), folders.data, empty)
    with pytest.raises(BadData, match="there is no such folder of estimates"):
        dg.evaluate(trial(), folders.data, tmp_path / "none")
    with pytest.raises(BadData, match="there is no such folder"):
        dg.evaluate(trial(), tmp_path / "none", folders.estimates)
    with pytest.raises(BadData, match="no sample 'z' in the data"):
        folders.evaluate(trial(), only=["z"])


@pytest.mark.parametrize("pool", ["image", "pixel", "scene"])
def test_the_order_of_samples_does_not_change_a_bit(folders, trial, monkeypatch, pool):
    forth = folders.evaluate(trial(pool=pool)).summary
    module = importlib.import_module("depthgauge.engine.scoring.evaluate")
    choose = module.choose
    monkeypatch.setattr(module, "choose", lambda found, only: choose(found, only)[::-1])
    back = folders.evaluate(trial(pool=pool))
    assert list(back.samples) == ["c", "b", "a"]
    assert back.summary == forth


def test_the_json_is_strict_and_has_what_it_promises(folders, trial):
    (folders.estimates / "b.pfm").unlink()
    body = json.loads(json.dumps(folders.evaluate(trial()).to_json(), allow_nan=False))
    assert list(body) == [
        "schema",
        "benchmark",
        "version",
        "protocol_hash",
        "protocol",
        "samples",
        "summary",
        "summary_counts",
        "failed",
        "left_out",
        "notes",
    ]
    score = body["samples"]["b"]["mae@all"]
    assert (score["value"], score["why"], score["count"]) == (None, "missing", 0)
    whole = body["samples"]["a"]["badpix:1@all"]
    assert whole["value"] == pytest.approx(
        100 * whole["total"] / (whole["count"] + whole["missing"])
    )
    mean = body["samples"]["a"]["mae@all"]
    assert mean["value"] == pytest.approx(mean["total"] / mean["count"])
    assert body["samples"]["a"]["rms@all"]["total"] is None
    assert body["summary"]["mae@all"] is None
    assert body["summary_counts"]["mae@all"] == [2, 3]
    assert hash_json(body["protocol"]) == body["protocol_hash"]


def test_a_dataset_without_the_truth_says_what_it_is_made_of(tmp_path):
    from depthgauge.datasets.oasis import write
    from depthgauge.types import Inputs, Sample, Truth

    truth = Truth({"depth": np.ones((4, 5), np.float32)})
    image = np.zeros((4, 5, 3), np.uint8)
    write(tmp_path / "data", [Sample("a", Inputs({"left_image": image}), truth)])
    (tmp_path / "data" / "relative_normal.csv").write_text("")
    (tmp_path / "estimates").mkdir()
    with pytest.raises(NothingScored, match=r"has normals as truth; .* and relative_normal\.csv\."):
        dg.evaluate("oasis-relative-normals", tmp_path / "data", tmp_path / "estimates")
