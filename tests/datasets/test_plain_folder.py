from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets.plain_folder import samples, write
from depthgauge.errors import BadData, BadFile, Unavailable
from depthgauge.types import Inputs, Sample

MAP = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
GREY = np.full((3, 4), 9, np.uint8)


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if "truth" in name or path.suffix in (".pfm", ".npy"):
            io.write_map(path, MAP)
        else:
            io.write_image(path, GREY)


def ids(root: Path, **options) -> list[str]:
    return [s.id for s in samples(root, "all", **options)]


def test_the_default_folders(tmp_path):
    put(tmp_path, "truth/a/1.pfm", "truth/b.npy", "left/a/1.png", "left/c.png", "right/a/1.png")
    put(tmp_path, "masks/visible/a/1.png", "labels/material/a/1.png", "truth/._b.npy")
    first, second, third = samples(tmp_path)
    assert [first.id, second.id, third.id] == ["a/1", "b", "c"]
    assert set(first.inputs) == {"left_image", "right_image"}
    assert set(first.truth) == {"disparity", "disparity_path", "visible_mask", "material_labels"}
    assert np.array_equal(first.truth.disparity, MAP)
    assert first.truth.visible_mask.all()
    assert (first.truth.material_labels == 9).all()
    assert set(second.truth) == {"disparity", "disparity_path"}
    assert third.truth is None


def test_maps_directly_in_the_folder(tmp_path):
    put(tmp_path, "a.pfm", "b.npy", "deeper/c.npy")
    (tmp_path / "readme.txt").write_text("")
    assert ids(tmp_path) == ["a", "b"]


def test_flow_files_hold_flow(tmp_path):
    (tmp_path / "truth").mkdir()
    io.write_map(tmp_path / "truth/a.flo", np.ones((3, 4, 2), np.float32), quantity="flow")
    (sample,) = samples(tmp_path)
    assert sample.truth.flow.shape == (3, 4, 2)


def test_flow_has_two_frames(tmp_path):
    (tmp_path / "truth").mkdir()
    io.write_map(tmp_path / "truth/a.flo", np.ones((3, 4, 2), np.float32), quantity="flow")
    put(tmp_path, "first/a.png", "second/a.png", "first/b.png", "second/c.png")
    first, second = samples(tmp_path)
    assert set(first.inputs) == {"first_image", "second_image"}
    assert np.array_equal(first.inputs.second_image, GREY)
    assert (second.id, set(second.inputs), second.truth) == ("b", {"first_image"}, None)


def test_monocular_data_has_one_picture(tmp_path):
    put(tmp_path, "truth/a.npy", "image/a.png", "image/b.png")
    first, second = samples(tmp_path, quantity="depth")
    assert set(first.inputs) == {"image"}
    assert np.array_equal(first.inputs.image, GREY)
    assert np.array_equal(first.truth.depth, MAP)
    assert (second.id, second.truth) == ("b", None)


def test_patterns_of_frames_and_pictures(tmp_path):
    put(tmp_path, "v/0/a.png", "v/1/a.png", "v/0/b.png", "v/1/b.png", "p/a.png")
    sample, _ = samples(tmp_path, first="v/0/{id}.png", second="v/1/{id}.png")
    assert set(sample.inputs) == {"first_image", "second_image"}
    (sample,) = samples(tmp_path, image="p/{id}.png")
    assert (sample.id, set(sample.inputs)) == ("a", {"image"})
    with pytest.raises(BadData, match="patterns for second_image only"):
        samples(tmp_path, second="v/1/{id}.png")
    with pytest.raises(BadData, match=r"1 of the files .*: p/b\.png"):
        samples(tmp_path, first="v/0/{id}.png", image="p/{id}.png")
    with pytest.raises(BadData, match="Did you mean 'second'"):
        samples(tmp_path, secnd="v/1/{id}.png")


def test_frames_and_pictures_are_written_too(tmp_path):
    pictures = {name: GREY + i for i, name in enumerate(("first_image", "second_image", "image"))}
    write(tmp_path, [Sample("a/b", Inputs(pictures), None)])
    (again,) = samples(tmp_path)
    assert set(again.inputs) == set(pictures)
    assert all(np.array_equal(again.inputs[name], pictures[name]) for name in pictures)


def test_one_name_twice(tmp_path):
    put(tmp_path, "truth/a.pfm", "truth/a.npy")
    with pytest.raises(BadData, match=r"a\.npy and a\.pfm are both 'a'"):
        samples(tmp_path)


TOML = """
truth = "scenes/{id}/disp_{id}.npy"
left = "scenes/{id}/view.png"
visible_mask = "scenes/{id}/seen.png"
quantity = "disparity"
scale = 2
disparity_range = [0, 64]
[labels]
material = "scenes/{id}/stuff.png"
"""


def test_a_toml_says_where_things_are(tmp_path):
    (tmp_path / "depthgauge.toml").write_text(TOML)
    for name in ("p", "q"):
        put(tmp_path, *(f"scenes/{name}/{f}" for f in ("view.png", "seen.png", "stuff.png")))
        put(tmp_path, f"scenes/{name}/disp_{name}.npy")
    put(tmp_path, "scenes/p/disp_other.npy")
    first, second = samples(tmp_path)
    assert [first.id, second.id] == ["p", "q"]
    assert np.array_equal(first.truth.disparity, MAP / 2)
    assert first.inputs.disparity_range == (0, 64)
    assert {"visible_mask", "material_labels"} <= set(first.truth)


def test_the_caller_goes_before_the_file(tmp_path):
    (tmp_path / "depthgauge.toml").write_text("truth = 'x/{id}.pfm'\nscale = 2")
    put(tmp_path, "y/a/b.npy")
    (sample,) = samples(tmp_path, truth="y/{id}.npy", quantity="depth")
    assert sample.id == "a/b"
    assert np.array_equal(sample.truth.depth, MAP / 2)


def test_images_alone_have_no_truth(tmp_path):
    put(tmp_path, "in/a.png")
    (sample,) = samples(tmp_path, left="in/{id}.png")
    assert sample.truth is None


def test_files_that_a_pattern_asks_for_must_be_there(tmp_path):
    put(tmp_path, "truth/a.pfm", "truth/b.pfm", "left/a.png", "left/c.png")
    with pytest.raises(BadData, match=r"2 of the files .*: (left/b\.png|truth/c\.pfm), ") as caught:
        samples(tmp_path, truth="truth/{id}.pfm", left="left/{id}.png")
    assert "left/b.png" in str(caught.value)
    assert "truth/c.pfm" in str(caught.value)


def test_a_pattern_of_a_mask_alone_is_not_enough(tmp_path):
    put(tmp_path, "truth/a.pfm")
    with pytest.raises(BadData, match="add 'truth', 'left', 'first' or 'image'"):
        samples(tmp_path, visible_mask="m/{id}.png")


def test_all_mistakes_are_named_at_once(tmp_path):
    (tmp_path / "depthgauge.toml").write_text(
        "trut = 'x'\nleft = 'l.png'\nright = '../{id}.png'\nscale = 0\nquantity = 'dispartiy'\n"
        "disparity_range = [3, 1]\nlabels = 3\n"
    )
    with pytest.raises(BadData) as caught:
        samples(tmp_path)
    text = str(caught.value)
    assert "unknown key 'trut'. Did you mean 'truth'?" in text
    assert "'left' must be a pattern with {id}" in text
    assert "'right' must stay below the folder" in text
    assert "'scale' must be a positive number" in text
    assert "Did you mean 'disparity'?" in text
    assert "'disparity_range' must be" in text
    assert "'labels' must be a table" in text


def test_no_toml_at_all(tmp_path):
    (tmp_path / "depthgauge.toml").write_text("truth = ")
    with pytest.raises(BadFile, match="is not TOML"):
        samples(tmp_path)


def test_a_sample_can_be_sent_to_another_process(tmp_path):
    put(tmp_path, "truth/a.pfm")
    (sample,) = samples(tmp_path)
    again = pickle.loads(pickle.dumps(sample))
    assert np.array_equal(again.truth.disparity, MAP)


def test_what_is_written_can_be_read(tmp_path, stereo):
    made = stereo("Bathroom/im0")
    write(tmp_path, [made], suffix="npy")
    (again,) = samples(tmp_path)
    assert again.id == "Bathroom/im0"
    for name in ("disparity", "visible_mask", "material_labels"):
        assert np.array_equal(again.truth[name], made.truth[name], equal_nan=True)
    assert np.array_equal(again.inputs.right_image, made.inputs.right_image)
    with pytest.raises(Unavailable, match="no depth truth"):
        write(tmp_path, [made], quantity="depth")
    with pytest.raises(BadData, match="refused"):
        write(tmp_path, [stereo("../x")])
