"""Temporal error and flicker: by hand, against plain NumPy, and the true video is the floor."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import measured, smooth, value

import depthgauge as dg
from depthgauge.errors import BadScoreId, NotGiven

SIZE = (48, 64)


def video(seed=0, frames=3, step=2):
    """A texture that moves to the left."""
    texture = smooth(np.random.default_rng(seed), SIZE[0], SIZE[1] + step * frames)
    return [texture[:, step * i : step * i + SIZE[1]].copy() for i in range(frames)]


def before(estimate, truth):
    return {"previous_estimate": estimate, "previous_truth": truth}


def test_flicker_by_hand():
    """Two blocks: one gets 0.1 brighter than the truth does, one stays wrong by 0.2."""
    truth = [np.full((4, 8, 3), v, np.float32) for v in (0.3, 0.5)]
    estimate = [t.copy() for t in truth]
    estimate[1][:, :4] += np.float32(0.1)
    for frame in estimate:
        frame[:, 4:] -= np.float32(0.2)
    found, state = measured(
        "flicker", estimate[1], truth[1], before(estimate[0], truth[0]), block=4
    )
    assert found == pytest.approx(0.05, abs=1e-6)
    assert (state.count, state.missing) == (2, 0)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), block=st.sampled_from([1, 3, 16]))
def test_flicker_is_that_of_plain_loops(seed, block):
    e0, e1, t0, t1 = np.random.default_rng(seed).random((4, 33, 35, 3)).astype(np.float32)
    changes = []
    for y in range(0, 33 - block + 1, block):
        for x in range(0, 35 - block + 1, block):
            at = np.s_[y : y + block, x : x + block]
            error = [
                (e[at].astype(float) - t[at]).mean(axis=(0, 1)) for e, t in ((e1, t1), (e0, t0))
            ]
            changes.append(np.abs(error[0] - error[1]).mean())
    found = value("flicker", e1, t1, before(e0, t0), block=block)
    assert found == pytest.approx(np.mean(changes), abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_true_video_is_the_floor(seed):
    truth = video(seed)
    rng = np.random.default_rng(seed)
    noisy = [np.clip(t + 0.05 * rng.standard_normal(t.shape), 0, 1).astype("f4") for t in truth]
    for name in ("temporal_error", "flicker"):
        assert value(name, truth[1], truth[1], before(truth[0], truth[0])) == 0
        assert value(name, noisy[1], truth[1], before(noisy[0], truth[0])) > 0


def test_temporal_error_follows_the_true_motion():
    truth = video()
    frozen = value("temporal_error", truth[0], truth[1], before(truth[0], truth[0]))
    assert frozen > 0.02
    # Brighter than the truth, but steadily: consistent, and wrong only for other metrics.
    pale = [np.clip(0.5 + t / 2, 0, 1) for t in truth]
    assert value("temporal_error", pale[1], truth[1], before(pale[0], truth[0])) < 1e-3
    blinking = [np.clip(t - 0.1, 0, 1) if i % 2 else t for i, t in enumerate(truth)]
    blink = value("temporal_error", blinking[1], truth[1], before(blinking[0], truth[0]))
    assert blink == pytest.approx(0.1, abs=0.03)
    assert value("flicker", blinking[1], truth[1], before(blinking[0], truth[0])) == pytest.approx(
        0.1, abs=0.03
    )


def test_pixels_without_a_consistent_motion_are_not_judged():
    truth = video()
    _, state = measured("temporal_error", truth[1], truth[1], before(truth[0], truth[0]))
    assert 0.7 * math.prod(SIZE) < state.count < math.prod(SIZE)
    other = smooth(np.random.default_rng(9), *SIZE)
    _, none = measured("temporal_error", truth[1], truth[1], before(other, other))
    assert none.count < state.count / 2


def test_missing_pixels_cost_the_most():
    truth = video()
    gaps = truth[1].copy()
    gaps[:16, :16] = np.nan
    found, state = measured("flicker", gaps, truth[1], before(truth[0], truth[0]))
    assert (state.count, state.missing) == (11, 1)
    assert found == pytest.approx(2 / 12)
    assert value("flicker", gaps, truth[1], before(truth[0], truth[0]), missing="skip") == 0
    found, state = measured("temporal_error", gaps, truth[1], before(truth[0], truth[0]))
    assert state.missing > 0
    assert found == pytest.approx(state.missing / (state.count + state.missing))
    # What is missing in the frame before is missing too.
    _, lost = measured("temporal_error", truth[1], truth[1], before(gaps, truth[0]))
    assert lost.missing > 0
    nothing = np.full_like(gaps, np.nan)
    assert value("flicker", nothing, truth[1], before(nothing, truth[0])) == 2
    assert value("temporal_error", nothing, truth[1], before(nothing, truth[0])) == 1


def test_small_and_constant_pictures_and_bad_input():
    grey = np.full((48, 64, 3), 0.5, np.float32)
    assert value("temporal_error", grey, grey, before(grey, grey)) == 0
    tiny = grey[:8, :8]
    for name in ("temporal_error", "flicker"):
        found, state = measured(name, tiny, tiny, before(tiny, tiny))
        assert math.isnan(found)
        assert (state.count, state.missing) == (0, 0)
    with pytest.raises(NotGiven, match="previous_estimate"):
        dg.score(grey, grey, "flicker", quantity="view")
    with pytest.raises(BadScoreId, match="block is 0"):
        value("flicker", grey, grey, before(grey, grey), block=0)
    with pytest.raises(BadScoreId, match="flow is 'slow'"):
        value("temporal_error", grey, grey, before(grey, grey), flow="slow")
