"""Clocks of two cameras, from the times of their photographs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.capture.importing import clock_offset
from depthgauge.errors import BadData


def test_by_hand():
    fit = clock_offset([10.0, 14.0, 30.0], [3610.4, 3614.3, 3630.4, 3700.0], 1.0)
    assert fit.pairs == ((0, 0), (1, 1), (2, 2))
    assert fit.offset_s == pytest.approx(3600.4)
    assert fit.worst_s == pytest.approx(0.1)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.floats(-90_000, 90_000),
    st.integers(6, 20),
    st.sets(st.integers(0, 19), max_size=3),
)
def test_any_offset_is_found_although_shots_are_missing(seed, offset, count, missing):
    """People do not press at regular intervals, and clocks count whole seconds."""
    rng = np.random.default_rng(seed)
    taken = np.cumsum(rng.uniform(4, 60, count))
    kept = [i for i in range(count) if i not in missing]
    first, second = np.floor(taken), np.floor(taken[kept] + offset)
    fit = clock_offset(list(first), list(second), 1.0)
    assert fit.pairs == tuple((i, k) for k, i in enumerate(kept))
    assert fit.offset_s == pytest.approx(offset, abs=1.0)


def test_regular_intervals_can_be_read_in_two_ways():
    first = np.arange(0.0, 60, 5)
    assert len(clock_offset(list(first), list(first + 1000), 1.0).pairs) == 12
    with pytest.raises(BadData, match=r"fit equally well .* by 1000\.0 or by 1005\.0 s"):
        clock_offset(list(first), list(first[1:] + 1000), 1.0)
    # Clocks that were set are believed.
    assert clock_offset(list(first), list(first[1:] + 0.2), 1.0).offset_s == pytest.approx(0.2)
