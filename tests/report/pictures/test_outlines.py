"""The truth's discontinuities over a picture: where they are, and on which side."""

import numpy as np
import pytest

from depthgauge.analysis.maps.sample_maps import truth_edges
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.report.pictures.encode import Outline

WHITE, BLACK = (255, 255, 255), (16, 16, 16)


def step(left=1.0, right=5.0, shape=(8, 12)):
    truth = np.full(shape, left, np.float32)
    truth[:, 6:] = right
    return truth


def protocol(**keys):
    body = {
        "id": "edges",
        "version": 1,
        "dataset": "none",
        "quantity": "disparity",
        "pool": "image",
        "scores": [{"metric": "mae"}],
    }
    return make_protocol({**body, **keys}, "test")


def found(truth, **keys):
    made = protocol(**keys)
    return truth_edges(made, prepare(made, None, prepare_truth(made, truth, {})))


@pytest.mark.parametrize(("left", "right"), [(1.0, 5.0), (5.0, 1.0)])
def test_the_higher_side_is_white_and_the_lower_black(left, right):
    truth = step(left, right)
    picture = np.full((*truth.shape, 3), 100, np.uint8)
    Outline(found(truth), truth).draw(picture)
    sides = [tuple(picture[3, 5]), tuple(picture[3, 6])]
    assert sides == ([BLACK, WHITE] if left < right else [WHITE, BLACK])
    assert (picture[:, :5] == 100).all()
    assert (picture[:, 7:] == 100).all()


def test_a_smaller_picture_keeps_the_line():
    truth = step(shape=(80, 120))
    edge = np.zeros(truth.shape, bool)
    edge[:, 5:7] = True
    picture = np.full((8, 12, 3), 100, np.uint8)
    Outline(edge, truth).draw(picture)
    assert (picture[:, 0] != 100).any(axis=-1).all()
    assert (picture[:, 1:] == 100).all()


def test_of_flow_the_longer_side_is_the_higher():
    flow = np.zeros((6, 8, 2), np.float32)
    flow[:, 4:] = (3, 4)
    edge = np.zeros((6, 8), bool)
    edge[:, 3:5] = True
    picture = np.zeros((6, 8, 3), np.uint8)
    Outline(edge, flow).draw(picture)
    assert tuple(picture[2, 4]) == WHITE
    assert tuple(picture[2, 3]) == BLACK


def test_the_jump_is_that_of_the_protocol():
    small = step(1.0, 1.3)
    assert found(small) is None
    assert found(small, scores=[{"metric": "mae", "region": "discontinuities:0.1"}]) is not None
    named = {"regions": {"rim": "discontinuities:0.1 - border:1"}}
    assert found(small, **named, scores=[{"metric": "mae", "region": "rim"}]) is not None


def test_derived_edges_come_first_where_the_protocol_uses_them():
    small = step(1.0, 1.3)
    scores = [{"metric": "foreground_fattening"}]
    assert found(small, scores=scores) is None
    edges = found(small, scores=scores, derived={"edges": "edges:0.1"})
    assert np.flatnonzero(edges.any(axis=0)).tolist() == [5, 6]


def test_missing_truth_is_no_edge():
    truth = step(3.0, 3.0)
    truth[:, 4:8] = np.nan
    assert found(truth) is None
