"""`--focal` and `--thresholds`: what may be set of a benchmark."""

import json

import numpy as np
import pytest

from depthgauge.io import write_image


@pytest.fixture
def boundaries(tmp_path):
    """One picture of BSDS with two annotators, and edges that are where they should be."""
    from scipy.io import savemat

    lines = np.zeros((40, 50), np.uint8)
    lines[10:30, 25] = 1
    cells = np.full((1, 2), None, object)
    for number in range(2):
        cells[0, number] = {"Segmentation": lines.astype(np.uint16), "Boundaries": lines}
    (tmp_path / "data" / "groundTruth").mkdir(parents=True)
    savemat(tmp_path / "data" / "groundTruth" / "7.mat", {"groundTruth": cells})
    (tmp_path / "mine").mkdir()
    write_image(tmp_path / "mine" / "7.png", 200 * lines)
    return tmp_path


def test_another_number_of_thresholds_keeps_the_ids_and_changes_the_hash(run, boundaries):
    call = ("score", "bsds500", "--data", boundaries / "data", "--estimates", boundaries / "mine")
    usual = json.loads(run(*call, "--json", "-").out)
    few = json.loads(run(*call, "--thresholds", "5", "--json", "-").out)
    assert list(usual["summary"]) == list(few["summary"]) == ["ods", "ois", "ap"]
    assert usual["summary"]["ods"] == few["summary"]["ods"] == 1.0
    assert usual["protocol_hash"] != few["protocol_hash"]
    assert {score["params"]["thresholds"] for score in few["protocol"]["scores"]} == {5}
    assert few["samples"] == {"7": {}}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--thresholds", "0"), "thresholds"),
        (("--focal", "nan"), "finite"),
        (("--focal", "0.5"), "focal"),
        (("--focal", "500"), "needs a focal length"),
    ],
)
def test_settings_that_cannot_be(run, boundaries, options, words):
    call = ("score", "bsds500", "--data", boundaries / "data", "--estimates", boundaries / "mine")
    ran = run(*call, *options)
    assert ran.code == 2
    assert words in ran.err


def test_settings_go_with_a_benchmark(run):
    ran = run("score", "--estimate", "a.pfm", "--truth", "b.pfm", "--focal", "500")
    assert ran.code == 2
    assert "--focal" in ran.err


def test_an_unknown_split_is_named(run, boundaries):
    ran = run("score", "bsds500@nope", "--data", boundaries, "--estimates", boundaries)
    assert ran.code == 2
    assert "no bsds500 split 'nope'" in ran.err
