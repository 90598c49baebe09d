"""Which camera a map belongs to, and normals through it."""

import numpy as np
import pytest

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.geometry import depth_from_disparity, normals_from_depth
from depthgauge.geometry.rigs import main_camera, normals_from_map
from depthgauge.types import Camera, Rig

LEFT, CENTRE, OTHER = (Camera((f, f), (2.0, 1.5), (5, 4)) for f in (50.0, 60.0, 70.0))


@pytest.mark.parametrize(
    ("cameras", "expected"),
    [
        ({"right": OTHER, "left": LEFT}, LEFT),
        ({"centre": CENTRE, "left": LEFT}, LEFT),
        ({"view_3": OTHER, "centre": CENTRE}, CENTRE),
        ({"cam0": OTHER}, OTHER),
    ],
)
def test_maps_belong_to_the_left_the_central_or_the_only_camera(cameras, expected):
    assert main_camera(Rig(cameras)) is expected


@pytest.mark.parametrize(
    ("cameras", "found"), [({}, "only none"), ({"b": LEFT, "a": OTHER}, "only a, b")]
)
def test_without_such_a_camera_it_says_which_there_are(cameras, found):
    with pytest.raises(Unavailable, match=found):
        main_camera(Rig(cameras))


def test_depth_needs_no_baseline_and_disparity_does():
    depth = np.random.default_rng(0).uniform(1, 2, (4, 5)).astype(np.float32)
    expected = normals_from_depth(depth, LEFT)
    assert np.array_equal(normals_from_map(depth, "depth", Rig({"left": LEFT})), expected, True)
    for baseline in (np.nan, 0.0, -1.0):
        with pytest.raises(Unavailable, match="need the rig's baseline"):
            normals_from_map(depth, "disparity", Rig({"left": LEFT}, baseline))


def test_disparity_goes_through_the_baseline_and_the_offset():
    disparity = np.random.default_rng(1).uniform(5, 9, (4, 5)).astype(np.float32)
    rig = Rig({"left": LEFT}, baseline_m=0.1, principal_offset_px=3.0)
    expected = normals_from_depth(depth_from_disparity(disparity, 50.0, 0.1, 3.0), LEFT)
    assert np.array_equal(normals_from_map(disparity, "disparity", rig), expected, True)


def test_a_map_of_another_size_is_refused():
    with pytest.raises(WrongShape):
        normals_from_map(np.ones((8, 10)), "depth", Rig({"left": LEFT}))
