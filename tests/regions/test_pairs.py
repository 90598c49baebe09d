"""Pairs that samples come with, and pairs that are drawn."""

import numpy as np
import pytest

from depthgauge.errors import BadScoreId, Unavailable
from depthgauge.regions._shared_maps import SHARED_MAPS, SampleMaps

DEPTH = np.arange(30, dtype=np.float32).reshape(5, 6)


def things(items, truth=DEPTH, quantity="depth", **makers):
    return SampleMaps(truth, items, quantity, makers)


def test_given_depth_pairs_are_used_as_they_are():
    given = np.array([[0, 0, 1, 1, -1]])
    found = things({"relative_depth": given, "depth": DEPTH})["depth_pairs"]
    assert found.tolist() == given.tolist()
    assert found.dtype == np.int32


def test_else_they_are_drawn_from_the_depth():
    found = things({"depth": DEPTH})["depth_pairs"]
    assert found.shape == (1000, 5)
    few = things({"depth": DEPTH}, depth_pairs="depth_pairs:10,3")["depth_pairs"]
    assert few.shape == (10, 5)
    assert not np.array_equal(few, found[:10])


def test_clear_pairs_leave_out_ties_of_given_and_of_drawn_pairs():
    depth = np.array([[1.0, 1.005, 1.02, 3.0, np.nan]], np.float32)
    given = np.array([[0, 0, 1, 0, -1], [0, 0, 2, 0, -1], [0, 0, 4, 0, -1], [3, 0, 1, 0, 1]])
    items = {"relative_depth": given, "depth": depth}
    found = things(items, depth, depth_pairs="clear_pairs:1")["depth_pairs"]
    assert found.tolist() == given[1:].tolist()
    strict = things(items, depth, depth_pairs="clear_pairs:5")["depth_pairs"]
    assert strict.tolist() == given[2:].tolist()
    only = things({"relative_depth": given}, depth, depth_pairs="clear_pairs")["depth_pairs"]
    assert only.tolist() == given.tolist()
    drawn = things({"depth": depth}, depth, depth_pairs="clear_pairs:50,40,1")["depth_pairs"]
    assert len(drawn) == 40
    assert (drawn[:, [0, 2]] == 3).any(axis=1).all()
    with pytest.raises(Unavailable, match="relative_depth, depth"):
        things({}, depth, depth_pairs="clear_pairs")["depth_pairs"]
    with pytest.raises(BadScoreId, match="0 or more"):
        things({"depth": depth}, depth, depth_pairs="clear_pairs:-1")["depth_pairs"]


def test_given_normal_pairs_get_keys():
    given = np.array([[0, 0, 1, 1, 2], [0, 0, 2, 2, 0]])
    found = things({"relative_normals": given})["normal_pairs"]
    assert found[:, :5].tolist() == given.tolist()
    assert found.shape == (2, 6)


def test_else_they_are_drawn_on_planes():
    planes = np.where(DEPTH < 12, 1, 2).astype(np.float32)
    items = {"planes": planes, "plane_relations": np.array([[1, 2, 1]])}
    found = things(items, normal_pairs="normal_pairs:7")["normal_pairs"]
    assert found.shape == (7, 6)
    assert (found[:, 4] == 1).all()


def test_a_sample_without_either_says_what_it_needs():
    with pytest.raises(Unavailable, match="needs one of relative_depth, depth"):
        things({})["depth_pairs"]
    with pytest.raises(Unavailable, match="relative_normals, or planes and plane_relations"):
        things({"planes": DEPTH})["normal_pairs"]


@pytest.mark.parametrize("name", ["depth_pairs", "normal_pairs"])
def test_parameters_that_make_no_sense_are_refused(name):
    with pytest.raises(BadScoreId, match="count is 0 but must be at least 1"):
        SHARED_MAPS[name].bind(["0"])
    with pytest.raises(BadScoreId, match="seed is -1 but must not be negative"):
        SHARED_MAPS[name].bind(["10", "-1"])
