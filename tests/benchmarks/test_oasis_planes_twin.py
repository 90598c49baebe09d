"""The twin of planes against the authors' own program, and against hand-made numbers.

princeton-vl/oasis 5835d24, eval/inst_segmentation/evalInstSeg_nips.py; tests/golden/oasis holds the
generator of the inputs and what the program said of them.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS
from depthgauge.errors import Misuse, NothingScored
from depthgauge.types import Inputs, Sample, Truth

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "oasis"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
NAME = "oasis-planes-toolkit"
TWIN = TWINS["oasis_planes"]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """The inputs that the program was run on."""
    out = tmp_path_factory.mktemp("golden") / "oasis"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    return out


def test_agrees_with_the_authors_program(golden):
    result = dg.evaluate(NAME, golden, golden / "pred")
    found = {name: summary.value for name, summary in result.summary.items()}
    planar = EXPECTED["planar"]
    expected = {"ap": planar["AP"], "ap50": planar["AP50"], "ap75": planar["AP75"]}
    assert found == pytest.approx(expected, abs=1e-9)
    assert sorted(result.samples) == ["0031", "0032", "0033", "0034"]
    assert not result.failed


def test_each_overlap_agrees(golden):
    for k, expected in enumerate(EXPECTED["planar"]["AP_per_overlap"]):
        assert pooled(golden, at=k) == pytest.approx(expected, abs=1e-9)


def pooled(golden, at):
    from depthgauge.benchmarks.twins import oasis_planes as module

    samples = {}
    for name in ("0031", "0032", "0033", "0034"):
        base = golden / "OASIS_trainval"
        truth = Truth(
            {
                "planes_path": base / "segmentation" / "planar_instance" / f"{name}.png",
                "mask_path": base / "mask" / f"{name}.png",
            }
        )
        path = golden / "pred" / "planar" / f"{name}.txt"
        samples[name] = TWIN.evaluate(Sample(name, Inputs({}), truth), path, {}).scores
    states = [scores["ap"].state for scores in samples.values()]
    rows = np.concatenate([state.rows for state in states])
    here = rows[rows[:, 0] == at]
    return module._area(here[:, 1], here[:, 2], sum(state.sums[at] for state in states))


def test_a_picture_without_a_list_leaves_no_number(golden, tmp_path):
    shutil.copytree(golden / "pred" / "planar", tmp_path / "planar")
    (tmp_path / "planar" / "0032.txt").unlink()
    result = dg.evaluate(NAME, golden, tmp_path)
    assert math.isnan(result.summary["ap"].value)
    assert list(result.failed) == ["0032"]


def test_no_list_at_all_is_nothing_scored(golden, tmp_path):
    with pytest.raises(NothingScored):
        dg.evaluate(NAME, golden, tmp_path)


# --- by hand ------------------------------------------------------------------------------------

TRUTH = np.zeros((20, 40), np.uint8)
TRUTH[:, :10], TRUTH[:, 10:20], TRUTH[:9, 20:30] = 1, 2, 3  # 200, 200 and 90 px


def columns(first, last):
    mask = np.zeros(TRUTH.shape, bool)
    mask[:, first:last] = True
    return mask


def area(folder, *pictures):
    """The twin's numbers of pictures, each a list of (confidence, mask)."""
    samples = {}
    for n, found in enumerate(pictures):
        base = folder / f"{n}"
        base.mkdir()
        io.write_image(base / "truth.png", TRUTH)
        io.write_image(base / "mask.png", np.full((*TRUTH.shape, 3), 255, np.uint8))
        lines = []
        for k, (confidence, mask) in enumerate(found):
            io.write_image(base / f"{k}.png", np.asarray(mask))
            lines.append(f"{k}.png 1 {confidence}\n")
        io.write_text(base / "list.txt", "".join(lines))
        truth = Truth({"planes_path": base / "truth.png", "mask_path": base / "mask.png"})
        sample = Sample(str(n), Inputs({}), truth)
        samples[str(n)] = TWIN.evaluate(sample, base / "list.txt", TWIN.options({})).scores
    return TWIN.pool(samples, {})


ONE, TWO, SMALL = TRUTH == 1, TRUTH == 2, TRUTH == 3


def test_perfect_and_nothing(tmp_path):
    assert area(tmp_path, [(0.9, ONE), (0.9, TWO)])["ap"] == 1
    (tmp_path / "b").mkdir()
    assert area(tmp_path / "b", [])["ap"] == 0
    (tmp_path / "c").mkdir()
    assert area(tmp_path / "c", [(0.5, columns(30, 40))])["ap"] == 0


def test_the_curve_by_hand(tmp_path):
    """One right at 0.9, a wrong one at 0.5; recall 1/2.

    Points by rising confidence: (1/2, 1/2), (1, 1/2), and the artificial (1, 0). Steps of the
    recall, halved: 0, 1/4, 1/4.
    """
    found = area(tmp_path, [(0.9, ONE), (0.5, columns(30, 40))])
    assert found["ap"] == pytest.approx(0.5)
    (tmp_path / "b").mkdir()
    # The wrong one is more confident: (1/2, 1/2), (0, 0), (1, 0); steps 1/4, 1/4, 0.
    found = area(tmp_path / "b", [(0.5, ONE), (0.9, columns(30, 40))])
    assert found["ap"] == pytest.approx(0.5 * 0.25)


def test_an_overlap_of_exactly_the_threshold_is_none(tmp_path):
    assert area(tmp_path, [(0.9, columns(0, 5)), (0.9, TWO)])["ap50"] == pytest.approx(
        0.5 * 0.25 + 0.25
    )


def test_duplicates_are_wrong_and_small_planes_are_ignored(tmp_path):
    twice = area(tmp_path, [(0.9, ONE), (0.8, columns(0, 9)), (0.7, TWO)])
    # Right, wrong, right: (2/3, 1), (1/2, 1/2), (1, 1/2), (1, 0).
    assert twice["ap50"] == pytest.approx(2 / 3 * 0.25 + 0.5 * 0.25 + 0.25 + 0.25)
    (tmp_path / "b").mkdir()
    assert area(tmp_path / "b", [(0.5, ONE), (0.5, TWO), (0.9, SMALL), (0.9, 0 * SMALL > 0)]) == {
        "ap": 1.0,
        "ap50": 1.0,
        "ap75": 1.0,
    }


def test_pictures_are_ranked_together(tmp_path):
    found = area(tmp_path, [(0.9, ONE), (0.9, TWO)], [(0.95, columns(30, 40))])
    # (2/3, 1/2), (0, 0), (1, 0): steps 1/4, 1/4, 0.
    assert found["ap"] == pytest.approx(2 / 3 * 0.25)


def test_options_are_the_quirks_by_name():
    assert TWIN.options({})["overlap"] == "above"
    with pytest.raises(Misuse, match="least_px"):
        TWIN.options({"least_px": 5})


# --- submissions --------------------------------------------------------------------------------


def problems(root, samples):
    return [(fault.sample, fault.problem, fault.serious) for fault in check(root, samples)]


def check(root, samples):
    return list(TWIN.check_submission(root, samples))


def test_a_submission_is_checked(golden, tmp_path):
    samples = {s.id: s for s in DATASETS["oasis"].samples(golden, "val")}
    shutil.copytree(golden / "pred" / "planar", tmp_path / "planar")
    found = problems(tmp_path, samples)
    # The generator writes an empty picture for each list; nothing else is wrong with it.
    assert [(s, p) for s, p, _ in found] == [(n, f"{n}_10.png has no pixel.") for n in samples]
    assert not any(serious for *_, serious in found)
    assert problems(tmp_path, {}) == found


def test_damaged_lists_are_named(golden, tmp_path):
    samples = {s.id: s for s in DATASETS["oasis"].samples(golden, "val")}
    shutil.copytree(golden / "pred" / "planar", tmp_path / "planar")
    (tmp_path / "planar" / "0031.txt").unlink()
    (tmp_path / "planar" / "0032.txt").write_text("../secret.png 1 0.5\n")
    (tmp_path / "planar" / "0033.txt").write_text("")
    lines = "0034_00.png 1 1.0\n0034_01.png 1 1.0\n"
    (tmp_path / "planar" / "0034.txt").write_text(lines)
    found = {sample: (problem, serious) for sample, problem, serious in problems(tmp_path, samples)}
    assert found["0031"] == ("there is no estimate.", True)
    assert "refused" in found["0032"][0]
    assert found["0032"][1]
    assert found["0033"] == ("0033.txt lists no plane.", False)
    assert found["0034"] == ("all planes of 0034.txt have the same confidence.", False)


def test_an_empty_submission_says_what_is_expected(tmp_path):
    (fault,) = check(tmp_path, {})
    assert "there is no planar/<id>.txt" in fault.problem


def test_a_picture_of_another_size_is_refused(golden, tmp_path):
    shutil.copytree(golden / "pred" / "planar", tmp_path / "planar")
    io.write_image(tmp_path / "planar" / "small.png", np.ones((4, 4), bool))
    (tmp_path / "planar" / "0031.txt").write_text("small.png 1 0.5\n")
    result = dg.evaluate(NAME, golden, tmp_path)
    assert "is 4x4, but the picture's mask is 360x270" in result.failed["0031"]
