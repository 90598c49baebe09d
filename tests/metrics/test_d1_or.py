"""`d1_or`: the misread D1, against plain NumPy and beside `d1`."""

import math

import numpy as np
import pytest

import depthgauge as dg

NAN = math.nan


def reference_d1_or(x, g, e, missing, threshold=3.0, share=0.05):
    wrong = (np.abs(e) > threshold) | (np.abs(e) > share * np.abs(g))
    n = x.size + missing
    return 100 * (int(wrong.sum()) + missing) / n if n else NAN


def value(name, estimate, truth):
    found = dg.score(estimate, truth, name, quantity="disparity", check=False)
    return next(iter(found.values())).value


def test_numbers_by_hand():
    # 2 px of 10 px are 20 %; 4 px of 100 px are more than 3 px; 1 px of 100 px is neither.
    assert value("d1_or", [[12, 104, 101, 50]], [[10, 100, 100, 50]]) == 50
    assert value("d1", [[12, 104, 101, 50]], [[10, 100, 100, 50]]) == 0
    assert value("d1_or", [[NAN, 100]], [[100, 100]]) == 50
    assert value("d1_or:1,0.5", [[12, 104]], [[10, 100]]) == 100


@pytest.mark.parametrize("seed", range(20))
def test_or_is_never_less_than_and_nor_than_either(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 100, (1, 30)).astype(np.float32)
    estimate = truth + rng.normal(0, 4, truth.shape).astype(np.float32)
    either = value("d1_or", estimate, truth)
    assert either >= value("d1", estimate, truth)
    assert either >= value("badpix:3", estimate, truth)
