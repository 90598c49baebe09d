"""The 4D light field benchmark's layout: what is read, what is written, what is refused."""

from __future__ import annotations

import pickle
import shutil
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate, truth_hash
from depthgauge.datasets._hci4d.items import file_of, item_of
from depthgauge.datasets._hci4d.scenes import BENCHMARK, DISPARITY_RANGES, SCENES, category_of
from depthgauge.datasets.hci4d import samples, write
from depthgauge.errors import (
    BadData,
    BadFile,
    CannotWrite,
    DoesNotFit,
    Misuse,
    TooLarge,
    UnknownName,
    WrongShape,
)
from depthgauge.types import Inputs, Rig, Sample, Truth

LOW, HIGH = (6, 8), (24, 32)
PARAMETERS = io.LightFieldParameters(
    100.0, 8, 6, 35.0, 5, 3, 25.0, 4.25, disp_min=-1.5, disp_max=1.2, depth_map_scale=4.0
)


def sample(name: str = "cotton", seed: int = 0) -> Sample:
    """A light field of three rows and five columns, with everything that a scene can have."""
    rng = np.random.default_rng(seed)
    views = rng.integers(0, 256, (3, 5, *LOW, 3), dtype=np.uint8)
    truth = {}
    for prefix, size in (("", LOW), ("high_", HIGH)):
        truth[f"{prefix}disparity"] = rng.uniform(-1.4, 1.1, size).astype(np.float32)
        truth[f"{prefix}depth"] = rng.uniform(3, 5, size).astype(np.float32)
        for mask in ("planes", "fine", "high_contrast"):
            truth[f"{prefix}{mask}_mask"] = rng.random(size) < 0.5
        for labels, most in (("vertical_bins", 16), ("boxes", 20), ("dots_by_size", 700)):
            truth[f"{prefix}{labels}_labels"] = rng.integers(0, most, size, dtype=np.int32)
        truth[f"{prefix}material_labels"] = rng.integers(0, 5, size, dtype=np.int32)
    return Sample(name, Inputs({"views": views, "parameters": PARAMETERS}), Truth(truth))


def put_png(path: Path, values: np.ndarray) -> None:
    """Byte by byte, without our own writer: grey, 8 or 16 bits."""
    bits = 16 if values.dtype == np.uint16 else 8
    lines = values.astype(">u2" if bits == 16 else "u1").view(np.uint8).reshape(len(values), -1)
    raw = b"".join(b"\0" + line.tobytes() for line in lines)
    head = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], bits, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


@pytest.fixture
def scene(tmp_path) -> Path:
    write(tmp_path, [sample()])
    return tmp_path / "training" / "cotton"


def only(root: Path, split: str = "all") -> Sample:
    (found,) = samples(root, split)
    return found


def test_all_scenes_of_the_benchmark():
    assert [len(names) for names in SCENES.values()] == [4, 4, 4, 16]
    assert len({name for names in SCENES.values() for name in names}) == 28
    assert BENCHMARK[:5] == ("backgammon", "dots", "pyramids", "stripes", "boxes")
    assert set(BENCHMARK) == set(DISPARITY_RANGES)
    assert category_of("vinyl") == "additional"
    assert category_of("Cotton") == "other"


def test_what_is_written_can_be_read(tmp_path):
    made = sample()
    write(tmp_path, [made])
    found = only(tmp_path)
    assert found.id == "cotton"
    assert {n for n in found.truth if not n.endswith("_path")} == set(made.truth)
    for name, values in made.truth.items():
        np.testing.assert_array_equal(found.truth[name], values, err_msg=name)
        assert found.truth[name].dtype == values.dtype, name
        assert found.truth[f"{name}_path"].is_file()
    np.testing.assert_array_equal(found.inputs.views, made.inputs.views)
    np.testing.assert_array_equal(found.inputs.centre_image, made.inputs.views[1, 2])
    assert found.inputs.parameters == replace(PARAMETERS, scene="cotton", category="training")
    assert found.inputs.disparity_range == (-1.5, 1.2)
    assert found.inputs.rig == found.inputs.parameters.rig
    assert set(found.inputs) == {
        "centre_image",
        "disparity_range",
        "parameters",
        "rig",
        "views",
    }


def test_files_are_named_and_coded_as_the_benchmark_has_them(scene):
    names = {path.name for path in scene.iterdir()}
    assert {"input_Cam000.png", "input_Cam014.png", "parameters.cfg"} <= names
    assert {"gt_disp_lowres.pfm", "gt_depth_highres.pfm"} <= names
    assert {"mask_high_contrast_lowres.png", "mask_high_contrast_highres.png"} <= names
    assert {"mask_vertical_bins_highres.png", "mask_boxes_lowres.png"} <= names
    assert not any(".part" in name for name in names)
    assert (scene / "gt_disp_highres.pfm").read_bytes().startswith(b"Pf\n32 24\n-1\n")
    # Row by row from the top left: the second row begins with view 5.
    second_row = io.read_image(scene / "input_Cam005.png")
    np.testing.assert_array_equal(second_row, sample().inputs.views[1, 0])
    codes = io.read_labels(scene / "mask_planes_lowres.png")
    assert set(np.unique(codes)) == {0, 255}
    assert io.stored_dtype(scene / "mask_boxes_lowres.png") == np.uint8
    assert io.stored_dtype(scene / "mask_dots_by_size_lowres.png") == np.uint16


@pytest.mark.parametrize(
    "item",
    [
        "disparity",
        "high_depth",
        "planes_mask",
        "high_planes_mask",
        "high_contrast_mask",
        "high_high_contrast_mask",
        "low_contrast_mask",
        "high_low_contrast_mask",
        "boxes_labels",
        "high_noise_bins_labels",
        "high_material_labels",
    ],
)
def test_names_of_items_and_files_are_each_others_inverse(item):
    file = file_of(item)
    assert file is not None
    assert item_of(file) == item
    assert ("highres" in file) == (item.startswith("high_") and item != "high_contrast_mask")


def test_other_items_and_files_have_no_counterpart():
    assert file_of("disparity_path") is None
    assert file_of("normals") is None
    assert file_of("../escape_mask") is None
    assert item_of("mask_fine.png") is None
    assert item_of("gt_disp_lowres_Cam000.pfm") is None
    assert item_of("objectids_highres.png") is None


def test_reading_and_writing_again_changes_nothing(tmp_path):
    write(tmp_path / "a", [sample()])
    write(tmp_path / "b", samples(tmp_path / "a", "all"))
    first, second = tmp_path / "a/training/cotton", tmp_path / "b/training/cotton"
    assert {p.name for p in first.iterdir()} == {p.name for p in second.iterdir()}
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_categories_or_scenes_directly_and_their_splits(tmp_path):
    names = ("cotton", "dots", "antinous", "herbs", "my_scene")
    write(tmp_path, [sample(name) for name in names])
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ("additional", "other", "stratified", "test", "training")
    )
    flat = tmp_path / "flat"
    flat.mkdir()
    for name in names:
        shutil.copytree(tmp_path / category_of(name) / name, flat / name)
    shutil.rmtree(tmp_path / "flat/herbs/")
    (flat / "notes").mkdir()
    (flat / "notes/readme.txt").write_text("none of ours")
    expected = {
        "stratified": ["dots"],
        "training": ["cotton"],
        "additional": ["antinous"],
        "benchmark": ["cotton", "dots"],
        "all": ["antinous", "cotton", "dots", "my_scene"],
    }
    for split, ids in expected.items():
        assert [s.id for s in samples(flat, split)] == ids
    shutil.rmtree(flat)
    assert [s.id for s in samples(tmp_path, "all")] == sorted(names)
    assert [s.id for s in samples(tmp_path, "benchmark")] == ["cotton", "dots", "herbs"]
    assert [s.id for s in samples(tmp_path / "training", "all")] == ["cotton"]
    with pytest.raises(BadData, match="no sample of split 'stratified'"):
        samples(tmp_path / "training", "stratified")
    with pytest.raises(UnknownName, match=r"hci4d split 'trainig'.*training"):
        samples(tmp_path, "trainig")


def test_a_scene_may_be_there_once(tmp_path):
    write(tmp_path, [sample()])
    write(tmp_path, [sample()], category="test")
    with pytest.raises(BadData, match="cotton: is in training and in test"):
        samples(tmp_path, "all")


def test_a_root_that_is_a_scene(scene):
    with pytest.raises(BadData, match="the folder of one scene"):
        samples(scene, "all")


def test_a_scene_without_truth(scene):
    for path in scene.glob("gt_*"):
        path.unlink()
    assert only(scene.parent).truth is None


def test_a_scene_with_low_resolution_only(scene):
    for path in scene.glob("*_highres.*"):
        path.unlink()
    found = only(scene.parent)
    high = {name for name in found.truth if name.startswith("high_")}
    assert high == {"high_contrast_mask", "high_contrast_mask_path"}  # which is of Stripes
    assert {"disparity", "planes_mask"} <= set(found.truth)


def test_without_parameters_a_square_grid_is_taken(tmp_path):
    made = sample()
    square = Sample("antinous", Inputs({"views": made.inputs.views[:, :3]}), made.truth)
    write(tmp_path, [square])
    found = only(tmp_path, "additional")
    assert not (found.inputs.keys() & {"rig", "parameters", "disparity_range"})
    np.testing.assert_array_equal(found.inputs.views, square.inputs.views)
    np.testing.assert_array_equal(found.inputs.centre_image, square.inputs.views[1, 1])
    (tmp_path / "additional/antinous/input_Cam008.png").unlink()
    assert set(only(tmp_path).inputs) == set()


def test_the_truth_stays_out_of_the_inputs(scene):
    found = only(scene.parent)
    assert not [name for name in found.inputs if "path" in name or "mask" in name]


def test_nothing_is_read_before_it_is_asked_for(scene):
    for path in scene.iterdir():
        path.write_bytes(b"damaged")
    found = only(scene.parent)
    for items in (found.inputs, found.truth):
        for name in items:
            if not name.endswith("_path"):
                with pytest.raises(BadFile, match=str(scene)):
                    items[name]


def test_a_sample_can_be_sent_to_another_process(scene):
    found = only(scene.parent)
    before = found.truth.high_disparity
    data = pickle.dumps(found)
    assert len(data) < 10_000
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.truth.high_disparity, before)
    np.testing.assert_array_equal(again.inputs.views, found.inputs.views)
    assert truth_hash(again) == truth_hash(found)


@pytest.mark.parametrize("name", ["planes_mask", "boxes_labels"])
def test_masks_of_another_size(scene, name):
    put_png(scene / str(file_of(name)), np.ones((6, 9), np.uint8))
    with pytest.raises(WrongShape, match=r"is 9x6 but gt_disp_lowres\.pfm is 8x6"):
        only(scene.parent).truth[name]


def test_masks_are_what_is_not_zero_and_labels_are_exact(scene):
    codes = np.zeros(LOW, np.uint8)
    codes[0, :3] = 1, 128, 255
    put_png(scene / "mask_planes_lowres.png", codes)
    put_png(scene / "mask_boxes_lowres.png", codes.astype(np.uint16) * 257)
    found = only(scene.parent).truth
    assert found.planes_mask.sum() == 3
    assert found.boxes_labels[0, :3].tolist() == [257, 128 * 257, 65535]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda s: (s / "input_Cam007.png").unlink(), "has 14 views but its grid is 5x3, 15 views"),
        (
            lambda s: io.write_image(s / "input_Cam003.png", np.zeros((4, 8, 3), np.uint8)),
            r"Cam003.*8x4; expected RGB of 8 bits, 8x6",
        ),
        (
            lambda s: io.write_image(s / "input_Cam003.png", np.zeros(LOW, np.uint8)),
            "is a grey image",
        ),
        (
            lambda s: io.write_image(s / "input_Cam003.png", np.zeros((*LOW, 3), np.uint16)),
            "of 16 bits",
        ),
    ],
)
def test_views_that_are_not_right(scene, damage, words):
    damage(scene)
    with pytest.raises(BadData, match=words):
        only(scene.parent).inputs["views"]


def test_a_truncated_view_is_named(scene):
    path = scene / "input_Cam002.png"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadFile, match="input_Cam002"):
        only(scene.parent).inputs["views"]


def test_a_huge_grid_is_refused_before_anything_is_made(scene):
    text = (scene / "parameters.cfg").read_text()
    for grid, error in (("1000000000", BadFile), ("1000", BadData)):
        changed = text.replace("num_cams_x = 5", f"num_cams_x = {grid}")
        (scene / "parameters.cfg").write_text(changed)
        with pytest.raises(error, match=r"num_cams_x is a whole number|grid is 1000x3"):
            only(scene.parent).inputs["views"]


def test_huge_views_are_refused_before_anything_is_made(scene):
    text = (scene / "parameters.cfg").read_text()
    changed = text.replace("x_px = 8", "x_px = 1000000").replace("y_px = 6", "y_px = 1000000")
    (scene / "parameters.cfg").write_text(changed)
    with pytest.raises(TooLarge, match="15 views of 1000000x1000000"):
        only(scene.parent).inputs["views"]


def test_parameters_without_a_range(scene):
    text = (scene / "parameters.cfg").read_text()
    (scene / "parameters.cfg").write_text(text.replace("disp_min = -1.5\n", ""))
    with pytest.raises(BadData, match="has no disp_min and disp_max"):
        only(scene.parent).inputs["disparity_range"]


def test_truth_in_colour_is_no_disparity(scene):
    path = scene / "gt_disp_lowres.pfm"
    path.write_bytes(b"PF\n8 2\n-1\n" + bytes(8 * 2 * 3 * 4))
    with pytest.raises(BadFile, match=r"disparity is a map \(H, W\)"):
        only(scene.parent).truth["disparity"]


def test_parameters_are_made_from_a_rig(tmp_path):
    made = sample()
    inputs = Inputs({"views": made.inputs.views, "rig": PARAMETERS.rig})
    write(tmp_path, [Sample("my_scene", inputs, made.truth)])
    found = only(tmp_path).inputs.parameters
    assert (found.scene, found.category) == ("my_scene", "other")
    assert found.grid == (3, 5)
    assert found.depth_map_scale == 4
    assert found.focus_distance_m == pytest.approx(4.25)
    # In tenths, at least a tenth beyond the truth: as the benchmark's renderer writes it.
    high = made.truth.high_disparity
    low_px, high_px = found.disparity_range
    assert high.min() - 0.2 <= low_px <= high.min() - 0.1
    assert high.max() + 0.1 <= high_px <= high.max() + 0.2
    given = Inputs({**inputs, "disparity_range": (-3, 4)})
    write(tmp_path, [Sample("my_scene", given, made.truth)], overwrite=True)
    assert only(tmp_path).inputs.disparity_range == (-3, 4)


def test_missing_truth_is_infinite_in_the_file(tmp_path):
    made = sample()
    values = made.truth.disparity.copy()
    values[0, 0] = np.nan
    write(tmp_path, [Sample("cotton", made.inputs, Truth({"disparity": values}))])
    found = only(tmp_path)
    assert np.isnan(found.truth.disparity[0, 0])
    assert np.isposinf(io.read_map(found.truth.disparity_path, raw=True)[0, 0])


def test_a_scene_is_replaced_only_when_told(tmp_path):
    write(tmp_path, [sample()])
    folder = tmp_path / "training/cotton"
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="already contains a scene; use --overwrite"):
        write(tmp_path, [sample()])
    made = sample(seed=1)
    fewer = Inputs(
        {
            "views": made.inputs.views[:, :3],
            "parameters": replace(PARAMETERS, num_cams_x=3),
        }
    )
    write(tmp_path, [Sample("cotton", fewer, None)], overwrite=True)
    found = only(tmp_path)
    assert found.truth is None  # nothing is left of the scene that was there
    np.testing.assert_array_equal(found.inputs.views, fewer.views)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_scene_that_cannot_be_written_leaves_the_old_one(tmp_path):
    write(tmp_path, [sample()])
    wrong = Truth({**sample().truth, "fine_mask": np.ones((3, 3), bool)})
    with pytest.raises(WrongShape):
        write(tmp_path, [Sample("cotton", sample().inputs, wrong)], overwrite=True)
    np.testing.assert_array_equal(only(tmp_path).truth.fine_mask, sample().truth.fine_mask)


def test_a_scene_can_be_written_over_itself(tmp_path):
    write(tmp_path, [sample()])
    write(tmp_path, samples(tmp_path, "all"), overwrite=True)
    np.testing.assert_array_equal(only(tmp_path).inputs.views, sample().inputs.views)


def test_what_cannot_be_written(tmp_path):
    made = sample()
    with pytest.raises(Misuse, match="has a '/'"):
        write(tmp_path, [sample("training/cotton")])
    with pytest.raises(UnknownName, match=r"category of scenes 'trainng'.*training"):
        write(tmp_path, [made], category="trainng")
    for name in ("fine_mask", "high_boxes_labels"):
        wrong = Truth({**made.truth, name: np.ones((3, 3), bool)})
        with pytest.raises(WrongShape, match=f"{name} is 3x3 but the truth"):
            write(tmp_path / name, [Sample("cotton", made.inputs, wrong)])
    other_grid = Inputs({**made.inputs, "views": made.inputs.views[:, :4]})
    with pytest.raises(WrongShape, match=r"the parameters say \(3, 5\)"):
        write(tmp_path / "b", [Sample("cotton", other_grid, None)])
    labels = Truth({"boxes_labels": np.full(LOW, 70000)})
    with pytest.raises(DoesNotFit, match=r"labels are 70000\.\.70000"):
        write(tmp_path / "c", [Sample("cotton", Inputs({}), labels)])
    blind = Rig({"right": PARAMETERS.camera}, 0.1)
    with pytest.raises(DoesNotFit, match="camera 'centre'"):
        write(
            tmp_path / "d",
            [Sample("cotton", Inputs({"views": made.inputs.views, "rig": blind}), None)],
        )


def test_estimates_lie_where_the_benchmark_wants_them(tmp_path):
    dataset = DATASETS["hci4d"]
    (tmp_path / "disp_maps").mkdir()
    io.write_map(tmp_path / "disp_maps/cotton.pfm", np.zeros(LOW))
    found = find_estimate(tmp_path, dataset, "cotton", "disparity")
    assert found == tmp_path / "disp_maps/cotton.pfm"
    assert find_estimate(tmp_path, dataset, "dino", "disparity") is None


def test_the_golden_tree(tmp_path):
    script = Path(__file__).parents[1] / "golden" / "hci4d" / "make_inputs.py"
    subprocess.run([sys.executable, script, tmp_path, "--small", "cotton", "dots"], check=True)
    found = {s.id: s for s in samples(tmp_path / "data", "benchmark")}
    assert list(found) == ["cotton", "dots"]
    cotton, dots = found["cotton"], found["dots"]
    assert cotton.truth.disparity.shape == (96, 96)
    assert cotton.truth.high_disparity.shape == (960, 960)
    assert cotton.inputs.disparity_range == (-1.6, 1.5)
    assert cotton.truth.high_fine_mask.shape == (960, 960)
    assert "views" not in cotton.inputs
    assert set(np.unique(dots.truth.high_boxes_labels)) == set(range(13))
    # Depth is that of the rig: f b / (d + offset).
    rig = cotton.inputs.rig
    focal_px = rig.cameras["centre"].focal_px[0]
    depth = focal_px * rig.baseline_m / (cotton.truth.disparity + rig.principal_offset_px)
    np.testing.assert_allclose(depth, cotton.truth.depth, rtol=1e-5)


def test_real_views_move_as_their_disparity_says(shared, tmp_path):
    import cv2

    (tmp_path / "antinous").symlink_to(shared("data/lf-hci-antinous"))
    found = only(tmp_path, "additional")
    views, disparity = found.inputs.views, found.truth.disparity
    assert views.shape == (9, 9, 512, 512, 3)
    grey = views.astype(np.float32).mean(axis=-1)
    y, x = np.mgrid[0:512, 0:512].astype(np.float32)
    for row, column in ((4, 8), (0, 4), (8, 2)):
        errors = [
            np.median(
                np.abs(
                    cv2.remap(
                        grey[row, column],
                        x - sign * disparity * (column - 4),
                        y - sign * disparity * (row - 4),
                        cv2.INTER_LINEAR,
                    )
                    - grey[4, 4]
                )
            )
            for sign in (1, -1)
        ]
        assert errors[0] < 1
        assert errors[1] > 2
