import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.bootstrap.intervals import replicate
from depthgauge.analysis.bootstrap.pooling import Replicates
from depthgauge.analysis.bootstrap.resampling import draw_units
from depthgauge.analysis.ties import Tie, cannot_tell, tie_groups

BASE = np.array([3.0, 8.0, 1.0, 6.0, 4.0, 9.0, 2.0, 5.0, 7.0, 5.5])
NOISE = np.array([0.4, -0.5, 0.3, -0.2, 0.6, -0.6, 0.1, -0.3, 0.5, -0.2])


def groups(build, table, better="lower", metric="mae", **options):
    """Tie groups of label -> values of ten samples."""
    samples = {x: {f"s{i}": v for i, v in enumerate(values)} for x, values in table.items()}
    run = build.from_values(samples, scores=[{"metric": metric}])
    draws = draw_units(run, resamples=500)
    score_id = f"{metric}@all"
    return tie_groups(
        {x: run.results[x, 0].summary[score_id].value for x in table},
        {x: replicate(run, x, score_id, draws) for x in table},
        better,
        **options,
    )


def test_groups_by_hand(build):
    table = {
        "best": BASE,
        "same": BASE + NOISE + 0.05,  # differs by noise
        "worse": BASE + 1.0,  # on every sample by exactly 1
        "worse too": BASE + 1.0 + NOISE + 0.05,
        "worst": BASE + 3.0,
    }
    assert groups(build, table) == {
        "best": Tie(1),
        "same": Tie(1, "interval"),
        "worse": Tie(2),
        "worse too": Tie(2, "interval"),
        "worst": Tie(3),
    }


def test_a_difference_that_does_not_matter(build):
    table = {"a": BASE, "b": BASE + 0.25, "c": BASE + 0.5}
    assert [t.group for t in groups(build, table).values()] == [1, 2, 3]
    got = groups(build, table, practical=0.3)
    assert got == {"a": Tie(1), "b": Tie(1, "practical"), "c": Tie(2)}
    # Exactly the threshold is no longer below it.
    assert groups(build, table, practical=0.25)["b"] == Tie(2)


def test_a_group_is_of_its_leader_not_of_its_last_member(build):
    """a-b and b-c are too close to matter, a-c is not: c leads a group of its own."""
    got = groups(build, {"a": BASE, "b": BASE + 0.2, "c": BASE + 0.4}, practical=0.3)
    assert [got[x].group for x in "abc"] == [1, 1, 2]


def test_everyone_is_compared_with_the_best(build):
    """`wild` comes after `steady`, who is told apart from the best; `wild` itself is not."""
    wild = BASE + 0.4 + 6 * NOISE
    got = groups(build, {"best": BASE, "steady": BASE + 0.1, "wild": wild, "far": BASE + 30})
    assert got == {
        "best": Tie(1),
        "steady": Tie(2),
        "wild": Tie(1, "interval"),
        "far": Tie(3),
    }


def test_higher_is_better(build):
    table = {"a": BASE, "b": BASE - 1.0, "c": BASE - 1.0 + NOISE}
    got = groups(build, table, "higher", "density")
    assert [got[x].group for x in "abc"] == [1, 2, 2]


def test_zero_is_better_compares_absolute_values(build):
    """Biases of -1 and +1 are equally bad, though far from each other; one of 3 is worse."""
    noise = NOISE - NOISE.mean()
    table = {"low": -1.0 + noise, "high": 1.01 + noise[::-1], "far": 3.0 + noise}
    got = groups(build, table, "zero", "bias")
    assert got == {"low": Tie(1), "high": Tie(1, "interval"), "far": Tie(2)}


def test_a_noisy_bias_around_zero_is_not_told_from_none(build):
    wide = 10 * (NOISE - NOISE.mean()) + 0.05
    got = groups(build, {"none": np.zeros(10), "noisy": wide}, "zero", "bias")
    assert got["noisy"] == Tie(1, "interval")


def test_incomplete_methods_are_in_no_group(build):
    broken = BASE.copy()
    broken[2] = math.nan
    got = groups(build, {"a": BASE, "b": broken, "c": BASE + 1})
    assert got == {"a": Tie(1), "b": Tie(None), "c": Tie(2)}


def test_one_method_is_in_no_group(build):
    assert groups(build, {"a": BASE}) == {"a": Tie(None)}
    broken = np.full(10, math.nan)
    assert groups(build, {"a": BASE, "b": broken}) == {"a": Tie(None), "b": Tie(None)}


def test_too_few_samples_say_nothing(build):
    got = groups(build, {"a": BASE[:7], "b": BASE[:7] + 5}, practical=100.0)
    assert got == {"a": Tie(None), "b": Tie(None)}


def test_rounding_does_not_tell_apart():
    values = np.linspace(1, 2, 50)
    a, b = Replicates(values, 9), Replicates(values * (1 + 1e-15), 9)
    assert cannot_tell(a, b, "lower")
    assert not cannot_tell(a, Replicates(values * (1 + 1e-9), 9), "lower")


@given(
    st.lists(st.lists(st.floats(0, 50, width=32), min_size=9, max_size=9), min_size=1, max_size=4),
    st.randoms(),
)
def test_a_copy_is_tied_and_order_changes_nothing(build, values, random):
    table = {f"m{i}": np.array(row) for i, row in enumerate(values)}
    leader = min(table, key=lambda x: (math.fsum(table[x]), x))
    table["z copy"] = table[leader]
    got = groups(build, table)
    assert got["z copy"].group == got[leader].group == 1
    assert got["z copy"].why == "interval"
    labels, samples = list(table), np.array(random.sample(range(9), 9))
    random.shuffle(labels)
    assert groups(build, {x: table[x] for x in labels}) == got
    # Shuffled samples keep their names in the order of the table only.
    renamed = {x: {f"s{i}": table[x][i] for i in samples} for x in labels}
    run = build.from_values(renamed)
    draws = draw_units(run, resamples=500)
    again = tie_groups(
        {x: run.results[x, 0].summary["mae@all"].value for x in table},
        {x: replicate(run, x, "mae@all", draws) for x in table},
        "lower",
    )
    assert again == got


def test_ties_are_rarely_broken_by_chance():
    """Two methods of one population, 12 samples: told apart in about 5 % of 1000 benchmarks."""
    from depthgauge.analysis.bootstrap.resampling import draw, group_samples

    rng = np.random.default_rng(4)
    draws = draw(group_samples([f"s{i:02}" for i in range(12)], {}), resamples=600)
    scenes = rng.lognormal(1, 0.7, (1, 12, 1000))
    table = scenes * rng.lognormal(0, 0.3, (2, 12, 1000))
    pooled = np.einsum("bu,mut->mbt", draws.counts, table) / 12
    apart = sum(
        not cannot_tell(Replicates(pooled[0, :, t], 12), Replicates(pooled[1, :, t], 12), "lower")
        for t in range(1000)
    )
    assert apart / 1000 == pytest.approx(0.05, abs=0.025)
