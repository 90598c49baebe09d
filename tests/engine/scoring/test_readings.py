"""Maps that are read as something else are noted, with a sentence that says so; others never.

Warnings are errors in these tests, so every other test of `dg.score` is one of false alarms too.
"""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.engine.scoring.comparison import MOST_PIXELS, Circumstances, sample_places
from depthgauge.engine.scoring.mixups import find_mixups, fingerprint
from depthgauge.engine.scoring.readings import FACTORS, find_notes, shown_scale
from depthgauge.types import Camera, Note, Rig

Y, X = np.mgrid[:120, :160].astype(np.float32)
NOISE = np.random.default_rng(5).normal(0, 0.3, Y.shape)
RIG = Rig({"left": Camera((800.0, 800.0), (80.0, 60.0), (160, 120))}, baseline_m=0.2)


def scene(seed=0):
    """Disparity of a floor with some boxes, all in front of it."""
    random = np.random.default_rng(seed)
    down, right = random.uniform(0.08, 0.2), random.uniform(-0.02, 0.02)
    disparity = random.uniform(8, 16) + down * Y + right * X
    for _ in range(6):
        y, x = random.integers(0, 90), random.integers(0, 130)
        disparity[y : y + 30, x : x + 30] = random.uniform(30, 50) + 0.05 * X[:30, :30]
    return disparity.astype(np.float32)


DISPARITY = scene()
DEPTH = (160 / DISPARITY).astype(np.float32)


def noted(estimate, truth=DISPARITY, quantity="disparity", **about):
    known = Circumstances(scales={"estimate": 1.0, "truth": 1.0}, **about)
    return find_notes(np.ascontiguousarray(estimate, np.float32), truth, quantity, known)


def with_holes(values, mark, share=0.2, seed=1):
    hole = np.random.default_rng(seed).random(values.shape) < share
    return np.where(hole, np.float32(mark), values).astype(np.float32)


ESTIMATE = (DISPARITY + NOISE).astype(np.float32)
METRES = (DEPTH * (1 + 0.02 * NOISE)).astype(np.float32)

DISPARITIES = {
    "sign": (-ESTIMATE, "sign", "with its sign turned. Turn its sign: d = x_left - x_right."),
    "x256": (256 * ESTIMATE, "factor", "about 256 times the truth: the 16-bit PNG code without"),
    "x64": (64 * ESTIMATE, "factor", "about 64 times"),
    "x16": (16 * ESTIMATE, "factor", "fixed point of OpenCV"),
    "scale-4 PNG": (4 * ESTIMATE, "factor", "a PNG of scale 4, or values of quarter size"),
    "scale-8 PNG": (8 * ESTIMATE, "factor", "a PNG of scale 8"),
    "half size": (ESTIMATE / 2, "factor", "about 0.5 times the truth: a half-size map enlarged"),
    "quarter size": (ESTIMATE / 4, "factor", "about 0.25 times"),
    "width": (ESTIMATE / 160, "factor", "about 1/width times the truth: shares of the image's"),
    "sign and x16": (-16 * ESTIMATE, "factor", "16 times the truth and its sign is turned"),
    "left-right": (ESTIMATE[:, ::-1], "flipped", "clearly better flipped left to right."),
    "up-down": (ESTIMATE[::-1], "flipped", "clearly better flipped upside down."),
    "rotated": (ESTIMATE[::-1, ::-1], "flipped", "clearly better turned by 180 degrees."),
    "depth": (160 / ESTIMATE, "inverse", "inverted: was depth given as disparity?"),
    "any depth": (7 / ESTIMATE, "inverse", "inverted: was depth given as disparity?"),
    "holes 0": (with_holes(ESTIMATE, 0), "holes", "About 20 % of the estimate is exactly 0"),
    "holes -1": (with_holes(ESTIMATE, -1), "holes", "About 20 % of the estimate is exactly -1"),
    "few holes": (with_holes(ESTIMATE, 0, 0.02), "holes", "A few percent of the estimate is"),
    "large holes": (with_holes(ESTIMATE, 1e4), "holes", "its largest value, 10000"),
}
DEPTHS = {
    "mm": (1000 * METRES, "factor", "about 1000 times the truth: millimetres instead of metres?"),
    "cm": (100 * METRES, "factor", "centimetres instead of metres?"),
    "km": (METRES / 1000, "factor", "kilometres instead of metres?"),
    "mm / 256": (METRES * 1000 / 256, "factor", "3.906 (1000/256) times the truth: millimetres in"),
    "x256 as mm": (METRES * 0.256, "factor", "a 16-bit PNG of scale 256 taken for millimetres, or"),
    "TUM": (METRES * 5000 / 256, "factor", "TUM's 16-bit PNG (scale 5000), divided by 256?"),
    "disparity": (160 / METRES, "inverse", "was disparity or inverse depth given as depth?"),
    "inverse depth": (1 / METRES, "inverse", "was disparity or inverse depth given as depth?"),
    "sign": (-METRES, "sign", "with its sign turned. Turn its sign: along the axis."),
    "far mark": (with_holes(METRES, 65.535), "holes", "its largest value, 65.535"),
}


@pytest.mark.parametrize(("estimate", "code", "words"), DISPARITIES.values(), ids=DISPARITIES)
def test_disparity_that_is_read_as_something_else(estimate, code, words):
    (note,) = noted(estimate)
    assert (note.code, words in note.sentences()) == (code, True), note.sentences()


@pytest.mark.parametrize(("estimate", "code", "words"), DEPTHS.values(), ids=DEPTHS)
def test_depth_that_is_read_as_something_else(estimate, code, words):
    (note,) = noted(estimate, DEPTH, "depth")
    assert (note.code, words in note.sentences()) == (code, True), note.sentences()


def test_a_square_map_may_be_transposed():
    square = DISPARITY[:, :120]
    (note,) = noted(square.T, np.ascontiguousarray(square))
    assert note.sentences().startswith("The estimate fits the truth clearly better transposed.")


def test_flow_has_a_sign_factors_and_an_order_too():
    flow = np.stack([DISPARITY, X / 10 - 8], axis=2).astype(np.float32)
    for wrong, code in ((-flow, "sign"), (64 * flow, "factor"), (flow[..., ::-1], "channels")):
        (note,) = noted(wrong, flow, "flow")
        assert note.code == code
    assert noted(flow + 0.1, flow, "flow") == ()


def test_a_rig_makes_inverse_readings_exact():
    offset = Rig(RIG.cameras, RIG.baseline_m, principal_offset_px=30.0)
    depth = 160 / (ESTIMATE + 30)
    (note,) = noted(depth, items={"rig": offset})
    assert note.code == "inverse"
    assert note.numbers["error_otherwise"] < 0.5


def test_marks_of_the_truth_are_noted_as_well():
    truth = with_holes(DISPARITY, 0)
    (note,) = noted(ESTIMATE, truth)
    assert note.sentences() == (
        "About 20 % of the truth is exactly 0, where the estimate has other values: is it a mark "
        "for missing pixels that is scored as a value? Say truth_invalid=0."
    )
    assert note.numbers["share"] == pytest.approx(0.2, abs=0.02)


def test_marks_do_not_hide_another_reading():
    assert [n.code for n in noted(with_holes(256 * ESTIMATE, -1, 0.6))] == ["holes", "factor"]


HONEST = {
    "exact": DISPARITY,
    "noisy": ESTIMATE,
    "poor": DISPARITY + 40 * NOISE,
    "biased": 1.3 * ESTIMATE,
    "twice, but no method's factor": 1.8 * ESTIMATE,
    "constant": np.full_like(DISPARITY, 2 * DISPARITY.mean()),
    "zero": np.zeros_like(DISPARITY),
    "random": np.random.default_rng(3).uniform(0, 64, DISPARITY.shape),
    "integer": np.rint(ESTIMATE),
    "clipped": np.minimum(ESTIMATE, 30),
    "sparse": np.where(np.random.default_rng(4).random(Y.shape) < 0.1, ESTIMATE, np.nan),
    "nothing": np.full_like(DISPARITY, np.nan),
}


@pytest.mark.parametrize("estimate", HONEST.values(), ids=HONEST)
def test_honest_estimates_have_no_note(estimate):
    assert noted(estimate) == ()


def test_sky_at_disparity_0_is_a_value():
    sky = Y < 40
    truth = np.where(sky, 0, DISPARITY).astype(np.float32)
    for estimate in (truth, np.where(sky, 0.4, ESTIMATE), np.where(sky, np.abs(NOISE), ESTIMATE)):
        assert noted(estimate, truth) == ()
    assert noted(np.where(sky, 0, ESTIMATE), truth) == ()


def test_a_thin_object_in_front_that_an_estimate_misses_is_a_value():
    bar = X % 20 < 2
    truth = np.where(bar, 150, DISPARITY).astype(np.float32)
    assert noted(ESTIMATE, truth) == ()
    (note,) = noted(ESTIMATE, np.where(bar, 255, DISPARITY).astype(np.float32))
    assert note.code == "holes"


def test_a_far_plane_that_both_maps_have_is_a_value():
    truth = np.where(Y < 40, 80, DEPTH).astype(np.float32)
    assert noted(np.where(Y < 40, 79, METRES), truth, "depth") == ()


@pytest.mark.parametrize("kind", ["median", "scale", "scale_shift"])
def test_where_maps_are_aligned_scale_is_not_noted_but_inversion_is(kind):
    assert noted(1000 * METRES, DEPTH, "depth", align=kind) == ()
    codes = [n.code for n in noted(1 / METRES, DEPTH, "depth", align=kind)]
    assert codes == ["inverse"]
    assert [n.code for n in noted(METRES[:, ::-1], DEPTH, "depth", align=kind)] == ["flipped"]


def test_an_alignment_in_disparity_takes_depth_as_it_is():
    about = {"align": "scale_shift", "space": "disparity"}
    assert noted(3 * METRES, DEPTH, "depth", **about) == ()


def test_depth_without_a_name_is_noted():
    (note,) = noted(METRES, DEPTH, quantity_said=False)
    assert note.sentences(command=True) == (
        "No quantity was said, so the maps are scored as disparity in px; they look like depth in "
        "metres. Say --quantity depth."
    )
    assert noted(ESTIMATE, quantity_said=False) == ()
    assert noted(METRES, DEPTH, quantity_said=True) == ()


def test_values_outside_the_allowed_range_are_missing_anyway():
    assert noted(with_holes(ESTIMATE, -1), low=0.0, high=100.0) == ()


@given(st.integers(0, 10**6), st.sampled_from([f for f in FACTORS if "disparity" in f.of]))
def test_a_factor_is_named_on_any_scene(seed, factor):
    truth = scene(seed)
    estimate = truth + np.random.default_rng(seed).normal(0, 0.2, truth.shape)
    assert noted(estimate, truth) == ()
    (note,) = noted(factor.value * estimate, truth)
    assert note.text.startswith(f"The estimate is about {factor} times the truth:")
    assert eval(note.arguments["estimate_scale"]) == pytest.approx(1 / factor.value)


@given(st.integers(0, 10**6), st.booleans(), st.floats(0.001, 1000))
def test_an_exact_estimate_never_has_a_note(seed, said, scale):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 90, 2))
    truth = (scale * random.gamma(2, 1, shape)).astype(np.float32)
    truth[random.random(shape) < random.random()] = np.nan
    for quantity in ("disparity", "depth"):
        found = noted(truth, truth, quantity, quantity_said=said)
        assert [n for n in found if n.code != "quantity"] == []


def test_few_pixels_tell_nothing():
    assert noted(-DISPARITY[:7, :9], np.ascontiguousarray(DISPARITY[:7, :9])) == ()
    assert noted(DISPARITY[:50], DISPARITY) == ()  # of another size


@pytest.mark.parametrize("size", [(1, 5), (64, 64), (480, 640), (3000, 4000)])
def test_the_same_pixels_are_looked_at_every_time(size):
    places = sample_places(*size)
    assert len(places) == min(MOST_PIXELS, math.prod(size))
    assert len(set(places)) == len(places)
    assert (places[0] >= 0, places[-1] < math.prod(size)) == (True, True)
    quarters = np.histogram(places % size[1], bins=4, range=(0, size[1]))[0]
    assert quarters.max() < 1.2 * quarters.min() or size[1] < 64


def test_scales_are_written_as_people_write_them():
    assert [shown_scale(s) for s in (1 / 3, 0.5, 100.0)] == ["1/3", "0.5", "100"]


# What users of Python meet.


def test_score_warns_once_for_each_kind_and_keeps_the_notes():
    with pytest.warns(dg.DepthgaugeWarning, match="about 256 times the truth") as caught:
        scores = dg.score(256 * ESTIMATE, DISPARITY, "mae", quantity="disparity")
    assert [w.filename for w in caught] == [__file__]
    (note,) = scores.notes
    assert note.arguments == {"estimate_scale": "1/256"}
    assert scores.as_result("a").to_json()["notes"] == [note.to_json()]
    assert str(scores).splitlines()[-1] == f"note: {note.sentences()}"


def test_a_loop_is_warned_once_by_python_itself():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for seed in range(3):
            truth = scene(seed)
            dg.score(256 * truth + seed, truth, "mae", quantity="disparity")
    assert len(caught) == 1


def test_check_switches_it_off():
    scores = dg.score(256 * ESTIMATE, DISPARITY, "mae", check=False)
    assert scores.notes == ()
    assert scores.protocol_hash == dg.score(ESTIMATE, DISPARITY, "mae").protocol_hash


def test_a_negative_scale_is_a_warning():
    with (
        pytest.warns(dg.DepthgaugeWarning, match="The fitted scale is negative"),
        pytest.warns(dg.DepthgaugeWarning, match="was disparity or inverse depth given as depth"),
    ):
        scores = dg.score(1 / METRES, DEPTH, "absrel", quantity="depth", align="scale_shift")
    negative = next(note for note in scores.notes if note.code == "negative-scale")
    assert negative.numbers["scale"] == scores["absrel@all"].alignment["scale"] < 0


def test_pixels_outside_the_mask_are_not_judged():
    estimate = ESTIMATE.copy()
    estimate[:80] *= -1
    scores = dg.score(estimate, DISPARITY, "mae", mask=Y >= 80)
    assert scores.notes == ()


def test_a_note_survives_json():
    (note,) = noted(4 * ESTIMATE)
    assert Note.from_json(note.to_json()) == note


# Folders.


def test_estimates_of_another_sample_are_found():
    truths = {name: scene(seed) for seed, name in enumerate("abcd")}
    about = Circumstances()
    prints = {
        name: fingerprint((truths[whose] + NOISE / 2).astype(np.float32), truth, "disparity", about)
        for (name, truth), whose in zip(truths.items(), "acdb", strict=True)
    }
    found = find_mixups(prints)
    assert {name: note.text for name, note in found.items()} == {
        "b": "The estimate fits the truth of sample 'c' clearly better than its own.",
        "c": "The estimate fits the truth of sample 'd' clearly better than its own.",
        "d": "The estimate fits the truth of sample 'b' clearly better than its own.",
    }


def test_a_benchmark_notes_each_sample_and_warns_once(folders, trial):
    for name in "abc":
        folders.write(name, 16 * np.abs(folders.estimate[name]))
    with pytest.warns(dg.DepthgaugeWarning, match="16 times the truth") as caught:
        result = folders.evaluate(trial())
    assert len(caught) == 1
    assert [note.sample for note in result.notes] == ["a", "b", "c"]
    assert "note: a, b, c: The estimate is about 16 times" in str(result)
    assert folders.evaluate(trial(), check=False).notes == ()


def test_a_transposed_map_of_another_size_is_told_so():
    with pytest.raises(dg.DepthgaugeError, match=r"the truth is 160x120 \(is it transposed\?\)"):
        dg.score(ESTIMATE.T, DISPARITY)


@pytest.mark.parametrize("value", [0.5, 3.0, 9.0, 97.0])
def test_a_constant_estimate_is_no_other_reading(value):
    """It fits a constant truth in many readings, and none of them says anything."""
    truth = np.full((40, 60), 3.0, np.float32)
    assert find_notes(np.full_like(truth, value), truth, "disparity") == ()
