"""`depthgauge suite`: several benchmarks in one table."""

import json

import numpy as np
import pytest

from depthgauge.io import write_map


@pytest.fixture
def rooms(tmp_path):
    depth = np.linspace(1, 5, 600, dtype=np.float32).reshape(20, 30)
    for place in ("data", "A/scannet", "B/scannet"):
        (tmp_path / place).mkdir(parents=True)
    write_map(tmp_path / "data/0.png", depth, "depth", scale=1000)
    rng = np.random.default_rng(0)
    np.save(tmp_path / "A/scannet/0.npy", (depth + rng.normal(0, 0.3, depth.shape)).astype("f4"))
    np.save(tmp_path / "B/scannet/0.npy", (0.2 + 1 / depth).astype(np.float32))
    return tmp_path


def test_estimates_are_scored_and_joined(run, rooms):
    done = run(
        "suite", "mono-zero-shot", "--data", f"scannet={rooms}/data",
        "--estimates", f"A={rooms}/A", "--estimates", f"B={rooms}/B", "--variant", "B=disparity",
        "--json",
    )  # fmt: skip
    assert done.code == 0
    body = json.loads(done.out)
    assert [(row["method"], row["variants"]) for row in body["methods"]] == [
        ("B", ["disparity"]),
        ("A", ["depth"]),
    ]
    assert body["methods"][0]["average_rank"] < body["methods"][1]["average_rank"]


def test_results_of_score_are_joined(run, rooms):
    for method in "AB":
        done = run(
            "score", "mono-zero-shot-scannet", "--data", rooms / "data",
            "--estimates", rooms / method / "scannet", "--json", rooms / f"{method}.json",
        )  # fmt: skip
        assert done.code == 0
    done = run("suite", "mono-zero-shot", rooms / "A.json", f"mine={rooms}/B.json", "--markdown")
    assert done.code == 0
    assert "| mine | depth |" in done.out
    assert "| A | depth |" in done.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "give results of the suite's benchmarks"),
        (["--data", "scannet=x"], "--data and --estimates go together"),
        (["--data", "scannet", "--estimates", "A=x"], "--data scannet: write --data nyu=DIR"),
        (["--data", "tum=x", "--estimates", "A=x"], "no member of mono-zero-shot 'tum'"),
        (
            ["--data", "nyu=x", "--estimates", "A=x", "--variant", "A=log"],
            "no variant of mono-zero-shot 'log'",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(run, more, said):
    done = run("suite", "mono-zero-shot", *more)
    assert done.code != 0
    assert said in done.err


def test_a_suite_can_be_shown_and_listed(run):
    assert "members:" in run("show", "mono-zero-shot").out
    assert "mono-zero-shot" in run("list", "suites").out
