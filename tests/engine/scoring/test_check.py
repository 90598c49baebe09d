"""The check: every problem of a folder of estimates, and what to do about it."""

import numpy as np
import pytest

from depthgauge.engine.scoring.check import check_estimates, check_maps
from depthgauge.errors import BadData
from depthgauge.io import write_image


@pytest.fixture
def findings(folders, trial):
    def find(data=True, **changes):
        found = check_estimates(trial(**changes), folders.data if data else None, folders.estimates)
        return {name: [f for f in found if f.sample == name] for name in {f.sample for f in found}}

    return find


def test_good_estimates_have_no_findings(findings):
    assert findings() == {}


def test_all_problems_are_found_at_once(folders, findings):
    (folders.estimates / "a.pfm").unlink()
    folders.write("b", np.full(folders.truth["b"].shape, np.nan))
    folders.write("c", np.ones((10, 10)))
    found = findings()
    assert "no estimate for 'a'" in found["a"][0].problem
    assert "no finite value" in found["b"][0].problem
    assert "10x10" in found["c"][0].problem
    assert "24x40" in found["c"][0].problem
    assert all(f.serious and f.advice for listed in found.values() for f in listed)


def test_a_truncated_file(folders, findings):
    path = folders.estimates / "a.pfm"
    path.write_bytes(path.read_bytes()[:-10])
    assert str(path) in findings()["a"][0].problem


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: -e, "with its sign turned"),
        (lambda e: e * 256, "256 times"),
        (lambda e: e * 16, "16 times"),
        (lambda e: e / 2, "0.5 times"),
        (lambda e: e / 4, "0.25 times"),
        (lambda e: e / 640, "normalised"),
        (lambda e: e * 0, "all values are 0"),
    ],
)
def test_wrong_sign_or_scale_is_suspected(folders, findings, change, words):
    for name in "abc":
        folders.write(name, change(np.abs(folders.estimate[name])))
    assert all(words in f"{f.problem} {f.advice}" for (f,) in findings().values())
    assert set(findings()) == set("abc")


@pytest.mark.parametrize("sign", [1, -1])
def test_signs_and_factors_are_judged_where_both_signs_occur(folders, findings, sign):
    # As in a light field: zero is at the focus plane.
    for name in "abc":
        folders.write_truth(name, folders.truth[name] - 16)
        folders.write(name, sign * (folders.truth[name] - 15.9))
    assert findings() == {} if sign == 1 else {f.code for (f,) in findings().values()} == {"sign"}
    for name in "abc":
        folders.write(name, sign * (folders.truth[name] - 16) / 4)
    assert all("0.25 times" in f.problem for (f,) in findings().values())
    assert all(("its sign is turned" in f.problem) == (sign == -1) for (f,) in findings().values())


def test_scale_is_not_judged_where_the_protocol_aligns(folders, findings):
    folders.write("a", folders.estimate["a"] / 256)
    assert findings(align={"kind": "median"}) == {}


def test_sizes_are_judged_as_the_evaluation_does(folders, findings):
    for name in "abc":
        folders.write(name, folders.estimate[name][::2, ::2] / 2)
    assert set(findings()) == set("abc")
    assert findings(estimate_resize="block") == {}
    assert findings(truth_scale=0.5) == {}


def test_values_outside_the_allowed_range_are_found(folders, findings):
    folders.write("a", folders.estimate["a"] * 16)
    found = findings(estimate={"range": [0, 64]})["a"][0]
    assert found.serious
    assert "outside the allowed 0 to 64 and count as missing" in found.problem
    assert "fixed point" in found.advice


def test_a_file_is_what_it_holds_not_what_it_is_called(folders, findings):
    (folders.estimates / "a.pfm").rename(folders.estimates / "a.npy")
    (folders.estimates / "b.pfm").rename(folders.estimates / "b.png")
    assert findings() == {}


def test_wrong_types(folders, findings):
    (folders.estimates / "a.pfm").unlink()
    np.save(folders.estimates / "a.npy", np.nan_to_num(folders.estimate["a"]).astype(np.int32))
    (folders.estimates / "b.pfm").unlink()
    write_image(folders.estimates / "b.png", np.full(folders.truth["b"].shape, 20, np.uint8))
    found = findings()
    assert "int32" in found["a"][0].problem
    assert "stores bytes" in found["b"][0].problem


def test_a_sparse_map_is_a_note(folders, findings):
    sparse = np.full(folders.truth["a"].shape, np.nan, np.float32)
    sparse[::3] = folders.truth["a"][::3]
    folders.write("a", sparse)
    assert not findings()["a"][0].serious


def test_without_the_data_each_map_is_looked_at_by_itself(folders, findings):
    folders.write("b", -np.abs(folders.estimate["b"]))
    assert set(findings(data=False)) == {"b.pfm"}


def test_every_problem_is_a_sentence_before_its_advice(folders, findings):
    (folders.estimates / "a.pfm").unlink()
    np.save(folders.estimates / "a.npy", np.array({"x": 1}, dtype=object), allow_pickle=True)
    (folders.estimates / "b.pfm").write_bytes(b"Pf\n900000 900000\n-1\n" + b"0" * 16)
    found = {name: listed[0] for name, listed in findings().items()}
    assert found["a"].problem.endswith(".")
    assert found["b"].problem.endswith("the limit is 67108864 pixels.")
    assert "larger limit" not in f"{found['b'].problem} {found['b'].advice}"
    assert found["b"].advice == "Write the map at the size of the picture."


def test_depth_up_to_a_scale_has_no_scale_to_be_wrong(tmp_path):
    from depthgauge.datasets.oasis import write, write_estimate
    from depthgauge.types import Camera, Estimate, Inputs, Sample, Truth

    depth = np.linspace(2, 4, 24 * 32, dtype=np.float32).reshape(24, 32)
    truth = {
        "depth": depth,
        "continuous_labels": np.ones((24, 32), np.int32),
        "relative_depth": np.array([[31, 23, 0, 0, 1]], np.int32),
        "camera": Camera((30.0, 30.0), (16.0, 12.0), (32, 24)),
    }
    image = np.zeros((24, 32, 3), np.uint8)
    write(tmp_path / "data", [Sample("a", Inputs({"left_image": image}), Truth(truth))])
    estimate = Estimate(depth / 4, "depth", parts={"focal_px": 30.0})
    write_estimate(tmp_path / "estimates", "a", estimate)
    assert check_estimates("oasis-depth", tmp_path / "data", tmp_path / "estimates") == []


def test_an_empty_folder_is_an_error(trial, tmp_path):
    with pytest.raises(BadData, match="no map in it"):
        check_estimates(trial(), None, tmp_path)
    with pytest.raises(BadData, match="no such folder"):
        check_estimates(trial(), None, tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda e: e[:, ::-1], "flipped", "flipped left to right"),
        (lambda e: e[::-1], "flipped", "flipped upside down"),
        (lambda e: 300 / np.abs(e), "inverse", "was depth given as disparity?"),
        (lambda e: np.where(np.arange(e.shape[1]) % 4, e, -1), "holes", "is exactly -1"),
    ],
)
def test_other_readings_are_found(folders, findings, change, code, words):
    for name in "abc":
        truth = folders.truth[name]
        rows, columns = np.indices(truth.shape)
        folders.write_truth(name, 10 + rows / 2 + columns / 3)
        folders.write(name, np.ascontiguousarray(change(10.1 + rows / 2 + columns / 3)))
    found = findings()
    assert set(found) == set("abc")
    assert all(words in f.problem and f.code == code for (f,) in found.values())


def test_millimetres_taken_for_metres_are_named_as_such(folders, findings):
    for name in "abc":
        metres = 2 + np.indices(folders.truth[name].shape)[0] / 10
        folders.write_truth(name, metres)
        folders.write(name, metres * 1000 / 256)
    found = findings(quantity="depth", scores=[{"metric": "rms"}])
    assert all("1000/256" in f.problem for (f,) in found.values())
    assert all("millimetres in a 16-bit PNG" in f.problem for (f,) in found.values())


def test_estimates_of_another_sample_are_found(folders, findings):
    rows, columns = np.indices((24, 40))
    maps = {"a": 10 + rows / 2, "b": 40 - rows / 2 + columns / 5, "c": 20 + columns / 3}
    for name, other in zip("abc", "acb", strict=True):
        folders.write_truth(name, maps[name])
        folders.write(name, maps[other] + 0.1)
    assert {name: f.problem for name, (f,) in findings().items()} == {
        "b": "The estimate fits the truth of sample 'c' clearly better than its own.",
        "c": "The estimate fits the truth of sample 'b' clearly better than its own.",
    }


def test_two_maps_are_checked_without_a_benchmark():
    rows, columns = np.indices((60, 80))
    truth = (10 + rows / 2 + columns / 7).astype(np.float32)
    assert check_maps(truth + 0.1, truth) == []
    (found,) = check_maps(256 * truth, truth, quantity="disparity")
    assert (found.code, found.serious) == ("factor", False)
    assert found.advice == "Say --estimate-scale 1/256."
    (empty,) = check_maps(np.full_like(truth, np.nan), truth)
    assert empty.serious
