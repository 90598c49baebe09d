"""Scores of one benchmark at two sizes of the truth, and what is derived from either."""

from __future__ import annotations

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.resolutions import size_factor
from depthgauge.errors import Unavailable, WrongShape
from depthgauge.types import Inputs, Sample, Truth

SIZE, FACTOR, CROP = (12, 16), 5, 2


def sample(name="wedge", high=True):
    rng = np.random.default_rng(3)
    fine = rng.uniform(-1, 1, (SIZE[0] * FACTOR, SIZE[1] * FACTOR)).astype(np.float32)
    truth = {"disparity": fine[::FACTOR, ::FACTOR].copy(), "thin_mask": rng.random(SIZE) < 0.5}
    if high:
        truth |= {"high_disparity": fine, "high_thin_mask": rng.random(fine.shape) < 0.3}
    image = rng.integers(0, 255, (*SIZE, 3)).astype(np.uint8)
    return Sample(name, Inputs({"left_image": image}), Truth(truth))


@pytest.fixture
def data(tmp_path):
    samples = [sample(), sample("old", high=False)]
    DATASETS["depthgauge"].write(
        tmp_path / "data", iter(samples), id="two", title="Two", licence="CC0-1.0"
    )
    estimates = {}
    for one in samples:
        rng = np.random.default_rng(9)
        estimates[one.id] = rng.uniform(-1, 1, SIZE).astype(np.float32)
        folder = tmp_path / "estimates" / one.id
        folder.mkdir(parents=True)
        np.save(folder / "disparity.npy", estimates[one.id])
    return tmp_path, samples, estimates


@pytest.fixture
def two_sizes(trial):
    def made(**changes):
        body = {
            "dataset": "depthgauge",
            "estimate_resize": "block",
            "resize_values": "kept",
            "crop": CROP,
            "scores": [
                {"metric": "mae", "region": ["thin", "all"]},
                {"metric": "mae", "region": "thin", "name": "fine", "resolution": "high"},
            ],
        }
        return trial(**{**body, **changes})

    return made


def inner(shape, border):
    mask = np.zeros(shape, bool)
    mask[border:-border, border:-border] = True
    return mask


def test_each_score_is_compared_at_its_own_size(data, two_sizes):
    root, samples, estimates = data
    result = evaluate(two_sizes(), root / "data", root / "estimates")
    truth, estimate = samples[0].truth, estimates["wedge"]
    found = result.samples["wedge"]

    low = np.abs(estimate - truth.disparity)[truth.thin_mask & inner(SIZE, CROP)]
    assert found["mae@thin"].value == pytest.approx(low.mean(), rel=1e-6)

    enlarged = estimate.repeat(FACTOR, 0).repeat(FACTOR, 1)
    used = truth.high_thin_mask & inner(enlarged.shape, CROP * FACTOR)
    high = np.abs(enlarged - truth.high_disparity)[used]
    assert found["fine@thin"].value == pytest.approx(high.mean(), rel=1e-6)
    assert found["fine@thin"].count == used.sum() > found["mae@thin"].count


def test_a_sample_without_the_finer_truth_says_so_and_keeps_its_other_scores(data, two_sizes):
    root, _, _ = data
    result = evaluate(two_sizes(), root / "data", root / "estimates")
    assert "fine@thin" not in result.samples["old"]
    assert "mae@thin" in result.samples["old"]
    assert any("old" in text and "high_disparity" in text for text in result.left_out)
    assert result.summary["fine@thin"].value == result.samples["wedge"]["fine@thin"].value


def test_a_missing_estimate_is_missing_at_both_sizes(data, two_sizes):
    root, _, _ = data
    (root / "estimates/wedge/disparity.npy").unlink()
    result = evaluate(two_sizes(), root / "data", root / "estimates")
    n = {name: s.missing for name, s in result.samples["wedge"].items()}
    assert n["fine@thin"] > n["mae@thin"] > 0


def test_a_cropped_estimate_gets_its_border_back_before_it_is_enlarged(data, two_sizes):
    root, _, estimates = data
    whole = evaluate(two_sizes(), root / "data", root / "estimates").samples["wedge"]
    small = estimates["wedge"][CROP:-CROP, CROP:-CROP]
    np.save(root / "estimates/wedge/disparity.npy", small)
    cut = evaluate(two_sizes(), root / "data", root / "estimates").samples["wedge"]
    assert {k: s.value for k, s in cut.items()} == {k: s.value for k, s in whole.items()}


def test_values_grow_with_the_size_unless_they_are_kept(data, two_sizes):
    root, _, estimates = data
    np.save(root / "estimates/wedge/disparity.npy", np.zeros_like(estimates["wedge"]) + 0.5)
    kept = evaluate(two_sizes(), root / "data", root / "estimates").samples["wedge"]
    grown = evaluate(two_sizes(resize_values="scaled"), root / "data", root / "estimates")
    assert grown.samples["wedge"]["fine@thin"].value > kept["fine@thin"].value + 1


def test_the_range_of_estimates_grows_with_their_values(data, two_sizes):
    root, samples, _ = data
    np.save(root / "estimates/wedge/disparity.npy", samples[0].truth.disparity)
    ranged = {"range": [-1.5, 1.5]}
    scaled = evaluate(
        two_sizes(resize_values="scaled", estimate=ranged), root / "data", root / "estimates"
    )
    assert scaled.samples["wedge"]["fine@thin"].missing == 0
    narrow = evaluate(two_sizes(estimate={"range": [-0.5, 0.5]}), root / "data", root / "estimates")
    assert narrow.samples["wedge"]["fine@thin"].missing > 0


def test_maps_of_yet_another_size_are_refused(data, two_sizes):
    root, _, estimates = data
    np.save(root / "estimates/wedge/disparity.npy", estimates["wedge"][::2, ::2].copy())
    result = evaluate(two_sizes(), root / "data", root / "estimates")
    assert "is 8x6 but must be 16x12, or 12x8 without its border" in result.failed["wedge"]


def test_extra_samples_need_no_estimate(data, two_sizes, monkeypatch):
    from dataclasses import replace

    root, samples, _ = data
    marked = [replace(sample, extra=sample.id == "old") for sample in samples]
    reader = DATASETS["depthgauge"]
    monkeypatch.setattr(type(reader), "samples", lambda *_, **__: iter(marked))
    whole = evaluate(two_sizes(), root / "data", root / "estimates")
    assert set(whole.samples) == {"wedge", "old"}
    (root / "estimates/old/disparity.npy").unlink()
    result = evaluate(two_sizes(), root / "data", root / "estimates")
    assert set(result.samples) == {"wedge"}
    assert not result.failed
    assert "old: no estimate" in result.left_out


def test_the_truths_hash_is_of_both_sizes(data, two_sizes):
    from depthgauge.engine.scoring.judge import Judge
    from depthgauge.engine.scoring.rules import Rules

    one = sample()
    judge = Judge(Rules.of(two_sizes(), [one]))
    before = judge.hash_of(one)
    changed = dict(one.truth)
    changed["high_disparity"] = changed["high_disparity"] + np.float32(1)
    other = Sample("wedge", one.inputs, Truth(changed))
    assert Judge(Rules.of(two_sizes(), [other])).hash_of(other) != before


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(WrongShape, match="not a whole multiple"):
        size_factor(np.zeros((4, 4)), np.zeros((8, 12)), "high")
    with pytest.raises(Unavailable, match="smaller"):
        size_factor(np.zeros((4, 4)), np.zeros((2, 2)), "high")


def test_a_metric_without_truth_needs_none():
    with pytest.raises(dg.errors.BadScoreId, match="needs a truth"):
        dg.score([[1.0, 2.0]], None, "mae")
    with pytest.raises(dg.errors.BadScoreId, match="say which metrics"):
        dg.score([[1.0, 2.0]], None)
