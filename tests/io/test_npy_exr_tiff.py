"""NumPy, EXR, TIFF and netpbm files, written by other tools and by hand."""

from __future__ import annotations

import io
import logging
import struct
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import OpenEXR
import pytest
import tifffile

from depthgauge.errors import BadFile, DoesNotFit, TooLarge
from depthgauge.io import map_size, read_image, read_labels, read_map, read_mask, write_map

NAN = np.nan


def npy(descr: str, shape: str, data: bytes, order: str = "False") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize("dtype", ["f2", "<f4", ">f4", "f8", ">f8", "i1", "u2", ">i4", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_plain_dtype_and_order(tmp_path: Path, dtype: str, order: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype, order=order)
    np.save(tmp_path / "m.npy", array)
    np.savez(tmp_path / "m.npz", array)
    for name in ("m.npy", "m.npz"):
        back = read_map(tmp_path / name)
        np.testing.assert_array_equal(back, array.astype(np.float32))
        assert (back.dtype, back.flags.c_contiguous) == (np.float32, True)


def test_single_axes_are_dropped(tmp_path: Path) -> None:
    for shape in ((1, 1, 3, 4), (3, 4, 1), (1, 3, 4), (1, 3, 4, 1)):
        np.save(tmp_path / "m.npy", np.ones(shape, np.float32))
        assert read_map(tmp_path / "m.npy", "depth").shape == (3, 4)
        assert map_size(tmp_path / "m.npy", "depth") == (3, 4, 1)
    np.save(tmp_path / "m.npy", np.ones((1, 5, 2)))
    assert read_map(tmp_path / "m.npy", "flow").shape == (1, 5, 2)
    for shape in ((), (3,), (2, 2, 2, 2)):
        np.save(tmp_path / "m.npy", np.ones(shape))
        with pytest.raises(BadFile, match="expected an array"):
            read_map(tmp_path / "m.npy")


def test_a_large_file_is_mapped_and_never_changed(tmp_path: Path) -> None:
    array = np.ones((600, 600), np.float32)
    array[5, 6] = np.inf
    np.save(tmp_path / "m.npy", array)
    before = (tmp_path / "m.npy").read_bytes()
    back = read_map(tmp_path / "m.npy")
    assert np.isnan(back[5, 6])
    assert type(back) is np.ndarray
    back[:] = 7
    assert (tmp_path / "m.npy").read_bytes() == before
    assert np.isinf(read_map(tmp_path / "m.npy", raw=True)[5, 6])


def test_floats_beyond_float32(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.array([[1e300, 1.0]]))
    with pytest.raises(BadFile, match=r"beyond float32 \(3.4e38\), such as 1e\+300"):
        read_map(tmp_path / "m.npy")
    np.save(tmp_path / "m.npy", np.array([[np.inf, 1.0]]))
    np.testing.assert_array_equal(read_map(tmp_path / "m.npy"), [[NAN, 1]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy("'<c8'", "(1, 1)", b"\0" * 8), "found dtype '<c8'"),
        (npy("'|O'", "(1, 1)", b"\0" * 8), "found dtype"),
        (npy("'<U4'", "(1, 1)", b"\0" * 16), "found dtype"),
        (npy("[('a', '<f4')]", "(1, 1)", b"\0" * 4), "plain array"),
        (npy("__import__('os')", "(1, 1)", b""), "plain array"),
        (npy("'<f4'", "(-1, 1)", b""), "plain array"),
        (npy("'<f4'", "(0, 1)", b""), "at least 1"),
        (npy("'<f4'", "(2, 1)", b"\0" * 4), "announces 8 bytes"),
        (b"\x93NUMPY\2\0" + struct.pack("<I", 2**31), "header claims"),
        (b"\x93NUMPY\x09\0", "and a version"),
        (b"\x93NUM", "starts with"),
    ],
)
def test_bad_npy_headers(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "m.npy").write_bytes(data)
    with pytest.raises(BadFile, match=message):
        read_map(tmp_path / "m.npy")


def test_terabytes_are_refused_unallocated(tmp_path: Path) -> None:
    for shape in ("(1000000, 1000000)", "(2, 2, 999999999999)"):
        (tmp_path / "m.npy").write_bytes(npy("'<f4'", shape, b""))
        with pytest.raises(TooLarge):
            read_map(tmp_path / "m.npy")
        with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
            archive.writestr("map.npy", npy("'<f4'", shape, b""))
        with pytest.raises(TooLarge):
            read_map(tmp_path / "m.npz")


def test_npz_keys(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, other=np.ones((2, 2)), map=np.zeros((2, 3)))
    assert read_map(path).shape == (2, 3)
    assert map_size(path) == (2, 3, 1)
    np.savez(path, a=np.ones((2, 2)), b=np.zeros((2, 3)))
    with pytest.raises(
        BadFile, match="expected an array named 'map' or a single array, found a, b"
    ):
        read_map(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("map.npy", npy("'<f4'", "(2, 2)", b"\0" * 12))
    with pytest.raises(BadFile, match="header and values disagree"):
        read_map(path)


def test_npz_bytes_do_not_depend_on_the_clock(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_map(tmp_path / name, [[1.0, NAN]])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz")["map"], np.float32([[1, NAN]]))


def exr(path: Path, **planes: np.ndarray) -> None:
    OpenEXR.File({"type": OpenEXR.scanlineimage}, planes).write(str(path))


def test_exr_channels(tmp_path: Path) -> None:
    path = tmp_path / "m.exr"
    one = np.float32([[1, np.inf]])
    exr(path, Z=one, A=one * 2)
    np.testing.assert_array_equal(read_map(path), [[1, NAN]])
    np.testing.assert_array_equal(read_map(path, raw=True), one)
    exr(path, depth=one.astype(np.float16))
    np.testing.assert_array_equal(read_map(path, "depth"), [[1, NAN]])
    exr(path, u=one, v=one + 1)
    assert read_map(path).shape == (1, 2, 2)
    assert map_size(path) == (1, 2, 2)
    np.testing.assert_array_equal(read_map(path, "flow")[0, 0], [1, 2])
    exr(path, R=one, G=one, B=one)
    assert read_image(path).shape == (1, 2, 3)
    np.testing.assert_array_equal(read_map(path, "depth"), [[1, NAN]])
    with pytest.raises(BadFile, match="expected EXR channels u, v for flow, found B, G, R"):
        read_map(path, "flow")
    exr(path, a=one, b=one)
    with pytest.raises(BadFile, match="expected an EXR channel Z"):
        read_map(path)
    with pytest.raises(BadFile, match="R, G, B or Y, found a, b"):
        read_image(path)
    with pytest.raises(DoesNotFit, match="1 to 3 channels"):
        write_map(path, np.ones((2, 2, 4)), "other")


def test_exr_that_lies(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.exr"
    write_map(path, np.arange(960.0).reshape(40, 24))
    good = path.read_bytes()
    at = good.index(b"dataWindow\0box2i\0") + 21
    path.write_bytes(good[:at] + struct.pack("<4i", 0, 0, 2**30, 2**30) + good[at + 16 :])
    with pytest.raises(TooLarge):
        read_map(path)
    path.write_bytes(good[:-60] + b"\xa5" * 40 + good[-20:])
    with pytest.raises(BadFile, match="this EXR file cannot be decoded: Unable to run decoder"):
        read_map(path)
    assert capfd.readouterr().out == ""
    path.write_bytes(good[:5] + b"\x08" + good[6:])
    with pytest.raises(BadFile, match="found a deep one"):
        read_map(path)


def test_tiff_kinds(tmp_path: Path) -> None:
    path = tmp_path / "m.tiff"
    floats = np.arange(20, dtype=np.float32).reshape(4, 5)
    for array, options in (
        (floats, {}),
        (floats, {"compression": "zlib"}),
        (floats.astype(np.float64), {"rowsperstrip": 1}),
        (floats.astype(">f4"), {"byteorder": ">"}),
        (floats, {"tile": (16, 16)}),
    ):
        tifffile.imwrite(path, array, **options)
        np.testing.assert_array_equal(read_map(path), floats)
        assert map_size(path) == (4, 5, 1)
    tifffile.imwrite(path, np.uint16([[0, 256]]))
    np.testing.assert_array_equal(read_map(path), [[NAN, 1]])
    np.testing.assert_array_equal(read_map(path, scale=1, raw=True), [[0, 256]])
    tifffile.imwrite(path, np.int32([[0, 256]]))
    with pytest.raises(BadFile, match="expected a TIFF of floats, uint8 or uint16, found int32"):
        read_map(path)


def patch_tag(data: bytes, tag: int, value: int) -> bytes:
    """The file with another value in a tag of its first directory (little endian, one value)."""
    at = int.from_bytes(data[4:8], "little") + 2
    while int.from_bytes(data[at : at + 2], "little") != tag:
        at += 12
    return data[:at] + struct.pack("<HHII", tag, 4, 1, value) + data[at + 12 :]


def test_tiff_that_lies(tmp_path: Path) -> None:
    path = tmp_path / "m.tiff"
    stream = io.BytesIO()
    tifffile.imwrite(stream, np.ones((4, 4), np.float32), metadata=None)
    good = stream.getvalue()
    path.write_bytes(patch_tag(good, 256, 2**30))
    with pytest.raises(TooLarge):
        read_map(path)
    path.write_bytes(good[:-8])
    with pytest.raises(BadFile):
        read_map(path)


def test_a_tiff_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "m.tiff"
    large = np.zeros((2048, 2048), np.float32)
    tifffile.imwrite(path, large, compression="zlib", rowsperstrip=2048, metadata=None)
    assert path.stat().st_size < 2**17
    path.write_bytes(patch_tag(patch_tag(path.read_bytes(), 256, 4), 257, 4))
    with pytest.raises(BadFile, match="unpacks to another size than announced"):
        read_map(path)


def test_threads_leave_stdout_and_logs_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    values = np.arange(960, dtype=np.float32).reshape(40, 24) + 1
    for ending in ("exr", "tiff"):
        write_map(tmp_path / f"m.{ending}", values)
    good = (tmp_path / "m.exr").read_bytes()
    (tmp_path / "bad.exr").write_bytes(good[:-60] + b"\xa5" * 40 + good[-20:])
    before, logger = sys.stdout, logging.getLogger("tifffile")

    def work(thread: int) -> None:
        for _ in range(50):
            for ending in ("exr", "tiff"):
                np.testing.assert_array_equal(read_map(tmp_path / f"m.{ending}"), values)
            with pytest.raises(BadFile, match="Unable to run decoder"):
                read_map(tmp_path / "bad.exr")
            print(f"thread {thread}")  # noqa: T201
            logger.warning("mine")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert sys.stdout is before
    # What others print meanwhile is neither lost nor taken for OpenEXR's complaint.
    printed = "".join(capsys.readouterr().out.split("\n"))
    assert [printed.count(f"thread {i}") for i in range(4)] == [50] * 4
    assert "Warning" not in printed
    assert [record.getMessage() for record in caplog.records] == ["mine"] * 200


def test_netpbm(tmp_path: Path) -> None:
    path = tmp_path / "m.pgm"
    path.write_bytes(b"P5\n# c\n2 1\n255\n\0\x10")
    np.testing.assert_array_equal(read_map(path, scale=4), [[NAN, 4]])
    np.testing.assert_array_equal(read_image(path), [[0, 16]])
    np.testing.assert_array_equal(read_mask(path), [[False, True]])
    np.testing.assert_array_equal(read_labels(path), [[0, 16]])
    assert map_size(path) == (1, 2, 1)
    path.write_bytes(b"P6 1 1 65535\n" + struct.pack(">3H", 0, 65535, 13107))
    np.testing.assert_allclose(read_image(path), [[[0, 1, 0.2]]])
    for bad in (b"P5\n2 1\n0\n12", b"P5\n2 1\n255\n1", b"P5\n2\n", b"P5\n99999999 99999999 255\n"):
        path.write_bytes(bad)
        with pytest.raises(BadFile):
            read_image(path)


def test_masks_and_labels_from_npy(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array([[0, NAN, -2.0]]))
    np.testing.assert_array_equal(read_mask(path), [[False, False, True]])
    with pytest.raises(BadFile, match="labels are integers"):
        read_labels(path)
    np.save(path, np.array([[0, 2**40]]))
    with pytest.raises(BadFile, match="beyond 32 bits"):
        read_labels(path)
    np.save(path, np.array([[[0], [7]]], dtype=np.int64))
    labels = read_labels(path)
    np.testing.assert_array_equal(labels, [[0, 7]])
    assert labels.dtype == np.int32
    np.save(path, np.zeros((2, 2, 2), int))
    with pytest.raises(BadFile, match="a label map is"):
        read_labels(path)


def test_jpeg(tmp_path: Path) -> None:
    import cv2

    path = tmp_path / "m.jpg"
    picture = np.full((16, 24, 3), (200, 40, 40), np.uint8)
    whole = cv2.imencode(".jpg", picture[..., ::-1])[1].tobytes()
    path.write_bytes(whole)
    np.testing.assert_allclose(read_image(path), picture, atol=6)
    with pytest.raises(BadFile, match="does not keep values exactly"):
        read_map(path)
    with pytest.raises(BadFile, match="expected a label map"):
        read_labels(path)
    path.write_bytes(whole[:-2])
    with pytest.raises(BadFile, match="truncated"):
        read_image(path)
    at = whole.index(b"\xff\xc0")
    path.write_bytes(whole[: at + 5] + b"\xff\xff\xff\xff" + whole[at + 9 :])
    with pytest.raises(TooLarge):
        read_image(path)
