import shutil
from dataclasses import replace

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.check import check
from depthgauge.capture.export import export
from depthgauge.capture.splits import count_dataset, count_splits
from depthgauge.capture.steps import do_step
from depthgauge.capture.warp.step import warp
from depthgauge.datasets import booster, booster_unbalanced
from depthgauge.errors import BadData, BadFile, CannotWrite, Misuse
from depthgauge.report.capture import distributions


def begin_otherwise(world, work, change):
    """The first steps, of pictures and pairs that `change` did something to."""

    def make(folder):
        made = world._rectify(folder)
        change(folder)
        return made

    do_step(work, "rectify", make, options={}, revision=1)
    world.clean(work, world.exact["LR"].disparity, world.exact["RL"].disparity)


@pytest.fixture(scope="module")
def work(world, tmp_path_factory):
    work = tmp_path_factory.mktemp("export")
    world.begin(work)
    kinds = world.exact["LR"].materials.clip(0).astype(np.uint8)
    io.write_image(world.folder / "labels" / "materials.png", kinds)
    check(world.session, work)
    warp(world.session, work)
    (world.folder / "labels" / "materials.png").unlink()
    return work


def test_what_is_written_is_read_back(world, work, tmp_path):
    done = export(world.session, work, tmp_path, scene="Kitchen")
    assert done.setups == ("balanced", "unbalanced")
    assert done.images == 2
    assert any("mask_surface.png is left out" in warning for warning in done.warnings)
    first, second = booster.samples(tmp_path, "train")
    assert (first.id, second.id) == ("Kitchen/im0", "Kitchen/im1")
    truth = first.truth
    exact = world.exact["LR"]
    assert np.array_equal(truth.disparity, exact.disparity, equal_nan=True)
    assert np.array_equal(truth.right_disparity, world.exact["RL"].disparity, equal_nan=True)
    mask = io.read_mask(work / "check" / "mask_02.png")
    assert np.array_equal(truth.right_visible_mask, mask)
    assert set(np.unique(truth.material_labels)) == {0, 1, 3}
    assert (first.inputs.left_image == 90).all()
    assert (second.inputs.right_image == 130).all()
    # The calibration gives the depth of these labels.
    pair = world.pairs["LR"]
    focal = pair.left.camera.focal_px[0] * pair.baseline_m
    depth = focal / (exact.disparity + pair.rig().principal_offset_px)
    known = np.isfinite(depth)
    assert truth.depth[known] == pytest.approx(depth[known], rel=1e-5)
    low, high = first.inputs.disparity_range
    assert (low % 16, high % 16) == (0, 0)
    assert low <= np.nanmin(exact.disparity)
    assert np.nanmax(exact.disparity) <= high


def test_the_unbalanced_pair_has_the_warped_labels(world, work, tmp_path):
    export(world.session, work, tmp_path, scene="Kitchen")
    sample = next(iter(booster_unbalanced.samples(tmp_path, "train")))
    assert sample.inputs.left_image.shape[:2] == (150, 200)
    assert sample.inputs.right_image.shape[:2] == (96, 120)
    warped = io.read_map(work / "warp" / "disp_00.npy")
    positive = np.where(warped > 0, warped, np.float32(np.nan))
    assert np.array_equal(sample.truth.disparity, positive, equal_nan=True)
    assert "right_disparity" not in sample.truth
    rig, pair = sample.inputs.rig, world.pairs["LC"]
    assert rig.baseline_m == pytest.approx(pair.baseline_m)
    assert rig.principal_offset_px == pytest.approx(pair.rig().principal_offset_px)


def test_several_sessions_and_splits_in_one_dataset(world, work, tmp_path):
    for scene, split in (("A", "train"), ("B", "test-stereo"), ("C", "test-mono")):
        export(world.session, work, tmp_path, scene=scene, split=split)
    assert [s.scene for s in booster.samples(tmp_path, "test-stereo")] == ["B", "B"]
    mono = next(iter(booster.samples(tmp_path, "test-mono")))
    assert list(mono.inputs) == ["left_image"]
    assert list(count_splits(tmp_path)) == ["train"]
    with pytest.raises(BadData, match="--with-truth"):
        count_dataset(tmp_path, "test-stereo")


@pytest.mark.parametrize("split", ["test-stereo", "test-mono"])
def test_a_test_split_has_its_truth_in_a_folder_of_its_own(world, work, tmp_path, split):
    out, kept = tmp_path / "out", tmp_path / "kept"
    export(world.session, work, out, split="train")  # its truth stays beside its images
    export(world.session, work, out, scene="T", split=split, with_truth=kept)
    published = [path for path in (out / "test").rglob("*") if path.is_file()]
    assert {p.name for p in published} == {"calib_00-02.xml", "im0.png", "im1.png"}
    assert [s.truth for s in booster.samples(out, split)] == [None, None]
    public, hidden = (next(iter(booster.samples(root, split))) for root in (out, kept))
    assert np.isfinite(hidden.truth.disparity).any()
    assert np.array_equal(public.inputs.left_image, hidden.inputs.left_image)
    assert list(public.inputs) == list(hidden.inputs)
    export(world.session, work, kept, scene="A", split="train")
    picture = distributions.draw(count_splits(kept), tmp_path / "distributions.png")
    assert io.read_image(picture).shape[2] == 3


def test_a_truth_that_was_published_goes_when_its_scene_is_replaced(world, work, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept"
    export(world.session, work, out, split="test-stereo", with_truth=kept)
    leaked = out / "test" / "balanced" / "world" / "disp_00.npy"
    shutil.copy(kept / "test" / "balanced" / "world" / "disp_00.npy", leaked)
    export(world.session, work, out, split="test-stereo", overwrite=True)
    assert not leaked.exists()


def test_the_folder_of_the_truth_is_no_part_of_the_dataset(world, work, tmp_path):
    out = tmp_path / "out"
    for kept in (out, out / "truth", tmp_path):
        with pytest.raises(Misuse, match="would be published"):
            export(world.session, work, out, split="test-mono", with_truth=kept)
    with pytest.raises(Misuse, match="leave out --with-truth"):
        export(world.session, work, out, split="train", with_truth=tmp_path / "kept")
    # If one of the two cannot be written, neither is.
    kept = tmp_path / "kept"
    export(world.session, work, kept, split="test-stereo")
    with pytest.raises(CannotWrite, match="kept"):
        export(world.session, work, out, split="test-stereo", with_truth=kept)
    assert not out.exists()


def test_a_scene_is_not_overwritten_unasked(world, work, tmp_path):
    export(world.session, work, tmp_path)
    with pytest.raises(CannotWrite, match="overwrite"):
        export(world.session, work, tmp_path)
    assert export(world.session, work, tmp_path, overwrite=True).scene == "world"


def test_without_warp_there_is_no_unbalanced_pair(world, tmp_path):
    world.begin(tmp_path / "work")
    check(world.session, tmp_path / "work")
    done = export(world.session, tmp_path / "work", tmp_path / "out")
    assert done.setups == ("balanced",)
    assert any("step 'warp' is not done" in warning for warning in done.warnings)
    assert not (tmp_path / "out" / "train" / "unbalanced").exists()


def test_pictures_without_labels_need_only_rectification(world, tmp_path):
    world.begin(tmp_path / "work")
    for step in ("clean", "check", "warp"):
        shutil.rmtree(tmp_path / "work" / step, ignore_errors=True)
    out = tmp_path / "out"
    done = export(world.session, tmp_path / "work", out, scene="S", split="unlabelled")
    assert done.setups == ("balanced", "unbalanced")
    assert done.images == 2
    assert not done.warnings
    first, second = booster.samples(out, "unlabelled")
    assert first.truth is None
    assert "disparity_range" not in first.inputs
    assert (second.inputs.left_image == 130).all()
    assert first.inputs.rig.baseline_m == pytest.approx(world.pairs["LR"].baseline_m)
    assert len(list(booster_unbalanced.samples(out, "unlabelled"))) == 2
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert names == {"calib_00-02.xml", "im0.png", "im1.png"}
    with pytest.raises(Misuse, match="an unlabelled scene has no truth"):
        export(world.session, tmp_path / "work", out, split="unlabelled", exact=True)


def test_without_camera_c_there_is_no_unbalanced_pair(world, tmp_path):
    begin_otherwise(world, tmp_path / "work", lambda folder: (folder / "LC.json").unlink())
    for kind in ({"split": "unlabelled"}, {"exact": True}):
        done = export(world.session, tmp_path / "work", tmp_path / "out", **kind)
        assert done.setups == ("balanced",)
        assert any("there is no pair LC" in warning for warning in done.warnings)


def test_what_fails_leaves_nothing(world, work, tmp_path):
    mine = shutil.copytree(work, tmp_path / "work")
    out = tmp_path / "out"
    mask = mine / "warp" / "mask_00.png"
    mask.write_bytes(bytes(mask.stat().st_size))  # is read after the balanced pair
    with pytest.raises(BadFile):
        export(world.session, mine, out)
    assert not list(out.iterdir())
    export(world.session, work, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(BadFile):
        export(world.session, mine, out, overwrite=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    # The unbalanced scene alone is there: the balanced one is not written either.
    shutil.rmtree(out / "train" / "balanced")
    with pytest.raises(CannotWrite, match="unbalanced"):
        export(world.session, work, out)
    assert not (out / "train" / "balanced").exists()
    (out / "file").write_text("")
    with pytest.raises(CannotWrite, match="cannot be written"):
        export(world.session, work, out / "file")


def test_replacing_a_scene_leaves_files_that_are_not_its_own(world, work, tmp_path):
    export(world.session, work, tmp_path)
    folder = tmp_path / "train" / "balanced" / "world"
    (folder / "notes.txt").write_text("mine")
    (folder / "disp_00.npy").unlink()
    export(world.session, work, tmp_path, overwrite=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "disp_00.npy").is_file()


def test_the_exact_truth_has_the_same_frames(world, tmp_path):
    world.begin(tmp_path / "work")  # no step after clean is needed
    done = export(world.session, tmp_path / "work", tmp_path / "out", scene="E", exact=True)
    assert done.setups == ("balanced", "unbalanced")
    assert not done.warnings
    truth = next(iter(booster.samples(tmp_path / "out", "train"))).truth
    exact = world.exact["LR"]
    assert np.array_equal(truth.disparity, exact.disparity, equal_nan=True)
    assert np.array_equal(truth.visible_mask, exact.visible)
    assert np.array_equal(truth.right_disparity, world.exact["RL"].disparity, equal_nan=True)
    assert np.array_equal(truth.material_labels, exact.materials.clip(0))
    other = next(iter(booster_unbalanced.samples(tmp_path / "out", "train"))).truth
    assert np.array_equal(other.surface_labels, world.exact["LC"].surfaces.clip(0))
    with pytest.raises(Misuse, match="only a simulated session"):
        export(
            replace(world.session, simulated=False), tmp_path / "work", tmp_path / "no", exact=True
        )


def test_bad_input_is_one_sentence(world, tmp_path):
    with pytest.raises(BadData, match="step 'check' is not done"):
        export(world.session, tmp_path, tmp_path / "out")
    begin_otherwise(world, tmp_path, lambda folder: shutil.rmtree(folder / "LR" / "R"))
    check(world.session, tmp_path)
    with pytest.raises(BadData, match="no rectified picture of both cameras"):
        export(world.session, tmp_path, tmp_path / "out")
    with pytest.raises(BadData):
        count_splits(tmp_path / "out")


def test_illuminations_keep_their_numbers(world, tmp_path):
    def renumber(folder):
        for place in (folder / "LR" / "L", folder / "LR" / "R"):
            (place / "im1.png").rename(place / "im10.png")
            io.write_image(place / "im2.png", np.full((150, 200, 3), 7, np.uint8))

    begin_otherwise(world, tmp_path, renumber)
    check(world.session, tmp_path)
    export(world.session, tmp_path, tmp_path / "out", scene="S")
    found = {s.id: s.inputs.left_image for s in booster.samples(tmp_path / "out", "train")}
    assert list(found) == ["S/im0", "S/im2", "S/im10"]
    assert (found["S/im2"] == 7).all()
