"""Whole samples: which views are damaged, when, with which random numbers."""

from __future__ import annotations

import hashlib
import math
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadData, Misuse, Unavailable, WrongShape
from depthgauge.perturbations import parse_perturbation, perturb_image, perturb_inputs
from depthgauge.types import Inputs

STRONG = "noise:10"


@pytest.fixture
def stereo(texture):
    return Inputs({"left_image": texture, "right_image": texture, "disparity_range": (0, 16)})


@pytest.fixture
def grid(light_field):
    return Inputs({"views": light_field, "centre_image": light_field[1, 2], "baseline_m": 0.1})


def changed(before, after):
    return {name for name in before if not np.array_equal(before[name], after[name])}


@pytest.mark.parametrize(
    ("views", "expected"),
    [
        ("all", {"left_image", "right_image"}),
        ("left", {"left_image"}),
        ("right", {"right_image"}),
        ("others", {"right_image"}),
    ],
)
def test_views_of_a_pair(stereo, views, expected):
    assert changed(stereo, perturb_inputs(stereo, f"{STRONG}@{views}", "s")) == expected


@pytest.mark.parametrize(
    ("views", "expected"),
    [("first", {"first_image"}), ("second", {"second_image"}), ("others", {"second_image"})],
)
def test_views_of_frames(texture, views, expected):
    frames = Inputs({"first_image": texture, "second_image": texture})
    assert changed(frames, perturb_inputs(frames, f"{STRONG}@{views}", "s")) == expected


def test_views_of_one_image(texture):
    one = Inputs({"image": texture})
    assert changed(one, perturb_inputs(one, STRONG, "s")) == {"image"}


@pytest.mark.parametrize(
    ("views", "centre", "rest"),
    [("all", True, True), ("centre", True, False), ("others", False, True)],
)
def test_views_of_a_light_field(grid, views, centre, rest):
    damaged = perturb_inputs(grid, f"{STRONG}@{views}", "s")
    touched = (damaged["views"] != grid["views"]).any(axis=(2, 3, 4))
    expected = np.full((3, 5), rest)
    expected[1, 2] = centre
    assert np.array_equal(touched, expected)
    assert np.array_equal(damaged["centre_image"], damaged["views"][1, 2])


@pytest.mark.parametrize("text", ["noise:5", "blur:1+jpeg:40", "shot_noise:1@centre", "gain:0.5"])
def test_the_centre_image_is_the_centre_of_the_views(grid, text):
    damaged = perturb_inputs(grid, text, "cotton")
    assert np.array_equal(damaged["centre_image"], damaged["views"][1, 2])
    assert not np.array_equal(damaged["centre_image"], grid["centre_image"])


def test_views_have_noise_of_their_own(light_field):
    flat = Inputs({"views": np.full_like(light_field, 128)})
    errors = perturb_inputs(flat, "noise:10", "s")["views"].astype(float) - 128
    assert errors.std(axis=(2, 3, 4)) == pytest.approx(np.full((3, 5), 10), rel=0.05)
    errors = errors.reshape(15, -1)
    others = np.corrcoef(errors) - np.eye(15)
    assert np.abs(others).max() < 5 / math.sqrt(errors.shape[1])


def test_cameras_of_a_grid_are_moved_one_by_one(light_field):
    same = np.broadcast_to(light_field[1, 2], light_field.shape)
    damaged = perturb_inputs(Inputs({"views": same}), "decalibration:2", "s")["views"]
    inner = slice(10, -10)
    ways = [
        [
            next(d for d in (-2, 0, 2) if np.array_equal(view[inner], np.roll(image, d, 0)[inner]))
            for view, image in zip(*row, strict=True)
        ]
        for row in zip(damaged, same, strict=True)
    ]
    assert ways[1][2] == 0
    assert {abs(way) for row in ways for way in row} == {0, 2}
    assert sum(way > 0 for row in ways for way in row) in range(2, 13)


def test_grey_views_are_damaged(light_field):
    grid = Inputs({"views": light_field[..., 0]})
    damaged = perturb_inputs(grid, "noise:5", "s")["views"]
    assert damaged.shape == light_field.shape[:4]
    assert damaged.dtype == np.uint8


# ---------------------------------------------------------------------------------- neutrality


def test_neutral_inputs_are_the_same_arrays(stereo, grid):
    for before in (stereo, grid):
        after = perturb_inputs(before, "noise:0+gain:1", "s")
        assert all(after[name] is before[name] for name in before)


def test_what_is_no_image_stays(stereo):
    after = perturb_inputs(stereo, STRONG, "s")
    assert after["disparity_range"] is stereo["disparity_range"]
    assert set(after) == set(stereo)
    assert type(after) is Inputs


# --------------------------------------------------------------------------------- determinism


def test_the_same_everywhere(stereo):
    one, other = (perturb_inputs(stereo, STRONG, "s")["left_image"] for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("part", ["sample", "view", "effect"])
def test_random_numbers_depend_on_sample_view_and_effect(part):
    flat = np.full((40, 40), 0.5, np.float32)
    first = perturb_image(flat, "noise:5", sample_id="s", item="left_image") - flat
    text = "shot_noise:5" if part == "effect" else "noise:5"
    sample_id = "t" if part == "sample" else "s"
    item = "right_image" if part == "view" else "left_image"
    second = perturb_image(flat, text, sample_id=sample_id, item=item) - flat
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.12


def test_noise_twice_is_other_noise():
    flat = np.full((200, 200), 128, np.uint8)
    error = perturb_image(flat, "noise:6+noise:8").astype(float) - 128
    assert error.std() == pytest.approx(10, rel=0.02)


def test_a_part_for_another_view_changes_no_random_number():
    flat = np.full((20, 20), 128, np.uint8)
    alone = perturb_image(flat, "noise:5@right", item="right_image")
    both = perturb_image(flat, "noise:9@left+noise:5@right", item="right_image")
    assert np.array_equal(alone, both)


def test_the_random_numbers_are_those_of_revision_1():
    """Recorded once: where this fails, runs cannot be repeated, and revisions must be raised."""
    flat = np.full((2, 2), 0.5, np.float32)
    noise = 255 * (perturb_image(flat, "noise:1", sample_id="s", item="left_image") - flat)
    assert noise.ravel() == pytest.approx([0.01698, -0.09898, -1.32655, -0.20697], abs=1e-4)


# --------------------------------------------------------------------------------------- lazy


def test_nothing_is_read_before_it_is_asked_for():
    def never():
        raise AssertionError("read")

    after = perturb_inputs(Inputs({"left_image": never, "right_image": never}), STRONG, "s")
    assert set(after) == {"left_image", "right_image"}
    assert after.at_hand() == {}
    with pytest.raises(AssertionError, match="read"):
        after["left_image"]


def test_inputs_travel_and_start_afresh(tmp_path, texture):
    io.write_image(tmp_path / "a.png", texture)
    before = Inputs({"left_image": partial(io.read_image, tmp_path / "a.png")})
    after = perturb_inputs(before, "noise:5+blur:1", "s")
    here = after["left_image"]
    assert "left_image" not in after.fresh().at_hand()
    assert np.array_equal(after.fresh()["left_image"], here)
    travelled = pickle.dumps(after)
    assert len(travelled) < 2000
    assert np.array_equal(pickle.loads(travelled)["left_image"], here)
    code = (
        "import pickle, sys, hashlib; i = pickle.loads(sys.stdin.buffer.read()); "
        "print(hashlib.sha256(i['left_image'].tobytes()).hexdigest())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", code], input=travelled, capture_output=True, check=True
    )
    assert elsewhere.stdout.decode().strip() == hashlib.sha256(here.tobytes()).hexdigest()


# -------------------------------------------------------------------------------------- misuse


@pytest.mark.parametrize("views", ["right", "first", "second"])
def test_a_sample_without_those_views_is_said(grid, views):
    message = f"sample 'dino': perturbation 'noise:5@{views}' .* has only centre_image, views"
    with pytest.raises(Unavailable, match=message):
        perturb_inputs(grid, f"noise:5@{views}", "dino")


def test_one_image_has_no_others(texture):
    with pytest.raises(Unavailable, match="'decalibration:1' is for the views 'others'"):
        perturb_inputs(Inputs({"image": texture}), "decalibration:1", "s")


def test_a_sample_without_images_is_said():
    with pytest.raises(Unavailable, match="has only no images"):
        perturb_inputs(Inputs({"points": 3}), "noise:5", "s")


def test_images_that_cannot_be_damaged_are_refused(texture):
    with pytest.raises(WrongShape, match=r"left_image has shape \(4, 4, 4\)"):
        perturb_image(np.zeros((4, 4, 4), np.uint8), STRONG, item="left_image")
    with pytest.raises(BadData, match="left_image is uint16"):
        perturb_image(np.zeros((4, 4), np.uint16), STRONG, item="left_image")
    with pytest.raises(Misuse, match="no image item 'depth'"):
        perturb_image(texture, STRONG, item="depth")


def test_a_perturbation_and_its_text_are_the_same(texture):
    parsed = parse_perturbation("noise:5@left")
    both = [perturb_image(texture, p, item="left_image") for p in (parsed, "noise:5@left")]
    assert np.array_equal(*both)
