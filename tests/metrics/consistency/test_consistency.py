"""Measures without a truth: against loops, and on scenes whose truth is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps import seeds
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

import depthgauge as dg
from depthgauge.errors import BadScoreId, Misuse, Unavailable
from depthgauge.geometry.warping import OtherView
from depthgauge.metrics import METRICS
from depthgauge.metrics.bumpiness import bend
from depthgauge.metrics.consistency.self_consistency import differences, self_consistency
from depthgauge.metrics.consistency.without_reference import clusters, roughness, separation
from depthgauge.regions.other_views import other_views
from depthgauge.synth.sets.stereo_scenes import make_scene
from depthgauge.synth.sets.stratified import make_scene as make_light_field
from depthgauge.types import Camera, Rig

PREDICTIONS = ("prediction_rms", "prediction_psnr", "prediction_ncc", "prediction_ssim")


def pair(seed, size=(13, 18)):
    """Two images, a disparity map with gaps, and a region."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (2, *size, 3), np.uint8)
    disparity = rng.uniform(-3, 8, size).astype(np.float32)
    disparity[rng.random(size) < 0.02] = np.nan
    return images[0], images[1], disparity


def predicted(disparity, right):
    """The picture that a map predicts, pixel by pixel, with the border's colour beyond it."""
    height, width = disparity.shape
    found = np.full((height, width, 3), np.nan)
    for y, x in np.ndindex(height, width):
        if np.isfinite(disparity[y, x]):
            at = min(max(x - float(disparity[y, x]), 0), width - 1)
            low = min(int(at), width - 2)
            part = at - low
            found[y, x] = (1 - part) * right[y, low] + part * right[y, low + 1]
    return found / 255


def scores(disparity, ids, missing="bad", **items):
    found = dg.score(disparity, None, ids, items=items, missing=missing)
    return {name.partition("@")[0]: score.value for name, score in found.items()}


@given(seed=seeds)
def test_predictions_are_those_of_a_loop(seed):
    left, right, disparity = pair(seed)
    found = scores(disparity, PREDICTIONS, "skip", left_image=left, right_image=right)
    picture, actual = predicted(disparity, right.astype(float)), left / 255
    known = np.isfinite(picture[..., 0])
    square = np.mean((picture[known] - actual[known]) ** 2)
    assert found["prediction_rms"] == pytest.approx(math.sqrt(square), abs=1e-5)
    psnr = peak_signal_noise_ratio(actual[known], picture[known], data_range=1)
    assert found["prediction_psnr"] == pytest.approx(psnr, abs=1e-3)
    grey = [v[known] @ [0.299, 0.587, 0.114] for v in (picture, actual)]
    assert found["prediction_ncc"] == pytest.approx(np.corrcoef(*grey)[0, 1], abs=1e-5)
    if known.all():
        _, full = structural_similarity(
            picture, actual, data_range=1, channel_axis=2, gaussian_weights=True, sigma=1.5,
            use_sample_covariance=False, full=True,
        )  # fmt: skip
        assert found["prediction_ssim"] == pytest.approx(full[5:-5, 5:-5].mean(), abs=1e-5)


@pytest.mark.parametrize("name", PREDICTIONS)
def test_fewer_estimates_never_help_under_bad(name):
    left, right, disparity = pair(1)
    images = {"left_image": left, "right_image": right}
    fewer = np.where(np.arange(18) < 12, disparity, np.nan).astype("f4")
    before, after = (scores(d, [name], **images)[name] for d in (disparity, fewer))
    m = METRICS[name]
    assert after >= before if m.better == "lower" else after <= before
    nothing = np.full_like(disparity, np.nan)
    assert scores(nothing, [name], **images)[name] == m.worst
    assert math.isnan(scores(nothing, [name], "skip", **images)[name])


@pytest.mark.parametrize("name", PREDICTIONS)
def test_the_truth_predicts_best_on_an_exact_scene(name):
    sample = make_scene("slanted", (96, 72))
    truth, images = sample.truth.disparity, dict(sample.inputs)
    better = 1 if METRICS[name].better == "higher" else -1
    best = better * scores(truth, [name], **images)[name]
    for other in (truth + 1, truth - 1, np.full_like(truth, truth.mean())):
        assert better * scores(other, [name], **images)[name] < best


def test_light_fields_have_third_views_in_their_corners():
    sample = make_light_field("pyramids", size_px=64, views=5, scale=1)
    truth, items = sample.truth.disparity, {"quantity": "disparity", **sample.inputs}
    views = other_views(truth, quantity="disparity", items=items)
    assert [v.steps for v in views if not v.is_third] == [(0, -2), (-2, 0), (2, 0), (0, 2)]
    assert {v.steps for v in views if v.is_third} == {(-2, -2), (2, -2), (-2, 2), (2, 2)}
    for view in ("other", "third"):
        name = f"prediction_rms:{view}"
        right, wrong = (scores(d, [name], **sample.inputs)[name] for d in (truth, -truth))
        assert right < 0.6 * wrong


def test_third_views_of_a_rig_are_parallel_cameras_with_an_image():
    pose = np.eye(4)
    pose[:3, 3] = (0.1, -0.3, 0)
    turned = np.eye(4)
    turned[:3, :3] = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    left = Camera((50.0, 50.0), (2.0, 1.0), (5, 3))
    rig = Rig(
        {
            "left": left,
            "top": Camera((50.0, 50.0), (2.0, 1.0), (5, 3), (), pose),
            "tilted": Camera((50.0, 50.0), (2.0, 1.0), (5, 3), (), turned),
        },
        0.2,
    )
    image = np.zeros((3, 5), np.uint8)
    items = {"rig": rig, "right_image": image, "top_image": image, "tilted_image": image}
    truth = np.ones((3, 5), np.float32)
    views = other_views(truth, quantity="disparity", items=items)
    assert [v.is_third for v in views] == [False, True]
    assert views[0].steps == (1, 0)
    assert views[1].steps == pytest.approx((0.5, -1.5))
    depths = other_views(truth, quantity="depth", items=items)
    # 10 m away: 50 px * 0.2 m / 10 m = 1 px per baseline.
    moved = depths[1].moves(np.full((3, 5), 10, np.float32))
    assert moved[1, 2].tolist() == pytest.approx([-0.5, 1.0])


def test_flow_predicts_the_first_image_from_the_second():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 256, (12, 16), np.uint8)
    items = {"first_image": first, "second_image": np.roll(first, 2, axis=1)}
    right, wrong = np.zeros((2, 12, 16, 2), np.float32)
    right[..., 0] = 2
    found = [
        dg.score({"flow": f}, None, "prediction_rms", quantity="flow", items=items)
        for f in (right, wrong)
    ]
    values = [score["prediction_rms@all"].value for score in found]
    assert values[0] < 0.4 * values[1]
    assert np.allclose(OtherView(first).moves(right)[:, :14, 0], 2)


def test_a_grey_view_may_stand_beside_one_in_colours():
    left, right, disparity = pair(0)
    grey = np.rint(right @ [0.299, 0.587, 0.114]).astype(np.uint8)
    grey_left = np.rint(left @ [0.299, 0.587, 0.114]).astype(np.uint8)
    for images in ((grey_left, right), (grey_left, grey)):
        found = scores(disparity, ["prediction_rms"], left_image=images[0], right_image=images[1])
        assert found["prediction_rms"] == pytest.approx(
            scores(disparity, ["prediction_rms"], left_image=grey_left, right_image=grey)[
                "prediction_rms"
            ],
            abs=0.005,
        )
    mixed = scores(disparity, ["prediction_rms"], left_image=left, right_image=grey)
    assert 0 < mixed["prediction_rms"] < 1


def test_samples_without_other_views_say_so():
    with pytest.raises(Unavailable, match="there is no other view of a disparity map"):
        other_views(np.ones((2, 2), "f4"), quantity="disparity", items={})
    with pytest.raises(Unavailable, match="there is no other view of a normals map"):
        other_views(np.ones((2, 2, 3), "f4"), quantity="normals", items={"right_image": 1})
    left, right, disparity = pair(0)
    with pytest.raises(Unavailable, match="this sample has no third view"):
        scores(disparity, ["prediction_rms:third"], left_image=left, right_image=right)


# --- self-consistency ---------------------------------------------------------------------------


@given(seed=seeds, step=st.sampled_from([(1.0, 0.0), (0.0, 1.0), (-2.0, 1.0)]))
def test_differences_are_those_of_a_loop(seed, step):
    rng = np.random.default_rng(seed)
    first, second = rng.uniform(-2, 4, (2, 6, 8)).astype("f4")
    first[rng.random((6, 8)) < 0.2] = second[rng.random((6, 8)) < 0.2] = np.nan
    found = differences(first, second, step)
    for y, x in np.ndindex(6, 8):
        expected = math.nan
        if np.isfinite(first[y, x]):
            to = int(np.rint(y - step[1] * first[y, x])), int(np.rint(x - step[0] * first[y, x]))
            if 0 <= to[0] < 6 and 0 <= to[1] < 8:
                expected = abs(first[y, x] - second[to])
        assert found[y, x] == pytest.approx(expected, nan_ok=True)


def test_the_truths_of_both_views_disagree_where_something_is_occluded_only():
    sample = make_scene("clutter", (120, 90))
    truth = sample.truth
    estimate = {"disparity": truth.disparity, "right_disparity": truth.right_disparity}
    found = dg.score(estimate, None, "self_consistency", quantity="disparity")
    occluded = 100 * np.mean(~truth.visible_mask)
    assert 0 < found["self_consistency@all"].value <= occluded + 1
    visible = dg.score(
        estimate, truth.disparity, "self_consistency@visible", quantity="disparity",
        items={"visible_mask": truth.visible_mask},
    )  # fmt: skip
    # Beside edges, the nearest pixel of the right view may be on the other side.
    limit = 0.5 * found["self_consistency@all"].value
    assert visible["self_consistency@visible"].value < limit


def test_missing_estimates_disagree_unless_they_are_skipped():
    estimate = {"disparity": [[1, np.nan, 1, 1]], "right_disparity": [[1, 1, 1, 1]]}
    kinds = [
        dg.score(estimate, None, "self_consistency", quantity="disparity", missing=rule)
        for rule in ("bad", "skip")
    ]
    found = [kind["self_consistency@all"] for kind in kinds]
    assert [f.value for f in found] == [pytest.approx(100 / 3), 0]
    assert (found[0].count, found[0].missing) == (2, 1)


def test_an_estimate_without_the_other_view_is_told_so():
    with pytest.raises(Exception, match="estimate_right_disparity"):
        dg.score([[1.0, 2.0]], None, "self_consistency", quantity="disparity")


def test_several_views_are_compared_pair_by_pair():
    sample = make_scene("slanted", (120, 90))
    truth = sample.truth
    maps = {(0.0, 0.0): truth.disparity, (1.0, 0.0): truth.right_disparity}
    right = self_consistency(maps)
    assert self_consistency({**maps, (1.0, 0.0): truth.right_disparity + 3}) > right + 50
    with pytest.raises(Misuse, match="two maps or more"):
        self_consistency({(0.0, 0.0): truth.disparity})


# --- nothing but the estimate and its image -----------------------------------------------------


@given(seed=seeds)
def test_clusters_are_a_local_optimum(seed):
    """Every row is in the cluster whose mean is nearest."""
    features = np.random.default_rng(seed).normal(size=(60, 2))
    labels = clusters(features, 4)
    means = {k: features[labels == k].mean(axis=0) for k in set(labels.tolist())}
    for row, label in zip(features, labels, strict=True):
        distances = {k: np.linalg.norm(row - mean) for k, mean in means.items()}
        assert distances[label] == pytest.approx(min(distances.values()), abs=1e-9)
    assert np.array_equal(labels, clusters(features, 4))


def test_separation_by_hand():
    """Two segments, 0 and 1: as different as possible, nothing varies; mixed: the reverse."""
    colours = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert separation(colours, np.array([0, 0, 1, 1])) == 1
    assert separation(colours, np.array([0, 1, 0, 1])) == 0.25
    assert separation(colours, np.array([0, 0, 0, 0])) == 0.25
    three = separation(np.array([[0.0], [0.5], [1.0]]), np.array([0, 1, 2]))
    assert three == pytest.approx((1 + (0.75 + 0.5 + 0.75) / 3) / 2)


def test_segments_of_a_right_map_explain_its_image_better_than_noise():
    image = np.zeros((40, 60, 3), np.uint8)
    image[:, 20:40], image[10:20] = (200, 30, 30), (20, 220, 60)
    depth = image.sum(axis=2).astype("f4")
    noise = np.random.default_rng(0).random((40, 60)).astype("f4")
    right, wrong = (
        scores(d, ["segment_consistency:3"], left_image=image)["segment_consistency:3"]
        for d in (depth, noise)
    )
    assert right == pytest.approx(1)
    assert wrong < 0.7
    with pytest.raises(BadScoreId, match="segments is 1 but at least 2"):
        scores(depth, ["segment_consistency:1"], left_image=image)


@given(seed=seeds)
def test_rough_gradients_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (6, 8)).astype("f4")
    values[rng.random((6, 8)) < 0.1] = np.nan
    rough = judged = known = 0
    for y in range(1, 5):
        for x in range(1, 7):
            dx = (values[y, x + 1] - values[y, x - 1]) / 2
            dy = (values[y + 1, x] - values[y - 1, x]) / 2
            judged += 1
            if np.isfinite(dx + dy + values[y, x]):
                known += 1
                rough += math.hypot(dx, dy) > 1
    found = scores(values, ["rough_gradients"])["rough_gradients"]
    assert found == pytest.approx(100 * (rough + judged - known) / judged)
    skipped = scores(values, ["rough_gradients"], "skip")["rough_gradients"]
    assert skipped == pytest.approx(100 * rough / known if known else math.nan, nan_ok=True)


def test_second_gradients_are_bends():
    values = np.random.default_rng(0).normal(0, 1, (9, 9)).astype("f4")
    assert np.array_equal(roughness(values, "second"), bend(values), equal_nan=True)
    y, x = np.mgrid[0:9, 0:9]
    plane = (2 * x + 3 * y).astype("f4")
    found = scores(plane, ["rough_gradients", "rough_gradients:second"])
    assert list(found.values()) == [100, 0]


@pytest.mark.parametrize("name", ["segment_consistency", "rough_gradients", *PREDICTIONS])
def test_no_truth_is_used(name):
    left, right, disparity = pair(3)
    m = METRICS[name]
    assert not m.uses_truth
    items = {"left_image": left, "right_image": right}
    truth = np.random.default_rng(1).random(disparity.shape).astype("f4")
    with_truth = dg.score(disparity, truth, name, items=items, check=False)
    alone = dg.score(disparity, None, name, items=items)
    assert with_truth[f"{name}@all"].value == alone[f"{name}@all"].value
