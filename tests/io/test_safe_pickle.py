"""Pickles that are data come back as they were; all others are refused, in one sentence."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io.pickles import safe_pickle
from depthgauge.io.pickles._steps import MOST_STEPS

DEPTH = {
    "min_y": 3,
    "max_y": np.int64(4),
    "min_x": 0,
    "max_x": 2,
    "depth": np.array([[1.5, np.nan, 3], [4, 5, -1]], np.float32),
}
OLD = (
    "(dp0\nS'min_y'\np1\nI3\nsS'max_x'\np2\nL7L\nsS'on'\np3\nI01\nsS'f'\np4\nF2.5\ns"
    "S'depth'\np5\ncnumpy.core.multiarray\n_reconstruct\np6\n(cnumpy\nndarray\np7\n(I0\ntp8\n"
    "S'b'\np9\ntp10\nRp11\n(I1\n(I2\ntp12\ncnumpy\ndtype\np13\n(S'f4'\np14\nI0\nI1\ntp15\nRp16\n"
    "(I3\nS'<'\np17\nNNNI-1\nI-1\nI0\ntp18\nbI00\nS'\\x00\\x00\\x80?\\x00\\x00 \\xc1'\np19\n"
    "tp20\nbs."
)
"""As Python 2 with its default protocol wrote an array of 1 and -10."""


@pytest.fixture
def load(tmp_path):
    """What is read of these bytes."""

    def read(body: bytes, **options):
        path = tmp_path / "x.pkl"
        path.write_bytes(body)
        return safe_pickle.load(path, **options)

    return read


def same(found, made) -> None:
    if isinstance(made, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert found.dtype == made.dtype.newbyteorder("=")
        assert found.flags.writeable
        np.testing.assert_array_equal(found, made)
    elif isinstance(made, dict):
        assert list(found) == list(made)
        for key in made:
            same(found[key], made[key])
    elif isinstance(made, (list, tuple)):
        assert type(found) is type(made)
        assert len(found) == len(made)
        for one, other in zip(found, made, strict=True):
            same(one, other)
    else:
        assert found == made
        assert type(found) is type(made.item() if isinstance(made, np.generic) else made)


@pytest.mark.parametrize("protocol", range(6))
def test_data_comes_back(load, protocol):
    made = {
        **DEPTH,
        "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "bool": np.array([True, False]),
        "none": np.zeros((0, 3)),
        "single": np.array(7, np.uint8),
        "half": np.float16(0.5),
        "text": "hé\U0001f600",
        "bytes": b"a\xff\x00",
        "nothing": b"",
        "list": [1, -2.5, None, True, [], (), {}, (1,), (1, "x", (2,))],
        "wide": 2**70,
        "low": -(2**40),
    }
    same(load(pickle.dumps(made, protocol)), made)


def test_pickles_of_python_2(load):
    found = load(OLD.encode())
    same(found, {"min_y": 3, "max_x": 7, "on": True, "f": 2.5, "depth": np.float32([1, -10])})


def test_text_of_python_2_is_latin_1(load):
    assert load(b"\x80\x02U\x03a\xe9\xff.") == "aéÿ"
    assert load(b"\x80\x02T\x02\x00\x00\x00\xe9\x00.") == "é\x00"


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_bytes_of_bool_arrays_are_made_0_and_1(load, protocol):
    body = pickle.dumps(np.array([True, False, True, True, False] * 3), protocol)
    found = load(body.replace(b"\x01\x00\x01\x01", b"\x07\x00\xff\x01"))
    assert found.tolist() == [True, False, True, True, False] * 3
    assert found.view(np.uint8).max() == 1


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | arrays(
        st.sampled_from(["<f4", "<f8", ">i2", "u1", "?"]), array_shapes(max_dims=3), elements={}
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(-9, 9), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values, protocol=st.integers(0, 5))
def test_whatever_is_data_comes_back(load, value, protocol):
    body = pickle.dumps(value, protocol)
    theirs = pickle.loads(body)
    found = load(body)
    np.testing.assert_equal(found, theirs)


def test_what_is_written_can_be_read_by_all(tmp_path):
    path = tmp_path / "x.pkl"
    # The name of NumPy's module in the values must not be changed.
    made = {**DEPTH, "max_y": 4, "text": "numpy._core.multiarray", "raw": b"cnumpy._core.x\ny\n"}
    safe_pickle.dump(path, made)
    same(safe_pickle.load(path), made)
    body = path.read_bytes()
    same(pickle.loads(body), made)
    assert b"cnumpy.core.multiarray\n_reconstruct\n" in body
    assert b"cnumpy._core.multiarray" not in body
    assert body[:2] == b"\x80\x02"


# --- what is refused ----------------------------------------------------------------------------


class Calls:
    """Pickles as a call."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    ("function", "name"),
    [
        (os.system, r"(posix|nt)\.system"),
        (eval, r"(builtins|__builtin__)\.eval"),
        (np.load, r"numpy\.load"),
        (np.fromfile, r"numpy.*fromfile"),
        (getattr, r"(builtins|__builtin__)\.getattr"),
        (np.zeros, r"numpy.*zeros"),
    ],
)
def test_no_function_is_called(load, tmp_path, function, name, protocol):
    mark = tmp_path / "was here"
    body = pickle.dumps({"depth": [Calls(function, f"touch '{mark}'")]}, protocol)
    with pytest.raises(BadFile, match=f"this pickle contains {name}; only numbers") as caught:
        load(body)
    assert "\n" not in str(caught.value)
    assert not mark.exists()


HUGE = 2**40


class Built:
    """Pickles as an array with a state of any kind."""

    def __init__(self, state):
        self.state = state

    def __reduce__(self):
        call, arguments, _ = np.zeros(1).__reduce__()
        return call, arguments, self.state


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    ("state", "why"),
    [
        ((1, (HUGE, HUGE), np.dtype("f8"), False, b"\0" * 8), "bytes by its shape, but 8 bytes"),
        ((1, (HUGE,), np.dtype("f8"), False, b""), "bytes by its shape, but 0 bytes"),
        ((1, (2,), np.dtype("f8"), False, b"\0" * 8), "array of 16 bytes by its shape"),
        ((1, (-1,), np.dtype("f8"), False, b"\0" * 8), "shape is damaged"),
        ((1, (True,), np.dtype("u1"), False, b"\0"), "shape is damaged"),
        ((1, [1], np.dtype("u1"), False, b"\0"), "shape is damaged"),
        ((1, (1,) * 9, np.dtype("u1"), False, b"\0"), "shape is damaged"),
        ((1, (1,), np.dtype("u1"), False, None), "but no bytes of values"),
        ((1, (1,), np.dtype("u1"), False, "\u1234"), "bytes are damaged"),
        ((1, (1,), "u1", False, b"\0"), "description is damaged"),
        ((1, (1,), np.dtype("O"), False, ["x"]), "array of objects"),
        ((1, (1,), np.dtype("U1"), False, b"\0" * 4), "not of plain numbers"),
        ((1, (1,), np.dtype("c8"), False, b"\0" * 8), "not of plain numbers"),
        ((1, (1,), np.dtype([("a", "u1")]), False, b"\0"), "not of plain numbers"),
        (7, "description is damaged"),
        ((1, 2), "description is damaged"),
    ],
)
def test_arrays_that_are_not_what_they_say(load, state, why, protocol):
    with pytest.raises(BadFile, match=why):
        load(pickle.dumps([Built(state)], protocol))


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"
EMPTY = RECONSTRUCT + b"(cnumpy\nndarray\n(K\x00tC\x01btR"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "ends early"),
        (b"\x80\x09N.", "version 9"),
        (b"\x8e" + struct.pack("<Q", 2**62) + b"abc", "ends early"),
        (b"\x8d" + struct.pack("<Q", 2**64 - 1) + b"abc", "ends early"),
        (b"\x96" + struct.pack("<Q", 2**40) + b"abc", "ends early"),
        (b"\x8b" + struct.pack("<I", 2**32 - 1) + b"abc", "ends early"),
        (b"X\xff\xff\xff\x7fabc", "ends early"),
        (b"X\x01\x00\x00\x00\xff.", "text that is damaged"),
        (b"(ios\nsystem\nS'x'\n.", "text|object of a class"),
        (b"(S'x'\nios\nsystem\n.", "object of a class"),
        (b"cnumpy\ndtype\n)\x81.", "object of a class"),
        (b"\x82\x01.", "registered class"),
        (b"Pnumber 1\n.", "another program"),
        (b"\x8f.", "a set"),
        (b"\x97.", "buffer outside"),
        (b"\xff.", "a step of kind"),
        (b"0.", "takes more"),
        (b"(0.", "takes more"),
        (b"2.", "takes more"),
        (b".", "takes more"),
        (b"t.", "lacks the beginning"),
        (b"K\x01K\x01a.", "not a list"),
        (b"K\x01(K\x01K\x01u.", "not a dict"),
        (b"}(K\x01u.", "without a value"),
        (b"}()K\x01u.", "keys are neither"),
        (b"}(K\x01K\x02K\x03\x87K\x01u.", "nor pairs of numbers"),
        (b"}(K\x01K\x02\x86K\x03\x86K\x01u.", "nor pairs of numbers"),
        (b"}(K\x01X\x01\x00\x00\x00a\x86K\x01u.", "nor pairs of numbers"),
        (b"h\x05.", "did not define"),
        (b"g7\n.", "did not define"),
        (b"gx\n.", "an invalid number"),
        (b"I" + b"9" * 50 + b"\n.", "an invalid number"),
        (b"L" + b"9" * 5000 + b"L\n.", "without an end"),
        (b"\x8a\x20" + b"\x01" * 32 + b".", "whole number of 32 bytes"),
        (b"S'abc\n.", "without quotes"),
        (b"S'a\\q'\n.", "text that is damaged"),
        (b"S'a\\777'\n.", "text that is damaged"),
        (b"cno\tsuch\nname\n.", r"contains no\?such\.name; only"),
        (b"K\x01\x85R.", "takes more"),
        (b"K\x01K\x01\x85R.", "not a function"),
        (b"cnumpy\nndarray\n)R.", "not a function"),
        (b"cnumpy\ndtype\n)R.", "in a way that NumPy does not"),
        (b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x04\x00\x00\x00rot1tR.", "another way"),
        (b"cbuiltins\nbytes\n(K\x09tR.", "in a way that NumPy does not"),
        (b"cnumpy\nndarray\n.", "which is not data"),
        (b"](cnumpy\ndtype\n(S'f4'\ntRe.", "which is not data"),
        (b"K\x01}b.", "not a NumPy array"),
        (EMPTY[:-2] + b"K\x05tR.", "in a way that NumPy does not"),
        (RECONSTRUCT + b"(cnumpy\nndarray\n(K\x05tC\x01btR.", "special kind"),
        (RECONSTRUCT + b"(K\x01(K\x00tC\x01btR.", "special kind"),
        (b"K\x01K\x02\x93.", "a name that is not text"),
        (b"cos\n" + b"x" * 2000 + b"\n.", "without an end"),
    ],
)
def test_programs_that_are_not_data(load, body, why):
    with pytest.raises(BadFile, match=why):
        load(body)


def test_small_files_cannot_ask_for_much_memory(load):
    """Each of these makes Python's own reader allocate gigabytes, or never end."""
    text = b"X" + struct.pack("<I", 10**6) + b"a" * 10**6 + b"q\x00"
    again = b"c_codecs\nencode\nq\x010" + b"h\x01h\x00X\x06\x00\x00\x00latin1\x86R" * 500
    bombs = {
        "memo": (b"N" + b"r" + struct.pack("<I", 2**32 - 1) + b".", None),
        "text": (text + again + b".", "far more than its own size"),
        "laughs": (b"]q\x00" + b"(" + b"h\x00" * 10 + b"lq\x00" * 1 + b".", None),
    }
    for name, (body, why) in bombs.items():
        tracemalloc.start()
        try:
            if why is None:
                load(body)
            else:
                with pytest.raises(BadFile, match=why):
                    load(body)
            assert tracemalloc.get_traced_memory()[1] < 120 * 2**20, name
        finally:
            tracemalloc.stop()


def test_long_programs_are_refused(load):
    with pytest.raises(BadFile, match=f"more than {MOST_STEPS} steps; store lists"):
        load(b"]" * (MOST_STEPS + 1) + b".")


def test_lists_within_lists_are_harmless(load):
    doubling = b"]q\x00" + b"0(h\x00h\x00lq\x00" * 2000 + b"."
    assert len(load(doubling)) == 2
    deep = b"]" * 200_000 + b"a" * 199_999 + b"."
    assert len(load(deep)) == 1
    itself = b"]q\x00h\x00a."
    found = load(itself)
    assert found[0] is found


def test_pairs_of_numbers_are_keys(load):
    made = {(1, 2): "a", (3, -4.5): [(1, 2)]}
    for protocol in range(6):
        assert load(pickle.dumps(made, protocol)) == made


def test_many_keys_are_refused(load):
    same_hash = b"".join(
        b"\x8a\x0c" + (k * (2**61 - 1)).to_bytes(12, "little") + b"N" for k in range(1, 20_000)
    )
    with pytest.raises(BadFile, match="more than 10000 keys"):
        load(b"}(" + same_hash + b"u.")


def test_long_files_are_refused_unread(load):
    with pytest.raises(TooLarge, match="at most 10"):
        load(pickle.dumps("x" * 100), most_bytes=10)


def test_an_array_is_filled_once(load):
    state = b"(K\x01(K\x01tcnumpy\ndtype\n(X\x02\x00\x00\x00u1tRI00\nC\x01atb"
    assert load(EMPTY + state + b".").tolist() == [97]
    with pytest.raises(BadFile, match="filled twice"):
        load(EMPTY + state + state + b".")


# --- an object in an .npy file --------------------------------------------------------------------


def npy(value, path):
    np.save(path, np.array(value, dtype=object), allow_pickle=True)
    return path


def test_a_dict_in_an_npy_file(tmp_path):
    made = {"pred_depth": np.ones((3, 4), np.float32), "pred_focal": 280.25}
    path = npy(made, tmp_path / "x.npy")
    assert safe_pickle.is_object_npy(path)
    same(safe_pickle.load_object_npy(path), made)
    safe_pickle.dump_object_npy(path, made)
    same(safe_pickle.load_object_npy(path), made)
    theirs = np.load(path, allow_pickle=True)
    assert theirs.shape == ()
    same(theirs.item(), made)
    same(theirs.item(), np.load(npy(made, tmp_path / "y.npy"), allow_pickle=True).item())


def test_other_npy_files_are_no_objects(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 4)))
    assert not safe_pickle.is_object_npy(tmp_path / "x.npy")
    (tmp_path / "y.npy").write_bytes(b"short")
    assert not safe_pickle.is_object_npy(tmp_path / "y.npy")
    with pytest.raises(BadFile, match=r"expected an \.npy file of one object"):
        safe_pickle.load_object_npy(tmp_path / "x.npy")
    with pytest.raises(BadFile, match="there is no such file"):
        safe_pickle.is_object_npy(tmp_path / "z.npy")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"pred_depth": Calls(os.system, "true")}, "system"),
        ({"a": np.array({"b": 1}, dtype=object)}, "array of objects"),
        (np.array([{"a": 1}, {"b": 2}], dtype=object), "array of objects"),
    ],
)
def test_objects_within_objects_are_refused(tmp_path, value, why):
    path = tmp_path / "x.npy"
    array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
    np.save(path, array, allow_pickle=True)
    with pytest.raises(BadFile, match=why):
        safe_pickle.load_object_npy(path)


def test_an_npy_file_whose_pickle_is_no_array(tmp_path):
    path = npy({"a": 1}, tmp_path / "x.npy")
    head = path.read_bytes()[:128]
    path.write_bytes(head + pickle.dumps({"a": 1}))
    with pytest.raises(BadFile, match="no array of one object"):
        safe_pickle.load_object_npy(path)


# --- damage ---------------------------------------------------------------------------------------


def bodies():
    for protocol in range(6):
        yield pickle.dumps(DEPTH, protocol)
    yield OLD.encode()
    stream = io.BytesIO()
    np.save(stream, np.array({"pred_depth": np.ones((2, 2)), "pred_focal": 1.5}, dtype=object))
    yield stream.getvalue()[128:]


BODIES = list(bodies())


def mutate(body: bytes, chance: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed) + 1)
        kind = chance.random()
        if kind < 0.4 and at < len(changed):
            changed[at] = chance.randrange(256)
        elif kind < 0.6:
            del changed[at : at + chance.randint(1, 9)]
        elif kind < 0.8:
            other = chance.choice(BODIES)
            start = chance.randrange(len(other))
            changed[at:at] = other[start : start + chance.randint(1, 40)]
        else:
            changed[at:at] = bytes([chance.choice(b"RbcitQPo\x81\x93\x94eu0(2.]}lqhrj")])
        changed = changed or bytearray(b".")
    return bytes(changed)


def outcome(load, body: bytes) -> str:
    """What was said of a file; nothing where it was read."""
    try:
        load(body)
    except BadFile as error:
        return str(error)
    return ""


def test_three_thousand_damaged_files(load):
    """Whatever the bytes are: data comes back, or one sentence does."""
    chance = random.Random(20)
    whole = 0
    for _ in range(3000):
        body = mutate(chance.choice(BODIES), chance)
        if "\n" in (said := outcome(load, body)):
            pytest.fail(said)
        whole += not said
    assert 0 < whole < 2000


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=60))
def test_any_bytes(load, body):
    assert "\n" not in outcome(load, body + b".")


def test_truncated_files(load):
    for body in BODIES[:7]:
        for end in range(0, len(body) - 1, 7):
            with pytest.raises(BadFile):
                load(body[:end])


def test_a_dict_with_its_keys(tmp_path):
    assert safe_pickle.require_dict("x", {"a": 1, "b": 2}, ("a",)) == {"a": 1, "b": 2}
    with pytest.raises(BadFile, match="expected a dict with a, c, found a, b"):
        safe_pickle.require_dict("x", {"a": 1, "b": 2}, ("a", "c"))
    with pytest.raises(BadFile, match="found a list"):
        safe_pickle.require_dict("x", [1], ("a",))
