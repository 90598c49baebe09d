"""The geometry audit: nothing against rendered scenes, and every planted fault is found."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests import rig_scenes

from depthgauge.datasets import DATASETS
from depthgauge.datasets import stereogenbench as sgb
from depthgauge.datasets._stereogen.scene import read_scene
from depthgauge.engine.auditing.audit import AuditOptions, _audit_sample, audit_dataset
from depthgauge.engine.auditing.colours import match_colours
from depthgauge.engine.auditing.pairs import ViewPair, bilinear, pixel_grid, rig_pair, round_trip
from depthgauge.errors import BadData, UnknownName
from depthgauge.synth.scene.camera import pinhole
from depthgauge.types import Inputs, Rig, Sample, Truth

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
SCENE = "train/IPD_Gaussian/Room/scene_000026"
SCALE_M = 0.0001
FEW = AuditOptions(frames=2)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    root = tmp_path_factory.mktemp("audit")
    sgb.write_scene(root, rig_scenes.record(), rig_scenes.rendered(), scale_m=SCALE_M)
    return root


@pytest.fixture
def root(written, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copytree(written, tmp_path / "data"))


def audit(root, options=FEW):
    (scene,) = audit_dataset(root, options=options).scenes
    return scene


def checks(scene):
    return {finding.check for finding in scene.findings}


def edit(path, change):
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))


def set_lens(root, **fields):
    edit(root / SCENE / "baseline.json", lambda body: body["camera_intrinsics"].update(fields))


def planted(root, change):
    """The rendered scene with views changed by a function of frame, camera, picture and depth."""
    views = rig_scenes.rendered()
    changed = [
        [change(frame, camera, *view) for camera, view in enumerate(row)]
        for frame, row in enumerate(views)
    ]
    sgb.write_scene(root, rig_scenes.record(), changed, scale_m=SCALE_M)
    return root


# --- nothing speaks against what was rendered -----------------------------------------------------


def test_a_rendered_scene_agrees_with_itself(written):
    found = audit_dataset(written, options=AuditOptions(frames=3))
    assert found.ok, found.scenes[0].findings
    (scene,) = found.scenes
    assert scene.pose_baseline_m < 1e-9
    assert scene.turned_deg < 1e-6
    assert scene.valid_depth == 1.0
    assert scene.focal_px == pytest.approx((24 / 23.76 * 96,) * 2)
    adjacent, widest = scene.pairs
    assert (adjacent.pair, widest.pair, adjacent.frames) == ("00-01", "00-05", 3)
    for pair in (adjacent, widest):
        assert pair.reprojection_px < 0.05
        assert pair.visible_share > 0.8
        assert abs(pair.colour_px) < 0.05
        assert abs(pair.vertical_px) < 0.05
        assert pair.matched_share > 0.9
    assert widest.scale == pytest.approx(1, abs=0.002)
    assert 0 < widest.scale_error < 0.003
    assert widest.baseline_m == pytest.approx(0.3326141)


def test_all_pairs_can_be_audited(written):
    scene = audit(written, AuditOptions(frames=1, pairs="all"))
    assert len(scene.pairs) == 15
    assert scene.ok


def test_six_decimals_of_a_centimetre_are_exact_enough(root):
    def shorten(body):
        for frame in body["frames"]:
            for camera in frame["cameras"]:
                camera["location"] = [round(x, 6) for x in camera["location"]]

    edit(root / SCENE / "trajectory.json", shorten)
    assert audit(root).pose_baseline_m < 1e-8


# --- planted faults -------------------------------------------------------------------------------


def test_two_swapped_cameras_are_found_by_their_colours(root):
    scene = root / SCENE
    for kind in ("rgb.mp4", "depth.mkv"):
        (scene / f"cam_01_{kind}").rename(scene / "kept")
        (scene / f"cam_02_{kind}").rename(scene / f"cam_01_{kind}")
        (scene / "kept").rename(scene / f"cam_02_{kind}")
    edit(scene / "_scene_complete.json", lambda body: body.pop("files"))
    found = audit(root)
    assert "colours" in checks(found)
    # Camera 02 is 13.48 cm from camera 00, camera 01 only 6.35 cm.
    assert found.pairs[0].scale == pytest.approx(13.477157 / 6.351179, rel=0.05)


def test_two_swapped_poses_are_found(root):
    def swap(body):
        for frame in body["frames"]:
            first, second = frame["cameras"][1:3]
            first["location"], second["location"] = second["location"], first["location"]

    edit(root / SCENE / "trajectory.json", swap)
    found = audit(root)
    assert {"poses", "colours"} <= checks(found)
    assert any("are two swapped?" in finding.what for finding in found.findings)
    assert found.pose_baseline_m == pytest.approx(0.07125978, abs=1e-6)


def test_a_wrong_focal_length_is_found_by_the_colours(root):
    """Depth comes back to where it was, whatever the focal length is."""
    edit(
        root / SCENE / "baseline.json",
        lambda b: b["camera_intrinsics"].update(focal_length_mm=25.2),
    )
    found = audit(root)
    assert checks(found) == {"colours"}
    assert found.pairs[1].scale == pytest.approx(24 / 25.2, abs=0.005)
    assert found.pairs[1].reprojection_px < 0.25


def test_a_depth_scale_off_by_two_percent_is_found(tmp_path):
    planted(tmp_path, lambda frame, camera, image, depth: (image, 1.02 * depth))
    found = audit(tmp_path)
    assert checks(found) == {"colours"}
    assert found.pairs[1].scale == pytest.approx(1.02, abs=0.005)


def test_a_depth_scale_off_in_one_camera_is_found_by_depth_alone(tmp_path):
    def change(frame, camera, image, depth):
        return image, depth * (1.02 if camera == 1 else 1)

    found = audit(planted(tmp_path, change))
    assert "reprojection" in checks(found)
    assert found.pairs[0].visible_share < 0.05


def test_one_shifted_frame_is_found_and_named(tmp_path):
    views = rig_scenes.rendered()

    def change(frame, camera, image, depth):
        return views[3][1] if (frame, camera) == (2, 1) else (image, depth)

    found = audit(planted(tmp_path, change), AuditOptions(frames=0))
    assert found.pairs[0].worst_frame == 2
    assert found.pairs[0].worst_frame_px > 4 * found.pairs[0].usual_frame_px
    assert any("in frame 2" in finding.what for finding in found.findings)
    assert found.pairs[1].worst_frame_px < 0.25


def test_a_turned_camera_is_found(root):
    def turn(body):
        c, s = np.cos(0.01), np.sin(0.01)
        camera = body["frames"][1]["cameras"][3]
        camera["rotation"] = (
            np.array(camera["rotation"]) @ [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        ).tolist()

    edit(root / SCENE / "trajectory.json", turn)
    found = audit(root)
    assert checks(found) == {"poses"}
    assert found.turned_deg == pytest.approx(np.degrees(0.01), rel=1e-6)


def test_a_sensor_that_does_not_fit_and_holes_in_depth_are_found(tmp_path):
    def change(frame, camera, image, depth):
        return image, np.where(np.arange(96) < 60, np.nan, depth)

    root = planted(tmp_path, change)
    edit(
        root / SCENE / "baseline.json", lambda b: b["camera_intrinsics"].update(sensor_height_mm=20)
    )
    found = audit(root)
    assert {"depth", "lens"} <= checks(found)
    assert found.valid_depth == pytest.approx(36 / 96)


def test_a_damaged_scene_is_named_and_the_others_go_on(root):
    other = root / SCENE.replace("26", "27")
    shutil.copytree(root / SCENE, other)
    path = other / "cam_01_depth.mkv"
    path.write_bytes(path.read_bytes()[:500])
    edit(root / SCENE / "baseline.json", lambda b: b.update(wetness=3))
    found = audit_dataset(root, options=AuditOptions(frames=1))
    assert [checks(scene) for scene in found.scenes] == [{"fields"}, {"files"}]
    assert (
        "baseline.json: has fields that nobody knows: wetness" in found.scenes[0].findings[0].what
    )
    assert str(path) in found.scenes[1].findings[0].what
    assert found.to_json()["failed"] == 2


# --- other layouts --------------------------------------------------------------------------------


def booster_sample(factor=1.0):
    """The widest pair of the rendered scene as a sample of Booster."""
    (left, depth), (right, right_depth) = (rig_scenes.rendered()[0][n] for n in (0, 5))
    made = rig_scenes.record()
    focal, gap = made.focal_mm / 23.76 * 96, sum(made.adjacent_cm) / 100
    pose = np.eye(4)
    pose[0, 3] = gap
    eye = pinhole((96, 96), focal)
    rig = Rig({"left": eye, "right": replace(eye, world_from_camera=pose)}, gap)
    truth = {
        "disparity": (factor * focal * gap / depth).astype(np.float32),
        "right_disparity": (factor * focal * gap / right_depth).astype(np.float32),
    }
    inputs = {"left_image": left, "right_image": right, "rig": rig}
    return Sample("Room/im0", Inputs(inputs), Truth(truth), scene="Room")


@pytest.mark.parametrize(("factor", "faults"), [(1.0, set()), (1.02, {"colours"})])
def test_scenes_in_the_layout_of_booster(tmp_path, factor, faults):
    DATASETS["booster"].write(tmp_path, [booster_sample(factor)])
    found = audit_dataset(tmp_path, "booster", split="train")
    (scene,) = found.scenes
    assert checks(scene) == faults, scene.findings
    assert scene.pairs[0].scale == pytest.approx(1 / factor, abs=0.005)
    assert scene.pairs[0].reprojection_px < 0.05
    assert scene.pose_baseline_m < 1e-6


def test_the_task_of_matching_is_audited_like_any_dataset(written):
    (sample,) = DATASETS["stereogenbench"].samples(written, task="matching")
    scene = _audit_sample(sample, sample.id, FEW)
    assert scene.ok
    assert scene.pairs[0].reprojection_px < 0.05


# --- the parts ------------------------------------------------------------------------------------


def wavy(shift_px=0.0, rows=0.0):
    y, x = np.mgrid[0:60, 0:80].astype(float)
    x, y = x + shift_px, y + rows
    waves = np.sin(x / 3) + np.sin((x + y) / 2.5) + np.sin((x - 2 * y) / 4)
    return np.rint(128 + 35 * waves).astype(np.uint8)


@pytest.mark.parametrize("shift", [-3.4, -0.3, 0.0, 0.25, 2.6])
def test_a_known_shift_of_colours_is_measured(shift):
    """The right picture has a disparity of 4 px plus the shift, depth says 4 px."""
    there = pixel_grid((60, 80))
    there[..., 0] -= 4
    flat = np.full((60, 80), 4.0)
    views = ViewPair(wavy(), wavy(4 + shift, 0.2), there, flat, None, None, flat)
    found = match_colours(views, None, 8)
    assert len(found.along_px) > 0.9 * found.tried > 800
    assert np.median(found.along_px) == pytest.approx(shift, abs=0.005)
    assert np.median(found.across_px) == pytest.approx(-0.2, abs=0.005)
    assert round_trip(views, 0.01) is None


def test_a_plane_is_interpolated_exactly_and_jumps_are_not_crossed():
    y, x = np.mgrid[0:5, 0:6].astype(float)
    values = 2 + 0.1 * x + 0.2 * y
    at = np.array([[[1.25, 2.5], [5.0, 4.0], [5.01, 1.0], [2.5, 4.4]]])
    found = bilinear(values, at)
    np.testing.assert_allclose(found, [[2 + 0.125 + 0.5, 3.3, np.nan, 2.25 + 0.8]])
    values[:, 3:] += 5
    torn = bilinear(values, np.array([[[2.5, 1.0], [2.0, 1.0]]]), spread=0.5)
    np.testing.assert_allclose(torn, [[np.nan, 2.4]])


def test_a_hidden_pixel_does_not_count(written):
    scene = read_scene(written / SCENE)
    views = rig_pair(scene, (0, 5), 0)
    trip = round_trip(views, 0.01)
    # Behind the left edge of the boxes there is wall that only the left camera sees.
    hidden = trip.inside - int(trip.visible.sum())
    assert 0 < hidden < 0.2 * trip.inside


def test_nothing_to_audit_is_said(tmp_path):
    with pytest.raises(BadData, match="has no scene of 'stereogenbench'"):
        audit_dataset(tmp_path)
    with pytest.raises(UnknownName):
        audit_dataset(tmp_path, "boster")
    sample = Sample("a", Inputs({"left_image": np.zeros((4, 4, 3), np.uint8)}), None)
    DATASETS["depthgauge"].write(tmp_path / "d", [sample], id="x", title="x", licence="CC0")
    (scene,) = audit_dataset(tmp_path / "d", "depthgauge").scenes
    assert "no true disparity" in scene.findings[0].what
