"""Ranks of scores, and the files of people's rankings."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from depthgauge.analysis.rankings import Ranking, ranks_from_scores, read_rankings, write_rankings
from depthgauge.errors import BadFile, Misuse

NAN = math.nan


def test_scores_equal_to_one_decimal_are_ties():
    scores = {"a": 0.11, "b": 2.3, "c": 0.09, "d": 14.5}
    assert ranks_from_scores(scores) == {"a": 1.5, "b": 3, "c": 1.5, "d": 4}
    assert ranks_from_scores(scores, ties="min") == {"a": 1, "b": 3, "c": 1, "d": 4}
    assert ranks_from_scores(scores, decimals=2) == {"a": 2, "b": 3, "c": 1, "d": 4}
    assert ranks_from_scores(scores, decimals=0) == {"a": 1.5, "b": 3, "c": 1.5, "d": 4}


def test_direction_and_missing_scores():
    scores = {"a": 90.0, "b": 95.0, "c": NAN, "d": NAN}
    assert ranks_from_scores(scores, better="higher") == {"a": 2, "b": 1, "c": 3.5, "d": 3.5}
    assert ranks_from_scores({"a": -3.0, "b": 1.0}, better="zero") == {"a": 2, "b": 1}
    assert ranks_from_scores({"a": math.inf, "b": NAN, "c": 5.0}) == {"a": 2, "b": 3, "c": 1}
    assert ranks_from_scores({}) == {}


@given(st.lists(st.integers(0, 9).map(lambda n: n / 10), min_size=1, max_size=8))
def test_ranks_are_those_of_scipy(values):
    scores = {str(i): value for i, value in enumerate(values)}
    for ties in ("average", "min"):
        expected = stats.rankdata(values, method=ties)
        assert list(ranks_from_scores(scores, ties=ties).values()) == expected.tolist()


def test_an_unknown_rule_is_refused():
    with pytest.raises(Misuse, match="'average' or 'min', not by 'dense'"):
        ranks_from_scores({"a": 1.0}, ties="dense")


# --------------------------------------------------------------------------------------- files

CSV = """grader,experiment,variant,method,rank
G1, porosity, basic, CVF, 2
G1, porosity, basic, Elas, 1
G2, porosity, basic, CVF, 1.5
G2, porosity, basic, Elas, 1.5
"""


def test_reads_a_table(tmp_path):
    (tmp_path / "r.csv").write_text(CSV)
    assert read_rankings(tmp_path / "r.csv") == [
        Ranking("G1", "porosity", {"CVF": 2, "Elas": 1}, "basic"),
        Ranking("G2", "porosity", {"CVF": 1.5, "Elas": 1.5}, "basic"),
    ]


def test_reads_json_and_repeats(tmp_path):
    row = {"grader": "G1", "experiment": "e", "method": "a", "rank": 1}
    (tmp_path / "r.json").write_text(json.dumps([row, {**row, "repeat": 2}]))
    assert read_rankings(tmp_path / "r.json") == [
        Ranking("G1", "e", {"a": 1}),
        Ranking("G1", "e", {"a": 1}, repeat=2),
    ]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).map(str.strip)
RANKINGS = st.builds(
    Ranking,
    WORDS.filter(bool),
    WORDS.filter(bool),
    st.dictionaries(WORDS.filter(bool), st.floats(1, 99) | st.just(NAN), min_size=1, max_size=4),
    WORDS,
    st.integers(1, 3),
)


@pytest.mark.parametrize("name", ["r.csv", "r.json"])
@given(
    found=st.lists(
        RANKINGS, max_size=4, unique_by=lambda r: (r.grader, r.experiment, r.variant, r.repeat)
    )
)
def test_what_is_written_is_read_again(name, found, tmp_path_factory):
    path = tmp_path_factory.mktemp("rankings") / name
    write_rankings(path, found)
    assert [repr(each) for each in read_rankings(path)] == [repr(each) for each in found]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lacks grader, experiment, method, rank; the columns are grader, "),
        ("grader,experiment,methd,rank\n", "lacks method and has unknown methd"),
        (CSV + "G1,porosity,basic,CVF,1\n", "line 6: G1 ranks 'CVF' twice in 'porosity'"),
        (CSV + "G3,porosity,basic,CVF,first\n", "line 6: rank is 'first' but must be a number"),
        (CSV + "G3,porosity,basic,CVF,0\n", "rank is '0'"),
        (CSV + "G3,porosity,basic,CVF,inf\n", "rank is 'inf'"),
        (CSV + ",porosity,basic,,1\n", "grader, method must not be empty"),
        (CSV + "G3,porosity,basic,CVF,1,5\n", "more fields than the first line"),
        ("grader,experiment,repeat,method,rank\nG,e,1.5,m,1\n", "repeat is 1.5 but counts from 1"),
    ],
)
def test_wrong_tables_are_refused(text, message, tmp_path):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_rankings(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("{}", "must be a list of objects"),
        ('[{"grader": "G"}]', "row 1: lacks experiment, method, rank"),
        ('[{"grader":"G","experiment":"e","method":"m","rank":true}]', "rank is 'True'"),
        ('[{"grader":"G","experiment":"e","method":"m","rank":[1]}]', "rank is "),
    ],
)
def test_wrong_json_is_refused(text, message, tmp_path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_rankings(tmp_path / "r.json")


def test_files_that_cannot_be_read_are_said(tmp_path):
    with pytest.raises(BadFile, match=r"none\.csv: cannot be read"):
        read_rankings(tmp_path / "none.csv")
    (tmp_path / "r.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadFile, match="cannot be read as text"):
        read_rankings(tmp_path / "r.csv")
