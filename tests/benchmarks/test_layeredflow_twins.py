"""Three twins of LayeredFlow against the authors' own scripts, and against hand-made numbers.

princeton-vl/LayeredFlow b968946; tests/golden/layeredflow holds the generator of the inputs and
what the scripts said of them. The tolerances are those of its README.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.engine.running.run import score_folder
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadProtocol
from depthgauge.io import write_image, write_map

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "layeredflow"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
FIRST, MULTI = "layeredflow-first-toolkit", "layeredflow-multi-toolkit"


@pytest.fixture(scope="session")
def golden(tmp_path_factory) -> Path:
    """The inputs that the authors' scripts were run on."""
    out = tmp_path_factory.mktemp("golden") / "layeredflow"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    return out


def test_the_inputs_are_those_that_the_scripts_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


def agree(found, expected) -> None:
    """The scores of one image or of all, with the tolerances of the README."""
    for subset, numbers in expected.items():
        for name, value in numbers.items():
            if name == "n":
                continue
            score, value = found[f"{name}@{subset}"], float(value)
            tolerance = {"rel": 1e-6} if name == "epe" else {"abs": 1e-9}
            assert score.value == pytest.approx(value, **tolerance, nan_ok=True), (subset, name)


@pytest.mark.parametrize("number", range(8))
def test_the_scripts_numbers(golden, number):
    expected = EXPECTED["runs"][number]
    result = dg.evaluate(
        expected["benchmark"], golden / expected["data"], golden / expected["estimates"]
    )
    agree(result.summary, expected["summary"])
    assert result.samples.keys() == expected["samples"].keys()
    for image, subsets in expected["samples"].items():
        agree(result.samples[image], subsets)
        for subset, numbers in subsets.items():
            assert result.samples[image][f"bad:1@{subset}"].count == numbers["n"]
    counted = {subset: 0 for subset in expected["summary"]}
    for scores in result.samples.values():
        for subset in counted:
            counted[subset] += scores[f"bad:5@{subset}"].count
    assert counted == {subset: numbers["n"] for subset, numbers in expected["summary"].items()}
    assert result.failed == {}
    json.dumps(result.to_json(), allow_nan=False)


def test_the_command_line_gives_the_named_ids(golden, tmp_path):
    out = tmp_path / "scores.json"
    arguments = ["score", FIRST, "--data", golden / "layeredflow", "--estimates", golden / "first"]
    done = subprocess.run(
        [sys.executable, "-m", "depthgauge", *map(str, arguments), "--json", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(out.read_text())["summary"]
    subsets = ("all", "diffuse", "transparent", "reflective")
    names = ("epe", "bad:1", "bad:3", "bad:5")
    assert list(summary) == [f"{name}@{subset}" for subset in subsets for name in names]
    assert summary["epe@all"] == pytest.approx(1.7110345964049243, rel=1e-6)


def test_a_kept_run_has_the_same_numbers(golden, tmp_path):
    run = score_folder(MULTI, golden / "plain", golden / "multi_plain", tmp_path, workers=0)
    (result,) = run.results.values()
    direct = dg.evaluate(MULTI, golden / "plain", golden / "multi_plain")
    assert result.to_json()["summary"] == direct.to_json()["summary"]


# --- by hand --------------------------------------------------------------------------------------


def scene(folder, points, annotations, size=(16, 24)):
    """A scene whose left camera sees these points: (tag, corner, (u, v), (u, v) later)."""
    folder.mkdir(parents=True)
    for name in ("0_0", "0_1", "3_0", "3_1"):
        write_image(folder / f"{name}.png", np.zeros((*size, 3), np.uint8))
    now = [(a, b, np.array(uv)) for a, b, uv, _ in points]
    later = [(a, b, np.array(uv)) for a, b, _, uv in points]
    body = {
        "optical_points": [now, [], later, []],
        "stereo_points": [[], [], [], []],
        "annotations": annotations,
    }
    (folder / "gt.pickle").write_bytes(pickle.dumps(body, protocol=3))


def test_hand_numbers_of_one_layer(tmp_path):
    points = [
        (0, 0, (4.0, 4.0), (8.0, 4.0)),  # flow (1, 0) in quarter pixels
        (0, 1, (-3.0, 4.0), (-3.0, 4.0)),  # truncated to column 0
        (0, 2, (-4.0, 4.0), (0.0, 4.0)),  # outside
        (0, 3, (8.0, 8.0), (8.0, 8.0)),  # not valid
    ]
    said = {(0, k): (k != 3, "Transparent" if k else "Diffuse", 0) for k in range(4)}
    scene(tmp_path / "data/val/7", points, said)
    flow = np.zeros((4, 6, 2), np.float32)
    flow[1, 1] = 1, 1  # off by exactly 1
    flow[1, 0] = 3, 4  # off by exactly 5
    (tmp_path / "estimates").mkdir()
    for camera in (0, 1):
        write_map(tmp_path / f"estimates/7_{camera}.flo", flow, quantity="flow")
    summary = dg.evaluate(FIRST, tmp_path / "data", tmp_path / "estimates").summary
    assert summary["epe@all"].value == pytest.approx(3)
    assert summary["bad:1@all"].value == 100
    assert summary["bad:3@all"].value == 50
    assert summary["bad:5@transparent"].value == 100
    assert summary["bad:5@diffuse"].value == 0
    assert math.isnan(summary["epe@reflective"].value)


def test_hand_numbers_of_several_layers(tmp_path):
    at = [(4.0 * k, 4.0) for k in range(5)]
    points = [(k, 0, uv, uv) for k, uv in enumerate(at)]
    kinds = [("Transparent", 0), ("Diffuse", 0), ("Diffuse", 1), ("Reflective", 1), ("Diffuse", 0)]
    scene(tmp_path / "data/val/7", points, {(k, 0): (True, *kinds[k]) for k in range(5)})
    layers = np.full((4, 2, 4, 6), np.nan, np.float32)
    layers[0, :, 1, :5] = 0
    layers[1:3, 1, 1, :4] = 0
    layers[1, 0, 1, :4] = 2, 2, 2, 0.5  # at the fourth point exactly 0.5: no layer
    layers[2, 0, 1, :4] = 2, 2, 2.4, 4
    np.savez(tmp_path / "results.npz", **{"7_0": layers, "7_1": layers})
    found = dg.evaluate(MULTI, tmp_path / "data", tmp_path).summary
    # Layer 0: two layers are right for glass, wrong for a wall, one is right for a wall.
    assert found["bad:inf@layer0"].value == pytest.approx(100 / 3)
    # Layer 1: (2, 0) is the second of two, off by 2; (4, 0) moved up to it, off by 4.
    assert found["bad:1@layer1"].value == 100
    assert found["bad:3@layer1"].value == 50
    assert found["bad:5@layer1"].value == 0


# --- bad input ------------------------------------------------------------------------------------


def broken_data(golden, tmp_path, body: bytes) -> Path:
    shutil.copytree(golden / "plain", tmp_path / "data")
    (tmp_path / "data/val/1/gt.pickle").write_bytes(body)
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "os.system"),
        (b"\x80\x03}q\x00.", "expected a dict with optical_points"),
        (b"", "truncated"),
        (
            pickle.dumps({"optical_points": [[], [], [], []], "annotations": {((1, 2), 3): 1}}),
            "nor pairs of numbers",
        ),
        (
            pickle.dumps({"optical_points": [[], []], "annotations": {}}),
            "must be four lists of points",
        ),
        (
            pickle.dumps({"optical_points": [[(1, 2)], [], [], []], "annotations": {}}),
            "not \\(tag, corner",
        ),
        (
            pickle.dumps(
                {
                    "optical_points": [[(1, 2, (3.0, 4.0))], [], [(1, 3, (3.0, 4.0))], []],
                    "annotations": {},
                }
            ),
            "the lists must name the same corners",
        ),
        (
            pickle.dumps(
                {
                    "optical_points": [[(1, 2, (3.0, 4.0))], [], [(1, 2, (3.0, 4.0))], []],
                    "annotations": {},
                }
            ),
            "has no annotation",
        ),
        (
            pickle.dumps(
                {"optical_points": [[], [], [], []], "annotations": {(1, 2): (True, "Glass", 0)}}
            ),
            "expected one of diffuse, transparent",
        ),
    ],
    ids=range(9),
)
def test_a_bad_pickle_costs_only_its_scene(golden, tmp_path, body, words):
    data = broken_data(golden, tmp_path, body)
    result = dg.evaluate(FIRST, data, golden / "first_plain")
    (said,) = [text for text in result.left_out if text.startswith("1_0")]
    assert re.search(words, said), said
    assert {"0_0", "0_1"} <= set(result.samples)
    assert "1_0" not in result.samples
    assert math.isfinite(result.summary["epe@all"].value)


def test_an_estimate_of_another_size_is_named(golden, tmp_path):
    shutil.copytree(golden / "first", tmp_path / "first")
    write_map(tmp_path / "first/30_1.flo", np.zeros((8, 9, 2), np.float32), quantity="flow")
    result = dg.evaluate(FIRST, golden / "layeredflow", tmp_path / "first")
    assert "9x8 but must hold 102x82" in result.failed["30_1"]
    (finding,) = check_estimates(FIRST, golden / "layeredflow", tmp_path / "first")
    assert finding.sample == "30_1"


def test_check_understands_both_formats(golden):
    data = golden / "layeredflow"
    assert check_estimates(FIRST, data, golden / "first") == []
    assert check_estimates(MULTI, data, golden / "multi_pruned") == []
    gaps = check_estimates(MULTI, data, golden / "multi_raw")
    assert gaps
    assert all("behind one that is NaN" in gap.problem and not gap.serious for gap in gaps)
    (hole,) = check_estimates(FIRST, data, golden / "first_holes")
    assert hole.sample == "4_0"
    lost = check_estimates(MULTI, data, golden / "multi_plain")
    assert {finding.problem for finding in lost} == {"there is no estimate."}


def test_an_unknown_quirk_is_refused():
    protocol = find_benchmark(FIRST)
    with pytest.raises(BadProtocol, match="pruned_px"):
        protocol.model_copy(update={"options": {**protocol.options, "pruned_px": 0.5}})
