"""Notes and stored numbers on the command line: of two maps, benchmarks, runs, and `check`."""

import json
import warnings

import numpy as np
import pytest

from depthgauge.io import _png_chunks
from depthgauge.io._files import write_parts

ROWS, COLUMNS = np.indices((60, 80))
TRUTH = (10 + ROWS / 2 + COLUMNS / 7).astype(np.float32)
DEPTH = (160 / TRUTH).astype(np.float32)


@pytest.fixture(autouse=True)
def maps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "filters", list(warnings.filters))  # `main` adds one
    np.save("t.npy", TRUTH)
    np.save("x256.npy", 256 * TRUTH + 1)
    np.save("holes.npy", np.where(COLUMNS % 5, TRUTH + 0.1, 0).astype(np.float32))
    np.save("metres.npy", DEPTH)
    np.save("inverse.npy", TRUTH / 160)
    write_parts("mm.png", _png_chunks.encode(np.rint(1000 * DEPTH).astype(np.uint16)))


def two(estimate, truth="t.npy"):
    return ("score", "--estimate", estimate, "--truth", truth, "--metric", "mae")


def test_notes_stand_under_the_table_and_in_the_json(run):
    ran = run(*two("x256.npy"))
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == (
        "note: The estimate is about 256 times the truth: the 16-bit PNG code without the division "
        "by 256? Say --estimate-scale 1/256."
    )
    (note,) = run(*two("x256.npy"), "--json").json()["notes"]
    assert (note["code"], note["arguments"]) == ("factor", {"estimate_scale": "1/256"})
    assert "note" not in run(*two("x256.npy"), "--no-check").out
    assert "note" not in run(*two("x256.npy"), "--estimate-scale", "1/256").out


def test_marks_are_declared_by_an_option(run):
    assert "Say --estimate-invalid 0." in run(*two("holes.npy")).out
    body = run(*two("holes.npy"), "--invalid", "0", "--invalid", "-1", "--json").json()
    assert body["notes"] == []
    assert body["reading"]["estimate"] == {"invalid": [0, -1]}
    assert body["samples"]["t"]["mae@all"]["missing"] == 960


def test_depth_in_whole_numbers_names_both_commands(run):
    depth = (*two("mm.png", "metres.npy"), "--quantity", "depth")
    ran = run(*depth)
    assert ran.code == 1
    assert "say --estimate-scale 1/256 (KITTI's code / 256) or --estimate-scale 0.001" in ran.err
    assert run(*depth, "--estimate-scale", "0.001", "--json").json()["summary"]["mae@all"] < 0.001
    wrong = run(*depth, "--estimate-scale", "1/256").out
    assert "3.906 (1000/256) times the truth" in wrong
    assert "Say --estimate-scale 0.001." in wrong


def test_the_fit_is_printed_and_a_negative_scale_is_noted(run):
    depth = (*two("inverse.npy", "metres.npy"), "--quantity", "depth", "--align", "scale_shift")
    lines = run(*depth).out.splitlines()
    assert lines[-3].startswith("aligned by scale_shift in depth: -")
    assert lines[-3].endswith("fitted on 4,800 px")
    assert lines[-2].startswith("note: The fitted scale is negative")
    assert "was disparity or inverse depth given as depth?" in lines[-1]


def test_depth_without_a_quantity_is_noted(run):
    assert "Say --quantity depth." in run(*two("metres.npy", "metres.npy")).out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--scale", "x"), "--scale is 'x'; it must be a positive number"),
        (("--scale", "2", "--truth-scale", "2"), "--scale is for both sides and --truth-scale"),
        (("--truth-invalid", "a"), "--truth-invalid is 'a'; it must be numbers"),
    ],
)
def test_nonsense_is_refused_in_words_of_options(run, options, words):
    ran = run(*two("t.npy"), *options)
    assert (ran.code, words in ran.err) == (2, True), ran.err


def test_check_works_on_two_maps(run):
    flipped = np.ascontiguousarray(TRUTH[:, ::-1])
    np.save("flipped.npy", flipped)
    ran = run("check", "--estimate", "flipped.npy", "--truth", "t.npy")
    assert ran.code == 1
    assert ran.out.startswith("error: The estimate fits the truth clearly better flipped left to")
    assert ran.out.endswith("flipped.npy against t.npy: 1 error, 0 notes\n")
    body = run("check", "--estimate", "x256.npy", "--truth", "t.npy", "--json").json()
    assert (body["ok"], body["findings"][0]["code"]) == (True, "factor")
    assert run("check", "--estimate", "t.npy", "--truth", "t.npy").code == 0
    assert run("check", "--estimate", "t.npy").code == 2
    assert run("check").code == 2


BENCHMARK = """
id = "trial"
version = 1
dataset = "folder"
quantity = "disparity"
pool = "image"
[[scores]]
metric = "mae"
"""


@pytest.fixture
def benchmark(tmp_path):
    (tmp_path / "trial.toml").write_text(BENCHMARK)
    for folder in ("data/truth", "results"):
        (tmp_path / folder).mkdir(parents=True)
    for name in "ab":
        np.save(f"data/truth/{name}.npy", TRUTH)
        np.save(f"results/{name}.npy", -TRUTH)
    return ("score", "trial.toml", "--data", "data", "--estimates", "results")


def test_notes_of_a_benchmark_name_the_samples_once(run, benchmark):
    lines = run(*benchmark).out.splitlines()
    assert lines[-1].startswith("note: a, b: The estimate fits the truth clearly better with its s")
    assert len([line for line in lines if "note" in line]) == 1


def test_a_run_keeps_its_notes(run, benchmark, tmp_path):
    assert "note: a, b: " in run(*benchmark, "--out", "run").out
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert [each["note"]["code"] for each in info["notes"]] == ["sign", "sign"]
    from depthgauge import load_run

    (result,) = load_run("run").results.values()
    assert [note.sample for note in result.notes] == ["a", "b"]


def test_a_benchmark_is_told_how_files_are_stored(run, benchmark):
    for name in "ab":
        np.save(f"results/{name}.npy", np.where(COLUMNS % 4, 16 * TRUTH, -1))
    said = ("--estimate-scale", "1/16", "--estimate-invalid", "-1")
    body = run(*benchmark, *said, "--json").json()
    assert body["summary"]["mae@all"] == pytest.approx(0, abs=1e-5)
    assert body["reading"] == {"estimate": {"scale": 0.0625, "invalid": [-1]}}
    assert body["protocol_hash"] == run(*benchmark, "--json").json()["protocol_hash"]
