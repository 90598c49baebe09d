"""The audit's first line: whether error bars were checked on sessions like this one."""

import json
from types import SimpleNamespace

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


@pytest.mark.parametrize(
    ("width_px", "patterns", "balanced", "unbalanced"),
    [
        (320, 8, "class 1 up to 640", "over all 27; class 1 up to 640"),
        (320, 2, "class 1 up to 640", "over all 27; class 1 up to 640; with two patterns"),
        (640, 8, "class 1 up to 640", "over all 27; class 1 up to 640; in 2 of 3"),
        (2056, 8, "class 3 in the 8", "over all 27; over the 8 largest; class 2 in the 8"),
    ],
)
def test_where_the_goal_was_missed_is_said(
    work, monkeypatch, width_px, patterns, balanced, unbalanced
):
    """One sentence for each pair, with all cells that sessions like this one belong to."""
    size(monkeypatch, width_px)
    matched(work, patterns)
    found = bar_promise(work, simulated=True)
    assert found.outside == ()
    for pair, cells, said in zip(
        ("balanced", "unbalanced"), (balanced, unbalanced), found.except_for, strict=True
    ):
        assert said.startswith(f"error bars of the {pair} pair are too large ")
        assert said.count(" %)") == len(cells.split("; "))
        assert all(cell in said for cell in cells.split("; "))
    assert found.statement.endswith("; ".join(("", *found.except_for)))
    assert found.to_json()["except_for"] == list(found.except_for)


def test_the_sentence_lists_cells_with_their_shares(work, monkeypatch):
    size(monkeypatch, 1000)
    assert bar_promise(work, simulated=True).except_for == (
        "error bars of the balanced pair are too large "
        "for class 3 in the 8 largest sessions (76 and 97 %)",
        "error bars of the unbalanced pair are too large over all 27 sessions (71 and 96 %), "
        "over the 8 largest (72 and 96 %) and for class 2 in the 8 largest (79 and 99 %)",
    )


def test_without_an_unbalanced_pair_nothing_is_said_of_it(work, monkeypatch):
    size(monkeypatch, 320)
    (work / "rectify" / "LC.json").unlink()
    found = bar_promise(work, simulated=True)
    assert len(found.except_for) == 1
    assert "unbalanced" not in found.statement


def size(monkeypatch, width_px):
    """Images are of this width."""
    camera = SimpleNamespace(size_px=(width_px, width_px))
    pair = SimpleNamespace(left=SimpleNamespace(camera=camera))
    monkeypatch.setattr(promises, "read_pair", lambda _work, _cameras: pair)
    monkeypatch.setattr(promises, "WIDTHS_PX", (320, 2056))


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
