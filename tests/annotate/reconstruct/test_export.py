"""From records to a dataset: what is written is what was reconstructed; votes decide."""

import shutil

import numpy as np
import pytest
from tests.annotate.drawn import two_surfaces_and_a_fold as drawn

from depthgauge.annotate.reconstruct.export import export_records, find_photograph
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.samples import plane_relations, sample_of
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.files import read_records
from depthgauge.annotate.records.votes import Vote, append_vote
from depthgauge.datasets import DATASETS, oasis
from depthgauge.errors import BadData, CannotWrite, Misuse, Unavailable, WrongShape
from depthgauge.io import read_image


def exported(study, out, **options):
    notes = []
    made = export_records([study], study / "images", out, notes=notes.append, **options)
    return made.samples, notes


def test_what_is_written_is_what_was_reconstructed(study, tmp_path):
    made, notes = exported(study, tmp_path / "set")
    assert made == ("mixed-0000", "mixed-0001")
    assert sum("exported from other records" in note for note in notes) == 2
    sample = next(iter(DATASETS["oasis"].samples(tmp_path / "set", "val")))
    annotation = read_records(study / "records" / "simulated-1" / f"{sample.id}.jsonl")
    made_again = reconstruct(annotation)
    assert np.allclose(sample.truth["depth"], made_again.depth, rtol=1e-5, equal_nan=True)
    assert np.allclose(sample.truth["normals"], made_again.normals, atol=1e-5, equal_nan=True)
    parts = made_again.segmentation
    assert np.array_equal(sample.truth["smooth_labels"], parts.smooth)
    assert np.array_equal(sample.truth["continuous_labels"], parts.continuous)
    assert np.array_equal(sample.truth["boundaries"][..., 1] == 1, parts.kind == 1)
    assert np.array_equal(sample.truth["boundaries"][..., 0] == 1, parts.kind >= 2)
    pairs = sample.truth["relative_depth"]
    depth = sample.truth["depth"]
    order = np.sign(depth[pairs[:, 1], pairs[:, 0]] - depth[pairs[:, 3], pairs[:, 2]])
    assert len(pairs) == 200
    assert np.array_equal(order, pairs[:, 4])


def test_a_test_split_has_no_truth_and_another_folder_has_all(study, tmp_path):
    published, kept = tmp_path / "published", tmp_path / "kept"
    exported(study, published)
    oasis.write(published, oasis.samples(published, "val"), split="test")  # once with its truth
    made, _ = exported(study, published, split="test", with_truth=kept, overwrite=True)
    files = {path.relative_to(published) for path in published.rglob("*") if path.is_file()}
    new = {path for path in files if "OASIS_test" in path.parts}
    assert {path.parent.name for path in new} == {"image"}
    assert all(sample.truth is None for sample in oasis.samples(published, "test"))
    assert [sample.id for sample in oasis.samples(kept, "test")] == list(made)
    before = next(iter(oasis.samples(published, "val")))
    after = next(iter(oasis.samples(kept, "test")))
    assert np.array_equal(before.truth["depth"], after.truth["depth"], equal_nan=True)
    exported(study, published, split="test", overwrite=True)  # nobody wants the truth
    assert all(sample.truth is None for sample in oasis.samples(published, "test"))


def test_the_truth_of_a_test_split_is_never_beside_its_photographs(study, tmp_path):
    for more in (
        {"split": "test", "with_truth": tmp_path / "a" / "b"},
        {"with_truth": tmp_path / "b"},
    ):
        with pytest.raises(Misuse, match="with_truth"):
            exported(study, tmp_path / "a", **more)
    assert not (tmp_path / "a").exists()


def test_only_what_votes_accept(study, tmp_path):
    votes = tmp_path / "votes.jsonl"
    for who in ("ben", "carl"):
        append_vote(votes, Vote("simulated-2/mixed-0001", who, True))
    made, notes = exported(study, tmp_path / "set", votes=votes)
    assert made == ("mixed-0001",)
    assert sum("not accepted" in note for note in notes) == 3
    votes.write_text("")
    with pytest.raises(BadData, match="none was accepted"):
        exported(study, tmp_path / "other", votes=votes)


def test_photographs_that_are_not_there_or_of_another_size(study, tmp_path):
    images = shutil.copytree(study / "images", tmp_path / "images")
    (images / "mixed-0000.png").unlink()
    notes = []
    places = [study / "records" / "simulated-1"]
    made = export_records(places, images, tmp_path / "set", notes=notes.append)
    assert made.samples == ("mixed-0001",)
    assert "no photograph" in notes[0]
    (images / "mixed-0001.png").unlink()
    with pytest.raises(BadData, match="whose photograph"):
        export_records(places, images, tmp_path / "b", notes=notes.append)
    with pytest.raises(BadData, match="no such folder"):
        export_records(places, tmp_path / "nowhere", tmp_path / "c", notes=notes.append)
    image = read_image(study / "images" / "mixed-0000.png")
    with pytest.raises(WrongShape, match="60x40"):
        sample_of(drawn(), image)
    for name in ("../mixed-0000", "/etc/passwd"):
        with pytest.raises(Unavailable, match="not a valid name"):
            find_photograph(images, name)


def test_relations_of_planes_by_their_numbers():
    from dataclasses import replace

    from depthgauge.annotate.records.annotation import Relation, SurfaceMark

    surfaces = {"m": SurfaceMark((10, 10), "planar"), "n": SurfaceMark((45, 10), "planar")}
    surfaces["c"] = SurfaceMark((45, 30), "curved")
    relations = {
        "1": Relation("m", "n", "orthogonal"),
        "2": Relation("m", "c", "parallel"),
        "3": Relation("m", "gone", "parallel"),
        "4": Relation("m", "m", "parallel"),
    }
    annotation = replace(drawn(), surfaces=surfaces, relations=relations)
    parts = segment(annotation)
    assert plane_relations(annotation, parts).tolist() == [[parts.marks["m"], parts.marks["n"], 2]]


def test_two_exports_into_one_folder(study, tmp_path):
    from depthgauge.annotate.reconstruct.export import LOCK
    from depthgauge.io._locks import only_one

    out = tmp_path / "set"
    out.mkdir()
    with (
        only_one(out / LOCK, ""),
        pytest.raises(BadData, match="another export is writing there; wait for it"),
    ):
        exported(study, out, split="train")
    assert exported(study, out, split="train")[0] == ("mixed-0000", "mixed-0001")
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="cannot be created"):
        exported(study, tmp_path / "file" / "set")


def test_names_that_the_layout_cannot_hold_are_changed(study, tmp_path):
    from dataclasses import replace

    from depthgauge.annotate.records.files import write_records

    annotation = read_records(study / "records" / "simulated-1" / "mixed-0000.jsonl")
    picture = replace(annotation.picture, id="my image, 1.png")
    write_records(tmp_path / "a.jsonl", replace(annotation, picture=picture))
    (tmp_path / "images").mkdir()
    shutil.copy(study / "images" / "mixed-0000.png", tmp_path / "images" / "my image, 1.png")
    places = [tmp_path / "a.jsonl"]
    made = export_records(places, tmp_path / "images", tmp_path / "set", notes=pytest.fail)
    assert made.samples == ("my_picture_1",)
    assert [s.id for s in DATASETS["oasis"].samples(tmp_path / "set", "val")] == ["my_picture_1"]
