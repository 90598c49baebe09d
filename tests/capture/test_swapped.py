"""Passive pictures whose left and right were exchanged."""

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.swapped import seem_swapped, swapped_warnings


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
