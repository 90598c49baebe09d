"""Fattening and thinning: hand numbers, references, all quantities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from scenes import as_quantity, make_scene, score, value

from depthgauge.geometry.discontinuities.edges import find_edges, front

NAN = np.nan
ROW = np.array([9] * 6 + [1] * 6, np.float32)  # the edge is between columns 5 and 6


def edge_scene(quantity="disparity", rows=8):
    """A straight edge with 6 px of foreground and 6 px of background, all within reach."""
    disparity = np.tile(ROW, (rows, 1))
    truth = as_quantity(disparity, quantity)
    return disparity, truth, {"edges": find_edges(truth, front(truth, quantity), reach=8)}


def change(disparity, columns, to):
    changed = disparity.copy()
    changed[:, columns] = to
    return changed


@pytest.mark.parametrize("quantity", ["disparity", "depth", "flow"])
@pytest.mark.parametrize(
    ("columns", "to", "fat", "thin"),
    [
        (slice(6, 8), 9, 100 / 3, 0),
        (slice(6, 12), 9, 100, 0),
        (slice(4, 6), 1, 0, 100 / 3),
        (slice(0, 6), 1, 0, 100),
        (slice(6, 8), 20, 100 / 3, 0),  # in front of the foreground is not background
        (slice(0, 6), 20, 0, 0),  # nor is it thin
        (slice(6, 12), 0.5, 0, 0),  # behind the background is not fat
    ],
)
def test_hand_numbers(quantity, columns, to, fat, thin):
    disparity, truth, items = edge_scene(quantity)
    estimate = as_quantity(change(disparity, columns, to), quantity)
    assert value("foreground_fattening", estimate, truth, items) == pytest.approx(fat)
    assert value("foreground_thinning", estimate, truth, items) == pytest.approx(thin)


@pytest.mark.parametrize(("to", "fat"), [(4.9, 0), (5.0, 0), (5.1, 100 / 6)])
def test_halfway_is_where_the_side_changes(to, fat):
    """a > h of equation 4.7; exactly halfway belongs to the truth."""
    disparity, truth, items = edge_scene()
    estimate = change(disparity, 6, to)
    assert value("foreground_fattening", estimate, truth, items) == pytest.approx(fat)


@pytest.mark.parametrize(("to", "thin"), [(5.1, 0), (5.0, 0), (4.9, 100 / 6)])
def test_halfway_is_where_the_side_changes_for_thinning(to, thin):
    disparity, truth, items = edge_scene()
    estimate = change(disparity, 5, to)
    assert value("foreground_thinning", estimate, truth, items) == pytest.approx(thin)


@pytest.mark.parametrize(
    ("columns", "weighted"),
    [
        (slice(6, 7), 0.5 / 18),
        (slice(6, 9), 4.5 / 18),
        (slice(9, 12), 13.5 / 18),
        (slice(6, 12), 1),
    ],
)
def test_pixels_count_by_their_distance_to_the_boundary(columns, weighted):
    """Distances are 0.5, 1.5 ... 5.5 px and add up to 18."""
    disparity, truth, items = edge_scene()
    estimate = change(disparity, columns, 9)
    found = value("foreground_fattening", estimate, truth, items, weight="distance")
    assert found == pytest.approx(100 * weighted)
    mirrored = change(disparity, slice(11 - columns.start, 11 - columns.stop, -1), 1)
    if columns.stop == 12:
        mirrored[:, : 12 - columns.start] = 1
    thin = value("foreground_thinning", mirrored, truth, items, weight="distance")
    assert thin == pytest.approx(100 * weighted)


def test_a_missing_pixel_costs_its_own_weight():
    disparity, truth, items = edge_scene()
    gone = change(disparity, 11, NAN)
    for name, weight, expected in (("none", "none", 100 / 6), ("distance", "distance", 550 / 18)):
        found = value("foreground_fattening", gone, truth, items, weight=weight)
        assert found == pytest.approx(expected), name
        assert value("foreground_fattening", gone, truth, items, None, "skip", weight=weight) == 0
        assert value("foreground_fattening", gone, truth, items, None, "good", weight=weight) == 0


@pytest.mark.parametrize("quantity", ["disparity", "depth", "flow"])
@given(seed=seeds, missing=st.sampled_from(["bad", "skip", "good"]), weighted=st.booleans())
def test_agrees_with_a_reference(quantity, seed, missing, weighted):
    estimate, truth, items = make_scene(seed, quantity)
    edges = items["edges"]
    region = np.random.default_rng(seed).random(truth.shape[:2]) < 0.8
    for name, side, other in (
        ("foreground_fattening", edges.background, edges.foreground_map),
        ("foreground_thinning", edges.foreground, edges.background_map),
    ):
        total = failed = 0.0
        for y, x in zip(*np.nonzero(side & region), strict=True):
            a, r, o = (np.atleast_1d(m[y, x]).astype(np.float64) for m in (estimate, truth, other))
            if not np.isfinite(r).all():
                continue
            weight = float(edges.distance_px[y, x]) + 0.5 if weighted else 1.0
            if not np.isfinite(a).all():
                total += weight * (missing != "skip")
                failed += weight * (missing == "bad")
                continue
            total += weight
            failed += weight * (np.linalg.norm(a - o) < np.linalg.norm(a - r))
        words = {"weight": "distance" if weighted else "none"}
        found = value(name, estimate, truth, items, region, missing, **words)
        assert found == pytest.approx(100 * failed / total, rel=1e-5)


def test_only_pixels_with_an_extrapolated_side_are_judged():
    _, truth, items = edge_scene()
    edges = items["edges"]
    edges.foreground_map[0, 6:] = NAN
    _, state = score("foreground_fattening", truth, truth, items)
    assert state.count == 7 * 6


@pytest.mark.parametrize("weight", ["none", "distance"])
def test_a_map_without_edges_is_an_empty_region(weight):
    truth = np.full((5, 5), 3, np.float32)
    items = {"edges": find_edges(truth, truth)}
    found, state = score("foreground_fattening", truth, truth, items, weight=weight)
    assert np.isnan(found)
    assert (state.count, state.missing) == (0, 0)


def test_the_map_shows_what_is_fat():
    from depthgauge.metrics import METRICS

    disparity, truth, items = edge_scene()
    estimate = change(change(disparity, slice(6, 8), 9), 10, NAN)
    shown = METRICS["foreground_fattening"].error_map(estimate, truth, edges=items["edges"])
    assert shown[3, :6].tolist() == pytest.approx([NAN] * 6, nan_ok=True)
    assert shown[3, 6:].tolist() == pytest.approx([100, 100, 0, 0, NAN, 0], nan_ok=True)
