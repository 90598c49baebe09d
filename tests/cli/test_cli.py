"""The command line: data on stdout, one sentence on stderr, exit codes 0, 1 and 2."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import read_image, write_image


@pytest.fixture
def maps(tmp_path):
    truth = np.arange(1.0, 49.0).reshape(6, 8)
    estimate = truth + 0.5
    estimate[0, :4] += 4
    estimate[5, 5] = np.nan
    dg.write_map(tmp_path / "truth.pfm", truth)
    dg.write_map(tmp_path / "estimate.pfm", estimate)
    return tmp_path


def two(maps):
    return ("score", "--estimate", maps / "estimate.pfm", "--truth", maps / "truth.pfm")


# --- score, two maps ----------------------------------------------------------------------------


def test_two_maps_give_a_table(run, maps):
    ran = run(*two(maps), "--metric", "badpix:2", "--metric", "mae")
    assert ran.code == 0
    assert re.search(r"badpix:2@all +10\.417 +% +47 +1 +97\.9 %", ran.out)
    assert "disparity, missing estimates: bad, pooled by image, protocol" in ran.out


def test_two_maps_give_json(run, maps):
    ran = run(*two(maps), "--metric", "badpix:2", "--json", "-")
    body = ran.json()
    assert body["summary"]["badpix:2@all"] == pytest.approx(100 * 5 / 48)
    assert body["summary_counts"]["badpix:2@all"] == [1, 1]
    assert body["samples"]["truth"]["badpix:2@all"]["missing"] == 1
    assert body["benchmark"] == "two-maps"
    assert len(body["protocol_hash"]) == 64
    ran = run(*two(maps), "--json", maps / "out.json")
    assert (maps / "out.json").read_text().startswith("{")
    assert "mae@all" in ran.out


def test_a_mask_is_a_region(run, maps):
    mask = np.zeros((6, 8), np.uint8)
    mask[0, :4] = 255
    write_image(maps / "mask.png", mask)
    ran = run(*two(maps), "--metric", "badpix:2", "--region", f"top={maps}/mask.png", "--json", "-")
    assert ran.json()["summary"]["badpix:2@top"] == 100
    ran = run(*two(maps), "--metric", "mae", "--region", "low=near:40", "--json", "-")
    assert ran.json()["samples"]["truth"]["mae@low"]["count"] == 7
    ran = run(*two(maps), "--metric", "mae", "--region", "low=near:40.5", "--json", "-")
    assert ran.json()["samples"]["truth"]["mae@low"]["count"] == 7
    assert run(*two(maps), "--region", "top").code == 2


def test_error_maps_are_pictures(run, maps):
    ran = run(*two(maps), "--metric", "badpix:2", "--metric", "bias", "--map", maps / "maps")
    assert ran.code == 0
    picture = read_image(maps / "maps" / "badpix_2.png")
    assert picture.shape[0] > 200
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 50
    assert (maps / "maps" / "bias.png").exists()


def test_flow_is_recognised(run, tmp_path):
    flow = np.zeros((4, 5, 2), np.float32)
    dg.write_map(tmp_path / "a.flo", flow + 3, quantity="flow")
    dg.write_map(tmp_path / "b.flo", flow, quantity="flow")
    arguments = ("--estimate", tmp_path / "a.flo", "--truth", tmp_path / "b.flo", "--json", "-")
    body = run("score", *arguments).json()
    assert body["summary"]["epe@all"] == pytest.approx(18**0.5)


# --- score, benchmarks --------------------------------------------------------------------------


def test_a_twin_on_folders(run, golden_middlebury):
    data = golden_middlebury / "trainingF"
    arguments = ("middlebury-toolkit", "--data", data, "--estimates", data, "--name", "EST")
    ran = run("score", *arguments, "--json", "-")
    assert ran.code == 0
    body = ran.json()
    assert body["benchmark"] == "middlebury-toolkit"
    assert body["samples"]["Canal"]["bad:0.5@nonocc"]["value"] == pytest.approx(
        28.7385979, abs=1e-5
    )
    assert "bad:2@all" in run("score", *arguments).out


def test_missing_estimates_are_a_warning_and_exit_0(run, golden_middlebury):
    data, half = golden_middlebury / "trainingF", golden_middlebury / "trainingH"
    ran = run("score", "middlebury", "--data", data, "--estimates", half, "--json", "-")
    assert ran.code == 0
    assert "warning: Edges:" in ran.err
    body = ran.json()
    assert body["samples"]["Edges"]["badpix:2@all"]["value"] == 100
    assert body["summary"]["mae@all"] is None
    table = run("score", "middlebury", "--data", data, "--estimates", half).out
    assert "incomplete 3/4" in table


def test_nothing_scored_is_exit_1(run, golden_middlebury, tmp_path):
    data = golden_middlebury / "trainingF"
    ran = run("score", "middlebury", "--data", data, "--estimates", tmp_path)
    assert ran.code == 1
    assert ran.err.startswith("error: none of the 4 samples could be scored")
    assert ran.out == ""


def test_maps_of_a_benchmark(run, golden_middlebury, tmp_path):
    data = golden_middlebury / "trainingF"
    arguments = ("--data", data, "--estimates", data, "--name", "EST", "--sample", "Edges")
    ran = run("score", "middlebury", *arguments, "--map", tmp_path)
    assert ran.code == 0
    assert (tmp_path / "Edges" / "badpix_2.png").exists()
    assert (tmp_path / "Edges" / "mae.png").exists()


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["scroe"], 2, "no verb 'scroe'. Did you mean 'score'?"),
        (["score"], 2, "give two maps"),
        (["score", "middlebury"], 2, "needs --data DIR and --estimates DIR"),
        (["score", "--estimate", "x.pfm"], 2, "give two maps"),
        (["score", "--estimate", "x.pfm", "--truth", "y.pfm"], 1, "y.pfm"),
        (["score", "midlebury", "--data", ".", "--estimates", "."], 2, "Did you mean 'middlebury'"),
        (
            ["score", "middlebury", "--data", ".", "--estimates", ".", "--metric", "mae"],
            2,
            "itself",
        ),
        (["show", "badpx"], 2, "Did you mean 'badpix'?"),
        (["dataset", "verify", "nowhere"], 1, "nowhere"),
    ],
)
def test_a_mistake_is_one_sentence(run, arguments, code, message):
    ran = run(*arguments)
    assert ran.code == code
    assert message in ran.err + ran.out


def test_wrong_metric_and_truncated_file(run, maps):
    assert run(*two(maps), "--metric", "badpix:x").code == 2
    path = maps / "estimate.pfm"
    path.write_bytes(path.read_bytes()[:50])
    ran = run(*two(maps))
    assert ran.code == 1
    assert ran.err.startswith(f"error: {path}")
    assert ran.err.count("\n") == 1


def test_json_goes_through_pipes_and_links(run, maps):
    os.mkfifo(maps / "pipe")
    with subprocess.Popen(["cat", maps / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        assert run(*two(maps), "--json", maps / "pipe").code == 0
        assert json.loads(reader.stdout.read())["benchmark"] == "two-maps"
    (maps / "link.json").symlink_to(maps / "target.json")
    assert run(*two(maps), "--json", maps / "link.json").code == 0
    assert (maps / "link.json").is_symlink()
    assert (maps / "target.json").read_text().startswith("{")
    ran = run(*two(maps), "--json", maps)
    assert ran.code == 1
    assert "it is a folder, device or pipe" in ran.err


def test_a_circle_of_links_is_no_data(run, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    ran = run("score", "middlebury", "--data", tmp_path / "a", "--estimates", tmp_path)
    assert ran.code == 1
    assert "there is no such folder" in ran.err


def test_python_dash_m():
    ran = subprocess.run(
        [sys.executable, "-m", "depthgauge", "--version"], capture_output=True, text=True
    )
    assert ran.stdout.startswith("depthgauge, version")


def test_an_unwritable_json_is_one_sentence(run, maps):
    ran = run(*two(maps), "--json", maps / "no" / "folder.json")
    assert ran.code == 1
    assert "cannot be written" in ran.err


# --- the other verbs ----------------------------------------------------------------------------


def test_list_and_show(run):
    assert "badpix:threshold" in run("list", "metrics").out
    kinds = {
        "metrics",
        "regions",
        "shared-maps",
        "datasets",
        "methods",
        "perturbations",
        "benchmarks",
        "suites",
    }
    assert set(run("list", "--json").json()) == kinds
    shown = run("show", "badpix").out
    assert "100 * mean [not |e| <= threshold]" in shown
    assert ">>> dg.score" in shown
    assert max(map(len, run("show", "middlebury-toolkit").out.splitlines())) <= 105
    names = ("visible", "middlebury", "middlebury-toolkit", "middlebury-2014", "edges", "noise")
    for name in names:
        ran = run("show", name)
        assert ran.code == 0
        assert len(ran.out) > 100
    assert run("show", "mae", "--json").json()["better"] == "lower"


def test_doctor(run):
    body = run("doctor", "--json").json()
    assert set(body) == {"versions", "machine", "extras", "libLLVM"}
    assert body["versions"]["depthgauge"] == dg.__version__
    assert {"render", "video", "serve", "cluster", "nets", "metadata", "dev"} <= set(body["extras"])
    assert "numba" in run("doctor").out


def test_verify_a_dataset(run, tmp_path):
    from depthgauge.datasets import manifest_folder
    from depthgauge.types import Inputs, Sample, Truth

    truth = Truth({"disparity": np.ones((3, 4), np.float32)})
    sample = Sample("one", Inputs({}), truth)
    manifest_folder.write(tmp_path / "d", [sample], id="x", title="X", licence="CC0")
    assert run("dataset", "verify", tmp_path / "d").code == 0
    changed = next((tmp_path / "d").rglob("*.npy"))
    body = bytearray(changed.read_bytes())
    body[-1] ^= 1
    changed.write_bytes(body)
    ran = run("dataset", "verify", tmp_path / "d")
    assert ran.code == 1
    assert changed.name in ran.out


def test_output_into_a_closed_pipe_is_no_traceback():
    code = "from depthgauge.cli import main; main()"
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-c", code, "list"], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert "Traceback" not in ran.stderr
