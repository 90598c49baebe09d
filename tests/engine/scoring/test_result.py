"""What scoring returns shows itself: in a terminal, in a notebook, as other people's data."""

import builtins
import math
from dataclasses import replace

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.errors import MissingExtra

NAN = math.nan
TRUTH = np.array([[10.0, 12.0, 30.0, 14.0]])
ESTIMATE = np.array([[10.0, 12.5, 33.0, NAN]])


@pytest.fixture
def scores():
    return dg.score(ESTIMATE, TRUTH, ["badpix:2", "mae"], quantity="disparity")


@pytest.fixture
def result(scores):
    return replace(scores.as_result("desk"), failed={"shelf": "no file"}, left_out=("sofa",))


def test_scores_are_a_table(scores):
    assert str(scores).splitlines() == [
        "score          value  unit  pixels  missing  density",
        "------------  ------  ----  ------  -------  -------",
        "badpix:2@all  50.000  %          3        1   75.0 %",
        "mae@all        1.167  px         3        1   75.0 %",
        "",
        "disparity, missing estimates: bad, pooled by image, protocol " + scores.protocol_hash[:12],
    ]
    assert repr(scores) == str(scores)


def test_a_result_is_a_table_and_says_what_failed(result):
    lines = str(result).splitlines()
    assert lines[0].split() == ["score", "value", "unit", "samples", "density"]
    assert lines[2].split() == ["badpix:2@all", "50.000", "%", "1/1", "75.0", "%"]
    assert lines[-3].startswith("two-maps v1, 1 sample: disparity, missing estimates: bad")
    assert lines[-2:] == ["failed: shelf", "left out: sofa"]
    assert repr(result) == str(result)


def test_a_notebook_shows_an_escaped_table(scores, result):
    region = "<script>"
    odd = replace(scores, scores={f"mae@{region}": scores["mae@all"]})
    for shown in (odd._repr_html_(), odd.as_result("x")._repr_html_()):
        assert shown.startswith("<table>")
        assert region not in shown
        assert "mae@&lt;script&gt;" in shown
        assert scores.protocol_hash[:12] in shown
    assert "1/1" in result._repr_html_()


def test_values_by_name_for_a_logger(scores, result):
    assert scores.to_dict() == {"badpix:2@all": 50.0, "mae@all": scores["mae@all"].value}
    assert result.to_dict() == scores.to_dict()


def test_markdown(scores, result):
    assert scores.to_markdown().splitlines()[2] == "| badpix:2@all | 50.000 | % | 3 | 1 | 75.0 % |"
    assert result.to_markdown().splitlines()[3] == "| mae@all | 1.167 | px | 1/1 | 75.0 % |"


def test_data_frames(scores, result):
    pytest.importorskip("pandas", reason="data frames are made by pandas")
    frame = scores.to_pandas()
    assert list(frame.index) == list(scores)
    assert frame.loc["mae@all", "value"] == scores["mae@all"].value
    assert list(frame.columns) == ["value", "unit", "count", "missing", "density", "why"]
    summary = result.to_pandas()
    assert list(summary.columns) == ["value", "unit", "used", "all", "density"]
    assert summary.loc["badpix:2@all", "used"] == 1
    every = result.to_pandas(samples=True)
    assert list(every.index) == [("desk", "badpix:2@all"), ("desk", "mae@all")]
    assert every.loc[("desk", "mae@all"), "missing"] == 1


def test_without_pandas_one_sentence_says_what_to_install(scores, result, monkeypatch):
    original = builtins.__import__

    def without(name, *args, **options):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    for thing in (scores, result):
        with pytest.raises(MissingExtra, match="pip install pandas"):
            thing.to_pandas()


def test_scores_of_a_gpu_say_so(scores):
    found = replace(scores, scores={n: replace(s, device="cuda") for n, s in scores.items()})
    assert str(found).endswith("computed on cuda")
    assert "cuda" not in str(scores)
