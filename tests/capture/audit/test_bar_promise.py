"""The audit's first line: whether error bars were checked on sessions like this one."""

import json

import numpy as np
import pytest

from depthgauge.capture.audit import bar_promise as promises
from depthgauge.capture.audit.bar_promise import bar_promise
from depthgauge.capture.calibrate.calibration import FILE, Calibration, Covariance, Pose, with_poses
from depthgauge.capture.steps import StepOutput, do_step


@pytest.fixture
def work(world, tmp_path, monkeypatch):
    """A work folder like those that were checked, but for its small images."""
    monkeypatch.setattr(promises, "WIDTHS_PX", (200, 640))
    world.begin(tmp_path)
    calibrated(tmp_path, world)
    matched(tmp_path)
    return tmp_path


def calibrated(work, world, rms_px=0.02, covariance=True):
    pairs = {"LR": Pose(np.eye(3), np.array([-0.08, 0.0, 0.0]), rms_px)}
    cameras = {name: world.truth.cameras[name] for name in "LR"}
    known = Covariance(("L fx",), np.eye(1)) if covariance else None
    found = Calibration(with_poses(cameras, pairs), pairs, known)

    def make(folder):
        (folder / FILE).write_text(json.dumps(found.to_json()))
        return StepOutput({})

    do_step(work, "calibrate", make, revision=1, options={}, again=True)


def matched(work, patterns=8, **changed):
    record = {"used": [f"{n:03}" for n in range(patterns)], "engine": "classical", "scale": 1.0}

    def make(folder):
        (folder / "patterns.json").write_text(json.dumps({**record, **changed}))
        return StepOutput({})

    do_step(work, "spacetime", make, revision=1, options={}, again=True)


def test_what_was_checked_is_promised(work):
    found = bar_promise(work, simulated=True)
    assert found.outside == ()
    assert "were checked on other simulated sessions" in found.statement
    assert "in the unbalanced pair over many sessions" in found.statement
    assert "never on photographs" in bar_promise(work, simulated=False).statement


def test_where_the_goal_was_missed_is_said(work, monkeypatch):
    (small,) = bar_promise(work, simulated=True).except_for
    assert small == "up to 640 px, those of class 1 are too large (75 and 97 %)"
    monkeypatch.setattr(promises, "SMALL_PX", 100)
    (wide,) = bar_promise(work, simulated=True).except_for
    assert wide == "above 100 px, those of class 3 are too large (76 and 97 %)"
    matched(work, patterns=2)
    found = bar_promise(work, simulated=True)
    _, few = found.except_for
    assert "with two patterns, those of the unbalanced pair are too large" in few
    assert found.outside == ()
    assert found.statement.endswith(f"; {wide}; {few}")
    assert found.to_json()["except_for"] == [wide, few]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"patterns": 1}, "matched patterns is 1 (checked: 2 to 50)"),
        ({"patterns": 100}, "matched patterns is 100"),
        ({"engine": "mine"}, "the engine was mine"),
        ({"scale": 0.25}, "at a scale of 0.25 (checked: 0.5 and 1)"),
    ],
)
def test_other_ways_of_matching_are_said(work, changed, said):
    matched(work, **changed)
    found = bar_promise(work, simulated=True)
    assert len(found.outside) == 1
    assert said in found.outside[0]
    assert found.statement.startswith(f"the error bars cannot be promised: {found.outside[0]}")
    assert found.to_json()["outside"] == list(found.outside)


def test_a_worse_calibration_is_said(work, world):
    calibrated(work, world, rms_px=0.18)
    assert "boards fit to 0.18 px only" in bar_promise(work, simulated=False).outside[0]
    calibrated(work, world, covariance=False)
    assert "no covariance" in bar_promise(work, simulated=False).outside[0]


def test_images_of_another_size_are_said(work, monkeypatch):
    monkeypatch.setattr(promises, "WIDTHS_PX", (320, 640))
    said = bar_promise(work, simulated=True).outside
    assert said == ("images are 200 px wide (checked: 320 to 640 px)",)


def test_unknown_matching_and_calibration_are_said(world, tmp_path):
    world.begin(tmp_path)
    said = bar_promise(tmp_path, simulated=True).outside
    assert "the patterns that were matched are not known" in said
    assert "the calibration is not known" in said
