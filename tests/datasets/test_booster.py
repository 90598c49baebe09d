"""Booster's layout: what is read, what is written, what is refused; both setups and all splits."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from depthgauge import io
from depthgauge.datasets import (
    DATASETS,
    booster,
    booster_unbalanced,
    find_estimate,
    read_estimate,
    truth_hash,
)
from depthgauge.datasets.booster import samples, write, write_submission
from depthgauge.errors import (
    BadData,
    BadFile,
    CannotWrite,
    DoesNotFit,
    Misuse,
    Unavailable,
    UnknownName,
    UnknownScale,
    WrongShape,
)
from depthgauge.io.reading import Reading
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

SIZE = (6, 8)
SMALL = (3, 4)
"""Of the right picture of an unbalanced pair."""
FOCAL, BASELINE = 100.5, 0.0785
XML = """<?xml version="1.0"?>
<opencv_storage>
<proj_matL type_id="opencv-matrix"><rows>3</rows><cols>4</cols><dt>d</dt>
<data>200. 0. 4. 0. 0. 200. 3. 0. 0. 0. 1. 0.</data></proj_matL>
{}<baselineLR>80.</baselineLR>
</opencv_storage>
"""
RIGHT = """<proj_matR type_id="opencv-matrix"><rows>3</rows><cols>4</cols><dt>d</dt>
<data>{} 0. {} -16000. 0. {} {} 0. 0. 0. 1. 0.</data></proj_matR>
"""


def rig(right: tuple[int, int] = SIZE) -> Rig:
    pose = np.eye(4)
    pose[0, 3] = BASELINE
    scale = right[1] / SIZE[1]
    centre = ((3.75 + 0.5) * scale - 0.5, (2.5 + 0.5) * scale - 0.5)
    cameras = {
        "left": Camera((FOCAL, FOCAL), (3.5, 2.5), SIZE[::-1]),
        "right": Camera(
            (FOCAL * scale, FOCAL * scale), centre, right[::-1], world_from_camera=pose
        ),
    }
    return Rig(cameras, BASELINE, 0.25)


def truth(seed: int = 0) -> Truth:
    rng = np.random.default_rng(seed)
    disparity = rng.uniform(5, 80, SIZE).astype(np.float32)
    disparity[0, :3] = np.nan
    return Truth(
        {
            "disparity": disparity,
            "right_disparity": disparity[:, ::-1].copy(),
            "visible_mask": rng.random(SIZE) < 0.7,
            "right_visible_mask": rng.random(SIZE) < 0.7,
            "material_labels": rng.integers(0, 4, SIZE, dtype=np.int32),
            "surface_labels": rng.integers(0, 3, SIZE, dtype=np.int32),
        }
    )


def scene(name: str = "Bathroom", count: int = 2, right: tuple[int, int] = SIZE) -> list[Sample]:
    """Some illuminations of a scene, with everything that one can have."""
    rng = np.random.default_rng(len(name))
    shared = truth(len(name))
    return [
        Sample(
            f"{name}/im{i}",
            Inputs(
                {
                    "left_image": rng.integers(0, 256, (*SIZE, 3), dtype=np.uint8),
                    "right_image": rng.integers(0, 256, (*right, 3), dtype=np.uint8),
                    "rig": rig(right),
                    "disparity_range": (0.0, 90.5),
                }
            ),
            shared,
            scene=name,
        )
        for i in range(count)
    ]


@pytest.fixture
def folder(tmp_path) -> Path:
    """The folder of one scene with two illuminations."""
    write(tmp_path, scene())
    return tmp_path / "train/balanced/Bathroom"


def equal(found: Sample, made: Sample) -> None:
    assert (found.id, found.scene) == (made.id, made.scene)
    for one, other in ((found.inputs, made.inputs), (found.truth or {}, made.truth or {})):
        for name, thing in other.items():
            if isinstance(thing, np.ndarray):
                np.testing.assert_array_equal(one[name], thing, err_msg=name)
                assert one[name].dtype == thing.dtype, name
            elif isinstance(thing, dict):
                np.testing.assert_equal(one[name], thing)
            elif isinstance(thing, Rig):
                # Files hold millimetres; some baselines have no float that is exactly 1000 times.
                near = pytest.approx(thing.baseline_m, rel=3e-16, abs=0, nan_ok=True)
                assert one[name].baseline_m == near
                assert replace(one[name], baseline_m=0.0) == replace(thing, baseline_m=0.0), name
            else:
                assert one[name] == thing, name


# --- reading what is written --------------------------------------------------------------------


@pytest.mark.parametrize(("module", "right"), [(booster, SIZE), (booster_unbalanced, SMALL)])
def test_what_is_written_can_be_read(tmp_path, module, right):
    made = [*scene("Bathroom", 2, right), *scene("Vodka", 1, right)]
    module.write(tmp_path, made)
    found = list(module.samples(tmp_path, "train"))
    assert [sample.id for sample in found] == ["Bathroom/im0", "Bathroom/im1", "Vodka/im0"]
    for one, other in zip(found, made, strict=True):
        equal(one, other)
    items = {"left_image", "right_image", "rig", "calibration", "disparity_range"}
    assert set(found[0].inputs) == items


def test_files_are_those_of_the_dataset(folder):
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    pictures = {f"camera_0{c}/im{i}.png" for c in (0, 2) for i in (0, 1)}
    maps = {"disp_00.npy", "disp_02.npy", "mask_00.png", "mask_02.png", "mask_cat.png"}
    assert names == pictures | maps | {"calib_00-02.xml", "mask_surface.png"}
    stored = np.load(folder / "disp_00.npy")
    assert stored.dtype == np.float32
    assert stored[0, 0] == 0
    assert np.isfinite(stored).all()
    assert io.stored_dtype(folder / "mask_cat.png") == np.uint8
    cv2 = pytest.importorskip("cv2")
    file = cv2.FileStorage(str(folder / "calib_00-02.xml"), cv2.FILE_STORAGE_READ)
    assert file.getNode("proj_matL").mat()[0, 0] == FOCAL
    assert file.getNode("baselineLR").real() == 78.5
    assert file.getNode("proj_matR").mat()[0, 3] == -FOCAL * 78.5


def test_reading_and_writing_again_changes_no_byte(tmp_path):
    write(tmp_path / "a", scene())
    for name in ("b", "a"):  # the last one over itself
        write(tmp_path / name, samples(tmp_path / "a", "train"), overwrite=True)
        first, second = tmp_path / "a", tmp_path / "b"
        files = {p.relative_to(first) for p in first.rglob("*")}
        assert files == {p.relative_to(second) for p in second.rglob("*")}
        for path in (p for p in files if (first / p).is_file()):
            assert (first / path).read_bytes() == (second / path).read_bytes(), path


@given(data=st.data())
def test_any_scene_comes_back(data, tmp_path_factory):
    size = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    values = st.one_of(st.just(np.float32("nan")), st.floats(2.0**-20, 2.0**20, width=32))
    maps = {"disparity": data.draw(arrays(np.float32, size, elements=values))}
    kinds = {
        "right_disparity": arrays(np.float32, size, elements=values),
        "visible_mask": arrays(bool, size),
        "material_labels": arrays(np.int32, size, elements=st.integers(0, 255)),
        "surface_labels": arrays(np.int32, size, elements=st.integers(0, 2)),
    }
    for name, kind in kinds.items():
        if data.draw(st.booleans()):
            maps[name] = data.draw(kind)
    inputs = {"left_image": data.draw(arrays(np.uint8, (*size, 3)))}
    if data.draw(st.booleans()):
        focal, baseline = data.draw(st.tuples(st.floats(1, 1e4), st.floats(1e-3, 10)))
        camera = Camera((focal, focal), (size[1] / 2, size[0] / 2), size[::-1])
        inputs["rig"] = Rig({"left": camera}, baseline)
    made = Sample("Sink/0000", Inputs(inputs), Truth(maps), scene="Sink")
    root = tmp_path_factory.mktemp("any")
    write(root, [made])
    (found,) = samples(root, "all")
    equal(found, made)
    assert set(found.truth) - {"disparity_path", "material_path", "depth", "calibration"} == set(
        maps
    )


def test_illuminations_are_in_the_order_of_their_numbers(tmp_path):
    write(tmp_path, scene("Case", 12))
    ids = [sample.id for sample in samples(tmp_path, "train")]
    assert ids == [f"Case/im{i}" for i in range(12)]


def test_pictures_of_the_challenges_have_other_names(folder):
    for camera in ("camera_00", "camera_02"):
        for i in range(2):
            (folder / camera / f"im{i}.png").rename(folder / camera / f"000{i}.png")
        (folder / camera / "notes.png").write_bytes(b"none of ours")
    found = list(samples(folder.parent, "train"))
    assert [sample.id for sample in found] == ["Bathroom/0000", "Bathroom/0001"]


def test_all_illuminations_have_one_truth(folder):
    first, second = samples(folder.parent, "train")
    assert first.truth is second.truth
    assert first.scene == second.scene == "Bathroom"


def test_what_is_not_above_zero_is_missing(folder):
    values = np.load(folder / "disp_00.npy")
    values[1, :4] = 0, -3, np.inf, np.nan
    np.save(folder / "disp_00.npy", values)
    found = next(samples(folder.parent, "train")).truth.disparity
    assert np.isnan(found[1, :4]).all()
    assert np.isfinite(found[1, 4:]).all()


# --- splits and places --------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path) -> Path:
    """All splits, one scene each."""
    for split, name in (("train", "Oven1"), ("test-stereo", "Lunch")):
        write(tmp_path, scene(name), split=split)
        booster_unbalanced.write(tmp_path, scene(name, 1, SMALL), split=split)
    write(tmp_path, scene("Mirror"), split="test-mono")
    write(tmp_path, scene("Shower"), split="unlabelled")
    return tmp_path


def test_splits_are_folders(dataset):
    places = {p.relative_to(dataset).as_posix() for p in dataset.glob("*/*/*")}
    assert places == {
        "train/balanced/Oven1",
        "train/unbalanced/Oven1",
        "test/balanced/Lunch",
        "test/unbalanced/Lunch",
        "test/mono/Mirror",
        "unlabelled/balanced/Shower",
    }
    scenes = {
        split: {sample.scene for sample in samples(dataset, split)} for split in booster.SPEC.splits
    }
    assert scenes == {
        "train": {"Oven1"},
        "test-stereo": {"Lunch"},
        "test-mono": {"Mirror"},
        "unlabelled": {"Shower"},
        "all": {"Oven1", "Lunch", "Mirror", "Shower"},
    }
    assert {s.id for s in booster_unbalanced.samples(dataset, "all")} == {"Oven1/im0", "Lunch/im0"}


@pytest.mark.parametrize("place", ["train", "train/balanced", "."])
def test_a_split_or_its_scenes_can_be_given(dataset, place):
    assert {s.scene for s in samples(dataset / place, "train")} == {"Oven1"}


def test_a_folder_of_scenes_is_any_split(dataset, tmp_path):
    plain = tmp_path / "plain"
    shutil.copytree(dataset / "train/balanced", plain)
    for split in ("train", "test-stereo", "test-mono", "all"):
        assert {s.scene for s in samples(plain, split)} == {"Oven1"}


def test_another_split_is_not_taken_for_the_one_that_is_asked_for(dataset):
    shutil.rmtree(dataset / "test")
    for place in (".", "train", "train/balanced"):
        with pytest.raises(BadData, match=r"no scene of split 'test-stereo', only of .*@train\."):
            samples(dataset / place, "test-stereo")
    with pytest.raises(UnknownName, match="booster split 'training'"):
        samples(dataset, "training")


def test_pairs_of_the_other_setup_are_refused(tmp_path):
    folder = tmp_path / "train" / "unbalanced"
    folder.mkdir(parents=True)
    with pytest.raises(BadData, match="these are the unbalanced pairs, not the balanced ones"):
        list(booster.samples(folder, "train"))


def test_single_pictures_come_with_nothing_else(dataset):
    folder = dataset / "test/mono/Mirror"
    assert not (folder / "camera_02").exists()
    # Whatever lies in the folder.
    shutil.copytree(dataset / "train/balanced/Oven1/camera_02", folder / "camera_02")
    for sample in samples(dataset, "test-mono"):
        assert set(sample.inputs) == {"left_image"}
        assert {"depth", "disparity", "material_labels"} <= set(sample.truth)


def test_single_pictures_come_back_with_their_calibration(dataset, tmp_path):
    write(tmp_path / "again", samples(dataset, "test-mono"), split="test-mono")
    before, after = (
        next(iter(samples(root, "test-mono"))).truth.depth for root in (dataset, tmp_path / "again")
    )
    np.testing.assert_array_equal(after, before)


def test_unlabelled_pairs_have_no_truth(dataset):
    folder = dataset / "unlabelled/balanced/Shower"
    assert not (folder / "disp_00.npy").exists()
    shutil.copy(dataset / "train/balanced/Oven1/disp_00.npy", folder)
    for sample in samples(dataset, "unlabelled"):
        assert sample.truth is None
        assert sample.inputs.right_image.shape == (*SIZE, 3)
    (dataset / "unlabelled").rename(dataset / "unlabeled")
    assert {s.scene for s in samples(dataset, "unlabelled")} == {"Shower"}


def test_a_hidden_truth(folder):
    (folder / "disp_00.npy").unlink()
    assert next(samples(folder.parent, "train")).truth is None


def test_one_scene_in_two_splits(dataset):
    write(dataset, scene("Oven1"), split="test-stereo")
    with pytest.raises(BadData, match="'Oven1' is in train/balanced/Oven1 and in test/balanced"):
        samples(dataset, "all")
    assert {s.scene for s in samples(dataset, "train")} == {"Oven1"}


def test_a_folder_of_nothing_and_one_of_a_single_scene(folder, tmp_path):
    with pytest.raises(BadData, match="the folder of one scene"):
        samples(folder, "train")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadData, match=r"no scene of split 'train'.*disp_00\.npy"):
        samples(tmp_path / "empty", "train")


# --- calibration --------------------------------------------------------------------------------


def read_rig(folder: Path, module=booster) -> Rig:
    return next(module.samples(folder.parent, "train")).inputs.rig


def test_depth_is_focal_length_times_baseline_over_disparity(folder):
    (folder / "calib_00-02.xml").write_text(XML.format(""))
    found = next(samples(folder.parent, "train"))
    known = np.isfinite(found.truth.disparity)
    np.testing.assert_allclose(
        found.truth.depth[known], 200 * 0.08 / found.truth.disparity[known], rtol=1e-6
    )
    assert np.isnan(found.truth.depth[~known]).all()
    assert list(found.inputs.rig.cameras) == ["left"]
    assert found.inputs.rig.baseline_m == 0.08
    assert "disparity_range" not in found.inputs


def test_principal_points_that_differ(folder):
    (folder / "calib_00-02.xml").write_text(XML.format(RIGHT.format(200, 7, 200, 3)))
    found = next(samples(folder.parent, "train"))
    known = np.isfinite(found.truth.disparity)
    assert found.inputs.rig.principal_offset_px == 3
    expected = 200 * 0.08 / (found.truth.disparity[known] + 3)
    np.testing.assert_allclose(found.truth.depth[known], expected, rtol=1e-6)


@pytest.mark.parametrize(
    "matrix", [(200, 4, 200, 3), (100, 1.75, 100, 1.25)], ids=["of the left", "of its own"]
)
def test_a_smaller_right_camera(tmp_path, matrix):
    booster_unbalanced.write(tmp_path, scene("Oven1", 1, SMALL))
    folder = tmp_path / "train/unbalanced/Oven1"
    (folder / "calib_00-02.xml").write_text(XML.format(RIGHT.format(*matrix)))
    found = read_rig(folder, booster_unbalanced)
    right = found.cameras["right"]
    assert right.size_px == (4, 3)
    assert right.focal_px == (100, 100)
    assert right.centre_px == (1.75, 1.25)
    assert found.principal_offset_px == 0
    assert right.world_from_camera[0, 3] == 0.08


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("80.", "-80.", r"positive baseline in millimetres as baselineLR, found -80\.0"),
        ("baselineLR", "baseline", "baselineLR, found None"),
        ("proj_matL", "proj_mat", "expected proj_matL as a finite 3x4 matrix, found None"),
        ("<data>200.", "<data>.Nan", "proj_matL as a finite 3x4 matrix"),
        ("<data>200.", "<data>0.", "proj_matL has a focal length that is not positive"),
        ("<rows>3", "<rows>4", "needs 16 numbers"),
        ("</opencv_storage>", "", "calib_00-02.xml"),
    ],
)
def test_calibrations_that_are_not_right(folder, before, after, words):
    (folder / "calib_00-02.xml").write_text(XML.format("").replace(before, after))
    found = next(samples(folder.parent, "train"))
    for items, name in ((found.inputs, "rig"), (found.truth, "depth")):
        with pytest.raises(BadFile, match=words):
            items[name]


def test_without_a_calibration_there_is_no_depth(folder):
    (folder / "calib_00-02.xml").unlink()
    found = next(samples(folder.parent, "train"))
    assert set(found.inputs) == {"left_image", "right_image"}
    assert "depth" not in found.truth


# --- damage -------------------------------------------------------------------------------------


def test_nothing_is_read_before_it_is_asked_for(folder):
    for path in (p for p in folder.rglob("*") if p.is_file()):
        path.write_bytes(b"damaged")
    found = next(samples(folder.parent, "train"))
    for items in (found.inputs, found.truth):
        for name in (n for n in items if not n.endswith("_path")):
            with pytest.raises(BadFile, match=str(folder)):
                items[name]


@pytest.mark.parametrize(
    ("file", "item"),
    [
        ("mask_00.png", "visible_mask"),
        ("mask_02.png", "right_visible_mask"),
        ("mask_cat.png", "material_labels"),
        ("mask_surface.png", "surface_labels"),
    ],
)
def test_masks_of_another_size(folder, file, item):
    io.write_image(folder / file, np.ones((6, 9), np.uint8))
    with pytest.raises(WrongShape, match=rf"{file}: is 9x6 but Bathroom/disp_0\d.npy is 8x6"):
        next(samples(folder.parent, "train")).truth[item]


def test_pictures_of_another_size(folder):
    for camera, words in (
        ("camera_00", r"im0\.png: is 9x6 but Bathroom/disp_00\.npy is 8x6"),
        ("camera_02", r"im0\.png: is 9x6 but camera_00/im0\.png is 8x6"),
    ):
        path = folder / camera / "im0.png"
        before = path.read_bytes()
        io.write_image(path, np.ones((6, 9, 3), np.uint8))
        name = {"camera_00": "left_image", "camera_02": "right_image"}[camera]
        with pytest.raises(WrongShape, match=words):
            next(samples(folder.parent, "train")).inputs[name]
        path.write_bytes(before)


def test_pictures_without_their_partner(folder):
    (folder / "camera_02/im1.png").unlink()
    with pytest.raises(BadData, match=r"incomplete scenes: Bathroom: lacks camera_02/im1\.png"):
        samples(folder.parent, "train")
    (folder / "camera_00/im1.png").unlink()
    io.write_image(folder / "camera_02/im5.png", np.ones((*SIZE, 3), np.uint8))
    with pytest.raises(BadData, match=r"lacks camera_00/im5\.png"):
        samples(folder.parent, "train")
    shutil.rmtree(folder / "camera_02")
    (found,) = samples(folder.parent, "train")
    assert "right_image" not in found.inputs


def test_a_sample_can_be_sent_to_another_process(folder):
    found = next(samples(folder.parent, "train"))
    data = pickle.dumps(found)
    assert len(data) < 10_000
    again = pickle.loads(data)
    equal(again, found)
    assert truth_hash(again) == truth_hash(found)


# --- what cannot be written ---------------------------------------------------------------------


def changed(**items) -> Sample:
    made = scene(count=1)[0]
    inputs = {k: v for k, v in {**made.inputs, **items}.items() if k in made.inputs}
    others = {k: v for k, v in {**made.truth, **items}.items() if k not in made.inputs}
    return Sample(made.id, Inputs(inputs), Truth(others), scene=made.scene)


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (changed(disparity=np.zeros(SIZE, np.float32)), DoesNotFit, "a disparity of 0 px"),
        (changed(disparity=np.ones((6, 9), np.float32)), WrongShape, "8x6 but disparity is 9x6"),
        (changed(material_labels=np.full(SIZE, 300)), DoesNotFit, r"labels are 300\.\.300"),
        (changed(left_image=np.ones((6, 9), np.uint8)), WrongShape, "picture is 9x6 but .* 8x6"),
        (changed(right_image=np.ones((6, 9), np.uint8)), WrongShape, "picture is 9x6 but .* 8x6"),
        (changed(rig=Rig({}, 0.1)), DoesNotFit, "found cameras none"),
        (changed(rig=Rig({"left": rig().cameras["left"]})), DoesNotFit, "baseline of nan m"),
        (Sample("Sink", Inputs({}), None), Misuse, "write SCENE/im0"),
        (Sample("Sink/left", Inputs({}), None), Misuse, "write SCENE/im0"),
        (Sample("a/Sink/im0", Inputs({}), None), Misuse, "write SCENE/im0"),
        (Sample("../im0", Inputs({}), None), BadData, "a part of it is"),
        (Sample("Sink/im0", Inputs({}), None), Unavailable, "has no left_image"),
        (Sample("Sink/im0", Inputs({}), Truth({"depth": 1})), Unavailable, "no disparity truth"),
    ],
)
def test_what_the_layout_has_no_place_for(tmp_path, made, error, words):
    with pytest.raises(error, match=words):
        write(tmp_path, [made])


def test_a_lens_that_is_not_rectified(tmp_path):
    bent = Camera((1.0, 1.0), (1.0, 1.0), (8, 6), (0.1,))
    with pytest.raises(DoesNotFit, match="rectified"):
        write(tmp_path, [changed(rig=Rig({"left": bent}, 0.1))])


def test_two_truths_of_one_scene(tmp_path):
    first, second = scene()
    same = Truth({**first.truth, "disparity": first.truth.disparity.copy()})
    write(tmp_path, [first, Sample(second.id, second.inputs, same)])
    with pytest.raises(DoesNotFit, match="truth of Bathroom/im1 differs from that of Bathroom/im0"):
        write(tmp_path, [first, Sample(second.id, second.inputs, truth(99))], overwrite=True)


def test_a_scene_is_not_replaced_unasked(tmp_path, folder):
    with pytest.raises(CannotWrite, match="overwrite=True"):
        write(tmp_path, scene(count=1))
    write(tmp_path, scene(count=1), overwrite=True)
    assert [p.name for p in (folder / "camera_00").iterdir()] == ["im0.png"]
    with pytest.raises(UnknownName, match="split 'test'"):
        write(tmp_path, scene(), split="test")


# --- submissions --------------------------------------------------------------------------------

SUBMITTED = {"Lunch/im0": np.array([[1.5, np.nan], [1023.98, 0.25]], np.float32)}


@pytest.mark.parametrize("setup", ["balanced", "unbalanced"])
def test_the_online_benchmark_takes_png(tmp_path, setup):
    write_submission(tmp_path, SUBMITTED, setup=setup)
    path = tmp_path / setup / "Lunch/im0.png"
    codes = io.read_labels(path)
    assert codes.tolist() == [[96, 0], [65535, 16]]
    name = "booster" if setup == "balanced" else "booster-unbalanced"
    dataset = DATASETS[name]
    assert find_estimate(tmp_path, dataset, "Lunch/im0", "disparity") == path
    # Written by another program, it says nothing of its scale.
    io.write_image(path, codes.astype(np.uint16))
    found = read_estimate(path, dataset, "disparity").values
    np.testing.assert_allclose(found, SUBMITTED["Lunch/im0"], atol=1 / 128)
    with pytest.raises(UnknownScale, match="say --estimate-scale 1/256"):
        read_estimate(path, dataset, "depth")
    metres = read_estimate(path, dataset, "depth", Reading(0.001)).values
    assert metres[0, 0] == np.float32(0.096)


def test_a_png_that_says_its_scale_is_believed(tmp_path):
    io.write_map(tmp_path / "a.png", SUBMITTED["Lunch/im0"][:, :1], scale=32)
    found = read_estimate(tmp_path / "a.png", DATASETS["booster"], "disparity").values
    np.testing.assert_allclose(found, SUBMITTED["Lunch/im0"][:, :1], atol=1 / 64)


def test_challenges_take_npy(tmp_path):
    write_submission(tmp_path, iter(SUBMITTED.items()), style="npy")
    stored = np.load(tmp_path / "Lunch/im0.npy")
    assert stored.dtype == np.float32
    np.testing.assert_array_equal(stored, SUBMITTED["Lunch/im0"])
    found = find_estimate(tmp_path, DATASETS["booster"], "Lunch/im0", "disparity")
    assert found == tmp_path / "Lunch/im0.npy"


def test_what_cannot_be_submitted(tmp_path):
    with pytest.raises(DoesNotFit, match="holds values from"):
        write_submission(tmp_path, {"Lunch/im0": np.full((2, 2), 1025, np.float32)})
    with pytest.raises(UnknownName, match="style of submission 'pgn'"):
        write_submission(tmp_path, SUBMITTED, style="pgn")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(UnknownName, match="setup 'mono'"):
        write_submission(tmp_path, SUBMITTED, setup="mono")
    with pytest.raises(BadData, match="a part of it is"):
        write_submission(tmp_path, {"../im0": SUBMITTED["Lunch/im0"]})
