"""Edges of depth: hand numbers, a plain reference, and what cannot matter."""

import numpy as np
import pytest
from hypothesis import given
from maps import seeds
from scipy.ndimage import distance_transform_edt

import depthgauge as dg
from depthgauge.errors import BadScoreId
from depthgauge.geometry.boundary_maps.depth_jumps import canny_edges, largest_of_runs, thin_jumps

NAN = np.nan
SIZE = (40, 48)


def step(column=24, near=1.0, far=3.0):
    return np.tile(np.where(np.arange(SIZE[1]) < column, near, far), (SIZE[0], 1))


def line(column):
    return np.tile(np.arange(SIZE[1]) == column, (SIZE[0], 1))


def distances(estimate, truth, edges, limit=10, **options):
    names = [f"edge_accuracy:{limit}", f"edge_completeness:{limit}"]
    items = {"edges_mask": edges}
    found = dg.score(estimate, truth, names, quantity="depth", items=items, check=False, **options)
    return [found[f"{name}@all"].value for name in names]


@pytest.mark.parametrize("moved", [0, 3, 6])
def test_a_moved_edge_is_so_far_away(moved):
    """Canny finds a vertical step as the columns on both of its sides."""
    estimate = step(24 + moved)
    columns = np.flatnonzero(canny_edges(estimate)[20])
    assert columns.tolist() == [23 + moved, 24 + moved]
    accuracy, completeness = distances(estimate, step(), line(24))
    assert accuracy == pytest.approx(np.abs(columns - 24).mean())
    # At the rows of the border Canny finds nothing.
    assert completeness == pytest.approx(np.abs(columns - 24).min(), abs=0.1)


def test_distances_are_cut_and_no_edge_costs_the_limit():
    flat = np.full(SIZE, 2.0)
    assert distances(flat, step(), line(24)) == [10, 10]
    assert distances(flat, step(), line(24), limit=4) == [4, 4]
    # An edge far away: not judged by the accuracy, cut by the completeness.
    assert distances(step(44), step(), line(24)) == [10, 10]


def test_a_missing_pixel_on_an_edge_costs_the_limit():
    estimate = step()
    estimate[:20] = NAN
    _, everywhere = distances(step(), step(), line(24))
    _, half = distances(estimate, step(), line(24))
    assert half > (10 + everywhere) / 2
    _, skipped = distances(estimate, step(), line(24), missing="skip")
    assert skipped < half
    nothing = np.full(SIZE, NAN)
    assert distances(nothing, step(), line(24)) == [10, 10]


def test_a_picture_without_true_edges_has_no_score():
    assert np.isnan(distances(step(), step(), np.zeros(SIZE, bool))).all()


@given(seeds)
def test_agrees_with_scipys_distances(seed):
    rng = np.random.default_rng(seed)
    blocks = np.kron(rng.uniform(1, 5, (5, 6)), np.ones((8, 8)))
    edges = rng.random(SIZE) < 0.02
    edges[3, 3] = True
    found = canny_edges(blocks)
    to_true, to_found = (distance_transform_edt(~mask) for mask in (edges, found))
    near = to_true[found][to_true[found] < 10]
    expected = [near.mean() if near.size else 10, np.minimum(to_found[edges], 10).mean()]
    assert distances(blocks, blocks, edges) == pytest.approx(expected, rel=1e-6)
    # Scale and shift change no edge.
    assert distances(3 * blocks + 1, blocks, edges) == pytest.approx(expected, rel=1e-6)


def test_the_limit_is_positive():
    with pytest.raises(BadScoreId, match="limit is 0 but must be above 0"):
        distances(step(), step(), line(24), limit=0)


# --- jumps between neighbours ---------------------------------------------------------------------


def f1(estimate, truth, **options):
    found = dg.score(estimate, truth, "depth_boundary_f1", quantity="depth", check=False, **options)
    return found["depth_boundary_f1@all"]


def test_hand_number_of_jumps():
    """Two jumps to the right, one of them found, and one made up: P = R = 1/2 at all factors."""
    truth = [[1.0, 2.0, 2.0, 1.0, 2.0, 2.0]]
    estimate = [[1.0, 2.0, 4.0, 2.0, 2.0, 2.0]]
    # Nearer pixels: left of 1->2 at columns 0 and 3, right of 2->1 at column 2.
    # Estimated: left at 0 and 1, right at 2. Left: 1 of 2 and 1 of 2; right: 1 of 1 and 1 of 1.
    found = f1(estimate, truth)
    assert found.value == pytest.approx(0.75)
    assert (found.count, found.missing) == (3, 0)
    lost = f1([[1.0, 2.0, NAN, 2.0, 2.0, 2.0]], truth)
    # The pair with the missing pixel is not found: left 1 of 2, right 0 of 1; precision of left 1.
    recall, precision = 0.25, 1.0
    assert lost.value == pytest.approx(2 * recall * precision / (recall + precision))
    assert (lost.count, lost.missing) == (2, 1)
    skipped = f1([[1.0, 2.0, NAN, 2.0, 2.0, 2.0]], truth, missing="skip")
    assert skipped.value == pytest.approx(2 * 0.5 / 1.5)


def reference_f1(estimate, truth):
    """The definition, pixel by pixel; missing pixels are not found."""
    total, weights = 0.0, 0.0
    for t in np.linspace(1.05, 1.25, 10):
        rates = []
        for axis, sign in ((1, 1), (0, 1), (1, -1), (0, -1)):
            hit = mine = theirs = 0
            for i in np.ndindex(truth.shape):
                j = tuple(n + (k == axis) for k, n in enumerate(i))
                if j[axis] >= truth.shape[axis]:
                    continue
                near, far = (i, j) if sign == 1 else (j, i)
                if np.isnan(truth[i]) or np.isnan(truth[j]):
                    continue
                known = not (np.isnan(estimate[i]) or np.isnan(estimate[j]))
                found = known and estimate[far] / estimate[near] > t
                true = truth[far] / truth[near] > t
                hit, mine, theirs = hit + (found and true), mine + found, theirs + true
            rates.append((hit, mine, theirs))
        p = [h / m for h, m, _ in rates if m]
        r = [h / g for h, _, g in rates if g]
        p, r = (sum(p) / len(p) if p else 0.0), (sum(r) / len(r) if r else 0.0)
        total += t * (2 * p * r / (p + r) if p + r else 0.0)
        weights += t
    return total / weights


@given(seeds)
def test_jumps_agree_with_the_plain_definition(seed):
    rng = np.random.default_rng(seed)
    truth = rng.choice([1.0, 1.1, 1.17, 2.0], (5, 6)).astype(np.float32)
    estimate = (truth * rng.choice([1.0, 1.0, 1.2], (5, 6))).astype(np.float32)
    estimate[rng.random((5, 6)) < 0.1] = NAN
    truth[rng.random((5, 6)) < 0.1] = NAN
    truth[0, :2] = 1.0, 4.0
    found = f1(estimate, truth)
    assert found.value == pytest.approx(reference_f1(estimate, truth))
    assert f1(7 * estimate, truth).value == pytest.approx(found.value)


@given(seeds)
def test_fewer_pixels_never_improve_the_recall_of_jumps(seed):
    rng = np.random.default_rng(seed)
    truth = np.kron(rng.uniform(1, 4, (4, 4)), np.ones((3, 3)))
    assert f1(truth, truth).value == pytest.approx(1)
    less = truth.copy()
    less[rng.random(truth.shape) < 0.2] = NAN
    assert f1(less, truth).value <= 1


def matte(estimate, mask, **options):
    truth = np.ones(np.shape(estimate))
    found = dg.score(
        estimate,
        truth,
        "matte_boundary_recall",
        quantity="depth",
        items={"matte_mask": np.asarray(mask, bool)},
        check=False,
        **options,
    )
    return found["matte_boundary_recall@all"].value


def test_outlines_need_the_object_in_front_and_the_largest_jump():
    mask = [[1, 1, 1, 0, 0, 0]]
    assert matte([[1, 1, 1, 2, 2, 2]], mask) == pytest.approx(1)
    assert matte([[2, 2, 2, 1, 1, 1]], mask) == 0  # the object is behind
    # A soft edge: only its largest step counts, which is not at the outline.
    assert matte([[1, 1, 1.3, 1.7, 3, 3]], mask) == 0
    assert matte([[1, 1, 1.3, 3, 3.9, 3.9]], mask) == pytest.approx(1)
    assert matte([[1, 1, 1, NAN, 2, 2]], mask) == 0
    assert np.isnan(matte([[1, 1, 1, NAN, 2, 2]], mask, missing="skip"))


@given(seeds)
def test_thinning_agrees_with_a_loop(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.9, 1.2, 1.4, 1.5], (5, 9))
    expected = np.zeros(values.shape, bool)
    for row, marks in zip(values, expected, strict=True):
        run = []
        for k in range(len(row) + 1):
            if k < len(row) and row[k] > 1:
                run.append(k)
            elif run:
                marks[run[int(np.argmax(row[run]))]] = True
                run = []
    np.testing.assert_array_equal(largest_of_runs(values, 1.0), expected)


def test_thinning_of_a_flat_map_is_empty():
    assert not any(found.any() for found in thin_jumps(np.ones((4, 5)), 1.1))
