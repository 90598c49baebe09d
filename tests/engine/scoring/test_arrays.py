"""`dg.score` on arrays and files."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.errors import BadScoreId, DepthgaugeError, UnknownName, WrongShape
from depthgauge.io import write_image

ESTIMATE = np.array([[1.0, 2.0, 5.5, np.nan], [3.0, 3.0, 3.0, 3.0]])
TRUTH = np.array([[1.0, 2.0, 3.0, 4.0], [3.0, 4.5, np.nan, np.inf]])


def test_every_metric_on_every_region():
    glass = np.array([[0, 0, 1, 1], [0, 1, 0, 0]], bool)
    scores = dg.score(ESTIMATE, TRUTH, ["badpix:1", "mae"], regions={"glass": glass})
    assert list(scores) == ["badpix:1@all", "badpix:1@glass", "mae@all", "mae@glass"]
    assert scores["badpix:1@all"].value == 50
    assert scores["badpix:1@glass"].value == 100
    assert scores["mae@glass"].value == pytest.approx(2.0)
    assert scores["mae@glass"].unit == "px"
    assert (scores["mae@glass"].count, scores["mae@glass"].missing) == (2, 1)


def test_a_metric_for_one_region_only():
    scores = dg.score(ESTIMATE, TRUTH, ["mae@front", "rms"], regions={"front": "near:2.5"})
    assert list(scores) == ["mae@front", "rms@all", "rms@front"]


def test_the_usual_metrics_of_each_quantity():
    assert "badpix:2@all" in dg.score(ESTIMATE, TRUTH)
    assert "absrel@all" in dg.score(ESTIMATE, TRUTH, quantity="depth")
    flow = np.zeros((4, 3, 2))
    assert "epe@all" in dg.score(flow, flow)


def test_files_are_read(tmp_path):
    dg.write_map(tmp_path / "a.pfm", ESTIMATE)
    dg.write_map(tmp_path / "b.npy", TRUTH)
    from_files = dg.score(tmp_path / "a.pfm", str(tmp_path / "b.npy"), "mae")
    assert from_files["mae@all"] == dg.score(ESTIMATE, TRUTH, "mae")["mae@all"]


def test_flow_files_are_recognised(tmp_path):
    flow = np.ones((4, 5, 2), np.float32)
    for name in ("a.flo", "a.png", "a.pfm", "a.npy"):
        dg.write_map(tmp_path / name, flow, quantity="flow")
        assert dg.score(tmp_path / name, tmp_path / name, "epe")["epe@all"].value == 0
    grey = np.full((4, 5, 3), 7, np.uint8)
    write_image(tmp_path / "grey.png", grey)
    assert dg.score(tmp_path / "grey.png", tmp_path / "grey.png", "mae")["mae@all"].count == 20


def test_a_metric_asked_for_twice_is_there_once():
    assert list(dg.score(ESTIMATE, TRUTH, ["mae", "mae"])) == ["mae@all"]


def test_a_truth_of_zero_is_an_infinite_relative_error():
    scores = dg.score([[1.0, 2.0]], [[0.0, 2.0]], "absrel")
    assert scores["absrel@all"].why == "infinite"
    assert dg.score([[0.0, 2.0]], [[0.0, 2.0]], "absrel")["absrel@all"].value == 0
    assert dg.score([[-1.0]], [[-2.0]], "absrel")["absrel@all"].value == 0.5


def test_scores_carry_their_protocol():
    one, two = dg.score(ESTIMATE, TRUTH, "mae"), dg.score(ESTIMATE, TRUTH, "mae", missing="skip")
    assert len(one.protocol_hash) == 64
    assert one.protocol_hash == dg.score(TRUTH, TRUTH, "mae").protocol_hash
    assert one.protocol_hash != two.protocol_hash


def test_a_truth_of_depth_must_be_positive():
    scores = dg.score([[1.0, 1.0, -1.0]], [[1.0, 0.0, 2.0]], ["mae", "density"], quantity="depth")
    assert (scores["mae@all"].count, scores["mae@all"].missing) == (1, 1)
    assert scores["density@all"].value == 50


def test_alignment_and_resizing():
    truth = np.arange(1.0, 17.0).reshape(4, 4)
    scaled = dg.score(truth / 3, truth, "absrel", quantity="depth", align="median")
    assert scaled["absrel@all"].value == pytest.approx(0, abs=1e-6)
    assert scaled["absrel@all"].alignment["scale"] == pytest.approx(3)
    blocks = dg.score(truth[::2, ::2] / 2, truth, "mae", estimate_resize="block")
    assert blocks["mae@all"].count == 16


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([[1.0]], [[1.0, 2.0]]), {}, WrongShape, "1x1"),
        (([1.0], [1.0]), {}, WrongShape, "a map is"),
        (([[1.0]], [[1.0]], "badpx"), {}, UnknownName, "Did you mean 'badpix'"),
        (([[1.0]], [[1.0]], "fl"), {}, BadScoreId, "fl scores flow, not disparity"),
        (([[1.0]], [[1.0]], "mae@glas"), {}, UnknownName, "no region 'glas'"),
        (([[1.0]], [[1.0]], "mae@visible"), {}, BadScoreId, "cannot be computed from two maps"),
        (([[1.0]], [[1.0]], "mae"), {"missing": "free"}, BadScoreId, "must be 'bad', 'skip'"),
        (([[1.0]], [[1.0]], "mae"), {"missing": "good"}, BadScoreId, "for twins only"),
        (([[1.0]], [[1.0]], "mae"), {"regions": {"a b": [[True]]}}, BadScoreId, "letters, digits"),
        (([[1.0]], [[1.0]], "mae"), {"regions": {"g": [[1, 1]]}}, WrongShape, "region 'g'"),
        (([[1.0]], [[1.0]], "mae"), {"regions": {3: [[True]]}}, BadScoreId, "letters, digits"),
        (([["a"]], [[1.0]], "mae"), {}, WrongShape, "array of numbers"),
        (([[1.0]], [[1.0]], "epe"), {"quantity": "flow"}, WrongShape, "flow has 2 channel"),
        (
            ([[1.0]], [[1.0]], "mae"),
            {"regions": {"visible": [[True]]}},
            BadScoreId,
            "'visible' is built in and cannot be given",
        ),
        (([[1.0]], [[1.0]], "quantile:101"), {}, BadScoreId, "must be from 0 to 100"),
        (([[1.0]], [[1.0]], "delta:1"), {"quantity": "depth"}, BadScoreId, "must be above 1"),
        (([[1.0]], [[1.0]], "mae"), {"quantity": "sound"}, UnknownName, "no quantity 'sound'"),
    ],
)
def test_mistakes_are_one_sentence(arguments, options, error, message):
    with pytest.raises(error, match=message) as caught:
        dg.score(*arguments, **options)
    assert isinstance(caught.value, DepthgaugeError)


def test_a_score_that_is_not_there_lists_those_that_are():
    with pytest.raises(UnknownName, match=r"no score 'rms@all'.* Known: mae@all"):
        dg.score([[1.0]], [[1.0]], "mae")["rms@all"]


def test_more_than_64_regions():
    truth = np.arange(1.0, 101.0).reshape(10, 10)
    masks = {f"r{i}": truth <= i + 1 for i in range(80)}
    scores = dg.score(truth + 1, truth, "mae", regions=masks)
    assert [scores[f"mae@r{i}"].count for i in range(80)] == list(range(1, 81))


def test_masked_arrays_lists_and_estimates():
    masked = np.ma.array([[1.0, 999.0]], mask=[[False, True]])
    found = dg.score(masked, [[1.0, 1.0]], "mae")["mae@all"]
    assert (found.value, found.missing) == (0, 1)
    assert dg.score(np.array([[1e300]]), [[1.0]], "density")["density@all"].value == 0
    flow = dg.Estimate(np.zeros((4, 3, 2), np.float32), "flow")
    assert dg.score(flow, np.zeros((4, 3, 2)), "epe")["epe@all"].value == 0
    deep = np.ones((3, 4, 1))
    assert dg.score(deep, deep, "mae")["mae@all"].count == 12
    assert "mae@all  2.000  px" in str(dg.score([[1.0]], [[3.0]], "mae"))


def test_masks_of_any_kind_are_regions():
    truth = np.ones((1, 4))
    kinds = {
        "bytes": np.array([[0, 255, 1, 0]], np.uint8),
        "floats": np.array([[0.0, 1.0, 1.0, np.nan]]),
        "masked": np.ma.array([[1, 1, 1, 1]], mask=[[1, 0, 0, 1]]),
        "lists": [[False, True, True, False]],
    }
    scores = dg.score(truth, truth, "mae", regions=kinds)
    assert [scores[f"mae@{name}"].count for name in kinds] == [2, 2, 2, 2]


@pytest.mark.parametrize("align", ["median", "scale"])
def test_a_depth_of_zero_is_not_aligned(align):
    truth = np.arange(1.0, 31.0).reshape(5, 6)
    estimate = truth / 2
    estimate[::2] = 0
    found = dg.score(estimate, truth, "absrel", quantity="depth", align=align)["absrel@all"]
    assert found.alignment["scale"] == pytest.approx(2)
    assert (found.value, found.count, found.missing) == (pytest.approx(0, abs=1e-6), 12, 18)


def test_read_only_arrays_are_scored():
    truth = np.ones((4, 5), np.float32)
    truth.flags.writeable = False
    assert dg.score(truth, truth, ["mae", "quantile:50"])["mae@all"].value == 0


def test_nothing_is_written_into_the_arrays():
    estimate, truth = ESTIMATE.astype(np.float32), TRUTH.astype(np.float32)
    before = estimate.copy(), truth.copy()
    dg.score(estimate, truth, ["mae", "quantile:50"], quantity="depth", align="scale")
    assert np.array_equal(estimate, before[0], equal_nan=True)
    assert np.array_equal(truth, before[1], equal_nan=True)
