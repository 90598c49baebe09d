"""Studies on disk: what is found, what is left out with a word, what a method may bring."""

import shutil

import numpy as np
import pytest

from depthgauge.annotate.quality.studies import Study
from depthgauge.annotate.records.folders import find_records, read_all
from depthgauge.annotate.simulate.study import write_study
from depthgauge.datasets import oasis
from depthgauge.errors import BadData, CannotWrite, UnknownName
from depthgauge.io import read_map, write_map
from depthgauge.types import Estimate


@pytest.fixture
def copy(study, tmp_path):
    return shutil.copytree(study, tmp_path / "study")


def witnesses(folder, **options):
    notes = []
    return list(Study(folder, notes=notes.append, **options)), notes


def test_records_are_found_in_files_folders_and_studies(study):
    every = find_records([study])
    assert [path.parent.name for path in every] == ["simulated-1"] * 2 + ["simulated-2"] * 2
    assert find_records([study / "records"]) == every
    assert find_records([every[0]]) == [every[0]]
    who = [recorded.who for recorded in read_all([study], notes=pytest.fail)]
    assert who == ["simulated-1"] * 2 + ["simulated-2"] * 2
    assert [r.who for r in read_all([every[0]], notes=pytest.fail)] == ["simulated-1"]


def test_where_there_are_none_a_sentence_says_so(tmp_path):
    with pytest.raises(BadData, match="no such file"):
        find_records([tmp_path / "nowhere"])
    with pytest.raises(BadData, match="no records"):
        find_records([tmp_path])


def test_one_damaged_file_costs_itself_only(copy):
    path = copy / "records" / "simulated-1" / "mixed-0000.jsonl"
    path.write_text("nonsense\n" * 3)
    found, notes = witnesses(copy)
    assert [len(people) for _, people in found] == [2 + 1, 1 + 1]
    assert len(notes) == 1
    assert "left out" in notes[0]
    assert str(path) in notes[0]
    for path in (copy / "records").rglob("*.jsonl"):
        path.write_text("{}\n")
    with pytest.raises(BadData, match="none of the 4"):
        Study(copy, notes=lambda text: None)


def test_the_sensor_may_be_larger_elsewhere_or_absent(copy, tmp_path):
    (copy / "sensor").rename(tmp_path / "lidar")
    found, notes = witnesses(copy)
    assert {w.kind for _, people in found for w in people} == {"human"}
    for path in (tmp_path / "lidar" / "depth").iterdir():
        depth = read_map(path, quantity="depth")
        write_map(path, np.kron(depth, np.ones((2, 2), np.float32)), quantity="depth")
    shutil.rmtree(tmp_path / "lidar" / "normals")
    found, notes = witnesses(copy, sensor=tmp_path / "lidar")
    last = found[0][1][-1]
    assert (last.kind, last.depth.shape, last.normals.shape) == (
        "sensor",
        (120, 160),
        (120, 160, 3),
    )
    (tmp_path / "lidar" / "depth" / "mixed-0001.npy").unlink()
    found, notes = witnesses(copy, sensor=tmp_path / "lidar")
    assert [name for name, _ in found] == ["mixed-0000"]
    assert "mixed-0001" in notes[0]
    for depth, words in (
        (np.full((60, 80), np.nan, np.float32), "no depth above 0"),
        (np.ones((10, 640), np.float32), "640x10"),
    ):
        np.save(tmp_path / "lidar" / "depth" / "mixed-0001.npy", depth)
        found, notes = witnesses(copy, sensor=tmp_path / "lidar")
        assert [name for name, _ in found] == ["mixed-0000"]
        assert words in notes[0]
    with pytest.raises(BadData, match="no folder 'depth'"):
        witnesses(copy, sensor=copy / "records")


def test_methods_bring_depth_and_maybe_a_focal_length(copy, tmp_path):
    first, second = sorted((copy / "sensor" / "depth").iterdir())
    depth = read_map(first, quantity="depth")
    told = Estimate(depth, "depth", parts={"focal_px": 40.0})
    oasis.write_estimate(tmp_path / "net", first.stem, told)
    shutil.copy(second, tmp_path / "net" / "depth" / second.name)
    found, notes = witnesses(copy, methods={"net": tmp_path / "net"})
    assert notes == []
    first, second = (people[-1] for _, people in found)
    assert (first.who, first.kind) == ("net", "method")
    assert first.camera.focal_px[0] == 40.0
    assert second.camera.focal_px == found[1][1][0].camera.focal_px
    assert first.surfaces is found[0][1][0].surfaces
    with pytest.raises(BadData, match="no such folder"):
        witnesses(copy, methods={"net": tmp_path / "other"})
    (tmp_path / "empty").mkdir()
    found, notes = witnesses(copy, methods={"net": tmp_path / "empty"})
    assert found == []
    assert "no depth estimate" in notes[0]


def test_the_same_study_again_changes_nothing_and_another_is_refused(copy):
    before = {path: path.read_bytes() for path in copy.rglob("*.*")}
    options = {"annotators": 1, "width": 80, "height": 60}
    write_study(copy, "mixed", **options)
    assert {path: path.read_bytes() for path in copy.rglob("*.*")} == before
    with pytest.raises(CannotWrite, match="another --out"):
        write_study(copy, "mixed", **options, noise="none")
    with pytest.raises(UnknownName):
        write_study(copy, "nothing")


def test_a_name_does_not_lead_out_of_the_folder(copy, tmp_path):
    from dataclasses import replace

    from depthgauge.annotate.records.files import read_records, write_records

    annotation = read_records(copy / "records" / "simulated-1" / "mixed-0000.jsonl")
    shutil.copy(copy / "sensor" / "depth" / "mixed-0000.npy", copy / "sensor" / "out.npy")
    for n, name in enumerate(("../out", str(copy / "sensor" / "out"))):
        hostile = replace(annotation, picture=replace(annotation.picture, id=name))
        write_records(copy / "records" / "simulated-1" / f"{n}.jsonl", hostile)
    found, notes = witnesses(copy)
    assert [name for name, _ in found] == ["mixed-0000", "mixed-0001"]
    assert [note for note in notes if "lead out" in note] == notes
    assert len(notes) == 2
