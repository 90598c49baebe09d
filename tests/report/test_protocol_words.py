"""A protocol in words says everything that decides a number."""

import pytest

from depthgauge.benchmarks import BENCHMARKS, make_protocol
from depthgauge.report.protocol_words import describe_protocol


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
        (
            {"scores": [{"metric": "mae", "region": "all"}]},
            "Metric mae",
            "no worst value, so shown with the density",
        ),
    ],
)
def test_what_decides_a_number_is_said(keys, term, part):
    assert part in dict(describe_protocol(protocol(**keys)))[term]


def test_parameters_of_regions_are_said():
    words = dict(
        describe_protocol(protocol(scores=[{"metric": "mae", "region": "discontinuities:2"}]))
    )
    assert "Here: jump 2, width 9, guard 1." in words["Region discontinuities:2"]


def test_a_twin_says_that_it_is_one():
    words = dict(describe_protocol(BENCHMARKS["middlebury-toolkit"]))
    assert "quirks included" in words["Twin"]
    assert words["Option nan"] == "good"
