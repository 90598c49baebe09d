"""`bsds500` and `oasis-boundaries` from files to numbers, and beside the original's own output."""

import json
import math
import shutil

import numpy as np
import pytest
from scipy.io import savemat

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks import find_benchmark, make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.run import score_folder
from depthgauge.types import Camera, Inputs, Sample, Truth

SHAPE = (60, 80)


def lines(*rows):
    made = np.zeros(SHAPE, bool)
    for row in rows:
        made[row, 10:70] = True
    return made


@pytest.fixture
def data(tmp_path):
    """Two images: one annotator sees one line, two others see two."""
    folder = tmp_path / "data" / "groundTruth"
    folder.mkdir(parents=True)
    for name, people in {"1": [lines(10)], "2": [lines(10), lines(10, 40)]}.items():
        cells = np.full((1, len(people)), None, object)
        for k, marked in enumerate(people):
            cells[0, k] = {"Boundaries": marked}
        savemat(folder / f"{name}.mat", {"groundTruth": cells})
    return tmp_path / "data"


@pytest.fixture
def estimates(tmp_path):
    """The line at row 10 in both, and a false one in the first."""
    folder = tmp_path / "estimates"
    folder.mkdir()
    io.write_image(folder / "1.png", np.where(lines(10, 25), np.uint8(200), np.uint8(0)))
    io.write_image(folder / "2.png", np.where(lines(10), np.uint8(200), np.uint8(0)))
    return folder


def summary(result):
    return {name: found.value for name, found in result.summary.items()}


def test_numbers_by_hand(data, estimates):
    """180 of 240 true pixels are found, and 120 of 180 estimated ones are right."""
    found = summary(dg.evaluate("bsds500", data, estimates))
    assert set(found) == {"ods", "ois", "ap"}
    p, r = 120 / 180, 180 / 240
    assert found["ods"] == pytest.approx(2 * p * r / (p + r))
    assert found["ois"] == pytest.approx(2 * p * r / (p + r))


def test_an_image_has_no_score_of_its_own_and_json_says_none(data, estimates):
    body = dg.evaluate("bsds500", data, estimates).to_json()
    assert body["samples"] == {"1": {}, "2": {}}
    assert set(body["summary"]) == {"ods", "ois", "ap"}
    json.dumps(body, allow_nan=False)


def test_a_missing_estimate_misses_all_its_boundaries(data, estimates):
    full = summary(dg.evaluate("bsds500", data, estimates))
    (estimates / "2.png").unlink()
    result = dg.evaluate("bsds500", data, estimates)
    assert list(result.failed) == ["2"]
    p, r = 60 / 120, 60 / 240
    assert summary(result)["ods"] == pytest.approx(2 * p * r / (p + r))
    assert summary(result)["ods"] < full["ods"]


def test_an_image_without_an_estimate_can_be_skipped(data, estimates, tmp_path):
    """Whether its file is absent or holds no number; as if there were no such image."""
    body = find_benchmark("bsds500").model_dump(exclude_defaults=True)
    skipping = make_protocol({**body, "id": "mine", "missing": "skip"}, "a test")
    one = tmp_path / "one" / "groundTruth"
    one.mkdir(parents=True)
    shutil.copy(data / "groundTruth" / "1.mat", one)
    alone = summary(dg.evaluate("bsds500", one.parent, estimates))
    (estimates / "2.png").unlink()
    assert summary(dg.evaluate(skipping, data, estimates)) == alone
    nothing = np.full(SHAPE, np.nan, np.float32)
    (estimates / "2").mkdir()
    io.write_map(estimates / "2" / "boundaries.npy", nothing, quantity="boundaries")
    assert summary(dg.evaluate(skipping, data, estimates)) == alone
    assert summary(dg.evaluate("bsds500", data, estimates))["ods"] < alone["ods"]


def test_floats_and_a_run_folder_give_the_same(data, estimates, tmp_path):
    found = summary(dg.evaluate("bsds500", data, estimates))
    floats = tmp_path / "floats"
    for name in ("1", "2"):
        codes = io.read_image(estimates / f"{name}.png")
        (floats / name).mkdir(parents=True)
        io.write_map(floats / name / "boundaries.npy", codes / 255, quantity="boundaries")
    assert summary(dg.evaluate("bsds500", data, floats)) == found
    run = score_folder("bsds500", data, estimates, tmp_path / "run", workers=0)
    (result,) = run.results.values()
    assert summary(result) == found


def test_other_numbers_of_thresholds(data, estimates):
    protocol = find_benchmark("bsds500").with_settings(thresholds=5)
    assert protocol.hash != find_benchmark("bsds500").hash
    found = summary(dg.evaluate(protocol, data, estimates))
    assert found["ods"] == pytest.approx(2 * (2 / 3) * 0.75 / (2 / 3 + 0.75))


@pytest.mark.parametrize("test", ["test_1", "test_2", "test_3", "test_4"])
def test_five_real_images_as_the_original_scored_them(shared, test):
    """BSDS500's own benchmark (MATLAB, BIDS/BSDS500 a04b7c6, bench/data), 5 thresholds.

    test_2 was made from these PNGs; the others from the same contours in other files.
    """
    root = shared("data/bsds500-bench/data")
    protocol = find_benchmark("bsds500").with_settings(thresholds=5)
    found = summary(dg.evaluate(protocol, root, root / "png"))
    theirs = [float(x) for x in (root / test / "eval_bdry.txt").read_text().split()]
    assert found["ods"] == pytest.approx(theirs[3], abs=1e-3)
    assert found["ois"] == pytest.approx(theirs[6], abs=1e-3)
    assert found["ap"] == pytest.approx(theirs[7], abs=1e-3)


@pytest.fixture
def oasis(tmp_path):
    """One picture: an occlusion at row 20 and a fold at row 40, known in the left part only."""
    truth = np.stack([lines(20), lines(40)], axis=2).astype(np.float32)
    inside = np.zeros(SHAPE, bool)
    inside[5:55, 5:45] = True
    truth[~inside] = np.nan
    items = {
        "boundaries": truth,
        "roi_mask": inside,
        "camera": Camera((70.0, 70.0), (40.0, 30.0), (80, 60)),
    }
    picture = np.zeros((*SHAPE, 3), np.uint8)
    sample = Sample("a", Inputs({"left_image": picture}), Truth(items))
    DATASETS["oasis"].write(tmp_path / "oasis", [sample])
    return tmp_path / "oasis"


def occfold(folder, boundary, occlusion):
    (folder / "occfold").mkdir(parents=True, exist_ok=True)
    np.savez(
        folder / "occfold" / "a.npz",
        boundary=boundary.astype(np.float32),
        occlusion=np.broadcast_to(occlusion, SHAPE).astype(np.float32),
    )
    return folder


def test_kinds_count_in_oasis_boundaries(oasis, tmp_path):
    upper = np.arange(60)[:, None] < 30
    right = summary(
        dg.evaluate("oasis-boundaries", oasis, occfold(tmp_path / "r", lines(20, 40), upper))
    )
    wrong = summary(
        dg.evaluate("oasis-boundaries", oasis, occfold(tmp_path / "w", lines(20, 40), ~upper))
    )
    half = summary(
        dg.evaluate("oasis-boundaries", oasis, occfold(tmp_path / "h", lines(20, 40), 1.0))
    )
    assert set(right) == {"ods", "ois", "ap"}
    assert right["ods"] > 0.95
    assert wrong["ods"] == 0
    assert half["ods"] == pytest.approx(right["ods"] / 2, abs=0.03)


def test_what_lies_outside_the_region_is_not_judged(oasis, tmp_path):
    upper = np.arange(60)[:, None] < 30
    clean = occfold(tmp_path / "c", lines(20, 40), upper)
    outside = lines(20, 40)
    outside[:, 60:] = True
    other = occfold(tmp_path / "o", outside, upper)
    found = [summary(dg.evaluate("oasis-boundaries", oasis, f))["ods"] for f in (clean, other)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_no_estimate_at_all_scores_nothing_but_one_of_two_does(data, estimates):
    shutil.rmtree(estimates)
    estimates.mkdir()
    io.write_image(estimates / "1.png", np.zeros(SHAPE, np.uint8))
    found = summary(dg.evaluate("bsds500", data, estimates))
    assert found["ods"] == 0
    assert not any(math.isnan(value) for value in found.values())
