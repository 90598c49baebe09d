"""From names to masks: what a name may be, what is shared, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from depthgauge.errors import BadScoreId, DuplicateName, Unavailable, UnknownName, WrongShape
from depthgauge.regions import REGIONS, compute_regions, defaults, revisions
from depthgauge.types import Truth

TRUTH = np.array([[1, 2, 3, np.nan], [5, 6, 7, 8]], np.float32)


def resolve(expressions, items=None, quantity="disparity", **options):
    return compute_regions(expressions, TRUTH, items or {}, quantity=quantity, **options)


def pixels(mask):
    return sorted(TRUTH[mask])


LABELS = np.array([[2, 2, 3, 3], [0, 1, 3, 12]])
GLASS = np.array([[1, 0, 0, 1], [0, 0, 255, 0]], np.uint8)


def test_names_are_regions_masks_labels_and_each_other():
    items = {"material_labels": LABELS, "glass_mask": GLASS}
    found = resolve(
        {
            "all": "all",
            "tom": "material_2 | material_3",
            "opaque_tom": "tom - glass",
            "glass": "glass",
            "material_12": "material_12",
            "rest": "~tom",
            "own": "glass_mask",
            "inner": "near:5 & far:7",
        },
        items,
    )
    assert {name: pixels(mask) for name, mask in found.masks.items()} == {
        "all": [1, 2, 3, 5, 6, 7, 8],
        "tom": [1, 2, 3, 7],
        "opaque_tom": [2, 3],
        "glass": [1, 7],
        "material_12": [8],
        "rest": [5, 6, 8],
        "own": [1, 7],
        "inner": [6, 7],
    }
    assert found.unavailable == {}
    assert list(found.masks)[:2] == ["all", "tom"]


def test_a_label_that_does_not_occur_is_an_empty_region():
    found = resolve({"x": "material_7"}, {"material_labels": LABELS})
    assert not found.masks["x"].any()


def test_no_region_holds_a_pixel_without_truth():
    items = {"visible_mask": np.ones(TRUTH.shape, bool), "left_image": np.zeros((2, 4), np.uint8)}
    asked = ["visible", "textureless", "border:9", "near:0", "far:9", "~occluded", "~(all - all)"]
    found = resolve({text: text for text in asked}, items)
    assert all(mask.any() and not mask[0, 3] for mask in found.masks.values())
    assert len(found.masks) == len(asked)


def test_a_registered_region_wins_and_the_dataset_mask_is_reached_by_its_full_name():
    items = {"border_mask": np.zeros(TRUTH.shape, bool)}
    found = resolve({"a": "border:1", "b": "border_mask"}, items)
    assert found.masks["a"].any()
    assert not found.masks["b"].any()


def test_each_region_is_computed_and_each_item_read_once(monkeypatch):
    calls = []
    original = REGIONS["textureless"]

    def counted(truth, **arguments):
        calls.append("computed")
        return original.compute(truth, **arguments)

    made = replace(original, compute=counted)
    monkeypatch.setitem(REGIONS._things, "textureless", made)
    items = Truth({"left_image": lambda: calls.append("read") or np.zeros((2, 4), np.uint8)})
    resolve({"a": "textureless", "b": "~textureless:3,4", "c": "a | textureless:3"}, items)
    assert sorted(calls) == ["computed", "read"]


def test_only_the_first_alternative_is_read():
    def never():
        raise AssertionError("read")

    items = Truth({"visible_mask": np.ones(TRUTH.shape, bool), "right_disparity": never})
    assert resolve({"visible": "visible"}, items).masks["visible"].sum() == 7


def test_what_a_sample_cannot_give_is_said_and_fails_nothing_else():
    found = resolve({"all": "all", "a": "textureless", "b": "a | all", "c": "visible"})
    assert list(found.masks) == ["all"]
    needs_image = "region 'textureless' needs left_image, which this sample does not have."
    assert found.unavailable["a"] == found.unavailable["b"] == needs_image
    assert "needs one of visible_mask, occluded_mask, right_disparity" in found.unavailable["c"]


def test_what_only_other_samples_have_is_unavailable_not_unknown():
    found = resolve({"a": "glass", "b": "material_2"}, declared=["glass_mask", "material_labels"])
    assert found.unavailable == {
        "a": "region 'glass' needs glass_mask, which this sample does not have.",
        "b": "region 'material_2' needs material_labels, which this sample does not have.",
    }


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("textureles", "textureless"),
        ("glas", "glass"),
        ("materail_2", "material_2"),
        ("tim", "tom"),
    ],
)
def test_unknown_names_name_the_nearest(text, nearest):
    items = {"material_labels": LABELS, "glass_mask": GLASS}
    with pytest.raises(UnknownName, match=f"no region '{text}'. Did you mean '{nearest}'"):
        resolve({"x": text, "tom": "material_2"}, items)


def test_unknown_is_said_of_declared_labels_too():
    with pytest.raises(UnknownName, match="material_0"):
        resolve({"x": "y"}, declared=["material_labels"])


@pytest.mark.parametrize(
    ("expressions", "circle"),
    [
        ({"a": "b | all", "b": "c", "c": "~a"}, "a -> b -> c -> a"),
        ({"glass": "glass & all"}, "glass -> glass"),
    ],
)
def test_cycles_are_named(expressions, circle):
    with pytest.raises(BadScoreId, match=circle):
        resolve(expressions, {"glass_mask": GLASS})
    with pytest.raises(BadScoreId, match="defined by itself"):
        revisions(expressions)


def test_a_diamond_is_no_cycle():
    found = resolve({"a": "b | c", "b": "d", "c": "d", "d": "all"})
    assert found.masks["a"].sum() == 7


def test_a_built_in_name_keeps_its_meaning():
    assert resolve({"near:3": "near:3", "all": "all"}).masks["near:3"].sum() == 4
    image = {"left_image": np.zeros((2, 4), np.uint8)}
    assert resolve({"textureless": "textureless:3,4"}, image).masks["textureless"].any()
    for name, text in (
        ("visible", "all"),
        ("border", "border:10"),
        ("textureless", "textureless:5"),
    ):
        with pytest.raises(DuplicateName, match=f"region '{name}' is built in"):
            resolve({name: text})


def test_parameters_are_checked_before_anything_is_computed():
    with pytest.raises(BadScoreId, match="region 'tom' takes no parameters"):
        resolve({"x": "tom:3", "tom": "all"})
    with pytest.raises(BadScoreId, match="needs its limit"):
        resolve({"near": "near"})


def test_items_of_another_size_are_refused_by_name():
    with pytest.raises(WrongShape, match="glass_mask is 3x2, the truth is 4x2"):
        resolve({"x": "glass"}, {"glass_mask": np.ones((2, 3), bool)})
    with pytest.raises(WrongShape, match="a mask is"):
        resolve({"x": "glass"}, {"glass_mask": np.ones((2, 4, 3), bool)})


def test_other_errors_are_not_swallowed():
    def broken():
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        resolve({"x": "glass"}, Truth({"glass_mask": broken}))


def test_a_loader_may_say_that_its_item_is_unavailable():
    def held_out():
        raise Unavailable("the mask is hidden.")

    items = Truth({"glass_mask": held_out})
    assert resolve({"x": "glass"}, items).unavailable == {"x": "the mask is hidden."}


def test_defaults_are_filled_in():
    assert defaults("textureless") == "textureless:3,4"
    assert defaults("(tom)-discontinuities:2") == "tom - discontinuities:2,9,1"
    assert defaults("all - border:10") == "all - border:10"
    with pytest.raises(UnknownName, match="no region with parameters 'textureles'"):
        defaults("textureles:3")


def test_revisions_list_what_is_registered_with_its_parameters():
    expressions = {"a": "b & textureless", "b": "material_2 | textureless:5", "all": "all"}
    assert revisions(expressions) == {"all": 1, "textureless:3,4": 1, "textureless:5,4": 1}


def test_the_order_of_regions_changes_no_region():
    expressions = {"c": "a - b", "a": "near:2", "b": "border:1 & near:5", "all": "all"}
    one = resolve(expressions).masks
    other = resolve(dict(reversed(expressions.items()))).masks
    assert all((one[name] == other[name]).all() for name in expressions)
