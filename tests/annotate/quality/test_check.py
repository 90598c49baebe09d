"""Checking files of records: what is reported, once, and in which file."""

from dataclasses import replace

import numpy as np
from tests.annotate.drawn import two_surfaces_and_a_fold as drawn

from depthgauge.annotate.quality.check import check_records
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Relation,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.records.files import write_records


def test_checking_names_what_to_mend(study, tmp_path):
    good, bad, damaged = (tmp_path / f"{name}.jsonl" for name in ("good", "bad", "damaged"))
    write_records(good, drawn())
    side = {"x": Stroke("occlusion", ((2, 2), (9, 9)))}
    write_records(bad, replace(drawn(), strokes=side))
    damaged.write_text("{}\n")
    steps = []
    found = check_records([tmp_path], progress=lambda *step: steps.append(step)).by_file
    assert [len(found[path]) for path in (good, damaged)] == [0, 1]
    assert any("which side is closer" in text for text in found[bad])
    assert len(steps) == 3


def checked(path, annotation):
    write_records(path, annotation)
    return check_records([path]).by_file[path]


def three_planes(tilted=(0.0, 0.0, -1.0), **parts):
    """Three planes beside each other."""
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
    ray = np.array([(50 - 29.5) / 70, (20 - 19.5) / 70, 1.0])
    along = np.array([-1.0, 0.0, ray[0]])  # orthogonal to the ray, but for rounding
    for size in (1.0, 1e307):
        edge = three_planes(tuple(size * (along - 0.02 * ray)))
        (said,) = checked(tmp_path / f"edge{size}.jsonl", edge)
        assert said.startswith("Normal 'c' makes its plane appear edge-on (88.9 degrees from")
    seen = three_planes(tuple(along - 0.2 * ray))
    assert checked(tmp_path / "seen.jsonl", seen) == ()
    rim = replace(edge, surfaces={**edge.surfaces, "c": SurfaceMark((50, 20), "curved")})
    assert not any("edge-on" in said for said in checked(tmp_path / "rim.jsonl", rim))


def test_checking_names_the_file_once(tmp_path):
    path = tmp_path / "half.jsonl"
    assert checked(path, three_planes()) == ()
    with path.open("a") as file:
        file.write('{"event":"fin')
    (said,) = check_records([path]).by_file[path]
    assert said.startswith("the last line (13 bytes) is incomplete")


def test_many_problems_of_one_kind_are_counted(tmp_path):
    lost = {f"r{i}": Relation("a", f"gone{i}", "parallel") for i in range(48)}
    found = checked(tmp_path / "many.jsonl", three_planes(relations=lost))
    assert len(found) == 9
    assert found[-1] == "and 40 more of this kind."
