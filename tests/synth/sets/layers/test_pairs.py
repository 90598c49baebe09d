"""Written pairs: what is in them, and that their maps agree with each other and the pictures."""

import numpy as np
import pytest

from depthgauge.datasets import DATASETS
from depthgauge.datasets.layered import MAPS, NONE, VALID


@pytest.fixture(scope="module")
def pairs(layered_pairs):
    return list(DATASETS["layered"].samples(layered_pairs))


def test_a_pair_has_pictures_of_two_cameras_at_two_times_and_all_maps(pairs):
    assert [pair.id for pair in pairs] == ["00000", "00001"]
    for pair in pairs:
        images = [pair.inputs[n] for n in ("left_image", "right_image", "second_image")]
        assert {image.shape for image in images} == {(72, 96, 3)}
        assert all(20 < image.mean() < 235 for image in images)
        assert set(MAPS) <= set(pair.truth)
        assert pair.truth.layered_flow.shape == (4, 72, 96, 2)


def test_known_values_are_those_of_valid_points(pairs):
    for pair in pairs:
        t = pair.truth
        np.testing.assert_array_equal(np.isfinite(t.layered_flow[..., 0]), t.flow_state == VALID)
        assert ((t.flow_state == NONE) == np.isnan(t.layered_depth)).all()
        assert ((t.layer_material == 255) == np.isnan(t.layered_depth)).all()
        stored = np.isfinite(t.layered_depth).sum(axis=0)
        np.testing.assert_array_equal(stored, np.minimum(t.layer_count, 4))


def test_layers_are_one_behind_the_other(pairs):
    for pair in pairs:
        depth = pair.truth.layered_depth
        with np.errstate(invalid="ignore"):
            behind = np.diff(depth, axis=0) > -1e-6
        assert behind[np.isfinite(np.diff(depth, axis=0))].mean() > 0.98


def test_the_first_layer_is_seen_straight(pairs):
    """Nothing bends its rays: disparity is focal length times baseline over depth."""
    for pair in pairs:
        rig, t = pair.inputs.rig, pair.truth
        wanted = rig.cameras["left"].focal_px[0] * rig.baseline_m / t.layered_depth[0]
        known = np.isfinite(t.layered_disparity[0])
        assert known.mean() > 0.6
        np.testing.assert_allclose(t.layered_disparity[0][known], wanted[known], atol=2e-3)
        assert np.nanmax(t.refraction_px[0]) < 1e-3
        low, high = pair.inputs.disparity_range
        assert low <= np.nanmin(t.layered_disparity)
        assert np.nanmax(t.layered_disparity) <= high


def test_what_stands_still_has_no_scene_flow_and_something_moves(pairs):
    for pair in pairs:
        length = np.linalg.norm(pair.truth.layered_scene_flow[0], axis=-1)
        assert np.mean(length < 1e-6) > 0.5
        assert np.nanmax(length) > 0.005


def at(map_, points):
    x, y = np.rint(points).astype(int).T
    return map_[y, x]


def test_flow_there_and_back_ends_where_it_began(pairs):
    for pair in pairs:
        there, back = pair.truth.layered_flow[0], pair.truth.layered_flow_backward[0]
        y, x = np.nonzero(np.isfinite(there[..., 0]))
        here = np.stack([x, y], axis=-1)
        end = here + there[y, x]
        inside = (np.rint(end) >= 0).all(axis=1) & (np.rint(end) <= [95, 71]).all(axis=1)
        home = end[inside] + at(back, end[inside]) - here[inside]
        # The way back is that of the nearest pixel, half a pixel off at most.
        assert np.nanmedian(np.abs(home)) < 0.15


def test_pictures_follow_the_flow(pairs):
    """What is neither glass nor metal looks alike at both ends of its flow."""
    for pair in pairs:
        first, second = (pair.inputs[n].astype(float) for n in ("left_image", "second_image"))
        flow, t = pair.truth.layered_flow[0], pair.truth
        plain = np.isfinite(flow[..., 0]) & (t.layer_material[0] == 0)
        y, x = np.nonzero(plain)
        end = np.stack([x, y], axis=-1) + flow[y, x]
        inside = (np.rint(end) >= 0).all(axis=1) & (np.rint(end) <= [95, 71]).all(axis=1)
        x, y, end = x[inside], y[inside], end[inside]
        moved = np.abs(at(second, end) - first[y, x]).mean()
        stayed = np.abs(second[y, x] - first[y, x]).mean()
        assert moved < 0.75 * stayed
        assert moved < 14
