"""GLB: what is written is valid glTF 2.0 and says what was given."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import CannotWrite, DoesNotFit, WrongShape
from depthgauge.io import write_glb

KINDS = {5126: "<f4", 5123: "<u2", 5125: "<u4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def parse(path: Path):
    """An independent reader: checks every length and offset, returns document and arrays."""
    data = path.read_bytes()
    magic, version, total = struct.unpack("<4sII", data[:12])
    assert (magic, version, total) == (b"glTF", 2, len(data))
    chunks, at = {}, 12
    while at < total:
        length, kind = struct.unpack("<I4s", data[at : at + 8])
        assert length % 4 == 0
        chunks[kind] = data[at + 8 : at + 8 + length]
        at += 8 + length
    assert at == total
    assert list(chunks) == [b"JSON", b"BIN\0"]
    document = json.loads(chunks[b"JSON"])
    assert document["asset"]["version"] == "2.0"
    assert document["buffers"] == [{"byteLength": len(chunks[b"BIN\0"])}]
    arrays = []
    for accessor in document["accessors"]:
        view = document["bufferViews"][accessor["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        values = np.frombuffer(
            chunks[b"BIN\0"][view["byteOffset"] :][: view["byteLength"]],
            KINDS[accessor["componentType"]],
        )
        width = WIDTHS[accessor["type"]]
        assert values.size == accessor["count"] * width
        arrays.append(values.reshape(-1, width) if width > 1 else values)
    return document, arrays


@given(st.integers(1, 20), st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
def test_comes_back(tmp_path_factory, count, seed, coloured, shaded, joined):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("g") / "m.glb"
    points = rng.normal(size=(count, 3))
    colours = rng.integers(0, 256, (count, 3), dtype=np.uint8) if coloured else None
    normals = rng.normal(size=(count, 3)) if shaded else None
    faces = rng.integers(0, count, (seed % 5, 3)) if joined else None
    write_glb(path, points, colours, normals, faces)
    document, arrays = parse(path)
    primitive = document["meshes"][0]["primitives"][0]
    names = primitive["attributes"]
    assert set(names) == {"POSITION"} | ({"COLOR_0"} if coloured else set()) | (
        {"NORMAL"} if shaded else set()
    )
    flipped = points.astype(np.float32) * [1, -1, -1]
    np.testing.assert_array_equal(arrays[names["POSITION"]], flipped)
    bounds = document["accessors"][names["POSITION"]]
    np.testing.assert_array_equal(bounds["min"], flipped.min(axis=0))
    np.testing.assert_array_equal(bounds["max"], flipped.max(axis=0))
    if shaded:
        units = normals / np.linalg.norm(normals, axis=1, keepdims=True) * [1, -1, -1]
        np.testing.assert_allclose(arrays[names["NORMAL"]], units, atol=1e-6)
    if joined and len(faces):
        assert primitive["mode"] == 4
        np.testing.assert_array_equal(arrays[primitive["indices"]].reshape(-1, 3), faces)
    else:
        assert primitive["mode"] == 0
        assert "indices" not in primitive


def test_colours_are_linear_light(tmp_path):
    """sRGB 128 is 0.21586 of full light (IEC 61966-2-1)."""
    path = tmp_path / "c.glb"
    write_glb(path, np.zeros((2, 3)), np.array([[0, 128, 255], [10, 0, 0]], np.uint8))
    document, arrays = parse(path)
    accessor = document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"]
    assert document["accessors"][accessor]["normalized"] is True
    light = arrays[accessor] / 65535
    np.testing.assert_allclose(light[0], [0, 0.21586, 1, 1], atol=1e-5)
    assert light[1, 0] == pytest.approx(10 / 255 / 12.92, abs=1e-5)
    assert document["extensionsUsed"] == ["KHR_materials_unlit"]


def test_what_does_not_fit(tmp_path):
    path, three = tmp_path / "m.glb", np.ones((3, 3))
    for wrong, message in (
        (lambda: write_glb(path, np.zeros((0, 3))), "at least one point"),
        (lambda: write_glb(path, [[0.0, 1.0, np.nan]]), "must be finite"),
        (lambda: write_glb(path, [[0.0, 1.0, 1e300]]), "must be finite"),
        (lambda: write_glb(path, [["a", "b", "c"]]), "are numbers"),
        (lambda: write_glb(path, three, np.ones((3, 3))), "colours are uint8"),
        (lambda: write_glb(path, three, normals=np.zeros((3, 3))), "length 0"),
        (lambda: write_glb(path, three, faces=[[0, 1, 3]]), "names vertex 3, there are 3"),
    ):
        with pytest.raises(DoesNotFit, match=message):
            wrong()
    for wrong, message in (
        (lambda: write_glb(path, np.ones((3, 2))), "points must be"),
        (lambda: write_glb(path, three, np.ones((2, 3), np.uint8)), "colours must be"),
        (lambda: write_glb(path, three, normals=np.ones((2, 3))), "normals must be"),
        (lambda: write_glb(path, three, faces=[[0.0, 1.0, 2.0]]), "faces are integers"),
    ):
        with pytest.raises(WrongShape, match=message):
            wrong()
    assert not path.exists()
    with pytest.raises(CannotWrite):
        write_glb(tmp_path / "no" / "m.glb", three)
