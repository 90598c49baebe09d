import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.bootstrap.intervals import (
    contains_zero,
    difference,
    interval,
    percentile_bounds,
    pooled_interval,
    replicate,
)
from depthgauge.analysis.bootstrap.pooling import MIN_UNITS, Replicates, replicate_scores
from depthgauge.analysis.bootstrap.resampling import (
    Draws,
    draw,
    draw_units,
    group_samples,
    make_units,
    whole,
)
from depthgauge.analysis.seeds import scores_of
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.types import Score, State

SCORES = [
    {"metric": "badpix", "threshold": [1]},
    {"metric": "mae"},
    {"metric": "rms"},
    {"metric": "bias"},
    {"metric": "quantile", "percent": [50, 90]},
    {"metric": "quantile", "percent": 75, "rule": "floor"},
    {"metric": "density"},
]


def random_errors(n=12, seed=3, labels=("a", "b"), missing=0.1):
    rng = np.random.default_rng(seed)
    table = {}
    for label in labels:
        table[label] = {}
        for i in range(n):
            errors = rng.normal(0, 1 + i / 4, 20 + 3 * i)
            errors[rng.random(errors.size) < missing] = np.nan
            table[label][f"s{i:02}"] = errors
    return table


SCENES = {f"s{i:02}": f"scene {i // 2}" for i in range(24)}


@pytest.mark.parametrize("pool", ["image", "scene", "pixel"])
@pytest.mark.parametrize("missing", ["bad", "skip"])
@pytest.mark.parametrize("scenes", [{}, SCENES], ids=["samples", "scenes"])
def test_the_whole_draw_gives_the_pooled_value(build, pool, missing, scenes):
    run = build.from_errors(random_errors(24), scenes, pool=pool, missing=missing, scores=SCORES)
    once = whole(make_units(run))
    for spec in run.protocol.specs:
        found = replicate(run, "a", spec.id, once)
        summary = run.results["a", 0].summary[spec.id].value
        assert found.values == pytest.approx([summary], rel=1e-12, abs=1e-12), spec.id


@pytest.mark.parametrize("pool", ["image", "scene", "pixel"])
def test_a_resample_is_what_scoring_the_drawn_samples_gives(build, pool):
    """Independent: draw, repeat the samples under new names, and let the engine pool them."""
    errors = random_errors(24, labels=("a",))
    run = build.from_errors(errors, SCENES, pool=pool, scores=SCORES)
    draws = draw_units(run, resamples=6, seed=4)
    for b, counts in enumerate(draws.counts.astype(int)):
        table, scenes = {}, {}
        for name, values in errors["a"].items():
            for copy in range(counts[draws.units.of[name]]):
                table[f"{name} {copy}"] = values
                scenes[f"{name} {copy}"] = f"{SCENES[name]} {copy}"
        again = build.from_errors({"a": table}, scenes, pool=pool, scores=SCORES)
        for spec in run.protocol.specs:
            expected = again.results["a", 0].summary[spec.id].value
            got = replicate(run, "a", spec.id, draws).values[b]
            assert got == pytest.approx(expected, rel=1e-12, abs=1e-12), spec.id


def test_units_are_scenes_and_lone_samples():
    units = group_samples(["b", "a", "d", "c"], {"a": "x", "b": "x", "c": "y"})
    assert units.names == ("d", "x", "y")
    assert dict(units.of) == {"a": 1, "b": 1, "c": 2, "d": 0}
    assert units.scenes
    assert not group_samples(["a", "b"], {}).scenes


def test_a_sample_named_as_a_scene_is_not_of_it():
    units = group_samples(["x", "y"], {"y": "x"})
    assert units.of["x"] != units.of["y"]


def test_draws_have_the_right_size_and_are_the_same_again():
    units = group_samples([f"s{i}" for i in range(9)], {})
    draws = draw(units, resamples=50, seed=1)
    assert draws.counts.shape == (50, 9)
    assert (draws.counts.sum(axis=1) == 9).all()
    assert np.array_equal(draws.counts, draw(units, resamples=50, seed=1).counts)
    assert not np.array_equal(draws.counts, draw(units, resamples=50, seed=2).counts)


def test_draws_are_binomial():
    """Each unit comes n * 1/n = 1 times on average, with variance 1 - 1/n."""
    counts = draw(group_samples([f"s{i}" for i in range(10)], {}), resamples=20000).counts
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.03)
    assert counts.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.04)


def test_hand_numbers_of_an_image_resample(build):
    values = {f"s{i}": float(i) for i in range(8)}
    run = build.from_values({"a": values})
    counts = np.array([[8, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 4, 0, 0, 0, 4]], float)
    found = replicate(run, "a", "mae@all", Draws(make_units(run), counts))
    assert found.values.tolist() == [0.0, 5.0]
    assert found.units == 8


def test_samples_of_a_scene_come_together(build):
    values = {f"s{i:02}": float(i) for i in range(16)}
    run = build.from_values({"a": values}, SCENES)
    draws = draw_units(run)
    assert draws.counts.shape[1] == 8
    counts = np.zeros((1, 8))
    counts[0, 0] = 8
    found = replicate(run, "a", "mae@all", Draws(draws.units, counts))
    assert found.values.tolist() == [0.5]


def test_too_few_units(build):
    run = build.from_values({"a": {f"s{i}": float(i) for i in range(MIN_UNITS - 1)}})
    found = pooled_interval(run, "a", "mae@all")
    assert not found.known
    assert found.why == "too few"
    more = build.from_values({"a": {f"s{i}": float(i) for i in range(MIN_UNITS)}})
    assert pooled_interval(more, "a", "mae@all").known


def test_sixteen_samples_of_seven_scenes_are_too_few(build):
    scenes = {f"s{i}": f"scene {i % 7}" for i in range(16)}
    run = build.from_values({"a": {f"s{i}": float(i) for i in range(16)}}, scenes)
    assert pooled_interval(run, "a", "mae@all").why == "too few"


def test_an_incomplete_value_has_no_interval(build):
    values = {f"s{i}": float(i) for i in range(9)}
    run = build.from_values({"a": {**values, "s3": math.nan}})
    assert pooled_interval(run, "a", "mae@all").why == "incomplete"
    assert pooled_interval(run, "nobody", "mae@all").why == "incomplete"


def test_an_infinite_value_has_no_interval(build):
    values = {f"s{i}": float(i) for i in range(9)}
    run = build.from_values({"a": {**values, "s3": math.inf}})
    assert pooled_interval(run, "a", "mae@all").why == "infinite"


@pytest.mark.parametrize("pool", ["image", "pixel"])
def test_empty_samples_are_left_out(build, pool):
    errors = random_errors(10, labels=("a",), missing=0)
    run = build.from_errors({"a": {**errors["a"], "empty": []}}, pool=pool)
    found = pooled_interval(run, "a", "mae@all", resamples=300)
    assert found.known
    draws = draw_units(run, resamples=300)
    assert replicate(run, "a", "mae@all", draws).units == 10


def test_resamples_without_anything_drawn_are_left_out():
    values = np.array([1.0, np.nan, 3.0, 2.0])
    low, high = percentile_bounds(values, 8, 0.5)
    assert 1.0 <= low <= high <= 3.0


def test_states_that_were_not_stored_say_so(build):
    from dataclasses import replace

    run = build.from_errors(random_errors(9, labels=("a",)), pool="pixel", scores=SCORES)
    draws = draw_units(run, resamples=50)
    for score_id in ("quantile:50@all", "rms@all"):
        scores = scores_of(run, ("a", 0), score_id)
        lost = {n: replace(s, state=None) for n, s in scores.items()}
        assert replicate_scores(run.protocol, score_id, lost, draws).why == "not stored"
        bare = {n: replace(s, state=replace(s.state, values=None)) for n, s in scores.items()}
        why = replicate_scores(run.protocol, score_id, bare, draws).why
        assert why == ("not stored" if score_id.startswith("quantile") else "")


def test_the_interval_of_a_known_case():
    """999 evenly spread values: the quantiles are the tails themselves (t(7) = 2.3646)."""
    found = interval(Replicates(np.arange(1001.0) / 1000, 8), 0.95)
    tail = 0.5 * math.erfc(math.sqrt(8 / 7) * 2.364624 / math.sqrt(2))
    assert found.low == pytest.approx(tail, abs=1e-6)
    assert found.high == pytest.approx(1 - tail, abs=1e-6)


def test_many_units_give_the_plain_percentile_interval():
    found = interval(Replicates(np.arange(1001.0) / 1000, 100_000), 0.95)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975), abs=1e-4)


def test_differences_are_paired(build):
    """Hard and easy scenes: values vary much, the difference of the methods does not."""
    a = {f"s{i}": 10.0 * i for i in range(10)}
    run = build.from_values({"a": a, "b": {n: v + 1.0 + 0.01 * v for n, v in a.items()}})
    draws = draw_units(run)
    replicates = {x: replicate(run, x, "mae@all", draws) for x in "ab"}
    apart = interval(difference(replicates["b"], replicates["a"]))
    alone = interval(replicates["a"])
    assert alone.high - alone.low > 30
    assert 1.0 <= apart.low < 1.45 < apart.high < 2.0


def test_zero_is_found_up_to_rounding():
    from depthgauge.analysis.bootstrap.intervals import Interval

    assert contains_zero(Interval(1e-15, 2e-15), 1.0)
    assert not contains_zero(Interval(1e-15, 2e-15), 1e-6)
    assert contains_zero(Interval(-1.0, 0.0), 1.0)
    assert not contains_zero(Interval(0.5, 1.0), 1.0)


VALUES = st.lists(st.floats(0, 100, width=32), min_size=8, max_size=14)


@given(VALUES, st.floats(-50, 50, width=32), st.randoms())
def test_constants_shift_and_the_order_of_samples_changes_nothing(build, values, shift, random):
    names = [f"s{i:02}" for i in range(len(values))]
    table = dict(zip(names, values, strict=True))
    run = build.from_values({"a": table, "b": {n: v + shift for n, v in table.items()}})
    first, moved = (pooled_interval(run, x, "mae@all", resamples=200) for x in "ab")
    assert moved.low == pytest.approx(first.low + shift, abs=1e-9)
    assert moved.high == pytest.approx(first.high + shift, abs=1e-9)
    assert min(values) - 1e-9 <= first.low <= first.high <= max(values) + 1e-9
    random.shuffle(names)
    shuffled = build.from_values({"a": {n: table[n] for n in names}})
    assert pooled_interval(shuffled, "a", "mae@all", resamples=200) == first


POPULATIONS = {
    # name: (draw, true mean, least share that must hold at 8, 15 and 30 units)
    "normal": (lambda rng, s: rng.normal(0, 1, s), 0.0, (0.92, 0.925, 0.93)),
    "badpix": (lambda rng, s: 100 * rng.beta(1, 9, s), 10.0, (0.90, 0.91, 0.92)),
    "difference": (
        lambda rng, s: rng.lognormal(0, 0.7, s) - rng.lognormal(0, 0.7, s),
        0.0,
        (0.92, 0.925, 0.925),
    ),
}


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(("which", "n"), list(enumerate((8, 15, 30))))
def test_intervals_hold_as_often_as_they_say(name, which, n):
    """2000 simulated benchmarks: the standard error of a share of 0.95 is 0.005."""
    make, truth, least = POPULATIONS[name]
    rng = np.random.default_rng(8)
    draws = draw(group_samples([f"s{i:02}" for i in range(n)], {}), resamples=1000, seed=2)
    samples = make(rng, (n, 2000))
    pooled = draws.counts @ samples / n
    low, high = percentile_bounds(pooled, n, 0.95)
    share = ((low <= truth) & (truth <= high)).mean()
    assert least[which] <= share <= 0.97


def test_pooled_pixels_hold_about_as_often_as_they_say(build):
    """rms over all pixels of 12 scenes of random difficulty, ln sigma ~ N(0, 0.15).

    Squares of such errors are skewed: 4000 trials outside of the package held in 93.8 %, not 95.
    With 400 trials the standard error is 1.2 points; three of them are allowed.
    """
    rng = np.random.default_rng(5)
    n, pixels, trials = 12, 40, 400
    truth = math.sqrt(math.exp(2 * 0.15**2))
    protocol = build.protocol(pool="pixel", scores=[{"metric": "rms"}])
    draws = draw(group_samples([f"s{i:02}" for i in range(n)], {}), resamples=400)
    held = 0
    for _ in range(trials):
        errors = rng.normal(0, rng.lognormal(0, 0.15, (n, 1)), (n, pixels))
        squares = (errors**2).sum(axis=1)
        scores = {
            f"s{i:02}": Score(
                math.sqrt(total / pixels), pixels, 0, state=State(pixels, 0, np.array([total]))
            )
            for i, total in enumerate(squares)
        }
        found = interval(replicate_scores(protocol, "rms@all", scores, draws))
        held += found.low <= truth <= found.high
    assert 0.90 <= held / trials <= 0.975


def test_what_was_measured_lies_in_its_interval(build):
    run = build.from_errors(random_errors(), pool="pixel", scores=SCORES)
    for spec in run.protocol.specs:
        found = pooled_interval(run, "a", spec.id)
        assert found.low <= run.results["a", 0].summary[spec.id].value <= found.high


@pytest.mark.parametrize("pool", ["image", "pixel"])
def test_distances_of_sets_are_not_resampled(pool):
    body = {"id": "v", "version": 1, "dataset": "stereogenbench", "quantity": "view"}
    protocol = make_protocol({**body, "pool": pool, "scores": [{"metric": "fid"}]}, "test")
    rows = np.random.default_rng(0).random((12, 1, 108))
    scores = {
        f"s{i:02}": Score(math.nan, 9, 0, state=State(9, 0, np.zeros(1), rows=row), level="dataset")
        for i, row in enumerate(rows)
    }
    draws = draw(group_samples(scores, {}), resamples=10)
    found = replicate_scores(protocol, "fid@all", scores, draws)
    assert (found.why, found.units, found.values.size) == ("not resampled", 12, 0)
