"""The parts of the simulator: sensor, patterns, rig."""

import numpy as np
import pytest

from depthgauge.errors import Misuse
from depthgauge.sessions import Board
from depthgauge.synth.library.rooms import desk
from depthgauge.synth.sets.capture_session import _rig
from depthgauge.synth.sets.capture_session._board import board_poses
from depthgauge.synth.sets.capture_session._rig import pattern
from depthgauge.synth.sets.capture_session._sensor import (
    READ,
    WELL,
    developed,
    footprint,
    key,
    linear,
)

# --- the sensor ---------------------------------------------------------------------------------


def test_noise_has_the_stated_spread():
    for level in (0.02, 0.2, 0.6):
        light = np.full((40_000, 3), level, np.float32)
        seen = linear(developed(light, key("noise", level)))
        expected = np.sqrt(level / WELL + READ**2)
        step = float(np.diff(linear(np.array([100, 101], np.uint8)))[0])
        assert seen.mean() == pytest.approx(level, rel=5e-3)
        assert seen.std() == pytest.approx(expected, rel=0.05, abs=step / 3)


def test_noise_depends_on_the_place_alone():
    light = np.full((1000, 3), 0.3, np.float32)
    whole = developed(light, 7)
    parts = np.concatenate([developed(light[:300], 7), developed(light[300:], 7, first=300)])
    assert np.array_equal(whole, parts)
    assert not np.array_equal(whole, developed(light, 8))


def test_noise_of_neighbours_is_not_alike():
    seen = linear(developed(np.full((20_000, 3), 0.3, np.float32), 1)).astype(np.float64)
    flat = seen.ravel() - seen.mean()
    for lag in (1, 3, 6):
        assert abs(np.corrcoef(flat[lag:], flat[:-lag])[0, 1]) < 0.02


@pytest.mark.parametrize("side", [1, 2, 3, 4, 8])
def test_a_footprint_is_centred_and_inside_the_pixel_s_reach(side):
    offsets = footprint(side)
    assert offsets.shape == (side * side, 2)
    assert np.abs(offsets.mean(axis=0)).max() < 1e-12
    assert np.abs(offsets).max() < 0.8


# --- patterns -----------------------------------------------------------------------------------


def test_patterns_are_new_for_each_projector_and_number():
    one, other, third = pattern(0, 0, 0, 320), pattern(0, 1, 0, 320), pattern(0, 0, 1, 320)
    for a, b in ((one, other), (one, third), (other, third)):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.05
    assert np.array_equal(one, pattern(0, 0, 0, 320))
    assert abs(np.corrcoef(one[..., 0].ravel(), one[..., 1].ravel())[0, 1]) < 0.1


@pytest.mark.parametrize("width_px", [320, 1168])
def test_blobs_are_a_few_camera_pixels_wide(width_px):
    """Half of the correlation is gone within 1 to 3 camera px."""
    shown = pattern(0, 0, 0, width_px)[..., 1].astype(np.float64)
    shown -= shown.mean()
    scale = _rig.THROW * _rig.projector_px(width_px)[0] / (0.8 * width_px)
    lags = [max(1, round(px * scale)) for px in (1, 3)]
    near, far = ((shown[:, lag:] * shown[:, :-lag]).mean() / shown.var() for lag in lags)
    assert near > 0.5 > far
    assert shown.std() > 60


# --- the rig ------------------------------------------------------------------------------------


def test_another_seed_is_another_rig():
    stand = desk(0).stand
    assert _rig.cameras(640, stand, 0) != _rig.cameras(640, stand, 1)
    assert _rig.cameras(640, stand, 0) == _rig.cameras(640, stand, 0)


def test_the_full_size_is_that_of_the_real_cameras():
    found = _rig.cameras(4112, desk(0).stand, 0)
    assert found["L"].size_px == (4112, 3008)
    assert found["C"].size_px == (1936, 1216)


def test_a_board_that_no_camera_can_hold_is_refused():
    cameras = _rig.cameras(320, desk(0).stand, 0)
    with pytest.raises(Misuse, match="choose other squares"):
        board_poses(Board(square_m=0.002), cameras, 1, 0)
