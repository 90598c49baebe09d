"""Metrics that need further maps of an estimate: read from its folder, sized, named if absent."""

import math

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.errors import WrongShape
from depthgauge.types import Inputs, Sample, Truth

TRUTH = np.full((4, 6), 5, np.float32)
ERRORS = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def folder(tmp_path):
    """Three samples; `a` has a confidence, `b` has none, `c` has no estimate."""
    image = np.zeros((4, 6, 3), np.uint8)
    samples = [
        Sample(name, Inputs({"left_image": image}), Truth({"disparity": TRUTH})) for name in "abc"
    ]
    DATASETS["depthgauge"].write(
        tmp_path / "data", samples, id="trial", title="T", licence="CC0-1.0"
    )
    for name in "ab":
        place = tmp_path / "estimates" / name
        place.mkdir(parents=True)
        np.save(place / "disparity.npy", TRUTH + ERRORS)
    np.save(tmp_path / "estimates" / "a" / "confidence.npy", -ERRORS)
    return tmp_path


def protocol(**changes):
    body = {
        "id": "trial", "version": 1, "dataset": "depthgauge", "quantity": "disparity",
        "pool": "image", "missing": "bad", "scores": [{"metric": "ause"}, {"metric": "mae"}],
    }  # fmt: skip
    return make_protocol({**body, **changes}, "a test")


def test_a_confidence_beside_the_map_is_read_and_one_that_is_absent_is_named(folder):
    result = dg.evaluate(protocol(), folder / "data", folder / "estimates")
    assert result.samples["a"]["ause@all"].value == pytest.approx(0, abs=1e-6)
    assert "ause@all" not in result.samples["b"]
    assert result.samples["b"]["mae@all"].value == pytest.approx(11.5)
    assert "ause@all (an estimate has no confidence)" in result.left_out


def test_a_failed_sample_counts_as_one_without_any_estimate(folder):
    score = dg.evaluate(protocol(), folder / "data", folder / "estimates").samples["c"]["ause@all"]
    assert (score.count, score.missing) == (0, 24)
    assert math.isnan(score.value)


def test_a_part_of_another_size_is_enlarged_or_refused(folder):
    place = folder / "estimates" / "a"
    np.save(place / "disparity.npy", (TRUTH + ERRORS)[::2, ::2] / 2)
    np.save(place / "confidence.npy", -ERRORS[::2, ::2])
    enlarged = dg.evaluate(
        protocol(estimate_resize="nearest"), folder / "data", folder / "estimates"
    )
    assert enlarged.samples["a"]["ause@all"].count == 24
    np.save(place / "disparity.npy", TRUTH + ERRORS)
    result = dg.evaluate(protocol(), folder / "data", folder / "estimates")
    assert "3x2" in result.failed["a"]


def test_a_cropped_part_gets_its_border_back():
    estimate = {"disparity": TRUTH + ERRORS, "confidence": -ERRORS[1:-1, 1:-1]}
    found = dg.score(estimate, TRUTH, "ause", quantity="disparity", crop=1, check=False)
    assert found["ause@all"].count == 8
    assert found["ause@all"].value == pytest.approx(0, abs=1e-6)


def test_a_part_with_channels_is_refused():
    estimate = {"disparity": TRUTH + ERRORS, "confidence": np.zeros((4, 6, 2))}
    with pytest.raises(WrongShape, match="confidence has 1 channel"):
        dg.score(estimate, TRUTH, "ause", quantity="disparity")
