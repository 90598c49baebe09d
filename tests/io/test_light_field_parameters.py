"""parameters.cfg: what is read, what is written, what it means as a rig, and what is refused."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.geometry import depth_from_disparity, depth_from_lightfield_disparity
from depthgauge.types import Camera, Rig

# As the benchmark has it, with the key that its Blender add-on adds.
COTTON = """[intrinsics]
focal_length_mm = 100.0
image_resolution_x_px = 512
image_resolution_y_px = 512
sensor_size_mm = 35.0
fstop = 100

[extrinsics]
num_cams_x = 9
num_cams_y = 7
baseline_mm = 25.0
focus_distance_m = 4.25
center_cam_x_m = 1.5
center_cam_y_m = -2.0
center_cam_z_m = 0.25
center_cam_rx_rad = 1.4
center_cam_ry_rad = -0.2
center_cam_rz_rad = 0.7
offset = 17.3

[meta]
scene = cotton
category = training
date = 2016/04/05
version = v0
authors = Katrin Honauer & Ole Johannsen
contact = contact@lightfield-analysis.net
cycles_seed = 2147483647
disp_min = -1.6
disp_max = 1.5
frustum_disp_min = -2.0
frustum_disp_max = 2.0
depth_map_scale = 10.0
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "parameters.cfg"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return io.read_light_field_parameters(path)

    return read_text


def test_every_key_is_read(read):
    found = read(COTTON)
    assert (found.focal_length_mm, found.sensor_size_mm, found.fstop) == (100.0, 35.0, 100.0)
    assert found.size_px == (512, 512)
    assert found.grid == (7, 9)  # rows and columns: y comes first
    assert (found.baseline_mm, found.focus_distance_m) == (25.0, 4.25)
    assert found.disparity_range == (-1.6, 1.5)
    assert (found.scene, found.category, found.cycles_seed) == ("cotton", "training", 2**31 - 1)
    assert found.authors == "Katrin Honauer & Ole Johannsen"
    assert found.depth_map_scale == 10


def test_what_is_written_is_read_again(read, tmp_path):
    found = replace(read(COTTON), focus_distance_m=8.300000190734863, frustum_disp_max=None)
    io.write_light_field_parameters(tmp_path / "again.cfg", found)
    assert io.read_light_field_parameters(tmp_path / "again.cfg") == found
    text = (tmp_path / "again.cfg").read_text()
    assert "focus_distance_m = 8.300000190734863\n" in text
    assert "image_resolution_x_px = 512\n" in text
    assert "frustum_disp_max" not in text
    assert text.index("[intrinsics]") < text.index("[extrinsics]") < text.index("[meta]")


def test_the_rig_says_the_same_depth_as_the_benchmarks_formula(read):
    found = read(COTTON)
    disparity = np.linspace(-1.6, 1.5, 32, dtype=np.float32).reshape(4, 8)
    rig = found.rig
    focal_px = rig.cameras["centre"].focal_px[0]
    assert focal_px == pytest.approx(100 / 35 * 512)
    expected = depth_from_lightfield_disparity(disparity, 100.0, 35.0, 0.025, 4.25, 512)
    depth = depth_from_disparity(disparity, focal_px, rig.baseline_m, rig.principal_offset_px)
    np.testing.assert_allclose(depth, expected, rtol=1e-5)
    # One pixel at no disparity is at the focus plane.
    assert focal_px * rig.baseline_m / rig.principal_offset_px == pytest.approx(4.25)


def test_the_camera_stands_where_blender_has_it(read):
    upright = read(
        COTTON.replace("rx_rad = 1.4", f"rx_rad = {math.pi / 2!r}")
        .replace("ry_rad = -0.2", "ry_rad = 0")
        .replace("rz_rad = 0.7", "rz_rad = 0")
    )
    pose = upright.camera.world_from_camera
    # Turned up by 90 degrees, Blender's camera looks along y of the world, its z upwards.
    np.testing.assert_allclose(pose[:3, 2], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(pose[:3, 1], [0, 0, -1], atol=1e-15)
    assert pose[:3, 3].tolist() == [1.5, -2.0, 0.25]
    assert upright.camera.centre_px == (255.5, 255.5)
    down = replace(upright, center_cam_rx_rad=0.0).camera.world_from_camera
    np.testing.assert_allclose(down[:3, 2], [0, 0, -1], atol=1e-15)


angle = st.floats(-1.5, 1.5)


@given(angle, angle, angle, st.floats(0.1, 100), st.sampled_from([4.25, math.inf]))
def test_from_rig_is_the_inverse_of_rig(rx, ry, rz, baseline_mm, focus_m):
    made = io.LightFieldParameters(
        focal_length_mm=80.0,
        image_resolution_x_px=64,
        image_resolution_y_px=48,
        sensor_size_mm=35.0,
        num_cams_x=5,
        num_cams_y=3,
        baseline_mm=baseline_mm,
        focus_distance_m=focus_m,
        center_cam_rx_rad=rx,
        center_cam_ry_rad=ry,
        center_cam_rz_rad=rz,
    )
    again = io.LightFieldParameters.from_rig(made.rig, (3, 5))
    for key in fields(made):
        before, after = getattr(made, key.name), getattr(again, key.name)
        assert after == (pytest.approx(before) if isinstance(before, float) else before), key.name


def test_straight_up_has_angles_too():
    rig = Rig({"centre": _camera(ry=math.pi / 2)}, 0.1, 1.0)
    again = io.LightFieldParameters.from_rig(rig, (1, 1)).camera.world_from_camera
    np.testing.assert_allclose(again, rig.cameras["centre"].world_from_camera, atol=1e-12)


def _camera(ry=0.0, **changes):
    made = io.LightFieldParameters(80.0, 64, 48, 35.0, 5, 3, 10.0, 4.0, center_cam_ry_rad=ry)
    camera = made.camera
    values = {name: getattr(camera, name) for name in ("focal_px", "centre_px", "size_px")}
    return Camera(**{**values, **changes}, world_from_camera=camera.world_from_camera)


@pytest.mark.parametrize(
    ("rig", "words"),
    [
        (Rig({"left": _camera()}, 0.1, 1.0), "camera 'centre'"),
        (Rig({"centre": _camera()}, math.nan, 1.0), "known baseline"),
        (Rig({"centre": _camera()}, 0.1, -1.0), "offset of 0 or more"),
        (Rig({"centre": _camera(focal_px=(100.0, 90.0))}, 0.1, 1.0), "one focal length"),
        (Rig({"centre": _camera(centre_px=(30.0, 23.5))}, 0.1, 1.0), "middle of the image"),
    ],
)
def test_rigs_that_the_file_cannot_hold(rig, words):
    with pytest.raises(DoesNotFit, match=words):
        io.LightFieldParameters.from_rig(rig, (3, 3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("baseline_mm = 25.0\n", ""), r"baseline_mm is not in section \[extrinsics\]"),
        (("[extrinsics]", "[elsewhere]"), "num_cams_x is not in section"),
        (("num_cams_x = 9", "num_cams_x = nine"), "num_cams_x is a whole number .*found 'nine'"),
        (("num_cams_x = 9", "num_cams_x = 9.5"), "found '9.5'"),
        (("num_cams_x = 9", "num_cams_x = 1000000000"), "whole number from 1 to 1000"),
        (("num_cams_x = 9", "num_cams_x = 0"), "whole number from 1"),
        (("x_px = 512", "x_px = 99999999999999999999"), "whole number from 1 to 1048576"),
        (("sensor_size_mm = 35.0", "sensor_size_mm = 0"), "sensor_size_mm is a positive number"),
        (("focal_length_mm = 100.0", "focal_length_mm = inf"), "positive number, found 'inf'"),
        (("focus_distance_m = 4.25", "focus_distance_m = nan"), "positive number, found 'nan'"),
        (("disp_min = -1.6", "disp_min = low"), "disp_min is a number, found 'low'"),
        (("disp_min = -1.6", "disp_min = 1_6"), "disp_min is a number"),
        (("scene = cotton", "scene = a\nscene = b"), "already exists"),
        (("[intrinsics]\n", ""), "section"),
    ],
)
def test_what_is_wrong_is_said(read, change, words):
    with pytest.raises(BadFile, match=words):
        read(COTTON.replace(*change))


def test_all_mistakes_are_named_at_once(read):
    text = COTTON.replace("baseline_mm = 25.0\n", "").replace("disp_max = 1.5", "disp_max = x")
    with pytest.raises(BadFile, match=r"baseline_mm.*; disp_max"):
        read(text)


def test_optional_keys_may_lack(read):
    kept = [line for line in COTTON.split("\n") if not line.startswith(("center", "disp", "fstop"))]
    found = read("\n".join(kept))
    assert found.disparity_range is None
    assert found.fstop is None
    assert found.center_cam_z_m == 0


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"", b"\x00" * 100, b"[", b"x" * 2**20 + b"x"])
def test_other_files_are_refused(read, body):
    with pytest.raises(BadFile):
        read(body)


def test_texts_of_several_lines_are_not_written(read, tmp_path):
    with pytest.raises(DoesNotFit, match="one line"):
        io.write_light_field_parameters(
            tmp_path / "p.cfg", replace(read(COTTON), authors="me\n[meta]")
        )
    assert not (tmp_path / "p.cfg").exists()
