"""`make capture-session`: what it says, continues and refuses."""

from typing import get_args

import pytest

from depthgauge.synth.generators.capture_session import CaptureOptions

TINY = (
    *("--width", "160", "--poses", "1", "--patterns", "1", "--projectors", "1", "--no-passive"),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("made") / "session"


def test_a_session_is_made_continued_and_not_mixed(run, out):
    pytest.importorskip("embreex", reason="simulated sessions need Embree: depthgauge[render]")
    made = run("make", "capture-session", "--out", str(out), *TINY)
    assert made.code == 0, made.err
    assert made.out == f"{out}: kitchen-0, 160x117: 1 board view, 1 pattern.\n"
    (out / "pattern" / "R" / "000.png").unlink()
    again = run("make", "capture-session", "--out", str(out), *TINY, "--json")
    body = again.json()
    assert body["size_px"]["L"] == [160, 117]
    assert body["illuminations"] == 0
    assert (out / "pattern" / "R" / "000.png").is_file()
    other = run("make", "capture-session", "--out", str(out), *TINY, "--seed", "1")
    assert other.code == 1
    assert "seed 0 (asked for 1)" in other.err


@pytest.mark.parametrize(
    "bad", [("--scene", "attic"), ("--projectors", "7"), ("--width", "10"), ("--seed", "-1")]
)
def test_bad_options_are_misuse(run, tmp_path, bad):
    assert run("make", "capture-session", "--out", str(tmp_path / "s"), *bad).code == 2
    assert not (tmp_path / "s").exists()


def test_the_scenes_are_those_of_the_simulator():
    from depthgauge.synth.library.rooms import ROOMS

    assert get_args(CaptureOptions.model_fields["scene"].annotation) == tuple(ROOMS)
