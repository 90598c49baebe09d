import pytest

from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.analysis.maps.oracles import oracles_of
from depthgauge.benchmarks import make_protocol
from depthgauge.errors import Unavailable


def protocol(quantity, *metrics):
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "none",
        "quantity": quantity,
        "pool": "pixel",
        "scores": [{"metric": name, "region": ""} for name in metrics],
    }
    return make_protocol(body, "a test")


@pytest.mark.parametrize(
    ("quantity", "metrics", "comparable"),
    [
        ("disparity", ["mae"], True),
        ("flow", ["epe"], True),
        ("normals", ["ap_parallel"], True),
        ("depth", ["mae", "lsiv"], True),
        ("depth", ["lsiv", "wkdr"], False),
        ("boundaries", ["ods"], False),
        ("planes", ["plane_ap"], False),
    ],
)
def test_what_can_be_compared_pixel_by_pixel(quantity, metrics, comparable):
    found = protocol(quantity, *metrics)
    assert has_pixel_errors(found) == comparable
    if comparable:
        assert oracles_of(found)
    else:
        with pytest.raises(Unavailable, match="pixel by pixel"):
            oracles_of(found)


def test_normals_have_no_difference_of_medians():
    assert set(oracles_of(protocol("normals", "mean_angle"))) == {
        "per_pixel_best",
        "per_pixel_mean",
        "per_pixel_median",
    }
    assert len(oracles_of(protocol("disparity", "mae"))) == 5
