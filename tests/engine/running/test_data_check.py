"""Changed data is noticed, named, and never scored beside what was there before."""

import json
import os
import shutil

import numpy as np
import pytest

from depthgauge.analysis.compare import compare, compare_runs
from depthgauge.engine.running.data_check import data_state
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.running.run import run
from depthgauge.engine.store.load import load_run
from depthgauge.errors import BadData, CannotCompare, RunWarning
from depthgauge.io import read_image, write_image

ONLY = {"workers": 0, "only": ["s0", "s1"]}


def darken(path):
    image = read_image(path)
    write_image(path, np.ascontiguousarray(image // 2))


@pytest.fixture
def first(pairs, trial, tmp_path):
    run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "run", **ONLY)
    return tmp_path / "run"


def test_an_added_method_is_refused_where_an_input_changed(pairs, trial, first):
    darken(pairs.data / "left" / "s1.png")
    for methods in ([pairs.noisy("two")], [pairs.noisy("one"), pairs.noisy("two")]):
        with pytest.raises(BadData, match=r"left_image of sample 's1' changed.*--redo-changed"):
            run(trial(), pairs.data, methods, first, **ONLY)
    with pytest.raises(BadData, match="'one' was scored on the former data of sample 's1'"):
        run(trial(), pairs.data, [pairs.noisy("two")], first, redo_changed=True, **ONLY)
    both = [pairs.noisy("one"), pairs.noisy("two")]
    done = run(trial(), pairs.data, both, first, redo_changed=True, **ONLY)
    assert set(done.results) == {("one", 0), ("two", 0)}
    assert data_state(done).state == "same"
    assert len(run(trial(), pairs.data, both, first, **ONLY).results) == 2


def test_a_resumed_run_is_refused_where_the_truth_changed(pairs, trial, first):
    path = next((pairs.data / "truth").glob("s0.*"))
    before = path.read_bytes()
    shutil.copy(next((pairs.data / "truth").glob("s3.*")), path)
    (first / "scores.parquet").unlink()
    with pytest.raises(BadData, match="the truth of sample 's0' changed"):
        run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)
    path.write_bytes(before)  # other times, the same values
    run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)
    assert data_state(load_run(first)).state == "same"


def test_equal_values_pass_and_are_not_read_twice(pairs, trial, first, monkeypatch):
    path = pairs.data / "left" / "s0.png"
    os.utime(path, (1, 1))
    run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)
    monkeypatch.setattr("depthgauge.engine.running.data_check._changes", lambda *_: ["everything"])
    run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)  # all marks are known now
    os.utime(path, (2, 2))
    with pytest.raises(BadData, match="everything of sample 's0' changed"):
        run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)


def test_compare_rescore_and_the_state_of_a_run(pairs, trial, first, tmp_path):
    run(trial(), pairs.data, [pairs.noisy("one", 2.0)], tmp_path / "other", **ONLY)
    assert compare(first, tmp_path / "other").changes
    darken(pairs.data / "right" / "s0.png")
    state = data_state(load_run(first))
    assert (state.state, dict(state.changed)) == ("changed", {"s0": "right_image"})
    with pytest.raises(BadData, match="right_image of sample 's0' changed"):
        compare(first, tmp_path / "other")
    with pytest.raises(BadData, match="right_image of sample 's0' changed"):
        rescore(first, trial(), tmp_path / "again", workers=0)
    shutil.rmtree(pairs.data)
    assert data_state(load_run(first)).state == "absent"
    with pytest.warns(RunWarning, match="The data of this run is not there"):
        assert compare(first, tmp_path / "other").changes


def test_runs_on_different_inputs_are_not_compared(pairs, trial, first, tmp_path):
    darken(pairs.data / "left" / "s1.png")
    run(trial(), pairs.data, [pairs.noisy("one")], tmp_path / "other", **ONLY)
    shutil.rmtree(pairs.data)  # nobody can look any more; what was recorded is enough
    with pytest.raises(CannotCompare, match="another left_image of sample 's1'"):
        compare_runs(load_run(first), load_run(tmp_path / "other"))


def test_a_run_of_an_earlier_version_opens_and_is_marked(pairs, trial, first):
    (first / "data.json").unlink()
    for path in (first / "items").iterdir():
        body = json.loads(path.read_text())
        del body["sha256"], body["inputs"]
        path.write_text(json.dumps(body))
    assert data_state(load_run(first)).state == "not recorded"
    run(trial(), pairs.data, [pairs.noisy("one")], first, **ONLY)
    assert data_state(load_run(first)).state == "not recorded"
