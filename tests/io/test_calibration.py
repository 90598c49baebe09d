"""Middlebury's calib.txt and OpenCV's storage files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from opencv_agreement import agrees

from depthgauge.errors import BadFile, DoesNotFit
from depthgauge.io import (
    MiddleburyCalib,
    read_middlebury_calib,
    read_opencv_calibration,
    write_middlebury_calib,
    write_opencv_calibration,
)
from depthgauge.types import Rig

MOTORCYCLE = """cam0=[3997.684 0 1176.728; 0 3997.684 1011.728; 0 0 1]
cam1=[3997.684 0 1307.839; 0 3997.684 1011.728; 0 0 1]
doffs=131.111
baseline=193.001
width=2964
height=1988
ndisp=280
isint=0
vmin=31
vmax=257
dyavg=0.918
dymax=1.516
"""


def test_middleburys_motorcycle(tmp_path: Path) -> None:
    path = tmp_path / "calib.txt"
    path.write_text(MOTORCYCLE)
    calib = read_middlebury_calib(path)
    assert calib.rig.baseline_m == pytest.approx(0.193001)
    assert calib.rig.principal_offset_px == 131.111
    left, right = calib.rig.cameras["left"], calib.rig.cameras["right"]
    assert (left.focal_px, left.centre_px) == ((3997.684, 3997.684), (1176.728, 1011.728))
    assert left.size_px == (2964, 1988)
    assert right.world_from_camera[0, 3] == pytest.approx(0.193001)
    assert (calib.ndisp, calib.isint, calib.vmin, calib.dymax) == (280, False, 31, 1.516)
    write_middlebury_calib(tmp_path / "again.txt", calib)
    assert (tmp_path / "again.txt").read_text() == MOTORCYCLE


def test_optional_keys_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "calib.txt"
    kept = [line for line in MOTORCYCLE.splitlines() if line[0] in "cbwhn"]
    path.write_bytes("\r\n".join([*kept, "other=thing", ""]).encode())
    calib = read_middlebury_calib(path)
    assert calib.rig.principal_offset_px == pytest.approx(131.111)
    assert (calib.vmin, calib.isint) == (None, False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("doffs=131.111", "doffs 131", "line 3: expected key=value, found 'doffs 131'"),
        ("doffs=131.111", "doffs=many", "line 3: doffs is a number"),
        ("ndisp=280", "ndisp=2.5", "ndisp is a positive whole number"),
        ("width=2964", "width=0", "width is a positive whole number"),
        ("baseline=193.001\n", "", "baseline not in it"),
        ("cam0=[3997.684 0 ", "cam0=[3997.684 ", "line 1: cam0 is a matrix"),
        ("cam0=[3997.684 0 ", "cam0=[3997.684 5 ", "line 1: cam0 is not a pinhole camera"),
        ("baseline=193.001", "baseline=1e999", "line 4: baseline is a number"),
    ],
)
def test_garbage_is_named_by_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "calib.txt"
    path.write_text(MOTORCYCLE.replace(old, new))
    with pytest.raises(BadFile, match=message):
        read_middlebury_calib(path)


@pytest.mark.parametrize("filler", ["1" * 200_000, " " * 200_000, "1." * 100_000])
def test_long_lines_are_refused_at_once(tmp_path: Path, filler: str) -> None:
    """An expression that matches digits in two ways takes hours for these."""
    path = tmp_path / "calib.txt"
    path.write_text(MOTORCYCLE.replace("1011.728; 0 0 1]", f"1011.728; 0 0 1{filler}", 1))
    with pytest.raises(BadFile, match="line 1: cam0 is a matrix") as caught:
        read_middlebury_calib(path)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_a_rig_without_a_baseline_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit, match="left and right"):
        write_middlebury_calib(tmp_path / "c.txt", MiddleburyCalib(Rig({}), 3))


# --- OpenCV storage ------------------------------------------------------------------------------

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda s: s != "_")
texts = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f\x85"))
arrays = st.sampled_from(["f8", "f4", "i4", "u1", "i1", "u2", "i2"]).flatmap(
    lambda kind: hnp.arrays(
        kind,
        st.tuples(st.integers(1, 4), st.integers(1, 4))
        | st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(2, 3)),
    )
)
scalars = st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False) | texts.filter(bool)
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3)
        | st.dictionaries(names, inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and np.array_equal(a, b, equal_nan=True)
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@given(stored=st.dictionaries(names, values, max_size=4))
def test_what_was_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, stored: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("c") / "c.xml"
    write_opencv_calibration(path, stored)
    back = read_opencv_calibration(path)
    assert same(back, stored), (back, stored)


def test_opencv_reads_what_we_write(tmp_path: Path) -> None:
    stored = {
        "M": np.arange(9.0).reshape(3, 3) / 7,
        "corners": np.arange(12, dtype=np.float32).reshape(2, 3, 2),
        "mask": np.array([[0, 255]], dtype=np.uint8),
        "count": 7,
        "error": 0.25,
        "name": 'left "a" & <b>',
        "files": ["a 1.png", "b.png"],
        "nested": {"k": 1, "list": [1, 2]},
    }
    path = tmp_path / "c.xml"
    write_opencv_calibration(path, stored)
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
    for name, value in read_opencv_calibration(path).items():
        assert same(value, stored[name])
        assert agrees(value, storage.getNode(name)), name


def test_we_read_what_opencv_writes(tmp_path: Path) -> None:
    path = tmp_path / "c.xml"
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    storage.write("M", np.array([[1.5, np.inf], [-np.inf, 2]]))
    storage.write("name", "it's: a # [test]")
    storage.write("n", 3)
    storage.release()
    back = read_opencv_calibration(path)
    np.testing.assert_array_equal(back["M"], [[1.5, np.inf], [-np.inf, 2]])
    assert (back["name"], back["n"]) == ("it's: a # [test]", 3)


def matrix(fields: str) -> str:
    return f'<opencv_storage><M type_id="opencv-matrix">{fields}</M></opencv_storage>'


def test_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.xml"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    path.write_text(f"<?xml version='1.0'?>{bomb}<opencv_storage><x>&b;</x></opencv_storage>")
    with pytest.raises(BadFile, match="DOCTYPE"):
        read_opencv_calibration(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "starts with <"),
        ("<a></a>", "expected XML in <opencv_storage>, found <a>"),
        ("<opencv_storage><a></opencv_storage>", "expected OpenCV XML"),
        ("<opencv_storage>" + "<a>" * 100 + "</a>" * 100 + "</opencv_storage>", "nested deeper"),
        ("%YAML:1.0\n---\na: 1\n", "expected OpenCV storage in XML, found YAML; write it with"),
        (matrix("<rows>2</rows><cols>2</cols><dt>d</dt><data>1</data>"), "needs 4"),
        (matrix("<rows>9999999</rows><cols>9999999</cols><dt>d</dt>"), "too large"),
        (matrix("<rows>1</rows><cols>1</cols><dt>x</dt>"), "has elements 'x'"),
        (matrix("<rows>1</rows><cols>1</cols><dt>u</dt><data>300</data>"), "cannot"),
        (matrix("<rows>many</rows><cols>1</cols><dt>u</dt>"), "numbers expected"),
    ],
)
def test_bad_storage(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.xml").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_opencv_calibration(tmp_path / "c.xml")


@pytest.mark.parametrize(
    "value",
    [2**40, np.ones((1, 1, 1, 1)), np.array(["a"]), None, "\0", np.array([2**40]), {"a b": 1}],
)
def test_what_does_not_fit(tmp_path: Path, value: object) -> None:
    with pytest.raises(DoesNotFit):
        write_opencv_calibration(tmp_path / "c.xml", {"x": value})


def test_a_name_that_opencv_would_take_for_yaml(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit, match=r"give a name that ends in \.xml"):
        write_opencv_calibration(tmp_path / "c.yml", {"x": 1})
