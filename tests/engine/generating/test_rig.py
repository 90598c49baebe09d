"""`make rig`: a set is complete, audited, goes on where it stopped, and refuses other options."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("embreex", reason="scenes need Embree: depthgauge[render]")
pytest.importorskip("av", reason="videos need PyAV: depthgauge[video]")

from tests.engine.generating.conftest import SMALL_RIG

from depthgauge.datasets import DATASETS
from depthgauge.datasets.stereogenbench import read_manifest
from depthgauge.engine.auditing.audit import audit_dataset
from depthgauge.engine.generating import made_things
from depthgauge.engine.generating import rig_scenes as making
from depthgauge.engine.generating.rig_review import holdout_of
from depthgauge.engine.generating.rig_statistics import proposals, realised
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError, Misuse
from depthgauge.synth.generators import generate
from depthgauge.synth.sets.rig import SceneOptions, Shoot, source
from depthgauge.synth.sets.rig import draw as draw_proposal


@pytest.fixture
def copy(rig_set, tmp_path):
    return shutil.copytree(rig_set, tmp_path / "set")


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_set_has_scenes_lists_metadata_a_sheet_and_a_page(rig_set):
    rows = read_manifest(rig_set)
    assert [row["eval_subset"] for row in rows] == ["MapSeenInTrain", "MapUnseenInTrain"]
    assert rows[1]["map_name"] in ("Canyon", "Temple")
    assert all(row["character_mesh"] and row["animation"] for row in rows)
    sheet = (rig_set / "contact-sheet.html").read_text()
    assert all(row["path"] in sheet for row in rows)
    assert len(list((rig_set / "metadata/previews").glob("*.png"))) == 2
    page = (rig_set / "distributions.html").read_text()
    assert page.count('role="img"') == 5
    assert "edge occlusion" in page
    assert json.loads((rig_set / "croissant.json").read_text())["recordSet"]


def test_the_audit_finds_nothing(rig_set):
    audit = audit_dataset(rig_set)
    assert audit.ok, [scene.findings for scene in audit.scenes]


def test_clips_have_pictures_and_depth_of_the_subject(rig_set):
    samples = list(DATASETS["stereogenbench"].samples(rig_set, "eval"))
    assert len(samples) == 2
    for sample in samples:
        picture = sample.inputs["left_image"][0]
        assert picture.shape == (96, 96, 3)
        assert picture.std() > 10
        assert np.isfinite(sample.truth["depth"][0]).mean() > 0.6
    first, last = (samples[0].inputs["left_image"][n].astype(int) for n in (0, 4))
    assert np.abs(first - last).mean() > 0.5  # the rig moves


def test_a_finished_set_is_not_made_again(copy, monkeypatch):
    monkeypatch.setattr(making, "make_scene", lambda *a: pytest.fail("a scene was made again"))
    before, seen = contents(copy), []
    made = generate("rig", copy, **SMALL_RIG, progress=lambda *a: seen.append(a))
    assert contents(copy) == before
    assert len(made.samples) == 2
    assert seen == [("starting", 2, 2)]


def test_a_scene_that_was_cut_off_is_made_again_with_the_same_bytes(copy):
    before = contents(copy)
    marker = next(copy.rglob("_scene_complete.json"))
    (marker.parent / "cam_03_rgb.mp4").write_bytes(b"half")
    marker.unlink()
    generate("rig", copy, **SMALL_RIG)
    after = contents(copy)
    assert [path for path in {**before, **after} if before.get(path) != after.get(path)] == []


def test_other_options_are_refused_by_name(copy):
    with pytest.raises(CannotWrite, match=r"made with other options \(seed\).*--overwrite"):
        generate("rig", copy, **{**SMALL_RIG, "seed": 4})


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="other files"):
        generate("rig", tmp_path, **SMALL_RIG)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"family": "Pairwise_Uniform"}, "for training only"),
        ({"width": 97}, "must be even"),
        ({"split": "train", "maps": ("Canyon",)}, "never used for training"),
        ({"maps": ("Canyon", "Street")}, "a call each"),
        ({"family": "Normal"}, "family"),
    ],
)
def test_options_that_contradict_each_other_are_one_sentence(tmp_path, wrong, says):
    with pytest.raises(Misuse, match=says):
        generate("rig", tmp_path / "set", **{**SMALL_RIG, **wrong})
    assert not (tmp_path / "set").exists()


def test_scenes_that_cannot_be_made_are_named_and_others_stay(tmp_path, monkeypatch):
    def make_scene(root, number, options):
        raise DepthgaugeError("none of 400 proposals passed.")

    run_here(monkeypatch, make_scene)
    with pytest.raises(BadData, match=r"scene_000000: none of 400.*2 of 2 scenes.*finished"):
        making.make_scenes(tmp_path / "set", range(2), SceneOptions())


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def make_scene(root, number, options):
        raise OSError(28, "No space left on device")

    run_here(monkeypatch, make_scene)
    with pytest.raises(CannotWrite, match="set: No space left on device"):
        making.make_scenes(tmp_path / "set", range(2), SceneOptions())


def run_here(monkeypatch, make_scene):
    class here:  # noqa: N801  # stands for a Where
        @staticmethod
        def choice():
            return "here", {}

    monkeypatch.setattr(making, "make_scene", make_scene)
    monkeypatch.setattr(made_things, "Where", lambda workers, cluster: here)


# --- the manual pass ------------------------------------------------------------------------------


def test_a_review_moves_scenes_to_the_holdout_and_updates_the_lists(copy, monkeypatch):
    gone, stays = (row["path"] for row in read_manifest(copy))
    verdicts = copy.parent / "rejected.txt"
    verdicts.write_text(f"# mine\n{gone} too dark\n")
    made = generate("rig", copy, review=verdicts)
    assert made.facts["moved"] == [gone]
    assert (holdout_of(copy) / gone / "baseline.json").is_file()
    assert "too dark" in (holdout_of(copy) / "rejected.jsonl").read_text()
    assert [row["path"] for row in read_manifest(copy)] == [stays]
    assert gone not in (copy / "contact-sheet.html").read_text()
    monkeypatch.setattr(making, "make_scene", lambda *a: pytest.fail("a scene was made again"))
    assert len(generate("rig", copy, **SMALL_RIG).samples) == 1
    assert generate("rig", copy, review=verdicts).facts["moved"] == []


def test_a_review_of_an_unknown_scene_moves_nothing(copy):
    verdicts = copy.parent / "rejected.txt"
    verdicts.write_text(f"{read_manifest(copy)[0]['path']}\neval/nothing/scene_000009\n")
    with pytest.raises(BadData, match="no scene 'eval/nothing/scene_000009'"):
        generate("rig", copy, review=verdicts)
    assert not holdout_of(copy).exists()


# --- proposed and realised ------------------------------------------------------------------------


def test_statistics_count_every_proposal_and_every_rejection(rig_set):
    rows = read_manifest(rig_set)
    found = realised(rig_set, rows)
    part = ("eval", "Uniform")
    rejected = sum(found.rejected[part].values())
    assert len(found.proposed[part].focal_mm) == len(rows) + rejected
    assert found.unseen[part] == 1
    assert found.realised[part].gaps_cm == [
        gap for row in rows for gap in row["baselines_adjacent_cm"]
    ]


@pytest.mark.long
def test_accepted_uniform_gaps_are_shorter_than_proposed_ones():
    options = SceneOptions("train", Shoot("Uniform", frames=2, maps=("Hangar",)), seed=11)
    found = proposals(options, range(60))
    part = ("train", "Uniform")
    proposed, kept = found.proposed[part], found.realised[part]
    assert 5 < len(kept.focal_mm) < 60
    assert np.mean(kept.gaps_cm) < np.mean(proposed.gaps_cm) - 5
    assert sum(found.rejected[part].values()) + len(kept.focal_mm) == 60


def test_maps_of_training_and_of_tests_are_disjoint():
    shown = SceneOptions("train")
    kept = SceneOptions("eval", unseen=1.0)
    drawn = [
        {
            draw_proposal(source(n, 0, o), o.shoot, reserved=o.reserved(n)).map_name
            for n in range(60)
        }
        for o in (shown, kept)
    ]
    assert len(drawn[0]) == 6
    assert drawn[1] == {"Canyon", "Temple"}


# --- other light, other faults --------------------------------------------------------------------


@pytest.mark.long
def test_path_tracing_gives_the_same_depth_and_noisy_pictures(rig_set, tmp_path):
    pytest.importorskip("mitsuba", reason="paths need Mitsuba: depthgauge[render]")
    few = {**SMALL_RIG, "scenes": 1, "quality": "path", "samples": 4}
    generate("rig", tmp_path / "set", **few)
    traced, direct = (
        next(iter(DATASETS["stereogenbench"].samples(root, "eval"))).truth
        for root in (tmp_path / "set", rig_set)
    )
    np.testing.assert_array_equal(traced["depth"][2], direct["depth"][2])
    assert np.abs(traced["view"][2] - direct["view"][2]).mean() > 0.02


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(made_things.io, "write_text", refuse)
    with pytest.raises(CannotWrite, match=r"set: Permission denied; give another folder"):
        generate("rig", tmp_path / "set", **SMALL_RIG)


def test_a_broken_scene_is_named_on_the_sheet_and_others_stay(copy):
    scene = copy / read_manifest(copy)[0]["path"]
    (scene / "trajectory.json").write_text("{")
    for preview in (copy / "metadata/previews").glob("*.png"):
        preview.unlink()
    assert len(making.finish(copy)) == 2
    sheet = (copy / "contact-sheet.html").read_text()
    assert sheet.count("cannot be shown") == 2  # the caption and the text for readers
    assert len(list((copy / "metadata/previews").glob("*.png"))) == 1
