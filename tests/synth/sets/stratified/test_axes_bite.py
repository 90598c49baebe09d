"""Axes take methods from success to failure; docs/evidence/stratified-axes.json has all of them."""

import numpy as np
import pytest

from depthgauge.methods import find_method
from depthgauge.synth.sets.stratified import make_pair, make_scene

AXES = {"slant": "slant_bins_labels", "repetition": "repetition_bins_labels"}


def failures(method, sample, labels, limit, region=True):
    """Percentage of wrong or missing pixels of each bin."""
    estimate = find_method(method).estimate(sample.inputs.fresh(), "disparity").values
    wrong = ~(np.abs(estimate - sample.truth.disparity) <= limit)
    inner = np.zeros(wrong.shape, bool)
    inner[8:-8, 8:-8] = True
    bins = np.where(inner & region, sample.truth[labels], 0)
    return [100 * wrong[bins == k].mean() for k in range(1, int(bins.max()) + 1)]


@pytest.mark.parametrize("name", AXES)
def test_sgbm_goes_from_success_to_failure(name):
    pair = make_pair(name, size_px=256, seed=7)
    found = failures("sgbm", pair, AXES[name], 1.0, pair.truth.visible_mask)
    assert found[0] < 5
    assert found[-1] > 60
    assert max(found[:3]) < min(found[-2:])


@pytest.mark.long
@pytest.mark.parametrize("method", ["lf-epi", "lf-cost-volume"])
@pytest.mark.parametrize("name", AXES)
def test_light_field_methods_do_so_too(name, method):
    sample = make_scene(name, size_px=256, scale=1, seed=7)
    found = failures(method, sample, AXES[name], 0.07)
    assert found[0] < 5
    assert found[-1] > 60
