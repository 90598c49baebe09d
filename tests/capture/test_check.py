import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from depthgauge import io
from depthgauge.capture.check import check, consistent_masks, seem_swapped, swapped_warnings
from depthgauge.capture.labels import rectified_labels
from depthgauge.capture.warp.step import warp_disparity
from depthgauge.errors import BadData, Misuse, WrongShape
from depthgauge.report.capture import check as drawn

values = st.one_of(st.just(float("nan")), st.floats(0, 12, width=32))
maps = arrays(np.float32, (3, 16), elements=values)


def reference(left, right, threshold, sign):
    """Equation (9) pixel by pixel; `sign` is -1 from left to right."""
    height, width = left.shape
    seen = np.zeros(left.shape, bool)
    for y in range(height):
        for x in range(width):
            if np.isnan(left[y, x]):
                continue
            # Half-way positions go to the right from the left view, to the left from the right.
            place = x + sign * float(left[y, x])
            at = int(np.floor(place + 0.5)) if sign < 0 else int(np.ceil(place - 0.5))
            if 0 <= at < width and not np.isnan(right[y, at]):
                seen[y, x] = abs(float(left[y, x]) - float(right[y, at])) <= threshold
    return seen


@given(maps, maps, st.floats(0.25, 4))
def test_both_directions_are_equation_9(left, right, threshold):
    found = consistent_masks(left, right, threshold)
    assert np.array_equal(found["left"], reference(left, right, threshold, -1))
    assert np.array_equal(found["right"], reference(right, left, threshold, 1))


@given(maps, maps)
def test_mirroring_the_pair_exchanges_the_masks(left, right):
    found = consistent_masks(left, right)
    turned = consistent_masks(right[:, ::-1], left[:, ::-1])
    assert np.array_equal(found["left"], turned["right"][:, ::-1])


def test_exact_maps_give_the_true_visibility(world):
    exact = world.exact
    found = consistent_masks(exact["LR"].disparity, exact["RL"].disparity, 2.0)
    for side, name in (("left", "LR"), ("right", "RL")):
        wrong = found[side] != exact[name].visible
        # Along rims, a pixel or none; and no hidden pixel far from one is passed.
        assert wrong.mean() < 0.003
        assert (~exact[name].visible).sum() > 1000


@pytest.fixture
def work(world, tmp_path):
    world.begin(tmp_path)
    return tmp_path


def test_the_step_writes_maps_masks_and_labels(world, work):
    numbers = np.zeros((150, 200), np.uint8)
    numbers[:, 100:] = 3
    path = world.folder / "labels" / "materials.png"
    io.write_image(path, numbers)
    step = check(world.session, work)
    path.unlink()
    disparity = io.read_map(step.folder / "disp_00.npy")
    assert np.array_equal(disparity, world.exact["LR"].disparity, equal_nan=True)
    assert io.read_mask(step.folder / "mask_02.png").sum() == step.figures["right"]["consistent"]
    assert io.read_map(step.folder / "variance_02.npy")[5, 5] == pytest.approx(0.01)
    labels = io.read_labels(step.folder / "mask_cat.png")
    # The half of the raw image that is class 3 is to the right of where its edge is seen.
    edge = world.pairs["LR"].left.from_raw(np.array([[99.5, 75.0]]))[0]
    row = labels[round(edge[1])]
    assert (row[: int(edge[0]) - 1] == 0).all()
    assert (row[int(edge[0]) + 2 : 190] == 3).all()
    assert step.figures["labels"]["materials"]["3"] == int((labels == 3).sum())
    assert any("surfaces.png" in warning for warning in step.warnings)
    assert not (step.folder / "mask_surface.png").exists()
    assert not check(world.session, work, threshold_px=2.0).figures["labels"]  # labels are gone


def test_a_step_is_not_done_twice(world, work):
    assert check(world.session, work).fresh
    assert not check(world.session, work).fresh
    assert check(world.session, work, threshold_px=1.0).fresh


def test_its_picture(world, work):
    io.write_image(world.folder / "labels" / "surfaces.png", np.full((150, 200), 2, np.uint8))
    check(world.session, work)
    (world.folder / "labels" / "surfaces.png").unlink()
    picture = io.read_image(drawn.picture(work))
    assert picture.shape[0] > 600
    assert len(np.unique(picture.astype(np.uint32) @ [1, 256, 65536])) > 100


def test_labels_on_the_rectified_photograph_follow_the_camera(world, tmp_path):
    pair, other = world.pairs["LR"], world.pairs["LC"].left
    numbers = world.exact["LR"].materials.clip(0).astype(np.uint8)
    (tmp_path / "labels").mkdir()
    io.write_image(tmp_path / "labels" / "materials.png", numbers)
    session = replace(world.session, folder=tmp_path, labels_on="rectified")
    assert np.array_equal(rectified_labels(session, "materials", pair, pair.left), numbers)
    there = rectified_labels(session, "materials", pair, other)
    truth = world.exact["LC"].materials
    ones = np.ones(numbers.shape, np.float32)
    both = np.isfinite(warp_disparity(ones, ones, pair, world.pairs["LC"]).disparity)
    assert (there == truth)[both & (truth >= 0)].mean() > 0.99
    io.write_image(tmp_path / "labels" / "materials.png", np.zeros((10, 20), np.uint8))
    with pytest.raises(WrongShape, match="20x10 but the raw left photograph is 200x150"):
        rectified_labels(replace(session, labels_on="raw"), "materials", pair, other)
    io.write_image(tmp_path / "labels" / "materials.png", np.where(numbers > 0, 200, numbers))
    with pytest.raises(BadData, match=r"expected labels 0\.\.3, found 0\.\.200"):
        rectified_labels(session, "materials", pair, pair.left)


def test_bad_input_is_one_sentence(world, work, tmp_path_factory):
    with pytest.raises(Misuse, match="threshold_px"):
        check(world.session, work, threshold_px=0)
    with pytest.raises(BadData, match="step 'rectify' is not done"):
        check(world.session, tmp_path_factory.mktemp("nothing"))
    (work / "clean" / "right_disparity.npy").unlink()
    with pytest.raises(BadData, match="step 'clean' is not done"):
        check(world.session, work)


def test_maps_of_two_sizes_are_refused(world, work):
    world.clean(work, np.ones((150, 200), np.float32), np.ones((75, 100), np.float32))
    with pytest.raises(WrongShape, match="left disparity is 200x150 but the right is 100x75"):
        check(world.session, work)


def test_few_confirmed_labels_are_a_warning(world, work):
    world.clean(work, np.full((150, 200), 5, np.float32), np.full((150, 200), 9, np.float32))
    step = check(world.session, work)
    assert sum("0 % of the" in warning for warning in step.warnings) == 2
    assert json.loads((step.folder / "step.json").read_text())["warnings"] == list(step.warnings)


@pytest.fixture
def pair():
    """Two pictures of a wall at 8 px, with noise."""
    random = np.random.default_rng(1)
    wall = random.integers(0, 255, (40, 90, 3))
    wall = (wall + np.roll(wall, 1, axis=1)) // 2
    left, right = wall[:, 8:88], wall[:, 16:96]
    right = np.pad(wall, ((0, 0), (0, 8), (0, 0)), mode="edge")[:, 16:96]
    noisy = [
        np.clip(x + random.normal(0, 3, x.shape), 0, 255).astype(np.uint8) for x in (left, right)
    ]
    return *noisy, np.full((40, 80), 8.0, np.float32)


def test_only_exchanged_pictures_seem_so(pair):
    left, right, disparity = pair
    assert not seem_swapped(left, right, disparity)
    assert seem_swapped(right, left, disparity)
    assert seem_swapped(right[..., 0], left[..., 0], disparity)


def test_nothing_is_said_where_nothing_can_be_known(pair):
    left, right, disparity = pair
    assert not seem_swapped(right, left, np.full_like(disparity, np.nan))
    assert not seem_swapped(right, left, disparity[:20])
    assert not seem_swapped(np.zeros_like(left), np.zeros_like(left), disparity)


def test_each_illumination_is_named(pair, tmp_path):
    left, right, disparity = pair
    for name, pictures in {"im0": (left, right), "im1": (right, left)}.items():
        for camera, picture in zip("LR", pictures, strict=True):
            (tmp_path / camera).mkdir(exist_ok=True)
            io.write_image(tmp_path / camera / f"{name}.png", picture)
    (said,) = swapped_warnings(tmp_path, disparity)
    assert "im1" in said
