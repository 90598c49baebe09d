"""Bins come from the data: none is left out in silence, and the first is always the easiest."""

import json

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.scoring.data_bins import with_bins_of
from depthgauge.errors import BadData
from depthgauge.synth.sets.stratified import make_scene, write_pairs, write_scenes
from depthgauge.types import Inputs, Sample, Truth


@pytest.fixture
def pairs(tmp_path):
    """Backgammon with twenty gaps, and its truth as an estimate."""
    write_pairs(tmp_path / "data", names=["backgammon"], size_px=128, axes={"gap": "0.9:0.1:20"})
    (sample,) = DATASETS["depthgauge"].samples(tmp_path / "data")
    folder = tmp_path / "estimates" / "backgammon"
    folder.mkdir(parents=True)
    np.save(folder / "disparity.npy", sample.truth.disparity)
    return tmp_path


def test_all_twenty_bins_are_scored(pairs):
    result = dg.evaluate("stratified-stereo", pairs / "data", pairs / "estimates")
    scores = result.samples["backgammon"]
    assert [f"foreground_fattening@gap_{k}" in scores for k in range(1, 22)] == [True] * 20 + [
        False
    ]
    # All background near edges is in some bin, but for what is outside of the crop.
    truth = next(iter(DATASETS["depthgauge"].samples(pairs / "data"))).truth
    inner = np.zeros((128, 128), bool)
    inner[4:-4, 4:-4] = True
    counted = [scores[f"foreground_fattening@gap_{k}"].count for k in range(1, 21)]
    assert sum(counted) == (truth.foreground_fattening_mask & inner).sum()
    assert all(counted)


def test_the_first_peak_is_the_widest(pairs):
    result = dg.evaluate("stratified-stereo", pairs / "data", pairs / "estimates")
    assert result.protocol.regions["peak_1"] == "foreground_thinning_mask & vertical_bins_20"
    assert result.protocol.axes["gap"].values[0] == pytest.approx(0.88)
    assert result.protocol.axes["peak"].values[0] == pytest.approx(0.12)


def test_a_run_knows_the_bins_of_its_data(pairs):
    run = dg.run("stratified-stereo", pairs / "data", ["constant"], pairs / "run", workers=0)
    assert "foreground_fattening@gap_20" in run.protocol.score_ids
    info = json.loads((pairs / "run" / "run.json").read_text())
    assert info["protocol_hash"] == run.protocol.hash
    assert info["protocol_hash"] != find_benchmark("stratified-stereo").hash
    again = rescore(pairs / "run", "stratified-stereo", pairs / "again")
    assert again.protocol.hash == run.protocol.hash


def test_light_fields_have_their_levels_in_a_file(tmp_path):
    write_scenes(
        tmp_path, names=["slant"], size_px=64, views=1, scale=1, axes={"gradient": "0:0.2:5"}
    )
    samples = list(DATASETS["hci4d"].samples(tmp_path))
    found = with_bins_of(find_benchmark("stratified"), samples)
    assert found.axes["slant"].values == pytest.approx((0, 0.05, 0.1, 0.15, 0.2))
    assert "slant_6" not in found.regions
    assert found.axes["glass"].values == ()
    (tmp_path / "other/slant/axes.json").write_text('{"slant_bins": "no"}')
    with pytest.raises(BadData, match=r"axes.json: must have a list of numbers"):
        with_bins_of(find_benchmark("stratified"), DATASETS["hci4d"].samples(tmp_path))


def test_without_levels_the_labels_are_counted():
    truth = make_scene("glass", size_px=64, views=1, scale=1, clarity="0:1:4").truth
    bare = Sample("glass", Inputs({}), Truth({"glass_bins_labels": truth.glass_bins_labels}))
    found = with_bins_of(find_benchmark("stratified"), [bare])
    assert "glass_4" in found.regions
    assert "glass_5" not in found.regions
    assert found.axes["glass"].values == ()


def test_samples_with_different_bins_are_not_pooled():
    one, other = (
        make_scene("glass", size_px=64, views=1, scale=1, clarity=f"0:{end}:4") for end in (1, 0.5)
    )
    with pytest.raises(
        BadData, match=r"4 bins from 0.125 to 0.875 in 'glass' but 4 bins from 0.06"
    ):
        with_bins_of(find_benchmark("stratified"), [one, other])


def test_levels_that_do_not_cover_the_labels_are_refused():
    labels = np.full((64, 64), 3, np.uint8)
    odd = Truth({"glass_bins_labels": labels, "axes": {"glass_bins": (0.1, 0.2)}})
    with pytest.raises(BadData, match="3 bins but only 2 levels"):
        with_bins_of(find_benchmark("stratified"), [Sample("glass", Inputs({}), odd)])
