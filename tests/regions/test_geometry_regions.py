"""Discontinuities, fine structures and surfaces as regions, and the makers that take masks."""

from __future__ import annotations

import re

import numpy as np
import pytest

from depthgauge.benchmarks import make_protocol
from depthgauge.errors import BadProtocol, BadScoreId, Misuse, WrongShape
from depthgauge.geometry import find_edges, find_structures, find_surfaces, structures_from_masks
from depthgauge.regions import REGIONS, SHARED_MAPS, SampleMaps, compute_regions
from depthgauge.regions._shared_maps import maker_of
from depthgauge.regions.objects import objects_of

NAN = np.nan
Y, X = np.mgrid[0:50, 0:70]
INSIDE = (X - 35) ** 2 + (Y - 25) ** 2 < 15**2
ROD = (X >= 5) & (X < 9)
TRUTH = np.where(INSIDE | ROD, 20.0, 3.0 + 0.1 * X).astype(np.float32)
NAMES = (
    "jump_edges",
    "near_foreground",
    "near_background",
    "fine_structures",
    "fine_surroundings",
    "continuous_surfaces",
    "planar_surfaces",
    "curved_surfaces",
)


def masks(names, truth=TRUTH, quantity="disparity", items=None, makers=None):
    things = SampleMaps(truth, items or {}, quantity, makers)
    return compute_regions(
        {name: name for name in names}, truth, items or {}, quantity=quantity, things=things
    )


def test_regions_are_the_parts_of_what_geometry_finds():
    found = masks(NAMES).masks
    edges, structures = find_edges(TRUTH, TRUTH), find_structures(TRUTH, TRUTH)
    surfaces = find_surfaces(TRUTH, "disparity")
    parts = (
        *(edges.edge, edges.foreground, edges.background),
        *(structures.mask, structures.surrounding),
        *(surfaces.continuous, surfaces.planar, surfaces.curved),
    )
    for name, part in zip(NAMES, parts, strict=True):
        assert (found[name] == part).all(), name
    assert (found["fine_structures"] == ROD).all()
    assert found["near_background"].sum() > 500
    assert found["planar_surfaces"].any()


def test_regions_take_no_parameters_of_their_own():
    assert all(not REGIONS[name].params for name in NAMES)
    with pytest.raises(BadScoreId, match="takes no parameters"):
        masks(["jump_edges:0.1"])


def test_parameters_are_set_once_for_all():
    truth = TRUTH / 20
    assert not masks(["near_background"], truth).masks["near_background"].any()
    makers = {"edges": "edges:0.1,3", "structures": "structures:0.1,2"}
    found = masks(["near_background", "fine_structures"], truth, makers=makers).masks
    expected = find_edges(truth, truth, jump=0.1, reach=3)
    assert (found["near_background"] == expected.background).all()
    assert not found["fine_structures"].any()


def test_declared_parameters():
    edges = {"jump": 1.0, "reach": 10, "window": 5, "gaps": "background"}
    assert dict(SHARED_MAPS["edges"].params) == edges
    structures = {"jump": 1.0, "width": 10, "reach": 10, "least": 5, "gaps": "background"}
    assert dict(SHARED_MAPS["structures"].params) == structures
    assert list(SHARED_MAPS["surfaces"].params) == ["jump", "bend", "flat", "window", "wide"]
    assert SHARED_MAPS["edges_from_mask"].provides == "edges"
    assert SHARED_MAPS["structures_from_mask"].provides == "structures"


BAD_MAKERS = {
    "edges:-1": "shared map 'edges': jump is -1; it must be finite and cannot be negative.",
    "edges:1,-1": "reach is -1; a length cannot be negative",
    "edges:1,10,4": "window is 4; a window's width is odd, from 1 to 99",
    "edges:1,10,100001": "window is 100001; a window's width is odd, from 1 to 99",
    "edges:1,10,5,closed": "gaps is 'closed'; it must be background or open",
    "edges_from_mask:objects,-1": "'edges_from_mask': jump is -1",
    "edges_from_mask:objects,0,10,101": "window is 101",
    "structures:-0.5": "jump is -0.5",
    "structures:1,-1": "width is -1",
    "structures:1,10,-1": "reach is -1",
    "structures:1,10,10,-1": "least is -1",
    "structures:1,10,10,10,fill": "gaps is 'fill'",
    "structures_from_mask:fine,-1": "jump is -1",
    "structures_from_mask:fine,0,-1": "reach is -1",
    "surfaces:-1": "jump is -1",
    "surfaces:1,0.01,0.02": "flat is 0.02 and bend 0.01; they must be 0 <= flat <= bend",
    "surfaces:1,0.05,0.002,1": "window is 1; a window's width is odd, from 3 to 99",
    "surfaces:1,0.05,0.002,9,10": "window is 10",
    "surfaces:1,0.05,0.002,1000001": "window is 1000001",
}


@pytest.mark.parametrize(("text", "message"), BAD_MAKERS.items())
def test_parameters_that_mean_nothing_are_refused_before_anything_is_computed(text, message):
    with pytest.raises(BadScoreId, match=re.escape(message)):
        maker_of(SHARED_MAPS[text.partition(":")[0]].provides, text)


def test_the_widest_parameters_are_no_mistake():
    for text in ("edges:0,0,99", "structures:0,0,0", "surfaces:0,0,0,99"):
        maker_of(text.partition(":")[0], text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"derived": {"edges": "edges:-1"}}, "derived.edges: shared map 'edges': jump is -1"),
        ({"regions": {"flat": "low_texture:9"}}, "regions.flat: region 'low_texture': level is 9"),
        (
            {"scores": [{"metric": "mae", "region": ["saturation:0"]}]},
            "region 'saturation': level is 0",
        ),
    ],
)
def test_a_protocol_with_them_is_refused(change, message):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "folder",
        "quantity": "disparity",
        "pool": "image",
        "scores": [{"metric": "mae", "region": ["all"]}],
    }
    make_protocol(body, "trial")
    with pytest.raises(BadProtocol, match=message):
        make_protocol({**body, **change}, "trial")


def test_depth_and_flow():
    depth = 100 - TRUTH
    assert (masks(["near_foreground"], depth, "depth").masks["near_foreground"] == INSIDE).sum() > 0
    expected = find_edges(TRUTH, TRUTH).foreground
    assert (masks(["near_foreground"], depth, "depth").masks["near_foreground"] == expected).all()
    flow = np.stack([TRUTH, np.zeros_like(TRUTH)], -1)
    found = masks(NAMES, flow, "flow").masks
    assert (found["near_foreground"] == expected).all()
    assert (found["fine_structures"] == ROD).all()


def test_what_has_no_front_is_refused():
    with pytest.raises(Misuse, match="not of normals"):
        masks(["jump_edges"], np.zeros((5, 5, 3), np.float32), "normals")


def test_gaps_can_be_left_open():
    truth = TRUTH.copy()
    truth[:, 4] = NAN
    names = ["fine_structures", "near_foreground", "jump_edges"]
    makers = {"edges": "edges:1,10,5,open", "structures": "structures:1,10,10,10,open"}
    closed, opened = masks(names, truth).masks, masks(names, truth, makers=makers).masks
    assert (closed["fine_structures"] == ROD).all()
    assert not opened["fine_structures"].any()
    assert (closed["near_foreground"] >= opened["near_foreground"]).all()
    assert closed["jump_edges"][:, 5].all()
    assert not opened["jump_edges"][:, 5].any()


def test_the_other_view_says_more_about_gaps():
    truth, right = TRUTH.copy(), np.full_like(TRUTH, 3.0)
    truth[:, 4] = NAN
    makers = {"edges": "edges_from_views:1,6", "structures": "structures_from_views:1,8,6"}
    names, items = ["fine_structures", "near_foreground"], {"right_disparity": right}
    found = masks(names, truth, items=items, makers=makers).masks
    edges = find_edges(truth, truth, reach=6, right_disparity=right)
    structures = find_structures(truth, truth, width=8, reach=6, right_disparity=right)
    assert (found["near_foreground"] == edges.foreground).all()
    assert (found["fine_structures"] == structures.mask).all()
    assert structures.mask.any()
    lacking = masks(names, truth, makers=makers)
    assert "needs right_disparity" in lacking.unavailable["fine_structures"]
    flow = np.stack([truth, truth], -1)
    assert "is for disparity" in masks(names, flow, "flow", items, makers).unavailable[names[0]]


def test_regions_stay_within_the_truth():
    truth = TRUTH.copy()
    truth[10:20, 30:40] = NAN
    for name, mask in masks(NAMES, truth).masks.items():
        assert not (mask & np.isnan(truth)).any(), name


# --- from masks


def test_edges_of_a_mask_that_the_sample_has():
    items = {"objects_mask": INSIDE.astype(np.uint8) * 255}
    found = masks(["jump_edges"], items=items, makers={"edges": "edges_from_mask:objects"}).masks
    expected = find_edges(np.where(INSIDE, 9, 0), np.where(INSIDE, 9, 0)).edge
    assert (found["jump_edges"] == expected).all()


def test_labels_are_objects_of_their_own():
    left = INSIDE & (X < 35)
    items = {"objects_labels": np.where(left, 1, np.where(INSIDE, 2, 0))}
    truth = np.where(left, 21, TRUTH).astype(np.float32)
    found = masks(["jump_edges"], truth, items=items, makers={"edges": "edges_from_mask:objects"})
    assert found.masks["jump_edges"][20:30, 34:36].all()


@pytest.mark.parametrize("large", [2**32, 2**40])
def test_labels_may_be_larger_than_32_bits(large):
    makers = {"edges": "edges_from_mask:objects"}
    small, big = (
        masks(["jump_edges"], items={"objects_labels": np.where(INSIDE, n, 0)}, makers=makers)
        for n in (1, large)
    )
    assert small.masks["jump_edges"].any()
    assert (big.masks["jump_edges"] == small.masks["jump_edges"]).all()


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.float32])
def test_labels_below_zero_are_background(kind):
    labels = np.where(INSIDE, 3, np.where(ROD, -1, 0)).astype(kind)
    found = objects_of({"objects_labels": labels}, "objects", TRUTH)
    assert (found == np.where(INSIDE, 3, 0)).all()


def test_a_mask_is_one_object_or_one_for_each_piece():
    items = {"objects_mask": (INSIDE | ROD).astype(np.uint8) * 255}
    assert (objects_of(items, "objects", TRUTH) == (INSIDE | ROD)).all()
    pieces = objects_of(items, "objects", TRUTH, pieces=True)
    assert sorted({int(pieces[25, 35]), int(pieces[0, 6]), int(pieces[0, 0])}) == [0, 1, 2]


def test_a_sample_without_the_mask_cannot_give_it():
    found = masks(["jump_edges"], makers={"edges": "edges_from_mask:objects"})
    assert "needs objects_mask" in found.unavailable["jump_edges"]
    found = masks(["fine_structures"], makers={"structures": "structures_from_mask:fine"})
    assert "needs fine_mask" in found.unavailable["fine_structures"]


def test_the_name_of_the_mask_has_to_be_given():
    with pytest.raises(BadScoreId, match="needs its name"):
        masks(["jump_edges"], makers={"edges": "edges_from_mask"})


@pytest.mark.parametrize("item", ["objects_mask", "objects_labels"])
def test_masks_of_another_size_are_refused(item):
    makers = {"edges": "edges_from_mask:objects"}
    with pytest.raises(WrongShape, match=f"{item} is 2x2, the truth is 70x50"):
        masks(["jump_edges"], items={item: np.zeros((2, 2))}, makers=makers)


def test_structures_of_a_mask_with_its_surrounding():
    around = (X >= 2) & (X < 12) & ~ROD
    items = {"fine_mask": ROD, "fine_surrounding_mask": around}
    makers = {"structures": "structures_from_mask:fine"}
    found = masks(["fine_structures", "fine_surroundings"], items=items, makers=makers).masks
    assert (found["fine_structures"] == ROD).all()
    assert (found["fine_surroundings"] == around).all()


def test_structures_of_a_mask_alone():
    makers = {"structures": "structures_from_mask:fine,1,4"}
    found = masks(["fine_surroundings"], items={"fine_mask": ROD}, makers=makers).masks
    expected = structures_from_masks(ROD, None, TRUTH, TRUTH, jump=1.0, reach=4)
    assert (found["fine_surroundings"] == expected.surrounding).all()
    assert (found["fine_surroundings"] == ((X >= 1) & (X <= 12) & ~ROD)).all()
