"""Chapter 6.1 of Honauer 2019: every statement of the text, each with a margin, and where the text
calls a score moderate but it is not.
"""

import functools

import numpy as np
import pytest

from depthgauge.metrics import METRICS
from depthgauge.synth.sets.systematic_cases import all_cases

ENTITIES = ("surfaces", "discontinuities", "structures")
NAMES = ("a0", "a1", "a2", "a3", "a4", "a5")


@functools.cache
def known_cases():
    return all_cases()


def items_of(cases):
    return {"quantity": "disparity", **cases.items}


def is_moderate(value, severe):
    """From a tenth to a half of what the text calls severe or high."""
    return 0.1 * severe <= value <= 0.5 * severe


@functools.cache
def measure(entity, name, **params):
    """The score of each estimate."""
    cases, m = known_cases()[entity], METRICS[name]
    bound = m.bind(params)
    needed = {need: items_of(cases)[need] for need in m.needs}
    states = {
        estimate: m.measure(values, cases.truth, None, **needed, **bound)
        for estimate, values in cases.estimates.items()
    }
    return {estimate: m.finish(state, "bad", **bound) for estimate, state in states.items()}


def error_map(entity, name, estimate, **params):
    cases, m = known_cases()[entity], METRICS[name]
    needed = {need: items_of(cases)[need] for need in m.needs}
    return m.error_map(cases.estimates[estimate], cases.truth, **needed, **m.bind(params))


def spread(scores):
    """The largest difference, relative to the smallest score."""
    return max(scores.values()) / min(scores.values()) - 1


def test_there_are_three_entities():
    assert tuple(known_cases()) == ENTITIES


@pytest.mark.parametrize("entity", ENTITIES)
def test_there_are_six_estimates_without_gaps(entity):
    cases = known_cases()[entity]
    assert tuple(cases.estimates) == tuple(cases.says) == NAMES
    for estimate in cases.estimates.values():
        assert estimate.dtype == np.float32
        assert estimate.shape == cases.truth.shape
        assert np.isfinite(estimate).all()


@pytest.mark.parametrize("entity", ENTITIES)
def test_they_are_the_same_each_time(entity):
    again = all_cases()[entity]
    for name in NAMES:
        assert np.array_equal(again.estimates[name], known_cases()[entity].estimates[name])


@pytest.mark.parametrize("entity", ENTITIES)
def test_rms_is_the_same_for_all_six(entity):
    """6.1.2, 6.1.3, 6.1.4: "RMS scores are identical"."""
    assert spread(measure(entity, "rms")) < 1e-4


@pytest.mark.parametrize("entity", ["discontinuities", "structures"])
def test_badpix_is_the_same_for_all_six(entity):
    """6.1.3, 6.1.4: "identical RMS and BadPix scores"."""
    assert spread(measure(entity, "badpix")) == 0


class TestContinuousSurfaces:
    """Section 6.1.2."""

    scene_angle = property(lambda self: measure("surfaces", "angular_error"))
    angle = property(lambda self: measure("surfaces", "surface_angle"))
    bumpiness = property(lambda self: measure("surfaces", "bumpiness"))
    smoothing = property(lambda self: measure("surfaces", "smoothing"))
    badpix = property(lambda self: measure("surfaces", "badpix"))
    away_from_the_fold = np.r_[2:97, 103:198]

    @pytest.mark.parametrize("name", ["angle", "scene_angle"])
    def test_angles_grow_from_the_fold_to_the_blocks_to_the_noise(self, name):
        """Equation 4.1 in the scene, and in the map without a camera."""
        angle = getattr(self, name)
        assert angle["a1"] > 5 * angle["a2"]
        assert angle["a5"] > 1.3 * angle["a1"]

    def test_a_surface_that_is_moved_has_no_angle(self):
        shown = error_map("surfaces", "surface_angle", "a3")
        assert np.nanmax(shown[2:-2, self.away_from_the_fold]) < 0.01

    def test_in_the_scene_a_moved_disparity_is_also_turned(self):
        """As the normals of equation 4.1 are those of depth: by a degree or two, everywhere."""
        shown = error_map("surfaces", "angular_error", "a3")[2:-2]
        left, right = shown[:, 2:97], shown[:, 103:198]
        assert 0.2 < left.min() <= left.max() < 4
        assert right.max() < 0.05

    def test_the_smoothed_surface_is_perfectly_smooth(self):
        assert self.bumpiness["a0"] < 1e-3

    @pytest.mark.parametrize("name", ["a2", "a3"])
    def test_only_the_fold_and_the_gap_are_bumpy(self, name):
        shown = error_map("surfaces", "bumpiness", name)
        assert np.nanmax(shown[2:-2, self.away_from_the_fold]) < 0.01
        assert np.nanmax(shown[2:-2, 97:103]) > 1

    def test_a_fold_and_a_gap_are_less_than_moderately_bumpy(self):
        """The text calls both moderate. At one RMS they are not, which the page says: the gap is
        one column of 200, and the fold of half an image bends little.
        """
        for name in ("a2", "a3"):
            assert self.bumpiness[name] < 0.01 * self.bumpiness["a5"]
            assert not is_moderate(self.bumpiness[name], self.bumpiness["a5"])
        gap, fold = (
            error_map("surfaces", "bumpiness", name)[2:-2, 99:101].mean() for name in ("a3", "a2")
        )
        # Where it is, the gap is as rough as the noise.
        assert 0.5 * self.bumpiness["a5"] < gap < self.bumpiness["a5"]
        assert fold < 0.01 * self.bumpiness["a5"]

    def test_noise_is_severely_bumpy(self):
        others = [self.bumpiness[name] for name in NAMES if name != "a5"]
        assert self.bumpiness["a5"] > 4 * max(others)

    @pytest.mark.parametrize("name", ["a2", "a3"])
    def test_smoothing_tolerates_a_tilt_and_an_offset(self, name):
        assert self.smoothing[name] < 0.01 * self.smoothing["a0"]

    @pytest.mark.parametrize("name", ["a0", "a1", "a5"])
    def test_a_lost_bump_is_smoothing(self, name):
        assert self.smoothing[name] > 20 * max(self.smoothing["a2"], self.smoothing["a3"])
        shown = error_map("surfaces", "smoothing", name)
        bump = np.zeros(shown.shape, bool)
        bump[110:191, 110:191] = True
        known = np.isfinite(shown)
        assert shown[known & bump].sum() > 0.99 * shown[known].sum()

    def test_blocks_are_smooth_within(self):
        """ "on the planar regions of the blocky result": the bump's bend is gone inside a block."""
        shown = error_map("surfaces", "smoothing", "a1")
        assert shown[142:158, 142:158].min() > 0

    def test_badpix_ranks_all_six_apart(self):
        found = sorted(self.badpix.values())
        assert min(np.diff(found)) > 1

    def test_an_offset_and_noise_have_the_worst_badpix(self):
        others = [self.badpix[name] for name in NAMES if name not in ("a3", "a5")]
        assert min(self.badpix["a3"], self.badpix["a5"]) > 1.25 * max(others)

    def test_bumps_have_the_best_badpix(self):
        others = [self.badpix[name] for name in NAMES if name not in ("a0", "a4")]
        assert max(self.badpix["a0"], self.badpix["a4"]) < 0.3 * min(others)

    def test_for_shading_the_offset_is_better_though_its_badpix_is_much_worse(self):
        assert self.badpix["a3"] > 1.5 * self.badpix["a2"]
        assert self.angle["a3"] < 0.6 * self.angle["a2"]
        assert self.scene_angle["a3"] < 0.75 * self.scene_angle["a2"]


class TestDiscontinuities:
    """Section 6.1.3."""

    fat = property(lambda self: measure("discontinuities", "foreground_fattening"))
    weighted = property(
        lambda self: measure("discontinuities", "foreground_fattening", weight="distance")
    )
    thin = property(lambda self: measure("discontinuities", "foreground_thinning"))

    @pytest.mark.parametrize("name", ["a2", "a3"])
    def test_half_of_the_background_is_fat(self, name):
        assert self.fat[name] == pytest.approx(50)

    def test_by_distance_what_reaches_farther_is_worse(self):
        assert self.weighted["a3"] > 1.5 * self.weighted["a2"]

    @pytest.mark.parametrize("name", ["a4", "a5"])
    def test_a_fuzzy_and_a_rotated_edge_are_moderately_fat(self, name):
        assert is_moderate(self.fat[name], self.fat["a2"])

    @pytest.mark.parametrize("name", ["a0", "a1"])
    def test_artifacts_and_thinning_are_not_fattening(self, name):
        assert self.fat[name] == 0
        assert self.weighted[name] == 0

    def test_an_artifact_behind_the_background_is_not_fattening(self):
        cases = known_cases()["discontinuities"]
        behind = cases.estimates["a0"] < cases.truth
        assert (behind & cases.items["edges"].background).sum() == 500
        assert (error_map("discontinuities", "foreground_fattening", "a0")[behind] == 0).all()

    def test_the_thin_edge_is_the_thinnest(self):
        assert self.thin["a1"] == pytest.approx(50)
        assert max(self.thin[name] for name in NAMES if name != "a1") < 0.7 * self.thin["a1"]

    def test_the_fuzzy_edge_is_thinner_than_it_is_fat(self):
        assert self.thin["a4"] > 1.2 * self.fat["a4"]

    def test_an_artifact_in_front_of_the_foreground_is_not_thinning(self):
        cases = known_cases()["discontinuities"]
        ahead = cases.estimates["a0"] > cases.truth
        assert (ahead & cases.items["edges"].foreground).sum() == 500
        assert (error_map("discontinuities", "foreground_thinning", "a0")[ahead] == 0).all()
        assert self.thin["a0"] == 0

    def test_edge_quality_sees_the_shape_that_the_others_do_not(self):
        """Beyond the thesis: fat and thin are clean, a lost half is worst, then fuzzy, rotated."""
        found = measure("discontinuities", "edge_quality")
        assert found["a0"] == found["a1"] == found["a2"] == 0
        assert 2 < found["a5"] < 0.5 * found["a4"]
        assert found["a3"] > 2 * found["a4"]


class TestFineStructures:
    """Section 6.1.4."""

    porosity = property(lambda self: measure("structures", "porosity"))
    fat = property(lambda self: measure("structures", "detail_fattening"))
    broken = property(lambda self: measure("structures", "fragmentation"))

    def lost(self, name):
        """How much of the bar is missing."""
        cases = known_cases()["structures"]
        wrong = cases.estimates[name] != cases.truth
        return int((wrong & cases.items["structures"].mask).sum())

    def test_both_thinner_bars_have_the_same_shape_and_size(self):
        cases = known_cases()["structures"]
        left, right = (cases.estimates[name] == 60 for name in ("a0", "a1"))
        assert left.sum() == right.sum()
        assert np.array_equal(left, np.roll(right, 2, axis=1))

    def test_missing_on_one_side_is_more_porous_than_on_both(self):
        assert self.porosity["a1"] > 1.2 * self.porosity["a0"]

    def test_tiny_holes_are_moderately_porous_and_missing_parts_highly(self):
        high = min(self.porosity["a2"], self.porosity["a3"])
        assert is_moderate(self.porosity["a4"], high)
        assert is_moderate(self.porosity["a5"], high)

    def test_more_is_missing_in_more_places_and_less_porous(self):
        assert self.lost("a3") > 1.1 * self.lost("a2")
        assert self.porosity["a3"] < 0.85 * self.porosity["a2"]

    def test_fattening_is_high_for_two_and_low_for_two(self):
        low = max(self.fat["a3"], self.fat["a4"])
        assert min(self.fat["a2"], self.fat["a5"]) > 2 * low
        assert min(self.fat["a3"], self.fat["a4"]) > 0

    def test_thinner_bars_are_not_fat(self):
        assert self.fat["a0"] == self.fat["a1"] == 0

    def test_thinner_bars_are_not_broken(self):
        assert self.broken["a0"] == self.broken["a1"] == 0

    def test_fragmentation_is_mild_for_two_and_severe_for_two(self):
        mild = max(self.broken["a2"], self.broken["a3"])
        assert min(self.broken["a2"], self.broken["a3"]) > 0
        assert min(self.broken["a4"], self.broken["a5"]) > 1.25 * mild
