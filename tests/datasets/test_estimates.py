from __future__ import annotations

from pathlib import Path

import pytest

from depthgauge.datasets import DATASETS, estimate_candidates, find_estimate
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.errors import BadData

FOLDER = DATASETS["folder"]
MIDDLEBURY = DATASETS["middlebury-2014"]


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("layout", ["{}.{}", "{}/disparity.{}"])
def test_every_dataset_takes_the_plain_layouts(tmp_path, layout, suffix):
    touch(tmp_path, layout.format("Bathroom/im0", suffix))
    found = find_estimate(tmp_path, FOLDER, "Bathroom/im0", "disparity")
    assert found == tmp_path / layout.format("Bathroom/im0", suffix)


def test_nothing_there_is_none(tmp_path):
    assert find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity", "SGM") is None
    assert find_estimate(tmp_path / "nowhere", MIDDLEBURY, "Piano", "disparity") is None


def test_a_public_layout_with_the_methods_name(tmp_path):
    touch(tmp_path, "Piano/disp0SGM.pfm", "Piano/disp0ELAS.pfm", "Piano/disp0GT.pfm")
    found = find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity", "SGM")
    assert found == tmp_path / "Piano/disp0SGM.pfm"


def test_without_a_name_the_only_one_is_taken_and_never_the_truth(tmp_path):
    touch(tmp_path, "Piano/disp0GT.pfm")
    assert find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity") is None
    assert find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity", "GT") is None
    touch(tmp_path, "Piano/disp0SGM.pfm")
    found = find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity")
    assert found == tmp_path / "Piano/disp0SGM.pfm"


def test_several_names_need_one_to_be_said(tmp_path):
    touch(tmp_path, "Piano/disp0SGM.pfm", "Piano/disp0ELAS.pfm")
    with pytest.raises(
        BadData, match=r"disp0ELAS\.pfm and .*disp0SGM\.pfm; choose one with --name"
    ):
        find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity")


def test_two_layouts_at_once_are_refused(tmp_path):
    touch(tmp_path, "Piano/disparity.npy", "Piano.png")
    with pytest.raises(BadData, match=r"Piano/disparity\.npy and Piano\.png"):
        find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity", "SGM")


def test_sizes_of_middeval3(tmp_path):
    touch(tmp_path, "trainingH/Piano/disp0SGM.pfm")
    found = find_estimate(tmp_path, MIDDLEBURY, "Piano", "disparity", "SGM")
    assert found == tmp_path / "trainingH/Piano/disp0SGM.pfm"


def test_names_are_no_patterns(tmp_path):
    touch(tmp_path, "a1/disp0x.pfm", "b/disp0{quantity}.pfm")
    assert find_estimate(tmp_path, MIDDLEBURY, "a[1]", "disparity") is None
    assert find_estimate(tmp_path, MIDDLEBURY, "b", "disparity", "{quantity}") is not None
    touch(tmp_path, "a[1]/disp0x.pfm")
    found = find_estimate(tmp_path, MIDDLEBURY, "a[1]", "disparity")
    assert found == tmp_path / "a[1]/disp0x.pfm"


def test_candidates_for_a_message():
    named = estimate_candidates(MIDDLEBURY, "Piano", "disparity", "SGM")
    assert named[:2] == ("Piano/disparity.npy", "Piano/disp0SGM.pfm")
    assert "Piano/disp0*.pfm" in estimate_candidates(MIDDLEBURY, "Piano", "disparity")
    assert named[-1] == "Piano/disparity.{" + ",".join(SUFFIXES) + "}"


def test_layouts_may_take_an_id_apart(tmp_path):
    booster = DATASETS["booster"]
    touch(tmp_path, "Bathroom/camera_00/im0.npy")
    found = find_estimate(tmp_path, booster, "Bathroom/im0", "disparity")
    assert found == tmp_path / "Bathroom/camera_00/im0.npy"
    assert find_estimate(tmp_path, booster, "Bathroom/im1", "disparity") is None
    named = estimate_candidates(booster, "Bathroom/im1", "disparity")
    assert "Bathroom/camera_00/im1.npy" in named
