"""The hash: everything that can move a number, and nothing else."""

import dataclasses
import json

import pytest

from depthgauge.benchmarks import protocol as module
from depthgauge.benchmarks.protocol import Protocol, hash_json
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS
from depthgauge.geometry import alignment, filling, resizing
from depthgauge.metrics import METRICS
from depthgauge.regions import REGIONS

MAE = [{"metric": "mae", "region": "part"}]
EDGES = [{"metric": "mae", "region": "near_background"}]
VIEW = {"quantity": "view", "scores": [{"metric": "psnr"}], "estimate_resize": "area"}
FITTED = {"kind": "median", "fit_on": "visible"}


def same(make, one, two):
    return make(**one).hash == make(**two).hash


# --- what does not count ------------------------------------------------------------------------


def test_prose_spelled_out_defaults_and_number_types(make):
    plain = make().hash
    assert plain == make(title="x", about="y", truth_accuracy=0.1).hash
    assert plain == make(missing="bad", truth_scale=1.0, align={"kind": "none"}).hash
    scores = [{"metric": "badpix", "threshold": [1.0, 2.0], "region": ["all", "visible"]}]
    assert plain == make(scores=scores).hash


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({}, {"regions": {"unused": "visible & textureless"}}),
        ({}, {"align": {"kind": "none", "space": "depth", "fit_on": "visible"}}),
        ({"align": FITTED}, {"align": FITTED | {"space": "disparity"}}),
        ({"align": FITTED}, {"align": FITTED | {"fit_on": "visible:1"}}),
        ({"align": FITTED}, {"align": FITTED | {"fit_on": "own"}, "regions": {"own": "visible"}}),
        ({"given_regions": ["a", "b"]}, {"given_regions": ["b", "a"]}),
    ],
)
def test_what_moves_no_number(make, one, two):
    assert same(make, one, two)


def test_the_quantitys_own_space_is_that_of_depth_for_depth(make):
    depth = {"quantity": "depth", "scores": [{"metric": "mae"}]}
    own, said, other = (
        make(**depth, align={"kind": "scale"} | space).hash
        for space in ({}, {"space": "depth"}, {"space": "disparity"})
    )
    assert own == said != other


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("visible&glass", "(visible:1 & glass)"),
        ("glass|all - border:3.0", "glass | (all - border:3)"),
        ("textureless", "textureless:3,4"),
    ],
)
def test_another_spelling_of_a_region(make, one, two):
    assert same(make, *({"scores": MAE, "regions": {"part": text}} for text in (one, two)))


def test_a_name_that_stands_for_itself(make):
    scores = [{"metric": "mae", "region": ["glass", "glass & visible"]}]
    assert same(make, {"scores": scores}, {"scores": scores, "regions": {"glass": "glass"}})


def test_the_order_of_scores(make):
    blocks = [{"metric": "mae"}, {"metric": "rms", "region": ["visible", "all"]}]
    turned = [{"metric": "rms", "region": ["all", "visible"]}, {"metric": "mae"}]
    one, two = make(scores=blocks), make(scores=turned)
    assert one.hash == two.hash
    assert one.score_ids != two.score_ids


def test_an_id_stays_as_it_was_written(make):
    made = make(scores=[{"metric": "mae", "region": "visible:1"}])
    assert made.score_ids == ("mae@visible:1",)
    assert made.resolved()["regions"] == {"visible:1": "visible:1"}


# --- what counts --------------------------------------------------------------------------------

TAGS = {"dataset": "layeredflow", "split": "val"}
CHANGES = {
    "id": [{"id": "other"}],
    "version": [{"version": 2}],
    "dataset": [{"dataset": "middlebury-2014", "split": "all"}],
    "dataset_options": [
        {**TAGS, "dataset_options": {"pairs": "stereo"}},
        {**TAGS, "dataset_options": {"pairs": "stereo", "reduce": 8}},
    ],
    "quantity": [{"quantity": "depth", "scores": [{"metric": "mae"}]}],
    "truth_scale": [{"truth_scale": 0.5}],
    "estimate_resize": [{"estimate_resize": "block"}],
    "crop": [{"crop": 3}],
    "missing": [{"missing": "skip"}],
    "interpolate": [
        {"missing": "interpolate", "interpolate": "background"},
        {"missing": "interpolate", "interpolate": "scanline"},
    ],
    "interpolate_constant": [
        {"missing": "interpolate", "interpolate": "constant", "interpolate_constant": 1},
        {"missing": "interpolate", "interpolate": "constant", "interpolate_constant": 2},
    ],
    "pool": [{"pool": "pixel"}, {"pool": "scene"}],
    "align": [
        {"align": {"kind": "median"}},
        {"align": {"kind": "scale"}},
        {"align": {"kind": "median", "space": "depth"}},
        {"align": {"kind": "median", "fit_on": "visible"}},
        {"align": {"kind": "median", "fit_on": "visible:2"}},
    ],
    "truth": [
        {"truth": {"max_depth_m": 80}},
        {"truth": {"min_depth_m": 80}},
        {"truth": {"cardboard": "objects_labels"}},
    ],
    "truth_size": [
        {**VIEW, "truth_size": [832, 480]},
        {**VIEW, "truth_size": [480, 832]},
        {**VIEW, "truth_size": [832, 480], "estimate_resize": "bilinear"},
    ],
    "resize_values": [{"resize_values": "kept", "estimate_resize": "nearest"}],
    "perturb": [{"perturb": "noise:5"}, {"perturb": "noise:6"}, {"perturb": "blur:5"}],
    "tiers": [
        {"tiers": {"A": ["rig"]}},
        {"tiers": {"B": ["rig"]}},
        {"tiers": {"A": ["left_image"]}},
    ],
    "derived": [
        {"scores": EDGES},
        {"scores": EDGES, "derived": {"edges": "edges:0.1"}},
        {"scores": EDGES, "derived": {"edges": "edges:0.2"}},
    ],
    "estimate": [
        {"estimate": {"range": "none"}},
        {"estimate": {"range": [0, 10]}},
        {"estimate": {"clip": [0, 10]}},
        {"estimate": {"focal_px": 500.0}},
    ],
    "regions": [
        {"regions": {"part": "visible & x", "x": "all"}, "scores": MAE},
        {"regions": {"part": "visible & x", "x": "border:2"}, "scores": MAE},
        {"regions": {"part": "visible | x", "x": "all"}, "scores": MAE},
        {"regions": {"part": "visible & x"}, "scores": MAE},
        {"scores": MAE},
    ],
    "scores": [
        {"scores": [{"metric": "badpix", "threshold": [1, 3], "region": ["all", "visible"]}]},
        {"scores": [{"metric": "badpix", "threshold": [1, 2]}]},
        {"scores": [{"metric": "badpix", "threshold": 2, "name": "bad"}]},
        {
            "scores": [{"metric": "badpix", "threshold": 2, "resolution": "high"}],
            "estimate_resize": "nearest",
        },
    ],
    "given_regions": [{"given_regions": ["glass"]}],
}


def test_every_change_has_a_hash_of_its_own(make):
    hashes = [make().hash, *(make(**change).hash for some in CHANGES.values() for change in some)]
    assert len(set(hashes)) == len(hashes)


def test_no_key_is_forgotten():
    elsewhere = {"title", "about", "truth_accuracy", "axes", "may_have", "split", "twin", "options"}
    elsewhere |= {"reading"}  # covered by the hash of the truth's values
    elsewhere |= {"hidden"}  # says what is shown, moves no number
    assert set(CHANGES) | elsewhere == set(Protocol.model_fields)


def test_the_split_counts(make):
    data = {"dataset": "middlebury-2014"}
    assert not same(make, data | {"split": "training"}, data | {"split": "all"})


def test_a_given_mask_is_not_what_a_region_of_its_name_would_be(make):
    glass = {"scores": [{"metric": "mae", "region": "glass"}]}
    assert not same(make, glass, glass | {"given_regions": ["glass"]})


def test_options_of_a_twin_count_and_its_defaults_do_not(make, twin):
    plain = make(**twin).hash
    assert plain == make(**twin, options={"clip": "ndisp"}).hash
    assert plain != make(**twin, options={"clip": "none"}).hash
    assert plain != make(**twin, version=2).hash
    assert plain != make(**twin | {"split": "all"}).hash
    assert plain == make(**twin | {"missing": "bad"}, estimate_resize="block").hash


# --- revisions ----------------------------------------------------------------------------------

FILLED = {"missing": "interpolate", "interpolate": "scanline"}


@pytest.mark.parametrize(
    ("target", "name", "uses"),
    [
        (module, "RULES_REVISION", [{}]),
        (alignment, "REVISION", [{"align": FITTED}]),
        (resizing, "REVISION", [{"estimate_resize": "zoom"}, {"truth_scale": 0.5}, {"crop": 1}]),
        (filling, "REVISION", [FILLED]),
    ],
)
def test_a_new_revision_changes_the_hash_of_what_uses_it(make, monkeypatch, target, name, uses):
    before = [make(**use).hash for use in uses]
    plain = make().hash
    monkeypatch.setattr(target, name, 99)
    assert not set(before) & {make(**use).hash for use in uses}
    assert (make().hash == plain) == (uses != [{}])


@pytest.mark.parametrize(
    ("registry", "name", "use", "other"),
    [
        (METRICS, "badpix", {}, {"scores": [{"metric": "mae"}]}),
        (REGIONS, "visible", {}, {"scores": [{"metric": "mae"}]}),
        (REGIONS, "border", {"regions": {"part": "x", "x": "border:2"}, "scores": MAE}, {}),
        (REGIONS, "border", {"align": {"kind": "median", "fit_on": "~border:2"}}, {}),
    ],
)
def test_a_new_revision_of_a_registered_thing(make, monkeypatch, registry, name, use, other):
    before, others = make(**use).hash, make(**other).hash
    newer = dataclasses.replace(registry[name], revision=99)
    monkeypatch.setitem(registry._things, name, newer)
    assert make(**use).hash != before
    assert make(**other).hash == others


def test_a_new_revision_of_a_dataset_or_twin(make, twin, monkeypatch):
    plain, before = make().hash, make(**twin).hash
    changed = dataclasses.replace(TWINS["middlebury"], revision=99)
    monkeypatch.setitem(TWINS._things, "middlebury", changed)
    assert make(**twin).hash != before
    folder = DATASETS["folder"]
    newer = dataclasses.replace(folder, spec=dataclasses.replace(folder.spec, revision=99))
    monkeypatch.setitem(DATASETS._things, "folder", newer)
    assert make().hash != plain


# --- the hash cannot be led astray --------------------------------------------------------------


def test_the_form_is_json_and_gives_the_hash(make, twin):
    for made in (make(), make(**twin), make(align=FITTED, estimate={"clip": [0, 2.5]})):
        assert hash_json(json.loads(json.dumps(made.resolved()))) == made.hash


def test_what_is_changed_afterwards_does_not_change_the_hash(make, twin):
    options, regions, thresholds = {"clip": "none"}, {"part": "visible"}, [1, 2]
    scores = [*MAE, {"metric": "badpix", "threshold": thresholds}]
    made, other = make(regions=regions, scores=scores), make(**twin, options=options)
    before = made.hash, made.resolved(), made.score_ids, other.hash
    made.resolved()["regions"]["part"] = "all"
    regions["part"] = made.regions["part"] = "all"
    options["clip"] = other.options["clip"] = "ndisp"
    thresholds.append(3)
    assert before == (made.hash, made.resolved(), made.score_ids, other.hash)
    assert hash_json(other.resolved()) == other.hash


def test_a_changed_copy_has_a_hash_of_its_own(make):
    made = make()
    assert made.model_copy().hash == made.hash
    assert made.model_copy(update={"missing": "skip"}).hash == make(missing="skip").hash
