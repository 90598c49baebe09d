"""The twin against the official program's own numbers, for every call that was recorded.

Stereo v3 SDK 1.6 evaldisp; tests/golden/middlebury holds the generator of the inputs, what the
program printed for them, and where its source was found.
"""

import json
import math
import shutil
from pathlib import Path

import pytest

import depthgauge as dg
from depthgauge.errors import NothingScored

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "middlebury"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())


@pytest.fixture(scope="module")
def scores(golden_middlebury, tmp_path_factory):
    """Scores of a level and estimate name; `isint` as the call had it, in a calib.txt beside."""
    found = {}

    def find(level, name, rounding):
        if (level, name, rounding) not in found:
            estimates = tmp_path_factory.mktemp("estimates")
            shutil.copytree(golden_middlebury / level, estimates, dirs_exist_ok=True)
            for calib in estimates.glob("*/calib.txt"):
                lines = calib.read_text().splitlines()
                kept = [line for line in lines if not line.startswith("isint")]
                calib.write_text("\n".join([*kept, f"isint={rounding}", ""]))
            data = golden_middlebury / "trainingF"
            result = dg.evaluate("middlebury-toolkit", data, estimates, name=name)
            found[level, name, rounding] = result.samples
        return found[level, name, rounding]

    return find


def test_the_inputs_are_those_that_the_program_saw(golden_middlebury):
    assert (golden_middlebury / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


@pytest.mark.parametrize("level", ["trainingF", "trainingH", "trainingQ"])
def test_agrees_with_the_official_program(level, scores):
    calls = [call for call in EXPECTED["calls"] if call["disp"].startswith(level)]
    assert len(calls) > 40
    for call in calls:
        _, scene, file = call["disp"].split("/")
        name = file.removeprefix("disp0").removesuffix(".pfm")
        sample = scores(level, name, call["rounddisp"])[scene]
        region = "nonocc" if call["mask"] else "all"
        t = f"{call['badthresh']:g}"
        assert sample[f"coverage@{region}"].value == pytest.approx(
            call["full"]["coverage"], abs=1e-5
        )
        for column in ("bad", "invalid", "totbad"):
            found = sample[f"{column}:{t}@{region}"].value
            assert found == pytest.approx(call["full"][column], abs=1e-5), call
        mean = sample[f"avgErr:{t}@{region}"]
        if call["avgErr_float64"] == "NaN":
            assert math.isnan(mean.value)
            assert mean.why == "missing"
        else:
            assert mean.value == pytest.approx(call["avgErr_float64"], rel=1e-6)
            assert mean.value == pytest.approx(call["full"]["avgErr"], rel=5e-4)


def test_without_calib_beside_the_estimate_the_datas_ndisp_is_divided(golden_middlebury, tmp_path):
    half = tmp_path / "half"
    for scene in ("Canal", "Foundry", "Meadow"):
        (half / scene).mkdir(parents=True)
        shutil.copy(golden_middlebury / f"trainingH/{scene}/disp0EST.pfm", half / scene)
    data = golden_middlebury / "trainingF"
    bare = dg.evaluate("middlebury-toolkit", data, half, name="EST")
    beside = dg.evaluate("middlebury-toolkit", data, golden_middlebury / "trainingH", name="EST")
    assert bare.to_json()["samples"] == beside.to_json()["samples"]


def test_the_calib_beside_the_estimate_needs_only_what_is_used(golden_middlebury, tmp_path):
    (tmp_path / "Edges").mkdir()
    shutil.copy(golden_middlebury / "trainingF/Edges/disp0EST.pfm", tmp_path / "Edges")
    (tmp_path / "Edges/calib.txt").write_text("ndisp=48\n")
    data = golden_middlebury / "trainingF"
    bare = dg.evaluate("middlebury-toolkit", data, tmp_path, only=["Edges"])
    whole = dg.evaluate("middlebury-toolkit", data, data, name="EST", only=["Edges"])
    assert bare.samples["Edges"] == whole.samples["Edges"]


def test_without_a_mask_the_nonocc_ids_are_left_out_and_named(golden_middlebury, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(golden_middlebury / "trainingF", data)
    (data / "Canal" / "mask0nocc.png").unlink()
    result = dg.evaluate("middlebury-toolkit", data, golden_middlebury / "trainingF", name="EST")
    assert result.left_out == ("Canal@nonocc",)
    assert not [name for name in result.samples["Canal"] if name.endswith("@nonocc")]
    assert "bad:2@all" in result.samples["Canal"]
    assert result.summary["bad:2@nonocc"].used == 3


def test_a_missing_estimate_leaves_no_mean(golden_middlebury):
    result = dg.evaluate(
        "middlebury-toolkit",
        golden_middlebury / "trainingF",
        golden_middlebury / "trainingQ",
        name="EST",
    )
    assert set(result.failed) == {"Edges"}
    assert "no estimate for 'Edges'" in result.failed["Edges"]
    assert result.summary["totbad:2@all"].incomplete
    body = result.to_json()
    assert body["summary"]["totbad:2@all"] is None
    assert body["summary_counts"]["totbad:2@all"] == [3, 4]
    chosen = dg.evaluate(
        "middlebury-toolkit",
        golden_middlebury / "trainingF",
        golden_middlebury / "trainingQ",
        name="EST",
        only=["Canal", "Meadow"],
    )
    values = [chosen.samples[s]["totbad:2@all"].value for s in ("Canal", "Meadow")]
    assert chosen.summary["totbad:2@all"].value == pytest.approx(sum(values) / 2)


def test_another_size_is_refused(golden_middlebury, tmp_path):
    (tmp_path / "Canal").mkdir()
    dg.write_map(tmp_path / "Canal" / "disp0X.pfm", [[1.0, 2.0]])
    with pytest.raises(
        NothingScored, match="is 2x1 but the truth is 480x360; it must be exactly 1"
    ):
        dg.evaluate(
            "middlebury-toolkit",
            golden_middlebury / "trainingF",
            tmp_path,
            name="X",
            only=["Canal"],
        )
