"""The twin against the official program's own numbers: pooled and per image, noc and occ.

KITTI 2015 scene flow devkit, evaluate_scene_flow.cpp; tests/golden/kitti2015 holds the generator of
the inputs, what the program printed for them, and where its source was found.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.twins._kitti_kernels import (
    count_marks,
    judge_numbers,
    judge_together,
    judge_vectors,
)
from depthgauge.benchmarks.twins.kitti_2015 import SPEC, pool
from depthgauge.io import read_map, write_image, write_map
from depthgauge.types import Score

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "kitti2015"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
SUBMISSIONS = tuple(EXPECTED["data"])


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    out = tmp_path_factory.mktemp("golden") / "kitti2015"
    out.mkdir()
    subprocess.run([sys.executable, str(GOLDEN / "make_inputs.py"), str(out)], check=True)
    return out


@pytest.fixture(scope="module")
def results(golden):
    return {
        name: dg.evaluate("kitti-2015-toolkit", golden / data, golden / "results" / name)
        for name, data in EXPECTED["data"].items()
    }


def test_the_inputs_are_those_that_the_program_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


@pytest.mark.parametrize("submission", SUBMISSIONS)
def test_agrees_with_the_official_program(submission, results):
    result, compared = results[submission], 0
    for error, table in EXPECTED["results"][submission].items():
        for pixels in ("noc", "occ"):
            for name, value in table[pixels].items():
                found = result.summary[f"{error}_{name}@{pixels}"].value
                assert found == pytest.approx(value, abs=1e-7), (error, pixels, name)
                compared += 1
            for image, single in table["per_image"].items():
                for name, value in single[pixels].items():
                    found = result.samples[image][f"{error}_{name}@{pixels}"].value
                    assert found == pytest.approx(value, abs=1e-7), (image, error, pixels, name)
                    compared += 1
    assert compared == 4 * 2 * 7 * (1 + 3)


def test_every_id_is_official_and_has_a_value(results):
    ids = find_benchmark("kitti-2015-toolkit").score_ids
    assert len(ids) == len(set(ids)) == 56
    assert {"D1_all@occ", "D1_bg_est@noc", "SF_fg@occ", "Fl_density@noc"} <= set(ids)
    assert tuple(results["full"].summary) == ids


def test_a_submission_of_one_map_has_the_errors_of_that_map(golden, results, tmp_path):
    data = golden / EXPECTED["data"]["gaps"]
    for folder, error in (("disp_0", "D1"), ("flow", "Fl")):
        shutil.copytree(golden / "results/gaps" / folder, tmp_path / error / folder)
        alone = dg.evaluate("kitti-2015-toolkit", data, tmp_path / error)
        assert {name.partition("_")[0] for name in alone.summary} == {error}
        whole = results["gaps"].summary
        assert all(found.value == whole[name].value for name, found in alone.summary.items())
        others = {"D1", "D2", "Fl", "SF"} - {error}
        assert set(alone.left_out) == {f"00000{i}_10@{e}" for i in range(3) for e in others}


@pytest.mark.parametrize(("name", "folder"), [("stereo", "D1"), ("flow", "Fl")])
def test_the_benchmarks_of_one_quantity_give_the_same(name, folder, golden, results):
    data, estimates = golden / EXPECTED["data"]["gaps"], golden / "results/gaps"
    alone = dg.evaluate(f"kitti-2015-{name}-toolkit", data, estimates)
    assert len(alone.summary) == 14
    assert alone.protocol.main_score == f"{folder}_all@occ"
    whole = results["gaps"].summary
    assert all(found.value == whole[name].value for name, found in alone.summary.items())


def test_exactly_five_percent_is_an_outlier_only_in_float32(golden):
    """4 px of 80 px and 6 px of 120 px; without such ties the two rules are one."""
    wanted = find_benchmark("kitti-2015-toolkit")
    exact = wanted.model_copy(update={"options": {**wanted.options, "quotient": "exact"}})
    assert exact.hash != wanted.hash
    for submission, differs in (("edges", True), ("full", False)):
        data, estimates = golden / EXPECTED["data"][submission], golden / "results" / submission
        official = dg.evaluate(wanted, data, estimates).summary["D1_all@occ"].value
        plain = dg.evaluate(exact, data, estimates).summary["D1_all@occ"].value
        assert (plain < official) is differs
        ours = dg.evaluate("kitti-2015-stereo", data, estimates).summary["d1@all"].value
        assert ours == pytest.approx(100 * plain, rel=1e-6)


@pytest.fixture(scope="module")
def ours_without_holes(golden):
    data, estimates = golden / EXPECTED["data"]["full"], golden / "results/full"
    return dg.evaluate("kitti-2015", data, estimates).summary


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("SF_all@occ", "sf@all"),
        ("SF_fg@occ", "sf@foreground"),
        ("SF_all@noc", "sf@scene_flow_visible"),
        ("D1_bg@noc", "d1@visible_background"),
        ("D2_all@noc", "d2@second_visible"),
        ("Fl_bg@occ", "fl@background"),
        ("Fl_all@noc", "fl@flow_visible"),
    ],
)
def test_without_holes_and_ties_ours_is_the_official_number(
    theirs, ours, ours_without_holes, results
):
    official = results["full"].summary[theirs].value
    assert ours_without_holes[ours].value == pytest.approx(100 * official, rel=1e-6)


def test_ours_counts_a_hole_as_an_outlier(golden, results):
    data, estimates = golden / EXPECTED["data"]["gaps"], golden / "results/gaps"
    ours = dg.evaluate("kitti-2015-stereo", data, estimates).summary
    official = results["gaps"].summary
    est, density = (official[f"D1_{n}@occ"].value for n in ("all_est", "density"))
    assert ours["d1@all"].value == pytest.approx(100 * (1 - density + density * est), rel=1e-5)
    assert ours["d1@all"].value > 100 * official["D1_all@occ"].value


def test_the_sums_round_as_float32_does():
    """Counts of 200 images exceed 2^24, where float32 adds only even numbers."""
    big = Score(0.5, 2**24, 0, float(2**23), "")
    one = Score(1.0, 1, 0, 1.0, "")
    images = {"a": {"D1_all@occ": big}, "b": {"D1_all@occ": one}}
    options = SPEC.options({})
    official = pool(images, options)["D1_all@occ"]
    assert official == (2**23 + 1) / 2**24  # the last pixel of the denominator is lost
    exact = pool(images, {**options, "accumulate": "float64"})["D1_all@occ"]
    assert exact == (2**23 + 1) / (2**24 + 1)


def test_an_empty_submission_is_all_wrong_and_nothing_is_divided_by_zero(golden, tmp_path):
    data = golden / EXPECTED["data"]["edges"]
    (tmp_path / "disp_0").mkdir()
    for path in sorted((data / "disp_occ_0").glob("*.png")):
        empty = np.full(read_map(path, "disparity").shape, np.nan, np.float32)
        write_map(tmp_path / "disp_0" / path.name, empty, quantity="disparity")
    summary = dg.evaluate("kitti-2015-toolkit", data, tmp_path).summary
    assert summary["D1_all@occ"].value == 1.0
    assert summary["D1_all_est@occ"].value == 0.0  # as the kit divides: 0 / max(0, 1)
    assert summary["D1_density@occ"].value == 0.0


def test_another_size_is_refused(golden, tmp_path):
    data = golden / EXPECTED["data"]["edges"]
    shutil.copytree(golden / "results/edges/disp_0", tmp_path / "disp_0")
    write_map(tmp_path / "disp_0/000001_10.png", np.ones((4, 5)), quantity="disparity")
    result = dg.evaluate("kitti-2015-toolkit", data, tmp_path)
    assert "is 5x4 but the truth is 38x22" in result.failed["000001_10"]
    assert math.isnan(result.summary["D1_all@occ"].value)


@pytest.mark.parametrize(
    ("folder", "codes", "said"),
    [
        (
            "disp_0",
            np.full((22, 36), 9, np.uint8),
            r"of 16 bits, this one has 1 of 8",
        ),
        ("disp_0", np.full((22, 36, 3), 900, np.uint16), "this one has 3 of 16"),
        ("flow", np.full((22, 36, 3), 9, np.uint8), "this one has 3 of 8"),
    ],
)
def test_other_bits_and_channels_are_refused_as_the_program_does(
    folder, codes, said, golden, tmp_path
):
    data = golden / EXPECTED["data"]["edges"]
    (tmp_path / folder).mkdir()
    write_image(tmp_path / folder / "000000_10.png", codes)
    with pytest.raises(dg.errors.NothingScored, match=said):
        dg.evaluate("kitti-2015-toolkit", data, tmp_path, only=["000000_10"])


def test_a_scale_in_the_file_means_nothing_to_the_program(golden, tmp_path):
    data = golden / EXPECTED["data"]["edges"]
    values = read_map(golden / "results/edges/disp_0/000000_10.png", "disparity")
    found = []
    for name, scale in (("a", 256), ("b", 128)):
        (tmp_path / name / "disp_0").mkdir(parents=True)
        path = tmp_path / name / "disp_0/000000_10.png"
        write_map(path, values * np.float32(256 / scale), quantity="disparity", scale=scale)
        result = dg.evaluate("kitti-2015-toolkit", data, tmp_path / name, only=["000000_10"])
        found.append(result.samples["000000_10"]["D1_all@occ"])
    assert found[0] == found[1]


def test_the_sample_of_kittis_own_kit(shared, tmp_path):
    """disp_est.png and flow_est.png of the kit's MATLAB folder, with numbers computed elsewhere."""
    source = shared("data/kitti-devkit-samples")
    places = {
        "disp_gt.png": ("training/disp_occ_0", "training/disp_noc_0"),
        "flow_gt.png": ("training/flow_occ", "training/flow_noc"),
        "disp_est.png": ("sent/disp_0",),
        "flow_est.png": ("sent/flow",),
    }
    for name, folders in places.items():
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True)
            shutil.copy(source / name, tmp_path / folder / "000000_10.png")
    (tmp_path / "training/obj_map").mkdir()
    background = np.zeros((375, 1242), np.uint8)
    write_image(tmp_path / "training/obj_map/000000_10.png", background)
    call = (tmp_path / "training", tmp_path / "sent")
    ours = dg.evaluate("kitti-2015-stereo", *call).summary
    assert ours["d1@all"].value == pytest.approx(13.62, abs=0.005)
    assert ours["badpix:3@all"].value == pytest.approx(14.95, abs=0.005)
    flow = dg.evaluate("kitti-2015-flow", *call).summary
    assert flow["epe@all"].value == pytest.approx(12.2007, abs=5e-5)
    assert flow["fl@all"].value == pytest.approx(20.69, abs=0.005)
    theirs = dg.evaluate("kitti-2015-toolkit", *call).summary
    assert theirs["Fl_all@occ"].value == pytest.approx(0.2069, abs=5e-5)
    assert theirs["D1_density@occ"].value == pytest.approx(0.9982, abs=5e-5)


def plain_marks(truth, filled, float32):
    """Outliers in NumPy: 0, 1, and 2 where there is no truth."""
    if truth.ndim == 2:
        error, size = np.abs(truth - filled), np.abs(truth)
        known = np.isfinite(truth)
    else:
        away = truth - filled
        error = np.sqrt(away[..., 0] * away[..., 0] + away[..., 1] * away[..., 1])
        size = np.sqrt(truth[..., 0] * truth[..., 0] + truth[..., 1] * truth[..., 1])
        known = np.isfinite(truth).all(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (error / size).astype(np.float64) > 0.05
        if not float32:
            share = 20 * error.astype(np.float64) > size
    return np.where(known, (error > 3) & share, 2).astype(np.uint8)


codes = hnp.arrays(np.uint16, (5, 7), elements=st.integers(0, 40) | st.integers(0, 65535))


@given(truth=codes, offset=st.sampled_from([0, 767, 768, 769, 1024, 1025, 1536]), other=codes)
def test_the_loops_judge_as_numpy_does(truth, offset, other):
    """Codes of maps, so that ties at 3 px and at 5 % occur."""
    known = np.where(truth == 0, np.nan, truth / np.float32(256)).astype(np.float32)
    near = ((truth.astype(np.int64) + offset) / 256).astype(np.float32)
    far = (other / 256).astype(np.float32)
    for estimate in (near, far):
        for float32 in (True, False):
            marks = np.zeros(truth.shape, np.uint8)
            judge_numbers(known, estimate, float32, marks)
            np.testing.assert_array_equal(marks, plain_marks(known, estimate, float32))
            vectors = np.dstack([known, np.where(np.isnan(known), np.nan, far)])
            moved = np.dstack([estimate, near])
            judge_vectors(vectors, moved, float32, marks)
            np.testing.assert_array_equal(marks, plain_marks(vectors, moved, float32))
    one = plain_marks(known, near, True)
    two = plain_marks(known, far, True)
    together = np.zeros(truth.shape, np.uint8)
    judge_together(one, two, one, together)
    wanted = np.where(np.isfinite(known), (one == 1) | (two == 1), 2)
    np.testing.assert_array_equal(together, wanted)
    counts = np.zeros((2, 2, 2), np.int64)
    count_marks(together, far > 100, (other % 3).astype(np.int32), counts)
    assert counts.sum() == np.isfinite(known).sum()
    assert counts[1].sum() == (together == 1).sum()
    assert counts[:, 1, 1].sum() == ((together != 2) & (far > 100) & (other % 3 != 0)).sum()
