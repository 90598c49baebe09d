"""PFM and .flo from bytes written by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from depthgauge.errors import BadFile, DoesNotFit, TooLarge
from depthgauge.io import map_size, read_map, write_map

NAN, INF = np.nan, np.inf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.pfm"


def test_rows_come_bottom_up_and_little_endian(path: Path) -> None:
    path.write_bytes(b"Pf\n2 2\n-1\n" + struct.pack("<4f", 1, 2, 3, 4))
    np.testing.assert_array_equal(read_map(path), [[3, 4], [1, 2]])


def test_a_positive_scale_is_big_endian_and_multiplies(path: Path) -> None:
    path.write_bytes(b"Pf\n2 1\n2.5\n" + struct.pack(">2f", 1, 2))
    np.testing.assert_array_equal(read_map(path), [[2.5, 5]])
    np.testing.assert_array_equal(read_map(path, scale=1), [[1, 2]])
    np.testing.assert_array_equal(read_map(path, scale=2), [[0.5, 1]])


def test_middleburys_scale_for_viewers_is_not_applied(path: Path) -> None:
    path.write_bytes(b"Pf\n2 1\n-0.003922\n" + struct.pack("<2f", 40, 50))
    np.testing.assert_array_equal(read_map(path), [[40, 50]])


def test_comments_and_line_ends(path: Path) -> None:
    for header in (
        b"Pf\n# c 9 9\n2 1\n# d\n-1\n",
        b"Pf\r\n2 1\r\n-1\r\n",
        b"Pf 2 1 -1 ",
        b"Pf\n2\n1\n-1\n",
    ):
        path.write_bytes(header + struct.pack("<2f", 7, 8))
        np.testing.assert_array_equal(read_map(path), [[7, 8]])


def test_values_may_begin_like_a_line_end(path: Path) -> None:
    value = struct.unpack("<f", b"\n\n\n?")[0]
    path.write_bytes(b"Pf\r\n1 1\r\n-1\r\n\n\n\n?")
    assert read_map(path)[0, 0] == np.float32(value)
    path.write_bytes(b"Pf\n1 1\n-1\n\n\n\n?")
    assert read_map(path)[0, 0] == np.float32(value)


def test_infinity_is_missing_unless_raw(path: Path) -> None:
    path.write_bytes(b"Pf\n4 1\n-1\n" + struct.pack("<4f", INF, -INF, NAN, 0))
    np.testing.assert_array_equal(read_map(path), [[NAN, NAN, NAN, 0]])
    np.testing.assert_array_equal(read_map(path, raw=True), [[INF, -INF, NAN, 0]])


def test_three_channels_are_flow_by_their_first_two(path: Path) -> None:
    path.write_bytes(b"PF\n1 2\n-1\n" + struct.pack("<6f", 1, 2, 0, 3, 4, 0))
    assert read_map(path).shape == (2, 1, 3)
    np.testing.assert_array_equal(read_map(path, "flow"), [[[3, 4]], [[1, 2]]])
    assert map_size(path) == (2, 1, 3)
    with pytest.raises(BadFile, match="disparity is a map"):
        read_map(path, "disparity")


def test_the_bytes_that_are_written(path: Path) -> None:
    write_map(path, [[1.0, NAN], [3.0, 4.0]])
    assert path.read_bytes() == b"Pf\n2 2\n-1\n" + struct.pack("<4f", 3, 4, 1, INF)
    write_map(path, [[[1.0, 2.0]]], "flow")
    assert path.read_bytes() == b"PF\n1 1\n-1\n" + struct.pack("<3f", 1, 2, 0)
    with pytest.raises(DoesNotFit, match="1 to 3 channels"):
        write_map(path, np.ones((2, 2, 4)), "other")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"P7\n1 1\n-1\n", "starts with Pf or PF"),
        (b"Pf\n1 x\n-1\n", "expected a PFM header"),
        (b"Pf\n1 1\n0\n", "scale is '0'"),
        (b"Pf\n1 1\nnan\n", "scale is 'nan'"),
        (b"Pf\n1 1\ninf\n", "scale is 'inf'"),
        (b"Pf\n1 1\nabc\n", "scale is 'abc'"),
        (b"Pf\n-1 1\n-1\n", "at least 1"),
        (b"Pf\n0 1\n-1\n", "at least 1"),
        (b"Pf\n1 2\n-1\n", "announces 8 bytes of values, the file holds 4; it is truncated"),
        (b"Pf\n1 1\n-1\nx", "announces 4 bytes of values, the file holds 5"),
    ],
)
def test_bad_headers(path: Path, header: bytes, message: str) -> None:
    path.write_bytes(header + b"\0\0\0\0")
    with pytest.raises(BadFile, match=message):
        read_map(path)


def test_a_huge_claim_allocates_nothing(path: Path) -> None:
    path.write_bytes(b"Pf\n100000000 100000000\n-1\n")
    with pytest.raises(TooLarge, match="100000000 x 100000000 pixels"):
        read_map(path)


def test_an_overflowing_scale_is_refused(path: Path) -> None:
    path.write_bytes(b"Pf\n1 1\n-1e30\n" + struct.pack("<f", 1e30))
    with pytest.raises(BadFile, match="beyond float32"):
        read_map(path)


def test_flo_bytes(tmp_path: Path) -> None:
    path = tmp_path / "f.flo"
    values = (1, 2, 2e9, 5, NAN, 6, 7, -1.5e9)
    data = struct.pack("<fii8f", 202021.25, 2, 2, *values)
    path.write_bytes(data)
    np.testing.assert_array_equal(read_map(path), [[[1, 2], [NAN] * 2], [[NAN] * 2, [NAN] * 2]])
    np.testing.assert_array_equal(
        read_map(path, raw=True).reshape(-1), np.array(values, dtype=np.float32)
    )
    assert map_size(path) == (2, 2, 2)
    write_map(path, [[[1.0, 2.0], [NAN, 3.0]]], "flow")
    assert path.read_bytes() == struct.pack("<fii4f", 202021.25, 2, 1, 1, 2, 1e10, 1e10)
    with pytest.raises(DoesNotFit, match="up to 1e9"):
        write_map(path, [[[2e9, 0.0]]], "flow")
    with pytest.raises(DoesNotFit, match=r"holds \(H, W, 2\)"):
        write_map(path, [[1.0]])


@pytest.mark.parametrize(("width", "height"), [(-1, -1), (0, 4), (2**31 - 1, 2**31 - 1)])
def test_flo_sizes_that_lie(tmp_path: Path, width: int, height: int) -> None:
    (tmp_path / "f.flo").write_bytes(struct.pack("<fii", 202021.25, width, height))
    with pytest.raises(BadFile):
        read_map(tmp_path / "f.flo")
    (tmp_path / "f.flo").write_bytes(b"PIEH\0")
    with pytest.raises(BadFile, match="starts with PIEH"):
        read_map(tmp_path / "f.flo")
