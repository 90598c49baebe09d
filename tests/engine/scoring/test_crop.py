"""A crop scores the pixels of a box and no others, in Python, in files and in the hash."""

from __future__ import annotations

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.errors import BadScoreId, DepthgaugeError, NotGiven, SizesDiffer

RNG = np.random.default_rng(3)
TRUTH = RNG.uniform(1, 60, (40, 60)).astype(np.float32)
ESTIMATE = (TRUTH + RNG.normal(0, 2, TRUTH.shape)).astype(np.float32)


def test_a_crop_is_the_same_as_the_maps_cut_out():
    whole = dg.score(ESTIMATE, TRUTH, ["mae", "badpix:2"], crop="10:30,5:50")
    cut = dg.score(ESTIMATE[10:30, 5:50], TRUTH[10:30, 5:50], ["mae", "badpix:2"])
    assert {name: s.value for name, s in whole.items()} == pytest.approx(
        {name: s.value for name, s in cut.items()}, rel=1e-12
    )
    assert whole["mae@all"].count == 20 * 45


def test_an_alignment_is_fitted_within_the_crop():
    depth = ESTIMATE.clip(1) * 3
    depth[:10] = 1000
    scores = dg.score(depth, TRUTH, "mae", quantity="depth", align="median", crop="10:40,0:60")
    inside = slice(10, 40)
    scale = np.median(TRUTH[inside]) / np.median(depth[inside])
    assert scores["mae@all"].alignment["scale"] == pytest.approx(float(scale), rel=1e-6)


def test_a_crop_is_part_of_the_protocol_and_none_leaves_the_hash_as_it_was():
    plain = dg.score(ESTIMATE, TRUTH, "mae")
    hashes = {
        crop: dg.score(ESTIMATE, TRUTH, "mae", crop=crop).protocol_hash
        for crop in (0, 3, "garg", "eigen", "0.40810811:0.99189189,0.03594771:0.96405229")
    }
    assert hashes[0] == plain.protocol_hash
    assert len(set(hashes.values())) == 4
    assert "crop_revision" not in plain.protocol.resolved()


def test_an_alignment_may_name_its_space():
    shifted = 1 / (2 / TRUTH + 0.1)
    one = dg.score(shifted, TRUTH, "mae", quantity="depth", align="scale_shift:disparity")
    table = {"kind": "scale_shift", "space": "disparity"}
    two = dg.score(shifted, TRUTH, "mae", quantity="depth", align=table)
    assert one.protocol_hash == two.protocol_hash
    assert one["mae@all"].value == two["mae@all"].value < 1e-3
    with pytest.raises(BadScoreId, match="must be 'depth' or 'disparity'"):
        dg.score(ESTIMATE, TRUTH, "mae", align="scale:sound")


def test_errors_carry_what_a_caller_needs_to_say_it_in_other_words():
    with pytest.raises(SizesDiffer) as sizes:
        dg.score(ESTIMATE[::2], TRUTH, "mae")
    assert (sizes.value.estimate, sizes.value.truth) == ("60x20", "60x40")
    with pytest.raises(NotGiven, match="give left_image in items") as lacks:
        dg.score(ESTIMATE, TRUTH, "mae@textureless")
    assert lacks.value.needs == ("left_image",)


def test_a_built_in_region_may_be_named_as_itself():
    image = RNG.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    image[:, :20] = 7
    scores = dg.score(
        ESTIMATE, TRUTH, "mae", regions={"textureless": "textureless"}, items={"left_image": image}
    )
    assert list(scores) == ["mae@all", "mae@textureless"]
    assert 0 < scores["mae@textureless"].count < scores["mae@all"].count


@pytest.mark.parametrize(("size", "border"), [(512, 15), (256, 8), (128, 4), (64, 2), (1024, 30)])
def test_a_border_as_a_share_goes_with_the_size(size, border):
    """15/512 of the shorter side; half a pixel is rounded up."""
    truth = np.ones((size, size + 40), np.float32)
    score = dg.score(truth, truth, "mae", quantity="disparity", crop="15/512")["mae@all"]
    assert score.count == (size - 2 * border) * (size + 40 - 2 * border)


def test_an_estimate_may_lack_a_border_that_is_a_share():
    truth = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) + 1
    whole, inner = (
        dg.score(given, truth, "mae", quantity="disparity", crop="15/512")["mae@all"]
        for given in (truth, truth[2:-2, 2:-2])
    )
    assert (whole.value, whole.count) == (inner.value, inner.count) == (0, 3600)


def test_equal_shares_have_equal_hashes_and_others_do_not():
    hashes = {
        crop: dg.score(ESTIMATE, TRUTH, "mae", crop=crop).protocol_hash
        for crop in ("1/16", "2/32", "1/8", 3)
    }
    assert hashes["1/16"] == hashes["2/32"]
    assert len(set(hashes.values())) == 3


def test_a_share_that_leaves_nothing_is_refused():
    with pytest.raises(DepthgaugeError, match="'1/2' is not a border; write a share below"):
        dg.score(ESTIMATE, TRUTH, "mae", crop="1/2")
