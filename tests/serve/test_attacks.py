"""What attackers learn of hidden truth: much without the defences, little in a year with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from tools.evidence._attacks import ATTACKS
from tools.evidence.hidden_truth import SAMPLES, Target, make_attacker, one_map_gains

from depthgauge.benchmarks import make_protocol
from depthgauge.errors import Misuse
from depthgauge.serve.submissions import rounding
from depthgauge.serve.submissions.rounding import Rounding, coarse, usual_quota, usual_step
from depthgauge.types import Inputs, Sample

LEAST_GAIN = {"single pixel": 0.5, "NaN mask": 25, "bisection": 5, "regression": 25}
"""In percent, after 40 submissions to a site without defences."""


@pytest.fixture(scope="module")
def target():
    """Maps with errors that are smooth over a few pixels."""
    rng = np.random.default_rng(3)
    errors = [gaussian_filter(rng.normal(size=(48, 64)), 2.5) for _ in range(2 * SAMPLES)]
    errors = 0.5 * np.array(errors) / np.std(errors)
    y, x = np.mgrid[:48, :64]
    truth = np.broadcast_to(20 + 0.1 * x + 0.05 * y, (SAMPLES, 48, 64))
    return Target(truth, truth - errors[:SAMPLES], errors[SAMPLES:])


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_succeeds_without_defences_and_gains_little_in_a_year_with_them(target, name):
    attacker = make_attacker(target, defended=False)
    assert target.gain(ATTACKS[name](attacker, 40)) > LEAST_GAIN[name]
    attacker = make_attacker(target, defended=True)
    year = 12 * usual_quota(SAMPLES, hidden=True)
    assert target.gain(ATTACKS[name](attacker, year)) < 5


def test_one_pixel_is_read_to_the_digit_or_refused(target):
    found = ATTACKS["single pixel"](make_attacker(target, defended=False), 1)
    changed = found != target.guess
    assert changed.sum() == SAMPLES
    assert found[changed] == pytest.approx(target.truth[changed], abs=1e-4)
    maps = np.full_like(target.guess, np.nan)
    maps[:, 3, 3] = 20
    assert make_attacker(target, defended=True).ask(maps) is None


@pytest.mark.long
def test_a_year_for_one_map_gains_much_with_exact_scores_and_little_with_released_ones(target):
    year = 12 * usual_quota(SAMPLES, hidden=True)
    assert one_map_gains(target, year, defended=False).max() > 10
    assert one_map_gains(target, year, defended=True).mean(axis=-1).max() < 5


def test_one_attack_on_one_map(target, monkeypatch):
    """The small case of the one above: the attack that does best with exact scores."""
    from tools.evidence import hidden_truth

    monkeypatch.setattr(hidden_truth, "ONE_MAP_ATTACKS", hidden_truth.ONE_MAP_ATTACKS[-1:])
    exact = one_map_gains(target, 12, defended=False)
    monkeypatch.setattr(hidden_truth, "_SECRETS", 4)
    known = one_map_gains(target, 12, defended=True)
    assert exact.max() > 10
    assert known.mean(axis=-1).max() < 5


def test_the_usual_quota_grows_with_the_samples():
    assert [usual_quota(n, hidden=True) for n in (1, 12, 59, 60, 120, 299, 300, 5000)] == [
        *(1, 1, 1, 1, 2, 4, 5, 5)
    ]
    assert usual_quota(1, hidden=False) == 5


def test_a_year_of_answers_tells_the_same_of_one_of_many_samples():
    """The share of one sample in a score, over the deviation of the mean of a year's scores."""
    told = {
        1 / n / (usual_step(n, quota, scores) / np.sqrt(12 * quota * scores))
        for n in (12, 60, 1000)
        for quota in (1, 5)
        for scores in (1, 3)
    }
    assert max(told) == pytest.approx(min(told))


@given(
    value=st.floats(1e-6, 100),
    step=st.floats(0.001, 1 / 3),
    best=st.sampled_from([0.0, 100.0]),
    secret=st.text(max_size=5),
)
def test_a_coarse_value_is_a_neighbour_on_the_grid(value, step, best, secret):
    found = coarse(value, best, Rounding(step, secret), "x")
    assert found == coarse(value, best, Rounding(step, secret), "x")
    distance = abs(value - best)
    if distance == 0:
        assert found == value
        return
    if distance < 1e-5:  # near 100, floats are too coarse to ask for places on so fine a grid
        assert abs(found - value) <= distance
        return
    width = rounding.grid_width(step * distance)
    assert step * distance * (1 - 1e-9) <= width <= 2.5 * step * distance * (1 + 1e-9)
    assert abs(found - value) <= width * (1 + 1e-6)
    assert abs(found - best) / width == pytest.approx(round(abs(found - best) / width), abs=1e-5)
    assert 0 <= found <= 100 or best == 0


def test_rounding_is_right_on_average_and_unlike_for_other_secrets_and_values():
    for value in (0.31, 0.34, 0.399):
        found = [coarse(value, 0, Rounding(0.2, str(n)), "mae@all") for n in range(2000)]
        assert np.mean(found) == pytest.approx(value, abs=0.005)
    near = [coarse(0.35 + n * 1e-9, 0, Rounding(0.2, "one"), "mae@all") for n in range(400)]
    assert set(near) == {0.3, 0.4}
    assert 150 < near.count(0.3) < 250


def protocol(metric="mae", **hidden):
    body = {"id": "x", "version": 1, "dataset": "depthgauge", "quantity": "disparity"}
    body |= {"missing": "bad", "pool": "image", "scores": [{"metric": metric}], "hidden": hidden}
    return make_protocol(body, "x")


def samples(count):
    return [Sample(str(n), Inputs({}), None, scene=str(n // 2)) for n in range(count)]


def test_what_would_tell_too_much_is_refused_with_the_way_out():
    assert rounding.step_of(protocol(), samples(12), 1) == usual_step(12, 1)
    assert rounding.step_of(protocol(), samples(8), 1) < 1 / 3
    for said, found, count, quota in (
        ("7 samples, 1 times a month, can only", protocol(), 7, 1),
        ("12 samples, 5 times", protocol(), 12, 5),
        ("a single sample tells much", protocol(samples=True), 100, 1),
        ("has no best value", protocol("bias"), 100, 1),
    ):
        with pytest.raises(Misuse, match=f"{said}.*--digits"):
            rounding.step_of(found, samples(count), quota)
    assert rounding.step_of(protocol(digits=2, samples=True), samples(1), 5) is None
    by_scene = protocol().model_copy(update={"pool": "scene"})
    assert rounding.step_of(by_scene, samples(40), 1) == usual_step(20, 1)
