import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.geometry._shared_kernels import (
    inverse_where_wide,
    path_count,
    path_start,
    root,
)


def test_the_way_to_the_root_becomes_shorter():
    parents = np.array([0, 0, 1, 2, 3, 5], np.int32)
    assert root(parents, 4) == 0
    assert parents.tolist() == [0, 0, 0, 2, 2, 5]
    assert root(parents, 5) == 5


@given(st.floats(0.3, 9), st.floats(0.3, 9), st.floats(-3.1, 3.1))
def test_a_wide_covariance_is_inverted(one, other, angle):
    c, s = np.cos(angle), np.sin(angle)
    axes = np.array([[c, -s], [s, c]])
    covariance = axes @ np.diag([one, other]) @ axes.T
    xx, xy, yy = inverse_where_wide(covariance[0, 0], covariance[0, 1], covariance[1, 1], 0.25)
    expected = np.linalg.inv(covariance)
    assert [[xx, xy], [xy, yy]] == pytest.approx(expected, abs=1e-9)


def test_a_narrow_covariance_only_along_its_wide_direction():
    # A variance of 2 along (0.6, 0.8), none across.
    xx, xy, yy = inverse_where_wide(2 * 0.36, 2 * 0.48, 2 * 0.64, 0.25)
    assert (xx, xy, yy) == pytest.approx((0.18, 0.24, 0.32))
    assert inverse_where_wide(0.2, 0.0, 0.1, 0.25) == (0, 0, 0)


@pytest.mark.parametrize("dx", [-1, 0, 1])
@pytest.mark.parametrize("dy", [-1, 0, 1])
@pytest.mark.parametrize("size", [(5, 8), (7, 3), (1, 4), (1, 1)])
def test_paths_reach_each_pixel_once(dx, dy, size):
    reached = np.zeros(size, int)
    for path in range(path_count(*size, dx, dy)):
        x, y = path_start(path, *size, dx, dy)
        while 0 <= x < size[1] and 0 <= y < size[0]:
            reached[y, x] += 1
            x, y = x + dx, y + dy
    assert (reached == (1 if dx or dy else 0)).all()
