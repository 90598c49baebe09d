"""Estimates of a run as public servers want them; twins score the folder as they score the run."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.engine.store.submission_folder import write_submission
from depthgauge.errors import BadData, Misuse, Unavailable, UnknownName
from depthgauge.io import read_map
from depthgauge.types import Estimate, Inputs, Sample, Truth

SHAPE = (24, 40)


def surface(seed, low=3.0, high=60.0):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    random = np.random.default_rng(seed)
    values = low + (high - low) * (x + y) / (sum(SHAPE)) + random.normal(0, 0.3, SHAPE)
    return values.astype(np.float32)


def disparity(inputs):
    """A map with noise, outliers and holes, the same for the same picture."""
    seed = int(inputs["left_image"].astype(int).sum()) % 1000
    random = np.random.default_rng(seed)
    found = surface(seed) + random.normal(0, 2.5, SHAPE).astype(np.float32)
    found[random.random(SHAPE) < 0.1] = np.nan
    return np.clip(found, 0.01, None)


def scene_flow(inputs):
    first = np.nan_to_num(disparity(inputs), nan=9.0)
    return Estimate(
        first,
        "image_scene_flow",
        {"second_disparity": first + 1, "flow": np.dstack([first, -first])},
    )


def dense_flow(inputs):
    first = inputs["first_image"][..., 0].astype(np.float32)
    return np.dstack([first, first]) / 16


def samples(ids, truth=True):
    for number, name in enumerate(ids):
        image = np.random.default_rng(number).integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
        maps = {
            "disparity": surface(number),
            "second_disparity": surface(number + 1),
            "flow": np.dstack([surface(number), surface(number + 2)]),
            "foreground_mask": surface(number) > 40,
            **{f"{n}visible_mask": surface(number) > 9 for n in ("", "second_", "flow_")},
        }
        inputs = {"left_image": image, "right_image": image, "second_image": image}
        yield Sample(name, Inputs(inputs), Truth(maps) if truth else None)


@pytest.fixture(scope="module")
def kitti(tmp_path_factory):
    root = tmp_path_factory.mktemp("kitti")
    DATASETS["kitti-2015"].write(root / "training", samples(["000000_10", "000001_10"]))
    return root


def values(result):
    return {name: found.value for name, found in result.summary.items()}


def test_the_twin_scores_the_folder_as_it_scores_the_run(kitti, tmp_path):
    run = dg.run("kitti-2015-stereo-toolkit", kitti, [disparity], tmp_path / "run", workers=0)
    (label,) = [entrant.label for entrant in run.entrants]
    done = write_submission("kitti-2015", tmp_path / "run", label, tmp_path / "sent")
    assert (done.files, done.samples) == (2, ("000000_10", "000001_10"))
    again = dg.evaluate("kitti-2015-toolkit", kitti, tmp_path / "sent", check=False)
    before = values(run.results[label, 0])
    assert len(before) == 14
    for name, value in values(again).items():  # rounding to 1/256 px may turn a few pixels
        assert value == pytest.approx(before[name], abs=3 / (SHAPE[0] * SHAPE[1])), name
    stored = read_map(tmp_path / "sent/disp_0/000000_10.png", "disparity")
    kept = np.load(next((tmp_path / "run/estimates").glob("*/000000_10/disparity.npy")))
    assert (np.isnan(stored) == np.isnan(kept)).all()
    assert np.nanmax(np.abs(stored - kept)) <= 1 / 512
    assert dg.check("kitti-2015-stereo", tmp_path / "sent", kitti) == []


def test_a_folder_of_estimates_becomes_a_submission(kitti, tmp_path):
    """Made elsewhere, in our layout; what was scored is what is sent."""
    rng = np.random.default_rng(8)
    own = {f"00000{i}_10": rng.integers(256, 9000, SHAPE) / np.float32(256) for i in (0, 1)}
    for name, values in own.items():
        place = tmp_path / "mine" / name / "disparity.npy"
        place.parent.mkdir(parents=True)
        np.save(place, values.astype(np.float32))
    method = f"folder:{tmp_path / 'mine'}"
    dg.run("kitti-2015-stereo", kitti, [method], tmp_path / "run", workers=0)
    write_submission("kitti-2015-stereo", tmp_path / "run", "mine", tmp_path / "sent")
    for name, values in own.items():
        sent = read_map(tmp_path / f"sent/disp_0/{name}.png", "disparity")
        np.testing.assert_array_equal(sent, values)


def test_estimates_that_were_not_kept_cannot_be_sent(kitti, tmp_path):
    options = {"workers": 0, "keep_estimates": False}
    run = dg.run("kitti-2015-stereo", kitti, [disparity], tmp_path / "run", **options)
    (label,) = [entrant.label for entrant in run.entrants]
    with pytest.raises(BadData, match=r"did not keep the estimates of .*--drop-estimates"):
        write_submission("kitti-2015-stereo", tmp_path / "run", label, tmp_path / "sent")


def test_scene_flow_has_three_folders_and_an_archive_with_them_at_its_root(kitti, tmp_path):
    run = dg.run("kitti-2015", kitti, [scene_flow], tmp_path / "run", workers=0)
    done = write_submission("kitti-2015-toolkit", tmp_path / "run", "scene_flow", tmp_path / "sent")
    assert done.archive == tmp_path / "sent.zip"
    with zipfile.ZipFile(done.archive) as packed:
        assert sorted(packed.namelist()) == [
            f"{folder}/00000{i}_10.png" for folder in ("disp_0", "disp_1", "flow") for i in (0, 1)
        ]
    first = done.archive.read_bytes()
    write_submission("kitti-2015", tmp_path / "run", "scene_flow", tmp_path / "again")
    assert (tmp_path / "again.zip").read_bytes() == first
    twin = dg.evaluate("kitti-2015-toolkit", kitti, tmp_path / "sent", check=False)
    ours = values(run.results["scene_flow", 0])
    for theirs, name in (
        ("SF_all@occ", "sf@all"),
        ("D2_all@occ", "d2@all"),
        ("Fl_fg@occ", "fl@foreground"),
    ):
        assert 100 * twin.summary[theirs].value == pytest.approx(ours[name], abs=0.5)
    assert any("wants 200 samples, the run has 2" in text for text in done.warnings)
    json.dumps(done.to_json())


def test_a_run_of_the_twin_reads_all_parts(kitti, tmp_path):
    run = dg.run("kitti-2015-toolkit", kitti, [scene_flow], tmp_path / "run", workers=0)
    found = values(run.results["scene_flow", 0])
    assert set(found) == set(run.protocol.score_ids)
    write_submission("kitti-2015", tmp_path / "run", "scene_flow", tmp_path / "sent")
    again = values(dg.evaluate("kitti-2015-toolkit", kitti, tmp_path / "sent", check=False))
    assert all(again[n] == pytest.approx(found[n], abs=0.005) for n in found)


def test_a_test_split_is_run_without_truth_and_submitted(tmp_path):
    ids = ["000000_10", "000001_10"]
    DATASETS["kitti-2015"].write(tmp_path / "data/testing", samples(ids, truth=False))
    benchmark = "kitti-2015-stereo@test"
    with pytest.raises(dg.errors.NothingScored, match="--no-truth"):
        dg.run(benchmark, tmp_path / "data", [disparity], tmp_path / "run", workers=0)
    run = dg.run(
        benchmark, tmp_path / "data", [disparity], tmp_path / "run", workers=0, no_truth=True
    )
    assert run.samples == ()
    done = write_submission(benchmark, tmp_path / "run", "disparity", tmp_path / "sent")
    assert [p.name for p in sorted((tmp_path / "sent/disp_0").iterdir())] == [
        f"{i}.png" for i in ids
    ]
    assert done.files == 2


def test_eth3d_gets_times_and_what_the_format_says(tmp_path):
    DATASETS["eth3d-two-view"].write(tmp_path / "data", samples(["hall_1l"]))
    dg.run("eth3d-toolkit", tmp_path / "data", [disparity], tmp_path / "run", workers=0)
    write_submission("eth3d", tmp_path / "run", "disparity", tmp_path / "sent")
    text = (tmp_path / "sent/low_res_two_view/hall_1l.txt").read_text()
    assert text.startswith("runtime ")
    assert float(text.split()[1]) > 0
    header = (tmp_path / "sent/low_res_two_view/hall_1l.pfm").read_bytes()[:2]
    assert header == b"Pf"
    exact = dg.evaluate("eth3d-toolkit", tmp_path / "data", tmp_path / "sent", check=False)
    before = dg.load_run(tmp_path / "run").results["disparity", 0]
    assert values(exact) == values(before)  # a PFM keeps every bit


def test_servers_that_want_every_pixel_refuse_holes(tmp_path):
    flow_samples = [
        Sample(
            "Venus",
            Inputs({"first_image": next(samples(["a"])).inputs.left_image}),
            Truth({"flow": np.dstack([surface(1), surface(2)])}),
        )
    ]
    DATASETS["middlebury-flow"].write(tmp_path / "data", flow_samples)

    def holes(inputs):
        found = dense_flow(inputs)
        found[3, 4] = np.nan
        return found

    methods = [dense_flow, holes]
    dg.run("middlebury-flow", tmp_path / "data", methods, tmp_path / "run", workers=0)
    with pytest.raises(BadData, match=r"1 of 1 estimates have missing pixels.*Venus"):
        write_submission("middlebury-flow", tmp_path / "run", "holes", tmp_path / "bad")
    done = write_submission("middlebury-flow", tmp_path / "run", "dense_flow", tmp_path / "sent")
    found = dg.evaluate("middlebury-flow", tmp_path / "data", tmp_path / "sent").summary
    before = dg.load_run(tmp_path / "run").results["dense_flow", 0].summary
    assert found["epe@all"].value == before["epe@all"].value
    assert done.archive is not None


def test_spring_and_sintel_get_the_folders_that_their_programs_pack(tmp_path):
    first = next(samples(["a"]))
    inputs = Inputs({**first.inputs, "first_image": first.inputs.left_image})
    names = ("disparity", "second_disparity", "flow")
    truth = Truth({name: first.truth[name] for name in names})
    given = [Sample("0003/FW_left_0001", inputs, truth)]
    DATASETS["spring"].write(tmp_path / "spring", given)
    dg.run("spring-scene-flow", tmp_path / "spring", [scene_flow], tmp_path / "a", workers=0)
    done = write_submission("spring-scene-flow", tmp_path / "a", "scene_flow", tmp_path / "sent")
    files = sorted(p.relative_to(done.folder).as_posix() for p in done.folder.rglob("*.*5"))
    assert files == [
        "0003/disp1_left/disp1_left_0001.dsp5",
        "0003/disp2_FW_left/disp2_FW_left_0001.dsp5",
        "0003/flow_FW_left/flow_FW_left_0001.flo5",
    ]
    assert done.archive is None
    before = dg.load_run(tmp_path / "a").results["scene_flow", 0]
    again = dg.evaluate("spring-scene-flow", tmp_path / "spring", done.folder, check=False)
    assert values(again) == pytest.approx(values(before))
    twin = dg.evaluate("spring-scene-flow-toolkit", tmp_path / "spring", done.folder, check=False)
    assert 0 < twin.summary["SF@total"].value <= 100
    flow = [Sample("clean/alley_1/frame_0001", inputs, Truth({"flow": truth.flow}))]
    DATASETS["sintel"].write(tmp_path / "sintel", flow)
    dg.run("sintel", tmp_path / "sintel", [dense_flow], tmp_path / "b", workers=0)
    done = write_submission("sintel", tmp_path / "b", "dense_flow", tmp_path / "sintel-sent")
    assert (done.folder / "clean/alley_1/frame_0001.flo").is_file()
    again = dg.evaluate("sintel", tmp_path / "sintel", done.folder, check=False)
    assert (
        values(again)["epe@all"]
        == values(dg.load_run(tmp_path / "b").results["dense_flow", 0])["epe@all"]
    )


def test_what_a_format_cannot_hold_is_counted(kitti, tmp_path):
    def far(inputs):
        found = disparity(inputs)
        found[0, :3] = 400
        return found

    dg.run("kitti-2015-stereo", kitti, [far], tmp_path / "run", workers=0)
    done = write_submission("kitti-2015", tmp_path / "run", "far", tmp_path / "sent", archive=False)
    assert done.archive is None
    assert any(text.startswith("6 values were outside the format") for text in done.warnings)


def test_mistakes_are_named(kitti, tmp_path):
    dg.run("kitti-2015-stereo", kitti, [disparity], tmp_path / "run", workers=0)
    with pytest.raises(UnknownName, match="no method in this run 'n'"):
        write_submission("kitti-2015", tmp_path / "run", "n", tmp_path / "sent")
    with pytest.raises(BadData, match="is a run on 'kitti-2015', eth3d is on"):
        write_submission("eth3d", tmp_path / "run", "disparity", tmp_path / "sent")
    (tmp_path / "b.toml").write_text(
        'id = "b"\nversion = 1\ndataset = "folder"\nquantity = "disparity"\npool = "image"\n'
        '[[scores]]\nmetric = "mae"\n'
    )
    with pytest.raises(Unavailable, match="no public server of 'folder'"):
        write_submission(tmp_path / "b.toml", tmp_path / "run", "disparity", tmp_path / "sent")
    with pytest.raises(Misuse, match="no seed 3"):
        write_submission("kitti-2015", tmp_path / "run", "disparity", tmp_path / "sent", seed=3)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("")
    with pytest.raises(Misuse, match="is not empty"):
        write_submission("kitti-2015", tmp_path / "run", "disparity", tmp_path / "full")
    with pytest.raises(Misuse, match=r"is not empty \(x\); give a new folder\."):
        write_submission(
            "kitti-2015", tmp_path / "run", "disparity", tmp_path / "full", overwrite=True
        )
    write_submission("kitti-2015", tmp_path / "run", "disparity", tmp_path / "sent")
    (tmp_path / "sent/disp_0/000009_10.png").write_bytes(b"old")
    with pytest.raises(Misuse, match="--overwrite"):
        write_submission("kitti-2015", tmp_path / "run", "disparity", tmp_path / "sent")
    again = write_submission(
        "kitti-2015", tmp_path / "run", "disparity", tmp_path / "sent", overwrite=True
    )
    assert again.files == 2
