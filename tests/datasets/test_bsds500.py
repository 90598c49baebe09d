"""BSDS500 in its layouts, estimates in PNG, and what is wrong with folders and files."""

import numpy as np
import pytest
from scipy.io import savemat

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate, read_estimate
from depthgauge.datasets.bsds500 import read_boundaries
from depthgauge.errors import BadData, BadFile

BSDS = DATASETS["bsds500"]


def cell(people):
    made = np.full((1, len(people)), None, object)
    for k, person in enumerate(people):
        made[0, k] = person
    return made


def put(path, *marked):
    path.parent.mkdir(parents=True, exist_ok=True)
    people = [{"Boundaries": m, "Segmentation": np.ones(m.shape, np.uint16)} for m in marked]
    savemat(path, {"groundTruth": cell(people)})


def picture(path, shape=(6, 8, 3)):
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, np.zeros(shape, np.uint8))


MARKED = np.eye(6, 8, dtype=bool)


def test_one_channel_for_each_annotator(tmp_path):
    put(tmp_path / "groundTruth" / "12.mat", MARKED, ~MARKED, MARKED)
    picture(tmp_path / "images" / "12.png")
    (sample,) = BSDS.samples(tmp_path)
    assert sample.id == "12"
    found = sample.truth.boundaries
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.stack([MARKED, ~MARKED, MARKED], axis=2))
    assert sample.inputs.left_image.shape == (6, 8, 3)


@pytest.mark.parametrize("below", ["", "data"])
def test_splits_are_folders(tmp_path, below):
    for split, name in (("train", "1"), ("val", "2"), ("test", "3")):
        put(tmp_path / below / "groundTruth" / split / f"{name}.mat", MARKED)
        picture(tmp_path / below / "images" / split / f"{name}.png")
    assert [sample.id for sample in BSDS.samples(tmp_path)] == ["1", "2", "3"]
    (sample,) = BSDS.samples(tmp_path, "val")
    assert sample.id == "2"
    assert "left_image" in sample.inputs


def test_a_picture_alone_has_no_truth_and_a_truth_alone_no_picture(tmp_path):
    put(tmp_path / "groundTruth" / "1.mat", MARKED)
    picture(tmp_path / "images" / "2.png")
    (tmp_path / "groundTruth" / "._1.mat").write_bytes(b"")
    with_truth, without = BSDS.samples(tmp_path)
    assert "left_image" not in with_truth.inputs
    assert without.truth is None


def test_one_name_twice_is_refused(tmp_path):
    put(tmp_path / "groundTruth" / "1.mat", MARKED)
    put(tmp_path / "groundTruth" / "test" / "1.mat", MARKED)
    with pytest.raises(BadData, match="'1' occurs twice"):
        list(BSDS.samples(tmp_path))


def test_an_empty_folder_says_what_is_expected(tmp_path):
    with pytest.raises(BadData, match=r"no sample of split 'all'.*groundTruth/<id>\.mat"):
        BSDS.samples(tmp_path)


def test_truth_that_is_not_what_it_should_be(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"other": 1})
    with pytest.raises(BadFile, match="expected the cell array 'groundTruth'"):
        read_boundaries(path)
    savemat(path, {"groundTruth": cell([{"Segmentation": np.ones((3, 3))}])})
    with pytest.raises(BadFile, match="annotator 1 has no 'Boundaries'"):
        read_boundaries(path)
    put(path, MARKED, MARKED.T)
    with pytest.raises(BadFile, match="different sizes"):
        read_boundaries(path)


def test_png_codes_are_shares_of_255_and_0_is_a_value(tmp_path):
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    io.write_image(tmp_path / "12.png", codes)
    path = find_estimate(tmp_path, BSDS, "12", "boundaries")
    found = read_estimate(path, BSDS, "boundaries").values
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, codes.astype(np.float32) / np.float32(255))
    assert (np.floor(found * 255 + 0.5) == codes).all()


def test_16_bits_grey_stored_as_colour_and_floats(tmp_path):
    fine = np.linspace(0, 65535, 12).astype(np.uint16).reshape(3, 4)
    io.write_image(tmp_path / "1.png", fine)
    np.testing.assert_allclose(
        read_estimate(tmp_path / "1.png", BSDS, "boundaries").values, fine / 65535, atol=1e-6
    )
    grey = np.repeat(np.full((3, 4, 1), 51, np.uint8), 3, axis=2)
    io.write_image(tmp_path / "2.png", grey)
    found = read_estimate(tmp_path / "2.png", BSDS, "boundaries").values
    np.testing.assert_allclose(found, np.full((3, 4), 0.2), rtol=1e-6)
    io.write_map(tmp_path / "3.npy", np.full((3, 4, 2), 0.5), quantity="boundaries")
    assert read_estimate(tmp_path / "3.npy", BSDS, "boundaries").values.shape == (3, 4, 2)


def test_a_drawing_in_colours_is_no_estimate(tmp_path):
    picture = np.zeros((3, 4, 3), np.uint8)
    picture[0, 0] = (255, 0, 0)
    io.write_image(tmp_path / "1.png", picture)
    with pytest.raises(BadFile, match="found a colour picture"):
        read_estimate(tmp_path / "1.png", BSDS, "boundaries")


def test_codes_in_floats_are_refused_by_the_file_s_name(tmp_path):
    io.write_map(tmp_path / "1.npy", np.array([[0.0, 200.0]]), quantity="boundaries")
    with pytest.raises(
        BadFile, match=r"1\.npy: expected probabilities from 0 to 1, found 0 to 200"
    ):
        read_estimate(tmp_path / "1.npy", BSDS, "boundaries")
    io.write_map(tmp_path / "2.npy", np.array([[np.nan, 1.0]]), quantity="boundaries")
    assert np.isnan(read_estimate(tmp_path / "2.npy", BSDS, "boundaries").values[0, 0])


def test_the_real_files(shared):
    found = list(BSDS.samples(shared("data/bsds500-bench/data")))
    assert [sample.id for sample in found] == ["2018", "3063", "5096", "6046", "8068"]
    assert [sample.truth.boundaries.shape[2] for sample in found] == [5, 6, 5, 5, 5]
    for sample in found:
        assert sample.inputs.left_image.shape[:2] == sample.truth.boundaries.shape[:2]
