"""The pose of a second depth source from common planes, beside the pose that it has."""

import numpy as np
import pytest

from depthgauge.capture.audit.find_planes import find_planes
from depthgauge.capture.audit.second_pose import pose_from_planes, pose_in_words
from depthgauge.errors import BadData
from depthgauge.geometry.projection import inverse_pose, rays
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.types import Camera

SECOND = Camera((150.0, 150.0), (109.5, 79.5), (220, 160))


def turned(x_deg, y_deg, z_deg, shift):
    import cv2

    pose = np.eye(4)
    pose[:3, :3] = cv2.Rodrigues(np.radians([x_deg, y_deg, z_deg]))[0]
    pose[:3, 3] = shift
    return pose


def room(walls):
    """Rectangles as triangles; a rectangle is a corner and two sides."""
    vertices, triangles = [], []
    for corner, one, two in walls:
        corner, one, two = map(np.array, (corner, one, two))
        start = len(vertices)
        vertices += [corner, corner + one, corner + one + two, corner + two]
        triangles += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return RayScene(np.array(vertices, float), np.array(triangles, np.int32))


BACK = ((-3, -2, 2.6), (6, 0, 0.5), (0, 4, 0))
FLOOR = ((-3, 0.8, 0.2), (6, 0, 0), (0, -0.1, 3.5))
SIDE = ((-1.0, -2, 0.2), (0.25, 0, 3.5), (0, 4, 0))
BOARD = ((0.1, -0.3, 1.5), (0.5, 0, 0.35), (0, 0.6, 0.1))


def depth_seen(scene, camera, pose):
    """Depth of a camera whose pose is 4x4 second from left (world axes are those of the left)."""
    back = inverse_pose(pose)
    ways = rays(camera).reshape(-1, 3).astype(np.float64) @ back[:3, :3].T
    width, height = camera.size_px
    return scene.cast(back[:3, 3], ways).distance.reshape(height, width)


@pytest.fixture(scope="module")
def pair(world):
    return world.pairs["LR"]


def labels_of(scene, pair, noise_px=0.0, seed=1):
    depth = depth_seen(scene, pair.left.camera, np.eye(4))
    focal = pair.left.camera.focal_px[0] * pair.baseline_m
    disparity = focal / depth - pair.rig().principal_offset_px
    noise = noise_px * np.random.default_rng(seed).standard_normal(depth.shape)
    return np.where(np.isfinite(depth), disparity + noise, np.nan).astype(np.float32)


def found_pose(scene, pair, pose, noise_m=0.0, noise_px=0.0, seed=0):
    labels = labels_of(scene, pair, noise_px)
    depth = depth_seen(scene, SECOND, pose)
    depth = depth + noise_m * np.random.default_rng(seed).standard_normal(depth.shape)
    depth = np.where(np.isfinite(depth), depth, np.nan).astype(np.float32)
    return pose_from_planes(labels, pair, find_planes(labels), depth, SECOND)


def apart(one, other):
    turn = one[:3, :3] @ other[:3, :3].T
    angle = np.degrees(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1)))
    return angle, 1000 * np.linalg.norm(one[:3, 3] - other[:3, 3])


@pytest.mark.parametrize(
    "pose",
    [
        turned(0, 0, 0, (0.05, 0.03, -0.02)),
        turned(3, -12, 5, (0.3, -0.1, 0.1)),
        turned(-4, 15, -20, (-0.4, 0.1, 0.0)),
    ],
)
def test_exact_planes_give_the_exact_pose(pair, pose):
    found = found_pose(room([BACK, FLOOR, SIDE, BOARD]), pair, pose)
    angle, shift_mm = apart(found.second_from_left, pose)
    assert angle < 0.02
    assert shift_mm < 0.5
    assert found.planes >= 3
    assert found.rms_mm < 0.2
    assert found.agreed_percent > 80


def test_noise_stays_within_what_is_stated(pair):
    """The error of the position over several draws, beside its stated deviation."""
    pose = turned(3, -12, 5, (0.3, -0.1, 0.1))
    scene = room([BACK, FLOOR, SIDE, BOARD])
    runs = [found_pose(scene, pair, pose, 0.005, 0.02, seed) for seed in range(4)]
    offs = np.array([apart(run.second_from_left, pose) for run in runs])
    assert offs[:, 1].max() < 12.0
    assert offs[:, 0].max() < 0.3
    # Along rays 5 mm; planes are seen at a slant, so the distance to them is less.
    assert all(1.5 < run.rms_mm < 5.0 for run in runs), [run.rms_mm for run in runs]
    assert np.mean(offs[:, 1]) < 3 * np.mean([run.uncertain_mm for run in runs])
    assert "cannot be seen in this comparison" in pose_in_words(runs[0].to_json())


def test_planes_that_can_slide_are_refused(pair):
    """A wall and a floor leave the direction along both free; so do two parallel walls."""
    with pytest.raises(BadData, match="do not fix all six degrees of freedom"):
        found_pose(room([BACK, FLOOR]), pair, turned(0, 5, 0, (0.1, 0, 0)))
    upright = [
        ((-3, -3, 2.6), (6, 0, 0.5), (0, 6, 0)),
        ((-1.0, -3, 0.2), (0.25, 0, 3.5), (0, 6, 0)),
    ]
    third = ((0.2, -3, 1.2), (0.4, 0, 0.3), (0, 6, 0))
    with pytest.raises(BadData, match="do not fix all six degrees of freedom"):
        found_pose(room([*upright, third]), pair, turned(0, 5, 0, (0.1, 0, 0)))


def test_another_scene_does_not_fit(pair):
    labels = labels_of(room([BACK, FLOOR, SIDE, BOARD]), pair)
    other = room(
        [
            ((-3, -2, 1.9), (6, 0, -1.2), (0, 4, 0.8)),
            FLOOR,
            ((1.2, -2, 0.2), (-0.6, 0, 2), (0, 4, 0)),
        ]
    )
    depth = depth_seen(other, SECOND, np.eye(4)).astype(np.float32)
    with pytest.raises(BadData, match=r"no pose of the second source makes|equally well"):
        pose_from_planes(labels, pair, find_planes(labels), depth, SECOND)
    millimetres = 1000 * depth_seen(room([BACK, FLOOR, SIDE, BOARD]), SECOND, np.eye(4))
    with pytest.raises(BadData, match=r"planes found in the second source|no pose"):
        pose_from_planes(labels, pair, find_planes(labels), millimetres.astype(np.float32), SECOND)
