"""Views are compared at one size, frame by frame; what cannot be computed here is left out."""

import gc
import math
import weakref

import cv2
import numpy as np
import pytest

from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.resolutions import ItemsAtSize
from depthgauge.engine.scoring.rules import Rules
from depthgauge.errors import BadProtocol
from depthgauge.metrics.views import frame_count
from depthgauge.types import Camera, ClipEstimate, Estimate, Frames, Inputs, Rig, Sample, Truth

OWN, SHOWN = (40, 40), (52, 30)
LENGTH = 3


def picture(seed, size=OWN):
    rng = np.random.default_rng(seed)
    return cv2.GaussianBlur(rng.random((*size[::-1], 3)).astype(np.float32), (0, 0), 1.0)


def protocol(**changes):
    body = {
        "id": "v",
        "version": 1,
        "dataset": "stereogenbench",
        "quantity": "view",
        "pool": "image",
        "truth_size": list(SHOWN),
        "estimate_resize": "area",
        "scores": [{"metric": "psnr"}],
    }
    return make_protocol({**body, **changes}, "test")


def sample():
    views = Frames([lambda i=i: picture(i) for i in range(LENGTH)])
    return Sample("a/00-01", Inputs({"left_image": views}), Truth({"view": views}))


def clip_of(views):
    return ClipEstimate(Frames([Estimate(view, "view") for view in views]), "view")


def score(rules, views):
    clip = sample()
    return Judge(Rules.of(rules, [clip])).score_map(clip, lambda: clip_of(views))


def stretched(values):
    """Rows are averaged, then columns are blended, as OpenCV does both."""
    rows = cv2.resize(values, (OWN[0], SHOWN[1]), interpolation=cv2.INTER_AREA)
    return cv2.resize(rows, SHOWN, interpolation=cv2.INTER_LINEAR)


def test_both_views_are_stretched_before_they_are_compared():
    found = score(protocol(), [picture(i + 9) for i in range(LENGTH)]).scores["psnr@all"]
    squares = [np.mean((stretched(picture(i + 9)) - stretched(picture(i))) ** 2) for i in range(3)]
    assert found.value == pytest.approx(np.mean([-10 * math.log10(s) for s in squares]), abs=1e-4)
    assert found.count == LENGTH * SHOWN[0] * SHOWN[1]
    assert frame_count(found.state) == LENGTH


def test_an_estimate_may_have_any_size():
    small = [picture(i, (13, 17)) for i in range(LENGTH)]
    assert score(protocol(), small).scores["psnr@all"].count == LENGTH * SHOWN[0] * SHOWN[1]


def test_items_follow_the_size():
    camera = Camera((100.0, 100.0), (19.5, 19.5), OWN)
    disparity = np.arange(1600, dtype=np.float32).reshape(40, 40)
    items = ItemsAtSize(
        {
            "left_image": np.full((40, 40, 3), 51, np.uint8),
            "wrong_view": picture(0),
            "disparity": disparity,
            "right_depth": disparity,
            "near_mask": disparity > 800,
            "rig": Rig({"left": camera}, 0.1),
            "baseline_m": 0.1,
        },
        (20, 10),
        "area",
    )
    np.testing.assert_allclose(items["left_image"], np.full((10, 20, 3), 0.2), atol=1e-7)
    assert items["wrong_view"].shape == (10, 20, 3)
    middle = disparity[2::4, 1::2]
    np.testing.assert_array_equal(items["disparity"], middle / 2)
    np.testing.assert_array_equal(items["right_depth"], middle)
    np.testing.assert_array_equal(disparity[0, :2], [0, 1])  # the sample's own stays
    assert items["near_mask"].dtype == bool
    smaller = items["rig"].cameras["left"]
    assert (smaller.focal_px, smaller.size_px) == ((50.0, 25.0), (20, 10))
    assert smaller.centre_px == pytest.approx((9.5, 4.5))
    assert items["baseline_m"] == 0.1


def test_no_frame_is_kept():
    """A clip of any length needs the memory of a few frames."""
    alive = []
    most = 0
    gc.freeze()  # what other tests left behind takes half a second each time

    def make(seed):
        nonlocal most
        values = picture(seed)
        alive.append(weakref.ref(values))
        gc.collect()
        most = max(most, sum(ref() is not None for ref in alive))
        return values

    frames = Frames([lambda i=i: make(i) for i in range(12)])
    clip = Sample("long", Inputs({}), Truth({"view": frames}))
    estimates = Frames([lambda i=i: Estimate(make(i + 50), "view") for i in range(12)])
    rules = Rules.of(protocol(truth_size=None, estimate_resize="none"), [clip])
    found = Judge(rules).score_map(clip, lambda: ClipEstimate(estimates, "view"))
    gc.unfreeze()
    assert frame_count(found.scores["psnr@all"].state) == 12
    assert most < 9


def test_what_cannot_be_computed_here_is_left_out_and_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DEPTHGAUGE_WEIGHTS", str(tmp_path))
    truth = Truth({"view": picture(0), "disparity": np.tile(np.linspace(1, 9, 40), (40, 1))})
    still = Sample("still", Inputs({"left_image": picture(1)}), truth)
    scores = [{"metric": "psnr"}, {"metric": "sd", "matcher": "onnx-0123456789ab"}]
    rules = protocol(scores=scores)
    outcome = Judge(Rules.of(rules, [still])).score_map(still, lambda: picture(0))
    assert [*outcome.scores] == ["psnr@all"]
    (named,) = outcome.left_out
    assert named.startswith("sd:onnx-0123456789ab@all (no ONNX file in")
    assert not outcome.failed
    assert [*gather(rules, {"still": outcome}, {}).summary] == ["psnr@all"]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"estimate_resize": "nearest"}, "needs an estimate_resize that blends pixels"),
        ({"estimate_resize": "none"}, "use area or bilinear"),
        ({"truth_scale": 0.5}, "goes without truth_scale"),
        ({"crop": 4}, "goes without truth_scale, crop"),
        ({"quantity": "disparity", "scores": [{"metric": "mae"}]}, "is for pictures"),
        ({"truth_size": [832]}, r"is \[832\] but must be \[width, height\]"),
        ({"truth_size": [832, 0]}, "truth_size"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(changes, what):
    with pytest.raises(BadProtocol, match=what):
        protocol(**changes)
