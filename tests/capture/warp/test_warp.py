import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.capture.check import check
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.warp.step import homography, seen_by_both, warp, warp_disparity
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.regions.discontinuities import discontinuities
from depthgauge.report.capture import warp as drawn
from depthgauge.types import Camera


@pytest.fixture(scope="module")
def exact_pairs(world):
    """Both pairs from the true cameras, whose labels warp onto each other exactly."""

    def again(pair, names):
        views = [
            replace(view, raw=world.truth.cameras[name])
            for view, name in zip((pair.left, pair.right), names, strict=True)
        ]
        return RectifiedPair(*views, pair.baseline_m)

    made = {}
    for name, pair in world.pairs.items():
        made[name] = again(pair, name)
        left, right = (world.truth.cameras[n].world_from_camera for n in name)
        base = right[:3, 3] - left[:3, 3]
        x = base / np.linalg.norm(base)
        y = np.cross(left[:3, 2] + right[:3, 2], x)
        y /= np.linalg.norm(y)
        axes = np.stack([x, y, np.cross(x, y)])
        views = [
            replace(view, rotation=axes @ pose[:3, :3])
            for view, pose in zip((made[name].left, made[name].right), (left, right), strict=True)
        ]
        made[name] = RectifiedPair(*views, float(np.linalg.norm(base)))
    return made


def test_exact_labels_warp_to_exact_labels(world, exact_pairs):
    truth = {name: exact_truth(world.truth, pair, name) for name, pair in exact_pairs.items()}
    assert np.nanmax(np.abs(truth["LC"].row_error_px)) < 1e-6
    variance = np.full_like(truth["LR"].disparity, 0.04)
    made = warp_disparity(truth["LR"].disparity, variance, exact_pairs["LR"], exact_pairs["LC"])
    error = np.abs(made.disparity - truth["LC"].disparity)
    known = np.isfinite(error)
    inside = known & ~discontinuities(truth["LC"].disparity, jump=0.2, width=5, guard=0)
    # A crease between two planes is no discontinuity: nothing there is interpolated exactly.
    crease = np.zeros_like(inside)
    for n in range(3):
        own = truth["LC"].objects == n
        crease |= own & (np.roll(~own, 1, 0) | np.roll(~own, -1, 0))
    assert (inside & ~crease).mean() > 0.75
    assert error[inside & ~crease].max() < 1e-3
    assert np.median(error[known]) < 1e-6
    # Nowhere a value between two surfaces: each is that of a surface within a pixel's reach.
    around = [
        np.roll(truth["LC"].disparity, (v, u), (0, 1)) for v in (-1, 0, 1) for u in (-1, 0, 1)
    ]
    nearest = np.min([np.abs(made.disparity - each) for each in around], axis=0)
    core = known[2:-2, 2:-2] & np.isfinite(nearest[2:-2, 2:-2])
    assert core.mean() > 0.8
    assert nearest[2:-2, 2:-2][core].max() < 0.1
    factor = np.median(np.sqrt(made.variance[known] / 0.04))
    focal = [p.left.camera.focal_px[0] * p.baseline_m for p in exact_pairs.values()]
    assert factor == pytest.approx(focal[1] / focal[0], rel=0.02)


def test_equations_10_to_14_for_one_pixel(world, exact_pairs):
    """The paper's order: point in the first frame, turned, seen by the second."""
    one, two = exact_pairs["LR"], exact_pairs["LC"]
    plane = np.full((150, 200), 7.0, np.float32)
    made = warp_disparity(plane, plane, one, two).disparity
    u, v = 90, 70
    depth = one.left.camera.focal_px[0] * one.baseline_m / (7.0 + one.rig().principal_offset_px)
    point = depth * np.linalg.inv(one.left.camera.matrix()) @ [u, v, 1]
    turned = two.left.rotation @ one.left.rotation.T @ point
    place = two.left.camera.matrix() @ turned / turned[2]
    there = homography(one.left, two.left) @ [u, v, 1]
    assert there[:2] / there[2] == pytest.approx(place[:2])
    disparity = two.left.camera.focal_px[0] * two.baseline_m / turned[2]
    disparity -= two.rig().principal_offset_px
    x, y = round(place[0]), round(place[1])
    # The nearest pixel, half a pixel away at most, on a surface that changes little.
    assert made[y, x] == pytest.approx(disparity, abs=2e-3)


def pair_of_one(size=(40, 12), focal=100.0, baseline=0.1, right_centre=20.0) -> RectifiedPair:
    camera = Camera((focal, focal), (20.0, 6.0), size)
    other = replace(camera, centre_px=(right_centre, 6.0))
    eye = np.eye(3)
    return RectifiedPair(
        RectifiedView(camera, eye, camera), RectifiedView(other, eye, other), baseline
    )


@given(st.floats(0.05, 0.5), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4))
def test_a_shorter_baseline_scales_disparities(baseline, slope_x, slope_y):
    y, x = np.mgrid[:12, :40]
    values = (21 + slope_x * x + slope_y * y).astype(np.float32)  # above 0 everywhere
    made = warp_disparity(values, values, pair_of_one(), pair_of_one(baseline=baseline))
    assert made.disparity == pytest.approx(values * baseline / 0.1, rel=1e-5)
    assert made.variance == pytest.approx(values * (baseline / 0.1) ** 2, rel=1e-5)


def test_the_offset_of_the_principal_points_counts():
    values = np.full((12, 40), 8.0, np.float32)
    shifted = pair_of_one(right_centre=23.0)  # offset 3: depth = f b / (d + 3)
    assert warp_disparity(values, values, pair_of_one(), shifted).disparity == pytest.approx(5.0)
    assert warp_disparity(values, values, shifted, pair_of_one()).disparity == pytest.approx(11.0)


def half_pixel_to_the_right(pair: RectifiedPair) -> RectifiedPair:
    camera = replace(pair.left.camera, centre_px=(19.5, 6.0))
    other = replace(pair.right.camera, centre_px=(19.5, 6.0))
    return RectifiedPair(
        replace(pair.left, camera=camera), replace(pair.right, camera=other), pair.baseline_m
    )


def test_surfaces_are_not_mixed_and_keep_their_slope():
    values = np.full((12, 40), 4.0, np.float32)
    values[:, 20:] = 9.0 + 0.5 * np.arange(20)
    values[3, 5] = np.nan
    pair = pair_of_one()
    made = warp_disparity(values, values, pair, half_pixel_to_the_right(pair)).disparity
    row = made[8]
    assert row[18] == pytest.approx(4.0)
    # Half-way between two surfaces: of the nearer pixel, continued on its own side.
    assert row[19] == pytest.approx(8.75)
    assert row[20] == pytest.approx(9.25)
    # A missing neighbour is not needed where the nearest pixel has a value; a missing one stays.
    assert np.isnan(made[3]).sum() == 1


def test_what_a_nearer_surface_covers_is_hidden():
    values = np.full((12, 40), 2.0, np.float32)
    values[:, 20:30] = 8.0
    seen = seen_by_both(values, pair_of_one())
    # Columns 14 .. 19 of the wall land on 12 .. 17, where the board (20 .. 29, minus 8) is too.
    assert seen[5].tolist() == [x >= 2 and not 14 <= x < 20 for x in range(40)]


def test_a_slanted_surface_hides_without_gaps():
    values = np.full((1, 60), 1.0, np.float32)
    values[0, 30:50] = 21.0 - 0.9 * np.arange(20)  # 1.9 px apart in the other view
    pair = pair_of_one(size=(60, 1))
    covered = np.floor(30 - 21.0 + 0.5), np.floor(49 - values[0, 49] + 0.5)
    row = seen_by_both(values, pair)[0]
    behind = np.arange(60)[(values[0] == 1.0)]
    expected = [x - 1 >= 0 and not covered[0] <= x - 1 <= covered[1] for x in behind]
    assert row[behind].tolist() == expected


def test_visibility_agrees_with_rays(world, exact_pairs):
    truth = exact_truth(world.truth, exact_pairs["LC"], "LC")
    wrong = seen_by_both(truth.disparity, exact_pairs["LC"]) != truth.visible
    assert wrong[np.isfinite(truth.disparity)].mean() < 0.004


def test_the_step_and_its_picture(world, tmp_path):
    world.begin(tmp_path)
    check(world.session, tmp_path)
    step = warp(world.session, tmp_path)
    made = io.read_map(step.folder / "disp_00.npy")
    error = made - world.exact["LC"].disparity
    # The calibration of C is off by 0.1 px; warping does not know, and does not make it worse.
    assert np.nanpercentile(np.abs(error), 90) < 0.15
    assert step.figures["labelled"] == np.isfinite(made).sum()
    assert 50 < step.figures["labelled_percent"] < 99
    assert io.read_mask(step.folder / "mask_00.png").shape == made.shape
    assert np.isfinite(io.read_map(step.folder / "variance_00.npy")[np.isfinite(made)]).all()
    assert not warp(world.session, tmp_path).fresh
    assert io.read_image(drawn.picture(tmp_path)).shape[2] == 3


def test_bad_input_is_one_sentence(world, tmp_path):
    with pytest.raises(Misuse, match="jump_px"):
        warp(world.session, tmp_path, jump_px=-1)
    with pytest.raises(BadData, match="not done yet"):
        warp(world.session, tmp_path)
    one = world.pairs["LR"].left
    other = replace(one, raw=replace(one.raw, focal_px=(100.0, 100.0)))
    with pytest.raises(BadData, match="differ in focal_px"):
        homography(one, other)


def test_a_session_without_c_has_no_unbalanced_pair(world, tmp_path):
    world.begin(tmp_path)
    check(world.session, tmp_path)
    (tmp_path / "rectify" / "LC.json").unlink()
    record = tmp_path / "rectify" / "step.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "files": {}}))
    with pytest.raises(BadData, match="no pair LC"):
        warp(world.session, tmp_path)


def test_variances_beside_the_border_stay_positive(world):
    # Continued like a line, 0.01 beside 1.0 becomes negative half a px farther out.
    disparity = np.full_like(world.exact["LR"].disparity, 20.0)
    variance = np.full_like(disparity, 1.0)
    variance[:, 0] = variance[:, -1] = variance[0] = variance[-1] = 0.01
    made = warp_disparity(disparity, variance, world.pairs["LR"], world.pairs["LC"])
    again = warp_disparity(disparity, variance, world.pairs["LR"], world.pairs["LR"])
    for found in (made, again):
        known = np.isfinite(found.disparity)
        assert (found.variance[known] > 0).all()
    shifted = replace(world.pairs["LR"].left.camera, centre_px=_moved(world, 0.4))
    view = replace(world.pairs["LR"].left, camera=shifted)
    other = replace(world.pairs["LR"], left=view)
    found = warp_disparity(disparity, variance, world.pairs["LR"], other)
    known = np.isfinite(found.disparity)
    assert known[:, -1].any() or known[:, 0].any()
    assert (found.variance[known] > 0).all()


def _moved(world, by):
    x, y = world.pairs["LR"].left.camera.centre_px
    return (x + by, y + by)
