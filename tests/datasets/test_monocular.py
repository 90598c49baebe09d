"""Datasets of depth from one picture: round trips in the true layout, splits, and what is wrong."""

import numpy as np
import pytest
from scipy.io import savemat

from depthgauge import io
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.datasets.monocular.ibims import to_camera_axes
from depthgauge.datasets.monocular.tum_rgbd import pair_by_time
from depthgauge.errors import BadData, BadFile, Misuse, Unavailable
from depthgauge.types import Camera, Inputs, Sample, Truth

NAN = np.nan
SIZE = (6, 8)
DRIVE = "2011_09_26_drive_0002_sync"
IDS = {
    "nyu-depth-v2": ("bath_room_00045", "study_00001"),
    "kitti-depth": (f"{DRIVE}_0000000005", f"{DRIVE}_0000000069"),
    "scannet": ("scene0011_00/000000", "scene0015_00/000100"),
    "diode": (
        "indoors/scene_00019/scan_00183/00019_00183_indoors_000_010",
        "outdoor/scene_00022/scan_00193/00022_00193_outdoor_010_020",
    ),
    "tum-rgbd": ("fr1_desk/1305031453.359684", "fr3_walking/1341846313.553992"),
    "eth3d-depth": ("courtyard/DSC_0286", "office/DSC_0219"),
    "sintel-depth": ("alley_1/frame_0001", "bamboo_2/frame_0002"),
    "ibims-1": ("corridor_01", "kitchen_02"),
    "mattes": ("m_0a", "m_1b"),
}
STEP = {"nyu-depth-v2": 1e-3, "kitti-depth": 1 / 256, "scannet": 1e-3, "tum-rgbd": 1 / 5000}
STEP["ibims-1"] = 50 / 65535


def depth_map(seed=0, size=SIZE):
    values = np.random.default_rng(seed).uniform(0.5, 9.5, size).astype(np.float32)
    values[0, :3] = NAN
    return values


def picture(seed=0):
    return np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def planes():
    labels = np.zeros(SIZE, np.int32)
    labels[:3] = 1
    rest = np.zeros(SIZE, np.int32)
    rest[4:] = 2
    return {
        "usable_mask": np.arange(48).reshape(SIZE) % 5 > 0,
        "edges_mask": np.arange(48).reshape(SIZE) % 7 == 0,
        "wall_labels": labels,
        "table_labels": np.zeros(SIZE, np.int32),
        "floor_labels": rest,
        "wall_planes": np.array([[0.1, -1.0, 0.0, 5.2]]),
        "table_planes": np.zeros((0, 4)),
        "floor_planes": np.array([[0.0, 0.0, -1.0, -1.5], [0.0, 0.1, -1.0, -1.0]]),
    }


def sample(name, sample_id, seed):
    truth = {"depth": depth_map(seed)}
    inputs = {"left_image": picture(seed)}
    if name == "ibims-1":
        truth |= planes()
        inputs["camera"] = Camera((560.25, 558.5), (320.75, 242.5), SIZE[::-1])
    if name == "mattes":
        truth = {"matte_mask": truth["depth"] > 5}
    return Sample(sample_id, Inputs(inputs), Truth(truth))


@pytest.fixture(params=list(IDS))
def written(request, tmp_path):
    """A dataset's name, its folder, and the samples in it."""
    samples = [
        sample(request.param, sample_id, k) for k, sample_id in enumerate(IDS[request.param])
    ]
    DATASETS[request.param].write(tmp_path / "data", iter(samples))
    return request.param, tmp_path / "data", samples


def test_what_was_written_is_read_again(written):
    name, root, samples = written
    split = DATASETS[name].spec.splits[0]
    found = list(DATASETS[name].samples(root, split))
    assert [s.id for s in found] == [s.id for s in samples]
    for mine, theirs in zip(found, samples, strict=True):
        np.testing.assert_array_equal(mine.inputs.left_image, theirs.inputs.left_image)
        if name == "mattes":
            np.testing.assert_array_equal(mine.truth.matte_mask, theirs.truth.matte_mask)
            assert np.isnan(mine.truth.depth).all()
            continue
        np.testing.assert_array_equal(np.isnan(mine.truth.depth), np.isnan(theirs.truth.depth))
        half_a_code = STEP.get(name, 0) / 2 + 1e-6
        np.testing.assert_allclose(mine.truth.depth, theirs.truth.depth, atol=half_a_code)
        assert mine.truth.depth.dtype == np.float32


def test_a_second_writing_gives_the_same_map(written, tmp_path):
    name, root, _ = written
    split = DATASETS[name].spec.splits[0]
    DATASETS[name].write(tmp_path / "again", DATASETS[name].samples(root, split))
    first, second = (
        [s.truth.depth for s in DATASETS[name].samples(place, split)]
        for place in (root, tmp_path / "again")
    )
    np.testing.assert_array_equal(first, second)


def test_an_estimate_by_the_samples_own_name_is_found(written, tmp_path):
    name, _, samples = written
    for each in samples:
        path = tmp_path / "mine" / f"{each.id}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.ones(SIZE, np.float32))
        assert find_estimate(tmp_path / "mine", DATASETS[name], each.id, "depth") == path


@pytest.mark.parametrize(
    ("name", "sample_id", "file"),
    [
        ("nyu-depth-v2", "bath_room_00045", "bath_room_rgb_00045.png"),
        ("nyu-depth-v2", "bath_room_00045", "test/bath_room/pred_00045.npy"),
        (
            "kitti-depth",
            f"{DRIVE}_0000000069",
            f"2011_09_26/{DRIVE}/image_02/data/pred_0000000069.npy",
        ),
        ("scannet", "scene0011_00/000000", "scene0011_00/color/pred_000000.npy"),
        ("scannet", "000000", "pred_000000.npy"),
        ("diode", "indoors/a/b", "indoors/a/pred_b.npy"),
        ("diode", "indoors/a/b", "indoors/a/b_mine.npy"),
        (
            "eth3d-depth",
            "office/DSC_0219",
            "rgb/office/images/dslr_images/pred_DSC_0219.npy",
        ),
    ],
)
def test_the_layouts_of_public_programs(tmp_path, name, sample_id, file):
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert find_estimate(tmp_path, DATASETS[name], sample_id, "depth") == path


def test_truth_of_diode_is_no_estimate(tmp_path):
    DATASETS["diode"].write(tmp_path, [sample("diode", "indoors/a", 0)])
    (tmp_path / "indoors/a.png").unlink()
    assert find_estimate(tmp_path, DATASETS["diode"], "indoors/a", "depth") is None


def test_splits_of_nyu_are_folders_and_filled_depth_is_ignored(tmp_path):
    for split, room in (("test", "study"), ("train", "bath")):
        DATASETS["nyu-depth-v2"].write(tmp_path / split, [sample("nyu-depth-v2", f"{room}_1", 0)])
    io.write_map(tmp_path / "test/study/filled_1.png", depth_map(3), "depth", scale=1000)
    ids = {
        s: [x.id for x in DATASETS["nyu-depth-v2"].samples(tmp_path, s)] for s in ("test", "all")
    }
    assert ids == {"test": ["study_1"], "all": ["bath_1", "study_1"]}


def test_depth_by_marigolds_name_and_a_picture_without_depth(tmp_path):
    (tmp_path / "study").mkdir()
    io.write_map(tmp_path / "study/depth_7.png", depth_map(), "depth", scale=1000)
    io.write_image(tmp_path / "study/rgb_8.png", picture())
    with_depth, without = DATASETS["nyu-depth-v2"].samples(tmp_path, "test")
    assert (with_depth.id, without.id) == ("study_7", "study_8")
    assert without.truth is None


def test_eigens_list_chooses_frames(tmp_path):
    for number in (5, 69, 100):
        made = sample("kitti-depth", f"{DRIVE}_{number:010d}", number)
        DATASETS["kitti-depth"].write(tmp_path / "val", [made])
    image = f"2011_09_26/{DRIVE}/image_02/data/{{:010d}}.png"
    depth = f"{DRIVE}/proj_depth/groundtruth/image_02/{{:010d}}.png"
    lines = [f"{image.format(69)} {depth.format(69)} 721.5", f"{image.format(7)} None 721.5"]
    path = tmp_path / "eigen_test_files_with_gt.txt"
    path.write_text("\n".join(lines) + "\n")
    (found,) = DATASETS["kitti-depth"].samples(tmp_path, "eigen")
    assert found.id == f"{DRIVE}_0000000069"
    assert len(list(DATASETS["kitti-depth"].samples(tmp_path, "all"))) == 3
    path.write_text(f"{image.format(8)} {depth.format(8)} 721.5\n")
    with pytest.raises(BadData, match="1 of the 1 frames of the list have no depth map here"):
        list(DATASETS["kitti-depth"].samples(tmp_path, "eigen"))


def test_diode_without_a_mask_and_at_the_wrong_level(tmp_path):
    DATASETS["diode"].write(tmp_path / "val", [sample("diode", "indoors/s/a", 0)])
    with pytest.raises(BadData, match="give the folder that holds it"):
        DATASETS["diode"].samples(tmp_path / "val" / "indoors", "val")
    (found,) = DATASETS["diode"].samples(tmp_path, "val-indoors")
    assert found.id == "indoors/s/a"
    with pytest.raises(BadData, match="no sample of split 'val-outdoor'"):
        DATASETS["diode"].samples(tmp_path, "val-outdoor")
    (tmp_path / "val/indoors/s/a_depth_mask.npy").unlink()
    with pytest.raises(BadData, match=r"there is no a_depth_mask\.npy beside it"):
        list(DATASETS["diode"].samples(tmp_path, "val"))


def test_only_the_mask_decides_in_diode(tmp_path):
    folder = tmp_path / "indoors"
    folder.mkdir()
    np.save(folder / "a_depth.npy", np.array([[1, 2], [0, 400]], np.float32)[:, :, None])
    np.save(folder / "a_depth_mask.npy", np.array([[1, 0], [1, 1]], np.float32))
    (found,) = DATASETS["diode"].samples(tmp_path, "val")
    np.testing.assert_array_equal(found.truth.depth, [[1, NAN], [NAN, 400]])


def test_one_scene_of_scannet_needs_no_folder(tmp_path):
    io.write_map(tmp_path / "000100.png", depth_map(), "depth", scale=1000)
    (found,) = DATASETS["scannet"].samples(tmp_path)
    assert found.id == "000100"


def test_times_are_paired_nearest_first():
    assert pair_by_time([0.0, 0.01], [0.009]) == [(1, 0)]
    assert pair_by_time([0.0], [0.03]) == []
    assert pair_by_time([], [1.0]) == []


def test_a_sequence_without_a_list(tmp_path):
    (tmp_path / "depth.txt").write_text("# a\n1.5 depth/1.5.png\n")
    with pytest.raises(BadData, match=r"there is no rgb\.txt"):
        DATASETS["tum-rgbd"].samples(tmp_path)
    (tmp_path / "rgb.txt").write_text("now rgb/1.png\n")
    with pytest.raises(BadData, match=r"rgb\.txt, line 1: expected a time and a file"):
        DATASETS["tum-rgbd"].samples(tmp_path)


def test_raw_depth_of_another_size_is_named(tmp_path):
    DATASETS["eth3d-depth"].write(tmp_path, [sample("eth3d-depth", "office/a", 0)])
    path = tmp_path / "office/ground_truth_depth/dslr_images/a.JPG"
    path.write_bytes(path.read_bytes()[:-4])
    (found,) = DATASETS["eth3d-depth"].samples(tmp_path)
    with pytest.raises(BadFile, match="has 47 values, which is not the size"):
        found.truth.depth  # noqa: B018


def test_planes_of_ibims_in_camera_axes(tmp_path):
    made = sample("ibims-1", "a", 0)
    DATASETS["ibims-1"].write(tmp_path, [made])
    (found,) = DATASETS["ibims-1"].samples(tmp_path)
    for name in ("usable_mask", "edges_mask", "wall_labels", "floor_planes"):
        np.testing.assert_array_equal(found.truth[name], made.truth[name])
    assert found.inputs.camera == made.inputs.camera
    labels = found.truth.plane_labels
    assert sorted(np.unique(labels)) == [0, 1, 3]  # a wall, no table, the second floor
    wall, _, floor = found.truth.plane_normals
    np.testing.assert_allclose(wall, np.array([0.1, 0, -1]) / np.hypot(0.1, 1), atol=1e-6)
    np.testing.assert_allclose(floor, np.array([0, -1, -0.1]) / np.hypot(0.1, 1), atol=1e-6)
    assert (to_camera_axes(np.array([[0.0, 1.0, 0.0]])) == [[0, 0, -1]]).all()


def test_ibims_as_matlab_files(tmp_path):
    made = planes()
    depth = np.nan_to_num(depth_map())
    paras = {"wall": np.zeros((1, 7)), "floor": np.zeros((2, 7)), "table": np.zeros((0, 7))}
    for kind in ("wall", "floor"):
        paras[kind][:, 4:7] = made[f"{kind}_planes"][:, :3]
    data = {
        "depth": depth,
        "edges": made["edges_mask"].astype(np.uint8),
        "calib": np.array([[560.25, 0, 0], [0, 558.5, 0], [321.75, 243.5, 1]]),
        "mask_invalid": made["usable_mask"].astype(np.uint8),
        "mask_transp": np.ones(SIZE, np.uint8),
        "rgb": picture(),
        **{f"mask_{kind}": made[f"{kind}_labels"].astype(np.uint8) for kind in paras},
        **{f"mask_{kind}_paras": rows for kind, rows in paras.items()},
    }
    savemat(tmp_path / "a.mat", {"data": data})
    (found,) = DATASETS["ibims-1"].samples(tmp_path)
    np.testing.assert_array_equal(found.truth.depth, depth_map())
    np.testing.assert_array_equal(found.truth.usable_mask, made["usable_mask"])
    np.testing.assert_array_equal(found.truth.floor_labels, made["floor_labels"])
    np.testing.assert_array_equal(found.inputs.left_image, picture())
    assert found.inputs.camera == Camera((560.25, 558.5), (320.75, 242.5), SIZE[::-1])
    DATASETS["ibims-1"].write(tmp_path / "png", [sample("ibims-1", "a", 0)])
    (as_pictures,) = DATASETS["ibims-1"].samples(tmp_path / "png")
    for name in ("plane_labels", "plane_normals"):
        np.testing.assert_allclose(found.truth[name], as_pictures.truth[name], atol=1e-6)
    data.pop("edges")
    savemat(tmp_path / "a.mat", {"data": data})
    (found,) = DATASETS["ibims-1"].samples(tmp_path)
    with pytest.raises(BadFile, match="'data' has no edges"):
        found.truth.depth  # noqa: B018


def test_a_missing_mask_of_ibims_is_named(tmp_path):
    DATASETS["ibims-1"].write(tmp_path, [sample("ibims-1", "a", 0)])
    (tmp_path / "edges/a.png").unlink()
    with pytest.raises(BadData, match=r"edges/a\.png: is missing"):
        DATASETS["ibims-1"].samples(tmp_path)


def test_writers_name_what_they_lack(tmp_path):
    bare = Sample("a_1", Inputs({}), None)
    for name in ("nyu-depth-v2", "scannet", "diode"):
        with pytest.raises(Unavailable, match="has no depth"):
            DATASETS[name].write(tmp_path, [bare])
    with pytest.raises(Unavailable, match="has no depth, usable_mask"):
        DATASETS["ibims-1"].write(tmp_path, [bare])
    with pytest.raises(Unavailable, match="has no matte_mask"):
        DATASETS["mattes"].write(tmp_path, [bare])
    with pytest.raises(Misuse, match="must be <sequence>/<time>"):
        DATASETS["tum-rgbd"].write(tmp_path, [sample("tum-rgbd", "a", 0)])
