"""The twin against the official program's own numbers, for every scene and submission.

ETH3D two-view-evaluation; tests/golden/eth3d holds the generator of the inputs, what the program
printed for them, and the commit of its source.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import read_map

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "eth3d"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
REGIONS = {"Non-occluded": "nonocc", "All": "all"}
RELATIVE = {"avgerr": 1e-9, "rms": 2e-7}


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    out = tmp_path_factory.mktemp("golden") / "eth3d"
    out.mkdir()
    subprocess.run([sys.executable, str(GOLDEN / "make_inputs.py"), str(out)], check=True)
    return out


def test_the_inputs_are_those_that_the_program_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


@pytest.mark.parametrize("call", EXPECTED["calls"], ids=lambda call: call["estimate"])
def test_agrees_with_the_official_program(call, golden):
    submission, _, file = call["estimate"].split("/")
    scene = file.removesuffix(".pfm")
    result = dg.evaluate(
        "eth3d-toolkit", golden / "training", golden / submission, only=[scene], check=False
    )
    for section, numbers in call["full"].items():
        assert len(numbers) == 11
        for name, value in numbers.items():
            found = result.samples[scene][f"{name}@{REGIONS[section]}"].value
            if not isinstance(value, float) or math.isinf(value):
                assert found == math.inf
            elif name.startswith(("bad", "coverage")):
                assert found == pytest.approx(value, abs=1e-9)
            else:
                assert found == pytest.approx(value, rel=RELATIVE.get(name, 1e-7), abs=0)


def test_ours_is_the_official_number_where_nothing_is_missing(golden):
    theirs = dg.evaluate("eth3d-toolkit", golden / "training", golden / "dense").samples
    ours = dg.evaluate("eth3d", golden / "training", golden / "dense").samples
    for scene in ("arcade_1l", "boiler_2s", "stairs_3l"):
        for threshold, name in ((0.5, "bad_0_5"), (2, "bad_2_0")):
            official = theirs[scene][f"{name}@nonocc"].value
            found = ours[scene][f"badpix:{threshold:g}@visible"].value
            assert found == pytest.approx(100 * official, rel=1e-6)
        assert ours[scene]["mae@all"].value == pytest.approx(theirs[scene]["avgerr@all"].value)


def test_leaving_out_pixels_helps_in_the_official_numbers_and_never_in_ours(golden, tmp_path):
    """Only pixels that are right are kept: officially perfect, for us a bad map."""
    scene = "arcade_1l"
    truth = read_map(golden / f"training/{scene}/disp0GT.pfm", "disparity")
    estimate = read_map(golden / f"dense/low_res_two_view/{scene}.pfm", "disparity")
    kept = np.where(np.abs(estimate - truth) < 0.1, estimate, np.nan)
    (tmp_path / "low_res_two_view").mkdir()
    dg.write_map(tmp_path / f"low_res_two_view/{scene}.pfm", kept)
    call = {"only": [scene], "check": False}
    theirs = dg.evaluate("eth3d-toolkit", golden / "training", tmp_path, **call).summary
    ours = dg.evaluate("eth3d", golden / "training", tmp_path, **call).summary
    assert theirs["bad_0_5@all"].value == 0
    missing = 1 - theirs["coverage@all"].value
    assert ours["badpix:0.5@all"].value == pytest.approx(100 * missing)
