"""What attackers learn of hidden truth: much without the defences, little in a year with them."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from tools.evidence._attacks import ATTACKS
from tools.evidence.hidden_truth import SAMPLES, Target, make_attacker

from depthgauge.serve.submissions.registry import usual_quota

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


def test_the_usual_quota_grows_with_the_samples_and_not_beyond_a_year_of_answers():
    for samples in range(12, 500):
        assert 12 * usual_quota(samples, hidden=True) <= samples
    assert usual_quota(1, hidden=True) == 1
    assert usual_quota(1, hidden=False) == 5
