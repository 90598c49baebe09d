"""Point clouds for a browser: from depth to bytes and back."""

import json
import struct

import numpy as np
import pytest

from depthgauge.analysis.maps.point_cloud import (
    Cloud,
    cloud_of_depth,
    decode_cloud,
    encode_cloud,
    layered_cloud,
)
from depthgauge.errors import BadFile, WrongShape
from depthgauge.types import Camera

CAMERA = Camera((100.0, 100.0), (1.0, 0.0), (3, 2))


def picture(height=2, width=3):
    return np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)


def test_points_of_known_depths_by_hand():
    depth = np.array([[2.0, np.nan, 4.0], [0.0, 1.0, np.inf]], np.float32)
    cloud = cloud_of_depth(depth, CAMERA, {"image": picture()}, name="truth")
    expected = [[-0.02, 0, 2], [0.04, 0, 4], [0, 0.01, 1]]
    np.testing.assert_allclose(cloud.points, expected, atol=1e-7)
    np.testing.assert_array_equal(cloud.colours["image"], picture().reshape(-1, 3)[[0, 2, 4]])
    assert cloud.layers == (("truth", 3),)
    assert cloud.fov_deg == pytest.approx(np.degrees(2 * np.arctan(0.01)))


def test_large_maps_are_thinned_out_evenly():
    camera = Camera((50.0, 50.0), (50.0, 50.0), (100, 100))
    depth = np.ones((100, 100), np.float32)
    cloud = cloud_of_depth(depth, camera, {"image": picture(100, 100)}, most=2600)
    assert len(cloud.points) == 50 * 50
    np.testing.assert_allclose(cloud.points[1] - cloud.points[0], [2 / 50, 0, 0], atol=1e-6)


def test_the_bytes_are_as_documented():
    points = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    content = encode_cloud(Cloud(points, {"error": picture(1, 2)[0]}, fov_deg=40))
    assert content[:4] == b"DGPC"
    (length,) = struct.unpack("<I", content[4:8])
    assert length % 4 == 0
    header = json.loads(content[8 : 8 + length])
    layers = [{"name": "points", "count": 2}]
    assert header == {
        "version": 1,
        "count": 2,
        "colours": ["error"],
        "layers": layers,
        "fov_deg": 40,
    }
    body = content[8 + length :]
    assert struct.unpack("<6f", body[:24]) == (1, 2, 3, 4, 5, 6)
    assert list(body[24:]) == [0, 1, 2, 3, 4, 5]


def test_layers_come_back():
    one = Cloud(np.ones((2, 3), np.float32), {"a": picture(1, 2)[0], "b": picture(1, 2)[0]})
    clouds = [
        Cloud(one.points, one.colours, [("first", 2)], 30),
        Cloud(2 * one.points, {"b": one.colours["b"]}, [("second", 2)], 30),
    ]
    back = decode_cloud(encode_cloud(layered_cloud(clouds)))
    assert list(back.colours) == ["b"]  # what both have
    assert back.layers == [("first", 2), ("second", 2)]
    np.testing.assert_array_equal(back.points[:, 0], [1, 1, 2, 2])
    assert back.fov_deg == 30


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: b"",
        lambda c: b"PLY " + c[4:],
        lambda c: c[:-1],
        lambda c: c[:20],
        lambda c: c + b"0",
    ],
)
def test_damaged_files_are_refused(damage):
    content = encode_cloud(Cloud(np.ones((2, 3), np.float32), {"a": picture(1, 2)[0]}))
    with pytest.raises(BadFile):
        decode_cloud(damage(content))


def test_colours_and_layers_have_to_fit():
    points = np.ones((2, 3), np.float32)
    with pytest.raises(WrongShape, match="2 points need as many"):
        encode_cloud(Cloud(points, {"a": picture(1, 3)[0]}))
    with pytest.raises(WrongShape, match="2 points need as many"):
        encode_cloud(Cloud(points, {}, [("half", 1)]))
    with pytest.raises(WrongShape, match="colours 'image'"):
        cloud_of_depth(np.ones((2, 3), np.float32), CAMERA, {"image": picture(3, 3)})
    with pytest.raises(WrongShape, match="at least one"):
        layered_cloud([])
