from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.datasets.middlebury_2014 import SPEC, samples, write
from depthgauge.errors import BadData, BadFile, Misuse, Unavailable
from depthgauge.types import Inputs, Sample, Truth

CALIB = """cam0=[3979.911 0 1244.772; 0 3979.911 1019.507; 0 0 1]
cam1=[3979.911 0 1369.115; 0 3979.911 1019.507; 0 0 1]
doffs=124.343
baseline=193.001
width=4
height=3
ndisp=290
isint=0
vmin=31
vmax=257
dyavg=0.918
dymax=1.516
"""


def put_pfm(path: Path, values: np.ndarray) -> None:
    """Byte by byte as Middlebury writes it: rows from the bottom, little-endian, inf unknown."""
    rows = np.ascontiguousarray(values[::-1], "<f4").tobytes()
    path.write_bytes(f"Pf\n{values.shape[1]} {values.shape[0]}\n-0.003922\n".encode() + rows)


def scene(folder: Path, truth: str | None = "disp0GT.pfm", mask: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "calib.txt").write_text(CALIB)
    picture = np.zeros((3, 4, 3), np.uint8)
    picture[..., 0] = 200
    io.write_image(folder / "im0.png", picture)
    io.write_image(folder / "im1.png", picture)
    if truth:
        values = np.arange(12, dtype=np.float32).reshape(3, 4) + 0.5
        values[0, 1] = np.inf
        put_pfm(folder / truth, values)
        if mask:
            codes = np.full((3, 4), 255, np.uint8)
            codes[0, 1], codes[2, 3] = 0, 128
            io.write_image(folder / "mask0nocc.png", codes)
    return folder


def test_a_scene_of_v3(tmp_path):
    scene(tmp_path / "trainingF/Piano")
    (sample,) = samples(tmp_path, "training")
    assert (sample.id, sample.scene) == ("Piano", "")
    assert sample.truth is not None
    assert sample.truth.disparity[0, 0] == 0.5
    assert sample.truth.disparity[2, 3] == 11.5
    assert np.argwhere(np.isnan(sample.truth.disparity)).tolist() == [[0, 1]]
    # Occluded (128) is not visible, though it is not zero.
    assert np.argwhere(~sample.truth.visible_mask).tolist() == [[0, 1], [2, 3]]
    assert sample.truth.disparity_path.name == "disp0GT.pfm"
    assert sample.truth.mask_path.name == "mask0nocc.png"
    assert "right_disparity" not in sample.truth
    assert sample.inputs.left_image[0, 0].tolist() == [200, 0, 0]
    assert sample.inputs.disparity_range == (0, 290)
    assert sample.inputs.rig.baseline_m == pytest.approx(0.193001)
    assert sample.inputs.rig.principal_offset_px == pytest.approx(124.343)
    assert sample.inputs.calib.vmax == 257
    assert not [name for name in sample.inputs if name.endswith("_path")]


def test_a_scene_of_2014_in_a_plain_folder(tmp_path):
    folder = scene(tmp_path / "Piano-perfect", "disp0.pfm", mask=False)
    put_pfm(folder / "disp1.pfm", np.ones((3, 4), np.float32))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/readme.txt").write_text("none of ours")
    for split in ("training", "test", "all"):
        (sample,) = samples(tmp_path, split)
        assert sample.id == "Piano-perfect"
        assert sample.truth is not None
        assert set(sample.truth) == {"disparity", "disparity_path", "right_disparity"}


def test_truth_stays_out_of_the_inputs(tmp_path):
    scene(tmp_path / "Piano")
    (sample,) = samples(tmp_path, "training")
    assert not {"disparity", "disparity_path", "visible_mask"} & set(sample.inputs)


def test_a_test_split_has_no_truth(tmp_path):
    scene(tmp_path / "testH/Crusade", truth=None)
    scene(tmp_path / "trainingH/Piano")
    assert [(s.id, s.truth) for s in samples(tmp_path, "test")] == [("Crusade", None)]
    assert [s.id for s in samples(tmp_path, "all")] == ["Crusade", "Piano"]


def test_a_scene_is_in_one_split_only(tmp_path):
    scene(tmp_path / "trainingF/Piano")
    scene(tmp_path / "testF/Piano")
    with pytest.raises(BadData, match="testF/Piano: is in training and in test"):
        samples(tmp_path, "all")


def test_the_largest_size_is_taken_and_others_by_name(tmp_path):
    for size in "HQF":
        scene(tmp_path / f"training{size}/Piano{size}")
    assert [s.id for s in samples(tmp_path, "training")] == ["PianoF"]
    assert [s.id for s in samples(tmp_path, "trainingQ")] == ["PianoQ"]
    assert [s.id for s in samples(tmp_path / "trainingQ", "trainingQ")] == ["PianoQ"]
    assert [s.id for s in samples(tmp_path / "trainingQ", "training")] == ["PianoQ"]
    for folder, split in (
        (tmp_path / "trainingQ", "test"),
        (tmp_path, "test"),
        (tmp_path, "testF"),
    ):
        with pytest.raises(BadData, match=f"no sample of split '{split}'"):
            samples(folder, split)


def test_a_root_that_is_a_scene(tmp_path):
    with pytest.raises(BadData, match="the folder of one scene"):
        samples(scene(tmp_path / "Piano"), "training")


def test_scenes_with_two_truths_are_named(tmp_path):
    scene(tmp_path / "Piano")
    (scene(tmp_path / "Shelves") / "disp0GT.pfm").rename(tmp_path / "Shelves/disp0.pfm")
    shutil.copy(tmp_path / "Shelves/disp0.pfm", tmp_path / "Shelves/disp0GT.pfm")
    with pytest.raises(BadData) as caught:
        samples(tmp_path, "training")
    text = str(caught.value)
    assert "Piano" not in text.partition("Expected")[0].replace(str(tmp_path), "")
    assert "Shelves: has both disp0GT.pfm and disp0.pfm" in text


def test_an_image_that_is_not_there_is_no_input(tmp_path):
    (scene(tmp_path / "Piano") / "im1.png").unlink()
    (found,) = samples(tmp_path, "training")
    assert "left_image" in found.inputs
    assert "right_image" not in found.inputs


def test_a_scene_without_truth_is_a_sample_without_truth(tmp_path):
    scene(tmp_path / "Piano")
    scene(tmp_path / "Pipes", truth=None)
    found = {s.id: s.truth is None for s in samples(tmp_path, "training")}
    assert found == {"Piano": False, "Pipes": True}


def test_images_and_calib_may_be_absent(tmp_path):
    folder = scene(tmp_path / "Piano")
    for name in ("im0.png", "im1.png", "calib.txt"):
        (folder / name).unlink()
    (sample,) = samples(tmp_path, "training")
    assert list(sample.inputs) == []


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    folder = scene(tmp_path / "Piano")
    (sample,) = samples(tmp_path, "training")
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(BadFile, match="no such file"):
        _ = sample.truth.disparity


def test_a_sample_can_be_sent_to_another_process(tmp_path):
    scene(tmp_path / "Piano")
    (sample,) = samples(tmp_path, "training")
    before = sample.truth.disparity
    data = pickle.dumps(sample)
    assert len(data) < 5000
    again = pickle.loads(data)
    assert np.array_equal(again.truth.disparity, before, equal_nan=True)
    assert again.inputs.rig.baseline_m == sample.inputs.rig.baseline_m


@pytest.mark.parametrize("style", ["2014", "v3"])
def test_what_is_written_can_be_read(tmp_path, stereo, style):
    made = [stereo("Canal", 1), stereo("Meadow", 5)]
    write(tmp_path, made, style=style)
    for sample, again in zip(made, samples(tmp_path, "training"), strict=True):
        assert sample.id == again.id
        for name in ("disparity", "right_disparity"):
            assert np.array_equal(sample.truth[name], again.truth[name], equal_nan=True)
        for name in ("left_image", "right_image"):
            assert np.array_equal(sample.inputs[name], again.inputs[name])
        assert again.inputs.disparity_range == (0, 16)
        assert again.inputs.rig.baseline_m == pytest.approx(0.25)
        if style == "v3":
            assert np.array_equal(sample.truth.visible_mask, again.truth.visible_mask)
    raw = io.read_map(again.truth.disparity_path, raw=True)
    assert np.isposinf(raw[0, 0])  # as Middlebury's tools expect it


def test_reading_and_writing_again_keeps_calib(tmp_path):
    scene(tmp_path / "a/Piano")
    write(tmp_path / "b", samples(tmp_path / "a", "all"))
    (again,) = samples(tmp_path / "b", "all")
    assert (again.inputs.calib.ndisp, again.inputs.calib.vmin) == (290, 31)


def test_what_cannot_be_written(tmp_path, stereo):
    with pytest.raises(Misuse, match="has a '/'"):
        write(tmp_path, [stereo("Bathroom/im0")])
    depth = Sample("a", Inputs({}), Truth({"depth": np.ones((2, 2), np.float32)}))
    with pytest.raises(Unavailable, match="no disparity truth, only depth"):
        write(tmp_path, [depth])


@pytest.fixture
def golden(golden_middlebury):
    return golden_middlebury


def test_the_golden_tree(golden):
    found = {s.id: s for s in samples(golden, "training")}
    assert sorted(found) == ["Canal", "Edges", "Foundry", "Meadow"]
    canal = found["Canal"]
    assert canal.truth.disparity.shape == (360, 480)
    assert canal.truth.disparity_path == golden / "trainingF/Canal/disp0GT.pfm"
    assert "left_image" not in canal.inputs
    assert canal.inputs.disparity_range == (0, 80)
    unknown = np.isnan(canal.truth.disparity)
    assert 0.04 < unknown.mean() < 0.15
    assert not (canal.truth.visible_mask & unknown).any()
    assert found["Foundry"].inputs.calib.isint
    assert [s.id for s in samples(golden / "trainingF", "training")] == sorted(found)


def test_the_golden_tree_at_half_size_has_no_truth(golden):
    assert [s.truth for s in samples(golden, "trainingH")] == [None] * 3


def test_estimates_in_the_golden_tree(golden):
    dataset = DATASETS[SPEC.id]
    found = find_estimate(golden / "trainingQ", dataset, "Canal", "disparity", "EST")
    assert found == golden / "trainingQ/Canal/disp0EST.pfm"
    assert find_estimate(golden / "trainingQ", dataset, "Canal", "disparity") == found
    with pytest.raises(BadData, match=r"disp0WITHNAN\.pfm"):
        find_estimate(golden / "trainingF", dataset, "Canal", "disparity")
    with pytest.raises(BadData, match=r"trainingF.*trainingH"):
        find_estimate(golden, dataset, "Canal", "disparity", "EST")
