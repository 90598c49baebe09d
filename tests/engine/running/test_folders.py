"""Folders of maps without a benchmark: what is paired, what is said, and the run that is kept."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import depthgauge as dg
from depthgauge.engine.running.folders import pair, score_folders
from depthgauge.errors import BadData, Misuse, UnknownScale
from depthgauge.io import read_image, write_image


@pytest.fixture
def folders(tmp_path):
    """Five truths; `a` lacks the last and has one too many, `b` has three under plain names."""
    rng = np.random.default_rng(0)
    for name in ("truth", "a", "b"):
        (tmp_path / name).mkdir()
    for i in range(5):
        truth = rng.uniform(1, 60, (12, 18)).astype(np.float32)
        np.save(tmp_path / "truth" / f"{i:06}_10.npy", truth)
        if i < 4:
            np.save(tmp_path / "a" / f"{i:06}_10_disp.npy", truth + np.float32(i))
        if i < 3:
            dg.write_map(tmp_path / "b" / f"{i:06}_10.pfm", truth - 2)
    np.save(tmp_path / "a" / "other.npy", truth)
    return tmp_path


def test_names_around_the_truths_are_found_and_everything_is_said(folders):
    found = score_folders(folders / "truth", folders / "a", ["epe"])
    (pairing,) = found.pairings
    assert pairing.pattern == "{id}_disp.npy"
    assert len(pairing.files) == 4
    assert pairing.without_estimate == ("000004_10",)
    assert pairing.without_truth == ("other.npy",)
    assert str(pairing) == (
        "a: 4 of 5 true maps have an estimate as {id}_disp.npy; without one: 000004_10; "
        "without a truth: other.npy."
    )
    (result,) = found.run.results.values()
    assert list(result.samples) == [f"{i:06}_10" for i in range(4)]
    assert result.summary["mae@all"].value == pytest.approx((0 + 1 + 2 + 3) / 4, rel=1e-6)


def test_the_numbers_are_those_of_the_pairs_one_by_one(folders):
    found = score_folders(folders / "truth", folders / "a", ["mae", "badpix:2"], crop="3:9,2:16")
    (result,) = found.run.results.values()
    for sample, scores in result.samples.items():
        alone = dg.score(
            folders / "a" / f"{sample}_disp.npy",
            folders / "truth" / f"{sample}.npy",
            ["mae", "badpix:2"],
            crop="3:9,2:16",
        )
        assert {n: s.value for n, s in scores.items()} == {n: s.value for n, s in alone.items()}


def test_several_folders_are_one_run_that_is_kept_and_goes_on(folders):
    out = folders / "run"
    given = {"A": folders / "a", "B": folders / "b"}
    found = score_folders(folders / "truth", given, "mae", regions={"front": "near:30"}, out=out)
    assert [e.label for e in found.run.entrants] == ["A", "B"]
    assert list(found.run.results["B", 0].failed) == ["000003_10"]
    again = dg.load_run(out)
    assert again.protocol.hash == found.run.protocol.hash
    assert set(again.results["A", 0].summary) == {"mae@all", "mae@front"}
    score_folders(folders / "truth", given, "mae", regions={"front": "near:30"}, out=out)
    with pytest.raises(BadData, match="under protocol"):
        score_folders(folders / "truth", given, "rms", out=out)


def test_nothing_is_kept_where_nothing_is_asked_for(folders, monkeypatch, tmp_path_factory):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(place))
    score_folders(folders / "truth", folders / "a", "mae")
    assert not list(place.iterdir())


def test_patterns_of_both_sides(folders):
    for path in sorted((folders / "truth").iterdir()):
        path.rename(path.with_name(f"gt_{path.name}"))
    with pytest.raises(BadData, match=r"no name matches a truth; it has .* --truth-pattern"):
        score_folders(folders / "truth", folders / "a", "mae")
    found = score_folders(
        folders / "truth", folders / "a", "mae", truth_pattern="gt_{id}.npy", pattern="{id}_disp"
    )
    assert found.pairings[0].pattern == "{id}_disp.npy"
    assert found.run.samples == tuple(f"{i:06}_10" for i in range(4))


def test_folders_per_sequence_and_flow_are_recognised(tmp_path):
    flow = np.ones((4, 5, 2), np.float32)
    for name in ("truth", "mine"):
        for frame in ("alley_1/frame_0001", "alley_2/frame_0001"):
            path = tmp_path / name / f"{frame}.flo"
            path.parent.mkdir(parents=True, exist_ok=True)
            dg.write_map(path, flow * (2 if name == "mine" else 1), quantity="flow")
    found = score_folders(tmp_path / "truth", tmp_path / "mine")
    assert found.run.protocol.quantity == "flow"
    assert found.run.samples == ("alley_1/frame_0001", "alley_2/frame_0001")
    (result,) = found.run.results.values()
    assert result.summary["epe@all"].value == pytest.approx(2**0.5)


def test_a_folder_with_its_own_file_keeps_its_rules(folders):
    (folders / "truth" / "depthgauge.toml").write_text('truth = "{id}_10.npy"\n')
    found = score_folders(folders / "truth", folders / "a", "mae", pattern="{id}_10_disp.npy")
    assert found.run.samples == tuple(f"{i:06}" for i in range(4))


def test_mistakes_are_one_sentence(folders):
    (folders / "empty").mkdir()
    with pytest.raises(BadData, match="there is no such folder"):
        score_folders(folders / "nowhere", folders / "a")
    with pytest.raises(BadData, match="empty: there is no map in it"):
        score_folders(folders / "empty", folders / "a")
    with pytest.raises(BadData, match="empty: there is no map in it"):
        score_folders(folders / "truth", folders / "empty")
    with pytest.raises(Misuse, match=r"must have \{id\} in it"):
        pair("a", folders / "a", ["x"], "disparity", "disp.npy")


def test_the_longest_name_of_a_truth_wins(tmp_path):
    for name in ("1_d.npy", "11_d.npy"):
        np.save(tmp_path / name, np.zeros((2, 2)))
    found = pair("x", tmp_path, ["1", "11"], "disparity")
    assert {i: path.name for i, path in found.files.items()} == {"1": "1_d.npy", "11": "11_d.npy"}


def test_depth_without_a_name_is_noted_and_scales_are_said(tmp_path):
    rows, columns = np.indices((60, 80))
    metres = 40 / (5 + rows + columns / 10)
    for name in ("truth", "mine"):
        (tmp_path / name).mkdir()
    np.save(tmp_path / "truth" / "a.npy", metres.astype(np.float32))
    np.save(tmp_path / "mine" / "a.npy", np.rint(1000 * metres).astype(np.uint16))
    folders = (tmp_path / "truth", tmp_path / "mine", "mae")
    said = {"reading": {"estimate": {"scale": 0.001}}}
    (unsaid,) = score_folders(*folders, **said).run.results.values()
    assert [(note.code, note.sample) for note in unsaid.notes] == [("quantity", "a")]
    (found,) = score_folders(*folders, quantity="depth", **said).run.results.values()
    assert found.notes == ()
    assert found.to_dict()["mae@all"] < 0.001
    assert found.to_json()["reading"] == {"estimate": {"scale": 0.001}}


def test_pictures_in_other_folders_make_their_regions_possible(folders):
    for side in ("left", "right"):
        (folders / side).mkdir()
        for i in range(5):
            picture = np.full((12, 18, 3), 90, np.uint8)
            picture[:, :6] = np.random.default_rng(i).integers(0, 255, (12, 6, 3))
            write_image(folders / side / f"{i:06}_10.png", picture)
    images = {"left": folders / "left", "right": folders / "right"}
    regions = {"textureless": "textureless"}
    out = folders / "run"
    found = score_folders(
        folders / "truth", folders / "a", "mae", regions=regions, images=images, out=out
    )
    (result,) = found.run.results.values()
    scores = result.samples["000001_10"]
    assert 0 < scores["mae@textureless"].count < scores["mae@all"].count
    assert "folders.left" in (out / "data" / "depthgauge.toml").read_text()
    alone = dg.score(
        folders / "a" / "000001_10_disp.npy",
        folders / "truth" / "000001_10.npy",
        "mae",
        regions=regions,
        items={"left_image": read_image(folders / "left" / "000001_10.png")},
    )
    assert alone["mae@textureless"].count == scores["mae@textureless"].count


def test_pictures_of_other_samples_are_refused(folders):
    (folders / "left").mkdir()
    write_image(folders / "left" / "street.png", np.zeros((12, 18, 3), np.uint8))
    with pytest.raises(BadData, match=r"must hold pictures named as the samples .*it has street"):
        score_folders(folders / "truth", folders / "a", "mae", images={"left": folders / "left"})


def test_whole_numbers_of_depth_are_asked_for_before_anything_is_scored(tmp_path):
    for name in ("truth", "mine"):
        (tmp_path / name).mkdir()
    depth = np.linspace(1, 5, 96, dtype=np.float32).reshape(8, 12)
    cv2.imwrite(str(tmp_path / "truth" / "a.png"), (1000 * depth).astype(np.uint16))
    np.save(tmp_path / "mine" / "a.npy", depth)
    folders = (tmp_path / "truth", tmp_path / "mine", "mae")
    with pytest.raises(UnknownScale, match=r"truth_scale=1/256 .* or truth_scale=0\.001"):
        score_folders(*folders, quantity="depth", out=tmp_path / "run")
    (found,) = score_folders(*folders, quantity="depth", truth_scale=0.001).run.results.values()
    assert found.summary["mae@all"].value < 1e-3
