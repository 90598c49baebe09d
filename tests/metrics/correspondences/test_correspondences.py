"""Matches that are wrong, lost, or made up: against loops over pixels and rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from maps import make_pair, seeds

import depthgauge as dg
from depthgauge.errors import Unavailable, WrongShape
from depthgauge.geometry.warping import Visibility, seen_by_right_only
from depthgauge.metrics import METRICS
from depthgauge.synth.sets.stereo_scenes import make_scene

RATES = ("mismatches", "false_negatives", "false_positives", "mir", "fnr", "fr", "misr", "fnsr")
RATES += ("obi", "fpr")


def case(seed):
    """A pair with gaps, what is visible, and levels of texture."""
    estimate, truth = make_pair(seed, (6, 11))
    rng = np.random.default_rng(seed)
    seen = rng.random(truth.shape) < 0.7
    sees = Visibility(seen, ~seen, seen_by_right_only(truth, seen & np.isfinite(truth)))
    texture = rng.integers(0, 5, truth.shape).astype(np.uint8)
    return estimate, truth, rng.random(truth.shape) < 0.8, sees, texture


def value(name, estimate, truth, region, missing="bad", **needs):
    m = METRICS[name]
    bound = m.bind({})
    needs = {need: needs[need] for need in m.needs}
    state = m.measure(estimate, truth, region, **needs, **bound)
    return m.finish(state, missing, **bound)


def reference(name, estimate, truth, region, sees, texture):
    """The rate by a loop over pixels."""
    rows = []
    for y in range(truth.shape[0]):
        hits = []
        for x in range(truth.shape[1]):
            if not region[y, x] or not np.isfinite(truth[y, x]):
                continue
            here, a, r = bool(np.isfinite(estimate[y, x])), estimate[y, x], truth[y, x]
            bad = not here or abs(a - r) > 1
            seen, flat = sees.visible[y, x], texture[y, x] >= 1
            inside = {
                "mismatches": seen and here,
                "false_negatives": seen,
                "false_positives": not seen,
                "fpr": not seen,
                "mir": seen and not flat and here,
                "fnr": seen and not flat,
                "fr": seen and not flat,
                "misr": flat and here,
                "fnsr": flat,
                "obi": not seen,
            }[name]
            if not inside:
                continue
            if name in ("false_negatives", "fnr", "fnsr"):
                hits.append(not here)
            elif name == "false_positives":
                hits.append(here)
            elif name == "fpr":
                to = int(np.rint(x - a)) if here else -1
                hits.append(0 <= to < truth.shape[1] and sees.right_only[y, to])
            else:
                hits.append(bad)
        rows.append(hits)
    if name == "mir":
        rates = [np.mean(hits) for hits in rows if hits]
        return 100 * np.mean(rates) if rates else math.nan
    every = [hit for hits in rows for hit in hits]
    return 100 * np.mean(every) if every else math.nan


@pytest.mark.parametrize("name", RATES)
@given(seed=seeds)
def test_agrees_with_a_loop(name, seed):
    estimate, truth, region, sees, texture = case(seed)
    expected = reference(name, estimate, truth, region, sees, texture)
    needs = {"visibility": sees, "texture_level": texture}
    for missing in ("bad", "skip"):
        found = value(name, estimate, truth, region, missing, **needs)
        assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", RATES)
@given(seed=seeds)
def test_states_of_two_halves_add_up(name, seed):
    estimate, truth, region, sees, texture = case(seed)
    m, upper = METRICS[name], np.zeros(truth.shape, bool)
    upper[:3] = True  # whole rows, as the rate by rows needs
    needs = {"visibility": sees, "texture_level": texture}
    given = {need: needs[need] for need in m.needs} | m.bind({})
    halves = [m.measure(estimate, truth, region & part, **given) for part in (upper, ~upper)]
    whole, added = m.measure(estimate, truth, region, **given), halves[0] + halves[1]
    assert (whole.count, whole.missing) == (added.count, added.missing)
    assert whole.sums == pytest.approx(added.sums)


@pytest.mark.parametrize("name", RATES)
def test_the_map_shows_what_is_counted(name):
    estimate, truth, _, sees, texture = case(1)
    m = METRICS[name]
    needs = {"visibility": sees, "texture_level": texture}
    given = {need: needs[need] for need in m.needs} | m.bind({})
    shown = m.error_map(estimate, truth, **given)
    if name != "mir":  # which is normalised by rows
        expected = value(name, estimate, truth, None, **needs)
        assert shown[np.isfinite(shown)].mean() == pytest.approx(expected)
    assert set(np.unique(shown[np.isfinite(shown)])) <= {0, 100}


@given(seed=seeds)
def test_the_truth_itself_is_perfect(seed):
    _, truth, region, sees, texture = case(seed)
    needs = {"visibility": sees, "texture_level": texture}
    for name in set(RATES) - {"false_positives", "fpr"}:
        assert value(name, truth, truth, region, **needs) in (
            0,
            pytest.approx(math.nan, nan_ok=True),
        )


@given(seed=seeds)
def test_biases_are_differences_of_bad_pixels(seed):
    estimate, truth, region, sees, _ = case(seed)
    rng = np.random.default_rng(seed)
    front = rng.random(truth.shape) < 0.5
    truth = np.where(np.isnan(truth), truth, np.where(front, 50, 10)).astype(np.float32)
    judged = region & np.isfinite(truth) & sees.visible
    bad = ~(np.abs(estimate - truth) <= 1)
    expected = 100 * (bad[judged & front].mean() - bad[judged & ~front].mean())
    assert value("matching_bias", estimate, truth, region, visibility=sees) == pytest.approx(
        expected
    )
    known = np.isfinite(estimate)
    skipped = 100 * (bad[judged & front & known].mean() - bad[judged & ~front & known].mean())
    found = value("matching_bias", estimate, truth, region, "skip", visibility=sees)
    assert found == pytest.approx(skipped)


def test_a_scene_of_one_depth_has_no_bias():
    truth = np.full((4, 5), 7, np.float32)
    sees = Visibility(np.ones((4, 5), bool), np.zeros((4, 5), bool))
    assert math.isnan(value("matching_bias", truth + 3, truth, None, visibility=sees))


def test_occlusion_boundary_bias_has_the_sign_of_fattening():
    truth = np.full((40, 60), 2, np.float32)
    truth[:, 20:40] = 9
    fat, thin = truth.copy(), truth.copy()
    fat[:, 17:43], thin[:, 20:23] = 9, 2
    assert dg.score(fat, truth, "obb")["obb@all"].value < -5
    assert dg.score(thin, truth, "obb")["obb@all"].value > 5


def test_what_only_the_right_view_sees():
    """A bar of disparity 4 before a wall of 1: the right view sees 3 columns beside it alone."""
    truth = np.full((5, 40), 1, np.float32)
    truth[:, 20:26] = 4
    seen = np.ones(truth.shape, bool)
    seen[:, :1] = seen[:, 17:20] = False
    only = seen_by_right_only(truth, seen)
    assert np.flatnonzero(only[2]).tolist() == [22, 23, 24, 39]


def test_the_shared_map_agrees_with_the_regions_on_an_exact_scene():
    sample = make_scene("clutter", (48, 36))
    truth = sample.truth.disparity
    items = {**sample.inputs, **sample.truth}
    noisy = truth + np.random.default_rng(0).normal(0, 1, truth.shape).astype(np.float32)
    noisy[::7] = np.nan
    ids = ["mismatches", "false_negatives", "badpix:1@visible", "sparsity@visible"]
    found = dg.score(noisy, truth, ids, items=items, missing="skip", check=False)
    assert found["mismatches@all"].value == pytest.approx(found["badpix:1@visible"].value)
    assert found["false_negatives@all"].value == pytest.approx(found["sparsity@visible"].value)


def test_flow_has_matches_too_but_no_table_of_a_row():
    flow, truth = np.zeros((2, 3, 2), np.float32), np.ones((2, 3, 2), np.float32)
    items = {"visible_mask": np.array([[1, 1, 1], [1, 0, 0]])}
    found = dg.score({"flow": flow}, {"flow": truth}, "mismatches", quantity="flow", items=items)
    assert found["mismatches@all"].value == 100
    sees = Visibility(np.ones((2, 3), bool), np.zeros((2, 3), bool))
    with pytest.raises(Unavailable, match="what only the right view sees"):
        value("fpr", flow[..., 0], truth[..., 0], None, visibility=sees)


def test_masks_of_another_size_are_refused():
    sees = Visibility(np.ones((2, 3), bool), np.zeros((2, 3), bool))
    with pytest.raises(WrongShape, match="the visibility is 2x3"):
        value("mismatches", np.ones((3, 3)), np.ones((3, 3)), None, visibility=sees)
