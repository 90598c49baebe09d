"""`check` on folders of public submissions: everything that is wrong, each in one sentence."""

import shutil

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.io import write_image, write_map
from depthgauge.types import Inputs, Sample, Truth

SHAPE = (12, 20)
IDS = ("000000_10", "000001_10", "000002_10")


def smooth(add=0.0):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    return (20 + y + 0.5 * x + add).astype(np.float32)


@pytest.fixture
def made(tmp_path):
    """Data and a submission without a fault."""
    maps = {"disparity": smooth(), "second_disparity": smooth(1)}
    maps["flow"] = np.dstack([smooth(), smooth(2)])
    picture = np.zeros((*SHAPE, 3), np.uint8)
    samples = [Sample(i, Inputs({"left_image": picture}), Truth(maps)) for i in IDS]
    DATASETS["kitti-2015"].write(tmp_path / "training", samples)
    parts = {"disp_0": "disparity", "disp_1": "second_disparity", "flow": "flow"}
    for folder, part in parts.items():
        (tmp_path / "sent" / folder).mkdir(parents=True)
        for name in IDS:
            kind = "flow" if folder == "flow" else "disparity"
            write_map(tmp_path / "sent" / folder / f"{name}.png", maps[part], quantity=kind)
    return tmp_path


def said(made, benchmark="kitti-2015-toolkit", folder="sent", data=True):
    found = dg.check(benchmark, made / folder, made / "training" if data else None)
    return [(f.sample, f.problem, f.serious) for f in found]


def test_a_good_submission_has_no_fault(made):
    assert said(made) == []
    assert said(made, "kitti-2015") == []
    assert said(made, data=False) == []


def test_everything_is_named_at_once(made):
    sent = made / "sent"
    write_image(sent / "disp_0/000000_10.png", np.full(SHAPE, 7, np.uint8))
    write_image(sent / "disp_0/000001_10.png", np.full((*SHAPE, 3), 700, np.uint16))
    write_image(sent / "flow/000001_10.png", np.zeros((*SHAPE, 3), np.uint8))
    write_map(sent / "disp_1/000000_10.png", np.ones((4, 5)), quantity="disparity")
    (sent / "disp_1/000002_10.png").unlink()
    (sent / "flow/000002_10.png").write_bytes(b"\xff\xd8\xff\xe0 a JPEG")
    found = said(made)
    assert found == [
        ("000000_10", "disp_0/000000_10.png has one channel of 8 bits.", True),
        ("000000_10", "disp_1/000000_10.png is 5x4, the picture is 20x12.", True),
        ("000001_10", "disp_0/000001_10.png has three channels (RGB) of 16 bits.", True),
        ("000001_10", "flow/000001_10.png has three channels (RGB) of 8 bits.", True),
        (
            "000002_10",
            "flow/000002_10.png: expected a map, found a JPEG, which does not keep values exactly.",
            True,
        ),
        ("submission", "disp_1/ lacks 1 of 3 frames: 000002_10.", True),
    ]


def test_a_part_that_was_not_submitted_is_a_note(made):
    for name in IDS:
        (made / f"sent/disp_1/{name}.png").unlink()
    assert said(made) == [("submission", "disp_1/ has no frames.", False)]


@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        (".", "the submission begins one level further down, in sent/."),
        ("sent/flow", "is one of the folders of a submission, not the submission."),
    ],
)
def test_the_wrong_level_is_named_and_the_rest_is_checked(made, folder, problem):
    (made / "sent/disp_0/000001_10.png").unlink()
    first, second = said(made, folder=folder)
    assert problem in first[1]
    assert second == ("submission", "disp_0/ lacks 1 of 3 frames: 000001_10.", True)


def test_a_folder_of_several_submissions_is_not_taken_for_one(made):
    (made / "all").mkdir()
    for name in ("ours", "theirs"):
        shutil.copytree(made / "sent", made / "all" / name)
    ((where, problem, serious),) = said(made, folder="all")
    assert (where, serious) == ("submission", True)
    assert problem.endswith("all holds 2 submissions: ours, theirs.")


def test_data_at_the_wrong_level_hides_nothing_of_the_estimates(made):
    """Both folders are wrong, and both are named."""
    data, estimates = [
        (finding.sample, finding.problem) for finding in dg.check("kitti-2015", made, made / "sent")
    ]
    assert data[0] == "data"
    assert "has data of 'kitti-2015'" in data[1]
    assert estimates == ("submission", "the submission begins one level further down, in sent/.")


def test_values_of_good_files_are_looked_at_too(made):
    sent = made / "sent/disp_0"
    for name in IDS:
        write_map(sent / f"{name}.png", smooth() / 256, quantity="disparity")
    found = said(made, "kitti-2015-stereo")
    assert len(found) == 3
    assert all("0.00390625" in p or "256" in p or "scale" in p.lower() for _, p, _ in found)


def test_our_own_layout_is_not_taken_for_a_bad_submission(made):
    for name in IDS:
        (made / "ours" / name).mkdir(parents=True)
        np.save(made / "ours" / name / "disparity.npy", smooth())
    assert said(made, "kitti-2015-stereo", "ours") == []
    (made / "ours").rename(made / "sent/ours")
    assert said(made, "kitti-2015-stereo", "sent/ours") == []


def test_a_folder_beside_a_submission_is_not_taken_for_a_part_of_it(made):
    (made / "sent/other").mkdir()
    write_map(made / "sent/other/000000_10.png", smooth(), quantity="disparity")
    found = said(made, "kitti-2015-stereo", "sent/other")
    assert [sample for sample, _, _ in found] == ["000001_10", "000002_10"]
    assert all("no estimate for" in problem for _, problem, _ in found)
