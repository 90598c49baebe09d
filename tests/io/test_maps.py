"""What all map formats have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import OpenEXR
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge import io as dio
from depthgauge.errors import BadFile, DepthgaugeError, DoesNotFit, Misuse, TooLarge, WrongShape
from depthgauge.io import map_size, read_map, stored_dtype, write_image, write_map

FLOAT_FORMATS = ["pfm", "npy", "npz", "exr", "tiff"]
FLOW_FORMATS = ["pfm", "npy", "npz", "exr", "tiff", "flo"]

values32 = st.floats(-1e6, 1e6, width=32) | st.just(float("nan"))
shapes = st.tuples(st.integers(1, 6), st.integers(1, 7))


@pytest.mark.parametrize("ending", FLOAT_FORMATS)
@given(map=hnp.arrays(np.float32, shapes, elements=values32))
def test_float_formats_return_what_was_written(
    ending: str, tmp_path_factory: pytest.TempPathFactory, map: np.ndarray
) -> None:
    path = tmp_path_factory.mktemp("m") / f"m.{ending}"
    write_map(path, map)
    back = read_map(path, "disparity")
    assert back.dtype == np.float32
    assert back.flags.c_contiguous
    np.testing.assert_array_equal(back, map)
    assert map_size(path, "disparity") == (*map.shape, 1)


@pytest.mark.parametrize("ending", FLOW_FORMATS)
@given(flow=hnp.arrays(np.float32, shapes.map(lambda s: (*s, 2)), elements=values32))
def test_flow_returns_what_was_written(
    ending: str, tmp_path_factory: pytest.TempPathFactory, flow: np.ndarray
) -> None:
    flow[np.isnan(flow).any(axis=2)] = np.nan
    path = tmp_path_factory.mktemp("m") / f"m.{ending}"
    write_map(path, flow, "flow")
    np.testing.assert_array_equal(read_map(path, "flow"), flow)
    assert map_size(path, "flow") == flow.shape


@pytest.mark.parametrize("scale", [None, 100.0, 1000.0])
@given(codes=hnp.arrays(np.uint16, shapes))
def test_png_returns_what_was_written(
    scale: float | None, tmp_path_factory: pytest.TempPathFactory, codes: np.ndarray
) -> None:
    path = tmp_path_factory.mktemp("m") / "m.png"
    map = np.where(codes == 0, np.nan, codes / np.float32(scale or 256)).astype(np.float32)
    write_map(path, map, "depth", scale=scale)
    np.testing.assert_array_equal(read_map(path, "depth"), map)
    assert map_size(path) == (*map.shape, 1)


@given(codes=hnp.arrays(np.uint16, shapes.map(lambda s: (*s, 2))), data=st.data())
def test_kitti_flow_returns_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, codes: np.ndarray, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("m") / "m.png"
    flow = ((codes.astype(np.float32)) - 32768) / 64
    flow[data.draw(hnp.arrays(bool, codes.shape[:2]))] = np.nan
    write_map(path, flow, "flow")
    np.testing.assert_array_equal(read_map(path, "flow"), flow)
    assert map_size(path, "flow") == flow.shape


def test_content_goes_before_the_name(tmp_path: Path) -> None:
    write_map(tmp_path / "m.pfm", [[1.0, 2.0]])
    (tmp_path / "m.pfm").rename(tmp_path / "m.png")
    np.testing.assert_array_equal(read_map(tmp_path / "m.png"), [[1, 2]])


@pytest.mark.parametrize("ending", FLOW_FORMATS)
def test_stored_dtype_of_what_is_written(tmp_path: Path, ending: str) -> None:
    write_map(tmp_path / f"m.{ending}", np.ones((2, 3, 2)), "flow")
    assert stored_dtype(tmp_path / f"m.{ending}") == np.float32
    # Told by the content: here by a name that says something else.
    (tmp_path / f"m.{ending}").rename(tmp_path / "m.pgm")
    assert stored_dtype(tmp_path / "m.pgm") == np.float32


def test_stored_dtype_goes_by_content_not_by_name(tmp_path: Path) -> None:
    write_map(tmp_path / "m.pfm", [[1.0]])
    (tmp_path / "m.pfm").rename(tmp_path / "m.npy")
    assert stored_dtype(tmp_path / "m.npy") == np.float32
    np.save(tmp_path / "n.npy", np.ones((2, 3), np.int8))
    (tmp_path / "n.npy").rename(tmp_path / "n.pfm")
    assert stored_dtype(tmp_path / "n.pfm") == np.int8


@pytest.mark.parametrize("dtype", ["?", "u1", "<i4", ">f2", "<f4", ">f4", "<f8"])
def test_stored_dtype_of_arrays(tmp_path: Path, dtype: str) -> None:
    array = np.ones((2, 3), dtype)
    np.save(tmp_path / "m.npy", array)
    np.savez(tmp_path / "m.npz", map=array, other=np.ones(3, np.complex64))
    for name in ("m.npy", "m.npz"):
        found = stored_dtype(tmp_path / name)
        assert found == np.dtype(dtype).newbyteorder("=")
        assert found.isnative


def test_stored_dtype_of_pictures(tmp_path: Path) -> None:
    for dtype in (np.uint8, np.uint16):
        write_image(tmp_path / "m.png", np.ones((2, 3), dtype))
        assert stored_dtype(tmp_path / "m.png") == dtype
        most, size = np.iinfo(dtype).max, np.dtype(dtype).itemsize
        (tmp_path / "m.pgm").write_bytes(b"P5 2 1 %d\n" % most + bytes(2 * size))
        assert stored_dtype(tmp_path / "m.pgm") == dtype
    for dtype in (np.uint8, np.uint16, np.float16, np.float32, np.float64):
        for order in "<>":
            tifffile.imwrite(tmp_path / "m.tiff", np.ones((2, 3), dtype), byteorder=order)
            assert stored_dtype(tmp_path / "m.tiff") == dtype


def test_stored_dtype_of_exr_is_that_of_the_channels_read(tmp_path: Path) -> None:
    half, full = np.ones((2, 3), np.float16), np.ones((2, 3), np.float32)
    for planes, dtype in (
        ({"Z": half}, np.float16),
        ({"Z": half, "A": full}, np.float16),
        ({"Z": full, "A": half}, np.float32),
        ({"u": half, "v": full}, np.float32),
        ({"Z": np.ones((2, 3), np.uint32)}, np.uint32),
    ):
        OpenEXR.File({"type": OpenEXR.scanlineimage}, planes).write(str(tmp_path / "m.exr"))
        assert stored_dtype(tmp_path / "m.exr") == dtype


def test_stored_dtype_reads_the_header_alone_and_checks_it(tmp_path: Path) -> None:
    path = tmp_path / "m.png"
    write_map(path, [[1.0]])
    path.write_bytes(path.read_bytes()[:33])
    assert stored_dtype(path) == np.uint16
    huge = b"{'descr': '<f2', 'fortran_order': False, 'shape': (1000000, 1000000), }\n"
    path.write_bytes(b"\x93NUMPY\1\0" + bytes([len(huge), 0]) + huge)
    assert stored_dtype(path) == np.float16
    for bad in (b"Pf\nx", b"PIEH", b"\x93NUMPY", b"PK\3\4", b"\x76\x2f\x31\x01", b"II*\0", b"P5"):
        path.write_bytes(bad)
        with pytest.raises(BadFile):
            stored_dtype(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"m\.pfm: there is no such file$"):
        read_map(tmp_path / "m.pfm")


def test_a_folder_a_device_and_a_nul_are_not_files(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="expected a file, found a folder"):
        read_map(tmp_path)
    with pytest.raises(BadFile, match="found a device"):
        read_map("/dev/zero")
    with pytest.raises(BadFile, match="NUL"):
        read_map("a\0b")


@pytest.mark.parametrize("data", [b"", b"hello", b"ply\n", b"\xff\xd8\xff\xe0"])
def test_what_is_no_map_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(BadFile, match="expected a map"):
        read_map(tmp_path / "x")


@pytest.mark.parametrize("ending", [*FLOW_FORMATS, "png"])
def test_every_truncation_is_noticed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"m.{ending}"
    rng = np.random.default_rng(1)
    flow = ending == "flo"
    write_map(path, rng.random((9, 7, 2) if flow else (9, 7)) + 1, "flow" if flow else "depth")
    whole = path.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 97)):
        path.write_bytes(whole[:length])
        with pytest.raises(BadFile):
            read_map(path)


@pytest.mark.parametrize("ending", FLOAT_FORMATS)
def test_the_limit_is_checked(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"m.{ending}"
    write_map(path, np.ones((10, 10)))
    assert read_map(path, limit=100).shape == (10, 10)
    for call in (read_map, map_size):
        with pytest.raises(TooLarge, match="limit is 99 pixels"):
            call(path, limit=99)


def test_the_quantity_checks_the_channels(tmp_path: Path) -> None:
    write_map(tmp_path / "m.npy", np.ones((4, 5)))
    with pytest.raises(BadFile, match=r"flow is a map \(H, W, 2\), this file holds \(4, 5\)"):
        read_map(tmp_path / "m.npy", "flow")
    write_map(tmp_path / "f.npy", np.ones((4, 5, 2)), "flow")
    with pytest.raises(BadFile, match=r"disparity is a map \(H, W\)"):
        read_map(tmp_path / "f.npy", "disparity")


def test_scale_divides_whatever_the_format(tmp_path: Path) -> None:
    for ending in FLOAT_FORMATS:
        write_map(tmp_path / f"m.{ending}", [[1500.0, np.nan]])
        np.testing.assert_array_equal(
            read_map(tmp_path / f"m.{ending}", scale=1000), np.float32([[1.5, np.nan]])
        )


def test_misuse_is_said() -> None:
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(Misuse, match="scale is"):
            read_map("m.png", scale=bad)
    with pytest.raises(Misuse, match="limit is 0"):
        read_map("m.png", limit=0)
    with pytest.raises(Misuse, match="maps are written as"):
        write_map("m.jpg", [[1.0]])
    with pytest.raises(Misuse, match="only PNG keeps a scale"):
        write_map("m.pfm", [[1.0]], scale=2)


def test_what_float32_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit, match=r"1e\+300 is beyond float32"):
        write_map(tmp_path / "m.npy", [[1e300]])
    with pytest.raises(DoesNotFit, match="a map holds numbers"):
        write_map(tmp_path / "m.npy", [["a"]])
    with pytest.raises(WrongShape, match=r"disparity is a map \(H, W\)"):
        write_map(tmp_path / "m.npy", np.ones((2, 2, 2)), "disparity")
    with pytest.raises(WrongShape, match="flow is a map"):
        write_map(tmp_path / "m.pfm", np.ones((2, 2)), "flow")
    assert os.listdir(tmp_path) == []


def test_infinities_are_missing_in_both_directions(tmp_path: Path) -> None:
    for ending in FLOAT_FORMATS:
        write_map(tmp_path / f"m.{ending}", [[np.inf, -np.inf, 1.0]])
        np.testing.assert_array_equal(
            read_map(tmp_path / f"m.{ending}"), np.float32([[np.nan, np.nan, 1]])
        )


@pytest.mark.parametrize("ending", [*FLOAT_FORMATS, "png"])
def test_a_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"m.{ending}"
    write_map(path, [[1.0]])
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DepthgaugeError, match="cannot be written: No space left on device"):
        write_map(path, [[2.0]])
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", [*FLOAT_FORMATS, "png"])
def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path, ending: str) -> None:
    with pytest.raises(DepthgaugeError, match="cannot be written: No such file or directory"):
        write_map(tmp_path / "none" / f"m.{ending}", [[1.0]])


@pytest.mark.parametrize("ending", FLOAT_FORMATS)
def test_a_full_disk_leaves_nothing(tmp_path: Path, ending: str) -> None:
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from depthgauge.io import write_map\n"
        "from depthgauge.errors import DepthgaugeError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))\n"
        "try: write_map(sys.argv[1], np.random.default_rng(0).random((200, 200)))\n"
        "except DepthgaugeError as e: assert 'cannot be written' in str(e); sys.exit(7)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / f"m.{ending}")], capture_output=True, text=True
    )
    assert done.returncode == 7, done.stderr
    assert os.listdir(tmp_path) == []


def test_import_is_light() -> None:
    code = (
        "import sys, depthgauge.io as i; dir(i); from depthgauge.io import read_map, read_image, "
        "read_ply; print(*{'cv2', 'OpenEXR', 'tifffile'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_public_name_is_there() -> None:
    assert [name for name in dio.__all__ if not hasattr(dio, name)] == []
    assert set(dir(dio)) == set(dio.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dio.nothing  # noqa: B018


def test_two_channels_are_flow_where_it_is_not_said(tmp_path):
    flow = np.ones((3, 4, 2), np.float32)
    for name in ("a.flo", "a.png", "a.npy"):
        write_map(tmp_path / name, flow)
        assert np.array_equal(read_map(tmp_path / name, quantity="flow"), flow)
