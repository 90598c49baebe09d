"""Metrics of layers: hand numbers, a plain NumPy reference, and properties on random stacks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import depthgauge as dg
from depthgauge.errors import BadEstimate, BadScoreId, DepthgaugeError
from depthgauge.geometry.layers import MATERIALS

NAN = math.nan
DIFFUSE, GLASS, METAL, NONE = 0, 1, 2, 255
TAUS = (1, 3, 5, math.inf)


def score(estimate, truth, ids, materials=None, quantity="layered_flow", **options):
    items = {} if materials is None else {"layer_material": np.asarray(materials, np.uint8)}
    given_items = {**items, **options.pop("items", {})}
    found = dg.score(
        np.asarray(estimate, np.float32),
        np.asarray(truth, np.float32),
        ids,
        quantity=quantity,
        items=given_items,
        check=False,
        **options,
    )
    return {name.removesuffix("@all"): score.value for name, score in found.items()}


# --- by hand --------------------------------------------------------------------------------------

# Six pixels in a row, up to two layers; numbers are disparities.
TRUTH = [[[9, 9, 9, 9, NAN, NAN]], [[4, 4, NAN, NAN, 4, NAN]]]
KINDS = [[[GLASS, GLASS, GLASS, DIFFUSE, NONE, NONE]], [[DIFFUSE, METAL, NONE, NONE, GLASS, NONE]]]
ESTIMATE = [[[9, 10, 9, 9, 9, 9]], [[4, 4, 2, NAN, 7, 1]]]
# Errors of layer 1: 0 1 0 0 - -; of layer 2: 0 0 - - 3 -. The sixth pixel has no truth.
# Estimated layers: 2 2 2 1 2; right, because the last annotated layers are 2 opaque, 2 opaque, 1
# glass, 1 opaque, 2 glass.


def test_hand_numbers():
    ids = ["multi_bad:0.5", "multi_bad:1", "count_bad:0.5", "count_bad:inf", "layer_count"]
    found = score(ESTIMATE, TRUTH, [*ids, "layer_accuracy:1"], KINDS, "layered_disparity")
    assert found == {
        "multi_bad:0.5": pytest.approx(40.0),
        "multi_bad:1": pytest.approx(20.0),
        "count_bad:0.5": pytest.approx(40.0),
        "count_bad:inf": 0.0,
        "layer_count": 100.0,
        "layer_accuracy:1": pytest.approx(80.0),
    }


def test_hand_numbers_by_layer_and_material():
    ids = ["multi_bad:0.5,1", "multi_bad:0.5,2", "multi_bad:1,layer=2"]
    ids += [f"multi_bad:0.5,material={name}" for name in MATERIALS]
    found = score(ESTIMATE, TRUTH, ids, KINDS, "layered_disparity")
    assert found["multi_bad:0.5,1"] == pytest.approx(25.0)
    assert found["multi_bad:0.5,2"] == pytest.approx(100 / 3)
    assert found["multi_bad:1,2"] == pytest.approx(100 / 3)
    assert found["multi_bad:0.5,transparent"] == pytest.approx(50.0)  # pixels 1, 2, 3 and 5
    assert found["multi_bad:0.5,diffuse"] == 0.0  # pixels 1 and 4
    assert found["multi_bad:0.5,reflective"] == 0.0  # pixel 2


@pytest.mark.parametrize(
    ("material", "estimated", "right"),
    [
        (GLASS, 0, False),
        (GLASS, 1, False),
        (GLASS, 2, True),
        (GLASS, 3, True),
        (DIFFUSE, 1, False),
        (DIFFUSE, 2, True),
        (DIFFUSE, 3, False),
        (METAL, 2, True),
        (METAL, 4, False),
    ],
)
def test_the_number_of_layers(material, estimated, right):
    """The last annotated layer is the second one; the first is not annotated."""
    truth = np.full((4, 1, 1), NAN)
    truth[1] = 5
    kinds = np.full((4, 1, 1), NONE)
    kinds[1] = material
    estimate = np.full((4, 1, 1), NAN)
    estimate[:estimated] = 5
    estimate[0] = estimate[0] + 1
    found = score(
        estimate, truth, ["layer_count", "count_bad:inf", "count_bad:1"], kinds, "layered_disparity"
    )
    assert found["layer_count"] == (100.0 if right else 0.0)
    assert found["count_bad:inf"] == found["count_bad:1"] == (0.0 if right else 100.0)


def test_an_error_of_exactly_tau_is_good():
    truth, estimate = np.zeros((1, 1, 3, 2)), np.zeros((1, 1, 3, 2))
    estimate[0, 0, 0] = 3, 4
    estimate[0, 0, 1] = 1, 0
    found = score(estimate, truth, ["multi_bad:5", "multi_bad:1", "multi_bad:0.999"])
    assert found == {
        "multi_bad:5": 0.0,
        "multi_bad:1": pytest.approx(100 / 3),
        "multi_bad:0.999": pytest.approx(200 / 3),
    }


def test_a_layer_that_is_not_estimated_is_bad():
    truth = np.zeros((2, 1, 2, 2))
    found = score(
        np.zeros((1, 1, 2, 2)), truth, ["multi_bad:inf", "multi_bad:1,1", "multi_bad:1,2"]
    )
    assert found == {"multi_bad:inf": 100.0, "multi_bad:1,1": 0.0, "multi_bad:1,2": 100.0}


def test_missing_pixels_may_be_skipped():
    truth, estimate = np.zeros((1, 1, 4, 2)), np.zeros((1, 1, 4, 2))
    estimate[0, 0, :2] = NAN
    estimate[0, 0, 2] = 9
    assert score(estimate, truth, "multi_bad:1")["multi_bad:1"] == 75.0
    assert score(estimate, truth, "multi_bad:1", missing="skip")["multi_bad:1"] == 50.0


def test_a_truth_that_is_cut_counts_as_transparent_at_its_end():
    truth = np.zeros((4, 1, 2, 2))
    kinds = np.full((4, 1, 2), GLASS)
    kinds[3] = DIFFUSE
    estimate = np.zeros((5, 1, 2, 2))
    total = np.array([[4, 6]])
    found = score(estimate, truth, "layer_count", kinds, items={"layer_count": total})
    assert found["layer_count"] == 50.0  # five layers are too many where there are four
    assert score(estimate, truth, "layer_count", kinds)["layer_count"] == 0.0


def test_tau_may_be_infinite_but_not_negative():
    assert score(np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 2, 2)), "multi_bad:inf") == {
        "multi_bad:inf": 0.0
    }
    for text in ("multi_bad:-1", "multi_bad:nan", "multi_bad:1,-1", "multi_bad:1,inf"):
        with pytest.raises(BadScoreId):
            score(np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 2, 2)), text)
    with pytest.raises(BadScoreId, match="must be one of any, diffuse"):
        score(np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 2, 2)), "multi_bad:1,1,wood")


# --- bad input ------------------------------------------------------------------------------------


def test_a_gap_between_layers_is_refused():
    estimate = np.zeros((3, 4, 5, 2))
    estimate[1, 2, 3] = NAN
    with pytest.raises(BadEstimate, match=r"column 3 and row 2, have layer 3 but no layer 2"):
        score(estimate, np.zeros((2, 4, 5, 2)), "multi_bad:1")


def test_layers_in_reverse_order_are_refused():
    depth = np.stack([np.full((4, 5), 3.0), np.full((4, 5), 2.0)])
    with pytest.raises(BadEstimate, match="layer 2 is in front of layer 1 at 20 of 20 pixels"):
        score(depth, depth, "multi_bad:1", quantity="layered_depth")
    assert score(depth, depth, "multi_bad:1", quantity="layered_disparity") == {"multi_bad:1": 0.0}
    with pytest.raises(BadEstimate, match="in front of"):
        score(depth[::-1], depth, "multi_bad:1", quantity="layered_disparity")
    depth[:, :2] = depth[::-1, :2]  # noise turns some pixels; that is no mix-up
    assert score(depth, depth, "multi_bad:1", quantity="layered_depth") == {"multi_bad:1": 0.0}


def test_another_shape_is_refused():
    truth = np.zeros((2, 4, 5, 2))
    for shape in ((4, 5, 3), (2, 2, 2, 4, 5), (4,)):
        with pytest.raises(DepthgaugeError, match=r"layered_flow|channel"):
            score(np.zeros(shape), truth, "multi_bad:1")
    with pytest.raises(DepthgaugeError, match="6x4"):
        score(np.zeros((2, 4, 6, 2)), truth, "multi_bad:1")
    with pytest.raises(DepthgaugeError, match="layer_material"):
        score(truth, truth, "count_bad:1", materials=np.zeros((2, 4, 6)))
    with pytest.raises(DepthgaugeError, match="layer_material"):
        score(truth, truth, "count_bad:1")


# --- sparse estimates -----------------------------------------------------------------------------


def test_rows_are_the_same_as_layers():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(2, 6, 7, 2)).astype(np.float32)
    estimate = truth + rng.normal(size=truth.shape).astype(np.float32)
    layer, row, column = np.indices(truth.shape[:3]).reshape(3, -1)
    rows = np.stack([column, row, layer + 1, *estimate.reshape(-1, 2).T], axis=1)
    rng.shuffle(rows)
    ids = ["multi_bad:1", "multi_bad:1,2", "epe"]
    assert score(rows, truth, ids) == score(estimate, truth, ids)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((7, 0, 1, 0, 0), "outside the picture of 7x6"),
        ((-1, 0, 1, 0, 0), "outside"),
        ((NAN, 0, 1, 0, 0), "outside"),
        ((0, 0, 0, 0, 0), "not a whole number from 1"),
        ((0, 0, 1.5, 0, 0), "not a whole number from 1"),
        ((2, 2, 1, 0, 0), "a second time"),
        ((3, 3, 2, 0, 0), "have layer 2 but no layer 1"),
    ],
)
def test_bad_rows_are_refused(row, words):
    rows = np.array([(2, 2, 1, 0.5, 0.5), row], np.float32)
    with pytest.raises(BadEstimate, match=words):
        score(rows, np.zeros((2, 6, 7, 2)), "multi_bad:1")


# --- against plain NumPy --------------------------------------------------------------------------


def reference(estimate, truth, kinds, tau, layer=0, material="any"):
    """multi_bad and count_bad, pixel by pixel."""
    multi = count = n = 0
    for row in range(truth.shape[1]):
        for column in range(truth.shape[2]):
            annotated = [k for k in range(len(truth)) if np.isfinite(truth[k, row, column]).all()]
            chosen = [k for k in annotated if layer in (0, k + 1)]
            if material != "any":
                code = MATERIALS.index(material)
                chosen = [k for k in chosen if kinds[k, row, column] == code]
            if not chosen:
                continue
            n += 1
            there = [np.isfinite(values).all() for values in estimate[:, row, column]]
            number = there.index(False) if False in there else len(there)
            errors = [
                np.linalg.norm(estimate[k, row, column] - truth[k, row, column])
                if k < number
                else math.inf
                for k in chosen
            ]
            bad = not all(k < number for k in chosen) or not max(errors) <= tau
            last = annotated[-1]
            glass = kinds[last, row, column] == GLASS
            right = number >= last + 1 if glass else number == last + 1
            multi += bad
            count += bad or not right
    return (100 * multi / n, 100 * count / n) if n else (NAN, NAN)


@st.composite
def stacks(draw):
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    layers, estimated = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    values = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0])
    truth = draw(hnp.arrays(np.float32, (layers, height, width, 2), elements=values))
    truth[draw(hnp.arrays(bool, truth.shape[:3]))] = NAN
    estimate = draw(hnp.arrays(np.float32, (estimated, height, width, 2), elements=values))
    number = draw(hnp.arrays(np.int64, (height, width), elements=st.integers(0, estimated)))
    estimate[np.arange(estimated)[:, None, None] >= number] = NAN
    kinds = draw(hnp.arrays(np.uint8, truth.shape[:3], elements=st.integers(0, 2)))
    return estimate, truth, kinds


@given(stacks(), st.sampled_from(TAUS), st.integers(0, 4), st.sampled_from(["any", *MATERIALS]))
def test_against_numpy(stack, tau, layer, material):
    estimate, truth, kinds = stack
    ids = [f"{name}:{tau:g},{layer},{material}" for name in ("multi_bad", "count_bad")]
    found = score(estimate, truth, ids, kinds)
    wanted = reference(estimate, truth, kinds, tau, layer, material)
    assert list(found.values()) == pytest.approx(list(wanted), nan_ok=True)


@given(stacks())
def test_properties(stack):
    estimate, truth, kinds = stack
    rates = [f"count_bad:{tau:g}" for tau in TAUS]
    ids = [*rates, *(f"multi_bad:{tau:g}" for tau in TAUS), "layer_count", "layer_accuracy:3"]
    found = score(estimate, truth, ids, kinds)
    if not np.isfinite(truth).any():
        assert all(math.isnan(value) for value in found.values())
        return
    ordered = [found[name] for name in rates]
    assert ordered == sorted(ordered, reverse=True)  # a larger tau is never worse
    for tau in TAUS:
        assert found[f"multi_bad:{tau:g}"] <= found[f"count_bad:{tau:g}"] + 1e-9
    assert found["count_bad:inf"] == pytest.approx(100 - found["layer_count"])
    assert found["layer_accuracy:3"] == pytest.approx(100 - found["multi_bad:3"])


@given(stacks(), st.floats(0.5, 4))
def test_errors_scale_with_the_flow(stack, factor):
    estimate, truth, _ = stack
    factor = 2.0 ** round(math.log2(factor))  # exact in float32
    small = score(estimate, truth, "multi_bad:1")
    large = score(factor * estimate, factor * truth, f"multi_bad:{factor:g}")
    assert list(small.values()) == pytest.approx(list(large.values()), nan_ok=True)


@given(stacks())
def test_one_layer_is_scored_as_flow_is(stack):
    estimate, truth, _ = stack
    for number in range(1, len(truth) + 1):
        layer = estimate[number - 1] if number <= len(estimate) else np.full_like(truth[0], NAN)
        single = dg.score(
            {"flow": layer}, {"flow": truth[number - 1]}, "npx:1", quantity="flow", check=False
        )
        wanted = single["npx:1@all"].value
        ids = [f"multi_bad:1,{number}", f"layered_flow:{number}/npx:1"]
        found = score(estimate, truth, ids)
        assert list(found.values()) == pytest.approx([wanted, wanted], nan_ok=True)


def test_a_perfect_estimate_has_no_error():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(4, 20, 30, 2)).astype(np.float32)
    number = rng.integers(1, 5, (20, 30))
    truth[np.arange(4)[:, None, None] >= number] = NAN
    kinds = np.where(np.arange(4)[:, None, None] + 1 < number, GLASS, DIFFUSE)
    found = score(truth, truth, ["multi_bad:0", "count_bad:0", "layer_count", "epe"], kinds)
    assert found == {"multi_bad:0": 0, "count_bad:0": 0, "layer_count": 100, "epe": 0}


def test_the_number_of_threads_changes_nothing(on_threads):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(4, 60, 70, 2)).astype(np.float32)
    estimate = truth + rng.normal(size=truth.shape).astype(np.float32)
    kinds = rng.integers(0, 3, truth.shape[:3])
    found = on_threads(lambda: score(estimate, truth, ["multi_bad:1", "count_bad:1,2"], kinds))
    assert found[0] == found[1] == found[2]
