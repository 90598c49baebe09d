"""Every metric of disparity, depth, flow and scene flow, on maps that nobody should send.

A new metric is in here by itself: it only needs an entry in `needed` if it takes something new.
"""

import math
import warnings

import numpy as np
import pytest
from scenes import make_items, make_scene

from depthgauge.errors import DepthgaugeError
from depthgauge.geometry.warping import OtherView, Visibility
from depthgauge.metrics import METRICS
from depthgauge.regions.truth_view import truth_view
from depthgauge.types import Camera

QUANTITIES = ("disparity", "depth", "flow", "scene_flow")
OF_NO_MAPS = {"row_residual", "wkdr"}
"""A number of the sample, and pairs of points."""
CASES = [
    (name, quantity)
    for name in METRICS
    for quantity in METRICS[name].of
    if quantity in QUANTITIES and name not in OF_NO_MAPS
]
WITH_TRUTH = [case for case in CASES if METRICS[case[0]].uses_truth]
FLOODS = (np.nan, np.inf, -np.inf, 0.0, -5.0, 1e-30, 1e30)
SIZES = [(1, 1), (1, 6), (6, 1), (2, 2), (3, 3)]
# Their count is of things that exist without a truth at a pixel: estimates between true points, or
# outlines of an object.
OF_OTHER_THINGS = {"neighbour_conflicts", "matte_boundary_recall", "edge_accuracy"}
OF_OTHER_THINGS |= {"edge_completeness"}


def needed(truth, quantity):
    """What metrics take beside two maps, at the size of the truth."""
    rng = np.random.default_rng(4)
    shape = height, width = truth.shape[:2]
    y, x = np.indices(shape)
    seen = rng.random(shape) < 0.8
    picture = rng.integers(0, 256, (*shape, 3), np.uint8)
    other = rng.integers(0, 256, (*shape, 3), np.uint8)
    flat = truth if truth.ndim == 2 else truth[..., 0]
    return {
        "visibility": Visibility(seen, ~seen, rng.random(shape) < 0.2),
        "texture_level": rng.integers(0, 5, shape).astype(np.uint8),
        "truth_view": truth_view(truth, left_image=picture),
        "other_views": (
            OtherView(other, depth_px_m=50.0 if quantity == "depth" else math.nan),
            OtherView(other, is_third=True, depth_px_m=9.0 if quantity == "depth" else math.nan),
        ),
        "estimate_confidence": rng.random(shape).astype(np.float32),
        "estimate_right_disparity": flat + np.float32(0.5),
        "previous_estimate": truth + np.float32(0.3),
        "previous_truth": truth + np.float32(0.1),
        "disparity": flat,
        "second_disparity": flat + np.float32(1),
        "estimate_disparity": flat + np.float32(2),
        "estimate_second_disparity": flat,
        "edges_mask": (x == width // 2) | (y == height // 3),
        "matte_mask": (x < width // 2) & (y < height // 2),
        "camera": Camera((60.0, 60.0), (width / 2, height / 2), (width, height)),
        "plane_labels": (1 + x * 2 // width).astype(np.int32),
        "plane_normals": np.array([[0, 0, -1], [0, -0.6, -0.8]], np.float32),
        "continuous_labels": (1 + x * 2 // width).astype(np.int32),
        "estimate_focal_px": 60.0,
    }


def sample(quantity, shape=None):
    """An estimate, a truth, and everything that a metric of the quantity may need."""
    kind = "flow" if quantity == "scene_flow" else quantity
    estimate, truth, items = make_scene(5, kind)
    if quantity == "scene_flow":
        estimate, truth = (np.concatenate([v, v[..., :1]], axis=2) for v in (estimate, truth))
    if shape:
        estimate, truth = (v[: shape[0], : shape[1]] for v in (estimate, truth))
        items = make_items(truth[..., :2] if quantity == "scene_flow" else truth, kind)
    return estimate, truth, {**items, **needed(truth, quantity)}


@pytest.fixture(scope="module")
def samples():
    return {quantity: sample(quantity) for quantity in QUANTITIES}


def measured(name, estimate, truth, items, region=None):
    """Its value under each rule, and its state; no warning may escape."""
    m = METRICS[name]
    bound = m.bind({})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = m.measure(estimate, truth, region, **{n: items[n] for n in m.needs}, **bound)
        return {rule: m.finish(state, rule, **bound) for rule in ("bad", "skip", "good")}, state


def within(name, value):
    low, high = METRICS[name].bounds
    return math.isnan(value) or low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_floods_stay_within_the_bounds(name, quantity, samples):
    _, truth, items = samples[quantity]
    for value in FLOODS:
        flood = np.full_like(truth, value)
        found, state = measured(name, flood, truth, items)
        assert all(within(name, each) for each in found.values()), (value, found)
        assert state.count >= 0
        assert state.missing >= 0


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_no_estimate_never_scores_well(name, quantity, samples):
    """Where low is good, a map without estimates is as bad as possible, or has no value."""
    _, truth, items = samples[quantity]
    nothing = np.full_like(truth, np.nan)
    value = measured(name, nothing, truth, items)[0]["bad"]
    # These ask whether there is an estimate where there should be none.
    if name in ("false_positives", "fpr"):
        assert value == 0
    elif METRICS[name].better != "zero" and not math.isnan(value):
        perfect = {"lower": 0, "higher": METRICS[name].bounds[1]}[METRICS[name].better]
        assert value != perfect
        if not math.isinf(METRICS[name].worst):
            assert value == pytest.approx(METRICS[name].worst)


@pytest.mark.parametrize(("name", "quantity"), WITH_TRUTH)
def test_no_truth_and_no_region_are_no_value(name, quantity, samples):
    estimate, truth, items = samples[quantity]
    empty = np.zeros(truth.shape[:2], bool)
    cases = [(truth, empty)]
    if name not in OF_OTHER_THINGS:
        cases.append((np.full_like(truth, np.nan), None))
    for true, region in cases:
        found, state = measured(name, estimate, true, items, region)
        assert all(math.isnan(value) for value in found.values()), found
        assert (state.count, state.missing) == (0, 0)


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_smallest_maps_are_scored(quantity, shape):
    estimate, truth, items = sample(quantity, shape)
    for name, other in CASES:
        if other == quantity:
            found, _ = measured(name, estimate, truth, items)
            assert all(within(name, each) for each in found.values()), (name, found)


@pytest.mark.parametrize(("name", "quantity"), WITH_TRUTH)
def test_maps_of_another_size_are_refused(name, quantity, samples):
    estimate, truth, items = samples[quantity]
    for wrong in (estimate[:-1], estimate[:, :-3], estimate[:1, :1]):
        with pytest.raises(DepthgaugeError):
            measured(name, wrong, truth, items)
    with pytest.raises(DepthgaugeError):
        measured(name, estimate, truth, items, np.ones((3, 3), bool))


MAPS = [
    (name, quantity, need)
    for name, quantity in CASES
    for need in METRICS[name].needs
    if need.startswith(("estimate_", "previous_")) or need.endswith(("_labels", "_mask", "_level"))
    if need != "estimate_focal_px"
]


@pytest.mark.parametrize(("name", "quantity", "need"), MAPS)
def test_items_of_another_size_are_refused(name, quantity, need, samples):
    estimate, truth, items = samples[quantity]
    for wrong in (items[need][:-1], items[need][:, :1]):
        with pytest.raises(DepthgaugeError):
            measured(name, estimate, truth, {**items, need: wrong})
