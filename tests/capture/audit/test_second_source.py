import json

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.audit.second_source import (
    SecondSource,
    compare_depth,
    depth_difference,
    read_second_source,
)
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.geometry.projection import inverse_pose, rays
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.types import Camera

LENS = Camera((175.0, 175.0), (119.5, 89.5), (240, 180), (0.02, -0.01, 0.0, 0.0, 0.0))


def lidar(world, pair, noise_m=0.0, wrong_share=0.0) -> SecondSource:
    """What a lidar near the left camera sees: exact rays, noise, and a share of wild values."""
    second_from_left = np.eye(4)
    second_from_left[:3, 3] = 0.05, 0.03, -0.02
    left = world.truth.cameras["L"].world_from_camera.copy()
    left[:3, :3] = left[:3, :3] @ pair.left.rotation.T  # world from rectified left
    pose = left @ inverse_pose(second_from_left)
    ways = rays(LENS).reshape(-1, 3).astype(np.float64) @ pose[:3, :3].T
    scene = RayScene(world.truth.vertices, world.truth.triangles)
    depth = scene.cast(pose[:3, 3], ways).distance.reshape(180, 240)
    draw = np.random.default_rng(5)
    depth += noise_m * draw.standard_normal(depth.shape)
    depth[draw.random(depth.shape) < wrong_share] += 0.2
    return SecondSource(depth.astype(np.float32), LENS, second_from_left)


def metric_labels(world):
    """Labels whose depth is the true one, whatever the calibration believes."""
    pair, exact = world.pairs["LR"], world.exact["LR"]
    focal = pair.left.camera.focal_px[0] * pair.baseline_m
    return (focal / exact.depth_m - pair.rig().principal_offset_px).astype(np.float32)


def test_an_exact_source_agrees(world):
    pair = world.pairs["LR"]
    off = depth_difference(metric_labels(world), pair, lidar(world, pair))
    known = np.isfinite(off)
    assert known.mean() > 0.5
    # The rays of the labels are those of the estimated lens: off by a tenth of a pixel here.
    assert np.percentile(np.abs(off[known]), 90) < 2e-3


def test_share_within_a_centimetre_and_rmse(world):
    pair = world.pairs["LR"]
    second = lidar(world, pair, noise_m=0.003, wrong_share=0.2)
    regions = {"wall": world.exact["LR"].objects == 0, "board": world.exact["LR"].objects == 2}
    found = compare_depth(metric_labels(world), pair, second, regions)
    # A fifth is 20 cm off; a tail of 3 mm noise beyond 1 cm is 0.1 %.
    assert found["within_1cm_percent"] == pytest.approx(80.0, abs=3.0)
    assert found["inlier_rmse_mm"] == pytest.approx(3.0, abs=0.3)
    assert abs(found["median_mm"]) < 2
    assert found["compared"] > 4000
    planes = found["planes"]
    assert {region["name"] for region in planes["regions"]} == {"wall", "board"}
    assert planes["labels"]["mean_abs_px"] < 0.01
    assert planes["second"]["mean_abs_mm"] > 10 * planes["labels"]["mean_abs_mm"]


def test_plane_residuals_in_px_and_mm(world):
    pair = world.pairs["LR"]
    second = lidar(world, pair, noise_m=0.003)
    wall = {"wall": world.exact["LR"].objects == 0}
    planes = compare_depth(metric_labels(world), pair, second, wall)["planes"]
    # Noise along the axis, on a wall that is turned by 0.1: nearly the distance to the plane.
    expected_mm = 3.0 * np.sqrt(2 / np.pi) * np.cos(np.arctan(0.1))
    assert planes["second"]["mean_abs_mm"] == pytest.approx(expected_mm, rel=0.06)
    # d = f b / z, so dd = d dz / z.
    focal = pair.left.camera.focal_px[0] * pair.baseline_m
    expected_px = focal / 2.15**2 * 0.003 * np.sqrt(2 / np.pi)
    assert planes["second"]["mean_abs_px"] == pytest.approx(expected_px, rel=0.15)


def test_a_wrong_scale_is_seen(world):
    pair = world.pairs["LR"]
    labels = metric_labels(world)
    offset = pair.rig().principal_offset_px
    farther = ((labels + offset) / 1.01 - offset).astype(np.float32)  # depths 1 % too large
    found = compare_depth(farther, pair, lidar(world, pair), {})
    assert found["median_mm"] == pytest.approx(10 * 2.1, rel=0.1)
    assert found["planes"]["labels"] == {"mean_abs_px": None, "mean_abs_mm": None}


def test_hidden_points_are_not_compared(world):
    """The lidar sees the board; wall points behind it, which only L sees, must not count."""
    pair = world.pairs["LR"]
    off = depth_difference(metric_labels(world), pair, lidar(world, pair))
    assert (np.abs(off[np.isfinite(off)]) > 0.3).mean() < 0.01


@pytest.fixture
def files(world, tmp_path):
    second = lidar(world, world.pairs["LR"])
    paths = [tmp_path / name for name in ("depth.npy", "camera.json", "pose.json")]
    io.write_map(paths[0], second.depth_m)
    camera = {"focal_px": [175, 175], "centre_px": [119.5, 89.5], "size_px": [240, 180]}
    paths[1].write_text(json.dumps({**camera, "distortion": list(LENS.distortion)}))
    paths[2].write_text(json.dumps({"second_from_left": second.pose.tolist()}))
    return paths


def test_files_are_read(world, files):
    read = read_second_source(*files)
    made = lidar(world, world.pairs["LR"])
    assert read.camera == made.camera
    assert np.array_equal(read.depth_m, made.depth_m, equal_nan=True)
    assert np.array_equal(read.pose, made.pose)


def test_bad_files_are_one_sentence(files):
    depth, camera, pose = files
    good = pose.read_text()
    pose.write_text(json.dumps({"second_from_left": (2 * np.eye(4)).tolist()}))
    with pytest.raises(Misuse, match="not a rotation"):
        read_second_source(depth, camera, pose)
    pose.write_text("{}")
    with pytest.raises(BadData, match="second_from_left"):
        read_second_source(depth, camera, pose)
    pose.write_text("[1, 2]")
    with pytest.raises(BadData, match="JSON object, found list"):
        read_second_source(depth, camera, pose)
    pose.write_text(good)
    camera.write_text("nonsense")
    with pytest.raises(BadData, match="cannot be read as JSON"):
        read_second_source(depth, camera, pose)
    camera.write_text(json.dumps({"focal_px": [7, 7], "centre_px": [4, 3], "size_px": [9, 7]}))
    with pytest.raises(WrongShape, match="is 240x180 but its camera is 9x7"):
        read_second_source(depth, camera, pose)
