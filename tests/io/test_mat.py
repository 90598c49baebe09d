"""MAT files: against SciPy's reader, round trips, and damaged files."""

import io as buffers
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.io import loadmat, savemat
from test_fuzz import mutate

from depthgauge.errors import BadFile, DepthgaugeError, TooLarge
from depthgauge.io.mat import read_mat

DTYPES = [np.dtype(name) for name in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")]


def saved(path, variables, **options):
    savemat(path, variables, **options)
    return path


def cell(*values):
    made = np.full((1, len(values)), None, object)
    for k, value in enumerate(values):
        made[0, k] = value
    return made


numbers = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=2, max_dims=3, max_side=5))
)


@given(numbers, st.booleans())
def test_arrays_come_back_as_they_were(tmp_path_factory, values, packed):
    path = tmp_path_factory.mktemp("mat") / "a.mat"
    found = read_mat(saved(path, {"a": values}, do_compression=packed))["a"]
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, loadmat(path)["a"])


def test_structs_cells_texts_and_logicals(tmp_path):
    inner = {"Boundaries": np.eye(3, dtype=bool), "name": "cat", "depth": {"x": 2.5}}
    path = saved(
        tmp_path / "a.mat", {"people": cell(inner, inner), "n": 7, "none": np.zeros((0, 3))}
    )
    found = read_mat(path)
    assert set(found) == {"people", "n", "none"}
    assert found["n"].tolist() == [[7]]
    assert found["none"].shape == (0, 3)
    first, second = found["people"]
    assert first["Boundaries"].dtype == bool
    np.testing.assert_array_equal(second["Boundaries"], np.eye(3))
    assert first["name"] == "cat"
    assert first["depth"]["x"].tolist() == [[2.5]]


def test_an_array_of_structs_is_a_list(tmp_path):
    structs = np.zeros((1, 2), [("a", object)])
    structs["a"] = [[1, 2]]
    found = read_mat(saved(tmp_path / "a.mat", {"s": structs}))["s"]
    assert [one["a"].item() for one in found] == [1, 2]


def test_real_files_agree_with_scipy(shared):
    path = shared("data/bsds500-bench/data/groundTruth/2018.mat")
    ours, theirs = read_mat(path)["groundTruth"], loadmat(path)["groundTruth"]
    assert len(ours) == theirs.size == 5
    for person, other in zip(ours, theirs[0], strict=True):
        for name in ("Boundaries", "Segmentation"):
            np.testing.assert_array_equal(person[name], other[name][0, 0])


def test_the_other_byte_order_is_read(tmp_path):
    def element(kind, body):
        return struct.pack(">II", kind, len(body)) + body + b"\0" * (-len(body) % 8)

    flags = element(6, struct.pack(">II", 10, 0))  # class int16
    dims = element(5, struct.pack(">ii", 1, 3))
    body = flags + dims + element(1, b"abc") + element(3, struct.pack(">hhh", 1, -2, 300))
    head = b"made by hand".ljust(124) + struct.pack(">H", 0x0100) + b"MI"
    path = tmp_path / "a.mat"
    path.write_bytes(head + element(14, body))
    assert read_mat(path)["abc"].tolist() == [[1, -2, 300]]


def test_version_7_3_is_refused_with_advice(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(64))
    with pytest.raises(BadFile, match=r"version 7.3 .HDF5., which is not read; save it .* -v7"):
        read_mat(path)


@pytest.mark.parametrize("body", [b"", b"\0" * 40, b"not a mat file".ljust(200)])
def test_something_else_is_refused(tmp_path, body):
    path = tmp_path / "a.mat"
    path.write_bytes(body)
    with pytest.raises(BadFile, match="expected a MAT file of version 5"):
        read_mat(path)


def test_what_is_not_numbers_is_refused_by_name(tmp_path):
    from scipy.sparse import csc_matrix

    for values, found in (
        (csc_matrix(np.eye(3)), "a sparse matrix"),
        (np.array([[1j]]), "complex"),
    ):
        with pytest.raises(BadFile, match=f"found {found}.* in 'x'"):
            read_mat(saved(tmp_path / "a.mat", {"x": values}))


def header():
    return b"by hand".ljust(124) + struct.pack("<H", 0x0100) + b"IM"


def test_a_bomb_is_not_unpacked(tmp_path):
    packed = zlib.compress(bytes(40_000_000), 9)
    path = tmp_path / "a.mat"
    path.write_bytes(header() + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(TooLarge, match="unpacks to more than 1 MiB, far more than pictures"):
        read_mat(path, limit=1000)


def test_a_default_bomb_is_not_unpacked(tmp_path):
    machine = zlib.compressobj(9)
    packed = b"".join(machine.compress(bytes(2**24)) for _ in range(40)) + machine.flush()
    path = tmp_path / "a.mat"
    path.write_bytes(header() + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(TooLarge, match="unpacks to more than 256 MiB"):
        read_mat(path)


def test_cells_that_cost_more_than_they_take(tmp_path):
    many = 2**20 + 1
    path = tmp_path / "a.mat"
    path.write_bytes(matrix(1, (1, many), *[(14, b"")] * many))
    with pytest.raises(TooLarge, match="more than 1048576 values in cells"):
        read_mat(path)


def test_numbers_are_not_copied_where_they_are_right(tmp_path):
    path = saved(tmp_path / "a.mat", {"x": np.arange(6.0).reshape(2, 3)})
    assert not read_mat(path)["x"].flags.writeable


def matrix(flags, dims, *rest):
    def element(kind, body):
        return struct.pack("<II", kind, len(body)) + body + b"\0" * (-len(body) % 8)

    body = element(6, struct.pack("<II", flags, 0)) + element(5, struct.pack("<ii", *dims))
    body += element(1, b"x") + b"".join(element(*part) for part in rest)
    return header() + element(14, body)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (matrix(9, (2**30, 2**30), (2, b"abc")), "'x' has 3 values, its dimensions are"),
        (matrix(9, (-1, 3), (2, b"abc")), "has the dimensions"),
        (matrix(1, (2**30, 2**30)), "values are announced"),
        (matrix(2, (2**30, 2**30), (5, struct.pack("<i", 8)), (1, b"")), "values are announced"),
        (matrix(2, (1, 1), (5, struct.pack("<i", 0)), (1, b"abc")), "names of fields have"),
        (matrix(9, (1, 3), (99, b"abc")), "unknown type 99"),
        (matrix(12, (1, 3), (5, b"abc")), "have 3 bytes of 4 each"),
        (matrix(9, (1, 3)), "bytes where an element starts"),
        (header() + struct.pack("<II", 14, 10**9), "an element claims 1000000000 bytes"),
        (header() + struct.pack("<II", 15, 4) + b"abcd", "cannot be unpacked"),
        (header() + struct.pack("<II", 15, 8) + zlib.compress(bytes(64))[:8], "ends early"),
    ],
)
def test_sizes_that_lie_are_seen_before_anything_is_made(tmp_path, data, what):
    path = tmp_path / "a.mat"
    path.write_bytes(data)
    with pytest.raises(BadFile, match=what):
        read_mat(path)


def test_cells_within_cells_end_somewhere(tmp_path):
    value = np.zeros((1, 1))
    for _ in range(30):
        value = cell(value)
    with pytest.raises(BadFile, match="more than 8 deep"):
        read_mat(saved(tmp_path / "a.mat", {"deep": value}))


@pytest.mark.parametrize("packed", [False, True])
def test_damaged_files_give_one_kind_of_error(tmp_path, packed):
    made = buffers.BytesIO()
    person = {"Boundaries": np.eye(4, dtype=np.uint8), "Segmentation": np.ones((4, 4), np.uint16)}
    savemat(made, {"groundTruth": cell(person, person), "n": 3.5}, do_compression=packed)
    rng = np.random.default_rng(11)
    path = tmp_path / "a.mat"
    refused = []
    for _ in range(400):
        path.write_bytes(mutate(rng, made.getvalue()))
        try:
            read_mat(path, limit=10**6)
        except DepthgaugeError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert not any("\n" in text for text in refused)
