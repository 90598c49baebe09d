"""`check hci4d-toolkit`: the toolkit's own rules for a submission, and the ones it lacks."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from depthgauge.cli import depthgauge
from depthgauge.datasets._hci4d.scenes import BENCHMARK, DISPARITY_RANGES
from depthgauge.datasets.hci4d import write
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.io import write_map
from depthgauge.types import Inputs, Sample, Truth


class Submission:
    """A folder that is right in everything, to be spoilt."""

    def __init__(self, root):
        self.root = root
        (root / "disp_maps").mkdir(parents=True)
        (root / "runtimes").mkdir()
        for scene in BENCHMARK:
            low, high = DISPARITY_RANGES[scene]
            values = np.linspace(low, high, 512 * 512, dtype=np.float32).reshape(512, 512)
            write_map(self.map(scene), np.clip(values, low + 1e-6, high - 1e-6))
            self.runtime(scene).write_text("12.5\n")

    def map(self, scene):
        return self.root / "disp_maps" / f"{scene}.pfm"

    def runtime(self, scene):
        return self.root / "runtimes" / f"{scene}.txt"

    def put(self, scene, header, values):
        self.map(scene).write_bytes(header + np.asarray(values, "<f4").tobytes())

    def findings(self, data=None):
        return check_estimates("hci4d-toolkit", data, self.root)

    def only(self):
        (found,) = self.findings()
        return found


@pytest.fixture
def submission(tmp_path):
    return Submission(tmp_path / "submission")


def test_a_right_submission_has_no_findings(submission):
    assert submission.findings() == []


def test_all_twelve_scenes_are_needed(submission):
    submission.map("herbs").unlink()
    submission.runtime("dots").unlink()
    first, second = submission.findings()
    assert (first.sample, second.sample) == ("dots", "herbs")  # in the benchmark's order
    assert "there is no runtimes/dots.txt" in first.problem
    assert "there is no disp_maps/herbs.pfm" in second.problem
    assert first.serious
    assert second.serious


def test_folders_that_are_not_there_are_said_once(submission):
    for scene in BENCHMARK:
        submission.runtime(scene).unlink()
    (submission.root / "runtimes").rmdir()
    assert "there is no folder runtimes/" in submission.only().problem


def test_a_nested_folder(submission, tmp_path):
    (found,) = check_estimates("hci4d-toolkit", None, tmp_path)
    assert found.sample == "submission"
    assert found.serious
    assert "are inside submission/" in found.problem


def test_a_cropped_map_is_explained(submission):
    write_map(submission.map("dino"), np.zeros((490, 490)))
    found = submission.only()
    assert found.serious
    assert found.sample == "dino"
    assert "is 490x490 but must be 512x512" in found.problem
    assert "a border of 11 px is cut off" in found.problem
    assert "accepts no cropped maps" in found.advice


def test_epinets_own_maps(submission, shared):
    maps = shared("data/lf-hci-epinet-results")
    for scene in ("cotton", "dino"):
        submission.map(scene).write_bytes((maps / f"{scene}.epinet.pfm").read_bytes())
    found = submission.findings()
    assert [f.sample for f in found] == ["cotton", "dino"]
    assert all("a border of 11 px is cut off" in f.problem for f in found)


@pytest.mark.parametrize(
    ("header", "n", "words"),
    [
        (b"PF\n512 512\n-1\n", 3 * 512 * 512, "reads only Pf"),
        (b"Pf\n512\n512\n-1\n", 512 * 512, "not 'width height'"),
        (b"Pf\n512  512\n-1\n", 512 * 512, "with one space between"),
        (b"Pf\n512 512\n0\n", 512 * 512, "not a number other than 0"),
        (b"Pf\n512 512\nlittle\n", 512 * 512, "not a number other than 0"),
        (b"Pf\n512 512\n-1\n", 512 * 511, "truncated"),
        (b"Pf\n512 512\n-1\n", 512 * 513, "disagree"),
        (b"Pf\n512 512", 0, "cut off"),
        (b"", 0, "cut off"),
    ],
)
def test_maps_that_the_toolkit_cannot_read(submission, header, n, words):
    submission.put("boxes", header, np.zeros(n))
    found = submission.only()
    assert (found.sample, found.serious) == ("boxes", True)
    assert words in found.problem


def test_comments_in_the_header_are_fine(submission):
    submission.put("boxes", b"Pf\n# mine\n512 512\n# too\n-1\n", np.zeros(512 * 512))
    assert submission.findings() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "runtime in seconds on the first line, found ''"),
        ("12.5 s", "found '12.5 s'"),
        ("\n12.5", "found ''"),
        ("0", "the runtime is 0 s"),
        ("-3", "the runtime is -3 s"),
        ("nan", "the runtime is nan s"),
        ("inf", "the runtime is inf s"),
    ],
)
def test_runtimes_that_are_none(submission, text, words):
    submission.runtime("dots").write_text(text)
    found = submission.only()
    assert (found.sample, found.serious) == ("dots", True)
    assert words in found.problem


def test_pixels_without_a_number(submission):
    values = np.zeros((512, 512), np.float32)
    values[0, :3] = np.nan, np.inf, -np.inf
    submission.put("dots", b"Pf\n512 512\n-1\n", values)
    unknown, infinite = submission.findings()
    assert "1 pixels are NaN, which the evaluator counts as right" in unknown.problem
    assert "2 pixels are infinite" in infinite.problem
    assert unknown.serious
    assert infinite.serious


def test_values_outside_the_range(submission):
    values = np.zeros((512, 512), np.float32)
    values[0, :200] = 5
    write_map(submission.map("dots"), values)
    few = submission.only()
    assert not few.serious
    assert "outside -0.7 to 0.9 px" in few.problem
    write_map(submission.map("dots"), values + 2)
    assert submission.only().serious


def test_other_files_are_noted(submission):
    for name in ("disp_maps/boardgames.pfm", ".DS_Store", "readme.txt", "a", "b", "c", "d"):
        (submission.root / name).write_text("x")
    found = submission.only()
    assert not found.serious
    assert "not part of a submission: .DS_Store, a, b, c, d and 2 more" in found.problem


def test_with_the_data_its_scenes_are_expected_at_its_size_and_range(submission, tmp_path):
    truth = Truth({"disparity": np.zeros((40, 60), np.float32)})
    inputs = Inputs({"views": np.zeros((1, 1, 40, 60, 3), np.uint8)})
    write(tmp_path / "data", [Sample("mine", inputs, truth)])
    for path in (*submission.root.glob("*/*"),):
        path.unlink()
    write_map(submission.map("mine"), np.full((40, 60), 7.0))
    submission.runtime("mine").write_text("1")
    assert submission.findings(tmp_path / "data") == []
    write_map(submission.map("mine"), np.zeros((60, 40)))
    (found,) = submission.findings(tmp_path / "data")
    assert "is 40x60 but must be 60x40" in found.problem


def test_the_command_line(submission):
    submission.runtime("dots").write_text("")
    result = CliRunner().invoke(depthgauge, ["check", "hci4d-toolkit", str(submission.root)])
    assert result.exit_code == 1
    assert "error: dots: " in result.output
    options = ["check", "hci4d-toolkit", str(submission.root), "--json"]
    body = json.loads(CliRunner().invoke(depthgauge, options).output)
    assert body["ok"] is False
    assert len(body["findings"]) == 1
