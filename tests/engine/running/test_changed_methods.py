"""A method that was edited after it was run: refused, run again, or mended where it failed."""

from __future__ import annotations

import pytest

import depthgauge as dg
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.running.run import run
from depthgauge.errors import MethodChanged, UnknownName

ONLY = ["s1", "s2", "s3", "s7"]
FAILING = "if inputs['sample'] in ('s2', 's7'):\n    raise ValueError('no luck')\n"


@pytest.fixture
def first(pairs, trial, tmp_path):
    """A run of `mine`, which gives 5 and fails on two of four samples."""
    path = pairs.method("mine", f"{FAILING}return np.full((h, w), 5.0)")

    def go(**options):
        return run(trial(), pairs.data, [path], tmp_path / "run", workers=0, only=ONLY, **options)

    go()
    return go


def errors_of(done):
    result = done.results["mine", 0]
    return {name: scores["mae@all"].value for name, scores in result.samples.items()}


def test_edited_code_is_called_so_and_nothing_changes(pairs, first, tmp_path):
    before = errors_of(first())
    pairs.method("mine", "return np.full((h, w), 6.0)")
    with pytest.raises(MethodChanged) as caught:
        first()
    text = str(caught.value)
    assert "the code of method 'mine' changed since it was run" in text
    assert "again=['mine']" in text
    assert "keep_finished=True" in text
    assert f"NEW={tmp_path / 'mine.py'}" in text
    pairs.method("mine", f"{FAILING}return np.full((h, w), 5.0)")
    assert str(errors_of(first())) == str(before)


def test_again_runs_every_sample_with_the_new_code(pairs, first):
    pairs.method("mine", "return np.full((h, w), 6.0)")
    done = first(again="mine")
    assert not done.results["mine", 0].failed
    assert errors_of(done) == pytest.approx({n: abs(3 + int(n[1:]) - 6) for n in ONLY})
    assert not any(e.older for e in done.entrants)
    assert not any("two code versions" in note for note in make_board(done).notes)


def test_again_runs_the_same_code_once_more(pairs, first, tmp_path):
    calls = tmp_path / "calls"
    body = (
        f"with open({str(calls)!r}, 'a') as file:\n    file.write(inputs['sample'] + ' ')\n"
        "return np.full((h, w), 5.0)"
    )
    pairs.method("mine", body)
    first(again=["mine"])
    first()
    assert sorted(calls.read_text().split()) == ONLY
    first(again=["mine"])
    assert sorted(calls.read_text().split()) == sorted(ONLY * 2)
    with pytest.raises(UnknownName, match="no method of this call to run again 'yours'"):
        first(again=["yours"])


def test_a_mended_method_keeps_its_good_samples_and_tables_say_so(pairs, trial, first, tmp_path):
    pairs.method("mine", "return np.full((h, w), 6.0)")
    done = first(keep_finished=True)
    found = errors_of(done)
    assert not done.results["mine", 0].failed
    assert found == pytest.approx({"s1": 1, "s2": 1, "s3": 1, "s7": 4})  # 5, 6, 5 and 6 everywhere
    (entrant,) = done.entrants
    assert sorted(entrant.older) == ["0/s1", "0/s3"]
    note = "mine: two code versions; 2 of 4 estimates are by older code."
    assert note in make_board(dg.load_run(tmp_path / "run")).notes
    assert errors_of(first()) == found, "the new code is what the folder has now"
    maps = RunMaps(done)
    assert {n: float(maps.prepared(entrant, n, 0).estimate[0, 0]) for n in ONLY} == {
        "s1": 5,
        "s2": 6,
        "s3": 5,
        "s7": 6,
    }
    again = rescore(tmp_path / "run", trial(missing="skip"), tmp_path / "again", workers=0)
    assert errors_of(again) == found
    assert note in make_board(again).notes
    third = rescore(
        tmp_path / "again", trial(missing="skip", id="third"), tmp_path / "third", workers=0
    )
    assert errors_of(third) == found


def test_a_mended_method_may_be_mended_twice_and_then_run_again(pairs, first):
    pairs.method(
        "mine", "if inputs['sample'] == 's7': raise ValueError\nreturn np.full((h, w), 6.0)"
    )
    first(keep_finished=True)
    pairs.method("mine", "return np.full((h, w), 9.0)")
    done = first(keep_finished=True)
    assert errors_of(done) == pytest.approx({"s1": 1, "s2": 1, "s3": 1, "s7": 1})
    assert len(set(done.entrants[0].older.values())) == 2
    assert not first(again="mine").entrants[0].older


def test_other_options_are_named_and_a_folder_keeps_its_path(pairs, trial, tmp_path):
    def go(method):
        return run(trial(), pairs.data, [method], tmp_path / "run", workers=0, only=["s1"])

    go("x=constant:value=2")
    with pytest.raises(MethodChanged, match=r"other options \(value 2\.0, not 3\.0\)") as caught:
        go("x=constant:value=3")
    assert "NEW=constant:value=3" in str(caught.value)
    assert "keep_finished" not in str(caught.value)
    for name in ("a", "b"):
        (tmp_path / name / "s1").mkdir(parents=True)
        dg.write_map(tmp_path / name / "s1" / "disparity.npy", [[1.0] * 40] * 24)
    go(f"mine=folder:{tmp_path / 'a'}")
    with pytest.raises(MethodChanged, match=f"NEW=folder:{tmp_path / 'b'}"):
        go(f"mine=folder:{tmp_path / 'b'}")
