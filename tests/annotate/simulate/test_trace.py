"""Tracing borders: lines, their kinds and sides, junctions and loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from depthgauge.annotate.simulate._trace import FOLD, SHARP, SMOOTH, trace_borders


def traced(labels, right=None, down=None, smooth=False):
    labels = np.array(labels, np.int32)
    height, width = labels.shape
    right = np.zeros((height, width - 1), np.float32) if right is None else right
    down = np.zeros((height - 1, width), np.float32) if down is None else down
    turns = np.full(right.shape, smooth), np.full(down.shape, smooth)
    return trace_borders(labels, (right, down), turns)


def steps_of(labels, depth):
    """Steps between pixels of different labels."""
    right = np.where(labels[:, 1:] != labels[:, :-1], np.diff(depth, axis=1), 0)
    down = np.where(labels[1:] != labels[:-1], np.diff(depth, axis=0), 0)
    return right.astype(np.float32), down.astype(np.float32)


def test_a_fold_across_the_image():
    (line,) = traced([[1, 2], [1, 2], [1, 2]])
    assert line.kind == FOLD
    assert sorted(map(tuple, line.corners.tolist())) == [
        (0.5, -0.5),
        (0.5, 0.5),
        (0.5, 1.5),
        (0.5, 2.5),
    ]
    assert line.tied == (False, False)


def test_the_closer_side_is_right_where_the_right_is_nearer():
    labels = np.array([[1] * 8, [2] * 8])
    depth = np.where(labels == 1, 5.0, 3.0)  # the lower half is closer
    (line,) = traced(labels, *steps_of(labels, depth), smooth=True)
    going_right = line.corners[-1][0] > line.corners[0][0]
    # Going right, right is below.
    assert line.kind == (SMOOTH if going_right else -SMOOTH)


def test_an_island_is_a_loop_with_the_island_on_the_closer_side():
    labels = np.ones((20, 20), np.int32)
    labels[5:15, 5:15] = 2
    depth = np.where(labels == 2, 1.0, 4.0)
    (line,) = traced(labels, *steps_of(labels, depth))
    assert line.closed
    assert len(line.corners) == 41
    x, y = line.corners.T
    area = np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2
    # With y down a positive area runs clockwise on the screen: inside is on the right.
    assert line.kind == (SHARP if area > 0 else -SHARP)
    assert abs(area) == 100


def test_three_surfaces_meet_in_one_junction():
    labels = np.ones((12, 12), np.int32)
    labels[:, 6:] = 2
    labels[6:, :] = 3
    lines = traced(labels)
    assert len(lines) == 3
    ends = [tuple(line.corners[i]) for line in lines for i in (0, -1) if line.tied[i]]
    assert ends == [(5.5, 5.5)] * 3


def test_a_change_of_kind_cuts_a_line_and_a_short_one_does_not():
    labels = np.array([[1, 2]] * 40)
    right = np.zeros((40, 1), np.float32)
    right[:20] = 1.0
    right[30:33] = 1.0  # three pixels of doubt within the fold
    lines = sorted(traced(labels, right), key=lambda line: line.corners[:, 1].min())
    assert [abs(line.kind) for line in lines] == [SHARP, FOLD]
    assert {len(line.corners) for line in lines} == {21}
    assert all(sum(line.tied) == 1 for line in lines)


def test_a_surface_that_hides_a_part_of_itself_has_a_line_within():
    labels = np.ones((9, 20), np.int32)
    down = np.zeros((8, 20), np.float32)
    down[4, 5:15] = -2.0
    (line,) = traced(labels, down=down)
    assert line.loose
    assert len(line.corners) == 11
    assert not traced(labels)


def test_what_is_outside_has_no_border():
    labels = np.zeros((6, 6), np.int32)
    labels[2:4, 2:4] = 7
    assert not traced(labels)


@given(arrays(np.int32, (7, 9), elements=st.integers(0, 3)))
def test_every_border_is_traced_once(labels):
    """As many pixel edges as there are, each in one line; all tied ends are shared."""
    lines = traced(labels)
    edges = [
        frozenset((tuple(a), tuple(b)))
        for line in lines
        for a, b in zip(line.corners[:-1].tolist(), line.corners[1:].tolist(), strict=True)
    ]
    seen = (labels > 0).astype(int)
    count = sum(
        np.count_nonzero((a != b) & (p * q > 0))
        for a, b, p, q in (
            (labels[:, 1:], labels[:, :-1], seen[:, 1:], seen[:, :-1]),
            (labels[1:], labels[:-1], seen[1:], seen[:-1]),
        )
    )
    assert len(edges) == len(set(edges)) == count
    assert all(len(edge) == 2 for edge in edges)
