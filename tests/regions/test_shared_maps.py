"""Maps that regions and metrics share: made once, by the maker that a benchmark names."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.errors import BadScoreId, Misuse, Unavailable, UnknownName
from depthgauge.regions import (
    REGIONS,
    SHARED_MAPS,
    SampleMaps,
    compute_regions,
    region,
    resolve,
    shared_map,
)
from depthgauge.regions._shared_maps import closure, is_shared_map, maker_of

TRUTH = np.array([[1, 2, 3, np.nan], [5, 6, 7, 8]], np.float32)


@pytest.fixture
def makers(monkeypatch):
    """Two makers of `steps`, one thing on top of it, and a region of that."""
    is_shared_map("none")  # the folder is walked before anything of it is put aside
    len(REGIONS)
    monkeypatch.setattr(SHARED_MAPS, "_things", dict(SHARED_MAPS._things))
    monkeypatch.setattr(REGIONS, "_things", dict(REGIONS._things))
    calls = []

    @shared_map("steps", needs=("quantity",), revision=2)
    def steps(truth, *, quantity, size: float = 1.0):
        calls.append(("steps", size))
        return {"size": size, "quantity": quantity}

    @shared_map("steps_from_items", provides="steps", needs=("items",))
    def steps_from_items(truth, *, items, name: str = "left"):
        if name not in items:
            raise Unavailable(f"there is no {name}")
        return {"size": items[name], "quantity": name}

    @shared_map("stairs", needs=("steps",))
    def stairs(truth, *, steps, count: int = 2):
        calls.append(("stairs", count))
        return steps["size"] * count

    @region("high_stairs", needs=("stairs",))
    def high_stairs(truth, *, stairs):
        return truth > stairs

    return calls


def test_a_thing_is_made_once_for_all_who_need_it(makers):
    things = SampleMaps(TRUTH, {}, "disparity")
    found = compute_regions(
        {"a": "high_stairs", "b": "~high_stairs"}, TRUTH, {}, quantity="disparity", things=things
    )
    assert things["steps"] == {"size": 1.0, "quantity": "disparity"}
    assert sorted(TRUTH[found.masks["a"]]) == [3, 5, 6, 7, 8]
    assert sorted(TRUTH[found.masks["b"]]) == [1, 2]
    assert makers == [("steps", 1.0), ("stairs", 2)]


def test_a_benchmark_sets_parameters_once_and_everything_follows(makers):
    things = SampleMaps(TRUTH, {}, "disparity", {"steps": "steps:3"})
    found = compute_regions({"a": "high_stairs"}, TRUTH, {}, quantity="disparity", things=things)
    assert sorted(TRUTH[found.masks["a"]]) == [7, 8]


def test_another_maker_may_take_the_place_of_the_usual_one(makers):
    things = SampleMaps(TRUTH, {"right": 2.5}, "disparity", {"steps": "steps_from_items:right"})
    assert things["stairs"] == 5.0


def test_what_a_sample_cannot_give_is_unavailable_and_said_once(makers):
    things = SampleMaps(TRUTH, {}, "disparity", {"steps": "steps_from_items:right"})
    found = compute_regions({"a": "high_stairs"}, TRUTH, {}, quantity="disparity", things=things)
    assert found.unavailable == {"a": "there is no right"}
    assert "stairs" not in things
    assert "nothing of that name" not in things


def test_the_hash_names_every_thing_behind_a_region_with_all_parameters(makers):
    assert closure(["stairs"], {}) == {"stairs": "stairs:2", "steps": "steps:1"}
    used = resolve.things_used({"x": "high_stairs & all"}, ["rig"], {"steps": "steps:0.5"})
    assert used == {"stairs": "stairs:2", "steps": "steps:0.5"}
    assert resolve.makers_revisions(used) == {"stairs:2": 1, "steps:0.5": 2}
    assert resolve.things_used({"x": "all"}, ["rig"], {}) == {}


def test_wrong_makers_are_refused(makers):
    with pytest.raises(UnknownName, match="shared map"):
        maker_of("stepz", "steps")
    with pytest.raises(UnknownName):
        maker_of("steps", "nobody:3")
    with pytest.raises(BadScoreId, match="makes stairs, not steps"):
        maker_of("steps", "stairs")
    with pytest.raises(BadScoreId, match="single maker"):
        maker_of("steps", "steps & stairs")
    with pytest.raises(BadScoreId, match="shared map 'steps' takes only size"):
        maker_of("steps", "steps:1,2,3")
    with pytest.raises(BadScoreId, match="a number, not 'wide'"):
        maker_of("steps", "steps:wide")


def test_a_maker_judges_its_own_parameters(monkeypatch):
    is_shared_map("none")
    monkeypatch.setattr(SHARED_MAPS, "_things", dict(SHARED_MAPS._things))

    def rising(*, low: float, high: float) -> None:
        if low > high:
            raise Misuse(f"low is {low:g} and high {high:g}; low comes first")

    @shared_map("ramp", check=rising)
    def ramp(truth, *, low: float = 0.0, high: float = 1.0):
        return low, high

    assert SHARED_MAPS["ramp"].bind(["1"]) == {"low": 1, "high": 1}
    with pytest.raises(BadScoreId, match="shared map 'ramp': low is 2 and high 1; low comes"):
        SHARED_MAPS["ramp"].bind(["2"])
    assert ramp(TRUTH, low=2.0) == (2.0, 1.0)


def test_only_things_by_their_own_name_are_things(makers):
    assert is_shared_map("steps")
    assert not is_shared_map("steps_from_items")
    with pytest.raises(KeyError):
        SampleMaps(TRUTH, {}, "disparity")["steps_from_items"]
