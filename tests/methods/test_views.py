"""Methods that make views: what moves where, what hides what, and how holes are filled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.errors import MethodFailed, WrongShape
from depthgauge.methods import find_method
from depthgauge.methods._views.warp import as_view, right_view
from depthgauge.types import Camera, ClipEstimate, Frames, Inputs, Rig


def estimate(text, **inputs):
    return find_method(text).estimate(Inputs({"quantity": "view", **inputs}), "view").values


def row(*values):
    """One row of grey pixels."""
    return np.repeat(np.array([values], np.float32)[..., None], 3, axis=2)


def noise(height=6, width=11, seed=0):
    return np.random.default_rng(seed).random((height, width, 3), np.float32)


# --- by hand --------------------------------------------------------------------------------------


def test_without_disparity_nothing_moves():
    picture = noise()
    np.testing.assert_array_equal(right_view(picture, np.zeros(picture.shape[:2])), picture)


def test_whole_pixels_move_to_the_left_and_the_border_is_extended():
    seen = right_view(row(0.1, 0.2, 0.3, 0.4), np.full((1, 4), 2.0))
    np.testing.assert_allclose(seen[0, :, 0], [0.3, 0.4, 0.3, 0.3], atol=1e-6)


def test_half_pixels_are_interpolated():
    seen = right_view(row(0.0, 0.4, 0.8, 0.2), np.full((1, 4), 0.5))
    np.testing.assert_allclose(seen[0, :3, 0], [0.2, 0.6, 0.5], atol=1e-6)


def test_what_is_near_hides_what_is_behind_and_holes_are_filled_from_behind():
    """A bar (0.9) with disparity 3 before a wall (0.1 ... 0.5): the wall fills where it was."""
    picture = row(0.1, 0.1, 0.2, 0.2, 0.3, 0.9, 0.9, 0.4, 0.4, 0.5)
    disparity = np.array([[0, 0, 0, 0, 0, 3, 3, 0, 0, 0]], float)
    seen = right_view(picture, disparity)[0, :, 0]
    np.testing.assert_allclose(seen[2:4], 0.9)  # 5 and 6 moved by 3
    np.testing.assert_allclose(seen[[0, 1, 4, 7, 8, 9]], picture[0, [0, 1, 4, 7, 8, 9], 0])
    np.testing.assert_allclose(seen[5:7], 0.4)  # of the wall, not of the bar


def test_missing_disparity_is_infinitely_far():
    disparity = np.array([[np.nan, np.nan, np.nan, 2.0]])
    seen = right_view(row(0.1, 0.2, 0.3, 0.4), disparity)[0, :, 0]
    np.testing.assert_allclose(seen, [0.1, 0.4, 0.3, 0.3])


def test_a_picture_and_a_disparity_of_another_size_are_refused():
    with pytest.raises(WrongShape, match="the left view is 11x6, its disparity 5x6"):
        right_view(noise(), np.zeros((6, 5)))


# --- always ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.floats(0, 6), st.floats(0, 1))
def test_every_pixel_is_filled_with_a_colour_of_the_picture(seed, most, share):
    rng = np.random.default_rng(seed)
    picture = rng.random((5, 12, 3), np.float32)
    disparity = np.where(rng.random((5, 12)) < share, most, rng.random((5, 12)) * most)
    seen = right_view(picture, disparity)
    assert seen.min() >= picture.min() - 1e-6
    assert seen.max() <= picture.max() + 1e-6


@given(st.integers(0, 2**32 - 1))
def test_the_nearest_of_whole_disparities_wins(seed):
    """An independent reference: every pixel to its place, the largest disparity last."""
    rng = np.random.default_rng(seed)
    picture, disparity = rng.random((4, 10, 3), np.float32), rng.integers(0, 6, (4, 10)) * 2.0
    seen = right_view(picture, disparity, jump_px=0.5)
    for y in range(4):
        landed = {}
        for x in range(10):
            place = int(x - disparity[y, x])
            if place >= 0 and disparity[y, x] > landed.get(place, (-1,))[0]:
                landed[place] = disparity[y, x], x
        for place, (_, x) in landed.items():
            np.testing.assert_allclose(seen[y, place], picture[y, x], atol=1e-6)


# --- the methods ----------------------------------------------------------------------------------


def rig(focal_px=10.0, baseline_m=0.2, size=(11, 6)):
    centre = tuple((n - 1) / 2 for n in size)
    camera = Camera((focal_px, focal_px), centre, size)
    return Rig({"left": camera, "right": camera}, baseline_m)


def test_the_methods_take_what_they_say_and_give_views():
    picture = np.round(noise() * 255).astype(np.uint8)
    known = as_view(picture)
    np.testing.assert_array_equal(estimate("copy_left", left_image=picture), known)
    shifted = estimate("shift:disparity_px=2", left_image=picture)
    np.testing.assert_allclose(shifted[:, :9], known[:, 2:], atol=1e-6)
    np.testing.assert_allclose(
        estimate("shift:share=0.5", left_image=picture),
        estimate("shift:disparity_px=5.5", left_image=picture),
    )
    moved = estimate("warp_inpaint", left_image=picture, disparity=np.full((6, 11), 2.0))
    np.testing.assert_allclose(moved, shifted, atol=1e-6)


def test_estimated_depth_becomes_disparity_by_the_given_cameras():
    """A wall at 0.5 m, focal length 10 px and baseline 0.2 m: 4 px."""
    picture = noise()
    found = estimate("warp_estimated:depth=plane,scale_m=0.5", left_image=picture, rig=rig())
    np.testing.assert_allclose(found[:, :7], picture[:, 4:], atol=1e-6)
    room = estimate("warp_estimated", left_image=picture, rig=rig())
    assert room.shape == picture.shape
    assert not np.array_equal(room, picture)
    with pytest.raises(MethodFailed, match="no left camera with a baseline"):
        estimate("warp_estimated", left_image=picture, rig=rig(baseline_m=np.nan))


def test_grey_pictures_and_codes_are_views():
    grey = np.array([[0, 51, 255]], np.uint8)
    assert estimate("copy_left", left_image=grey)[0, 1].tolist() == pytest.approx([0.2] * 3)
    codes = find_method(lambda inputs: np.full((2, 3, 3), 51, np.uint8), "codes")
    assert codes.estimate(Inputs({"left_image": grey}), "view").values[0, 0, 0] == pytest.approx(
        0.2
    )


# --- files ----------------------------------------------------------------------------------------


def test_views_are_read_as_pictures(tmp_path):
    """0 is black, not missing; 16 bits and floats are the same view."""
    codes = np.array([[[0, 51, 255], [0, 0, 0]]], np.uint8)
    io.write_image(tmp_path / "a.png", codes)
    io.write_image(tmp_path / "b.png", codes.astype(np.float32) / 255)
    np.save(tmp_path / "c.npy", codes)
    io.write_map(tmp_path / "d.npy", codes.astype(np.float32) / 255, quantity="view")
    for name in ("a.png", "b.png", "c.npy", "d.npy"):
        read = io.read_map(tmp_path / name, quantity="view")
        np.testing.assert_allclose(read, codes / 255, atol=1e-4, err_msg=name)
    io.write_image(tmp_path / "grey.png", codes[..., 1])
    assert io.read_map(tmp_path / "grey.png", quantity="view").shape == (1, 2, 3)


COPY = """
import shutil, sys
from pathlib import Path
given, out = Path(sys.argv[1]), Path(sys.argv[2])
files = sorted(given.iterdir()) if given.is_dir() else [given]
for file in files[: int(sys.argv[3])]:
    shutil.copy(file, out / file.name if out.is_dir() else out)
"""


def clip(length=3):
    pictures = [np.full((4, 5, 3), 40 * k, np.uint8) for k in range(length)]
    return Inputs({"quantity": "view", "left_image": Frames(pictures)})


@pytest.mark.parametrize("whole", [False, True])
def test_a_program_gives_views_as_files(tmp_path, whole):
    script = tmp_path / "copy.py"
    script.write_text(COPY)
    out = "{out_dir}" if whole else "{out}"
    (tmp_path / "m.toml").write_text(
        f'command = "python3 {script} {{left}} {out} 2"\n[options]\nwhole_clips = '
        f"{str(whole).lower()}\nout_suffix = 'png'\nmost_frames = 2\n"
    )
    method = find_method(tmp_path / "m.toml")
    assert "left_image" in method.takes
    found = method.estimate(clip(), "view")
    assert isinstance(found, ClipEstimate)
    shown = [float(frame.values.mean()) for frame in found.frames]
    assert shown == pytest.approx([0, 40 / 255])


def test_a_program_of_clips_that_writes_nothing_says_so(tmp_path):
    text = 'command = "true {left} {out_dir}"\n[options]\nwhole_clips = true\n'
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(MethodFailed, match=r"wrote no file into \{out_dir\}"):
        find_method(tmp_path / "m.toml").estimate(clip(), "view")
