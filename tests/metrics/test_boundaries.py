"""ODS, OIS, AP: by hand, and against what the original evaluator counted."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.datasets.bsds500 import read_boundaries
from depthgauge.errors import BadEstimate, BadScoreId, WrongShape
from depthgauge.geometry.boundary_maps.edge_maps import thin_edges
from depthgauge.metrics import METRICS
from depthgauge.metrics.edges.boundaries import boundary_counts, boundary_map
from depthgauge.types import merge_states

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "bsds"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
IMAGES = [(group, name) for group, found in EXPECTED["sets"].items() for name in found["images"]]
NAMES = ("ods", "ois", "boundary_ap", "boundary_r50")


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """The inputs that the original evaluator was run on."""
    out = tmp_path_factory.mktemp("golden") / "bsds"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    assert (out / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]
    return out


def estimate_of(golden, group, name):
    codes = io.read_image(golden / group / "results" / f"{name}.png")
    return codes.astype(np.float32) / np.float32(255)


def pooled(states, **params):
    merged = merge_states(states)
    return {name: METRICS[name].finish(merged, **params) for name in NAMES}


@pytest.mark.parametrize(("group", "name"), IMAGES)
def test_counts_are_those_of_the_original_evaluator(golden, group, name):
    """correspondPixels (Berkeley C++, through py-edge-eval 1429f4f), by the tolerances it has.

    It adds random edges, so its counts vary; ours is a largest matching, recorded for some rows.
    """
    rows = EXPECTED["sets"][group]["images"][name]
    truth = read_boundaries(golden / group / "groundTruth" / f"{name}.mat")
    counts = boundary_counts(
        estimate_of(golden, group, name), truth, thresholds=EXPECTED["sets"][group]["K"]
    )
    assert len(counts) == len(rows)
    for (hit, true, right, estimated), row in zip(counts.tolist(), rows, strict=True):
        _, their_hit, their_true, their_right, their_estimated, *spread, exact = row
        assert (true, estimated) == (their_true, their_estimated)
        if exact is not None:
            assert hit == exact
        assert hit >= spread[1]  # nobody finds more than a largest matching
        assert fits(hit, their_hit, *spread[:2], exact or 0)
        assert fits(right, their_right, *spread[2:])


def fits(count, theirs, least, most, exact=0):
    within = least - 5 <= count <= max(most + 5, exact + 1)
    return within or abs(count - theirs) <= 0.006 * theirs + 3


@pytest.mark.parametrize("group", ["real", "tiny"])
def test_summaries_are_those_of_the_original_evaluator(golden, group):
    expected = EXPECTED["sets"][group]
    states = [
        METRICS["ods"].measure(
            estimate_of(golden, group, name),
            read_boundaries(golden / group / "groundTruth" / f"{name}.mat"),
            thresholds=expected["K"],
        )
        for name in expected["images"]
    ]
    found = pooled(states, thresholds=expected["K"])
    summary = expected["summary"]
    assert found["ods"] == pytest.approx(summary["ODS"]["F"], abs=2e-3)
    assert found["ois"] == pytest.approx(summary["OIS_empty_gt_uses_last_threshold"]["F"], abs=2e-3)
    assert found["boundary_ap"] == pytest.approx(summary["AP"], abs=2e-3)
    assert found["boundary_r50"] == pytest.approx(summary["R50"], abs=2e-3)


def lines(*rows, shape=(60, 80)):
    made = np.zeros(shape, np.float32)
    for row in rows:
        made[row, 10:70] = 1
    return made


def measured(estimate, truth, region=None, **params):
    return METRICS["ods"].measure(np.asarray(estimate, np.float32), truth, region, **params)


def test_numbers_by_hand():
    """Two of three lines are found, one at 1 and one at 0.4, and a false one at 0.4.

    Below 0.4: P = R = 2/3. Above: P = 1, R = 1/3, F = 1/2. OIS takes the lower thresholds. Between
    the two recalls precision falls from 1 to 2/3: 33 recalls, 0.34 ... 0.66.
    """
    truth = lines(10, 30, 50)[..., None]
    estimate = lines(10) + 0.4 * lines(30, 20)
    found = pooled([measured(estimate, truth)])
    assert found["ods"] == pytest.approx(2 / 3)
    assert found["ois"] == pytest.approx(2 / 3)
    assert found["boundary_ap"] == pytest.approx(sum(4 / 3 - i / 100 for i in range(34, 67)) / 100)
    assert found["boundary_r50"] == pytest.approx(2 / 3)


def test_thresholds_that_no_pixel_reaches_have_a_precision_of_0():
    """As in the original: the curve starts at R = P = 0 and rises to P = 1 at R = 1/2."""
    found = pooled([measured(0.5 * lines(10), lines(10, 30)[..., None])])
    assert found["boundary_ap"] == pytest.approx(sum(i / 50 for i in range(51)) / 100)


def test_each_image_has_its_own_best_threshold_in_ois_only():
    truth = lines(10)[..., None]
    faint = measured(0.2 * lines(10), truth)  # perfect below 0.2
    noisy = measured(0.9 * lines(10) + 0.5 * lines(20, 30, 40, 50), truth)  # perfect above 0.5
    found = pooled([faint, noisy])
    assert found["ois"] == pytest.approx(1)
    # All below 0.2: P = 2/6, R = 1; above 0.5: P = 1, R = 1/2, which is better.
    assert found["ods"] == pytest.approx(2 / 3)


def test_recall_adds_over_people_and_precision_takes_anybody():
    truth = np.stack([lines(10, 30), lines(10, 50), lines(10)], axis=2)
    counts = boundary_counts(lines(10, 30), truth, thresholds=1)
    np.testing.assert_array_equal(counts, [[240, 300, 120, 120]])


def test_a_boundary_is_right_only_where_it_is_of_the_right_kind():
    truth = np.stack([lines(10), lines(30)], axis=2)
    kinds = [np.stack([lines(10, 30), np.full((60, 80), k)], axis=2) for k in (1, 0)]
    both = np.stack([lines(10, 30), lines(10)], axis=2)
    for estimate, expected in ((kinds[0], 60), (kinds[1], 60), (both, 120)):
        counts = boundary_counts(
            estimate.astype(np.float32), truth, thresholds=1, classes="occlusion_fold"
        )
        np.testing.assert_array_equal(counts, [[expected, 120, expected, 120]])


def test_a_kind_of_one_half_is_an_occlusion_and_an_unknown_one_a_fold():
    truth = np.stack([lines(10), lines(30)], axis=2)
    for kind, hits in ((0.5, 60), (0.49, 0), (np.nan, 0)):
        estimate = np.stack([lines(10), np.full((60, 80), kind)], axis=2).astype(np.float32)
        counts = boundary_counts(estimate, truth, thresholds=1, classes="occlusion_fold")
        assert counts[0, 0] == hits


def test_non_maxima_are_suppressed_first_and_the_region_is_cut_out_afterwards():
    """So that the region's border is no edge."""
    y, x = np.mgrid[:80, :80]
    ridge = np.clip(0.9 - np.abs(x - 0.7 * y - 18) / 9, 0, 1).astype(np.float32)
    truth = (np.abs(x - 0.7 * y - 18) < 0.6).astype(np.float32)
    region = x > 40
    found = boundary_counts(ridge, truth, region, thresholds=9, radius=0.02, nms="dollar")
    by_hand = boundary_counts(thin_edges(ridge), truth, region, thresholds=9, radius=0.02)
    np.testing.assert_array_equal(found, by_hand)
    assert found[0, 2] > 0.9 * found[0, 3]
    assert found[0, 3] < 60  # one line, where the plain ridge is 18 px wide
    cut = np.where(region, ridge, np.float32(0))
    cut_first = boundary_counts(cut, truth, region, thresholds=9, radius=0.02, nms="dollar")
    assert (found != cut_first).any()


def test_only_the_region_is_judged():
    truth = lines(10, 30)[..., None]
    region = np.zeros((60, 80), bool)
    region[:20] = True
    counts = boundary_counts(lines(10, 50), truth, region, thresholds=1)
    np.testing.assert_array_equal(counts, [[60, 60, 60, 60]])
    unknown = np.where(region[..., None], truth, np.float32(np.nan))
    np.testing.assert_array_equal(boundary_counts(lines(10, 50), unknown, thresholds=1), counts)


def test_what_is_not_estimated_is_no_boundary():
    truth = lines(10)[..., None]
    nothing = measured(np.full((60, 80), np.nan), truth)
    assert (nothing.count, nothing.missing) == (0, 4800)
    assert set(pooled([nothing]).values()) == {0.0}
    good = measured(lines(10), truth)
    with_it = pooled([good, nothing])
    assert with_it["ods"] == pytest.approx(2 / 3)  # half of the true pixels are missed
    assert with_it["ois"] == pytest.approx(2 / 3)


def test_an_image_without_any_estimate_is_left_out_where_missing_ones_are_skipped():
    truth = lines(10)[..., None]
    some = measured(lines(10) + 0.5 * lines(20, 30), lines(10, 20, 40)[..., None])
    nothing = measured(np.full((60, 80), np.nan), truth)
    alone = pooled([some])
    for missing in ("skip", "good"):
        assert pooled([some, nothing, nothing], missing=missing) == alone
        assert all(math.isnan(value) for value in pooled([nothing], missing=missing).values())
    for missing in ("bad", "interpolate"):
        costs = pooled([some, nothing], missing=missing)
        assert costs == pooled([some, nothing])
        assert all(costs[name] < alone[name] for name in NAMES)
    assert nothing.rows.tolist() == [[60.0]]
    assert some.rows.shape == (0, 1)


def test_a_pixel_without_an_estimate_is_no_boundary_even_where_missing_ones_are_skipped():
    """The image has an estimate: what it says nothing of costs its true pixels."""
    truth = lines(10, 40)[..., None]
    half = lines(10)
    half[30:] = np.nan
    found = pooled([measured(half, truth)], missing="skip")
    assert found["ods"] == pytest.approx(2 / 3)
    assert found == pooled([measured(half, truth)])


def test_only_what_is_judged_says_whether_there_is_an_estimate():
    truth = lines(10, 40)[..., None]
    region = np.zeros((60, 80), bool)
    region[:20] = True
    below = np.where(region, np.nan, lines(40))
    state = measured(below, truth, region)
    assert (state.count, state.rows.tolist()) == (0, [[60.0]])
    assert all(math.isnan(value) for value in pooled([state], missing="skip").values())


def test_without_any_image_there_is_no_number():
    empty = measured(lines(10), np.full((60, 80, 1), np.nan, np.float32))
    assert all(math.isnan(value) for value in pooled([empty]).values())


def test_an_image_without_true_boundaries_adds_the_fewest_false_alarms_to_ois():
    truth = lines()[..., None]
    state = measured(0.9 * lines(10) + 0.3 * lines(20, 30), truth, thresholds=9)
    np.testing.assert_array_equal(state.sums[-4:], [0, 0, 0, 60])


def test_all_of_them_share_one_measure():
    assert len({METRICS[name].measure_with for name in NAMES}) == 1
    assert {METRICS[name].level for name in NAMES} == {"dataset"}


@given(st.integers(0, 10_000))
def test_states_add_and_scores_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(2):
        truth = (rng.random((20, 24, 2)) < 0.1).astype(np.float32)
        states.append(measured(rng.random((20, 24)) ** 3, truth, thresholds=5, radius=0.05))
    merged = merge_states(states)
    np.testing.assert_array_equal(merged.sums, states[0].sums + states[1].sums)
    for name, value in pooled(states, thresholds=5).items():
        low, high = METRICS[name].bounds
        assert low <= value <= high
    assert (
        METRICS["ods"].finish(states[0], thresholds=5) >= max(0, *per_threshold(states[0])) - 1e-12
    )


def per_threshold(state):
    hit, true, right, estimated = state.sums[:-4].reshape(-1, 4).T
    r, p = hit / np.maximum(true, 1), right / np.maximum(estimated, 1)
    return 2 * p * r / np.maximum(p + r, 1e-300)


@given(st.integers(0, 10_000))
def test_png_and_floats_give_the_same(seed):
    rng = np.random.default_rng(seed)
    values = rng.random((20, 24)).astype(np.float32)
    coded = np.floor(values * 255 + 0.5).astype(np.float32) / np.float32(255)
    truth = (rng.random((20, 24, 1)) < 0.1).astype(np.float32)
    np.testing.assert_array_equal(
        boundary_counts(values, truth, thresholds=7, radius=0.05),
        boundary_counts(coded, truth, thresholds=7, radius=0.05),
    )


def test_the_map_shows_hits_false_alarms_and_misses():
    truth = lines(10, 40)[..., None]
    estimate = np.where(np.arange(80) < 40, 1, 0) * lines(10) + 0.9 * lines(25)
    shown = boundary_map(estimate, truth, thresholds=9, radius=0.02, threshold=4)
    assert set(shown[10, 10:40].tolist()) == {1}
    assert set(shown[25, 10:70].tolist()) == {2}
    assert set(shown[40, 10:70].tolist()) == {3}
    assert set(shown[10, 43:70].tolist()) == {3}
    assert not shown[50:].any()
    error_map = METRICS["ods"].error_map(estimate.astype(np.float32), truth, radius=0.02)
    assert error_map.dtype == np.float32
    counts = boundary_counts(estimate, truth, thresholds=9, radius=0.02)
    assert (shown == 1).sum() == counts[4, 2]
    assert (shown == 2).sum() == counts[4, 3] - counts[4, 2]


def test_the_map_of_classes_judges_each_by_itself():
    truth = np.stack([lines(10), lines(30)], axis=2)
    estimate = np.stack([lines(10, 30), np.ones((60, 80), np.float32)], axis=2)
    shown = boundary_map(estimate, truth, thresholds=3, classes="occlusion_fold", threshold=0)
    assert set(shown[10, 10:70].tolist()) == {1}
    assert set(shown[30, 10:70].tolist()) == {2}  # of the wrong kind, drawn over the missed one


def test_what_makes_no_sense_is_refused():
    truth = lines(10)[..., None]
    with pytest.raises(BadEstimate, match="probabilities from 0 to 1, but this estimate has"):
        measured(255 * lines(10), truth)
    with pytest.raises(BadEstimate, match="have two channels"):
        measured(lines(10), truth, classes="occlusion_fold")
    with pytest.raises(WrongShape, match="both must have the same size"):
        measured(lines(10)[:-1], truth)
    with pytest.raises(BadScoreId, match="threshold is 9, but there are 9"):
        boundary_map(lines(10), truth, thresholds=9, threshold=9)
    with pytest.raises(BadScoreId, match="must be one of annotators, occlusion_fold"):
        METRICS["ods"].bind({"classes": "colours"})
