"""The edge detector: edges where there are some, none where there are none, real pictures."""

import numpy as np
import pytest

from depthgauge.datasets import DATASETS
from depthgauge.errors import Misuse, Unavailable
from depthgauge.methods import find_method
from depthgauge.metrics import METRICS
from depthgauge.types import Inputs, merge_states


def made(image, text="edges_all_occlusion"):
    return find_method(text).estimate(Inputs({"left_image": image}), "boundaries").values


def two_halves(left, right, size=(80, 100)):
    image = np.zeros((*size, 3), np.uint8)
    image[:, :50], image[:, 50:] = left, right
    return image


@pytest.mark.parametrize(("text", "kind"), [("edges_all_occlusion", 1), ("edges_all_fold", 0)])
def test_every_edge_is_of_one_kind(text, kind):
    found = made(two_halves(30, 200), text)
    assert found.shape == (80, 100, 2)
    assert found.dtype == np.float32
    assert set(np.unique(found[..., 1])) == {kind}
    assert found[..., 0].min() >= 0
    assert found[..., 0].max() <= 1


@pytest.mark.parametrize(
    ("left", "right"), [((30, 30, 30), (200, 200, 200)), ((200, 60, 60), (60, 140, 60))]
)
def test_a_step_in_lightness_or_colour_is_an_edge(left, right):
    found = made(two_halves(left, right))[..., 0]
    assert set(np.argmax(found[20:60], axis=1)) <= {49, 50}
    assert found[40, 49] > 0.5
    assert found[40, 10] < 0.02


def test_a_flat_picture_has_no_edges_and_grey_ones_are_taken():
    assert made(np.full((40, 50, 3), 90, np.uint8))[..., 0].max() < 1e-3
    grey = two_halves(30, 200)[..., 0]
    np.testing.assert_allclose(made(grey), made(two_halves(30, 200)), atol=5e-3)


def test_texture_counts_less_than_the_border_of_an_object():
    rng = np.random.default_rng(2)
    image = two_halves(90, 170).astype(int)
    image[:, 50:] += rng.integers(-40, 41, (80, 50, 1))
    without, with_it = (
        made(image.astype(np.uint8), f"edges_all_fold:surround={s}")[..., 0] for s in (0, 0.7)
    )
    texture, border = np.s_[20:60, 60:95], np.s_[20:60, 49:51]
    plain, less = (found[texture].mean() / found[border].mean() for found in (without, with_it))
    assert less < 0.7 * plain


def test_crests_are_thin():
    found = made(two_halves(30, 200), "edges_all_fold:crests=true")[..., 0]
    assert (found[20:60] > 0.05).sum(axis=1).max() <= 2


def test_scales_follow_the_size_of_the_picture():
    small = made(two_halves(30, 200, (160, 100)))[..., 0]
    large = made(np.repeat(np.repeat(two_halves(30, 200, (160, 100)), 5, 0), 5, 1))[..., 0]
    width = [(found[found.shape[0] // 2] > 0.3).sum() for found in (small, large)]
    assert width[1] > 1.5 * width[0]


def test_what_it_needs_and_what_it_does():
    with pytest.raises(Unavailable, match="needs left_image"):
        find_method("edges_all_fold").estimate(Inputs({}), "boundaries")
    with pytest.raises(Misuse, match="estimates boundaries"):
        find_method("edges_all_fold").estimate(Inputs({}), "depth")


def test_on_real_photographs_it_is_a_real_detector(shared):
    states = [
        METRICS["ods"].measure(
            made(sample.inputs.left_image, "edges_all_fold:crests=true"),
            sample.truth.boundaries,
            thresholds=19,
        )
        for sample in DATASETS["bsds500"].samples(shared("data/bsds500-bench/data"))
    ]
    assert METRICS["ods"].finish(merge_states(states), thresholds=19) > 0.68
