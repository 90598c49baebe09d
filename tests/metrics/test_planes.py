"""Planes: hand numbers, COCO's own twelve numbers, greedy matching, what is ignored."""

import math

import coco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.metrics import METRICS
from depthgauge.metrics.planes import OVERLAPS, Instances, match_instances, overlaps_of

NAN = np.nan
PLANE_AP = METRICS["plane_ap"]
seeds = st.integers(0, 2**32 - 1)


def score(estimate, truth, region=None, missing="bad", **params):
    bound = PLANE_AP.bind({"least_px": 1, **params})
    state = PLANE_AP.measure(
        np.asarray(estimate, np.float32), np.asarray(truth, np.float32), region, **bound
    )
    return PLANE_AP.finish(state, missing, **bound), state


def value(*arguments, **named):
    return score(*arguments, **named)[0]


def stack(*instances):
    """Channels of (confidence, mask)."""
    return np.stack([c * np.asarray(m, np.float32) for c, m in instances], axis=-1)


TRUTH = np.zeros((10, 20), np.float32)
TRUTH[:, :10], TRUTH[:5, 10:] = 3, 7  # 100 px and 50 px
ONE, TWO = TRUTH == 3, TRUTH == 7


def columns(first, last):
    mask = np.zeros(TRUTH.shape, bool)
    mask[:, first:last] = True
    return mask


# --- COCO ---------------------------------------------------------------------------------------


def test_the_twelve_numbers_of_pycocotools(shared):
    """pycocotools on cocoapi's fake masks of 100 pictures of val2014; data's SOURCE.md."""
    folder = shared("data/coco-fake-results")
    found = coco.read_instances(
        folder / "fce_cocoapi_instances_val2014_100.json",
        folder / "instances_val2014_fakesegm100_results.json",
    )
    expected = [0.320, 0.562, 0.299, 0.387, 0.310, 0.327, 0.268, 0.415, 0.417, 0.469, 0.377, 0.381]
    assert coco.summary(found) == pytest.approx(expected, abs=5.001e-4)


# --- hand numbers -------------------------------------------------------------------------------


def test_by_hand():
    """One plane found of two, and a false one between them in confidence or before."""
    assert value(stack((0.9, ONE), (0.5, TWO)), TRUTH) == 1
    assert value(stack((0.9, ONE)), TRUTH) == pytest.approx(51 / 101)  # recalls 0 to 0.5
    third = ~ONE & ~TWO
    assert value(stack((0.9, ONE), (0.7, third), (0.5, TWO)), TRUTH) == pytest.approx(
        (51 + 50 * 2 / 3) / 101
    )
    assert value(stack((0.6, ONE), (0.7, third)), TRUTH) == pytest.approx(51 / 101 / 2)


@pytest.mark.parametrize(("last", "steps"), [(10, 10), (9, 9), (8, 7), (7, 5), (6, 3), (5, 1)])
def test_overlaps_of_at_least_the_threshold_count(last, steps):
    """A share of the plane: intersection over union 1, 0.9 ... 0.5, of which 0.9 >= 0.9."""
    truth = np.where(ONE, 3, 0).astype(np.float32)
    assert value(stack((1, columns(0, last))), truth) == pytest.approx(steps / 10)
    assert value(stack((1, columns(0, last))), truth, overlap=last / 10) == 1
    if last < 10:
        assert value(stack((1, columns(0, last))), truth, overlap=last / 10 + 0.01) == 0


def test_a_second_estimate_of_one_plane_is_wrong():
    truth = np.where(ONE, 3, 0)
    twice = stack((0.9, ONE), (0.8, columns(0, 9)))
    assert value(twice, truth) == 1  # after everything is found, it costs nothing
    assert value(twice, TRUTH) == pytest.approx(51 / 101)
    # The worse one is more confident and takes the plane: the better one is the double.
    twice = stack((0.8, ONE), (0.9, columns(0, 6)))
    assert value(twice, truth, overlap=0.5) == 1
    assert value(twice, truth, overlap=0.75) == 0.5


def test_the_doubles_rank_matters():
    """At 0.5: right, double, right; two of three at full recall."""
    estimate = stack((0.9, ONE), (0.8, columns(0, 9)), (0.5, TWO))
    assert value(estimate, TRUTH, overlap=0.5) == pytest.approx((51 + 50 * 2 / 3) / 101)


def test_equal_confidence_is_one_point_of_the_curve():
    wrong = ~ONE & ~TWO
    for estimate in (stack((1, ONE), (1, wrong)), stack((1, wrong), (1, ONE))):
        assert value(estimate, TRUTH) == pytest.approx(51 / 101 / 2)


def test_instances_may_overlap_and_be_many():
    both = ONE | TWO  # 150 px: its overlap with the larger plane is 2/3
    assert value(stack((0.9, both)), TRUTH, overlap=0.65) == pytest.approx(51 / 101)
    assert value(stack((0.9, both)), TRUTH, overlap=0.67) == 0
    many = stack(*[(0.01 * k, columns(k % 20, k % 20 + 1)) for k in range(1, 60)], (0.9, ONE))
    assert value(many, TRUTH) == pytest.approx(51 / 101)


# --- what is ignored ----------------------------------------------------------------------------


def test_small_planes_are_ignored_with_what_lies_on_them():
    assert value(stack((0.5, ONE)), TRUTH, least_px=60) == 1
    # An estimate on the small plane costs nothing, elsewhere it does.
    assert value(stack((0.5, ONE), (0.9, TWO)), TRUTH, least_px=60) == 1
    elsewhere = columns(10, 20) & ~TWO  # 50 px
    assert value(stack((0.5, ONE), (0.9, elsewhere)), TRUTH, least_px=51) == 1  # is small itself
    assert value(stack((0.5, ONE), (0.9, columns(10, 20))), TRUTH, least_px=60, overlap=0.5) == 1
    spread = value(stack((0.5, ONE), (0.9, columns(10, 20))), TRUTH, least_px=60, overlap=0.55)
    assert spread == 0.5  # only half of it is on the small plane
    assert score(stack((0.5, ONE)), TRUTH, least_px=60)[1].count == 1


def test_several_small_planes_are_ignored_together():
    truth = np.where(ONE, 3, 0).astype(np.float32)
    truth[:5, 10:15], truth[:5, 15:] = 8, 9  # 25 px each
    assert value(stack((0.5, ONE), (0.9, TWO), (0.8, TWO)), truth, least_px=30) == 1


def test_only_what_lies_in_the_region_counts():
    region = columns(0, 10)
    wide = stack((0.9, columns(0, 20)))
    assert value(wide, TRUTH) < 0.2
    assert value(wide, TRUTH, region) == 1
    outside = np.where(region, TRUTH, NAN)
    assert value(wide, outside) == 1
    assert value(stack((0.9, ONE), (0.95, TWO)), outside) == 1  # without a pixel inside it is none


def test_no_planes_at_all():
    found, state = score(stack((0.9, ONE)), np.zeros_like(TRUTH))
    assert math.isnan(found)
    assert (state.count, state.missing, len(state.rows)) == (0, 0, 1)
    found, state = score(stack((0.9, ONE)), np.full_like(TRUTH, NAN))
    assert (state.count, state.missing, len(state.rows)) == (0, 0, 0)


# --- missing ------------------------------------------------------------------------------------


def test_no_plane_found_is_not_no_estimate():
    nothing, none = np.zeros((*TRUTH.shape, 1)), np.full((*TRUTH.shape, 1), NAN)
    assert value(nothing, TRUTH) == 0
    assert value(nothing, TRUTH, missing="skip") == 0
    assert value(none, TRUTH) == 0
    assert math.isnan(value(none, TRUTH, missing="skip"))
    assert score(none, TRUTH)[1].missing == 2
    assert value(np.full(TRUTH.shape, NAN), TRUTH) == 0
    # A NaN here and there is a pixel of no plane.
    estimate = stack((0.9, ONE), (0.8, TWO))
    estimate[:, 19] = NAN
    assert value(estimate, TRUTH, overlap=0.9) == 1


def test_planes_of_all_pictures_are_ranked_together():
    """0.9 right, 0.8 wrong (of another picture), 0.7 right."""
    _, a = score(stack((0.9, ONE), (0.7, TWO)), TRUTH, overlap=0.5)
    _, b = score(stack((0.8, ONE)), np.where(TWO, 1, 0), overlap=0.5)
    for merged in (a + b, b + a):
        found = PLANE_AP.finish(merged, overlap=0.5, least_px=1)
        assert found == pytest.approx((34 + 33 * 2 / 3) / 101)
    _, none = score(np.full((*TRUTH.shape, 1), NAN), TRUTH, overlap=0.5)
    total = a + none
    assert PLANE_AP.finish(total, overlap=0.5, least_px=1) == pytest.approx(51 / 101)
    assert PLANE_AP.finish(total, "skip", overlap=0.5, least_px=1) == 1


# --- the matcher --------------------------------------------------------------------------------


def greedy(found, limit, area_px, most=None):
    """pycocotools' evaluateImg, line by line."""
    order = sorted(range(len(found.scores)), key=lambda d: -found.scores[d])[:most]
    low, high = area_px
    outside = [not low <= a <= high for a in found.truth_areas]
    ignored = [bool(c or o) for c, o in zip(found.crowd, outside, strict=True)]
    truths = sorted(range(len(ignored)), key=lambda g: ignored[g])
    taken, out = set(), []
    for d in order:
        best, partner = min(limit, 1 - 1e-10), -1
        for g in truths:
            if g in taken and not found.crowd[g]:
                continue
            if partner > -1 and not ignored[partner] and ignored[g]:
                break
            if found.overlaps[d, g] < best:
                continue
            best, partner = found.overlaps[d, g], g
        if partner > -1:
            taken.add(partner)
        off = partner < 0 and not low <= found.areas[d] <= high
        out.append((partner > -1, not (off or (partner > -1 and ignored[partner]))))
    return out


@given(seed=seeds, most=st.sampled_from([None, 1, 3]))
def test_the_matcher_agrees_with_pycocotools_line_by_line(seed, most):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(0, 7, 2)
    found = Instances(
        rng.integers(0, 5, n) / 4,
        rng.integers(1, 50, n).astype(float),
        rng.integers(1, 50, m).astype(float),
        rng.random(m) < 0.3,
        rng.integers(0, 21, (n, m)) / 20,
    )
    matches = match_instances(found, area_px=(10, 40), most=most)
    for t, limit in enumerate(OVERLAPS):
        expected = greedy(found, limit, (10, 40), most)
        pairs = zip(matches.right[t].tolist(), matches.counted[t].tolist(), strict=True)
        assert list(pairs) == expected
    crowd_or_out = found.crowd | (found.truth_areas < 10) | (found.truth_areas > 40)
    assert matches.truths == np.count_nonzero(~crowd_or_out)


@given(seed=seeds)
def test_agrees_with_a_reference_of_masks(seed):
    """Masks, overlaps, matching and curve all by plain loops."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, (6, 7)).astype(np.float32)
    truth[rng.random(truth.shape) < 0.1] = NAN
    estimate = np.zeros((6, 7, 5), np.float32)
    for k in range(5):
        near = (truth == rng.integers(1, 4)) ^ (rng.random(truth.shape) < 0.1)
        estimate[..., k] = rng.integers(1, 5) / 4 * near
    least, limit = 4, 0.5
    known = np.isfinite(truth)
    masks = [(estimate[..., k] > 0) & known for k in range(5)]
    confidence = [float(estimate[..., k].max()) for k in range(5) if masks[k].any()]
    masks = [mask for mask in masks if mask.any()]
    truths = [truth == k for k in (1, 2, 3)]
    small = np.logical_or.reduce([t & (t.sum() < least) for t in truths])
    truths = [t for t in truths if t.sum() >= least] + [small]
    shared = np.array([[(d & t).sum() for t in truths] for d in masks], float)
    shared = shared.reshape(len(masks), len(truths))
    sizes, areas = (np.array([m.sum() for m in group], float) for group in (truths, masks))
    crowd = np.arange(len(truths)) == len(truths) - 1
    overlaps = overlaps_of(shared, areas, sizes, crowd)
    found = Instances(np.array(confidence), areas, sizes, crowd, overlaps)
    judged = greedy(found, limit, (least, math.inf))
    ranked = sorted(confidence, reverse=True)
    used = [(c, right) for c, (right, counts) in zip(ranked, judged, strict=True) if counts]
    n = len(truths) - 1
    points = []
    for c in {c for c, _ in used}:
        above = [right for score_, right in used if score_ >= c]
        points.append((sum(above) / n if n else 0, sum(above) / len(above)))
    best = [
        max((p for r, p in points if r >= recall), default=0.0) for recall in np.linspace(0, 1, 101)
    ]
    expected = np.mean(best) if n else NAN
    assert value(estimate, truth, least_px=least, overlap=limit) == pytest.approx(
        expected, nan_ok=True
    )


@given(seed=seeds)
def test_confidence_matters_only_by_its_order_and_ids_not_at_all(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.repeat(rng.integers(0, 4, (3, 4)), 3, axis=0), 3, axis=1)
    estimate = stack(
        *[(c, np.roll(truth == k, k, axis=1)) for k, c in ((1, 0.2), (2, 0.9), (3, 0.5))]
    )
    before = value(estimate, truth)
    assert value(estimate**2, truth) == pytest.approx(before, nan_ok=True)
    assert value(estimate, truth * 70000) == pytest.approx(before, nan_ok=True)
    assert value(estimate[..., ::-1], truth) == pytest.approx(before, nan_ok=True)


# --- bad input ----------------------------------------------------------------------------------


def test_bad_input_is_refused():
    with pytest.raises(WrongShape, match="the estimate is 10x19x1 but the truth is 10x20"):
        value(np.zeros((10, 19, 1)), TRUTH)
    with pytest.raises(WrongShape, match="planes are a map of ids"):
        value(np.zeros((10, 20, 1)), TRUTH[..., None])
    with pytest.raises(WrongShape, match="the region is 3x3"):
        value(stack((1, ONE)), TRUTH, np.ones((3, 3), bool))
    with pytest.raises(BadScoreId, match=r"overlap is 1\.5 but must be from 0 to 1"):
        value(stack((1, ONE)), TRUTH, overlap=1.5)
