"""The step on a small world whose photographs moved by exact amounts."""

import numpy as np
import pytest
from tests.capture.register.drawn import (
    PATTERNS,
    begin,
    exact_calibration,
    session_of,
    write_photographs,
)

from depthgauge import io
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.photographs.movements import read_movements
from depthgauge.capture.rectify import read_pair, rectify
from depthgauge.capture.register import register
from depthgauge.capture.spacetime.step import spacetime
from depthgauge.errors import BadData

WIDTH = 200


@pytest.fixture
def place(world, tmp_path):
    """Writes a session with planted motions and returns it with its work folder."""

    def make(**planted):
        session = session_of(world, tmp_path / "session")
        write_photographs(session.folder, world.truth, **planted)
        begin(tmp_path / "work", exact_calibration(world.truth))
        return session, tmp_path / "work"

    return make


def motion_of(step, camera="L", what="scene_to_patterns"):
    found = step.figures["cameras"][camera][what]
    return found["right_px"], found["down_px"]


def test_nothing_moved(place):
    session, work = place()
    step = register(session, work)
    assert step.warnings == ()
    assert read_movements(work).moved == {
        f"{kind}/{camera}": {} for kind in ("pattern", "passive") for camera in "LRC"
    }
    assert not (work / "register/calibration.json").exists()
    for camera in "LR":
        assert step.figures["cameras"][camera]["groups_of_patterns"] == 1
        assert np.hypot(*motion_of(step, camera)) < 0.05
    assert np.hypot(*motion_of(step, "C", "im1")) < 0.05
    rows = step.figures["rows"]
    assert (rows["compared"], rows["corrected"]) == (True, False)
    assert abs(rows["median_px"]) < 0.02


def test_everything_moved_a_little(place):
    """The scene against the patterns, some patterns against the others, one photograph alone."""
    moved = {f"pattern/R/{t}": (-2.6, -2.3) for t in (4, 5)}
    session, work = place(moved={"pattern": (-3.0, -2.0), "passive/C/im1": (0.0, 0.8), **moved})
    step = register(session, work)
    for camera in "LR":
        assert motion_of(step, camera) == pytest.approx((-3.0, -2.0), abs=0.05)
    assert step.figures["cameras"]["L"]["groups_of_patterns"] == 1
    assert step.figures["cameras"]["R"]["groups_of_patterns"] == 2
    assert motion_of(step, "R", "patterns 4 to 5") == pytest.approx((0.4, -0.3), abs=0.05)
    assert motion_of(step, "C", "im1") == pytest.approx((0.0, 0.8), abs=0.06)

    said = "\n".join(step.warnings)
    assert len(step.warnings) == 4
    assert (
        "camera L moved between its photographs of the scene and those of the patterns by 3.0 px "
        "left and 2.0 px up (± 0.0"
    ) in said
    assert "camera R moved at the patterns 4 to 5, against the others, by 0." in said

    # Passive photographs of L agree with each other: only its patterns are brought back.
    moved = read_movements(work)
    assert moved.of("passive", "L", "im1") == ()
    (motion,) = moved.of("pattern", "R", "0")
    assert motion.kind == "shift"
    assert motion.numbers == pytest.approx((-3.0, -2.0), abs=0.05)
    assert len(moved.of("pattern", "R", "4")) == 2

    rectify(session, work)
    folder = work / "rectify" / "LC" / "C"
    first, second = (io.read_image(folder / f"im{k}.png").astype(float) for k in (0, 1))
    inner = (slice(20, -20), slice(20, -20))
    alike = np.corrcoef(first[inner].ravel(), second[inner].ravel())[0, 1]
    assert alike > 0.97  # they show the same positions again


def test_a_large_motion_is_refused(place):
    session, work = place(moved={"passive": (8.0, 5.0)}, scenes=1)
    with pytest.raises(BadData) as caught:
        register(session, work)
    said = str(caught.value)
    assert "camera L moved between its photographs of the scene and those of the patterns" in said
    assert "8.0 px left and 5.0 px up" in said
    assert "only 5 px are corrected" in said
    assert "take the photographs again" in said


@pytest.mark.long
@pytest.mark.parametrize("rows", [1.0, 0.3])
def test_right_patterns_in_another_row(place, rows):
    session, work = place(moved={"pattern/R": (0.0, rows)}, scenes=1)
    step = register(session, work)
    assert len(step.warnings) == 1
    assert motion_of(step, "R") == pytest.approx((0.0, rows), abs=0.04)
    assert not read_movements(work).moved["pattern/L"]
    assert not step.figures["rows"]["corrected"]
    assert abs(step.figures["rows"]["median_px"]) < 0.03


@pytest.mark.parametrize("rows", [1.0, pytest.param(0.3, marks=pytest.mark.long)])
def test_without_a_scene_the_calibration_is_corrected(place, rows):
    session, work = place(moved={"pattern/R": (0.0, rows)}, scenes=0)
    step = register(session, work)
    (said,) = step.warnings
    assert said.startswith("camera R moved against L since the calibration (its photographs shift")
    found = step.figures["rows"]
    assert found["corrected"]
    assert found["median_px"] == pytest.approx(rows, rel=0.06)
    rectify(session, work)
    assert read_pair(work, "LR").right.raw.centre_px[1] == pytest.approx(
        exact_calibration_row(session) + rows, abs=0.04
    )


def exact_calibration_row(session):
    from depthgauge.sessions import read_simulated

    return read_simulated(session.truth_folder).cameras["R"].centre_px[1]


@pytest.mark.long
def test_a_bump_of_the_whole_rig(place):
    moved = {f"pattern/{c}/{t}": (0.4, -0.3) for c in "LR" for t in (4, 5)}
    session, work = place(moved=moved)
    step = register(session, work)
    for camera in "LR":
        assert step.figures["cameras"][camera]["groups_of_patterns"] == 2
        assert motion_of(step, camera, "patterns 4 to 5") == pytest.approx((0.4, -0.3), abs=0.05)
        assert read_movements(work).of("pattern", camera, "3") == ()
        assert len(read_movements(work).of("pattern", camera, "4")) == 1


@pytest.mark.long
def test_labels_are_as_good_as_if_nothing_had_moved(place, world):
    moved = {"pattern/L": (-2.0, 1.5), "pattern/R": (-2.0, 0.5)}
    session, work = place(moved=moved, scenes=1)
    register(session, work)
    rectify(session, work)
    spacetime(session, work, disparities=(2.0, 24.0))
    exact = exact_truth(world.truth, read_pair(work, "LR"))
    found = io.read_map(work / "spacetime/left_disparity.npy")
    error = np.abs(found - exact.disparity)[exact.visible & np.isfinite(found)]
    assert np.median(error) < 0.06


@pytest.mark.long
def test_overexposed_patterns_are_named(place):
    session, work = place(gain=2.2, scenes=0)
    step = register(session, work)
    said = [w for w in step.warnings if "saturated" in w]
    assert len(said) == 2
    assert f"of {PATTERNS} patterns" in said[0]
    share = step.figures["exposure"]["L"]["saturated_most_share"]
    image = io.read_image(session.folder / "pattern/L/0.png")
    assert step.figures["exposure"]["L"]["saturated_median_share"] == pytest.approx(
        (image == 255).any(-1).mean(), abs=0.15
    )
    assert share > 0.05


def test_a_session_without_patterns_has_nothing_to_compare(place):
    session, work = place(scenes=1)
    for path in session.folder.glob("pattern/*/*.png"):
        path.unlink()
    step = register(session, work)
    assert step.figures["rows"] == {"compared": False}
    assert step.figures["rows_of_C"]["compared"]
    assert step.warnings == ()
