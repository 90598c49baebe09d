import numpy as np
import pytest

from depthgauge.capture.exact_truth import exact_truth, scaled_pair
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.projection import project, to_camera
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import SimulatedTruth
from depthgauge.types import Camera


def ideal_pair(cameras) -> RectifiedPair:
    """Two cameras side by side that are rectified already."""
    views = [
        RectifiedView(c, np.eye(3), Camera(c.focal_px, c.centre_px, c.size_px)) for c in cameras
    ]
    return RectifiedPair(*views, 0.1)


def side_by_side(focal=100.0, size=(60, 40)) -> list[Camera]:
    poses = [np.eye(4), np.eye(4)]
    poses[1][0, 3] = 0.1
    return [Camera((focal, focal), (30.0, 20.0), size, (), pose) for pose in poses]


def wall(depth_m: float, x0: float, x1: float, y1: float = 9.0):
    return [[x0, -y1, depth_m], [x1, -y1, depth_m], [x1, y1, depth_m], [x0, y1, depth_m]]


def walls(*quads, projectors=None, cameras=None) -> SimulatedTruth:
    faces = np.concatenate([[[4 * n, 4 * n + 1, 4 * n + 2], [4 * n, 4 * n + 2, 4 * n + 3]]
                            for n in range(len(quads))]).astype(np.int32)  # fmt: skip
    number = np.repeat(np.arange(len(quads), dtype=np.int32), 2)
    left, right = cameras or side_by_side()
    return SimulatedTruth(
        {"L": left, "R": right}, projectors or {}, np.concatenate(quads).astype(float), faces,
        number, number % 3, number + 10,
    )  # fmt: skip


def test_a_wall_has_the_disparity_of_the_textbook():
    truth = walls(wall(2.0, -9, 9))
    found = exact_truth(truth, ideal_pair(side_by_side()))
    # f b / z = 100 * 0.1 / 2
    assert found.disparity == pytest.approx(5.0, abs=1e-6)
    assert found.depth_m == pytest.approx(2.0, abs=1e-6)
    assert np.abs(found.row_error_px).max() < 1e-6
    assert not found.lit.any()
    assert (found.objects == 10).all()
    # The five columns at the left are outside of the right image.
    assert found.visible.sum(axis=1).tolist() == [55] * 40
    assert not found.visible[:, :5].any()


def test_the_right_view_has_positive_disparities_too():
    found = exact_truth(walls(wall(2.0, -9, 9)), ideal_pair(side_by_side()), side="right")
    assert found.disparity == pytest.approx(5.0, abs=1e-6)
    assert not found.visible[:, -5:].any()


def test_a_board_hides_what_is_behind_it():
    # The board covers slopes -0.1 .. 0.1 of the left camera: columns 20 .. 40, at 10 px disparity.
    truth = walls(wall(2.0, -9, 9), wall(1.0, -0.1003, 0.1003))
    found = exact_truth(truth, ideal_pair(side_by_side()))
    row = found.visible[20]
    assert (found.objects[20, 20:41] == 11).all()
    # The wall seen at x by the left camera is at x - 5 in the right, where the board is 10 .. 30.
    assert row[5:15].all()
    assert not row[15:20].any()
    assert row[20:].all()


def test_light_needs_a_way_and_a_face():
    pose = np.eye(4)
    pose[:3, 3] = -0.3, 0.0, 0.0
    projector = Camera((50.0, 50.0), (50.0, 50.0), (101, 101), (), pose)
    truth = walls(wall(2.0, -9, 9), wall(1.0, -0.1003, 0.1003), projectors={"P": projector})
    found = exact_truth(truth, ideal_pair(side_by_side()))
    assert found.lit[20, 20:41].all()  # the board itself
    # Rays from (-0.3, 0, 0) past the board's rims meet the wall at 2 (0.3 -+ 0.1003) - 0.3.
    assert found.lit[20, :20].all()
    place = 2 * (np.arange(41, 60) - 30) / 100
    lit = (place < 0.0994) | (place > 0.5006)
    assert lit.any()
    assert found.lit[20, 41:].tolist() == lit.tolist()
    # A projector behind the wall lights nothing that is seen.
    pose = np.eye(4)
    pose[:3, 3] = 0.0, 0.0, 4.0
    pose[:3, :3] = np.diag([-1.0, 1.0, -1.0])
    truth = walls(
        wall(2.0, -9, 9), projectors={"P": Camera((9.0, 9.0), (50.0, 50.0), (101, 101), (), pose)}
    )
    assert not exact_truth(truth, ideal_pair(side_by_side())).lit.any()


@pytest.mark.parametrize(("depth_m", "lit"), [(1.98, True), (2.02, False)])
def test_light_under_the_flattest_angle_is_light(depth_m, lit):
    # 2 cm before (or behind) the wall and 1 m beside the axis: cosines of 0.01 to 0.05.
    pose = np.eye(4)
    pose[:3, :3] = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # looks along x
    pose[:3, 3] = -1.0, 0.0, depth_m
    projector = Camera((50.0, 50.0), (50.0, 50.0), (101, 101), (), pose)
    truth = walls(wall(2.0, -9, 9), projectors={"P": projector})
    assert (exact_truth(truth, ideal_pair(side_by_side())).lit == lit).all()


def test_estimated_cameras_move_the_frames_not_the_correspondences(world):
    """An independent walk for single pixels, from the surface to both images."""
    exact, pair = world.exact["LR"], world.pairs["LR"]
    draw = np.random.default_rng(3)
    rows, columns = (draw.integers(8, n - 8, 50) for n in exact.disparity.shape)
    left, right = (world.truth.cameras[name] for name in "LR")
    for y, x in zip(rows, columns, strict=True):
        # The surface point, from the depth along the rectified axis.
        raw = pair.left.to_raw(np.array([[x, y]], float))
        direction = np.append(undistorted(raw[0], left), 1.0)
        forward = (pair.left.rotation @ direction)[2]
        point = direction * exact.depth_m[y, x].astype(float) / forward
        world_point = left.world_from_camera[:3, :3] @ point + left.world_from_camera[:3, 3]
        other = pair.right.from_raw(project(to_camera(world_point[None], right), right))[0]
        assert x - other[0] == pytest.approx(exact.disparity[y, x], abs=2e-3)
        assert other[1] - y == pytest.approx(exact.row_error_px[y, x], abs=2e-3)


def undistorted(raw, camera):
    """By fixed-point iteration, as textbooks do it."""
    k1, k2, p1, p2, k3 = camera.distortion
    bent = (raw - np.array(camera.centre_px)) / np.array(camera.focal_px)
    x, y = bent
    for _ in range(200):
        r2 = x * x + y * y
        q = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
        x = (bent[0] - 2 * p1 * x * y - p2 * (r2 + 2 * x * x)) / q
        y = (bent[1] - p1 * (r2 + 2 * y * y) - 2 * p2 * x * y) / q
    return np.array([x, y])


def test_a_wrong_calibration_is_seen_as_row_error_and_depth_error(world):
    exact, pair = world.exact["LR"], world.pairs["LR"]
    focal, offset = pair.left.camera.focal_px[0], pair.rig().principal_offset_px
    depth = focal * pair.baseline_m / (exact.disparity + offset)
    off = np.abs(depth - exact.depth_m)[np.isfinite(exact.disparity)]
    assert 1e-4 < np.median(off) < 5e-3
    assert 1e-3 < np.abs(exact.row_error_px[exact.visible]).max() < 0.1


def test_tiles_of_any_height_give_the_same(world, monkeypatch):
    pair = scaled_pair(world.pairs["LR"], 50, 38)
    whole = exact_truth(world.truth, pair)
    monkeypatch.setattr("depthgauge.capture.exact_truth._RAYS", 350)
    tiled = exact_truth(world.truth, pair)
    for name in ("disparity", "depth_m", "visible", "lit", "materials"):
        assert np.array_equal(getattr(whole, name), getattr(tiled, name), equal_nan=True)


def test_a_smaller_pair_shows_the_same_scene(world):
    small = exact_truth(world.truth, scaled_pair(world.pairs["LR"], 100, 75))
    full = world.exact["LR"].disparity
    # Pixel (i, j) of the small image has its centre between four of the full one.
    blocks = full.reshape(75, 2, 100, 2)
    objects = world.exact["LR"].objects.reshape(75, 2, 100, 2)
    flat = (np.ptp(blocks, axis=(1, 3)) < 0.5) & (np.ptp(objects, axis=(1, 3)) == 0)
    flat[1:] &= objects[1:, 0, :, 0] == objects[:-1, 0, :, 0]  # not at a crease
    mean = blocks.mean(axis=(1, 3)) / 2
    assert flat.mean() > 0.8
    assert small.disparity[flat] == pytest.approx(mean[flat], abs=1e-4)


def test_a_truth_without_the_camera_is_refused(world):
    with pytest.raises(BadData, match="no camera C"):
        exact_truth(walls(wall(2.0, -9, 9)), world.pairs["LC"], "LC")
    with pytest.raises(Misuse, match="side"):
        exact_truth(world.truth, world.pairs["LR"], side="middle")
