"""Scenes of six cameras: what is written comes back, damage costs only its scene."""

import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import rig_scenes

from depthgauge import io
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.datasets import stereogenbench as sgb
from depthgauge.datasets._stereogen.poses import camera_index, parse_pose
from depthgauge.datasets._stereogen.scene import read_scene, unknown_fields
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.errors import (
    BadData,
    BadFile,
    RunWarning,
    Unavailable,
    UnknownName,
    WrongShape,
)
from depthgauge.types import ClipEstimate, Estimate, Frames

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
SCENE = "train/IPD_Gaussian/Room/scene_000026"
SIZE, LENGTH = (32, 24), 3


def write(root, **changes):
    made = rig_scenes.record(size=SIZE, frames=LENGTH, **changes)
    return sgb.write_scene(root, made, rig_scenes.flat_views(SIZE, LENGTH), scale_m=0.0002)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    root = tmp_path_factory.mktemp("rig")
    write(root)
    write(root, scene_id="scene_000001", split="eval", eval_subset="MapSeenInTrain")
    unseen = {"split": "eval", "eval_subset": "MapUnseenInTrain", "family": "Uniform"}
    write(root, scene_id="scene_000002", map_name="Street", **unseen)
    sgb.write_lists(root)
    return root


@pytest.fixture
def root(written, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copytree(written, tmp_path / "data"))


def read(root, split="all", **options):
    return list(DATASETS["stereogenbench"].samples(root, split, **options))


def edit(path, change):
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))


# --- what is written comes back -------------------------------------------------------------------


def test_a_scene_has_the_files_of_the_release(written):
    found = {path.name for path in (written / SCENE).iterdir()}
    videos = {f"cam_{n:02d}_{kind}" for n in range(6) for kind in ("rgb.mp4", "depth.mkv")}
    description = "scene_description_qwen_dataset_level"
    assert found == videos | {
        *("baseline.json", "trajectory.json", "_scene_complete.json"),
        *(f"{description}.json", f"{description}.txt"),
    }
    told = json.loads((written / SCENE / f"{description}.json").read_text())
    assert (written / SCENE / f"{description}.txt").read_text().strip() == told["detailed_caption"]


def test_any_pair_at_any_frame(written):
    found = {sample.id: sample for sample in read(written, "train", pairs="all")}
    assert len(found) == 15
    views = rig_scenes.flat_views(SIZE, LENGTH)
    for left, right, frame in ((0, 1, 0), (2, 5, 2), (0, 5, 1)):
        sample = found[f"{SCENE}/{left:02d}-{right:02d}"]
        assert (sample.length, sample.scene) == (LENGTH, SCENE)
        view = 255 * sample.truth["view"][frame]
        assert np.abs(view - views[frame][right][0]).mean() < 2
        np.testing.assert_allclose(
            sample.inputs["depth"][frame], views[frame][left][1], atol=0.000101
        )
        focal_px = 24.0 / 23.76 * SIZE[0]
        gap_m = sum(rig_scenes.ADJACENT_CM[left:right]) / 100
        expected = focal_px * gap_m / (2 + left / 10 + frame)
        assert sample.truth["disparity"][frame][3, 4] == pytest.approx(expected, rel=1e-4)
        assert np.isnan(sample.truth["disparity"][frame][0, 0])
        assert sample.truth["baseline_m"] == pytest.approx(gap_m, abs=1e-12)


def test_cameras_are_those_of_the_recorded_lens(written):
    (sample,) = read(written, "train")
    left, right = (sample.inputs["rig"].cameras[side] for side in ("left", "right"))
    width, height = SIZE
    assert left.focal_px == pytest.approx((24 / 23.76 * width, 24 / 23.76 * height))
    assert left.centre_px == ((width - 1) / 2, (height - 1) / 2)
    moved = np.linalg.inv(left.world_from_camera) @ right.world_from_camera
    np.testing.assert_allclose(moved[:3, 3], [0.06351179, 0, 0], atol=1e-9)


def test_the_principal_point_can_be_overridden(root):
    path = root / SCENE / "baseline.json"
    edit(path, lambda b: b["camera_intrinsics"].update(principal_point_px=[10.5, 9]))
    assert read_scene(root / SCENE).centre_px == (10.5, 9.0)


def test_splits_follow_the_folders(written):
    def ids(split, **options):
        return [s.id.split("/")[-2] for s in read(written, split, **options)]

    assert ids("train") == ["scene_000026"]
    assert ids("eval-seen-map") == ["scene_000001"]
    assert ids("eval-unseen-map") == ["scene_000002"]
    assert len(ids("eval")) == 2
    assert len(ids("all")) == 3
    assert ids("all", family="Uniform") == ["scene_000002"]
    with pytest.raises(BadData, match="no sample of split 'train'"):
        read(written / "eval", "train")
    assert [s.id for s in read(written / "train", "train")] == [
        "IPD_Gaussian/Room/scene_000026/00-01"
    ]


def test_a_tier_is_given_exactly_its_inputs(written):
    wanted = {"G2": ["left_image"], "G1": ["left_image", "rig"]}
    wanted["G0"] = ["depth", "disparity", "left_image", "rig"]
    for tier, inputs in wanted.items():
        (sample,) = read(written, "train", tier=tier)
        assert list(sample.inputs) == inputs
        assert {"view", "wrong_view", "disparity", "right_depth"} <= set(sample.truth)
    with pytest.raises(UnknownName, match="G3"):
        read(written, tier="G3")


def test_the_same_data_serve_stereo_matching_and_depth(written):
    (sample,) = read(written, "train", task="matching")
    assert list(sample.inputs) == ["left_image", "rig", "right_image"]
    right = sample.truth["right_disparity"][1][3, 4]
    assert right == pytest.approx(sample.truth["disparity"][1][3, 4] * 3.0 / 3.1, rel=1e-4)
    cameras = read(written, "train", task="depth", every=2)
    assert [s.id for s in cameras] == [f"{SCENE}/cam_{n:02d}" for n in range(6)]
    assert (cameras[4].length, cameras[4].truth["focal_px"]) == (2, pytest.approx(24 / 23.76 * 32))
    assert cameras[4].truth["depth"][1][3, 4] == pytest.approx(2.4 + 2, abs=1e-4)
    assert cameras[4].inputs["left_image"][0].dtype == np.uint8


def test_frames_can_be_read_in_another_process(written):
    (sample,) = read(written, "train")
    again = pickle.loads(pickle.dumps(sample))
    np.testing.assert_array_equal(again.truth["view"][2], sample.truth["view"][2])


def test_a_copied_right_view_scores_perfectly(written):
    (sample,) = read(written, "train")
    body = {"id": "v", "version": 1, "dataset": "stereogenbench", "quantity": "view"}
    scores = [{"metric": "mae"}, {"metric": "rms"}]
    protocol = make_protocol({**body, "pool": "image", "scores": scores}, "test")
    judge = Judge(Rules.of(protocol, [sample]))
    for shift, wanted in ((0.0, 0.0), (0.1, 0.1)):
        frames = [Estimate(f - np.float32(shift), "view") for f in sample.truth["view"]]
        found = judge.score_map(sample, lambda f=frames: ClipEstimate(Frames(f), "view"))
        assert found.scores["mae@all"].value == pytest.approx(wanted, abs=1e-6)
        assert found.scores["mae@all"].count == LENGTH * SIZE[0] * SIZE[1]


def test_the_row_of_the_release_is_reproduced(written):
    """scene_000026 of the public dataset, as its page shows it."""
    row = next(row for row in sgb.read_manifest(written) if row["scene_id"] == "scene_000026")
    assert row["baselines_adjacent_cm"] == list(rig_scenes.ADJACENT_CM)
    assert row["baseline_min_cm"] == 6.14057
    assert row["baseline_max_cm"] == pytest.approx(33.26141, abs=1e-9)
    assert row["baseline_mean_cm"] == pytest.approx(15.583685, abs=1e-6)
    assert row["baseline_std_cm"] == pytest.approx(8.336864, abs=1e-6)
    assert (row["num_frames"], row["path"]) == (LENGTH, SCENE)


def test_all_descriptions_are_in_one_file(written):
    path = written / "metadata/scene_descriptions_qwen_dataset_level.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 3
    assert found[0]["short_caption"] == "A room with two boxes."
    assert {"scene_type", "setting", "primary_elements", "spatial_layout"} <= set(found[0])


def test_the_loading_example_of_the_paper_runs_unchanged(written, tmp_path, monkeypatch, shared):
    """The Python of its appendix A, on a scene of ours at the path that it names."""
    paper = shared("seeds/stereogenbench.txt").read_text()
    example = paper[paper.index("import json, re, av") : paper.index("## Appendix B")]
    path = re.search(r'Path\("(.*)"\)', example)[1]
    shutil.copytree(written / "eval/MapSeenInTrain/IPD_Gaussian/Room/scene_000001", tmp_path / path)
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(compile(example, "appendix A", "exec"), space)
    assert (space["L_idx"], space["R_idx"], space["B_cm"]) == (0, 1, 6.351179)
    assert space["fx_px"] == pytest.approx(24 / 23.76 * 32)
    (sample,) = read(written, "eval-seen-map", tier="G2")
    np.testing.assert_array_equal(space["I_L"], sample.inputs["left_image"][0])
    assert space["I_R"].shape == (24, 32, 3)


# --- variants -------------------------------------------------------------------------------------


def test_cameras_by_number_or_name(root):
    scene = root / SCENE
    names = read_scene(scene)
    edit(scene / "baseline.json", lambda b: b.update(primary_stereo_pair=[0, 1]))

    def by_name(body):
        for frame in body["frames"]:
            frame["cameras"] = {
                c.pop("camera_name"): {k: v for k, v in c.items() if k != "camera_index"}
                for c in frame["cameras"]
            }

    edit(scene / "trajectory.json", by_name)
    numbers = read_scene(scene)
    assert numbers.primary == names.primary == (0, 1)
    np.testing.assert_array_equal(numbers.poses, names.poses)
    assert [camera_index(x) for x in (3, "Rig_Cam_03", "cam03")] == [3, 3, 3]


@given(st.floats(-180, 180), st.floats(-85, 85), st.floats(-180, 180))
def test_rotations_of_all_kinds_agree(yaw, pitch, roll):
    """Unreal's rotator against rotations one after the other, and quaternions against it."""
    body = {"location": {"x": 1, "y": 2, "z": 3}}
    rotator = {"yaw": yaw, "pitch": pitch, "roll": roll}
    found = parse_pose({**body, "rotation": rotator}, "unreal_euler_degrees", 0.01)
    np.testing.assert_allclose(found[:3, 3], [0.02, -0.03, 0.01])
    y, p, r = np.radians([yaw, pitch, roll])
    # In our axes: yaw turns about y (down), clockwise seen from above; pitch lifts z towards -y.
    about_y = [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
    about_x = [[1, 0, 0], [0, np.cos(p), -np.sin(p)], [0, np.sin(p), np.cos(p)]]
    about_z = [[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]]
    turn = np.array(about_y) @ np.array(about_x) @ np.array(about_z)
    np.testing.assert_allclose(found[:3, :3], turn, atol=1e-9)
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    for kind, given_as in (("quaternion_xyzw", [x, y, z, w]), ("quaternion_wxyz", [w, x, y, z])):
        pose = parse_pose({"location": [1, 2, 3], "rotation": given_as}, kind, 1.0)
        np.testing.assert_allclose(pose[:3, :3], turn, atol=1e-9)


def test_a_camera_row_that_runs_to_the_left_has_its_left_camera_first(root):
    path = root / SCENE / "trajectory.json"

    def mirror(body):
        for frame in body["frames"]:
            places = [c["location"] for c in frame["cameras"]]
            for camera, place in zip(frame["cameras"], reversed(places), strict=True):
                camera["location"] = place

    edit(path, mirror)
    assert read_scene(root / SCENE).pairs()[:2] == ((1, 0), (2, 0))


# --- damage ---------------------------------------------------------------------------------------


def left_out(root):
    """The warning about the scene; it has no truth, and the other scenes go on."""
    with pytest.warns(RunWarning, match="left out: ") as warned:
        found = read(root, "all")
    assert [sample.truth is None for sample in found] == [False, False, True]
    assert (found[2].id, found[2].scene) == (SCENE, SCENE)
    assert found[0].truth["view"][2].shape == (24, 32, 3)
    return str(warned[0].message)


def unusable(root):
    """What reading the view says; the other scenes go on."""
    edit(root / SCENE / "_scene_complete.json", lambda body: body.pop("files"))
    found = read(root, "all")
    with pytest.raises(Unavailable) as raised:
        found[2].truth["view"][2]
    assert found[0].truth["view"][2].shape == (24, 32, 3)
    return str(raised.value)


def test_a_missing_camera_is_named(root):
    (root / SCENE / "cam_03_depth.mkv").unlink()
    assert f"{SCENE}: lacks cam_03_depth.mkv" in left_out(root)


def test_a_truncated_video_is_named(root):
    path = root / SCENE / "cam_01_rgb.mp4"
    path.write_bytes(path.read_bytes()[:-600])
    assert "cam_01_rgb.mp4: has " in left_out(root)
    assert re.search(r"cam_01_rgb\.mp4: (cannot be opened|holds no video)", unusable(root))


def test_a_wrong_number_of_frames_is_named(root):
    with io.VideoWriter(root / SCENE / "cam_01_rgb.mp4", SIZE) as video:
        video.add(np.zeros((24, 32, 3), np.uint8))
    assert "cam_01_rgb.mp4: has 1 frames, trajectory.json has 3" in unusable(root)


def test_a_video_of_another_size_is_named(root):
    with io.VideoWriter(root / SCENE / "cam_01_rgb.mp4", (16, 24)) as video:
        for _ in range(LENGTH):
            video.add(np.zeros((24, 16, 3), np.uint8))
    assert "cam_01_rgb.mp4: is 16x24, baseline.json says 32x24" in unusable(root)


def test_an_unfinished_scene_is_named(root):
    (root / SCENE / "_scene_complete.json").unlink()
    assert "lacks _scene_complete.json; the scene is unfinished" in left_out(root)


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("baseline.json", lambda b: b.pop("camera_intrinsics"), "lacks the field 'camera_intr"),
        ("baseline.json", lambda b: b["pairwise_pairs"].pop(), r"see pair \(4, 5\)"),
        ("baseline.json", lambda b: b.update(camera_count=5), "says 5 cameras"),
        ("baseline.json", lambda b: b.update(primary_stereo_pair=[0, 9]), "not two of 6"),
        ("baseline.json", lambda b: b.update(primary_stereo_pair=["left", 1]), "ends in Cam_00"),
        ("baseline.json", lambda b: b["camera_intrinsics"].update(focal_length_mm=0), "positive"),
        ("trajectory.json", lambda b: b.update(frames=[]), "has no frames"),
        ("trajectory.json", lambda b: b.update(frames=[[]]), "a list stands where"),
        ("trajectory.json", lambda b: b.update(unit="inch"), "the unit 'inch'"),
        ("trajectory.json", lambda b: b.update(rotation_representation="?"), "representation"),
        ("trajectory.json", lambda b: b["frames"][1]["cameras"].pop(), "different numbers"),
        ("trajectory.json", lambda b: b["frames"][0]["cameras"].pop(2), "has the cameras"),
        ("trajectory.json", lambda b: b["frames"].reverse(), "frame 0 is called 2"),
        (
            "trajectory.json",
            lambda b: b["frames"][0]["cameras"][0].update(rotation=[[1, 0, 0]] * 3),
            "right angles",
        ),
        (
            "trajectory.json",
            lambda b: b["frames"][0]["cameras"][0].update(location=[0, None, 0]),
            "location|float",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_file(root, file, change, words):
    edit(root / SCENE / file, change)
    with pytest.raises(BadFile, match=rf"{file}: .*({words})"):
        read_scene(root / SCENE)
    assert file in left_out(root)


def test_fields_that_nobody_knows_are_listed(root, written):
    assert list(unknown_fields(written / SCENE)) == []
    edit(root / SCENE / "baseline.json", lambda b: b.update(wetness=3))
    edit(root / SCENE / "trajectory.json", lambda b: b["frames"][1].update(mood="good"))
    assert list(unknown_fields(root / SCENE)) == [
        ("baseline.json", ("wetness",)),
        ("trajectory.json", ("mood",)),
    ]
    assert read(root, "train")[0].length == LENGTH  # they do no harm


def test_a_scene_of_the_wrong_shape_is_not_written(tmp_path):
    made = rig_scenes.record(size=SIZE, frames=2)
    views = rig_scenes.flat_views(SIZE, LENGTH)
    with pytest.raises(WrongShape, match="3 frames were given for 2 poses"):
        sgb.write_scene(tmp_path, made, views)
    with pytest.raises(WrongShape, match="has 5 views for 6 cameras"):
        sgb.write_scene(tmp_path, made, [views[0][:5]])
    with pytest.raises(WrongShape, match="base_poses"):
        sgb.write_scene(tmp_path, replace(made, base_poses=np.eye(4)), views)
    assert not sgb.is_complete(tmp_path, made)
    assert not list(tmp_path.rglob("cam_*"))


def test_the_same_scene_gives_the_same_depth_and_texts(written, tmp_path):
    """Colours are the same to the eye; that x264 gives equal bytes is not promised."""
    write(tmp_path / "again")
    for path in sorted((written / SCENE).iterdir()):
        again = tmp_path / "again" / SCENE / path.name
        if path.suffix == ".mp4":
            first, second = (io.read_video_frame(p, 2).astype(int) for p in (path, again))
            assert np.abs(first - second).mean() < 1
        elif path.name != "_scene_complete.json":  # it has the hashes of the videos
            assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("body", ["{", "[]", '{"adjacent_baselines_cm": [1]}'])
def test_lists_leave_out_a_scene_whose_json_is_damaged(root, body):
    broken = next(root.rglob("scene_000001")) / "baseline.json"
    broken.write_text(body)
    with pytest.warns(RunWarning, match=r"left out of the lists: .*scene_000001/baseline\.json"):
        rows = sgb.write_lists(root)
    assert {row["scene_id"] for row in rows} == {"scene_000026", "scene_000002"}
