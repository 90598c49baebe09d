"""What all metrics of surfaces, edges and fine structures have in common."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from maps import seeds
from scenes import make_scene, score, value

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.metrics import METRICS

NAMES = [
    "angular_badpix",
    "angular_error",
    "bumpiness",
    "detail_fattening",
    "detail_fattening_simple",
    "edge_quality",
    "fattening_simple",
    "fine_thinning",
    "foreground_fattening",
    "foreground_thinning",
    "fragmentation",
    "light_field_bumpiness",
    "median_angular_error",
    "missed_dots",
    "porosity",
    "smoothing",
    "spatial_badpix",
    "spatial_sparsity",
    "surface_angle",
    "thinning_simple",
    "weak_bumpiness",
]
CASES = [(name, quantity) for name in NAMES for quantity in METRICS[name].of]
ALONE = {"spatial_sparsity", "weak_bumpiness"}
WITH_TRUTH = [(name, quantity) for name, quantity in CASES if name not in ALONE]
few = settings(max_examples=12)


@pytest.fixture(scope="module")
def scenes():
    return {quantity: make_scene(3, quantity) for quantity in ("disparity", "depth", "flow")}


@pytest.mark.parametrize(("name", "quantity"), WITH_TRUTH)
def test_a_perfect_estimate_is_perfect(name, quantity):
    _, truth, items = make_scene(1, quantity)
    found, state = score(name, truth, truth, items)
    assert found == 0
    assert state.count > 0
    assert state.missing == 0


@pytest.mark.parametrize(("name", "quantity"), CASES)
@few
@given(seed=seeds)
def test_scores_stay_within_their_bounds(name, quantity, seed):
    found, state = score(name, *make_scene(seed, quantity))
    low, high = METRICS[name].bounds
    assert low <= found <= high
    assert state.count > 0


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_an_empty_region_is_nan_with_count_0(name, quantity, scenes):
    estimate, truth, items = scenes[quantity]
    empty = np.zeros(truth.shape[:2], bool)
    for missing in ("bad", "skip", "good"):
        found, state = score(name, estimate, truth, items, empty, missing)
        assert math.isnan(found)
        assert (state.count, state.missing) == (0, 0)


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_no_estimate_at_all_is_the_worst_or_no_value(name, quantity, scenes):
    _, truth, items = scenes[quantity]
    nothing = np.full_like(truth, np.nan)
    found, state = score(name, nothing, truth, items)
    assert state.count == 0
    assert state.missing > 0
    worst = {"porosity": 1000, "spatial_badpix": 1000, "spatial_sparsity": 1000}
    if name in worst:
        assert found == pytest.approx(100 * math.log1p(worst[name]), rel=1e-6)
    elif name == "light_field_bumpiness":
        assert found == pytest.approx(5.0)
    elif math.isinf(METRICS[name].worst):
        assert math.isnan(found)
    else:
        assert found == METRICS[name].worst
    if name != "spatial_sparsity":
        assert math.isnan(value(name, nothing, truth, items, missing="skip"))


@pytest.mark.parametrize(("name", "quantity"), CASES)
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_infinite_estimate_is_a_missing_one(name, quantity, infinity, scenes):
    estimate, truth, items = scenes[quantity]
    infinite = np.where(np.isnan(estimate), np.float32(infinity), estimate)
    for missing in ("bad", "skip"):
        expected, state = score(name, estimate, truth, items, missing=missing)
        found, same = score(name, infinite, truth, items, missing=missing)
        assert found == pytest.approx(expected, rel=1e-6)
        assert (same.count, same.missing) == (state.count, state.missing)


# Losing a small fragment leaves fewer of them: so equation 4.14 has it.
MONOTONE = [
    (n, q)
    for n, q in CASES
    if n not in ("fragmentation", "bumpiness", "smoothing", "weak_bumpiness")
]


@pytest.mark.parametrize(("name", "quantity"), MONOTONE)
@few
@given(seed=seeds)
def test_removing_pixels_never_improves_a_score(name, quantity, seed):
    estimate, truth, items = make_scene(seed, quantity)
    fewer = estimate.copy()
    fewer[np.random.default_rng(seed).random(truth.shape[:2]) < 0.15] = np.nan
    before, after = (value(name, e, truth, items) for e in (estimate, fewer))
    assert after >= before - 1e-9


@pytest.mark.parametrize(("name", "quantity"), [c for c in CASES if c[0] != "fragmentation"])
@few
@given(seed=seeds)
def test_states_of_disjoint_regions_add_up(name, quantity, seed):
    estimate, truth, items = make_scene(seed, quantity)
    rng = np.random.default_rng(seed)
    a = rng.random(truth.shape[:2]) < 0.5
    if name == "missed_dots":
        a = items["boxes_labels"] < 3  # a region that cuts a dot makes two of it
    both = score(name, estimate, truth, items)[1]
    added = score(name, estimate, truth, items, a)[1] + score(name, estimate, truth, items, ~a)[1]
    assert (both.count, both.missing) == (added.count, added.missing)
    if name in ("spatial_badpix", "spatial_sparsity"):
        # What ends a gap lies in the region: in a part of it, gaps only grow.
        assert (both.sums <= added.sums + 1e-9).all()
    else:
        assert both.sums == pytest.approx(added.sums, rel=1e-9)
    if both.values is not None:
        assert np.array_equal(both.values, added.values)


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_skip_and_good_are_never_worse_than_bad(name, quantity, scenes):
    bad, skip, good = (value(name, *scenes[quantity], missing=m) for m in ("bad", "skip", "good"))
    assert skip <= bad + 1e-9
    assert good <= bad + 1e-9
    assert value(name, *scenes[quantity], missing="interpolate") == bad


# The camera's normals and a slope in px depend on the unit by nature.
SCALED = [
    (n, q) for n, q in CASES if not (n.endswith(("angle", "angular_error")) or n.startswith("ang"))
]


@pytest.mark.parametrize(("name", "quantity"), SCALED)
def test_a_change_of_unit_scales_the_score_as_declared(name, quantity):
    estimate, truth, items = make_scene(5, quantity)
    m, k = METRICS[name], 4.0
    edges, structures = items["edges"], items["structures"]
    grown = {
        **items,
        "edges": type(edges)(
            edges.edge,
            edges.foreground,
            edges.background,
            edges.distance_px,
            k * edges.foreground_map,
            k * edges.background_map,
        ),
        "structures": type(structures)(
            structures.mask,
            structures.surrounding,
            structures.labels,
            k * structures.foreground_map,
        ),
    }
    params = m.bind({})
    scaled = {key: v * k if key in ("threshold", "clip") else v for key, v in params.items()}
    before = value(name, estimate, truth, items)
    after = value(name, k * estimate, k * truth, grown, **scaled)
    assert after == pytest.approx(before * k**m.unit.degree, rel=1e-5)


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_an_error_map_has_the_maps_size_and_the_score_as_its_mean(name, quantity, scenes):
    estimate, truth, items = scenes[quantity]
    m = METRICS[name]
    params = m.bind({})
    shown = m.error_map(estimate, truth, **{n: items[n] for n in m.needs}, **params)
    assert shown.shape == truth.shape[:2]
    assert shown.dtype == np.float32
    if name in ("fragmentation", "missed_dots", "median_angular_error", "angular_badpix"):
        return  # no means over pixels
    whole = "bad" if name in ("porosity", "spatial_badpix", "spatial_sparsity") else "skip"
    mean = np.mean(shown[np.isfinite(shown)], dtype=np.float64)
    assert mean == pytest.approx(value(name, estimate, truth, items, missing=whole), rel=1e-4)


@pytest.mark.parametrize("name", [n for n in NAMES if METRICS[n].choices])
def test_words_that_are_no_choice_are_refused(name):
    (param, allowed), *_ = METRICS[name].choices.items()
    for word in allowed:
        METRICS[name].bind({param: word})
    with pytest.raises(BadScoreId, match="must be one of"):
        METRICS[name].bind({param: "whatever"})


@pytest.mark.parametrize("name", NAMES)
def test_the_declaration_is_complete(name):
    m = METRICS[name]
    assert all((m.cite, m.formula, m.doc, m.of, m.pools))
    assert "Honauer 2019" in m.cite
    assert ">>>" in m.doc
    assert m.better == "lower"
    assert m.bounds[0] == 0
    assert m.uses_truth == (name not in ALONE)


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_wrong_sizes_are_refused(name, quantity, scenes):
    estimate, truth, items = scenes[quantity]
    with pytest.raises(WrongShape, match="the region is 3x3"):
        score(name, estimate, truth, items, np.ones((3, 3), bool))
    if name in ALONE:
        return
    with pytest.raises(WrongShape):
        score(name, estimate[1:], truth, items)
    if not {"edges", "structures", "rig", "boxes_labels"} & set(METRICS[name].needs):
        return
    with pytest.raises(WrongShape):
        score(name, estimate[1:], truth[1:], items)


@pytest.mark.parametrize(("name", "quantity"), WITH_TRUTH)
def test_truth_that_is_nowhere_known_is_an_empty_region(name, quantity, scenes):
    estimate, truth, items = scenes[quantity]
    found, state = score(name, estimate, np.full_like(truth, np.nan), items)
    assert math.isnan(found)
    assert (state.count, state.missing) == (0, 0)
