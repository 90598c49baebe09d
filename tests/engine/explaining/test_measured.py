"""Many protocols from one reading of the maps: each value is that of the protocol by itself."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.explain.space import make_space
from depthgauge.analysis.explain.values import all_values
from depthgauge.engine.explaining.measured import Setting, measure_settings
from depthgauge.engine.explaining.source import (
    find_dataset,
    source_of_folders,
    source_of_maps,
)
from depthgauge.errors import BadData, Misuse, NothingScored


@pytest.fixture
def maps():
    rng = np.random.default_rng(1)
    truth = rng.uniform(5, 60, (24, 32)).astype(np.float32)
    truth[:2] = np.nan
    estimate = (truth + rng.normal(0, 2, truth.shape)).astype(np.float32)
    estimate[rng.random(truth.shape) < 0.1] = np.nan
    return estimate, truth


KEYS = ("missing", "align", "estimate_resize", "crop")


def test_every_value_is_that_of_score(maps):
    """All protocols of the space against `dg.score`, which measures each by itself."""
    estimate, truth = maps
    source = source_of_maps(estimate, truth, quantity="disparity")
    space = make_space(source)
    measured = measure_settings(source, space.ids, space.settings)["estimate"]
    seen = 0
    for found in all_values(measured, space, "disparity"):
        if found.shown or "quantile" in found.score:
            continue
        keys = {**found.setting.keys, "missing": found.missing}
        own = {name: keys.pop(name) for name in KEYS if name in keys}
        scores = dg.score(
            estimate, truth, found.score, quantity="disparity", check=False, protocol=keys, **own
        )
        assert scores[found.score].value == pytest.approx(found.value, rel=1e-12)
        seen += 1
    assert seen > 150


def test_a_setting_that_does_not_fit_is_named_and_the_others_stand(maps):
    estimate, truth = maps
    source = source_of_maps(estimate, truth, quantity="disparity")
    settings = [Setting(""), Setting("half", {"truth_scale": 0.5})]
    found = measure_settings(source, ["mae@all"], settings)["estimate"]
    assert list(found.failed) == [1]
    assert "32" in found.failed[1]
    assert found.missing == int((np.isnan(estimate) & np.isfinite(truth)).sum())
    with pytest.raises(NothingScored, match="no protocol can be tried"):
        measure_settings(source, ["mae@all"], settings[1:])


def test_a_missing_estimate_counts_as_one_without_a_pixel(tmp_path, maps):
    estimate, truth = maps
    for name in ("truth", "mine"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        dg.write_map(tmp_path / "truth" / f"{name}.pfm", truth)
    dg.write_map(tmp_path / "mine" / "a.pfm", estimate)
    source = source_of_folders(tmp_path / "truth", {"mine": tmp_path / "mine"}, only=["a", "b"])
    found = measure_settings(source, ["badpix:2@all"], [Setting("")])["mine"]
    assert found.scores[0]["b"]["badpix:2@all"].value == 100
    assert [sample.id for sample in source.samples] == ["a", "b"]


def test_layouts_are_found_and_what_does_not_fit_is_said(tmp_path):
    with pytest.raises(BadData, match="no layout fits; name it with --dataset"):
        find_dataset(tmp_path)
    with pytest.raises(Misuse, match="one value a pixel, not for planes"):
        source_of_maps(np.zeros((2, 2)), np.zeros((2, 2)), quantity="planes")
