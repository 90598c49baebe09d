"""`score` without a benchmark: options of two maps, and folders."""

from __future__ import annotations

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import write_image


@pytest.fixture
def maps(tmp_path, monkeypatch):
    """A disparity of 40x60, an estimate with errors, and half of it in size."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    truth = rng.uniform(1, 60, (40, 60)).astype(np.float32)
    estimate = truth + rng.normal(0, 2, truth.shape).astype(np.float32)
    np.save("truth.npy", truth)
    np.save("estimate.npy", estimate)
    np.save("half.npy", estimate[::2, ::2] / 2)
    image = rng.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    image[:, :20] = 9
    write_image("left.png", image)
    return truth, estimate


TWO = ("score", "--estimate", "estimate.npy", "--truth", "truth.npy")


def test_names_of_papers_are_said_once_and_the_ids_are_ours(run, maps):
    ran = run(*TWO, "--metric", "EPE", "--metric", "bad-2.0", "--json", "-")
    assert ran.err == "EPE is mae here, bad-2.0 is badpix:2.\n"
    assert list(ran.json()["summary"]) == ["mae@all", "badpix:2@all"]
    assert run(*TWO, "--metric", "EPE", "--quiet").err == ""


def test_every_option_gives_what_python_gives(run, maps):
    truth, estimate = maps
    cases = [
        (("--align", "scale_shift"), {"align": "scale_shift"}),
        (("--align", "median:depth"), {"align": "median:depth"}),
        (("--crop", "garg"), {"crop": "garg"}),
        (("--crop", "5:30,2:50"), {"crop": "5:30,2:50"}),
        (("--crop", "4"), {"crop": 4}),
    ]
    for options, keys in cases:
        body = run(*TWO, "--metric", "mae", *options, "--json", "-").json()
        expected = dg.score(estimate, truth, "mae", **keys)
        assert body["summary"]["mae@all"] == expected["mae@all"].value
        assert body["protocol_hash"] == expected.protocol_hash


def test_another_size_is_told_the_option_and_not_the_argument(run, maps):
    small = ("score", "--estimate", "half.npy", "--truth", "truth.npy", "--metric", "mae")
    ran = run(*small)
    assert ran.code == 1
    assert "the estimate is 30x20, the truth is 60x40" in ran.err
    assert "--resize nearest" in ran.err
    assert "estimate_resize" not in ran.err
    assert run(*small, "--resize", "nearest").code == 0


def test_regions_that_need_an_image_get_it_by_an_option(run, maps):
    ran = run(*TWO, "--metric", "mae", "--region", "textureless")
    assert ran.code == 2
    assert "region 'textureless' needs left_image" in ran.err
    assert ran.err.rstrip().endswith("give --left IMAGE.")
    ran = run(
        *TWO, "--metric", "mae", "--region", "textureless", "--left", "left.png", "--json", "-"
    )
    body = ran.json()["samples"]["truth"]
    assert 0 < body["mae@textureless"]["count"] < body["mae@all"]["count"]


def test_occlusion_comes_from_the_right_truth_or_a_mask(run, maps):
    truth, _ = maps
    assert "--right-truth MAP" in run(*TWO, "--metric", "mae", "--region", "occluded").err
    np.save("right.npy", truth)
    ran = run(*TWO, "--metric", "mae", "--region", "occluded", "--right-truth", "right.npy")
    assert ran.code == 0
    mask = np.zeros(truth.shape, np.uint8)
    mask[:10] = 255
    write_image("hidden.png", mask)
    ran = run(*TWO, "--metric", "mae", "--region", "occluded=hidden.png", "--json", "-")
    assert ran.json()["samples"]["truth"]["mae@occluded"]["count"] == 600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--align", "meidan"), "must be median, scale or scale_shift"),
        (("--align", "scale:sound"), ":depth or :disparity"),
        (("--crop", "grag"), "did you mean 'garg'"),
        (("--crop", "5:3,:"), "ends before it begins"),
        (("--pattern", "{id}.npy"), "are for two folders"),
        (("--save", "run"), "are for folders"),
        (("--region", "nothing"), "or the name of a region"),
        (("--resize", "cubic"), "nearest"),
    ],
)
def test_misuse_is_exit_2_and_one_sentence(run, maps, options, message):
    ran = run(*TWO, "--metric", "mae", *options)
    assert ran.code == 2
    assert message in ran.err


# --- folders ------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("truth", "a", "b"):
        (tmp_path / name).mkdir()
    for i in range(3):
        truth = rng.uniform(1, 60, (12, 18)).astype(np.float32)
        np.save(f"truth/{i}.npy", truth)
        np.save(f"a/{i}_disp.npy", truth + 1)
        if i:
            np.save(f"b/{i}.npy", truth + 2)
    return tmp_path


def test_a_folder_gives_a_table_and_says_what_was_paired(run, folders):
    ran = run("score", "--truth", "truth", "--estimates", "b", "--metric", "epe")
    assert ran.code == 0
    assert "b: 2 of 3 true maps have an estimate as {id}.npy; without one: 0." in ran.err
    assert "epe is mae here." in ran.err
    assert "b against truth, 2 samples" in ran.out
    assert "mae@all  2.000" in ran.out


def test_several_folders_give_a_leaderboard_and_a_run_that_report_and_compare_take(run, folders):
    two = ("--estimates", "A=a", "--estimates", "B=b", "--metric", "mae")
    ran = run("score", "--truth", "truth", *two, "--save", "run")
    assert ran.code == 0
    assert "A: 3 of 3 true maps" in ran.err
    assert "incomplete 2/3" in ran.out
    assert run("report", "run", "--text").code == 0
    assert run("report", "run", "--html", "page.html").code == 0
    assert run("compare", "run", "run").code == 0
    body = run("score", "--truth", "truth", *two, "--json", "-").json()
    assert set(body["methods"]) == {"A", "B"}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--estimates", "a", "--pattern", "{id}_x.npy"), 1, "no name matches a truth by"),
        (("--estimates", "a", "--estimates", "a"), 2, "its own name: NAME=DIR"),
        (("--estimates", "a", "--left", "x.png"), 1, "x.png: there is no such folder"),
        (("--estimates", "a", "--region", "m=mask.png"), 2, "does not fit a folder of maps"),
        (("--estimates", "nowhere"), 1, "there is no such folder"),
        ((), 2, "two folders are --truth DIR and --estimates DIR"),
    ],
)
def test_what_folders_cannot_do(run, folders, options, code, message):
    ran = run("score", "--truth", "truth", *options)
    assert ran.code == code
    assert message in ran.err
