import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.compare import compare_methods, compare_runs
from depthgauge.analysis.merged_runs import restrict
from depthgauge.analysis.protocol_diff import ABSENT, diff_protocols, name_differences
from depthgauge.analysis.rank_moves import rank_moves
from depthgauge.errors import CannotCompare, DepthgaugeError

BASE = {f"s{i}": float(v) for i, v in enumerate([3, 8, 1, 6, 4, 9, 2, 5, 7, 5.5])}
NOISE = [0.4, -0.5, 0.3, -0.2, 0.6, -0.6, 0.1, -0.3, 0.5, -0.3]


def at(run, path):
    return replace(run, path=Path(path))


def shifted(by):
    return {n: v + by for n, v in BASE.items()}


def two(build, old, new, **changes):
    runs = (build.from_values(old, **changes), build.from_values(new, **changes))
    return at(runs[0], "runs/old"), at(runs[1], "runs/new")


@pytest.mark.parametrize(
    ("by", "metric", "verdict"),
    [
        (1.0, "mae", "worse"),
        (-1.0, "mae", "better"),
        (1.0, "density", "better"),
        (-0.5, "density", "worse"),
        (-1.0, "bias", "better"),
        (0.0, "mae", "cannot be told apart"),
    ],
)
def test_verdicts(build, by, metric, verdict):
    a, b = two(build, {"m": BASE}, {"m": shifted(by)}, scores=[{"metric": metric}])
    (change,) = compare_runs(a, b).changes
    assert change.verdict == verdict
    assert change.difference == pytest.approx(by)
    assert (change.interval.low, change.interval.high) == pytest.approx((by, by))
    assert (change.old, change.new) == pytest.approx((5.05, 5.05 + by))
    assert change.samples == 10


def test_two_methods_of_a_run_are_compared_as_two_runs(build):
    both = build.from_values({"old": BASE, "new": shifted(1.0)})
    a, b = two(build, {"m": BASE}, {"m": shifted(1.0)})
    (alone,) = compare_runs(a, b).changes
    (change,) = compare_methods(both, "old", "new")
    assert (change.old_label, change.new_label) == ("old", "new")
    assert replace(change, old_label="m", new_label="m") == replace(
        alone, old_label="m", new_label="m"
    )
    (turned,) = compare_methods(both, "new", "old")
    assert (change.verdict, turned.verdict) == ("worse", "better")


def test_noise_cannot_be_told_apart(build):
    noisy = {n: v + e for (n, v), e in zip(BASE.items(), NOISE, strict=True)}
    a, b = two(build, {"m": BASE}, {"m": noisy})
    (change,) = compare_runs(a, b).changes
    assert change.verdict == "cannot be told apart"
    assert change.interval.low < 0 < change.interval.high


def test_few_samples_and_incomplete_values(build):
    few = dict(list(BASE.items())[:7])
    a, b = two(build, {"m": few}, {"m": few})
    comparison = compare_runs(a, b)
    assert comparison.changes[0].verdict == "too few samples"
    assert any("Too few samples" in note and "mae@all" in note for note in comparison.notes)
    a, b = two(build, {"m": BASE}, {"m": {**BASE, "s0": math.nan}})
    change = compare_runs(a, b).changes[0]
    assert change.verdict == "incomplete"
    assert math.isnan(change.difference)


def test_methods_are_matched_by_label(build):
    a, b = two(
        build, {"m": BASE, "n": BASE, "old": BASE}, {"n": shifted(1), "m": BASE, "new": BASE}
    )
    found = compare_runs(a, b)
    assert [(c.old_label, c.new_label) for c in found.changes] == [
        ("m", "m"),
        ("n (old)", "n (new)"),
    ]
    board = make_board(found.merged)
    assert {row.label for row in board.rows} == {"m", "n (old)", "n (new)", "old", "new"}


def test_two_single_methods_are_compared_whatever_their_labels(build):
    a, b = two(build, {"m": BASE}, {"n": shifted(1)})
    (change,) = compare_runs(a, b).changes
    assert (change.old_label, change.new_label, change.verdict) == ("m", "n", "worse")


def test_no_common_methods_still_make_a_board(build):
    a, b = two(build, {"m": BASE, "k": BASE}, {"n": BASE})
    found = compare_runs(a, b)
    assert found.changes == ()
    assert len(make_board(found.merged).rows) == 3
    assert any("No method is in both" in note for note in found.notes)


def test_the_same_label_with_other_options_is_another_method(build):
    a, b = two(build, {"m": BASE}, {"m": BASE})
    other = replace(b, entrants=tuple(replace(e, options_hash="other") for e in b.entrants))
    (change,) = compare_runs(a, other).changes
    assert (change.old_label, change.new_label) == ("m (old)", "m (new)")
    same = compare_runs(a, b).changes[0]
    assert (same.old_label, same.new_label) == ("m", "m")


def test_runs_of_the_same_name_are_told_by_their_paths(build):
    a, b = two(build, {"m": BASE}, {"m": shifted(1)})
    found = compare_runs(at(a, "x/run"), at(b, "y/run")).changes[0]
    assert (found.old_label, found.new_label) == ("m (x/run)", "m (y/run)")
    found = compare_runs(at(a, "x/run"), at(b, "x/run")).changes[0]
    assert (found.old_label, found.new_label) == ("m (first)", "m (second)")


def test_other_protocols_are_refused_and_named(build):
    a = at(build.from_values({"m": BASE}), "runs/old")
    b = at(build.from_values({"m": BASE}, missing="skip", version=2), "runs/new")
    with pytest.raises(
        CannotCompare, match="missing is bad in the first and skip in the second"
    ) as caught:
        compare_runs(a, b)
    assert isinstance(caught.value, DepthgaugeError)
    assert "trial 1, trial 2" in str(caught.value)


def test_another_truth_is_refused_and_named(build):
    a, b = two(build, {"m": BASE}, {"m": BASE})
    b = replace(b, truth_hashes={**b.truth_hashes, "s3": "changed", "s7": "changed"})
    with pytest.raises(CannotCompare, match=r"2 of 10 common samples .* s3, s7"):
        compare_runs(a, b)


def test_other_samples_are_refused_unless_told(build):
    a, b = two(
        build, {"m": BASE}, {"m": {**{n: v + 1 for n, v in BASE.items() if n != "s5"}, "x": 0}}
    )
    with pytest.raises(CannotCompare, match=r"only runs/old has s5; only runs/new has x"):
        compare_runs(a, b)
    found = compare_runs(a, b, common=True)
    assert found.left_out == ("s5", "x")
    assert len(found.samples) == 9
    (change,) = found.changes
    assert change.old == pytest.approx((50.5 - 9) / 9)
    assert change.difference == pytest.approx(1.0)
    assert change.samples == 9
    assert "9 common samples" in found.notes[0]


def test_runs_without_a_common_sample_are_refused(build):
    a, b = two(build, {"m": BASE}, {"m": {"x": 1.0}})
    with pytest.raises(CannotCompare, match="no sample in common"):
        compare_runs(a, b, common=True)


def test_a_run_against_itself(build):
    run = at(build.from_values({"m": BASE, "n": shifted(2)}), "runs/one")
    found = compare_runs(run, run)
    assert {c.verdict for c in found.changes} == {"cannot be told apart"}
    assert len(found.merged.results) == 2


@pytest.mark.parametrize("pool", ["image", "pixel", "scene"])
def test_fewer_samples_are_pooled_as_if_only_they_had_been_scored(build, pool):
    rng = np.random.default_rng(0)
    table = {"m": {f"s{i}": rng.normal(0, 2, 10 + i) for i in range(6)}}
    scenes = {f"s{i}": f"scene {i // 2}" for i in range(6)}
    options = {"pool": pool, "scores": [{"metric": "rms"}, {"metric": "quantile"}]}
    run = build.from_errors(table, scenes, **options)
    kept = ["s0", "s1", "s4"]
    only = build.from_errors({"m": {n: table["m"][n] for n in kept}}, scenes, **options)
    got = restrict(run, kept)
    assert got.results["m", 0].summary == only.results["m", 0].summary
    assert got.samples == ("s0", "s1", "s4")
    assert set(got.curves["m", 0]) == set(kept)
    assert restrict(run, run.samples) is run


def test_what_cannot_be_pooled_anew_is_nan(build):
    table = {"m": {f"s{i}": [1.0, 2.0] for i in range(4)}}
    run = build.from_errors(table, pool="pixel", scores=[{"metric": "quantile"}, {"metric": "mae"}])
    result = run.results["m", 0]
    lost = {
        n: {**s, "quantile@all": replace(s["quantile@all"], state=None)}
        for n, s in result.samples.items()
    }
    run = replace(run, results={("m", 0): replace(result, samples=lost)})
    got = restrict(run, ["s0", "s1"]).results["m", 0].summary
    assert math.isnan(got["quantile@all"].value)
    assert got["mae@all"].value == 1.5


def test_restricting_drops_what_is_said_of_other_samples(build):
    run = build.from_values({"m": {"s": 1.0, "s1": 2.0}})
    result = replace(
        run.results["m", 0],
        failed={"s1": "gone"},
        left_out=("s1@visible", "s@visible", "t", "s1: mae@all"),
    )
    got = restrict(replace(run, results={("m", 0): result}), ["s"]).results["m", 0]
    assert got.left_out == ("s@visible", "t")
    assert got.failed == {}


def test_a_diff_names_every_field_the_most_important_first(build):
    old = build.protocol()
    new = build.protocol(
        version=2,
        pool="pixel",
        align={"kind": "scale"},
        scores=[{"metric": "badpix", "threshold": [1, 2]}, {"metric": "mae"}],
    )
    found = {d.path: (d.old, d.new) for d in diff_protocols(old, new)}
    assert list(found)[:2] == ["pool", "align.fit_on"]
    assert found["pool"] == ("image", "pixel")
    assert found["align.kind"] == ("none", "scale")
    assert found["align.fit_on"] == (ABSENT, "all")
    assert found["scores.badpix:3@all"] == ("present", ABSENT)
    assert found["scores.badpix:2@all"] == (ABSENT, "present")
    assert list(found)[-1] == "version"
    assert diff_protocols(old, old) == ()
    assert name_differences(diff_protocols(old, new), 2).endswith("; and 7 more")


def board_of(build, values, **changes):
    run = build.from_values({x: {"s": v} for x, v in values.items()}, **changes)
    return make_board(run), run.protocol


def test_rank_moves_by_hand(build):
    old, first = board_of(build, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "gone": 0.0})
    new, second = board_of(
        build, {"a": 3.0, "b": 1.0, "c": 2.0, "d": 4.0, "fresh": 0.0}, missing="skip"
    )
    found = rank_moves(old, new, (first, second))
    assert [(m.label, m.old_rank, m.new_rank, m.places) for m in found.moves] == [
        ("a", 1, 3, -2),
        ("b", 2, 1, 1),
        ("c", 3, 2, 1),
        ("d", 4, 4, 0),
    ]
    assert (found.moves[0].old_value, found.moves[0].new_value) == (1.0, 3.0)
    densities = {row.label: row.cells[new.main].density for row in new.rows}
    assert [m.new_density for m in found.moves] == [densities[m.label] for m in found.moves]
    assert found.tau == pytest.approx((4 - 2) / 6)
    assert [d.path for d in found.why] == ["missing"]
    assert (found.only_old, found.only_new) == (("gone",), ("fresh",))


def test_rank_moves_on_scores_of_other_directions(build):
    old, first = board_of(build, {"a": 1.0, "b": 2.0})
    new, second = board_of(build, {"a": 90.0, "b": 80.0}, scores=[{"metric": "density"}])
    found = rank_moves(old, new, (first, second), new_score="density@all")
    assert (found.old_score, found.new_score) == ("mae@all", "density@all")
    assert found.tau == 1.0
    assert {m.places for m in found.moves} == {0}


def test_oracles_move_nobody(build):
    run = build.from_values({"a": {"s": 1.0}, "b": {"s": 2.0}})
    best = build.from_values({"best": {"s": 0.0}}).results["best", 0]
    boards = [make_board(run, oracles={"best": best}) for _ in range(2)]
    found = rank_moves(*boards, (run.protocol, run.protocol))
    assert [(m.label, m.old_rank) for m in found.moves] == [("a", 1), ("b", 2)]
    assert found.why == ()
