"""Several maps in one .npz file."""

import zipfile

import numpy as np
import pytest

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io.npz import array_names, read_arrays, write_arrays

MAPS = {
    "boundary": np.array([[0, 0.25], [1, np.nan]], np.float32),
    "occlusion": np.zeros((3, 1), np.float32),
}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "x.npz"
    write_arrays(path, MAPS)
    assert array_names(path) == ("boundary", "occlusion")
    found = read_arrays(path, MAPS)
    for name, values in MAPS.items():
        np.testing.assert_array_equal(found[name], values)
    theirs = np.load(path)
    np.testing.assert_array_equal(theirs["boundary"], MAPS["boundary"])
    body = path.read_bytes()
    write_arrays(path, MAPS)
    assert path.read_bytes() == body


def test_what_numpy_wrote_is_read(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.float64([[1.5, np.inf]]), b=np.uint8([[1, 2]]), c=np.ones(7))
    found = read_arrays(path, ("a", "b"))
    np.testing.assert_array_equal(found["a"], np.float32([[1.5, np.nan]]))
    assert found["b"].dtype == np.float32
    with pytest.raises(BadFile, match=r"expected an array \(H, W\)"):
        read_arrays(path, ("c",))


def test_what_is_not_there_or_damaged(tmp_path):
    path = tmp_path / "x.npz"
    write_arrays(path, MAPS)
    with pytest.raises(BadFile, match=r"expected an array named 'edges', found boundary\.npy"):
        read_arrays(path, ("edges",))
    body = bytearray(path.read_bytes())
    body[len(body) // 4] ^= 0xFF
    path.write_bytes(body)
    with pytest.raises(BadFile):
        read_arrays(path, MAPS)
    path.write_bytes(b"no zip at all")
    with pytest.raises(BadFile, match="cannot be decoded"):
        array_names(path)
    with pytest.raises(BadFile, match="there is no such file"):
        array_names(tmp_path / "none.npz")


def test_a_header_that_lies(tmp_path):
    path = tmp_path / "x.npz"
    header = b"\x93NUMPY\x01\x00\x76\x00" + (
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9999, 9999), }".ljust(117) + "\n"
    ).encode("ascii")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("boundary.npy", header + b"\0" * 64)
    with pytest.raises(BadFile, match="bytes promise to unpack to 399920132"):
        read_arrays(path, ("boundary",))


def test_what_claims_more_than_the_limit_is_not_unpacked(tmp_path):
    path = tmp_path / "x.npz"
    write_arrays(path, {"boundary": np.zeros((8, 9), np.float32)})
    assert read_arrays(path, ("boundary",), limit=72)["boundary"].shape == (8, 9)
    with pytest.raises(TooLarge, match="9 x 8 pixels and 1 channels, the limit is 71 pixels"):
        read_arrays(path, ("boundary",), limit=71)


def test_objects_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, boundary=np.array({"a": 1}, dtype=object))
    with pytest.raises(BadFile, match="found dtype"):
        read_arrays(path, ("boundary",))
