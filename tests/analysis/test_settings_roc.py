"""Errors against density: over the settings of a method, and by confidence."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.analysis.confidence_curves import confidence_curves
from depthgauge.analysis.settings_roc import Setting, roc_curve, settings_roc
from depthgauge.benchmarks import make_protocol
from depthgauge.errors import Misuse
from depthgauge.metrics import METRICS
from depthgauge.report.charts.roc import roc_chart
from depthgauge.types import Score

NAN = float("nan")
settings = st.lists(
    st.builds(Setting, st.just("x"), st.integers(0, 100), st.integers(0, 100)), min_size=1
)


@given(settings)
def test_the_front_and_its_area_are_those_of_a_scan(points):
    curve = roc_curve(points)
    for p in points:
        beaten = any(q.sparsity <= p.sparsity and q.error <= p.error and q != p for q in points)
        assert beaten or p in curve.front
    for first, second in zip(curve.front, curve.front[1:], strict=False):
        assert first.sparsity < second.sparsity
        assert first.error > second.error
    # Between whole sparsities the least error does not change.
    least = [min((p.error for p in points if p.sparsity <= s), default=100) for s in range(100)]
    assert curve.area == pytest.approx(np.mean(least))


@given(settings, settings)
def test_more_settings_never_make_the_area_larger(first, second):
    assert roc_curve([*first, *second]).area <= roc_curve(first).area + 1e-9


def run_of(build, errors, methods):
    run = build.from_errors({label: {"s": e, "t": e} for label, e in errors.items()})
    entrants = tuple(replace(e, method=methods[e.label]) for e in run.entrants)
    return replace(run, entrants=entrants)


def test_settings_of_one_method_are_one_curve(build):
    errors = {
        "dense": np.array([0, 0, 5, 5.0]),
        "sparse": np.array([0, 0, 5, NAN]),
        "sparser": np.array([0, 0, NAN, NAN]),
        "other": np.array([5, 5, 5, 5.0]),
    }
    methods = dict.fromkeys(errors, "bm") | {"other": "plane"}
    found = settings_roc(run_of(build, errors, methods))
    assert list(found.curves) == ["bm"]
    points = {s.label: (s.sparsity, s.error) for s in found.curves["bm"].settings}
    assert points["dense"] == (0, 50)
    assert points["sparse"] == (25, pytest.approx(100 / 3))
    assert points["sparser"] == (50, 0)
    assert found.curves["bm"].area == pytest.approx((25 * 50 + 25 * 100 / 3) / 100)
    assert len(found.boundary.settings) == 4
    assert found.threshold == 1
    assert found.to_json()["curves"]["bm"]["area"] == found.curves["bm"].area
    chart = str(roc_chart(found))
    assert "bm, area 20.8 %" in chart
    assert chart.count('class="mark s0') == 4  # three settings and the legend


def test_one_setting_each_is_no_curve_and_folders_are_methods(build):
    errors = {"a": np.array([0.0, 5]), "b": np.array([0.0, NAN])}
    assert settings_roc(run_of(build, errors, {"a": "bm", "b": "sgbm"})) is None
    assert settings_roc(run_of(build, errors, {"a": "folder", "b": "folder"})) is None


def test_a_threshold_that_was_not_counted_is_refused(build):
    run = run_of(build, {"a": np.array([0.0]), "b": np.array([9.0])}, {"a": "bm", "b": "bm"})
    with pytest.raises(Misuse, match=r"errors were not counted at 0\.9"):
        settings_roc(run, 0.9)
    assert settings_roc(run, 10.0).curves["bm"].front[0].error == 0


def test_a_setting_without_any_estimate_is_wrong(build):
    errors = {"a": np.array([NAN, NAN]), "b": np.array([0.0, 5])}
    found = settings_roc(run_of(build, errors, {"a": "bm", "b": "bm"}))
    assert {(s.sparsity, s.error) for s in found.boundary.settings} == {(100, 100), (0, 50)}


def test_confidence_curves_are_means_over_samples(build):
    body = {
        "id": "trial", "version": 1, "dataset": "none", "quantity": "disparity", "pool": "image",
        "scores": [{"metric": "ause"}, {"metric": "aurg"}, {"metric": "density_auc"}],
    }  # fmt: skip
    protocol = make_protocol(body, "a test")
    truth = np.zeros((1, 4), np.float32)
    maps = np.float32([[[0, 2, 4, 8]], [[1, 1, 1, 1]]])
    sure = np.float32([[4, 3, 2, 1]])

    def scores(estimate):
        found = {}
        for spec in protocol.specs:
            needs = {"estimate_confidence": sure, **spec.params}
            state = METRICS[spec.metric.name].measure(estimate, truth, None, **needs)
            found[spec.id] = Score(spec.metric.finish(state, **spec.params), 4, 0, state=state)
        return found

    run = build.assemble(protocol, {("a", 0): {"s": scores(maps[0]), "t": scores(maps[1])}}, {})
    errors, bad = confidence_curves(run)  # ause and aurg have the same curves
    assert (errors.what, errors.unit, bad.unit) == ("mae", "px", "%")
    assert bad.what == "pixels off by more than 1 px"
    assert errors.densities[-1] == 100
    assert errors.curves["a"].error[-1] == pytest.approx((3.5 + 1) / 2)
    assert errors.curves["a"].error[0] == pytest.approx((0 + 1) / 2)
    assert errors.curves["a"].best == errors.curves["a"].error
    assert bad.curves["a"].error[-1] == pytest.approx((75 + 0) / 2)


def test_other_runs_have_no_confidence(build):
    assert confidence_curves(build.from_errors({"a": {"s": np.array([1.0])}})) == ()
