"""Protocols: strict, all mistakes at once, a hash of everything that counts and of nothing else."""

import json

import pytest

from depthgauge.benchmarks import BENCHMARKS, find_benchmark, lock
from depthgauge.benchmarks.protocol import load_protocol
from depthgauge.benchmarks.score_ids import file_name, make_spec, parse_metric
from depthgauge.errors import BadFile, BadProtocol, BadScoreId, UnknownName


def test_lists_are_multiplied_out(make):
    ids = [spec.id for spec in make().specs]
    assert ids == ["badpix:1@all", "badpix:1@visible", "badpix:2@all", "badpix:2@visible"]


def test_ids_carry_only_the_parameters_that_were_given():
    assert make_spec("d1", {}, "all").id == "d1@all"
    assert make_spec("d1", {"threshold": 3, "share": 0.05}, "all").id == "d1:3,0.05@all"
    assert make_spec("quantile", {"percent": 90.0}, "x").id == "quantile:90@x"
    assert make_spec("badpix", {"threshold": 2}, "all", name="bad2").id == "bad2@all"


@pytest.mark.parametrize("text", ["badpix:", "badpix:1,2", "mae:3", "d1:1,,2", "d1:,1"])
def test_ids_that_do_not_fit_say_what_would(text):
    with pytest.raises(BadScoreId, match=f"'{text}' is not valid; write"):
        parse_metric(text)


def test_every_mistake_is_reported_at_once(problems):
    found = problems(
        pool="images",
        metircs=[],
        align={"kind": "best"},
        scores=[{"metric": "badpx"}, {"metric": "mae", "region": "all &"}],
    )
    assert set(found) == {
        "pool",
        "metircs",
        "align.kind",
        "scores[0].metric",
        "scores[1].region",
    }
    assert found["scores[0].metric"].hint == "Did you mean 'badpix'?"
    assert "'pixel', 'image', 'scene' or 'median'" in found["pool"].what


def test_mistakes_that_a_schema_cannot_see_are_reported_at_once(problems):
    found = problems(
        quantity="disprity",
        missing="good",
        truth_scale=0.3,
        interpolate="scanline",
        dataset="foldr",
        scores=[
            {"metric": "badpx"},
            {"metric": "badpix", "treshold": 2},
            {"metric": "badpix", "threshold": "two"},
            {"metric": "mae", "region": ["all", "all & & visible"]},
        ],
        regions={"broken": "all |"},
    )
    assert {
        "quantity",
        "missing",
        "truth_scale",
        "interpolate",
        "dataset",
        "scores[0].metric",
        "scores[1].treshold",
        "scores[2]",
        "scores[3].region[1]",
        "regions.broken",
    } <= set(found)
    assert found["scores[1].treshold"].hint == "Did you mean 'threshold'?"
    assert found["quantity"].hint == "Did you mean 'disparity'?"


def test_a_typing_mistake_gets_a_hint(problems):
    assert problems(mising="bad")["mising"].hint == "Did you mean 'missing'?"
    assert problems(align={"kindd": "none"})["align.kindd"].hint == "Did you mean 'kind'?"


def test_a_metric_of_another_quantity_is_refused(problems):
    assert (
        "epe scores flow, not disparity"
        in problems(scores=[{"metric": "epe"}])["scores[0].metric"].what
    )


def test_a_split_that_the_dataset_lacks(problems):
    found = problems(dataset="middlebury-2014", split="trainning")
    assert found["split"].hint == "Did you mean 'training'?"


def test_no_scores_is_a_mistake(problems):
    assert "scores" in problems(scores=[])


def test_two_ids_must_not_share_a_file_name(problems):
    block = {"metric": "badpix", "threshold": 2, "name": "a_b"}
    other = {"metric": "badpix", "threshold": 3, "name": "a,b"}
    assert "would have the same file name" in problems(scores=[block, other])["scores"].what
    assert "'a_b@all' occurs twice" in problems(scores=[block, block])["scores"].what


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_no_two_scores_of_a_benchmark_collide(name):
    ids = BENCHMARKS[name].score_ids
    assert len({file_name(i) for i in ids}) == len(ids) > 0


# --- the lock -----------------------------------------------------------------------------------


def test_benchmarks_are_locked():
    """A benchmark, or a revision that it uses, changed without a new version."""
    assert lock.compare(lock.read_lock()) == []


def test_a_changed_benchmark_cannot_be_locked_again(tmp_path):
    path = tmp_path / "LOCK"
    lock.update(path)
    locked = json.loads(path.read_text())
    locked["middlebury"]["1"] = "0" * 64
    path.write_text(json.dumps(locked))
    with pytest.raises(BadProtocol, match="changed within version 1"):
        lock.update(path)


# --- finding and reading ------------------------------------------------------------------------


def test_an_unknown_benchmark_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'middlebury'"):
        find_benchmark("midlebury")


def test_a_file_that_is_not_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("id = ")
    with pytest.raises(BadFile, match="is not TOML"):
        load_protocol(path)
    with pytest.raises(BadFile, match="there is no such file"):
        find_benchmark(tmp_path / "none.toml")


def test_a_twin_with_unknown_options_is_refused(make, twin):
    with pytest.raises(BadProtocol, match=r"no option 'cilp'\. Did you mean 'clip'"):
        make(**twin, options={"cilp": "none"})
    with pytest.raises(BadProtocol, match="'clip' is 'all' but must be one of: ndisp, none"):
        make(**twin, options={"clip": "all"})
    with pytest.raises(BadProtocol, match="no twin 'midlebury'"):
        make(**{**twin, "twin": "midlebury"})
