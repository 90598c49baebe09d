"""Estimates of inverse depth, and open limits of the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.errors import BadScoreId

NAN = np.nan
TRUTH = [[1.0, 2.0, 4.0, 5.0]]


def score(mine, true, names, **protocol):
    found = dg.score(mine, true, names, quantity="depth", protocol=protocol, check=False)
    return {name: found[f"{name}@all"] for name in names}


def test_inverse_depths_are_inverted():
    found = score([[1.0, 0.5, 0.25, 0.2]], TRUTH, ["mae"], estimate={"inverse": True})
    assert found["mae"].value == pytest.approx(0, abs=1e-6)


def test_inverse_depths_are_fitted_to_the_inverse_of_the_truth():
    estimate = 3 - 7 / np.array(TRUTH)
    align = {"kind": "scale_shift"}
    found = score(estimate, TRUTH, ["mae"], estimate={"inverse": True}, align=align)
    assert found["mae"].value == pytest.approx(0, abs=1e-5)
    assert found["mae"].alignment["space"] == "disparity"
    assert found["mae"].alignment["scale"] == pytest.approx(-1 / 7)
    # In depth, no scale and shift fit them.
    assert score(estimate, TRUTH, ["mae"], align=align)["mae"].value > 0.1


def test_what_is_not_positive_is_infinitely_far():
    """Missing without a limit, the limit with one."""
    estimate = [[1.0, 0.5, -0.1, 0.0]]
    found = score(estimate, TRUTH, ["mae", "delta"], estimate={"inverse": True})
    assert (found["mae"].count, found["mae"].missing) == (2, 2)
    assert found["delta"].value == 50
    clipped = score(estimate, TRUTH, ["mae"], estimate={"inverse": True, "clip": [0.001, 6.0]})
    assert clipped["mae"].value == pytest.approx((0 + 0 + 2 + 1) / 4)
    gap = score([[1.0, NAN, 0.25, 0.2]], TRUTH, ["mae"], estimate={"inverse": True})
    assert (gap["mae"].count, gap["mae"].missing) == (3, 1)


@given(st.integers(0, 2**32 - 1))
def test_scale_and_shift_of_an_inverse_estimate_are_free(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 9, (6, 7))
    estimate = 1 / (truth * rng.uniform(0.9, 1.1, truth.shape))
    rules = {"estimate": {"inverse": True, "clip": [0.1, 20.0]}, "align": {"kind": "scale_shift"}}
    first = score(estimate, truth, ["absrel"], **rules)["absrel"].value
    second = score(2.5 * estimate + 0.7, truth, ["absrel"], **rules)["absrel"].value
    assert second == pytest.approx(first, rel=1e-3)


def test_only_depth_can_be_inverse():
    rules = {"estimate": {"inverse": True}}
    with pytest.raises(BadScoreId, match="only depths can be stored inverted"):
        dg.score([[1.0]], [[1.0]], "mae", quantity="disparity", protocol=rules)
    rules["align"] = {"kind": "scale", "space": "depth"}
    with pytest.raises(BadScoreId, match="inverse depths are aligned as they are"):
        score([[1.0]], [[1.0]], ["mae"], **rules)


@pytest.mark.parametrize(("limits", "count"), [("closed", 4), ("open", 2)])
def test_limits_of_the_truth_are_closed_or_open(limits, count):
    truth = {"min_depth_m": 1, "max_depth_m": 5, "limits": limits}
    assert score(TRUTH, TRUTH, ["mae"], truth=truth)["mae"].count == count
