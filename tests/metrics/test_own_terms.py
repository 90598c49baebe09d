"""Recipes that bring their own function and weights, and stay in the one pass."""

import math

import numpy as np
import pytest
from hypothesis import given
from maps import make_pair, seeds

from depthgauge._compiled import compiled
from depthgauge.errors import BadData, BadDeclaration, WrongShape
from depthgauge.metrics import METRICS, metric
from depthgauge.metrics._metric import finish_recipe
from depthgauge.metrics.fused.columns import columns_of
from depthgauge.metrics.kernels import moments as _kernels
from depthgauge.metrics.kernels import terms as _terms
from depthgauge.metrics.moments import (
    error_kind,
    map_recipe,
    measure_moments,
    measure_recipe,
)
from depthgauge.metrics.order import count_within, sorted_errors
from depthgauge.metrics.terms import (
    ABS,
    LOG,
    RELATIVE,
    SIGNED,
    SQUARE,
    ErrorKind,
    Kind,
    Order,
    Recipe,
    Term,
    beyond,
    mean,
    over,
    own,
    root_mean,
)
from depthgauge.regions import pack
from depthgauge.units import Unit


def huber(error, estimate, truth, limit):
    size = np.abs(error.astype(np.float64))
    return np.where(size <= limit, size**2 / 2, limit * (size - limit / 2))


def test_huber_by_hand():
    # 0.5 and 1 are within the limit: 0.125 and 0.5; 3 is beyond: 1 * (3 - 0.5) = 2.5.
    recipe = mean(own("huber", huber, 1.0))
    state = measure_recipe(recipe, *maps([0.5, -1, 3, np.nan], [0, 0, 0, 0]), None)
    assert (state.count, state.missing) == (3, 1)
    assert finish_recipe(recipe, state, "bad") == pytest.approx((0.125 + 0.5 + 2.5) / 3)


def maps(*rows):
    return tuple(np.array([row], np.float32) for row in rows)


# --- the kernel's own -----------------------------------------------------------------------------

VALUES = {
    Kind.ABS: lambda e, x, g: abs(e),
    Kind.SQUARE: lambda e, x, g: e * e,
    Kind.SIGNED: lambda e, x, g: e,
    Kind.OVER: lambda e, x, g: float(not abs(e) <= 0.75),
    Kind.OVER_BOTH: lambda e, x, g: float(abs(e) > 0.75 and abs(e) > 0.25 * abs(g)),
    Kind.RELATIVE: lambda e, x, g: abs(e) / g,
    Kind.RELATIVE_SQUARE: lambda e, x, g: e * e / g,
    Kind.LOG_SQUARE: lambda e, x, g: math.log(x / g) ** 2,
    Kind.LOG: lambda e, x, g: math.log(x / g),
    Kind.LOG10: lambda e, x, g: abs(math.log10(x / g)),
    Kind.BEYOND: lambda e, x, g: float(not max(x / g, g / x) < 0.75),
}


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_case_in_the_kernel(kind):
    """A kind without one would be NaN here, and nothing else: never the value of another."""
    estimate, truth = maps([1.0, 3.0, 2.5, 8.0], [2.0, 2.0, 2.0, 2.0])
    expected = np.mean([VALUES[kind](x - 2.0, x, 2.0) for x in (1.0, 3.0, 2.5, 8.0)])
    recipe = mean(Term(kind.name.lower(), (0.75, 0.25)))
    state = measure_recipe(recipe, estimate, truth, None)
    assert finish_recipe(recipe, state, "skip") == pytest.approx(expected, rel=1e-6)


def test_a_kind_without_a_case_is_not_a_number():
    out = np.zeros(1)
    one = np.ones(1, np.float32)
    _terms.term_values(len(Kind), 0.0, 0.0, one, one, one, out)
    assert np.isnan(out[0])
    assert set(Kind) == _terms.CASES


def test_an_unknown_term_is_refused_when_it_is_made():
    with pytest.raises(BadDeclaration) as caught:
        Term("squre")
    assert str(caught.value) == (
        "no term 'squre'. Did you mean 'square'? Known: abs, square, signed, over, over_both, "
        "relative, relative_square, log_square, log, log10, beyond. Give your own "
        "term a function: own(name, function)."
    )
    with pytest.raises(BadDeclaration, match="computed by a function"):
        _ = own("huber", huber, 1.0).kind


# --- own terms beside the kernel's ----------------------------------------------------------------


def as_own(function):
    return own("mine", lambda e, x, g: function(e.astype(np.float64), x, g))


SAME = [
    (ABS, as_own(lambda e, x, g: np.abs(e))),
    (SQUARE, as_own(lambda e, x, g: e * e)),
    (SIGNED, as_own(lambda e, x, g: e)),
    (over(0.5), as_own(lambda e, x, g: ~(np.abs(e) <= 0.5))),
]


def scene(shape=(150, 900), channels=1):
    rng = np.random.default_rng(4)
    whole = shape if channels == 1 else (*shape, channels)
    truth = rng.uniform(1, 50, whole).astype(np.float32)
    estimate = (truth + rng.normal(0, 1, whole)).astype(np.float32)
    estimate[rng.random(shape) < 0.2] = np.nan
    truth[rng.random(shape) < 0.1] = np.nan
    masks = {"all": np.ones(shape, bool), "speckled": rng.random(shape) < 0.5}
    masks["box"] = np.zeros(shape, bool)
    masks["box"][20:90, 100:700] = True
    return estimate, truth, masks


@pytest.mark.parametrize("channels", [1, 2])
def test_an_own_term_sums_to_the_same_bits_as_the_kernels(channels):
    estimate, truth, masks = scene(channels=channels)
    assert truth.shape[0] * truth.shape[1] > 2 * _kernels.TILE
    plane = pack(masks, truth)
    terms = tuple(term for pair in SAME for term in pair)
    moments = measure_moments(estimate, truth, plane, terms)
    alone = measure_moments(estimate, truth, plane, tuple(term for term, _ in SAME))
    for theirs, mine in SAME:
        for name in masks:
            assert moments.state(name, (theirs,)) == alone.state(name, (theirs,))
            assert moments.state(name, (theirs,)) == moments.state(name, (mine,))


def test_the_number_of_threads_changes_nothing(on_threads):
    estimate, truth, masks = scene((400, 1500))
    plane = pack(masks, truth)
    terms = (own("huber", huber, 0.7), ABS, *columns_of(mean(SQUARE, weight="w"), {"w": truth**2}))
    known = np.nan_to_num(truth, nan=1)
    found = on_threads(lambda: measure_moments(estimate, known, plane, terms).sums)
    assert all(np.array_equal(found[0], sums) for sums in found)


def test_an_own_term_sees_only_pixels_that_count():
    seen = []

    def look(error, estimate, truth):
        seen.append((error, estimate, truth))
        return np.ones_like(error)

    estimate, truth, masks = scene((40, 50))
    plane = pack({"box": masks["speckled"]}, truth)
    state = measure_moments(estimate, truth, plane, (own("look", look),)).state(
        "box", (own("look", look),)
    )
    inside = masks["speckled"] & np.isfinite(truth) & np.isfinite(estimate)
    assert state.count == state.sums[0] == inside.sum()
    error, x, g = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    assert np.array_equal(x, estimate[inside])
    assert np.array_equal(g, truth[inside])
    assert np.array_equal(error, x - g)


def test_an_own_term_sees_all_channels():
    def redness(error, estimate, truth):
        assert estimate.shape == truth.shape == (*error.shape, 4)
        return estimate[:, 0] - truth[:, 0]

    estimate, truth = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 4), np.float32)
    estimate[..., 0] = 2.0
    recipe = mean(own("redness", redness))
    state = measure_recipe(recipe, estimate, truth, None, error="channels")
    assert finish_recipe(recipe, state, "bad") == 2.0


@compiled()
def _cubed(error, estimate, truth):
    out = np.zeros(error.size)
    for i in range(error.size):
        out[i] = abs(error[i]) ** 3
    return out


def test_an_own_term_may_be_compiled():
    recipe = mean(own("cubed", _cubed))
    state = measure_recipe(recipe, *maps([1, 2], [0, 0]), None)
    assert finish_recipe(recipe, state, "bad") == 4.5


def test_the_kernel_is_not_compiled_anew():
    kernel = _kernels.moments.__wrapped__
    estimate, truth, masks = scene((40, 50))
    plane = pack(masks, truth)
    measure_moments(estimate, truth, plane, (ABS,))
    before = len(kernel.signatures)
    for power in (2, 3):
        term = own("power", lambda e, x, g, p: np.abs(e) ** p, power)
        measure_moments(estimate, truth, plane, (term, *columns_of(mean(ABS, weight="w"), ONES)))
    assert len(kernel.signatures) == before


ONES = {"w": np.ones((40, 50), np.float32)}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda e, x, g: 3.0, "term 'odd' gave one number for 2 pixels"),
        (lambda e, x, g: e[:1], "term 'odd' gave 1 for 2 pixels"),
        (lambda e, x, g: e * np.nan, "term 'odd' gave NaN at 2 pixels that have an estimate"),
    ],
)
def test_what_an_own_term_may_not_give(function, message):
    with pytest.raises(BadDeclaration, match=message):
        measure_recipe(mean(own("odd", function)), *maps([1, 2], [0, 0]), None)


def test_an_error_map_shows_an_own_term():
    recipe = mean(own("huber", huber, 1.0), 10.0)
    found = map_recipe(recipe, *maps([0.5, -1, 3, np.nan, 1], [0, 0, 0, 0, np.nan]))
    assert found[0, :3].tolist() == [1.25, 5.0, 25.0]
    assert np.isnan(found[0, 3:]).all()
    positive = mean(own("log", lambda e, x, g: np.log(x / g), positive=True))
    assert np.isnan(map_recipe(positive, *maps([-1], [1]))[0, 0])


# --- weights --------------------------------------------------------------------------------------


def score(recipe, estimate, truth, missing="bad", **needs):
    state = measure_recipe(recipe, estimate, truth, None, needs)
    return finish_recipe(recipe, state, missing)


def test_weighted_bad_pixels_by_hand():
    """Errors 0, 3, 3 and one missing, with weights 1, 2, 3 and 4."""
    estimate, truth, w = maps([0, 3, -3, np.nan], [0, 0, 0, 0], [1, 2, 3, 4])
    recipe = mean(over(2.0), 100.0, weight="w")
    assert score(recipe, estimate, truth, w=w) == pytest.approx(100 * (2 + 3 + 4) / 10)
    assert score(recipe, estimate, truth, "skip", w=w) == pytest.approx(100 * 5 / 6)
    assert score(recipe, estimate, truth, "good", w=w) == pytest.approx(100 * 5 / 10)
    state = measure_recipe(recipe, estimate, truth, None, {"w": w})
    assert (state.count, state.missing) == (3, 1)
    assert state.sums.tolist() == [5.0, 6.0, 4.0]


@given(seeds)
def test_weights_of_one_change_no_bit(seed):
    estimate, truth = make_pair(seed)
    ones = np.ones(truth.shape, np.float32)
    for term in (ABS, SQUARE, SIGNED, over(0.5), RELATIVE, LOG, beyond(1.25)):
        plain, weighted = mean(term), mean(term, weight="w")
        for missing in ("bad", "skip"):
            expected = score(plain, estimate, truth, missing)
            found = score(weighted, estimate, truth, missing, w=ones)
            assert found == expected or (np.isnan(found) and np.isnan(expected))


def test_weighted_means_are_numpys():
    estimate, truth, masks = scene()
    rng = np.random.default_rng(1)
    w = rng.uniform(0, 3, truth.shape).astype(np.float32)
    recipe = Recipe((SQUARE, ABS), lambda s, m: s / m, factor=None, weight="w")
    columns = columns_of(recipe, {"w": w})
    moments = measure_moments(estimate, truth, pack(masks, truth), columns)
    for name, mask in masks.items():
        inside = mask & np.isfinite(truth) & np.isfinite(estimate)
        e, v = (estimate - truth)[inside].astype(np.float64), w[inside].astype(np.float64)
        expected = np.average(e**2, weights=v) / np.average(np.abs(e), weights=v)
        found = finish_recipe(recipe, moments.state(name, columns), "skip")
        assert found == pytest.approx(expected, rel=1e-9)


def test_weighted_states_add_over_samples():
    estimate, truth, _ = scene((60, 80))
    w = np.abs(np.nan_to_num(truth))
    recipe = root_mean(SQUARE)
    recipe = Recipe(recipe.terms, recipe.combine, factor=None, weight="w")
    parts = [
        measure_recipe(recipe, estimate[rows], truth[rows], None, {"w": w[rows]})
        for rows in (slice(0, 20), slice(20, 60))
    ]
    merged = finish_recipe(recipe, parts[0] + parts[1], "skip")
    assert merged == pytest.approx(score(recipe, estimate, truth, "skip", w=w), rel=1e-12)


def test_no_weight_at_all_is_no_value():
    estimate, truth, w = maps([0, 3], [0, 0], [0, 0])
    assert np.isnan(score(mean(ABS, weight="w"), estimate, truth, w=w))


def test_a_missing_pixel_without_weight_costs_nothing():
    estimate, truth, w = maps([np.nan, 1], [0, 0], [0, 1])
    assert score(mean(over(2.0), 100.0, weight="w"), estimate, truth, w=w) == 0.0


def test_weights_may_be_computed_from_what_a_metric_needs():
    def near(left_image):
        return left_image[..., 0] / 255

    image = np.array([[[255, 0, 0], [51, 0, 0]]], np.uint8)
    estimate, truth = maps([1, 3], [0, 0])
    found = score(mean(ABS, weight=near), estimate, truth, left_image=image)
    assert found == pytest.approx((1 + 3 * 0.2) / 1.2)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(wrong):
    estimate, truth, w = maps([0, 3, 1], [0, 0, np.nan], [1, wrong, 1])
    with pytest.raises(BadData, match="the weights 'w' are negative or missing at some pixels"):
        score(mean(ABS, weight="w"), estimate, truth, w=w)
    outside = w[:, [0, 0, 1]]  # the pixel without truth has the wrong weight: nobody asks for it
    assert score(mean(ABS, weight="w"), estimate, truth, w=outside) == 1.5


def test_weights_of_another_size_or_name_are_refused():
    estimate, truth = maps([0, 3], [0, 0])
    with pytest.raises(WrongShape, match="the weights 'w' are 2x2 but the maps are 1x2"):
        score(mean(ABS, weight="w"), estimate, truth, w=np.ones((2, 2)))
    with pytest.raises(BadDeclaration, match="'v' of a recipe is not among its metric's needs"):
        score(mean(ABS, weight="v"), estimate, truth, w=np.ones((1, 2)))


# --- as metrics, through the public call ----------------------------------------------------------


@pytest.fixture
def metrics(monkeypatch):
    """Two metrics of one's own, for one test."""
    assert len(METRICS)
    monkeypatch.setattr(METRICS, "_things", dict(METRICS._things))
    monkeypatch.setattr(METRICS, "_homes", dict(METRICS._homes))
    same = {"unit": Unit.QUANTITY, "better": "lower", "of": ("disparity",), "cite": "x"}
    same |= {"bounds": (0, math.inf), "formula": "x", "revision": 1}

    @metric("huber", **same)
    def huber_metric(*, limit: float = 1.0) -> Recipe:
        """Mean Huber loss."""
        return mean(own("huber", huber, limit))

    @metric(
        "lit_badpix", **{**same, "unit": Unit.PERCENT, "bounds": (0, 100)}, needs=("left_image",)
    )
    def lit_badpix(*, threshold: float = 1.0) -> Recipe:
        """Bad pixels, weighted by brightness."""
        return mean(over(threshold), 100.0, weight=lambda left_image: left_image)


def test_own_metrics_are_scored_beside_others(metrics):
    import depthgauge as dg

    light = np.array([[10, 20, 30, 40]], np.uint8)
    found = dg.score(
        [[0.5, -1, 3, np.nan]],
        [[0, 0, 0, 0]],
        ["huber", "huber:2", "mae", "lit_badpix:2", "lit_badpix:0.7"],
        regions={"right": np.array([[False, True, True, True]])},
        items={"left_image": light},
    )
    values = {name: s.value for name, s in found.items() if not name.startswith("density")}
    assert values == pytest.approx(
        {
            "huber@all": (0.125 + 0.5 + 2.5) / 3,
            "huber@right": 1.5,
            "huber:2@all": (0.125 + 0.5 + 4) / 3,
            "huber:2@right": 2.25,
            "mae@all": 1.5,
            "mae@right": 2.0,
            "lit_badpix:2@all": 70.0,
            "lit_badpix:2@right": 100 * 70 / 90,
            "lit_badpix:0.7@all": 90.0,
            "lit_badpix:0.7@right": 100.0,
        }
    )
    assert (found["lit_badpix:2@all"].count, found["lit_badpix:2@all"].missing) == (3, 1)
    assert found["lit_badpix:2@all"].total is None
    assert found["huber@all"].total == pytest.approx(3.125)


def test_own_metrics_alone_and_their_maps(metrics):
    estimate, truth = maps([0.5, -1, 3, np.nan], [0, 0, 0, 0])
    light = np.array([[1, 1, 2, 4]], np.float32)
    declared = METRICS["lit_badpix"]
    state = declared.measure(estimate, truth, None, threshold=2.0, left_image=light)
    assert declared.finish(state, "bad", threshold=2.0) == 75.0
    shown = declared.error_map(estimate, truth, threshold=2.0, left_image=light)
    assert shown[0, :3].tolist() == [0.0, 0.0, 100.0]


# --- how two pixels are compared ------------------------------------------------------------------


def test_three_channels_need_not_be_directions():
    estimate = np.array([[[0.5, 0.5, 0.5], [0.0, 0.6, 0.3]]], np.float32)
    truth = np.zeros((1, 2, 3), np.float32)
    found = measure_recipe(mean(ABS), estimate, truth, None, error="channels")
    assert found.sums[0] == pytest.approx(0.5 + 0.3)
    length = measure_recipe(mean(ABS), estimate, truth, None, error="length")
    assert length.sums[0] == pytest.approx(math.sqrt(0.75) + math.sqrt(0.45))
    assert np.allclose(map_recipe(mean(ABS), estimate, truth, error="channels"), [[0.5, 0.3]])


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
@pytest.mark.parametrize("error", ["channels", "length"])
def test_errors_of_many_channels_are_numpys(channels, error):
    estimate, truth, masks = scene((60, 90), channels)
    plane = pack(masks, truth)
    terms = (ABS, SQUARE, over(0.5))
    moments = measure_moments(estimate, truth, plane, terms, error=error)
    difference = (estimate - truth).reshape(*truth.shape[:2], -1).astype(np.float64)
    size = np.sqrt((difference**2).sum(-1)) if error == "length" else np.abs(difference).mean(-1)
    shown = map_recipe(mean(ABS), estimate, truth, error=error)
    assert np.allclose(shown, size, rtol=1e-5, atol=1e-6, equal_nan=True)
    for name, mask in masks.items():
        inside = size[mask & np.isfinite(size)]
        state = moments.state(name, terms)
        expected = [inside.sum(), (inside**2).sum(), (inside > 0.5).sum()]
        assert state.count == inside.size
        assert np.allclose(state.sums, expected, rtol=1e-5, atol=1)
        errors = sorted_errors(estimate, truth, plane, name, error=error)
        assert np.allclose(errors.values, np.sort(inside), rtol=1e-5, atol=1e-6)
        within, count, _ = count_within(
            estimate,
            truth,
            mask & np.isfinite(truth).reshape(*truth.shape[:2], -1).all(-1),
            (0.5, 1.0),
            error=error,
        )
        assert (within[0], count) == ((errors.values <= np.float32(0.5)).sum(), errors.count)


def test_channels_decide_where_nobody_says():
    shapes = [(2, 2), (2, 2, 2), (2, 2, 3)]
    kinds = [ErrorKind.DIFFERENCE, ErrorKind.LENGTH, ErrorKind.ANGLE]
    assert [error_kind(np.zeros(shape, np.float32), None) for shape in shapes] == kinds
    with pytest.raises(WrongShape, match="the maps have 5 channels; flow has 2"):
        error_kind(np.zeros((2, 2, 5), np.float32), None)
    with pytest.raises(WrongShape, match="an error that is an angle needs 3"):
        error_kind(np.zeros((2, 2, 2), np.float32), "angle")
    with pytest.raises(WrongShape, match="a difference needs 1"):
        error_kind(np.zeros((2, 2, 2), np.float32), "difference")


def test_quantiles_of_many_channels():
    from depthgauge.metrics.order import select

    estimate, truth, masks = scene((60, 90), 3)
    plane = pack(masks, truth)
    found = select(estimate, truth, plane, [("all", Order(50.0))], error="channels")
    state = sorted_errors(estimate, truth, plane, "all", error="channels")
    assert found["all", Order(50.0)][0] == pytest.approx(float(np.median(state.values)), rel=1e-6)
