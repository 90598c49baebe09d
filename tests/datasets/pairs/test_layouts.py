"""Tiny fakes in the true layouts of public datasets of image pairs: written, read, misplaced."""

from __future__ import annotations

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.errors import BadData, BadFile, Misuse, Unavailable
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

SHAPE = (6, 8)


def image(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*SHAPE, 3), dtype=np.uint8)


def codes(seed: int, per_px: int, low: float = 1.0, high: float = 60.0) -> np.ndarray:
    """Values that the format holds exactly, with a hole."""
    random = np.random.default_rng(seed)
    values = random.integers(int(low * per_px), int(high * per_px), SHAPE) / per_px
    values[0, 0] = np.nan
    return values.astype(np.float32)


def flow(seed: int, per_px: int = 64) -> np.ndarray:
    u, v = codes(seed, per_px, -20, 20), codes(seed + 9, per_px, -20, 20)
    return np.dstack([u, v])


def mask(seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).random(SHAPE) < 0.7
    found[0, 0] = False
    return found


def rig() -> Rig:
    right = np.eye(4)
    right[0, 3] = 0.54
    cameras = {"left": Camera((721.5, 721.5), (4.0, 3.0), (8, 6))}
    cameras["right"] = Camera((721.5, 721.5), (4.0, 3.0), (8, 6), (), right)
    return Rig(cameras, 0.54)


PICTURES = ("left_image", "right_image", "second_image", "right_next_image")
FLOW_PICTURES = ("first_image", "second_image")


def sample(sample_id: str, pictures: tuple[str, ...], truth: dict, **inputs) -> Sample:
    shown = {name: image(i) for i, name in enumerate(pictures)}
    return Sample(sample_id, Inputs({**shown, **inputs}), Truth(truth))


KITTI_TRUTH = {
    "disparity": codes(1, 256),
    "flow": flow(3),
    "visible_mask": mask(4),
    "flow_visible_mask": mask(6),
}
CASES = {
    "kitti-2015": (
        "training",
        sample(
            "000007_10",
            PICTURES,
            {
                **KITTI_TRUTH,
                "second_disparity": codes(2, 256),
                "second_visible_mask": mask(5),
                "foreground_mask": mask(7),
            },
            rig=rig(),
        ),
        {},
    ),
    "kitti-2012": (
        "training",
        sample("000193_10", PICTURES, {**KITTI_TRUTH, "reflective_mask": mask(8)}, rig=rig()),
        {},
    ),
    "eth3d-two-view": (
        "training",
        sample(
            "delivery_area_1l",
            ("left_image", "right_image"),
            {"disparity": codes(1, 1000), "visible_mask": mask(2)},
            rig=rig(),
            disparity_range=(0, 64),
        ),
        {},
    ),
    "sintel": (
        "final",
        sample(
            "final/alley_1/frame_0009", FLOW_PICTURES, {"flow": flow(1), "matched_mask": mask(2)}
        ),
        {},
    ),
    "middlebury-flow": ("other", sample("Venus", FLOW_PICTURES, {"flow": flow(1)}), {}),
    "sceneflow": (
        "test",
        sample(
            "TEST/C/0149/0015",
            PICTURES,
            {"disparity": codes(1, 64), "second_disparity": codes(2, 64), "flow": flow(3)},
        ),
        {},
    ),
    "spring": (
        "validation",
        sample(
            "0045/FW_left_0007",
            PICTURES,
            {
                "disparity": codes(1, 64),
                "second_disparity": codes(2, 64),
                "flow": flow(3),
                **{f"{name}_mask": mask(4) for name in ("detail", "unmatched", "nonrigid", "sky")},
            },
        ),
        {"task": "flow"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_read_back(name, tmp_path):
    split, given, options = CASES[name]
    dataset = DATASETS[name]
    dataset.write(tmp_path, [given])
    (found,) = dataset.samples(tmp_path, split, **options)
    assert found.id == given.id
    for key in given.inputs:
        if key.endswith("_image"):
            np.testing.assert_array_equal(found.inputs[key], given.inputs[key], err_msg=key)
    for key in given.truth:
        if key.endswith("_mask"):
            part = {"flow": "flow", "second": "second_disparity"}.get(key.partition("_")[0])
            base = given.truth.get(part or "disparity", given.truth.get("flow"))
            known = np.isfinite(base) if base.ndim == 2 else np.isfinite(base).all(axis=2)
            same = found.truth[key] == given.truth[key]
            assert same[known].all(), key
        else:
            np.testing.assert_array_equal(found.truth[key], given.truth[key], err_msg=key)
    if "rig" in given.inputs:
        read = found.inputs.rig
        assert read.baseline_m == pytest.approx(0.54)
        assert read.cameras["left"].focal_px == pytest.approx((721.5, 721.5))
        assert read.cameras["right"].world_from_camera[0, 3] == pytest.approx(0.54)


@pytest.mark.parametrize("name", CASES)
def test_the_layout_is_found_below_its_official_folder_and_named_levels_are_refused(name, tmp_path):
    split, given, options = CASES[name]
    dataset = DATASETS[name]
    official = {
        "kitti-2015": "training",
        "kitti-2012": "training",
        "eth3d-two-view": "two_view_training",
        "sintel": "training",
        "spring": "train",
    }.get(name, ".")
    dataset.write(tmp_path / official, [given])
    (found,) = dataset.samples(tmp_path, split, **options)
    assert found.id == given.id
    with pytest.raises(BadData, match="there is no such folder"):
        dataset.samples(tmp_path / "nowhere", split)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadData, match=f"'{name}'"):
        dataset.samples(tmp_path / "empty", split)


def test_a_folder_too_far_down_or_up_names_the_right_one(tmp_path):
    split, given, _ = CASES["kitti-2015"]
    dataset = DATASETS["kitti-2015"]
    dataset.write(tmp_path / "kitti" / "training", [given])
    with pytest.raises(BadData, match=r"one of the folders of 'kitti-2015'; give .*training"):
        dataset.samples(tmp_path / "kitti" / "training" / "disp_occ_0", split)
    with pytest.raises(BadData, match=r"one level further down; give .*kitti\."):
        dataset.samples(tmp_path, split)
    with pytest.raises(BadData, match="no sample of split 'test'"):
        dataset.samples(tmp_path / "kitti" / "training", "test")


def test_kitti_masks_are_the_noc_maps_and_scene_flow_needs_all_three(tmp_path):
    _, given, _ = CASES["kitti-2015"]
    DATASETS["kitti-2015"].write(tmp_path, [given])
    (found,) = DATASETS["kitti-2015"].samples(tmp_path, "training")
    masks = [given.truth[f"{n}visible_mask"] for n in ("", "second_", "flow_")]
    wanted = np.logical_and.reduce(masks) & np.isfinite(given.truth.disparity)
    np.testing.assert_array_equal(found.truth.scene_flow_visible_mask, wanted)
    stored = io.read_map(tmp_path / "disp_noc_0/000007_10.png", "disparity")
    np.testing.assert_array_equal(np.isfinite(stored), found.truth.visible_mask)


def test_kitti_reads_its_own_bytes(tmp_path):
    """16-bit codes / 256, flow (v - 32768) / 64 with the third channel as validity, by hand."""
    for folder in ("disp_occ_0", "flow_occ"):
        (tmp_path / folder).mkdir()
    disparity = np.array([[0, 256, 65535]], np.uint16)
    io.write_image(tmp_path / "disp_occ_0/000000_10.png", disparity)
    moved = np.array([[[32768 + 64, 32768 - 128, 1], [5, 5, 0], [0, 65535, 1]]], np.uint16)
    io.write_image(tmp_path / "flow_occ/000000_10.png", moved)
    (found,) = DATASETS["kitti-2015"].samples(tmp_path, "training")
    np.testing.assert_array_equal(found.truth.disparity, np.float32([[np.nan, 1, 65535 / 256]]))
    wanted = [[[1, -2], [np.nan, np.nan], [-512, 32767 / 64]]]
    np.testing.assert_array_equal(found.truth.flow, np.float32(wanted))


def test_kitti_calibration_files(tmp_path):
    _, given, _ = CASES["kitti-2015"]
    DATASETS["kitti-2015"].write(tmp_path, [given])
    path = tmp_path / "calib_cam_to_cam/000007.txt"
    left = "721.5 0 609.6 44.86 0 721.5 172.9 0.22 0 0 1 0.003"
    right = "721.5 0 609.6 -339.5 0 721.5 172.9 2.2 0 0 1 0.003"
    path.write_text(f"calib_time: x\nS_rect_02: 1242 375\nP_rect_02: {left}\nP_rect_03: {right}\n")
    (found,) = DATASETS["kitti-2015"].samples(tmp_path, "training")
    assert found.inputs.rig.baseline_m == pytest.approx((44.86 + 339.5) / 721.5)
    assert found.inputs.rig.cameras["left"].size_px == (1242, 375)
    path.write_text("P_rect_02: 1 2\n")
    with pytest.raises(BadFile, match="expected the projections P_rect_02 and P_rect_03"):
        _ = next(iter(DATASETS["kitti-2015"].samples(tmp_path, "training"))).inputs.rig
    path.write_text("P_rect_02: 1 2\nP_rect_03: 1 2\n")
    with pytest.raises(BadFile, match="not twelve numbers"):
        _ = next(iter(DATASETS["kitti-2015"].samples(tmp_path, "training"))).inputs.rig


def test_sintel_bytes_masks_and_last_frames(tmp_path):
    """Red, green and blue of a disparity are 4, 1/64 and 1/16384 px; invalid pixels have none."""
    for folder in ("disparities", "occlusions", "outofframe", "clean_left"):
        (tmp_path / folder / "alley_1").mkdir(parents=True)
    pixels = np.array([[[2, 64, 0], [0, 0, 255]]], np.uint8)
    io.write_image(tmp_path / "disparities/alley_1/frame_0001.png", pixels)
    io.write_image(tmp_path / "outofframe/alley_1/frame_0001.png", np.uint8([[0, 255]]))
    io.write_image(tmp_path / "occlusions/alley_1/frame_0001.png", np.uint8([[255, 0]]))
    (found,) = DATASETS["sintel"].samples(tmp_path, "clean")
    np.testing.assert_array_equal(found.truth.disparity, [[9, np.nan]])
    assert found.truth.visible_mask.tolist() == [[False, True]]
    (tmp_path / "flow/alley_1").mkdir(parents=True)
    with pytest.raises(BadData, match="two folders"):
        DATASETS["sintel"].samples(tmp_path, "clean")


def test_the_last_frame_of_sintel_has_no_flow(tmp_path):
    for number in (1, 2, 3):
        (tmp_path / "clean/alley_1").mkdir(parents=True, exist_ok=True)
        io.write_image(tmp_path / f"clean/alley_1/frame_{number:04d}.png", image(number))
    found = list(DATASETS["sintel"].samples(tmp_path, "clean"))
    assert [s.id for s in found] == ["clean/alley_1/frame_0001", "clean/alley_1/frame_0002"]
    assert [s.truth for s in found] == [None, None]


def test_spring_takes_every_second_value_and_half_of_the_masks(tmp_path):
    large = np.arange(16, dtype=np.float32).reshape(4, 4)
    (tmp_path / "0001/disp1_left").mkdir(parents=True)
    with h5py.File(tmp_path / "0001/disp1_left/disp1_left_0001.dsp5", "w") as file:
        file["disparity"] = large
    (tmp_path / "0001/maps/skymap_left").mkdir(parents=True)
    sky = np.zeros((4, 4), np.uint8)
    sky[0, :2], sky[2, 0] = 255, 255  # half of the first four, a quarter of others
    io.write_image(tmp_path / "0001/maps/skymap_left/skymap_left_0001.png", sky)
    (tmp_path / "0001/maps/matchmap_disp1_left").mkdir(parents=True)
    match = np.uint8([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [0, 0, 0]]])
    io.write_image(tmp_path / "0001/maps/matchmap_disp1_left/matchmap_disp1_left_0001.png", match)
    (found,) = DATASETS["spring"].samples(tmp_path, "train")
    assert found.truth.unmatched_mask.tolist() == [[True, True], [False, False]]  # not by blue
    assert (found.id, found.scene) == ("0001/left_0001", "0001")
    assert found.truth.disparity.tolist() == [[0, 2], [8, 10]]
    assert found.truth.sky_mask.tolist() == [[True, False], [False, False]]
    with pytest.raises(Misuse, match="task is 'depth'"):
        DATASETS["spring"].samples(tmp_path, "train", task="depth")
    with pytest.raises(BadData, match="no sample of split 'validation'"):
        DATASETS["spring"].samples(tmp_path, "validation")


def test_both_cameras_and_directions_of_spring(tmp_path):
    for camera in ("left", "right"):
        for number in (1, 2):
            path = tmp_path / f"0003/frame_{camera}/frame_{camera}_{number:04d}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            io.write_image(path, image(number))
    found = DATASETS["spring"].samples(
        tmp_path, "train", task="flow", camera="both", direction="both"
    )
    by_id = {s.id: s for s in found}
    assert sorted(by_id) == [
        f"0003/{n}"
        for n in sorted(["FW_left_0001", "BW_left_0002", "FW_right_0001", "BW_right_0002"])
    ]
    np.testing.assert_array_equal(by_id["0003/BW_left_0002"].inputs.second_image, image(1))
    assert "left_image" not in by_id["0003/FW_right_0001"].inputs


def test_sceneflow_adds_the_change_of_disparity(tmp_path):
    """PFM by hand: rows from the bottom; flow has a third channel that means nothing."""
    for name, values in (("disparity", [5.0, 7.0]), ("disparity_change", [1.0, -2.0])):
        inner = "" if name == "disparity" else "into_future/"
        path = tmp_path / f"{name}/fast/{inner}left/0001.pfm"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"Pf\n2 1\n-1\n" + struct.pack("<2f", *values))
    path = tmp_path / "optical_flow/fast/into_future/left/OpticalFlowIntoFuture_0001_L.pfm"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PF\n2 1\n-1\n" + struct.pack("<6f", 1, 2, 0, 3, 4, 0))
    (found,) = DATASETS["sceneflow"].samples(tmp_path, "all")
    assert found.id == "fast/0001"
    assert found.truth.second_disparity.tolist() == [[6, 5]]
    assert found.truth.flow.tolist() == [[[1, 2], [3, 4]]]
    with pytest.raises(BadData, match="no sample of split 'train'"):
        DATASETS["sceneflow"].samples(tmp_path, "train")
    with pytest.raises(Misuse, match="finalpass or cleanpass"):
        DATASETS["sceneflow"].samples(tmp_path, "all", image_pass="albedo")


@pytest.mark.parametrize(
    ("name", "sample_id"),
    [
        ("kitti-2015", "7_10"),
        ("sintel", "alley_1/frame_0001"),
        ("spring", "0001/up_0001"),
        ("sceneflow", "0015"),
        ("middlebury-flow", "a/b"),
    ],
)
def test_ids_that_a_layout_cannot_hold_are_refused(name, sample_id, tmp_path):
    given = Sample(sample_id, Inputs({}), Truth({"flow": flow(1)}))
    with pytest.raises(Misuse, match=sample_id):
        DATASETS[name].write(tmp_path, [given])


@pytest.mark.parametrize("name", CASES)
def test_a_sample_without_the_maps_of_the_layout_is_refused(name, tmp_path):
    given = Sample(CASES[name][1].id, Inputs({}), Truth({"depth": codes(1, 2)}))
    with pytest.raises(Unavailable, match="only depth"):
        DATASETS[name].write(tmp_path, [given])


def test_submitted_maps_are_found_where_the_official_folder_has_them(tmp_path):
    places = {
        ("kitti-2015", "000000_10", "disparity"): "disp_0/000000_10.png",
        ("kitti-2015", "000000_10", "flow"): "flow/000000_10.png",
        ("kitti-2012", "000000_10", "flow"): "000000_10.png",
        (
            "eth3d-two-view",
            "delivery_area_1l",
            "disparity",
        ): "low_res_two_view/delivery_area_1l.pfm",
        ("sintel", "clean/alley_1/frame_0001", "flow"): "clean/alley_1/frame_0001.flo",
        ("spring", "0001/left_0002", "disparity"): "0001/disp1_left/disp1_left_0002.dsp5",
        ("spring", "0001/BW_right_0002", "flow"): "0001/flow_BW_right/flow_BW_right_0002.flo5",
        ("middlebury-flow", "Venus", "flow"): "Venus/flow10.flo",
    }
    for number, ((name, sample_id, quantity), place) in enumerate(places.items()):
        root = tmp_path / str(number)
        (root / place).parent.mkdir(parents=True)
        (root / place).write_bytes(b"")
        assert find_estimate(root, DATASETS[name], sample_id, quantity) == root / place


def test_scene_flow_is_read_from_whatever_folders_there_are(tmp_path):
    dataset = DATASETS["kitti-2015"]
    (tmp_path / "flow").mkdir()
    io.write_map(tmp_path / "flow/000000_10.png", flow(1), quantity="flow")
    path = find_estimate(tmp_path, dataset, "000000_10", "image_scene_flow")
    assert path == tmp_path / "flow/000000_10.png"
    found = dataset.estimate_reader(path, "image_scene_flow")
    assert np.isnan(found.values).all()
    assert set(found.parts) == {"flow"}
    for number in (0, 1):
        (tmp_path / f"disp_{number}").mkdir()
        values = codes(number, 256)
        io.write_map(tmp_path / f"disp_{number}/000000_10.png", values, quantity="disparity")
    path = find_estimate(tmp_path, dataset, "000000_10", "image_scene_flow")
    assert path == tmp_path / "disp_0/000000_10.png"
    found = dataset.estimate_reader(path, "image_scene_flow")
    np.testing.assert_array_equal(found.values, codes(0, 256))
    np.testing.assert_array_equal(found.parts["second_disparity"], codes(1, 256))


def test_real_flow_of_middlebury(shared, tmp_path):
    folder: Path = shared("data/flow-rubberwhale")
    sequence = tmp_path / "other-gt-flow/RubberWhale"
    sequence.mkdir(parents=True)
    (sequence / "flow10.flo").symlink_to(folder / "RubberWhale.flo")
    (found,) = DATASETS["middlebury-flow"].samples(tmp_path, "other")
    assert found.truth.flow.shape == (388, 584, 2)
    assert np.isnan(found.truth.flow).any(axis=2).mean() == pytest.approx(0.016, abs=0.002)


def renamed(given: Sample, name: str) -> Sample:
    return Sample(name, given.inputs, given.truth)


def test_the_split_all_has_what_the_folder_has(tmp_path):
    def ids(name, **options):
        return [s.id for s in DATASETS[name].samples(tmp_path / name, "all", **options)]

    for folder, number in (("training", "000001_10"), ("testing", "000002_10")):
        root = tmp_path / "kitti-2015" / folder
        DATASETS["kitti-2015"].write(root, [renamed(CASES["kitti-2015"][1], number)])
    assert ids("kitti-2015") == ["000001_10"]  # both splits have the same ids
    for folder, scene in (("two_view_test", "lakeside_1l"), ("two_view_training", "hall_1l")):
        root = tmp_path / "eth3d-two-view" / folder
        DATASETS["eth3d-two-view"].write(root, [renamed(CASES["eth3d-two-view"][1], scene)])
    assert ids("eth3d-two-view") == ["hall_1l", "lakeside_1l"]
    given = [renamed(CASES["sintel"][1], f"{p}/alley_1/frame_0001") for p in ("clean", "final")]
    DATASETS["sintel"].write(tmp_path / "sintel", given)
    assert ids("sintel") == [sample.id for sample in given]
    for folder, number in (("train", "0045"), ("test", "0003")):
        sample_id = f"{number}/FW_left_0001"
        root = tmp_path / "spring" / folder
        DATASETS["spring"].write(root, [renamed(CASES["spring"][1], sample_id)])
    assert ids("spring", task="flow") == ["0003/FW_left_0001", "0045/FW_left_0001"]
    DATASETS["middlebury-flow"].write(tmp_path / "middlebury-flow", [CASES["middlebury-flow"][1]])
    (tmp_path / "middlebury-flow/eval-data/Army").mkdir(parents=True)
    io.write_image(tmp_path / "middlebury-flow/eval-data/Army/frame10.png", image(1))
    assert ids("middlebury-flow") == ["Army", "Venus"]
