"""Depth in the Wild on disk."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets.diw import samples, write
from depthgauge.errors import BadData, BadFile, CannotWrite, DoesNotFit, Unavailable
from depthgauge.types import Inputs, Sample, Truth

SIZE = (10, 20)


def picture(path, size=SIZE):
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, np.zeros((*size, 3), np.uint8))


@pytest.fixture
def folder(tmp_path):
    """A list of two pictures as the authors have it; the second was made half as large."""
    picture(tmp_path / "DIW_test/a.png")
    picture(tmp_path / "DIW_test/b.png")
    (tmp_path / "DIW_test.csv").write_text(
        "./DIW_test/b.png\n1,2,20,40,>,40,20\n./DIW_test/a.png\n1,20,10,3,<,20,10\n"
    )
    return tmp_path


def test_coordinates_count_from_1_and_follow_the_size(folder):
    found = {s.id: s for s in samples(folder, "test")}
    assert list(found) == ["a", "b"]
    assert found["a"].truth["relative_depth"].tolist() == [[19, 0, 2, 9, -1]]
    # In a picture of 40x20: x 2 and y 1 become 1 and 0.5, the first pixel.
    assert found["b"].truth["relative_depth"].tolist() == [[0, 0, 19, 9, 1]]
    assert found["a"].truth["relative_depth"].dtype == np.int32
    depth = found["a"].truth["depth"]
    assert depth.shape == SIZE
    assert np.isnan(depth).all()
    assert found["a"].inputs.left_image.shape == (*SIZE, 3)
    again = pickle.loads(pickle.dumps(found["a"]))
    assert again.truth["relative_depth"].tolist() == [[19, 0, 2, 9, -1]]


def test_jpeg_with_another_ending(folder):
    cv2 = pytest.importorskip("cv2")
    _, body = cv2.imencode(".jpg", np.zeros((*SIZE, 3), np.uint8))
    (folder / "DIW_test/c.thumb").write_bytes(body.tobytes())
    (folder / "DIW_test.csv").write_text("./DIW_test/c.thumb\n3,4,5,6,>,20,10\n")
    (found,) = samples(folder, "test")
    assert found.id == "c"
    assert found.truth["relative_depth"].tolist() == [[3, 2, 5, 4, 1]]


def test_lists_beside_and_of_both_splits(folder):
    (folder / "DIW_Annotations").mkdir()
    (folder / "DIW_test.csv").rename(folder / "DIW_Annotations/DIW_test.csv")
    assert [s.id for s in samples(folder, "test")] == ["a", "b"]
    picture(folder / "DIW_train_val/t.png")
    line = "./DIW_train_val/t.png\n1,1,2,2,<,20,10\n"
    (folder / "DIW_train.csv").write_text(line)
    assert [s.id for s in samples(folder, "all")] == ["a", "b", "t"]
    (folder / "DIW_train_val.csv").write_text(line)
    assert [s.id for s in samples(folder, "all")] == ["a", "b", "t"]
    (found,) = samples(folder, "train-val")
    assert len(found.truth["relative_depth"]) == 1
    with pytest.raises(BadData, match=r"there is no DIW_val\.csv"):
        samples(folder, "val")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2,3,4,=,20,10", "must be > or <"),
        ("0,2,3,4,>,20,10", "coordinates starting at 1"),
        ("1,2,3,nan,>,20,10", "coordinates starting at 1"),
        ("1,2,3,x,>,20,10", "coordinates starting at 1"),
        ("1,2,3,4,>,0,10", "coordinates starting at 1"),
        ("1,2,3", "coordinates starting at 1"),
    ],
)
def test_a_damaged_line_costs_its_sample_only(folder, line, why):
    (folder / "DIW_test.csv").write_text(f"./DIW_test/a.png\n{line}\n./DIW_test/b.png\n1,2,3,4,>\n")
    found = {s.id: s for s in samples(folder, "test")}
    with pytest.raises(BadFile, match=f"line 2: .*{why}"):
        found["a"].truth["relative_depth"]
    assert found["b"].truth["relative_depth"].tolist() == [[1, 0, 3, 2, 1]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("./DIW_test/a.png\n", "one line is left over"),
        ("../a.png\n1,2,3,4,>,20,10\n", "line 2: .*refused"),
        ("/a.png\n1,2,3,4,>,20,10\n", "refused"),
        ("x/a.png\n1,2,3,4,>\ny/a.png\n1,2,3,4,>\n", "two images are called 'a'"),
        ("\0", "the list cannot be read"),
        ("", "no sample of split 'test'"),
    ],
)
def test_lists_that_are_not_right(folder, text, why):
    (folder / "DIW_test.csv").write_text(text)
    with pytest.raises(BadData, match=why):
        list(samples(folder, "test"))


@pytest.mark.parametrize("split", ["test", "train", "val", "train-val"])
def test_what_is_written_is_read(tmp_path, split):
    pairs = np.int32([[0, 0, 19, 9, 1], [3, 4, 5, 6, -1]])
    image = np.arange(600, dtype=np.uint8).reshape(*SIZE, 3)
    made = Sample("x", Inputs({"left_image": image}), Truth({"relative_depth": pairs}))
    write(tmp_path, [made], split=split)
    (found,) = samples(tmp_path, split)
    np.testing.assert_array_equal(found.truth["relative_depth"], pairs)
    np.testing.assert_array_equal(found.inputs.left_image, image)
    with pytest.raises(CannotWrite, match="overwrite"):
        write(tmp_path, [made], split=split)
    write(tmp_path, [made], split=split, overwrite=True)


def test_what_cannot_be_written(tmp_path):
    image = np.zeros((*SIZE, 3), np.uint8)
    with pytest.raises(Unavailable, match="has no relative_depth"):
        write(tmp_path, [Sample("x", Inputs({"left_image": image}), None)])
    with pytest.raises(DoesNotFit, match="a split of DIW is"):
        write(tmp_path, [], split="all")
