"""Families of numbered regions follow the number of bins in the data."""

import pytest

from depthgauge.benchmarks import find_benchmark, make_protocol
from depthgauge.benchmarks.bins import Bins, families_of
from depthgauge.errors import BadProtocol

BODY = {
    "id": "trial",
    "version": 1,
    "dataset": "depthgauge",
    "quantity": "disparity",
    "pool": "image",
    "regions": {"gap_{1..3}": "front & steps_{1..3}", "peak_{1..3}": "steps_{3..1}"},
    "axes": {"gap": {"bins": "steps", "unit": "px"}, "peak": {"bins": "steps"}},
    "scores": [
        {"metric": "mae", "region": ["all", "gap_{1..3}", "peak_{1..3}"]},
        {"metric": "badpix", "threshold": [1, 2], "region": "gap_{1..3}"},
    ],
}


def protocol(**changes):
    return make_protocol({**BODY, **changes}, "a test")


def test_more_bins_make_more_regions_and_scores_in_their_order():
    found = protocol().with_bins({"steps": Bins(5)})
    assert found.regions == {
        **{f"gap_{k}": f"front & steps_{k}" for k in range(1, 6)},
        **{f"peak_{k}": f"steps_{6 - k}" for k in range(1, 6)},
    }
    assert [name for name in found.score_ids if name.startswith("mae")] == [
        "mae@all",
        *(f"mae@gap_{k}" for k in range(1, 6)),
        *(f"mae@peak_{k}" for k in range(1, 6)),
    ]
    assert sum(name.startswith("badpix") for name in found.score_ids) == 10


def test_fewer_bins_leave_no_region_without_a_bin():
    found = protocol().with_bins({"steps": Bins(2)})
    assert [*found.regions] == ["gap_1", "gap_2", "peak_1", "peak_2"]
    assert found.regions["peak_1"] == "steps_2"
    assert "mae@gap_3" not in found.score_ids


def test_other_numbers_of_bins_are_another_protocol_and_back_again():
    plain = protocol()
    more = plain.with_bins({"steps": Bins(5)})
    assert more.hash != plain.hash
    assert more.with_bins({"steps": Bins(3)}).hash == plain.hash


def test_the_usual_number_and_other_labels_change_nothing():
    plain = protocol()
    assert plain.with_bins({"steps": Bins(3)}) is plain
    assert plain.with_bins({"others": Bins(7)}) is plain


def test_levels_are_values_of_the_axes_and_not_in_the_hash():
    plain = protocol()
    found = plain.with_bins({"steps": Bins(3, (0.1, 0.2, 0.4))})
    assert found.axes["gap"].values == (0.1, 0.2, 0.4)
    assert found.axes["peak"].values == (0.4, 0.2, 0.1)
    assert found.axes["gap"].unit == "px"
    assert found.hash == plain.hash


def test_values_of_a_file_do_not_outlive_their_bins():
    axes = {"gap": {"bins": "steps", "values": [1, 2, 3]}, "peak": {"bins": "steps"}}
    assert protocol(axes=axes).with_bins({"steps": Bins(4)}).axes["gap"].values == ()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"axes": {"hole": {"bins": "steps"}}}, "there is no region hole_1"),
        ({"axes": {"gap": {"bins": "other"}}}, "not bins 1 to 3 of other"),
        (
            {"regions": {"gap_1": "steps_1", "gap_2": "steps_2", "gap_3": "front"}, "scores": []},
            "not bins 1 to 3 of steps",
        ),
    ],
)
def test_a_family_that_cannot_follow_is_a_mistake(changes, why):
    with pytest.raises(BadProtocol, match=why):
        protocol(**changes)


@pytest.mark.parametrize("name", ["stratified", "stratified-stereo"])
def test_every_axis_of_stratified_scenes_follows_the_data(name):
    found = find_benchmark(name)
    assert {family.stem for family in families_of(found)} == set(found.axes)
