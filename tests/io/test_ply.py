"""PLY: round trips, other people's variants, lies."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.errors import BadFile, DoesNotFit, WrongShape
from depthgauge.io import read_ply, write_ply


@given(data=st.data(), count=st.integers(1, 6), text=st.booleans(), double=st.booleans())
def test_what_was_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    count: int,
    text: bool,
    double: bool,
) -> None:
    dtype = np.float64 if double else np.float32
    numbers = st.floats(-1e9, 1e9, width=64 if double else 32)
    points = data.draw(hnp.arrays(dtype, (count, 3), elements=numbers))
    normals = data.draw(st.none() | hnp.arrays(dtype, (count, 3), elements=numbers))
    colours = data.draw(st.none() | hnp.arrays(np.uint8, (count, 3)))
    faces = data.draw(
        st.none()
        | hnp.arrays(
            np.int32, (data.draw(st.integers(0, 4)), 3), elements=st.integers(0, count - 1)
        )
    )
    path = tmp_path_factory.mktemp("p") / "p.ply"
    write_ply(path, points, colours, normals, faces, ascii=text)
    cloud = read_ply(path)
    for back, was in (
        (cloud.points, points),
        (cloud.normals, normals),
        (cloud.colours, colours),
        (cloud.faces, faces),
    ):
        if was is None:
            assert back is None
        else:
            assert back is not None
            assert back.dtype == was.dtype
            np.testing.assert_array_equal(back, was)


def test_polygons_become_fans_whatever_their_lengths(tmp_path: Path) -> None:
    head = (
        "ply\nformat {} 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\n"
        "element face 2\nproperty list uchar int vertex_index\nend_header\n"
    )
    path = tmp_path / "p.ply"
    wanted = [[0, 1, 2], [0, 1, 2], [0, 2, 3]]
    path.write_text(head.format("ascii") + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2\n")
    np.testing.assert_array_equal(read_ply(path).faces, wanted)
    for order, name in (("<", "binary_little_endian"), (">", "binary_big_endian")):
        body = struct.pack(f"{order}12f", *range(12)) + struct.pack(
            f"{order}B4iB3i", 4, 0, 1, 2, 3, 3, 0, 1, 2
        )
        path.write_bytes(head.format(name).encode() + body)
        cloud = read_ply(path)
        np.testing.assert_array_equal(cloud.points, np.arange(12).reshape(4, 3))
        np.testing.assert_array_equal(np.sort(cloud.faces, axis=0), np.sort(wanted, axis=0))


def test_other_elements_and_float_colours(tmp_path: Path) -> None:
    path = tmp_path / "p.ply"
    path.write_text(
        "ply\nformat ascii 1.0\ncomment by hand\nelement camera 1\nproperty list uchar float k\n"
        "element vertex 1\nproperty double x\nproperty double y\nproperty double z\n"
        "property float red\nproperty float green\nproperty float blue\n"
        "element nothing 5\nend_header\n"
        "2 0.5 0.5\n1 2 3 1 0.5 0\n"
    )
    cloud = read_ply(path)
    assert cloud.points.dtype == np.float64
    np.testing.assert_array_equal(cloud.colours, [[255, 128, 0]])


VERTEX = "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
FACE = "element face 1\nproperty list uchar int vertex_indices\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ply\nformat ascii 1.0\n", "to 'end_header'"),
        ("ply\nelement vertex 1\nproperty float x\nend_header\n", "does not say its format"),
        ("ply\nformat ascii 1.0\nend_header\n", "no element 'vertex'"),
        (
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
            "no x, y and z",
        ),
        ("ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "line 3 of the PLY header"),
        ("ply\nformat ascii 1.0\nproperty float x\nend_header\n", "line 3"),
        ("ply\nformat ascii 1.0\n" + VERTEX.format(2) + "end_header\n1 2 3\n", "it is truncated"),
        ("ply\nformat ascii 1.0\n" + VERTEX.format(1) + "end_header\n1 2 x\n", "expected numbers"),
        ("ply\nformat ascii 1.0\n" + 2 * VERTEX.format(1) + "end_header\n", "twice"),
        (
            "ply\nformat binary_little_endian 1.0\n" + VERTEX.format(10**14) + "end_header\n1",
            "announces 100000000000000",
        ),
        (
            "ply\nformat ascii 1.0\n" + VERTEX.format(1) + FACE + "end_header\n1 2 3\n3 0 0 9\n",
            "not among",
        ),
        (
            "ply\nformat ascii 1.0\n" + VERTEX.format(1) + FACE + "end_header\n1 2 3\n300 0\n",
            "truncated",
        ),
        (
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty list float int x\nend_header\n",
            "length of a PLY list",
        ),
    ],
)
def test_lies(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.ply").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_ply(tmp_path / "p.ply")


def test_what_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "p.ply"
    with pytest.raises(WrongShape, match=r"each \(N, 3\)"):
        write_ply(path, np.ones((4, 2)))
    with pytest.raises(WrongShape, match=r"each \(N, 3\)"):
        write_ply(path, np.ones((4, 3)), np.ones((3, 3), np.uint8))
    with pytest.raises(WrongShape, match="faces are integers"):
        write_ply(path, np.ones((4, 3)), faces=np.ones((1, 3)))
    with pytest.raises(DoesNotFit, match="names vertex 4"):
        write_ply(path, np.ones((4, 3)), faces=[[0, 1, 4]])
    with pytest.raises(DoesNotFit, match="colours are uint8"):
        write_ply(path, np.ones((4, 3)), np.ones((4, 3)))
    with pytest.raises(DoesNotFit, match="points are numbers"):
        write_ply(path, [["a"]])
    assert not path.exists()
