"""What steps contribute: known effects are found, and runs that do not allow it are refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from depthgauge.analysis.components import attribute
from depthgauge.engine.running.components import chains
from depthgauge.errors import Misuse, UnknownName

COST = {"census": -2.0, "absolute": 2.0}
FILL = {"none": 3.0, "scanline": -1.0, "background": -2.0}


def make(build, interaction=0.0, samples=10, left_out=()):
    """A run in which the scores are a sum of known effects."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.5, samples)
    table, options = {}, {}
    for cost, fill in product(COST, FILL):
        label = f"{cost}+{fill}"
        if label in left_out:
            continue
        both = interaction * (1 if (cost == "census") == (fill == "none") else -1)
        value = 20 + COST[cost] + FILL[fill] + both
        table[label] = {f"s{n}": value + noise[n] for n in range(samples)}
        options[label] = {"cost": cost, "filling": fill, "radius": 2}
    run = build.from_values(table)
    entrants = [replace(e, method="chain", options=options[e.label]) for e in run.entrants]
    return replace(run, entrants=tuple(entrants))


def test_effects_of_a_sum_are_those_that_were_added(build):
    found = attribute(make(build))
    effects = {(e.step, e.choice): e.effect for e in found.effects}
    for choice, effect in COST.items():
        assert effects["cost", choice] == pytest.approx(effect)
    for choice, effect in FILL.items():
        assert effects["filling", choice] == pytest.approx(effect)
    # Variances by hand: 4 for the costs, (9 + 1 + 4) / 3 for the fillings.
    assert found.shares["cost"] == pytest.approx(4 / (4 + 14 / 3))
    assert found.shares["filling"] == pytest.approx((14 / 3) / (4 + 14 / 3))
    assert found.interaction == pytest.approx(0, abs=1e-12)
    assert (found.best, found.base) == ("census+background", "census+none")
    assert found.steps == {"cost": tuple(COST), "filling": tuple(FILL)}


def test_exchanges_depart_from_the_base(build):
    found = attribute(make(build), base="absolute+scanline")
    changes = {(e.step, e.choice): e.change for e in found.exchanges}
    assert changes == pytest.approx(
        {("cost", "census"): -4, ("filling", "none"): 4, ("filling", "background"): -1}
    )
    for each in found.exchanges:  # the noise is paired, so nothing is left of it
        assert (each.interval.low, each.interval.high) == pytest.approx((each.change,) * 2)


def test_choices_that_help_only_together_are_interaction(build):
    found = attribute(make(build, interaction=2.0))
    assert 0.2 < found.interaction < 0.6
    assert sum(found.shares.values()) + found.interaction == pytest.approx(1)
    for step in found.steps:
        assert sum(e.effect for e in found.effects if e.step == step) == pytest.approx(0, abs=1e-9)


def test_without_all_combinations_there_are_exchanges_only(build):
    found = attribute(make(build, left_out=("absolute+none",)))
    assert found.effects == ()
    assert len(found.exchanges) == 2
    assert found.to_json()["interaction"] is None


def test_few_samples_have_no_intervals(build):
    found = attribute(make(build, samples=3))
    assert not found.effects[0].interval.known
    assert found.effects[0].effect == pytest.approx(COST["census"])


def test_runs_of_other_things_are_refused(build):
    run = make(build)
    with pytest.raises(UnknownName, match="no score 'rms@all'"):
        attribute(run, "rms@all")
    with pytest.raises(Misuse, match="no chain 'x'"):
        attribute(run, base="x")
    mixed = replace(run, entrants=(replace(run.entrants[0], method="bm"), *run.entrants[1:]))
    with pytest.raises(Misuse, match="those of one method, and this run has bm, chain"):
        attribute(mixed)
    alone = replace(run, entrants=run.entrants[:1])
    with pytest.raises(Misuse, match="nothing differs"):
        attribute(alone)


def test_chains_of_a_method():
    one = chains("stereo-chain:radius=3", design="one")
    assert one[0].label == "census+box+semi-global+median+none"
    assert len(one) == 1 + 1 + 2 + 1 + 3 + 2
    assert {each.options.radius for each in one} == {3}
    every = chains("stereo-chain", {"cost": (), "filling": ("none", "background")})
    assert [each.label for each in every] == [
        "census+none",
        "census+background",
        "absolute+none",
        "absolute+background",
    ]
    assert len({each.options_hash for each in every}) == 4
    modes = chains("sgbm", {"pad": (), "block_size": (3, 7)}, "one")
    assert [each.label for each in modes] == ["true+5", "false+5", "true+3", "true+7"]
    for arguments, said in (
        (("sgbm",), "does not declare its steps"),
        (("sgbm", {"bloc_size": (3,)}), "Did you mean 'block_size'"),
        (("sgbm", {"block_size": ()}), "say the choices of block_size"),
        (("sgbm", {"block_size": range(1, 99, 2), "p1": range(20)}), "more than 512"),
    ):
        with pytest.raises(Misuse, match=said):
            chains(*arguments)
