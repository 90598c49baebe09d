"""From records to a dataset: what is written is what was reconstructed; votes decide."""

import shutil

import numpy as np
import pytest
from tests.annotate.quality.test_statistics import drawn

from depthgauge.annotate.quality.check import check_records
from depthgauge.annotate.reconstruct.export import export_records, find_photograph
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.reconstruct.samples import plane_relations, sample_of
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.files import read_records
from depthgauge.annotate.records.votes import Vote, append_vote
from depthgauge.datasets import DATASETS
from depthgauge.errors import BadData, CannotWrite, Unavailable, WrongShape
from depthgauge.io import read_image


def exported(study, out, **options):
    notes = []
    made = export_records([study], study / "images", out, notes=notes.append, **options)
    return made, notes


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
    assert made == ("mixed-0001",)
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
        with pytest.raises(Unavailable, match="no name"):
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


def test_checking_names_what_to_mend(study, tmp_path):
    from dataclasses import replace

    from depthgauge.annotate.records.annotation import Stroke
    from depthgauge.annotate.records.files import write_records

    good, bad, damaged = (tmp_path / f"{name}.jsonl" for name in ("good", "bad", "damaged"))
    write_records(good, drawn())
    side = {"x": Stroke("occlusion", ((2, 2), (9, 9)))}
    write_records(bad, replace(drawn(), strokes=side))
    damaged.write_text("{}\n")
    steps = []
    found = check_records([tmp_path], progress=lambda *step: steps.append(step))
    assert [len(found[path]) for path in (good, damaged)] == [0, 1]
    assert any("which side is closer" in text for text in found[bad])
    assert len(steps) == 3


def checked(path, annotation):
    from depthgauge.annotate.records.files import write_records

    write_records(path, annotation)
    return check_records([path])[path]


def three_planes(tilted=(0.0, 0.0, -1.0), **parts):
    """Three planes beside each other."""
    from depthgauge.annotate.records.annotation import (
        Annotation,
        Focal,
        NormalMark,
        Picture,
        Stroke,
        SurfaceMark,
    )

    given = {"a": (0.6, 0.0, -0.8), "b": (-0.6, 0.0, -0.8), "c": tilted}
    places = {"a": (10, 20), "b": (30, 20), "c": (50, 20)}
    return Annotation(
        Picture("planes", 60, 40),
        Focal(70.0),
        strokes={
            "s": Stroke("fold", ((20, 0), (20, 39))),
            "t": Stroke("fold", ((40, 0), (40, 39))),
        },
        surfaces={name: SurfaceMark(at, "planar") for name, at in places.items()},
        normals={name: NormalMark(places[name], given[name]) for name in given},
        **parts,
    )


def test_checking_names_relations_that_contradict_each_other(tmp_path):
    from depthgauge.annotate.records.annotation import Relation

    fits = {"1": Relation("a", "b", "orthogonal")}
    assert checked(tmp_path / "good.jsonl", three_planes(relations=fits)) == ()
    against = {**fits, "2": Relation("b", "c", "parallel"), "3": Relation("a", "c", "parallel")}
    (said,) = checked(tmp_path / "bad.jsonl", three_planes(relations=against))
    assert said.startswith("These relations cannot all hold: ")
    # Told once, by what looks at single relations.
    (said,) = checked(
        tmp_path / "lost.jsonl", three_planes(relations={"1": Relation("a", "gone", "parallel")})
    )
    assert "'gone', which is not marked" in said


def test_checking_names_planes_seen_edge_on(tmp_path):
    from dataclasses import replace

    from depthgauge.annotate.records.annotation import SurfaceMark

    ray = np.array([(50 - 29.5) / 70, (20 - 19.5) / 70, 1.0])
    along = np.array([-1.0, 0.0, ray[0]])  # orthogonal to the ray, but for rounding
    for size in (1.0, 1e307):
        edge = three_planes(tuple(size * (along - 0.02 * ray)))
        (said,) = checked(tmp_path / f"edge{size}.jsonl", edge)
        assert said.startswith("Normal 'c' makes its plane be seen edge-on (88.9 degrees from")
    seen = three_planes(tuple(along - 0.2 * ray))
    assert checked(tmp_path / "seen.jsonl", seen) == ()
    rim = replace(edge, surfaces={**edge.surfaces, "c": SurfaceMark((50, 20), "curved")})
    assert not any("edge-on" in said for said in checked(tmp_path / "rim.jsonl", rim))


def test_checking_names_the_file_once(tmp_path):
    path = tmp_path / "half.jsonl"
    assert checked(path, three_planes()) == ()
    with path.open("a") as file:
        file.write('{"event":"fin')
    (said,) = check_records([path])[path]
    assert said.startswith("the last line (13 bytes) was not written to its end")


def test_many_problems_of_one_kind_are_counted(tmp_path):
    from depthgauge.annotate.records.annotation import Relation

    lost = {f"r{i}": Relation("a", f"gone{i}", "parallel") for i in range(48)}
    found = checked(tmp_path / "many.jsonl", three_planes(relations=lost))
    assert len(found) == 9
    assert found[-1] == "and 40 more of this kind."


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
    with pytest.raises(CannotWrite, match="cannot be made"):
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
    assert made == ("my_picture_1",)
    assert [s.id for s in DATASETS["oasis"].samples(tmp_path / "set", "val")] == ["my_picture_1"]
