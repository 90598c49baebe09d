"""`depthgauge capture` end to end on a small simulated session, and what it says of bad input."""

import json
import shutil

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.steps import STEPS


@pytest.fixture
def copied(labelled_session, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(labelled_session, tmp_path / "session")


def test_the_labels_of_the_whole_pipeline_are_right(labelled_session):
    audit = json.loads((labelled_session / "work" / "audit" / "audit.json").read_text())
    true = audit["simulated"]["final"]
    # At 320 px and with 6 patterns; `make evidence` measures real sizes.
    assert true["mean_abs_px"] < 0.12
    assert true["median_abs_px"] < 0.02
    assert true["bad_2_percent"] < 1.5
    assert true["kept_percent"] > 97
    assert audit["planes"]["mean_residual_px"] < 0.06
    assert audit["simulated"]["unbalanced"]["median_abs_px"] < 0.05


def test_run_skips_what_is_done(run, labelled_session):
    body = run("capture", "run", labelled_session, "--json").json()
    assert [step["step"] for step in body["steps"]] == list(STEPS)
    assert not any(step["fresh"] for step in body["steps"])


def test_a_step_with_other_options_makes_those_after_it_old(run, copied):
    assert run("capture", "clean", copied, "--no-filter", "--json").json()["fresh"]
    assert run("capture", "check", copied, "--json").json()["fresh"]
    # With the default options again, what was made from them before is not valid any more.
    steps = run("capture", "run", copied, "--json").json()["steps"]
    assert [step["step"] for step in steps if step["fresh"]] == ["clean", "check"]


def test_the_page_has_every_step_with_its_picture(labelled_session):
    page = (labelled_session / "work" / "index.html").read_text()
    assert page.count("data:image/png;base64,") == len(STEPS)
    for step in STEPS:
        assert f'<section id="{step}"' in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_exported_labels_are_scored(run, labelled_session, tmp_path):
    for kind in ((), ("--exact",)):
        out = tmp_path / ("exact" if kind else "labels")
        body = run("capture", "export", labelled_session, "--out", out, *kind, "--json").json()
        assert body["setups"] == ["balanced", "unbalanced"]
        assert body["images"] == 2
    scores = []
    for name in ("labels", "exact"):
        target = tmp_path / f"{name}-run"
        call = ("run", "booster-balanced@train", "--data", tmp_path / name, "-m", "sgbm")
        ran = run(*call, "--out", target, "--workers", "0", "--json")
        assert ran.code == 0, ran.err
        scores.append(ran.json()["methods"]["sgbm"]["results"][0]["summary"]["badpix:2@visible"])
    assert scores[0] == pytest.approx(scores[1], abs=3.0)


def test_a_scene_that_is_there_is_not_replaced(run, labelled_session, tmp_path):
    assert run("capture", "export", labelled_session, "--out", tmp_path).code == 0
    ran = run("capture", "export", labelled_session, "--out", tmp_path)
    assert ran.code == 1
    assert ran.err.count("\n") == 1


def test_a_folder_that_is_no_session_is_one_sentence(run, tmp_path):
    ran = run("capture", "calibrate", tmp_path)
    assert ran.code == 1
    assert ran.err.startswith("error: ")
    assert "session.json" in ran.err


def test_steps_say_what_comes_before_them(run, capture_session, tmp_path):
    ran = run("capture", "rectify", capture_session, "--work", tmp_path / "work")
    assert ran.code == 1
    assert "depthgauge capture calibrate" in ran.err


def test_a_projector_that_failed_is_named_and_the_rest_goes_on(run, copied):
    for camera in ("L", "R"):
        path = copied / "pattern" / camera / "002.png"
        io.write_image(path, np.zeros_like(io.read_image(path)))
    ran = run("capture", "spacetime", copied, "--json")
    assert ran.code == 0
    assert list(ran.json()["figures"]["dropped"]) == ["002"]
    assert any("002" in text for text in ran.json()["warnings"])


def test_swapped_cameras_are_one_sentence(run, copied, tmp_path):
    folder = copied / "calibration"
    (folder / "L").rename(tmp_path / "L")
    (folder / "R").rename(folder / "L")
    (tmp_path / "L").rename(folder / "R")
    ran = run("capture", "calibrate", copied)
    assert ran.code == 1
    assert "swapped" in ran.err
    assert ran.err.count("\n") == 1


def test_removal_by_hand(run, copied, tmp_path):
    from depthgauge.capture.by_hand import read_by_hand

    file = tmp_path / "hand.json"
    polygon = {"view": "left", "points_px": [[100, 60], [140, 60], [140, 100], [100, 100]]}
    file.write_text(json.dumps({"schema": 1, "polygons": [polygon]}))
    read_by_hand(file)
    body = run("capture", "clean", copied, "--by-hand", file, "--json").json()
    assert body["figures"]["left"]["removed"]["by hand"] > 1000
    removed = io.read_labels(copied / "work" / "clean" / "left_removed.png")
    assert (removed[70:90, 110:130] != 0).all()
