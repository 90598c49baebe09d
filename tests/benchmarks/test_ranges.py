"""Numbered names in one line."""

import pytest

from depthgauge.benchmarks.numbered import expand, expand_all, expand_table
from depthgauge.errors import BadScoreId


def test_a_range_counts_from_the_first_to_the_last():
    assert expand("bins_{1..3}") == ["bins_1", "bins_2", "bins_3"]
    assert expand("a_{9..11} & b_{9..11}") == ["a_9 & b_9", "a_10 & b_10", "a_11 & b_11"]
    assert expand("{5..5}") == ["5"]
    assert expand("a_{3..1}") == ["a_3", "a_2", "a_1"]
    assert expand_table({"a_{1..2}": "b_{9..8}"}) == {"a_1": "b_9", "a_2": "b_8"}
    assert expand_all(["all", "x_{1..2}"]) == ["all", "x_1", "x_2"]


def test_a_table_takes_its_numbers_along():
    table = {"gap_{1..2}": "gaps & bins_{1..2}", "wide": "all"}
    assert expand_table(table) == {
        "gap_1": "gaps & bins_1",
        "gap_2": "gaps & bins_2",
        "wide": "all",
    }
    assert expand_table({"same_{1..2}": "all"}) == {"same_1": "all", "same_2": "all"}


@pytest.mark.parametrize("text", ["a_{1..2}_{1..3}", "a_{0..99999}"])
def test_what_cannot_be_counted_is_refused(text):
    with pytest.raises(BadScoreId):
        expand(text)


def test_keys_and_values_count_the_same():
    with pytest.raises(BadScoreId, match="count differently"):
        expand_table({"a_{1..2}": "b_{1..3}"})
    with pytest.raises(BadScoreId, match="has none"):
        expand_table({"a": "b_{1..3}"})


def test_a_benchmark_has_numbered_regions_and_means_the_same_as_one_that_lists_them(make):
    short = make(
        regions={"gap_{1..3}": "visible & bins_{1..3}"},
        scores=[{"metric": "mae", "region": ["gap_{1..3}", "all"]}],
    )
    listed = make(
        regions={f"gap_{n}": f"visible & bins_{n}" for n in (1, 2, 3)},
        scores=[{"metric": "mae", "region": ["gap_1", "gap_2", "gap_3", "all"]}],
    )
    assert short.score_ids == ("mae@gap_1", "mae@gap_2", "mae@gap_3", "mae@all")
    assert short.hash == listed.hash


def test_mistakes_in_ranges_are_problems_of_the_file(problems):
    found = problems(scores=[{"metric": "mae", "region": "a_{1..9999}"}])
    assert "a range has at most" in str(next(iter(found.values())))
    found = problems(regions={"a": "b_{1..3}"})
    assert "has none" in str(next(iter(found.values())))
