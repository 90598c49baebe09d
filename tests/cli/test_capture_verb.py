"""`depthgauge capture` end to end on a small simulated session, and what it says of bad input."""

import json
import shutil

import numpy as np
import pytest

from depthgauge import io
from depthgauge.datasets import booster
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

STEPS = (
    "calibrate",
    "register",
    "rectify",
    "spacetime",
    "refine",
    "clean",
    "check",
    "warp",
    "audit",
)


@pytest.fixture
def copied(labelled_session, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(labelled_session, tmp_path / "session")


def test_the_labels_of_the_whole_pipeline_are_right(labelled_session):
    audit = json.loads((labelled_session / "work" / "audit" / "audit.json").read_text())
    true = audit["simulated"]["final"]
    # At 320 px and with 6 patterns; `make evidence` measures real sizes.
    assert true["mean_abs_px"] < 0.06
    assert true["median_abs_px"] < 0.02
    assert true["bad_2_percent"] < 0.5
    # What is thinner than the windows is not labelled.
    assert true["kept_percent"] > 91
    assert audit["planes"]["mean_residual_px"] < 0.06
    assert audit["simulated"]["unbalanced"]["median_abs_px"] < 0.05


def test_run_skips_what_is_done(run, labelled_session):
    body = run("capture", "run", labelled_session, "--json").json()
    assert [step["step"] for step in body["steps"]] == list(STEPS)
    assert not any(step["fresh"] for step in body["steps"])


@pytest.mark.long
def test_what_a_step_was_told_holds_for_all_steps_too(run, copied):
    assert run("capture", "clean", copied, "--filter", "none", "--json").json()["fresh"]
    steps = run("capture", "run", copied, "--until", "check", "--json").json()["steps"]
    assert [step["step"] for step in steps if step["fresh"]] == ["check"]
    steps = run("capture", "run", copied, "--until", "check", "--defaults", "--json").json()
    assert [step["step"] for step in steps["steps"] if step["fresh"]] == ["clean", "check"]


def test_the_page_has_every_step_with_its_picture(labelled_session):
    page = (labelled_session / "work" / "index.html").read_text()
    assert page.count("data:image/png;base64,") == len(STEPS)
    for step in STEPS:
        assert f'<section id="{step}"' in page
    assert "://" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


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


@pytest.mark.long
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
    from depthgauge.capture.clean.manual_edits import read_manual_edits

    file = tmp_path / "hand.json"
    polygon = {"view": "left", "points_px": [[100, 60], [140, 60], [140, 100], [100, 100]]}
    file.write_text(json.dumps({"schema": 1, "polygons": [polygon]}))
    read_manual_edits(file)
    body = run("capture", "clean", copied, "--by-hand", file, "--json").json()
    assert body["figures"]["left"]["removed"]["by hand"] > 1000
    removed = io.read_labels(copied / "work" / "clean" / "left_removed.png")
    assert (removed[70:90, 110:130] != 0).all()


@pytest.mark.long
def test_every_limit_of_clean_can_be_said(run, copied):
    published = {"filter": "plain", "window_px": 35, "filter_sigma_px": 5, "filter_distance_px": 50}
    limits = {"sigma_px": 0.5, "confidence": 0.6, "doubtful": 0.9, "left_right_px": 1.25}
    told = {**published, **limits, "isolated_px": 30}
    words = [w for name, value in told.items() for w in (f"--{name.replace('_', '-')}", value)]
    body = run("capture", "clean", copied, *words, "--json").json()
    record = json.loads((copied / "work" / "clean" / "step.json").read_text())
    assert record["options"] == {**told, "by_hand": None}
    usual = run("capture", "clean", copied, "--json").json()
    assert body["figures"]["left"]["kept"] < usual["figures"]["left"]["kept"]
    assert body["figures"]["left"]["smoothed_by_px"] > usual["figures"]["left"]["smoothed_by_px"]


def test_the_help_of_every_step_says_every_option_and_its_default(run):
    from depthgauge.capture.registry import STEPS

    for name, step in STEPS.items():
        said = " ".join(run("capture", name, "--help").out.split())
        assert step.spec.line in said
        for option, field in step.spec.options.model_fields.items():
            assert f"--{option.replace('_', '-')}" in said
            assert "".join(field.description.split()) in said.replace(" ", "")
            if field.default is not None and not isinstance(field.default, bool):
                assert f"[default: {field.default}" in said or f"default: {field.default}" in said


@pytest.mark.parametrize(
    "words", [("--window-px", "4"), ("--sigma-px", "0"), ("--confidence", "2"), ("--filter", "x")]
)
def test_limits_that_make_no_sense_are_refused(run, labelled_session, words):
    ran = run("capture", "clean", labelled_session, *words)
    assert ran.code in (1, 2)
    assert words[0][2:].replace("-", "_") in ran.err.replace("-", "_")


@pytest.mark.long
def test_tiles_of_less_memory_give_the_same_maps(run, copied):
    before = io.read_map(copied / "work" / "spacetime" / "left_disparity.npy")
    assert run("capture", "spacetime", copied, "--memory-gib", "0.02", "--json").code == 0
    after = io.read_map(copied / "work" / "spacetime" / "left_disparity.npy")
    assert np.isclose(after, before, atol=1e-3, equal_nan=True).mean() > 0.99


def test_pictures_without_labels_are_exported_after_rectification(run, copied, tmp_path):
    for step in STEPS[3:]:
        shutil.rmtree(copied / "work" / step)
    call = ("capture", "export", copied, "--out", tmp_path / "Booster", "--json")
    assert "capture check" in run(*call).err
    body = run(*call, "--split", "unlabelled").json()
    assert body["setups"] == ["balanced", "unbalanced"]
    assert not list((tmp_path / "Booster").rglob("disp_*"))
    assert run(*call, "--split", "unlabelled", "--exact", "--overwrite").code != 0


@pytest.fixture
def dataset(tmp_path):
    """Six scenes of a few pixels: the first half is of other disparities and materials."""
    camera = Camera((10.0, 10.0), (2.0, 1.0), (4, 3))
    image = np.zeros((3, 4, 3), np.uint8)
    inputs = {"left_image": image, "right_image": image, "rig": Rig({"left": camera}, 0.08)}
    for number in range(6):
        items = {
            "disparity": np.full((3, 4), 5.0 if number < 3 else 9.0, np.float32),
            "material_labels": np.full((3, 4), 0 if number < 3 else 2, np.int32),
        }
        sample = Sample(f"Scene{number}/im0", Inputs(inputs), Truth(items), scene=f"Scene{number}")
        booster.write(tmp_path / "Booster", [sample], split="train")
    return tmp_path / "Booster"


def test_split_says_how_much_splits_differ(run, dataset):
    said = run("capture", "split", dataset)
    body = run("capture", "split", dataset, "--json").json()
    apart = body["largest_distance"]
    materials, disparities = (f"{100 * apart[kind]:.1f} %" for kind in ("materials", "disparities"))
    last = said.out.splitlines()[-1]
    assert last == (
        f"Two splits differ by at most {materials} in materials and {disparities} in disparities."
    )
    assert [line.partition(":")[0] for line in said.out.splitlines()[:-1]] == list(body["scenes"])


def test_distributions_of_a_dataset_are_drawn(run, dataset, tmp_path):
    call = ("capture", "distributions", dataset, "--picture", tmp_path / "new" / "drawn.png")
    ran = run(*call)
    assert ran.code == 0
    assert "drawn.png" in ran.out
    assert io.read_image(tmp_path / "new" / "drawn.png").shape[2] == 3
    ran = run("capture", "distributions", tmp_path / "new", "--picture", tmp_path / "no.png")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "no.png").exists()
