"""A protocol in words says everything that decides a number."""

import dataclasses

import pytest

from depthgauge.benchmarks import BENCHMARKS, make_protocol
from depthgauge.report.words.protocol import describe_protocol

FATTENING = {"metric": "foreground_fattening"}
FINER = {"metric": "bumpiness", "resolution": "high"}


def protocol(**keys):
    body = {
        "id": "words",
        "version": 1,
        "dataset": "none",
        "quantity": "disparity",
        "pool": "image",
        "scores": [{"metric": "badpix", "threshold": [1, 2.5], "region": ["all"]}],
    }
    return make_protocol({**body, **keys}, "test")


def test_the_terms_come_in_order():
    terms = [term for term, _ in describe_protocol(protocol())]
    assert terms == [
        "Data",
        "Quantity",
        "Region all",
        "Missing pixels",
        "Allowed range",
        "Alignment",
        "Size",
        "Pooling",
        "Metric badpix",
    ]


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_every_benchmark_can_be_described(name):
    words = describe_protocol(BENCHMARKS[name])
    assert all(term and text for term, text in words)


@pytest.mark.parametrize(
    ("keys", "term", "part"),
    [
        ({}, "Metric badpix", "in %, lower is better. Here: threshold 1, 2.5."),
        ({}, "Metric badpix", "Formula: 100 * mean [not |e| <= threshold]"),
        ({}, "Quantity", "Disparity, in px."),
        ({"truth_accuracy": 0.2}, "Truth", "May be off by 0.2 px"),
        ({"missing": "skip"}, "Missing pixels", "is left out"),
        ({"missing": "interpolate", "interpolate": "background"}, "Missing pixels", "smaller of"),
        (
            {"missing": "interpolate", "interpolate": "constant", "interpolate_constant": 3},
            "Missing pixels",
            "is filled with 3.",
        ),
        ({"pool": "pixel"}, "Pooling", "All pixels of all samples are merged"),
        ({"estimate": {"range": [0, 64]}}, "Allowed range", "outside 0 to 64 counts as missing"),
        ({"estimate": {"clip": [1, 9], "range": "none"}}, "Allowed range", "moved into 1 to 9"),
        ({"truth": {"max_depth_m": 80}}, "Allowed range", "Truth is scored to 80 m."),
        ({"align": {"kind": "scale_shift"}}, "Alignment", "a factor and shifted"),
        ({"align": {"kind": "scale_shift"}}, "Alignment", "in disparity"),
        ({"crop": 10}, "Size", "A border of 10 pixels is not scored"),
        ({"truth_scale": 0.5, "estimate_resize": "nearest"}, "Size", "at 0.5 of its size"),
        (
            {
                "regions": {"inner": "all - border:7"},
                "scores": [{"metric": "mae", "region": "inner"}],
            },
            "Region inner",
            "all - border:7. all: Every pixel with truth",
        ),
        ({"perturb": "noise:5@right+jpeg:60"}, "Perturbation", "noise:5@right: "),
        ({"perturb": "noise:5@right+jpeg:60"}, "Perturbation", "jpeg:60: "),
        ({"estimate_resize": "block"}, "Size", "in blocks, its values scaled accordingly."),
        (
            {"estimate_resize": "block", "resize_values": "kept"},
            "Size",
            "in blocks, its values unchanged.",
        ),
        (
            {"scores": [FINER], "estimate_resize": "block"},
            "Size",
            "with the truth at resolution 'high', estimates enlarged to it: bumpiness.",
        ),
        ({"truth": {"cardboard": "things_labels"}}, "Allowed range", "as if it were of cardboard"),
        ({"scores": [FATTENING]}, "Shared map edges", "Made by edges, jump 1, reach 10"),
        (
            {"scores": [FATTENING], "derived": {"edges": "edges:0.1"}},
            "Shared map edges",
            "Made by edges, jump 0.1",
        ),
        (
            {"scores": [{"metric": "mae", "region": "all"}]},
            "Metric mae",
            "no worst value, so shown with the density",
        ),
    ],
)
def test_what_decides_a_number_is_said(keys, term, part):
    assert part in dict(describe_protocol(protocol(**keys)))[term]


def test_numbered_regions_are_told_together():
    made = protocol(
        regions={"gap_{1..9}": "near_{1..9} - far_33", "rim_1": "near_4", "rim_2": "near_7"},
        given_regions=[f"near_{n}" for n in range(1, 10)] + ["far_33"],
        axes={"gap": {"label": "width of the gap"}},
        scores=[
            {"metric": "mae", "region": ["gap_{1..9}", "near_{1..2}", "rim_1", "rim_2"]},
        ],
    )
    words = dict(describe_protocol(made))
    regions = {term: text for term, text in words.items() if term.startswith("Region")}
    assert list(regions) == [
        "Region gap_1 to gap_9",
        "Region near_1 to near_2",
        "Region rim_1",
        "Region rim_2",
    ]
    assert regions["Region gap_1 to gap_9"] == (
        "near_* - far_33. Along the axis: width of the gap."
    )
    assert regions["Region rim_2"].startswith("near_7.")


def test_parameters_of_regions_are_said():
    words = dict(
        describe_protocol(protocol(scores=[{"metric": "mae", "region": "discontinuities:2"}]))
    )
    assert "Here: jump 2, width 9, guard 1." in words["Region discontinuities:2"]


def test_a_twin_says_that_it_is_one():
    words = dict(describe_protocol(BENCHMARKS["middlebury-toolkit"]))
    assert "quirks included" in words["Twin"]
    assert words["Option nan"] == "good"


def test_a_twin_explains_its_options_and_where_its_numbers_come_from():
    words = dict(describe_protocol(BENCHMARKS["kitti-2015-toolkit"]))
    assert words["Option quotient"].startswith("float32. float32: an error of exactly 5 %")
    assert "agrees with numbers that the program printed" in words["Twin"]
    words = dict(describe_protocol(BENCHMARKS["spring-toolkit"]))
    assert "from the documentation, not verified against the program" in words["Twin"]
    assert "smallest" in words["Option truth"]


def words_of(quantity, *scores, **keys):
    body = {"quantity": quantity, "pool": "pixel", "scores": [{"region": "", **s} for s in scores]}
    return dict(describe_protocol(protocol(**body, **keys)))


@pytest.mark.parametrize(
    ("quantity", "metric", "term", "part"),
    [
        ("normals", "mean_angle", "Quantity", "errors are angles"),
        ("normals", "mean_angle", "Allowed range", "without length counts as missing"),
        ("boundaries", "ods", "Quantity", "Boundaries. The probability"),
        ("boundaries", "ods", "Allowed range", "not a boundary"),
        ("boundaries", "ods", "Missing pixels", "Each metric below says"),
        ("boundaries", "ods", "Pooling", "Only the whole dataset has a value"),
        ("planes", "plane_ap", "Quantity", "Instances of planes"),
        ("planes", "plane_ap", "Allowed range", "confidence is above 0"),
        ("depth", "lsiv", "Quantity", "Depth, up to a scale: no score compares it in m."),
        ("depth", "lsiv", "Focal length", "one without any cannot be scored"),
        ("depth", "mae", "Quantity", "Depth, in m."),
        ("depth", "mae", "Allowed range", "not above 0 counts as missing"),
    ],
)
def test_what_is_special_about_single_pictures_is_said(quantity, metric, term, part):
    assert part in words_of(quantity, {"metric": metric})[term]


def test_a_focal_length_for_all_is_said_and_others_do_not_ask_for_one():
    found = words_of("depth", {"metric": "lsiv"}, estimate={"focal_px": 500})
    assert found["Focal length"].endswith("one without any gets 500 px, at the truth's size.")
    assert "Focal length" not in words_of("depth", {"metric": "mae"})


def test_scores_of_the_whole_dataset_are_named_beside_others():
    text = words_of("normals", {"metric": "mean_angle"}, {"metric": "ap_parallel"})["Pooling"]
    assert text.startswith("All pixels of all samples are merged")
    assert text.endswith("single samples have none, in: ap_parallel.")


def test_a_twin_that_pools_says_so(monkeypatch):
    from depthgauge.benchmarks.twins import TWINS

    twin = BENCHMARKS["middlebury-toolkit"]
    assert dict(describe_protocol(twin))["Pooling"].startswith("The plain mean")
    own = dataclasses.replace(TWINS[twin.twin], pool=lambda samples, options: {})
    monkeypatch.setitem(TWINS._things, twin.twin, own)
    assert dict(describe_protocol(twin))["Pooling"] == (
        "All samples are pooled as in the original."
    )


def test_open_limits_inverse_depths_and_unverified_twins_are_said():
    zero_shot = BENCHMARKS["mono-zero-shot-nyu"]
    said = dict(describe_protocol(zero_shot))
    assert "from 0.001 m to 10 m, without these ends" in said["Allowed range"]
    keys = {**zero_shot.estimate.model_dump(exclude_unset=True), "inverse": True}
    said = dict(describe_protocol(zero_shot.model_copy(update={"estimate": keys})))
    assert "inverse depths" in said["Allowed range"]
    said = dict(describe_protocol(BENCHMARKS["nyu-adabins-toolkit"]))
    assert "from the documentation, not verified against the program" in said["Twin"]
    said = dict(describe_protocol(BENCHMARKS["nyu-bts-toolkit"]))
    assert "agrees with numbers that the program printed" in said["Twin"]
