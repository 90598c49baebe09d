import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import depthgauge as dg
import depthgauge.analysis.maps.stacks as stack_blocks
from depthgauge.analysis.maps.across_methods import (
    best_method,
    least_error,
    median_difference_map,
    median_error,
    share_wrong,
)
from depthgauge.analysis.maps.oracles import (
    ORACLES,
    per_pixel_best,
    per_pixel_mean,
    per_pixel_median,
    per_pixel_median_difference,
    per_pixel_median_disparity,
)
from depthgauge.errors import Misuse, WrongShape

NAN = math.nan
CELLS = st.one_of(st.integers(-40, 40).map(lambda n: n / 4), st.just(NAN))


@st.composite
def stacks(draw, channels=None):
    m, h, w = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    tail = () if channels is None else (channels,)
    stack = draw(hnp.arrays(np.float32, (m, h, w, *tail), elements=CELLS.map(np.float32)))
    truth = draw(hnp.arrays(np.float32, (h, w, *tail), elements=CELLS.map(np.float32)))
    return stack, truth


def length(estimate, truth):
    """Plain: the error of one pixel; NaN where anything is missing."""
    return math.sqrt(sum((e - t) ** 2 for e, t in zip(estimate, truth, strict=True)))


def pixels(stack, truth):
    """Plain: for each pixel the estimates that are there and their errors, all as tuples."""
    channels = 1 if truth.ndim == 2 else truth.shape[2]
    flat = stack.reshape(len(stack), -1, channels).astype(float)
    for i, t in enumerate(truth.reshape(-1, channels).astype(float)):
        known = [tuple(e) for e in flat[:, i] if not np.isnan(e).any()]
        there = not np.isnan(t).any()
        yield known, [length(e, t) for e in known] if there else [], tuple(t), there


def check(made, expected):
    """Compares maps pixel by pixel; None is a pixel without a value."""
    channels = 1 if made.ndim == 2 else made.shape[2]
    for got, want in zip(made.reshape(-1, channels), expected, strict=True):
        if want is None:
            assert np.isnan(got).all()
        else:
            assert got == pytest.approx(want, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("channels", [None, 2])
@given(data=st.data())
def test_oracles_equal_plain_loops(channels, data):
    stack, truth = data.draw(stacks(channels))
    best, mean, median, middle, typical = [], [], [], [], []
    for known, errors, t, there in pixels(stack, truth):
        best.append(known[errors.index(min(errors))] if errors else None)
        mean.append(tuple(sum(c) / len(known) for c in zip(*known, strict=True)) or None)
        median.append(tuple(statistics.median(c) for c in zip(*known, strict=True)) or None)
        moved = (t[0] - statistics.median(errors), *t[1:]) if errors and there else None
        middle.append(moved)
        ranked = sorted(range(len(errors)), key=errors.__getitem__)
        typical.append(known[ranked[(len(ranked) - 1) // 2]] if ranked else None)
    check(per_pixel_best(stack, truth), best)
    check(per_pixel_mean(stack, truth), mean)
    check(per_pixel_median_disparity(stack, truth), median)
    check(per_pixel_median_difference(stack, truth), middle)
    check(per_pixel_median(stack, truth), typical)


@pytest.mark.parametrize("channels", [None, 2])
@given(data=st.data())
def test_agreement_equals_plain_loops(channels, data):
    stack, truth = data.draw(stacks(channels))
    share, least = [], []
    for _, errors, _, there in pixels(stack, truth):
        wrong = len(stack) - sum(e <= 1.0 for e in errors)
        share.append((wrong / len(stack),) if there else None)
        least.append((min(errors),) if errors else None)
    check(share_wrong(stack, truth, 1.0), share)
    check(least_error(stack, truth), least)
    for method in range(len(stack)):
        expected = []
        alone = pixels(stack[method : method + 1], truth)
        for (_, errors, _, _), (_, mine, _, _) in zip(pixels(stack, truth), alone, strict=True):
            expected.append((mine[0] - statistics.median(errors),) if mine else None)
        check(median_difference_map(stack, truth, method), expected)


@given(stacks())
def test_the_best_is_no_worse_than_any_and_the_median_lies_between(found):
    stack, truth = found
    best = np.abs(per_pixel_best(stack, truth) - truth)
    for estimate in stack:
        error = np.abs(estimate - truth)
        assert not (best > error).any()
        assert not (np.isnan(best) & ~np.isnan(error)).any()
    median = per_pixel_median_disparity(stack, truth)
    some = ~np.isnan(median)
    assert (np.fmin.reduce(stack)[some] <= median[some]).all()
    assert (median[some] <= np.fmax.reduce(stack)[some]).all()
    assert np.array_equal(least_error(stack, truth), best, equal_nan=True)
    winner = best_method(stack, truth)
    assert np.array_equal(np.isnan(winner), np.isnan(best))
    for index, estimate in enumerate(stack):
        error = np.abs(estimate - truth)
        others = [np.abs(each - truth) for k, each in enumerate(stack) if k != index]
        rest = np.fmin.reduce([*others, np.full_like(error, np.inf)])
        assert np.array_equal(winner == index, error < rest)


@given(stacks(), st.randoms())
def test_the_order_of_methods_changes_no_median(found, random):
    stack, truth = found
    order = random.sample(range(len(stack)), len(stack))
    for make in (per_pixel_median_disparity, per_pixel_median_difference):
        assert np.array_equal(make(stack, truth), make(stack[order], truth), equal_nan=True)


def test_hand_numbers():
    truth = np.array([[10.0, 10.0, 10.0, NAN]], np.float32)
    stack = np.array(
        [[[9.0, 12.0, NAN, 1.0]], [[11.0, 10.5, NAN, 2.0]], [[14.0, NAN, NAN, 6.0]]], np.float32
    )
    assert per_pixel_best(stack, truth)[0, :2].tolist() == [9.0, 10.5]  # ties: the first
    assert per_pixel_mean(stack, truth)[0].tolist()[:2] == pytest.approx([34 / 3, 11.25])
    assert per_pixel_mean(stack, truth)[0, 3] == 3.0
    assert per_pixel_median_disparity(stack, truth)[0, :2].tolist() == [11.0, 11.25]
    assert per_pixel_median_difference(stack, truth)[0, :2].tolist() == [9.0, 8.75]
    assert per_pixel_median(stack, truth)[0, :2].tolist() == [11.0, 10.5]  # of 1, 1, 4; of 2, 0.5
    for oracle in ORACLES.values():
        assert np.isnan(oracle.make(stack, truth)[0, 2])
    assert np.isnan(per_pixel_best(stack, truth)[0, 3])
    assert share_wrong(stack, truth, 1.0)[0].tolist()[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert median_difference_map(stack, truth, 1)[0, :2].tolist() == [0.0, -0.75]


@given(stacks())
def test_the_estimate_of_median_error_is_one_and_no_better_than_the_best(found):
    stack, truth = found
    made = per_pixel_median(stack, truth)
    there = ~np.isnan(made)
    assert ((stack == made) | ~there).any(axis=0).all()
    assert (np.abs(made - truth) >= np.abs(per_pixel_best(stack, truth) - truth))[there].all()
    if len(stack) % 2 and not np.isnan(stack).any():
        assert np.array_equal(np.abs(made - truth), median_error(stack, truth), equal_nan=True)


def test_average_quality_is_no_better_than_the_best_where_signs_count():
    """All methods are too near beside an edge: so is their median, but not truth - |error|."""
    truth = np.where(np.arange(40) < 20, 20.0, 4.0)[np.newaxis].repeat(8, 0).astype(np.float32)
    stack = [np.where(np.arange(40) < 20 + fat, 20, truth).astype(np.float32) for fat in (3, 5, 8)]
    fat = {
        make.__name__: dg.score(make(stack, truth), truth, "foreground_fattening")[
            "foreground_fattening@all"
        ].value
        for make in (per_pixel_best, per_pixel_median, per_pixel_median_difference)
    }
    assert fat["per_pixel_best"] == 30
    assert fat["per_pixel_median"] == 50
    assert fat["per_pixel_median_difference"] == 0  # better than the best: it is no method
    sided = {name for name, oracle in ORACLES.items() if oracle.sided}
    assert set(ORACLES) - sided == {"per_pixel_median_difference"}


def test_a_flow_of_median_quality_has_the_median_end_point_error():
    truth = np.array([[[1.0, 2.0]]], np.float32)
    stack = truth + np.array([[[[3, 4]]], [[[0, 1]]], [[[6, 8]]]], np.float32)
    made = per_pixel_median_difference(stack, truth)
    assert made.tolist() == [[[-4.0, 2.0]]]
    assert np.hypot(*(made - truth)[0, 0]) == 5.0


def test_half_a_vector_is_missing():
    truth = np.zeros((1, 1, 2), np.float32)
    stack = np.array([[[[NAN, 0.0]]], [[[5.0, 0.0]]]], np.float32)
    assert per_pixel_best(stack, truth).tolist() == [[[5.0, 0.0]]]
    assert per_pixel_mean(stack, truth).tolist() == [[[5.0, 0.0]]]


def test_infinite_counts_as_missing():
    truth = np.array([[1.0, np.inf]], np.float32)
    stack = np.array([[[np.inf, 1.0]], [[2.0, 1.0]]], np.float32)
    assert per_pixel_best(stack, truth)[0, 0] == 2.0
    assert np.isnan(per_pixel_best(stack, truth)[0, 1])
    assert np.isnan(share_wrong(stack, truth, 1.0)[0, 1])


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(37, 5)).astype(np.float32)
    stack = rng.normal(size=(3, 37, 5)).astype(np.float32)
    stack[rng.random(stack.shape) < 0.3] = NAN
    whole = [oracle.make(stack, truth) for oracle in ORACLES.values()]
    monkeypatch.setattr(stack_blocks, "_BLOCK_BYTES", 4 * 3 * 5 * 4)
    for oracle, expected in zip(ORACLES.values(), whole, strict=True):
        assert np.array_equal(oracle.make(list(stack), truth), expected, equal_nan=True)


def test_the_inputs_stay_as_they_are():
    truth = np.array([[1.0]], np.float32)
    stack = np.array([[[np.inf]], [[2.0]]], np.float32)
    for oracle in ORACLES.values():
        oracle.make(stack, truth)
    assert np.isposinf(stack[0, 0, 0])
    assert truth[0, 0] == 1.0


def test_memory_stays_small():
    import tracemalloc

    truth = np.zeros((1500, 1000), np.float32)
    stack = [np.full(truth.shape, k, np.float32) for k in range(10)]
    tracemalloc.start()
    per_pixel_median_difference(stack, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The result and some copies of a block; one copy of the stack alone has 60 MB.
    assert peak < truth.nbytes + 6 * stack_blocks._BLOCK_BYTES < 10 * truth.nbytes / 1.9


def test_wrong_inputs_are_refused():
    truth = np.zeros((2, 2), np.float32)
    with pytest.raises(WrongShape, match="estimate 1 is"):
        per_pixel_best([truth, np.zeros((3, 2), np.float32)], truth)
    with pytest.raises(Misuse, match="no estimates"):
        per_pixel_mean([], truth)


def test_oracles_say_what_they_are():
    for name, oracle in ORACLES.items():
        assert oracle.id == name
        assert oracle.title
        assert oracle.doc.endswith(".")


def directions(*degrees):
    """A row of normals, tilted to the right by so many degrees; NaN: none."""
    turn = np.radians(np.array(degrees, np.float64))
    return np.stack([np.sin(turn), np.zeros_like(turn), -np.cos(turn)], axis=-1)[None]


def test_normals_are_compared_by_their_angle_whatever_their_length():
    truth = directions(0, 0, 0).astype(np.float32)
    near, far = 9 * directions(10, 50, np.nan), directions(30, 20, 40)
    best = per_pixel_best([near, far], truth)
    assert np.allclose(best[0], [near[0, 0], far[0, 1], far[0, 2]])
    middle = per_pixel_median([near, far, directions(20, 90, 90)], truth)
    assert np.allclose(middle[0], [directions(20)[0, 0], near[0, 1], far[0, 2]])
    assert least_error([near, far], truth)[0].tolist() == pytest.approx([10, 20, 40], abs=1e-4)
    assert median_error([near, far], truth)[0].tolist() == pytest.approx([20, 35, 40], abs=1e-4)
    assert share_wrong([near, far], truth, 25)[0].tolist() == [0.5, 0.5, 1.0]
    difference = median_difference_map([near, far], truth, 0)
    assert difference[0, :2].tolist() == pytest.approx([-10, 15], abs=1e-4)


def test_the_mean_of_normals_is_of_directions():
    truth = directions(0, 0)
    mean = per_pixel_mean([7 * directions(20, 20), directions(60, np.nan)], truth)
    turn = np.degrees(np.arctan2(mean[..., 0], -mean[..., 2]))
    assert turn[0].tolist() == pytest.approx([40, 20], abs=1e-4)


def test_a_normal_without_length_is_missing():
    truth = directions(0)
    nothing = np.zeros((1, 1, 3), np.float32)
    assert np.isnan(least_error([nothing], truth)).all()
    assert np.isnan(per_pixel_best([nothing], truth)).all()
