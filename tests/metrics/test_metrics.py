"""Every metric: hand numbers, the independent reference, and the properties that all must have."""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from maps import make_pair, seeds

from depthgauge.errors import BadScoreId, DuplicateName, UnknownName, WrongShape
from depthgauge.metrics import METRICS, Recipe, metric
from depthgauge.quantities import QUANTITIES
from depthgauge.units import Unit

NAN = np.nan
NAMES = [name for name in METRICS if METRICS[name].recipe_with]
CASES = [(name, {}) for name in NAMES] + [
    ("badpix", {"threshold": 0.3}),
    ("badpix", {"threshold": 0}),
    ("d1", {"threshold": 1, "share": 0.1}),
    ("fl", {"threshold": 1, "share": 0.3}),
    ("npx", {"threshold": 3}),
    ("wauc", {"threshold": 20}),
    ("flow_angle", {"step": 0.1}),
    ("scene_outliers", {"threshold": 2, "share": 0.3}),
    ("scene_accuracy", {"threshold": 2, "share": 0.3}),
    ("mse", {"factor": 100}),
    ("delta", {"ratio": 1.05}),
    ("within", {"degrees": 3}),
    ("within", {"degrees": 180}),
    ("quantile", {"percent": 0}),
    ("quantile", {"percent": 100}),
    ("quantile", {"percent": 90}),
    ("quantile", {"percent": 25, "rule": "floor"}),
    ("quantile", {"percent": 99, "rule": "floor_float32"}),
]


def find_reference(name):
    """The plain NumPy version of a recipe, of `reference.py` or `reference_<name>` of any test."""
    if hasattr(reference, name):
        return getattr(reference, name)
    for path in sorted(Path(__file__).parent.rglob("test_*.py")):
        if f"def reference_{name}(" in path.read_text():
            return runpy.run_path(str(path))[f"reference_{name}"]
    raise AssertionError(
        f"write reference_{name}(x, g, e, missing) in tests/metrics/test_{name}.py"
    )


def value(name, estimate, truth, region=None, missing="bad", **params):
    m = METRICS[name]
    bound = m.bind(params)
    estimate, truth = np.asarray(estimate, np.float32), np.asarray(truth, np.float32)
    state = m.measure(estimate, truth, region, error=error_of(m), **bound)
    return m.finish(state, missing, **bound)


def error_of(m):
    """How pixels are compared where the number of channels would suggest another way."""
    return QUANTITIES[m.of[-1]].error if m.of[-1] == "scene_flow" else None


# --- hand numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "estimate", "truth", "expected"),
    [
        ("mae", {}, [[1, 2, 7, NAN]], [[0, 2, 3, 4]], 5 / 3),
        ("rms", {}, [[1, 2, 7, NAN]], [[0, 2, 3, 4]], math.sqrt(17 / 3)),
        ("mse", {"factor": 100}, [[1, 2, 7, NAN]], [[0, 2, 3, 4]], 1700 / 3),
        ("bias", {}, [[1, 2, 1, NAN]], [[0, 2, 3, 4]], -1 / 3),
        ("bias_deviation", {}, [[1, 2, 1]], [[0, 2, 3]], math.sqrt(5 / 3 - 1 / 9)),
        ("badpix", {"threshold": 2}, [[2, 2.5, -3, NAN, 1]], [[0, 0, 0, 0, NAN]], 75.0),
        ("d1", {}, [[103.5, 106, 14, NAN]], [[100, 100, 10, 10]], 75.0),
        ("d1", {}, [[84, 66, 13, 10]], [[80, 60, 10, 10]], 25.0),
        ("density", {}, [[1, 1, NAN, np.inf]], [[1, 1, 1, 1]], 50.0),
        ("absrel", {}, [[1, 3, 4, NAN]], [[2, 2, 4, 2]], 1 / 3),
        ("sqrel", {}, [[1, 4, 4]], [[2, 2, 4]], 2.5 / 3),
        ("rmse_log", {}, [[math.e, 1]], [[1, 1]], math.sqrt(0.5)),
        ("silog", {}, [[math.e, 1]], [[1, 1]], 50.0),
        ("log10", {}, [[100, 0.1]], [[1, 1]], 1.5),
        ("delta", {"ratio": 1.25}, [[1.2, 1.25, 0.75, 0.9]], [[1, 1, 1, 1]], 50.0),
        ("delta", {}, [[1, -1, 0, NAN]], [[1, 1, 1, 1]], 25.0),
        ("epe", {}, [[[3, 4], [0, 0]]], [[[0, 0], [0, 0]]], 2.5),
        ("npx", {"threshold": 5}, [[[3, 4], [6, 0], [NAN, 0]]], [[[0, 0]] * 3], 200 / 3),
        ("fl", {}, [[[84, 0], [105, 0], [14, 0]]], [[[80, 0], [100, 0], [10, 0]]], 100 / 3),
        ("flow_angle", {}, [[[1, 0], [NAN, 0]]], [[[0, 0], [0, 0]]], 112.5),
        ("wauc", {}, [[[5, 0], [0, 0], [NAN, 0]]], [[[0, 0]] * 3], (0.01 / 50.5 + 1) / 3 * 100),
        (
            "scene_outliers",
            {},
            [[[1.2, 0, 0], [9.2, 0, 0], [1.5, 9, 9]]],
            [[[1, 0, 0], [9, 0, 0], [1, 9, 9]]],
            200 / 3,
        ),
        (
            "scene_accuracy",
            {},
            [[[1.04, 0, 0], [9.2, 0, 0], [1.5, 0, 0]]],
            [[[1, 0, 0], [9, 0, 0], [1, 0, 0]]],
            200 / 3,
        ),
        ("sparsity", {}, [[1, 1, NAN, np.inf]], [[1, 1, 1, 1]], 50.0),
        ("mean_angle", {}, [[[0, -2, 0], [0, 0, -1], [0, 0, 0]]], [[[0, 0, -1]] * 3], 90.0),
        ("within", {}, [[[0, -2, 0], [0, 0, -1], [0, 0, 0]]], [[[0, 0, -1]] * 3], 100 / 3),
        ("within", {"degrees": 90}, [[[0, -2, 0], [0, 0, -1]]], [[[0, 0, -1]] * 2], 50.0),
        ("quantile", {"percent": 50}, [[1, 2, 3, 40]], [[0, 0, 0, 0]], 2.5),
        ("quantile", {"percent": 50, "rule": "floor"}, [[1, 2, 3, 40]], [[0] * 4], 3.0),
        ("quantile", {"percent": 90}, [[0, 1, 2, 3, 4, NAN]], [[0] * 6], 3.6),
    ],
)
def test_hand_number(name, params, estimate, truth, expected):
    assert value(name, estimate, truth, **params) == pytest.approx(expected, rel=1e-6)


def test_every_metric_has_a_reference_and_a_hand_number():
    assert all(callable(find_reference(name)) for name in NAMES)
    by_hand = {name for name, *_ in test_hand_number.pytestmark[0].args[1]}
    assert by_hand <= set(NAMES)
    # The example in the docstring of a new metric is its hand number.
    assert all(">>>" in METRICS[name].doc for name in set(NAMES) - by_hand)


def test_an_error_of_exactly_the_threshold_is_not_bad():
    assert value("badpix", [[2.0]], [[0.0]], threshold=2) == 0
    assert value("badpix", [[np.nextafter(np.float32(2), np.float32(3))]], [[0.0]], threshold=2) > 0
    assert value("npx", [[[0.0, 1.0]]], [[[0.0, 0.0]]], threshold=1) == 0


def test_exactly_five_percent_is_no_outlier():
    """KITTI's own program says it is, because it divides in float32; see the metric's text."""
    assert value("d1", [[84.0]], [[80.0]]) == 0
    assert value("d1", [[126.0]], [[120.0]]) == 0


# --- the independent reference ------------------------------------------------------------------


@pytest.mark.parametrize(("name", "params"), CASES)
@given(seed=seeds, share=st.sampled_from([0.0, 0.2, 1.0]))
def test_agrees_with_the_reference(name, params, seed, share):
    m = METRICS[name]
    estimate, truth = make_pair(seed, missing=share, quantity=m.of[-1])
    region = np.random.default_rng(seed).random(truth.shape[:2]) < 0.7
    plain = find_reference(name)
    kind = "vectors" if getattr(plain, "takes_vectors", False) else error_of(m)
    expected = plain(*reference.errors(estimate, truth, region, kind), **params)
    found = value(name, estimate, truth, region, **params)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)


@given(seed=seeds)
def test_log_metrics_take_what_is_not_positive_as_missing(seed):
    estimate, truth = make_pair(seed, quantity="depth")
    estimate[::3] *= -1
    region = np.ones(truth.shape, bool)
    for name in ("rmse_log", "silog", "log10", "delta"):
        expected = find_reference(name)(*reference.errors(estimate, truth, region))
        assert value(name, estimate, truth) == pytest.approx(expected, rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("missing", ["bad", "skip", "interpolate"])
@pytest.mark.parametrize("name", NAMES)
def test_what_a_missing_pixel_costs(name, missing):
    m = METRICS[name]
    _, truth = make_pair(0, quantity=m.of[-1])
    found = value(name, np.full_like(truth, NAN), truth, missing=missing)
    if getattr(m.recipe(**m.bind({})), "from_counts", False):
        assert found == m.worst
    elif missing == "skip" or math.isinf(m.worst):
        assert math.isnan(found)
    else:
        assert found == m.worst


# --- properties ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
def test_a_perfect_estimate_is_perfect(name, seed):
    m = METRICS[name]
    _, truth = make_pair(seed, quantity=m.of[-1])
    best = {"lower": max(m.bounds[0], 0), "higher": m.bounds[1], "zero": 0.0}[m.better]
    assert value(name, truth, truth) == best


def test_every_metric_has_a_place_in_the_table_of_contents():
    lost = [name for name in METRICS if not METRICS[name].category]
    assert lost == [], "say category=... in the declaration"


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_estimate_takes_the_worst_bound_or_has_no_value(name):
    m = METRICS[name]
    _, truth = make_pair(0, quantity=m.of[-1])
    found = value(name, np.full_like(truth, NAN), truth)
    assert math.isnan(found) if math.isinf(m.worst) else found == m.worst


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_region_is_nan_with_count_0(name):
    m = METRICS[name]
    estimate, truth = make_pair(0, quantity=m.of[-1])
    empty = np.zeros(truth.shape[:2], bool)
    state = m.measure(estimate, truth, empty, error=error_of(m), **m.bind({}))
    assert (state.count, state.missing) == (0, 0)
    for missing in ("bad", "skip"):
        assert math.isnan(m.finish(state, missing, **m.bind({})))


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
def test_states_of_disjoint_regions_add_up(name, seed):
    m = METRICS[name]
    estimate, truth = make_pair(seed, quantity=m.of[-1])
    # Quarters are exact in float32 and their sums in float64, so equality is exact too.
    estimate, truth = np.round(estimate * 4) / 4, np.round(truth * 4) / 4
    rng = np.random.default_rng(seed)
    a = rng.random(truth.shape[:2]) < 0.5
    b = ~a & (rng.random(truth.shape[:2]) < 0.5)
    params = m.bind({})
    params["error"] = error_of(m)
    both = m.measure(estimate, truth, a | b, **params)
    added = m.measure(estimate, truth, a, **params) + m.measure(estimate, truth, b, **params)
    assert (both.count, both.missing) == (added.count, added.missing)
    assert both.sums == pytest.approx(added.sums, rel=1e-12)
    if both.values is not None:
        assert np.array_equal(both.values, added.values)


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds, k=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_a_change_of_unit_scales_the_score_as_declared(name, seed, k):
    m = METRICS[name]
    estimate, truth = make_pair(seed, quantity=m.of[-1])
    params = m.bind({})
    # Thresholds, and the step of directions in space-time, are in the quantity's unit.
    scaled = {key: v * k if key in ("threshold", "step") else v for key, v in params.items()}
    before = value(name, estimate, truth, **params)
    after = value(name, k * estimate, k * truth, **scaled)
    assert after == pytest.approx(before * k**m.unit.degree, rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("name", [n for n in NAMES if not math.isinf(METRICS[n].worst)])
@given(seed=seeds)
def test_removing_pixels_never_improves_a_bounded_score(name, seed):
    m = METRICS[name]
    estimate, truth = make_pair(seed, quantity=m.of[-1])
    fewer = estimate.copy()
    fewer[np.random.default_rng(seed).random(truth.shape[:2]) < 0.3] = NAN
    before, after = value(name, estimate, truth), value(name, fewer, truth)
    assert after >= before - 1e-9 if m.better == "lower" else after <= before + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_an_error_map_has_the_maps_size_and_the_score_as_its_mean(name):
    m = METRICS[name]
    estimate, truth = make_pair(3, quantity=m.of[-1])
    params = m.bind({})
    shown = m.error_map(estimate, truth, error=error_of(m), **params)
    assert shown.shape == truth.shape[:2]
    assert shown.dtype == np.float32
    recipe = m.recipe(**params)
    if isinstance(recipe, Recipe) and recipe.factor is not None:
        skip = "bad" if recipe.from_counts else "skip"
        mean = np.mean(shown[np.isfinite(shown)], dtype=np.float64)
        assert mean == pytest.approx(value(name, estimate, truth, missing=skip), rel=1e-5)


# --- the contract -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_declaration_is_complete(name):
    m = METRICS[name]
    assert all((m.cite, m.formula, m.doc, m.of, m.pools))
    assert m.revision >= 1
    assert ">>>" in m.doc, "a four-number example"
    assert m.bounds[0] < m.bounds[1]


def test_a_name_is_taken_once():
    with pytest.raises(DuplicateName, match=r"metric 'mae' is defined in depthgauge.metrics.pixel"):

        @metric(
            "mae",
            unit=Unit.RATIO,
            better="lower",
            bounds=(0, 1),
            of=("depth",),
            cite="common",
            formula="1",
            revision=1,
        )
        def again() -> Recipe:
            """Something else."""


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(UnknownName, match=r"no metric 'badpx'\. Did you mean 'badpix'\?"):
        METRICS["badpx"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"treshold": 1}, "badpix has no parameter 'treshold'; it has: threshold"),
        ({"threshold": "x"}, "threshold is 'x' but must be a number"),
        ({"threshold": -1}, "must be finite and not negative"),
        ({"threshold": NAN}, "must be finite and not negative"),
        ({"threshold": True}, "must be finite and not negative"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(BadScoreId, match=message):
        METRICS["badpix"].bind(params)
    with pytest.raises(BadScoreId, match="rule is 'best' but must be one of linear, floor"):
        METRICS["quantile"].bind({"rule": "best"})


@pytest.mark.parametrize(
    ("estimate", "truth", "message"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2)), "the estimate is 2x3 but the truth is 3x2"),
        (np.zeros((2, 3, 4)), np.zeros((2, 3, 4)), "the maps have 4 channels"),
        (np.zeros(3), np.zeros(3), "the estimate is 3 but the truth is 3"),
    ],
)
def test_wrong_shapes_are_refused(estimate, truth, message):
    with pytest.raises(WrongShape, match=message):
        value("mae", estimate, truth)


def test_a_region_of_another_size_is_refused():
    with pytest.raises(WrongShape, match="the region is 3x3 but the maps are 2x2"):
        value("mae", np.zeros((2, 2)), np.zeros((2, 2)), np.ones((3, 3), bool))


def test_the_reference_of_a_new_metric_is_found_in_its_own_test():
    with pytest.raises(AssertionError, match=r"write reference_new_one\(x, g, e, missing\) in"):
        find_reference("new_one")
    assert find_reference("mae") is reference.mae
    assert find_reference("found_here")(1, 2, 3, 4) == 10


def reference_found_here(x, g, e, missing):
    return x + g + e + missing
