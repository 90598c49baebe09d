"""`explain` on the command line, and `score --set` and `--dataset`, which repeat what it finds."""

import json
import shlex

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import write_image


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    for name in ("data/truth", "data/masks/glass", "mine", "other"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a", "b"):
        truth = rng.uniform(5, 50, (20, 24)).astype(np.float32)
        mine = truth + rng.normal(0, 1.5, truth.shape).astype(np.float32)
        mine[rng.random(truth.shape) < 0.1] = np.nan
        dg.write_map(f"data/truth/{name}.pfm", truth)
        write_image(f"data/masks/glass/{name}.png", rng.random(truth.shape) < 0.3)
        dg.write_map(f"mine/{name}.pfm", mine)
        dg.write_map(f"other/{name}.pfm", truth + np.float32(1.2))
    return tmp_path


def commands(output: str) -> list[list[str]]:
    """What `explain` printed to repeat its protocols."""
    lines = [line.partition(": ")[2] for line in output.splitlines() if " score --" in line]
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.parametrize(
    "way",
    [
        ["--truth", "data", "--estimates", "mine"],
        ["--dataset", "folder", "--data", "data", "--estimates", "mine"],
        ["--truth", "data/truth/a.pfm", "--estimate", "mine/a.pfm"],
    ],
    ids=["folders", "dataset", "maps"],
)
def test_every_printed_command_prints_the_value(folders, run, way):
    """Of 30 protocols near a number, whatever their settings."""
    found = run("explain", "30.00123456789", *way, "--most", "30", "--json", "found.json")
    explained = json.loads((folders / "found.json").read_text())["explanations"][0]
    listed = (explained["matches"] or explained["nearest"])[:30]
    repeat = commands(found.out)
    assert len(repeat) == len(listed) == 30
    kinds = set()
    for match, command in list(zip(listed, repeat, strict=True))[::3]:
        result = run(*command, "--json").json()
        value = result["summary"][match["score"]]
        shown = {"good": 100 - value, "fraction": value / 100, "percent": 100 * value}
        assert shown.get(match["shown"], value) == pytest.approx(match["value"], rel=1e-9)
        kinds.add((match["missing"], tuple(match["keys"])))
    assert len(kinds) > 1


def test_masks_of_a_dataset_are_regions(folders, run):
    found = run("explain", "12.3", "--dataset", "folder", "--data", "data", "--estimates", "mine")
    assert (
        "@glass"
        in run(
            *("explain", "--dataset", "folder", "--data", "data"),
            *("--estimates", "mine", "--estimates", "other"),
        ).out
    )
    assert "by chance" in found.out


def test_a_benchmark_with_another_rule_has_another_hash(folders, run, tmp_path):
    (tmp_path / "b.toml").write_text(
        'id = "b"\nversion = 1\ndataset = "folder"\nquantity = "disparity"\npool = "image"\n'
        'estimate = {range = "none"}\n[[scores]]\nmetric = "badpix"\nthreshold = 2\n'
    )
    call = ("score", "b.toml", "--data", "data", "--estimates", "mine", "--json")
    plain, changed = (
        run(*call, *more).json()
        for more in ((), ("--set", "missing=skip", "--set", "estimate.clip=[0, 100]"))
    )
    assert plain["protocol_hash"] != changed["protocol_hash"]
    assert changed["protocol"]["missing"] == "skip"
    assert plain["summary"]["badpix:2@all"] > changed["summary"]["badpix:2@all"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "13.6"], "say what is compared"),
        (["explain", "13.6", "--data", "data"], "give the folder of estimates"),
        (["explain", "x", "--truth", "data", "--estimates", "mine"], "'x' is not a number"),
        (["explain", "--truth", "data", "--estimates", "mine"], "give the number to explain"),
        (["explain", "1", "--estimate", "mine/a.pfm"], "--estimate needs --truth"),
        (["explain", "1", "--data", "data", "--estimates", "mine"], "no layout fits"),
        (["explain", "1", "--truth", "data", "--estimates", "nowhere"], "no such folder"),
        (["score", "--dataset", "folder", "--data", "data"], "--dataset needs --data DIR"),
        (
            ["score", "--truth", "data", "--estimates", "mine", "--set", "pool"],
            "write KEY=VALUE, such as pool=pixel",
        ),
        (
            ["score", "--truth", "data", "--estimates", "mine", "--set", "dataset=x"],
            "'dataset' is not set like this",
        ),
        (["score", "middlebury", "--dataset", "x"], "a benchmark says its dataset itself"),
    ],
)
def test_mistakes_are_one_sentence(folders, run, arguments, said):
    found = run(*arguments)
    assert found.code in (1, 2)
    assert said in " ".join(found.err.split())


def test_the_devkit_sample_of_kitti_is_d1(shared, run):
    """A published number on real data: 13.62, computed by a plain line of NumPy in SOURCE.md."""
    folder = shared("data/kitti-devkit-samples")
    found = run(
        *("explain", "13.62", "14.95", "--json"),
        *("--estimate", folder / "disp_est.png", "--truth", folder / "disp_gt.png"),
    ).json()
    best = found["together"][0]
    assert [each["score"] for each in best["scores"]] == ["d1:3,0.05@all", "badpix:3@all"]
    assert (best["missing"], best["setting"]) == ("bad", "")


def test_published_numbers_of_flow_and_depth_are_found(shared, run):
    """What SOURCE.md says of both samples: EPE and Fl; RMSE, delta and AbsRel."""
    flow, depth = shared("data/kitti-devkit-samples"), shared("data/rgbd-nyu-fastdepth")
    found = run(
        *("explain", "20.69", "12.2007", "--json", "--quantity", "flow"),
        *("--estimate", flow / "flow_est.png", "--truth", flow / "flow_gt.png"),
    ).json()["together"]
    assert [each["score"] for each in found[0]["scores"]] == ["fl:3,0.05@all", "epe@all"]
    found = run(
        *("explain", "0.618", "0.777", "0.140", "--json", "--quantity", "depth"),
        *("--estimate", depth / "pred.npy", "--truth", depth / "depth.npy"),
    ).json()["together"]
    assert [each["score"] for each in found[0]["scores"]] == [
        *("rms@all", "delta:1.25@all", "absrel@all")
    ]
    assert found[0]["setting"] == ""
