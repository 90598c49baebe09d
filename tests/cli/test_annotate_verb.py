"""`depthgauge annotate`: the whole path, and every wrong turn answered in one sentence."""

import json
import shutil

import pytest

from depthgauge.io import read_map


@pytest.fixture
def record(annotated):
    return annotated / "records" / "simulated-1" / "planar-0000.jsonl"


def test_the_whole_path(run, tmp_path):
    study, data = tmp_path / "study", tmp_path / "data"
    tiny = ("--width", "64", "--height", "48")
    made = run("annotate", "simulate", "planar", "--out", study, "--annotators", "2", *tiny)
    assert made.out == f"{study}: 1 scene, 2 simulated annotators.\n"
    assert "annotate agreement" in made.err
    people = study / "records" / "simulated-1"
    images = study / "images"
    ran = run("annotate", "export", people, "--images", images, "--out", data)
    assert ran.out == f"{data}: 1 sample in split val.\n"
    ran = run("annotate", "statistics", data, "--dataset", "oasis", "--json")
    assert ran.json()["images"] == 1
    page = tmp_path / "pages" / "agreement.html"
    method = f"exact={study / 'sensor'}"
    ran = run("annotate", "agreement", study, "--method", method, "--out", page)
    assert ran.code == 0
    head = ran.out.splitlines()[0].split()
    assert head == ["measure", "unit", "human-human", "human-sensor", "method-sensor"]
    line = next(line for line in ran.out.splitlines() if line.startswith("EDist, a scale"))
    # Against itself the sensor's own depth is right but for rounding.
    assert float(line.split()[-1]) < 1e-5
    assert page.is_file()


def test_reconstruct_says_what_was_assumed(run, record, annotated, tmp_path):
    image = annotated / "images" / "planar-0000.png"
    ran = run("annotate", "reconstruct", record, "--image", image, "--out", tmp_path / "out")
    assert ran.code == 0
    assert ran.out.startswith(f"{tmp_path / 'out'}: 64x48, ")
    assert all(line.startswith(("warning: ", "Look at ")) for line in ran.err.splitlines())
    assert read_map(tmp_path / "out" / "depth.npy", quantity="depth").shape == (48, 64)
    body = run("annotate", "reconstruct", record, "--out", tmp_path / "out", "--json").json()
    assert body["size_px"] == [64, 48]


def test_check_ends_with_1_where_something_is_to_mend(run, record, tmp_path):
    lines = record.read_text().splitlines()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([lines[0], "{}", *lines[1:]]) + "\n")
    ran = run("annotate", "check", broken)
    assert ran.code == 1
    assert "line 2" in ran.out
    assert ran.out.endswith("1 file of records, 1 problem\n")
    assert run("annotate", "check", broken, "--json").json()["ok"] is False


def test_votes(run, annotated, tmp_path):
    ran = run("annotate", "votes", annotated / "votes.jsonl")
    assert "simulated-1/planar-0000     2    0  accepted" in ran.out
    assert ran.out.endswith("1 annotation, 1 accepted\n")
    ran = run("annotate", "votes", annotated / "votes.jsonl", "--needed", "3", "--json")
    assert ran.json()["annotations"]["simulated-1/planar-0000"]["status"] == "pending"
    (tmp_path / "votes.jsonl").write_bytes((annotated / "votes.jsonl").read_bytes() + b'{"sch')
    ran = run("annotate", "votes", tmp_path / "votes.jsonl")
    assert ran.code == 0
    assert "was left out" in ran.err


def test_only_accepted_annotations_are_exported(run, annotated, tmp_path):
    votes = annotated / "votes.jsonl"
    call = ("annotate", "export", annotated, "--images", annotated / "images", "--votes", votes)
    ran = run(*call, "--out", tmp_path / "data", "--split", "train")
    assert ran.out == f"{tmp_path / 'data'}: 1 sample in split train.\n"
    assert "simulated-2/planar-0000: left out: not accepted" in ran.err


def test_people_and_focal_lengths_are_scored(run, annotated):
    people, data = annotated / "estimates", annotated / "data"
    asked = run("annotate", "focal", "oasis-depth", "--data", data, "--estimates", people / "anna")
    assert asked.code == 0
    focal = float(asked.out)
    found = json.loads(
        run(
            *("annotate", "focal", "oasis-depth", "--data", data),
            *("--estimates", people / "anna", "--json"),
        ).out
    )
    assert found["focal_px"] == pytest.approx(focal, abs=0.01)
    call = ("annotate", "human", "oasis-depth", "--data", data, "--estimates", people)
    ran = run(*call, "--focal", focal, "--json")
    assert ran.json()["people"] == {"anna": 1, "ben": 1}
    assert ran.json()["summary"]["lsiv"]["mean"] == pytest.approx(found["lsiv"], rel=1e-3)
    shown = run(*call, "--focal", focal)
    assert shown.out.startswith("oasis-depth: 2 people\n")
    lacking = run(*call)
    assert lacking.code == 1
    assert "--focal" in lacking.err


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (("check", "nowhere"), 1, "no such file or folder of records"),
        (("reconstruct", "nowhere.jsonl", "--out", "x"), 1, "no such file"),
        (("export", "nowhere", "--images", "x", "--out", "y"), 1, "no such"),
        (("simulate", "planets", "--out", "x"), 2, "planar"),
        (("agreement", "nowhere"), 1, "no such"),
        (("agreement", "{study}", "--method", "net"), 2, "NAME=DIR"),
        (("agreement", "{study}", "--method", "net=nowhere"), 1, "no such folder"),
        (("agreement", "{study}", "--sensor", "nowhere"), 1, "no folder 'depth'"),
        (("statistics", "nowhere"), 1, "no such"),
        (("statistics", "{study}", "--dataset", "oases"), 2, "oasis"),
        (("votes", "nowhere.jsonl"), 1, "no such file"),
        (("human", "oasis-depth", "--data", "{study}/data", "--estimates", "no"), 1, "no such"),
        (("focal", "oasis-normals", "--data", "x", "--estimates", "y"), 2, "lsiv"),
        (("reconstruct", "{study}/votes.jsonl", "--out", "x"), 1, "line 1"),
    ],
)
def test_wrong_turns_are_one_sentence(run, annotated, tmp_path, monkeypatch, call, code, said):
    monkeypatch.chdir(tmp_path)
    ran = run("annotate", *(text.format(study=annotated) for text in call))
    assert ran.code == code, ran.err
    assert said in ran.err
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert ran.out == ""


def test_statistics_survive_a_damaged_file(run, annotated, tmp_path):
    copy = shutil.copytree(annotated / "records", tmp_path / "records")
    (copy / "simulated-2" / "planar-0000.jsonl").write_text("broken\n")
    ran = run("annotate", "statistics", copy)
    assert ran.code == 0
    assert ran.err.startswith("warning: left out: ")
    assert "images" in ran.out
