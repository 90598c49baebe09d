"""Names that papers use for metrics, and what they mean here."""

from __future__ import annotations

import pytest

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.aliases import _MEANINGS, meaning_of, nearest_meaning, notes
from depthgauge.benchmarks.score_ids import parse_metric
from depthgauge.errors import BadScoreId, UnknownName
from depthgauge.metrics import METRICS


@pytest.mark.parametrize(
    ("typed", "quantity", "meant"),
    [
        ("epe", "disparity", "mae"),
        ("EPE", "disparity", "mae"),
        ("epe", "flow", "epe"),
        ("EPE", "flow", "epe"),
        ("rmse", "depth", "rms"),
        ("RMSE", "disparity", "rms"),
        ("a1", "depth", "delta:1.25"),
        ("a2", "depth", "delta:1.5625"),
        ("a3", "depth", "delta:1.953125"),
        ("delta1", "depth", "delta:1.25"),
        ("delta_2", "depth", "delta:1.5625"),
        ("Delta3", "depth", "delta:1.953125"),
        ("d1", "depth", "delta:1.25"),
        ("d1", "disparity", "d1"),
        ("bad2", "disparity", "badpix:2"),
        ("bad-2.0", "disparity", "badpix:2"),
        ("bad2.0", "disparity", "badpix:2"),
        ("bad_0.5", "disparity", "badpix:0.5"),
        ("bad:2", "disparity", "badpix:2"),
        ("3px", "disparity", "badpix:3"),
        ("1px", "flow", "npx:1"),
        ("bad3", "flow", "npx:3"),
        ("A90", "disparity", "quantile:90"),
        ("d1-all", "disparity", "d1@all"),
        ("D1-all", "disparity", "d1@all"),
        ("fl-all", "flow", "fl@all"),
        ("abs_rel", "depth", "absrel"),
        ("AbsRel", "depth", "absrel"),
        ("sq_rel", "depth", "sqrel"),
        ("rmse_log", "depth", "rmse_log"),
        ("log_rmse", "depth", "rmse_log"),
        ("epe@front", "disparity", "mae@front"),
        ("flow/EPE", "flow", "flow/epe"),
        ("badpix:2@all", "disparity", "badpix:2@all"),
    ],
)
def test_a_name_of_others_means_one_of_our_ids(typed: str, quantity: str, meant: str) -> None:
    found = meaning_of(typed, quantity)
    assert found.score_id == meant
    assert bool(found.note) == (typed != meant)


def test_every_meaning_in_the_table_is_a_metric_with_such_parameters() -> None:
    for meanings in _MEANINGS.values():
        for meant in meanings:
            name, params = parse_metric(meant.partition("@")[0])
            METRICS[name].bind(params)


def test_no_name_of_ours_is_an_alias_of_another_metric_on_its_own_quantity() -> None:
    for name, metric in METRICS.items():
        for quantity in metric.of:
            assert meaning_of(name, quantity).score_id == name


def test_the_deltas_of_papers_are_powers_of_a_quarter_more() -> None:
    ids = [meaning_of(f"a{k}", "depth").score_id for k in (1, 2, 3)]
    assert [float(i.partition(":")[2]) for i in ids] == [1.25, 1.25**2, 1.25**3]


def test_what_a_name_means_is_said_in_one_sentence() -> None:
    assert notes(["mae", "badpix:2"], "disparity") == ""
    assert notes(["EPE", "mae", "bad2", "EPE"], "disparity") == "EPE is mae here, bad2 is badpix:2."


def test_an_unknown_metric_names_the_nearest_and_not_all() -> None:
    with pytest.raises(UnknownName) as error:
        meaning_of("badpxi", "disparity")
    text = str(error.value)
    assert "no metric 'badpxi'. Did you mean 'badpix'" in text
    assert "'depthgauge list metrics' shows all" in text
    assert "porosity" not in text


@pytest.mark.parametrize("typed", ["bad2:3", "d1-all@front"])
def test_a_name_that_says_it_already_takes_no_second_value(typed: str) -> None:
    with pytest.raises(BadScoreId, match=r"twice|two regions"):
        meaning_of(typed, "disparity")


def test_scores_have_our_ids_and_the_same_hash_and_answer_to_both_names() -> None:
    maps = [[1.0, 2.0, 5.5]], [[1.0, 2.0, 3.0]]
    theirs, ours = dg.score(*maps, ["EPE", "bad2"]), dg.score(*maps, ["mae", "badpix:2"])
    assert list(theirs) == ["mae@all", "badpix:2@all"]
    assert theirs.protocol_hash == ours.protocol_hash
    assert [(note.code, note.text) for note in theirs.notes] == [
        ("name", "EPE is mae here, bad2 is badpix:2.")
    ]
    assert not ours.notes
    assert theirs["epe"] == theirs["mae@all"] == ours["EPE@all"]
    with pytest.raises(UnknownName, match="no score 'a1'"):
        theirs["a1"]


def test_a_metric_that_has_no_meaning_for_the_quantity_is_still_refused() -> None:
    with pytest.raises(BadScoreId, match="rms scores disparity, depth, not flow"):
        dg.score([[[1.0, 2.0]] * 3] * 4, [[[1.0, 2.0]] * 3] * 4, "rmse", quantity="flow")


def test_a_benchmark_that_is_not_there_names_the_nearest_and_a_recipe() -> None:
    with pytest.raises(UnknownName) as error:
        find_benchmark("kitti")
    text = str(error.value)
    assert "no benchmark 'kitti'" in text
    assert "'depthgauge score --truth disp_occ_0 --estimates DIR --metric d1-all'" in text
    assert "oasis" not in text
    with pytest.raises(UnknownName, match="Did you mean 'middlebury'"):
        find_benchmark("midlebury")
    with pytest.raises(UnknownName, match=r"score --truth DIR --estimates DIR' scores any two"):
        find_benchmark("something-else")


def test_depth_has_all_three_deltas_by_default() -> None:
    scores = dg.score([[1.0, 2.0]], [[1.0, 3.2]], quantity="depth")
    assert [scores[f"a{k}"].value for k in (1, 2, 3)] == [50.0, 50.0, 100.0]


def test_a_benchmark_file_is_told_our_name() -> None:
    assert nearest_meaning("rmse") == "rms"
    assert nearest_meaning("mae") == nearest_meaning("nothing") == ""
