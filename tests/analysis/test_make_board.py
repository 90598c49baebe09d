import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.analysis.boards.board import BoardWarning
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.engine.scoring.pool import Summary, pool_plain
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import Entrant, Run, Timing
from depthgauge.errors import Misuse, UnknownName
from depthgauge.types import Note, Score

NAN = math.nan


def random_table(n=10, labels="abc", seed=1):
    rng = np.random.default_rng(seed)
    return {
        label: {f"s{i:02}": rng.normal(0, 1 + k + i / 5, 30) for i in range(n)}
        for k, label in enumerate(labels)
    }


def one_note(board, words):
    (note,) = [note for note in board.notes if words in note]
    return note


def test_notes_of_results_are_warnings_of_the_board(build):
    """Equal ones together, the most frequent first; numbers may differ."""
    run = build.from_errors({"a": {"s": [1.0], "t": [1.0]}, "b": {"s": [2.0], "t": [2.0]}})

    def scaled(sample, scale):
        return Note("negative-scale", "Why?", "Turn it.", numbers={"scale": scale}, sample=sample)

    holes = Note("holes", "Is 0 a value?", arguments={"truth_invalid": "0"})
    notes = {"a": (holes, scaled("t", -2.0), scaled("s", -1.0)), "b": (scaled("t", -3.0),)}
    results = {(x, 0): replace(run.results[x, 0], notes=notes[x]) for x in notes}
    board = make_board(replace(run, results=results))
    assert board.warnings == (
        BoardWarning("negative-scale", "Why?", "Turn it.", ("a", "b"), ("s", "t")),
        BoardWarning("holes", "Is 0 a value?", "Say --truth-invalid 0.", ("a",), ()),
    )
    assert board.to_json()["warnings"][0]["methods"] == ["a", "b"]
    assert make_board(run).warnings == ()


def test_a_board_by_hand(build):
    run = build.from_errors(
        {
            "near": {"s": [0.5, 0.5], "t": [2.0, 0.0]},
            "far": {"s": [4.0, 4.0], "t": [2.0, 2.0]},
        }
    )
    timings = [
        Timing("near", 0, "s", 1.0, 1.0, 100.0, 0.1),
        Timing("near", 0, "t", 2.0, 1.0, 300.0, 0.1),
        Timing("far", 0, "s", NAN, NAN, NAN, 0.1),
    ]
    board = make_board(replace(run, timings=tuple(timings)))
    assert board.main == "badpix:1@all"
    assert [(c.id, c.metric, c.region, c.unit, c.better) for c in board.columns] == [
        ("badpix:1@all", "badpix:1", "all", "%", "lower"),
        ("badpix:3@all", "badpix:3", "all", "%", "lower"),
        ("mae@all", "mae", "all", "px", "lower"),
    ]
    near, far = board.rows
    assert (near.label, far.label) == ("near", "far")
    assert [near.cells[c.id].value for c in board.columns] == [25.0, 0.0, 0.75]
    assert [far.cells[c.id].value for c in board.columns] == [100.0, 50.0, 3.0]
    assert [far.cells[c.id].rank for c in board.columns] == [2, 2, 2]
    assert near.cells["mae@all"].mean_rank == 1.0
    assert (near.cells["mae@all"].used, near.cells["mae@all"].all) == (2, 2)
    assert near.cells["mae@all"].density == 1.0
    assert near.cells["mae@all"].group is None
    assert math.isnan(near.cells["mae@all"].low)
    assert math.isnan(near.cells["mae@all"].deviation)
    assert (near.time_s, near.peak_memory_mb) == (1.5, 300.0)
    assert math.isnan(far.time_s)
    assert math.isnan(far.peak_memory_mb)
    assert near.dominated_by == ()
    assert far.dominated_by == ("near",)
    assert near.options == {"window": 5}
    assert "fewer than 8" in one_note(board, "no intervals and no tie groups")


def test_values_are_the_summaries_and_lie_in_their_intervals(build):
    run = build.from_errors(random_table(), pool="pixel")
    board = make_board(run)
    for row in board.rows:
        for column in board.columns:
            cell = row.cells[column.id]
            assert cell.value == run.results[row.label, 0].summary[column.id].value
            assert cell.low < cell.value < cell.high
            assert cell.group is not None
    assert [row.label for row in board.rows] == ["a", "b", "c"]
    assert "10 samples are drawn with replacement 2000 times" in one_note(board, "Intervals")
    assert one_note(board, "multiple comparisons")


def test_the_main_score_sorts(build):
    run = build.from_errors({"a": {"s": [0.0, 40.0]}, "b": {"s": [2.0, 2.0]}})
    assert [r.label for r in make_board(run).rows] == ["a", "b"]
    assert [r.label for r in make_board(run, main="mae@all").rows] == ["b", "a"]
    with pytest.raises(UnknownName, match="mae@all"):
        make_board(run, main="mea@all")


@pytest.mark.parametrize(("metric", "order"), [("mae", "abc"), ("density", "cba"), ("bias", "bac")])
def test_directions(build, metric, order):
    values = {"a": {"s": -2.0}, "b": {"s": 1.0}, "c": {"s": 3.0}}
    board = make_board(build.from_values(values, scores=[{"metric": metric}]))
    assert "".join(row.label for row in board.rows) == order


def test_groups_and_practical_thresholds(build):
    base = {f"s{i}": float(v) for i, v in enumerate([3, 8, 1, 6, 4, 9, 2, 5])}
    run = build.from_values({"a": base, "b": {n: v + 0.25 for n, v in base.items()}})
    groups = [row.cells["mae@all"].group for row in make_board(run).rows]
    assert groups == [1, 2]
    for options in ({"practical": {"mae@all": 0.3}}, {"accuracy": 0.3}):
        board = make_board(run, **options)
        assert [row.cells["mae@all"].group for row in board.rows] == [1, 1]
        assert board.rows[1].cells["mae@all"].why_tied == "practical"
        assert "mae@all" in one_note(board, "too small to matter are set")
    # What is given comes before what follows from the accuracy.
    both = make_board(run, accuracy=0.3, practical={"mae@all": 0.1})
    assert both.rows[1].cells["mae@all"].group == 2


def test_an_incomplete_method_is_last_and_said_to_be(build):
    table = random_table()
    table["a"]["s03"] = np.full(30, NAN)
    run = build.from_errors(table)
    failed = replace(run.results["a", 0], failed={"s03": "no file"})
    board = make_board(replace(run, results={**run.results, ("a", 0): failed}), main="mae@all")
    last = board.rows[-1]
    assert last.label == "a"
    assert last.failed == {"s03": "no file"}
    cell = last.cells["mae@all"]
    assert math.isnan(cell.value)
    assert math.isnan(cell.low)
    assert (cell.used, cell.all, cell.rank, cell.group) == (9, 10, 3, None)
    assert not math.isnan(last.cells["badpix:1@all"].value)
    assert "a: incomplete in mae@all" in one_note(board, "incomplete")
    assert one_note(board, "1 of 10 samples have no usable estimate").startswith("a:")
    assert last.dominated_by == ()  # b and c are worse on bad pixels
    assert board.rows[0].cells["mae@all"].group is not None


def test_one_method_has_intervals_and_no_groups(build):
    board = make_board(build.from_errors(random_table(labels="a")))
    cell = board.rows[0].cells["mae@all"]
    assert cell.low < cell.high
    assert cell.rank == 1
    assert cell.group is None
    assert one_note(board, "There is one method")


def test_several_seeds(build):
    table = random_table(labels="ab")
    run = build.from_errors(
        {("a", 0): table["a"], ("a", 1): table["b"], "b": table["b"]},
    )
    board = make_board(run, main="mae@all")
    a = next(row for row in board.rows if row.label == "a")
    values = [run.results["a", k].summary["mae@all"].value for k in range(2)]
    assert a.seeds == 2
    assert a.cells["mae@all"].value == pytest.approx(sum(values) / 2)
    assert a.cells["mae@all"].deviation == pytest.approx(abs(values[1] - values[0]) / math.sqrt(2))
    assert "a (2)" in one_note(board, "Several seeds")


def test_failures_name_the_seed(build):
    run = build.from_values({("a", 0): {"s": 1.0, "t": 1.0}, ("a", 1): {"s": 1.0, "t": 1.0}})
    some = {
        ("a", 0): replace(run.results["a", 0], failed={"s": "broken", "t": "gone"}),
        ("a", 1): replace(run.results["a", 1], failed={"t": "gone"}),
    }
    row = make_board(replace(run, results=some)).rows[0]
    assert row.failed == {"s": "seed 0: broken", "t": "gone"}


def test_oracles_are_shown_and_never_ranked(build):
    run = build.from_errors(random_table())
    best = build.from_errors({"best": {n: e / 9 for n, e in random_table()["a"].items()}})
    board = make_board(run, oracles={"best": best.results["best", 0]})
    last = board.rows[-1]
    assert last.label == "best"
    assert last.oracle
    cell = last.cells["mae@all"]
    assert cell.value < board.rows[0].cells["mae@all"].value
    assert (cell.rank, cell.group) == (None, None)
    assert math.isnan(cell.mean_rank)
    assert cell.low < cell.value < cell.high
    assert all("best" not in row.dominated_by for row in board.rows)
    without = make_board(run)
    assert repr(without.rows) == repr(board.rows[:-1])  # NaN does not equal itself
    with pytest.raises(Misuse, match="another name"):
        make_board(run, oracles={"a": best.results["best", 0]})
    other = build.from_errors({"best": {"elsewhere": [1.0]}}).results["best", 0]
    with pytest.raises(Misuse, match="does not have"):
        make_board(run, oracles={"best": other})


def test_a_score_that_no_sample_has(build):
    run = build.from_errors(random_table(labels="ab"))
    results = {
        key: Result(
            r.protocol,
            {n: {k: v for k, v in s.items() if k != "mae@all"} for n, s in r.samples.items()},
            {k: v for k, v in r.summary.items() if k != "mae@all"},
        )
        for key, r in run.results.items()
    }
    board = make_board(replace(run, results=results))
    cell = board.rows[0].cells["mae@all"]
    assert math.isnan(cell.value)
    assert (cell.rank, cell.group, cell.all) == (None, None, 0)
    assert one_note(board, "No sample has mae@all")
    assert not [note for note in board.notes if "incomplete" in note]
    assert board.rows[1].dominated_by == ("a",)


def test_a_method_without_results_is_there_and_last(build):
    run = build.from_errors(random_table(labels="ab"))
    entrants = (*run.entrants, Entrant("z", "z", "Z", {}, "h"))
    board = make_board(replace(run, entrants=entrants))
    assert board.rows[-1].label == "z"
    assert board.rows[-1].cells["mae@all"].rank == 3
    assert "z: incomplete" in one_note(board, "z:")


def test_a_twin_says_its_directions_and_its_main_score(build):
    protocol = make_protocol(
        {
            "id": "twin",
            "version": 1,
            "dataset": "middlebury-2014",
            "quantity": "disparity",
            "pool": "image",
            "twin": "middlebury",
        },
        "twin",
    )
    results = {}
    for label, shift in {"a": 1.0, "b": 0.0}.items():
        scores = {
            f"s{i}": {"bad:1@all": Score(10.0 * i + shift, 10, 0, unit="%")} for i in range(9)
        }
        pooled = {"bad:1@all": pool_plain({n: s["bad:1@all"] for n, s in scores.items()}, 0)}
        results[label, 0] = Result(protocol, scores, pooled)
    run = Run(
        build.from_values({"a": {"s": 1.0}}).path, protocol, (), results,
        tuple(f"s{i}" for i in range(9)), {}, {},
    )  # fmt: skip
    board = make_board(run, main="bad:1@all")
    assert [row.label for row in board.rows] == ["b", "a"]
    column = board.column("bad:1@all")
    assert (column.unit, column.better, column.metric, column.region) == (
        "%", "lower", "bad:1", "all",
    )  # fmt: skip
    assert board.rows[0].cells["bad:1@all"].low > 0
    assert board.column("coverage@all").better == "higher"
    assert make_board(run).main == "totbad:2@nonocc"
    assert len(board.columns) == len(protocol.score_ids)


@settings(max_examples=10)
@given(st.randoms(), st.sampled_from(["image", "pixel", "scene"]))
def test_the_order_of_methods_and_samples_changes_nothing(build, random, pool):
    table = random_table(12)
    scenes = {f"s{i:02}": f"scene {i % 9}" for i in range(12)}
    options = {"pool": pool, "scores": [{"metric": m} for m in ("mae", "rms", "bias")]}
    board = make_board(build.from_errors(table, scenes, **options), resamples=100)
    labels, samples = list(table), list(table["a"])
    random.shuffle(labels)
    random.shuffle(samples)
    shuffled = {x: {n: table[x][n] for n in samples} for x in labels}
    again = make_board(build.from_errors(shuffled, scenes, **options), resamples=100)
    assert repr(again) == repr(board)


def test_other_methods_do_not_change_an_interval(build):
    table = random_table()
    three = make_board(build.from_errors(table, pool="pixel"))
    one = make_board(build.from_errors({"b": table["b"]}, pool="pixel"))
    both = [
        next(r for r in board.rows if r.label == "b").cells["mae@all"] for board in (one, three)
    ]
    assert (both[0].low, both[0].high) == (both[1].low, both[1].high)


def test_a_protocol_without_scores_has_no_board(build):
    run = build.from_values({"a": {"s": 1.0}})
    bare = run.protocol.model_construct(**{**run.protocol.__dict__, "scores": ()})
    with pytest.raises(Misuse, match="no scores"):
        make_board(replace(run, protocol=bare))


def test_a_region_that_is_empty_everywhere_is_not_incomplete(build):
    run = build.from_errors(random_table(labels="ab"))
    none = Score(math.nan, 0, 0, unit="px")
    results = {}
    for key, found in run.results.items():
        samples = {n: {**s, "mae@all": none} for n, s in found.samples.items()}
        pooled = {**found.summary, "mae@all": pool_plain({n: none for n in samples}, 0)}
        results[key] = Result(found.protocol, samples, pooled)
    board = make_board(replace(run, results=results))
    assert not [note for note in board.notes if "incomplete" in note]
    assert one_note(board, "No sample has mae@all")


def test_a_twin_that_pools_itself_has_no_intervals_and_says_so(build, monkeypatch):
    from depthgauge.benchmarks.twins import TWINS

    body = {"id": "twin", "version": 1, "dataset": "middlebury-2014", "quantity": "disparity"}
    protocol = make_protocol({**body, "pool": "image", "twin": "middlebury"}, "twin")
    own = replace(TWINS["middlebury"], pool=lambda samples, options: {})
    monkeypatch.setitem(TWINS._things, "middlebury", own)
    results = {}
    for label in ("a", "b"):
        score = Score(math.nan, 10, 0, level="dataset")
        scores = {f"s{i}": {"bad:1@all": score} for i in range(9)}
        results[label, 0] = Result(protocol, scores, {"bad:1@all": Summary(0.5, 9, 9)})
    samples = tuple(f"s{i}" for i in range(9))
    path = build.from_values({"a": {"s": 1.0}}).path
    board = make_board(Run(path, protocol, (), results, samples, {}, {}), main="bad:1@all")
    assert board.column("bad:1@all").level == "dataset"
    assert any("as in the original" in note for note in board.notes)
    assert math.isnan(board.rows[0].cells["bad:1@all"].low)
