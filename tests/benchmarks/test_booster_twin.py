"""The twin against the authors' own script, and against hand-made numbers.

CVLAB-Unibo/Depth4ToM-code 5de0f86, evaluate_mono.py; tests/golden/booster_mono holds the generator
of the inputs and what the script said of them, with both of its alignments and with NaN.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks import find_benchmark, make_protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets.booster import write
from depthgauge.engine.running.run import score_folder
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadProtocol, NothingScored
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "booster_mono"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
NAME = "booster-mono-toolkit"


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """The inputs that the script was run on."""
    out = tmp_path_factory.mktemp("golden") / "booster_mono"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    return out


def with_options(**changed):
    protocol = find_benchmark(NAME)
    return protocol.model_copy(update={"options": {**protocol.options, **changed}})


def test_the_inputs_are_those_that_the_script_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


def agrees(found, numbers, pixels=None):
    """Means to 1e-5, deltas to one pixel: another processor may add the fit's float32 otherwise."""
    for region, columns in numbers.items():
        for column, value in columns.items():
            mine, theirs = found[f"{column}@{region}"], float(value)
            if math.isnan(theirs):
                assert math.isnan(mine), (column, region)
            elif column.startswith("delta"):
                one = 100 / pixels[region] if pixels else 1e-3
                assert mine == pytest.approx(theirs, abs=one + 2e-5), (column, region)
            else:
                assert mine == pytest.approx(theirs, rel=1e-5), (column, region)


@pytest.mark.parametrize("name", list(EXPECTED["results"]))
def test_agrees_with_the_authors_script(golden, name):
    kind, median = name.removesuffix("_median"), name.endswith("_median")
    protocol = with_options(align="median") if median else NAME
    result = dg.evaluate(protocol, golden / "gt", golden / kind)
    expected = EXPECTED["results"][name]
    assert len(result.samples) == len(expected["per_image"]) == 6
    for image, numbers in expected["per_image"].items():
        sample = image.replace("/camera_00", "").removesuffix(".png")
        found = {score: value.value for score, value in result.samples[sample].items()}
        assert len(found) == 24
        pixels = EXPECTED["valid_pixels"][image]
        agrees(found, numbers, pixels)
        counts = {region: result.samples[sample][f"rmse@{region}"] for region in pixels}
        assert {region: s.count + s.missing for region, s in counts.items()} == pixels
    summary = {score: value.value for score, value in result.summary.items()}
    agrees(summary, expected["all_images"])
    assert result.left_out == ()
    assert result.failed == {}
    if kind != "nan":
        used = {score: found.used for score, found in result.summary.items()}
        assert {used[f"mae@{r}"] for r in ("All", "Other")} == {6}
        assert used["mae@ToM"] == 5
    json.dumps(result.to_json(), allow_nan=False)


def test_a_kept_run_has_the_same_numbers(golden, tmp_path):
    run = score_folder(NAME, golden / "gt", golden / "quarter", tmp_path / "run", workers=0)
    (result,) = run.results.values()
    direct = dg.evaluate(NAME, golden / "gt", golden / "quarter")
    assert result.to_json()["summary"] == direct.to_json()["summary"]
    assert len(run.samples) == 6
    # All illuminations of a scene have one truth.
    assert len(set(run.truth_hashes.values())) == 3


def test_every_id_of_the_script_and_its_direction():
    protocol = find_benchmark(NAME)
    assert len(protocol.score_ids) == 24
    assert protocol.main_score == "delta1.05@ToM"
    assert protocol.better("delta1.25@All") == "higher"
    assert protocol.better("absrel@All") == "lower"


def test_options_are_named_and_strict():
    assert with_options(align="median").hash != find_benchmark(NAME).hash
    assert TWINS["booster_mono"].options({}) == find_benchmark(NAME).options
    with pytest.raises(BadProtocol, match="option 'align' is 'mean' but must be one of: least"):
        with_options(align="mean")
    with pytest.raises(BadProtocol, match="no option 'algin'"):
        with_options(algin="median")
    body = {"id": "x", "version": 1, "dataset": "booster", "quantity": "disparity"}
    made = make_protocol({**body, "pool": "image", "twin": "booster_mono"}, "here")
    assert made.resolved()["options"] == find_benchmark(NAME).resolved()["options"]


# --- by hand ------------------------------------------------------------------------------------

FOCAL, BASELINE = 1000.0, 0.1
"""At a quarter of the size: depth in mm = 25000 / disparity."""


@pytest.fixture
def score(tmp_path):
    """Scores of one scene whose truth (at a quarter of the size) and estimate are given."""

    def scores(truth, estimate, labels=None, *, suffix="npy", options=None):
        small = np.asarray(truth, np.float32)
        full = np.full((small.shape[0] * 4, small.shape[1] * 4), 7777, np.float32)
        full[::4, ::4] = np.where(
            np.isnan(small), np.nan, 4 * small
        )  # the others are not looked at
        items = {"disparity": full}
        if labels is not None:
            items["material_labels"] = np.kron(np.asarray(labels), np.ones((4, 4), np.int32))
        camera = Camera((FOCAL, FOCAL), (1.0, 1.0), full.shape[::-1])
        image = np.zeros(full.shape, np.uint8)
        inputs = {"left_image": image, "rig": Rig({"left": camera}, BASELINE)}
        write(tmp_path, [Sample("Sink/im0", Inputs(inputs), Truth(items))], overwrite=True)
        path = tmp_path / f"estimates/Sink/camera_00/im0.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == "png":
            io.write_image(path, np.asarray(estimate, np.uint16))
        else:
            np.save(path, np.asarray(estimate, np.float32))
        protocol = with_options(**(options or {}))
        data = tmp_path / "train/balanced"
        found = dg.evaluate(protocol, data, tmp_path / "estimates").samples["Sink/im0"]
        return {name: score.value for name, score in found.items()}

    return scores


def test_an_affine_estimate_is_perfect(score):
    truth = np.array([[10.0, 20, 25, 50], [12.5, 100, 40, np.nan]])
    found = score(truth, 0.25 * np.nan_to_num(truth, nan=1) + 3)
    assert [found[f"delta{r}@All"] for r in ("1.25", "1.05")] == [100, 100]
    assert found["mae@All"] == pytest.approx(0, abs=1e-2)
    assert set(found) == {name for name in found if name.endswith("@All")}


def test_depths_beyond_ten_metres_are_left_out(score):
    # 25000 / 2.4 mm is more than 10 m, and 25000 / 30000 less than 1 mm.
    truth = np.array([[10.0, 2.4, 30000, 50]])
    found = score(truth, [[10.0, -1000, 77, 50]])
    assert found["delta1.05@All"] == 100


def test_negative_disparities_are_one_millimetre(score):
    truth = np.array([[10.0, 20, 30, 40]])
    e = np.array([0.0, 1, 1, 0.5])
    scale, shift = np.polyfit(e, truth[0], 1)
    found = score(truth, [e])
    depth = 25000 / (scale * e + shift)
    assert found["mae@All"] == pytest.approx(np.mean(abs(depth - 25000 / truth[0])), rel=1e-5)
    # A strong negative outlier of the truth turns the fit below zero somewhere.
    truth = np.array([[3.0, 3, 3, 300]])
    e = np.array([0.0, 0.4, 0.4, 1])
    scale, shift = np.polyfit(e, truth[0], 1)
    fitted = scale * e + shift
    assert fitted.min() < 0
    depth = np.where(fitted > 0, np.clip(25000 / fitted, 1, 10000), 1)
    found = score(truth, [e])
    assert found["mae@All"] == pytest.approx(np.mean(abs(depth - 25000 / truth[0])), rel=1e-4)
    error = np.sqrt(np.mean((depth - 25000 / truth[0]) ** 2))
    assert found["rmse@All"] == pytest.approx(error, rel=1e-4)


def test_a_constant_estimate_is_ten_metres_away(score):
    truth = np.array([[10.0, 20, 25, 50]])
    found = score(truth, np.full((1, 4), 0.5))
    assert math.isnan(found["mae@All"])  # 0 / 0, when brought to 0..1
    assert found["delta1.25@All"] == 0


def test_a_png_is_divided_by_256(score):
    truth = np.array([[10.0, 20, 25, 50]])
    assert score(truth, [[1000, 2000, 2500, 5000]], suffix="png")["delta1.05@All"] == 100


def test_medians(score):
    truth = np.array([[10.0, 20, 25, 50, 80]])
    e = np.array([1.0, 3, 4, 5, 11])
    spread = (e - 1) / 10
    scaled = spread * (np.median(truth - 10) / np.median(spread))
    fitted = scaled + np.median(truth[0] - scaled)
    found = score(truth, [e], options={"align": "median"})
    expected = np.mean(abs(25000 / fitted - 25000 / truth[0]))
    assert found["mae@All"] == pytest.approx(expected, rel=1e-5)


def test_regions_are_classes_two_and_three_and_the_others(score):
    truth = np.array([[10.0, 20, 25, 50, 40, 30]])
    e = np.array([[10.0, 20, 25, 50, 40, 60]])
    found = score(truth, e, labels=[[0, 1, 2, 3, 0, 255]])
    scale, shift = np.polyfit(e[0], truth[0], 1)
    ratio = (scale * e[0] + shift) / truth[0]
    within = np.maximum(ratio, 1 / ratio) < 1.05
    assert found["delta1.05@Other"] == pytest.approx(100 * within[[0, 1, 4]].mean())
    assert found["delta1.05@ToM"] == pytest.approx(100 * within[[2, 3]].mean())
    assert found["delta1.05@All"] == pytest.approx(100 * within.mean())


def test_a_size_that_four_does_not_divide(tmp_path):
    size = (10, 15)  # 2 and 4 rows and columns are taken, as OpenCV rounds 2.5 and 3.75
    disparity = np.arange(150, dtype=np.float32).reshape(size) + 40
    camera = Camera((FOCAL, FOCAL), (1.0, 1.0), size[::-1])
    inputs = {"left_image": np.zeros(size, np.uint8), "rig": Rig({"left": camera}, BASELINE)}
    write(tmp_path, [Sample("Sink/im0", Inputs(inputs), Truth({"disparity": disparity}))])
    (tmp_path / "e/Sink").mkdir(parents=True)
    np.save(tmp_path / "e/Sink/im0.npy", disparity[:8:4, ::4])
    found = dg.evaluate(NAME, tmp_path / "train/balanced", tmp_path / "e").samples["Sink/im0"]
    assert found["delta1.05@All"].value == 100
    assert found["delta1.05@All"].count == 8
    cv2 = pytest.importorskip("cv2")
    taken = cv2.resize(disparity, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_NEAREST)
    np.testing.assert_array_equal(taken, disparity[:8:4, ::4])


def test_an_estimate_that_is_missing_fails_its_sample(golden, tmp_path):
    shutil.copytree(golden / "quarter", tmp_path / "quarter")
    (tmp_path / "quarter/Hallway/camera_00/im0.npy").unlink()
    result = dg.evaluate(NAME, golden / "gt", tmp_path / "quarter")
    assert list(result.failed) == ["Hallway/im0"]
    assert "no estimate for 'Hallway/im0'" in result.failed["Hallway/im0"]
    assert math.isnan(result.summary["mae@All"].value)
    (tmp_path / "none").mkdir()
    with pytest.raises(NothingScored, match="none of the 3 samples"):
        dg.evaluate(NAME, golden / "gt", tmp_path / "none")


def test_what_a_scene_lacks(golden, tmp_path):
    shutil.copytree(golden / "gt", tmp_path / "gt")
    (tmp_path / "gt/Hallway/calib_00-02.xml").unlink()
    (tmp_path / "gt/Aquarium/mask_cat.png").unlink()
    io.write_image(tmp_path / "gt/Workshop/mask_cat.png", np.zeros((40, 40), np.uint8))
    result = dg.evaluate(NAME, tmp_path / "gt", golden / "quarter")
    assert any("Hallway/im0" in text and "calib_00-02.xml" in text for text in result.left_out)
    assert {"Aquarium/im0@ToM", "Aquarium/im0@Other"} <= set(result.left_out)
    assert "not the size of disp_00.npy" in result.failed["Workshop/im0"]


# --- checking before scoring --------------------------------------------------------------------


def test_a_good_folder_has_no_findings(golden):
    assert check_estimates(NAME, golden / "gt", golden / "quarter") == []
    assert check_estimates(NAME, None, golden / "resized") == []


def test_what_is_wrong_with_a_folder(golden, tmp_path):
    shutil.copytree(golden / "nan", tmp_path / "e")
    (tmp_path / "e/Workshop/camera_00/im0.npy").unlink()
    np.save(tmp_path / "e/Hallway/camera_00/im1.npy", np.ones((4, 4), np.float32))
    (tmp_path / "e/Hallway/camera_00/im2.npy").write_bytes(b"damaged")
    np.save(tmp_path / "e/Aquarium/im1.npy", np.ones((4, 4), np.float32))
    found = {f.sample: f.problem for f in check_estimates(NAME, golden / "gt", tmp_path / "e")}
    assert "41 pixels of im0.npy are NaN or infinite" in found["Aquarium/im0"]
    assert "has 2 estimates" in found["Aquarium/im1"]
    assert "all values of im1.npy are 1" in found["Hallway/im1"]
    assert "im2.npy" in found["Hallway/im2"]
    assert found["Workshop/im0"] == "there is no estimate."
    (tmp_path / "none").mkdir()
    (only,) = check_estimates(NAME, None, tmp_path / "none")
    assert only.problem == "there is no <Scene>/camera_00/*.npy in it."
