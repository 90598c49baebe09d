"""Labels carried to other views: by hand numbers, and against exact materials."""

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.masks.carry import (
    UNLABELLED,
    CarriedLabels,
    carry_right,
    filled,
    intersection_over_union,
)
from depthgauge.capture.masks.session_masks import CarryOptions, carry_masks, moved_labels
from depthgauge.capture.photographs.motion import Motion
from depthgauge.errors import BadData, WrongShape
from depthgauge.sessions import Session
from depthgauge.types import Camera

N = np.nan


def test_a_board_before_a_wall():
    """The board (class 3, disparity 3) hides the wall (class 1, disparity 0) in each view."""
    labels = np.array([[1, 1, 1, 1, 3, 3, 1, 1]], np.uint8)
    left = np.array([[0, 0, 0, 0, 3, 3, 0, 0]], np.float32)
    found = carry_right(labels, left)
    # Columns 4 and 5 of the right view are wall that the left camera does not see.
    assert found.labels.tolist() == [[1, 3, 3, 1, 255, 255, 1, 1]]
    assert found.holes.sum() == 2
    assert filled(found).tolist() == [[1, 3, 3, 1, 1, 1, 1, 1]]


def test_a_measured_right_view_says_what_a_hole_shows():
    """The hole has a disparity of its own, near to the board's: it is filled with the board."""
    labels = np.array([[1, 1, 1, 3, 3, 1]], np.uint8)
    left = np.array([[0, 0, 0, 3, 3, 0]], np.float32)
    right = np.array([[3, 3, 5.5, 0, 0, 0]], np.float32)
    found = carry_right(labels, left, right)
    assert found.labels.tolist() == [[3, 3, 255, 255, 255, 1]]
    assert filled(found).tolist() == [[3, 3, 3, 1, 1, 1]]


def test_a_hole_takes_the_farther_label_and_a_border_only_one_that_fits():
    labels = np.array([[UNLABELLED, 2, UNLABELLED, 1, UNLABELLED]], np.uint8)
    disparity = np.array([[N, 9, N, 4, N]], np.float32)
    assert filled(CarriedLabels(labels, disparity)).tolist() == [[255, 2, 1, 1, 255]]
    disparity[0, [0, 4]] = 5
    assert filled(CarriedLabels(labels, disparity)).tolist() == [[2, 2, 1, 1, 1]]
    empty = np.full((1, 3), UNLABELLED, np.uint8)
    assert filled(CarriedLabels(empty, np.full((1, 3), N, np.float32))).tolist() == [[255] * 3]


def test_a_hole_at_the_border_looks_above_and_below():
    """To its left is a bowl (2, near), above and below is the table (1), which it shows."""
    labels = np.array([[1, 1, 1], [2, 2, 255], [1, 1, 1]], np.uint8)
    disparity = np.array([[5, 5, 5], [9, 9, 5.2], [5.4, 5.4, 5.4]], np.float32)
    assert filled(CarriedLabels(labels, disparity))[1, 2] == 1
    disparity[1, 2] = 8.5
    assert filled(CarriedLabels(labels, disparity))[1, 2] == 2
    disparity[1, 2] = N
    assert filled(CarriedLabels(labels, disparity))[1, 2] == UNLABELLED, "nothing says which"


def test_disparity_0_changes_nothing_and_unknown_ones_are_holes():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, (300, 40)).astype(np.uint8)
    same = carry_right(labels, np.zeros(labels.shape, np.float32))
    assert np.array_equal(same.labels, labels)
    none = carry_right(labels, np.full(labels.shape, N, np.float32))
    assert none.holes.all()
    with pytest.raises(WrongShape, match="different sizes"):
        carry_right(labels, np.zeros((3, 3), np.float32))


def test_overlap_by_hand():
    found = np.array([[0, 0, 1, 3, 255, 2]])
    truth = np.array([[0, 1, 1, 3, 3, -1]])
    shares = intersection_over_union(found, truth)
    assert shares[0] == 0.5
    assert shares[1] == 0.5
    assert np.isnan(shares[2])
    assert shares[3] == 0.5


def test_a_photograph_that_moved_has_a_mask_that_moved():
    camera = Camera((50.0, 50.0), (9.5, 7.5), (20, 16))
    labels = np.zeros((16, 20), np.uint8)
    labels[5:9, 6:10] = 3
    moved = moved_labels(labels, (Motion("shift", (2.0, -1.0)),), camera)
    assert (moved[4:8, 8:12] == 3).all()
    assert np.count_nonzero(moved == 3) == 16
    assert (moved[15] == UNLABELLED).all(), "what came into the picture is unknown"
    assert (moved[:, :2] == UNLABELLED).all()
    there_and_back = (Motion("shift", (2.0, 0.0)), Motion("shift", (-2.0, 0.0)))
    assert np.array_equal(moved_labels(labels, there_and_back, camera), labels)
    turned = moved_labels(labels, (Motion("turn", (0.0, 0.02, 0.0)),), camera)
    assert np.count_nonzero(turned[5:9, 7:11] == 3) == 16, "0.02 rad of 50 px are one pixel"


@pytest.fixture
def drawn(world, tmp_path):
    """The small world with the true materials drawn on its rectified left picture."""
    work = tmp_path / "work"
    world.begin(work)
    folder = tmp_path / "session"
    (folder / "labels").mkdir(parents=True)
    (folder / "truth").symlink_to(world.folder / "truth")
    labels = np.maximum(world.exact["LR"].materials, 0).astype(np.uint8)
    io.write_image(folder / "labels" / "materials.png", labels)
    for camera in "LRC":
        (folder / "passive" / camera).mkdir(parents=True)
        width, height = world.truth.cameras[camera].size_px
        for k in (0, 1):
            io.write_image(
                folder / "passive" / camera / f"im{k}.png", np.zeros((height, width, 3), np.uint8)
            )
    return Session(folder, "world", None, simulated=True, labels_on="rectified"), work


def test_a_session_s_mask_reaches_all_pictures(drawn, world):
    session, work = drawn
    step = carry_masks(session, work)
    right, centre = step.figures["LR"], step.figures["LC"]
    # Classes of the world: wall 0, floor 1, board 3.
    assert right["true_iou"][2] is None
    for label in (0, 1, 3):
        assert right["true_iou"][label] > 0.97
        assert centre["true_iou"][label] > 0.94, "camera C has half the resolution"
    assert 0 < right["holes_percent"] < 15
    for found in (right, centre):
        assert found["unlabelled"] < 0.15 * found["pixels"], "beyond the border of the left view"
    masks = work / "masks"
    carried = io.read_labels(masks / "LR" / "right.png")
    truth = world.exact["RL"].materials
    assert intersection_over_union(carried, truth)[3] == pytest.approx(right["true_iou"][3])
    for camera in "LRC":
        one, other = (masks / "passive" / camera / f"im{k}.png" for k in (0, 1))
        assert one.read_bytes() == other.read_bytes(), "nothing moved"
        found = io.read_labels(one)
        assert found.shape == world.truth.cameras[camera].size_px[::-1]
        assert (found == 3).any()
    again = carry_masks(session, work)
    assert not again.fresh, "nothing has changed"


def test_holes_may_stay_and_are_then_255(drawn, world):
    session, work = drawn
    step = carry_masks(session, work, options=CarryOptions(fill=False))
    carried = io.read_labels(work / "masks" / "LR" / "right.png")
    holes = carried == UNLABELLED
    assert int(holes.sum()) == step.figures["LR"]["holes"] > 0
    seen = world.exact["RL"].visible & (world.exact["RL"].materials >= 0)
    assert np.count_nonzero(holes & seen) < 0.02 * seen.sum(), "what both see has a label"
    hidden = ~world.exact["RL"].visible
    assert np.count_nonzero(holes & hidden) > 0.8 * np.count_nonzero(holes)


def test_a_session_without_a_mask_says_what_to_do(drawn):
    session, work = drawn
    (session.folder / "labels" / "materials.png").unlink()
    with pytest.raises(BadData, match="draw one with `depthgauge capture edit`"):
        carry_masks(session, work)
