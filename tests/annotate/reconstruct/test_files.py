"""Files of a reconstruction."""

import json
from dataclasses import replace

import numpy as np
import pytest

from depthgauge.annotate.reconstruct import meshes
from depthgauge.annotate.reconstruct.files import write_reconstruction
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.records.files import write_records
from depthgauge.errors import BadFile, Misuse, WrongShape
from depthgauge.io import read_image, read_map, read_ply, write_image

ANNOTATION = Annotation(
    Picture("two walls", 64, 48),
    Focal(70.0),
    strokes={"s": Stroke("occlusion", ((30, 0), (30, 47)), closer="left")},
    surfaces={"a": SurfaceMark((10, 20), "planar"), "b": SurfaceMark((50, 20), "planar")},
    normals={
        "a": NormalMark((10, 20), (0.5, 0.0, -0.8)),
        "b": NormalMark((50, 20), (-0.5, 0.0, -0.8)),
    },
)


@pytest.fixture
def record(tmp_path):
    write_records(tmp_path / "walls.jsonl", ANNOTATION)
    return tmp_path / "walls.jsonl"


@pytest.fixture
def photograph(tmp_path):
    image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    write_image(tmp_path / "walls.png", image)
    return tmp_path / "walls.png"


def test_everything_is_written(record, photograph, tmp_path):
    made = write_reconstruction(record, tmp_path / "out", image=photograph)
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    maps = ["depth.npy", "labels.npy", "mesh.glb", "mesh.ply", "normals.npy"]
    assert files == [*maps, "points.ply"]
    again = reconstruct(ANNOTATION)
    depth = read_map(tmp_path / "out" / "depth.npy", quantity="depth")
    assert np.array_equal(depth, again.depth, equal_nan=True)
    mesh, points = (read_ply(tmp_path / "out" / f"{n}.ply") for n in ("mesh", "points"))
    assert len(mesh.points) == len(points.points) == 64 * 48
    assert mesh.faces is not None
    assert points.faces is None
    assert np.array_equal(mesh.colours[0], read_image(photograph)[0, 0])
    assert (made.continuous, made.smooth, made.size_px) == (2, 2, (64, 48))
    json.dumps(made.to_json(), allow_nan=False)


def test_a_large_picture_has_a_thin_mesh_and_says_so(record, tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, "_MOST_PIXELS", 1000)
    steps = []
    made = write_reconstruction(record, tmp_path / "out", progress=lambda *step: steps.append(step))
    assert len(read_ply(tmp_path / "out" / "points.ply").points) == 32 * 24
    assert read_map(tmp_path / "out" / "depth.npy", quantity="depth").shape == (48, 64)
    assert "one of 2 rows and columns; the maps use all." in made.notes[-1]
    assert [(done, of) for _, done, of in steps] == [(i, 7) for i in range(7)]


def test_a_preview_is_small(record, tmp_path):
    large = replace(ANNOTATION, picture=Picture("x", 900, 600))
    write_records(tmp_path / "large.jsonl", large)
    made = write_reconstruction(tmp_path / "large.jsonl", tmp_path / "out", preview=True)
    assert max(made.size_px) == 300


def test_photographs_of_another_kind_are_refused(record, photograph, tmp_path):
    write_image(photograph, np.zeros((20, 20, 3), np.uint8))
    with pytest.raises(WrongShape, match="20x20"):
        write_reconstruction(record, tmp_path / "out", image=photograph)
    assert not (tmp_path / "out").exists()
    write_image(photograph, np.zeros((48, 64), np.uint8))  # grey is welcome
    write_reconstruction(record, tmp_path / "out", image=photograph)
    photograph.write_text("no picture")
    with pytest.raises(BadFile):
        write_reconstruction(record, tmp_path / "other", image=photograph)


def test_without_a_surface_there_are_maps_and_notes_but_no_mesh(tmp_path):
    bare = Annotation(
        Picture("bare", 40, 30), Focal(40.0), region_px=((50, 50), (60, 50), (60, 60))
    )
    write_records(tmp_path / "bare.jsonl", bare)
    made = write_reconstruction(tmp_path / "bare.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "depth.npy").is_file()
    assert made.notes


def test_options_are_those_of_the_class(record, tmp_path):
    with pytest.raises(Misuse, match="seed: is -1"):
        write_reconstruction(record, tmp_path / "out", seed=-1)
    with pytest.raises(Misuse, match="Did you mean 'preview'"):
        write_reconstruction(record, tmp_path / "out", previews=True)
