"""Spring's HDF5 maps, written here as its own tools write them, and Sintel's depth."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge.errors import BadFile, DoesNotFit, MissingExtra, TooLarge
from depthgauge.io import map_size, read_map, stored_dtype, write_map

values32 = st.floats(-1e6, 1e6, width=32) | st.just(float("nan"))
shapes = st.tuples(st.integers(1, 6), st.integers(1, 7))


def put(path: Path, name: str, values: np.ndarray, **options: object) -> Path:
    with h5py.File(path, "w") as file:
        file.create_dataset(name, data=values, **options)
    return path


def test_a_file_of_spring(tmp_path):
    values = np.array([[1.5, np.nan], [3.25, 4]], np.float32)
    path = put(tmp_path / "disp1_left_0001.dsp5", "disparity", values, compression="gzip")
    np.testing.assert_array_equal(read_map(path, "disparity"), values)
    assert map_size(path) == (2, 2, 1)
    assert stored_dtype(path) == np.float32
    flow = np.dstack([values, values])
    path = put(tmp_path / "f.flo5", "flow", flow.astype(np.float16))
    np.testing.assert_array_equal(read_map(path, "flow"), flow)


@given(map=hnp.arrays(np.float32, shapes, elements=values32))
def test_what_is_written_comes_back(tmp_path_factory, map):
    folder = tmp_path_factory.mktemp("m")
    write_map(folder / "m.dsp5", map)
    write_map(folder / "m.flo5", np.dstack([map, -map]))
    write_map(folder / "m.dpt", map, quantity="depth")
    np.testing.assert_array_equal(read_map(folder / "m.dsp5", "disparity"), map)
    flow = read_map(folder / "m.flo5", "flow")
    np.testing.assert_array_equal(flow, np.dstack([map, -map]))
    np.testing.assert_array_equal(read_map(folder / "m.dpt", "depth"), map)
    assert map_size(folder / "m.dpt") == (*map.shape, 1)


def test_spring_finds_its_names_in_our_files(tmp_path):
    write_map(tmp_path / "m.dsp5", np.ones((2, 3)))
    write_map(tmp_path / "m.flo5", np.ones((2, 3, 2)))
    with h5py.File(tmp_path / "m.dsp5") as one, h5py.File(tmp_path / "m.flo5") as two:
        assert (list(one), one["disparity"].dtype) == (["disparity"], np.float32)
        assert (list(two), two["flow"].shape) == (["flow"], (2, 3, 2))


def test_a_single_array_may_have_any_name_and_one_of_several_must_be_named(tmp_path):
    path = put(tmp_path / "m.h5", "result", np.ones((2, 3)))
    assert read_map(path, "disparity").shape == (2, 3)
    with h5py.File(path, "a") as file:
        file["other"] = np.ones((2, 3))
    with pytest.raises(BadFile, match="'disparity' or a single one, found other, result"):
        read_map(path, "disparity")


def test_values_in_other_files_are_not_opened(tmp_path):
    put(tmp_path / "secret.h5", "disparity", np.ones((2, 3), np.float32))
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["disparity"] = h5py.ExternalLink("secret.h5", "disparity")
    with pytest.raises(BadFile, match="found none"):
        read_map(tmp_path / "link.h5")
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout((2, 3), "f4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "disparity", (2, 3))
        file.create_virtual_dataset("disparity", layout)
    (tmp_path / "raw").write_bytes(b"\0" * 24)
    outside = [(str(tmp_path / "raw"), 0, 24)]
    put_external = h5py.File(tmp_path / "external.h5", "w")
    put_external.create_dataset("disparity", (2, 3), "f4", external=outside)
    put_external.close()
    for name in ("virtual.h5", "external.h5"):
        with pytest.raises(BadFile, match="values are in other files"):
            read_map(tmp_path / name)


def test_damage_is_one_sentence(tmp_path):
    path = put(tmp_path / "m.dsp5", "disparity", np.random.default_rng(1).random((40, 30)))
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 31):
        path.write_bytes(whole[:length])
        with pytest.raises(BadFile):
            read_map(path)
    put(tmp_path / "text.h5", "disparity", np.array([[b"a"]]))
    with pytest.raises(BadFile, match="not numbers"):
        read_map(tmp_path / "text.h5")
    put(tmp_path / "line.h5", "disparity", np.ones(4))
    with pytest.raises(BadFile, match=r"expected an array \(H, W\)"):
        read_map(tmp_path / "line.h5")


def test_sizes_are_checked_before_anything_is_unpacked(tmp_path):
    path = tmp_path / "bomb.h5"
    with h5py.File(path, "w") as file:
        chunks = {"chunks": (1000, 1000), "compression": "gzip"}
        file.create_dataset("disparity", (16000, 16000), "f4", **chunks)
    with pytest.raises(TooLarge, match="promise to unpack"):
        read_map(path)
    with pytest.raises(TooLarge, match="limit is 99 pixels"):
        read_map(put(tmp_path / "m.h5", "disparity", np.ones((10, 10))), limit=99)


def test_a_name_says_how_many_channels(tmp_path):
    with pytest.raises(DoesNotFit, match=r"\.dsp5 holds one channel"):
        write_map(tmp_path / "m.dsp5", np.ones((2, 3, 2)))
    with pytest.raises(DoesNotFit, match=r"a \.dpt file holds a map \(H, W\)"):
        write_map(tmp_path / "m.dpt", np.ones((2, 3, 2)))


def test_the_missing_library_is_named(tmp_path, monkeypatch):
    path = put(tmp_path / "m.dsp5", "disparity", np.ones((2, 3)))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"pip install 'depthgauge\[hdf5\]'"):
        read_map(path)


def test_depth_of_sintel_byte_by_byte(tmp_path):
    path = tmp_path / "frame_0001.dpt"
    path.write_bytes(struct.pack("<fii6f", 202021.25, 3, 2, 1, 2, 3, 4, np.inf, np.nan))
    wanted = [[1, 2, 3], [4, np.nan, np.nan]]
    np.testing.assert_array_equal(read_map(path, "depth"), wanted)
    assert np.isinf(read_map(path, raw=True)[1, 1])
    path.rename(tmp_path / "frame_0001.flo")
    with pytest.raises(BadFile, match="announces 48 bytes"):
        read_map(tmp_path / "frame_0001.flo")
    path.write_bytes(b"PIEX" + bytes(8))
    with pytest.raises(BadFile, match=r"a \.dpt file starts with PIEH"):
        read_map(path)
