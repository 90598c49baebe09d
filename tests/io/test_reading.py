"""Scales and marks that the caller says, and whole numbers of depth that need a unit."""

import pickle

import numpy as np
import pytest

from depthgauge.errors import BadFile, Misuse, UnknownScale
from depthgauge.io import _png_chunks, read_map, write_map
from depthgauge.io._files import write_parts
from depthgauge.io.reading import Reading, parse_invalid, parse_scale

CODES = np.array([[0, 1000, 2500], [4000, 65535, 256]], np.uint16)


@pytest.fixture
def png(tmp_path):
    write_parts(tmp_path / "a.png", _png_chunks.encode(CODES))
    return tmp_path / "a.png"


@pytest.fixture
def pgm(tmp_path):
    head = b"P5\n3 2\n65535\n"
    (tmp_path / "a.pgm").write_bytes(head + CODES.astype(">u2").tobytes())
    return tmp_path / "a.pgm"


@pytest.fixture
def tiff(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", CODES)
    return tmp_path / "a.tif"


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "a.npy", CODES)
    return tmp_path / "a.npy"


@pytest.mark.parametrize("kind", ["png", "pgm", "tiff", "npy"])
def test_whole_numbers_of_depth_need_a_unit(kind, request):
    path = request.getfixturevalue(kind)
    with pytest.raises(UnknownScale) as caught:
        read_map(path, quantity="depth")
    said = str(caught.value)
    assert said.startswith(f"{path}: holds whole numbers, and nothing says how many of them are")
    assert "say scale=256 (KITTI's code / 256) or scale=1000 (millimetres)" in said
    assert isinstance(caught.value, BadFile)
    assert str(pickle.loads(pickle.dumps(caught.value))) == said
    metres = read_map(path, quantity="depth", scale=1000)
    assert metres[0, 1:].tolist() == [1.0, 2.5]
    assert np.isnan(metres[0, 0]) == (kind != "npy")  # 0 in an array is a value


def test_who_says_the_unit_is_not_asked(tmp_path, png):
    assert read_map(png, quantity="disparity")[1, 2] == 1
    assert read_map(png, quantity="depth", png_scale=64)[1, 2] == 4
    assert read_map(png)[1, 2] == 1
    assert read_map(png, quantity="depth", raw=True)[1, 2] == 1
    write_map(tmp_path / "own.png", [[2.0]], quantity="depth", scale=1000)
    assert read_map(tmp_path / "own.png", quantity="depth") == 2
    np.save(tmp_path / "small.npy", np.array([[1, 80]]))
    assert read_map(tmp_path / "small.npy", quantity="depth").tolist() == [[1, 80]]


@pytest.mark.parametrize("kind", ["png", "pgm", "tiff", "npy"])
def test_marks_are_stored_numbers(kind, request):
    values = read_map(request.getfixturevalue(kind), "depth", scale=1000, invalid=[65535, 0])
    assert np.isnan(values).tolist() == [[True, False, False], [False, True, False]]
    assert values[1, 0] == 4


def test_marks_of_floats_and_of_flow(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[0.0, -1.0, 2.0]]))
    assert np.isnan(read_map(tmp_path / "a.npy", invalid=(0, -1))).tolist() == [[True, True, False]]
    flow = np.array([[[0.0, 0.0], [0.0, 1.0]]], np.float32)
    write_map(tmp_path / "a.flo", flow)
    found = read_map(tmp_path / "a.flo", "flow", invalid=(0,))
    assert np.isnan(found).tolist() == [[[True, True], [False, False]]]


def test_scales_and_marks_are_parsed_as_people_write_them():
    assert parse_scale("1/256") == 1 / 256
    assert Reading(parse_scale("0.001")).per_unit == 1000
    assert parse_scale(None) is None
    assert parse_invalid(["0", -1, 0.0], "invalid") == (0, -1)
    assert parse_invalid((), "invalid") == ()
    for wrong in ("a", "1/0", 0, -1, float("nan"), "1e99", []):
        with pytest.raises(Misuse, match=r"--scale is .*it must be a positive number"):
            parse_scale(wrong, "--scale")
    with pytest.raises(Misuse, match="invalid is 'x'; it must be numbers"):
        parse_invalid("x", "invalid")
