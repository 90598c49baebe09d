"""A method: its hash, what it may return, and how it travels to another process."""

from __future__ import annotations

import hashlib
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from depthgauge.errors import BadEstimate, MethodFailed, Misuse, Unavailable, WorkerLost
from depthgauge.methods import METHODS, Method, find_method
from depthgauge.types import Estimate, Inputs

# --- the hash -----------------------------------------------------------------------------------


def test_the_hash_is_of_all_options_with_their_defaults():
    text = '{"method":"constant","options":{"value":2,"value_v":0.5},"revision":1}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert find_method("x=constant:value_v=0.5,value=2.0").options_hash == expected


def test_a_default_that_is_said_does_not_move_the_hash():
    plain = find_method("sgbm").options_hash
    assert find_method("sgbm:block_size=5,p1=none,pad=true").options_hash == plain
    assert find_method("sgbm:block_size=7").options_hash != plain
    assert find_method("bm").options_hash != plain


def test_what_belongs_to_one_machine_does_not_move_the_hash(tmp_path):
    one, two = find_method("folder:a/x"), find_method(f"folder:{tmp_path}")
    assert one.described() != two.described()
    assert one.options_hash == two.options_hash
    (tmp_path / "m.toml").write_text("method = 'folder'\n[options]\npath = 'x'\nname = 'y'")
    assert find_method(tmp_path / "m.toml").options_hash != one.options_hash


def test_options_are_described_in_declared_order():
    described = find_method("constant:value_v=1").described()
    assert list(described.items()) == [("value", None), ("value_v", 1.0)]
    folder = find_method("folder:/a/b").described()
    assert folder == {"path": "/a/b", "name": None, "pattern": None, "tier": ""}


# --- what is returned ---------------------------------------------------------------------------


def returning(value: object) -> Method:
    return find_method(lambda inputs: value, "mine")


def estimated(value: object, quantity: str = "disparity") -> Estimate:
    return returning(value).estimate(Inputs({}), quantity)


@pytest.mark.parametrize(
    ("value", "quantity", "shape"),
    [
        (np.ones((2, 3), np.float64), "disparity", (2, 3)),
        (np.ones((2, 3), np.float16), "depth", (2, 3)),
        (np.ones((2, 3, 1), np.uint8), "depth", (2, 3)),
        (np.ones((2, 3, 2), np.int64), "flow", (2, 3, 2)),
        (np.ones((2, 3, 3)), "normals", (2, 3, 3)),
        (np.ones((2, 3, 7)), "planes", (2, 3, 7)),
        (np.ones((3, 2)).T, "boundaries", (2, 3)),
        (Estimate(np.ones((2, 3)), "depth"), "depth", (2, 3)),
    ],
)
def test_what_can_be_scored(value, quantity, shape):
    found = estimated(value, quantity)
    assert found.quantity == quantity
    assert (found.values.shape, found.values.dtype) == (shape, np.float32)
    assert found.values.flags.c_contiguous
    assert (found.values == 1).all()


def test_missing_and_infinite_values_are_nan():
    values = np.array([[1.0, np.nan, np.inf, -np.inf]])
    assert np.array_equal(estimated(values).values, [[1, np.nan, np.nan, np.nan]], equal_nan=True)
    assert np.isinf(values).sum() == 2  # what the method holds is not changed
    masked = np.ma.masked_array([[1, 2, 3]], mask=[[False, True, False]])
    assert np.array_equal(estimated(masked).values, [[1, np.nan, 3]], equal_nan=True)


def test_parts_and_extras_are_kept():
    values, confidence = np.ones((2, 3, 2)), np.full((2, 3), 0.5)
    found = estimated(Estimate(values, "flow", {"confidence": confidence}, {"note": 7}), "flow")
    assert (found.parts["confidence"].dtype, found.extras) == (np.float32, {"note": 7})
    with pytest.raises(BadEstimate, match=r"confidence \(3, 2\) for flow \(2, 3, 2\)"):
        estimated(Estimate(values, "flow", {"confidence": confidence.T}), "flow")


def test_a_dict_of_parts_is_an_estimate():
    found = estimated({"depth": np.ones((2, 3)), "focal_px": np.int64(7)}, "depth")
    assert (found.values.shape, found.parts) == ((2, 3), {"focal_px": 7.0})


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"focal_px": 7.0}, "without its part 'depth'"),
        ({"depth": np.ones((2, 3)), "focal": 7.0}, "'focal', which depth does not have"),
        ({"depth": np.ones((2, 3)), "focal_px": -1}, "expected a positive number"),
        ({"depth": np.ones((2, 3)), "focal_px": "far"}, "expected a positive number"),
    ],
)
def test_parts_that_do_not_fit_are_named(parts, said):
    with pytest.raises(BadEstimate, match=said):
        estimated(parts, "depth")


WHO = "method 'mine' returned"


@pytest.mark.parametrize(
    ("value", "quantity", "message"),
    [
        (None, "depth", f"{WHO} a NoneType for depth, expected an array (H, W) of numbers"),
        ([[1.0]], "depth", f"{WHO} a list for depth"),
        (np.ones((2, 2), bool), "depth", f"{WHO} a array of bool for depth"),
        (np.ones((2, 2), complex), "depth", "array of complex128"),
        (np.array([["a"]]), "depth", "array of <U1"),
        (np.ones(3), "depth", f"{WHO} depth of shape (3,), expected (H, W)"),
        (np.ones((2, 2, 2)), "depth", f"{WHO} depth of shape (2, 2, 2), expected (H, W)"),
        (np.ones((2, 2)), "flow", f"{WHO} flow of shape (2, 2), expected (H, W, 2)"),
        (np.ones((2, 2, 1)), "flow", f"{WHO} flow of shape (2, 2, 1), expected (H, W, 2)"),
        (np.ones((1, 2, 3, 4)), "planes", "expected (H, W) or (H, W, C)"),
        (np.ones((0, 3)), "depth", "of shape (0, 3)"),
        (np.full((1, 1), 1e300), "depth", "beyond float32 (3.4e38), such as 1e+300"),
        (
            Estimate(np.ones((2, 2)), "depth"),
            "disparity",
            f"{WHO} 'depth', but 'disparity' is wanted",
        ),
        (Estimate(None, "depth"), "depth", f"{WHO} a NoneType for depth"),
    ],
)
def test_what_cannot_be_scored(value, quantity, message):
    with pytest.raises(BadEstimate) as caught:
        estimated(value, quantity)
    assert message in str(caught.value)


def crash(inputs):
    raise ValueError("first line\nsecond line")


def leave(inputs):
    sys.exit(3)


def test_a_crash_is_one_sentence_with_a_traceback_beside_it():
    with pytest.raises(MethodFailed) as caught:
        find_method(crash).estimate(Inputs({}), "depth")
    assert str(caught.value) == ("method 'crash' crashed with ValueError: first line second line")
    assert "in crash" in caught.value.details
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.details) == (str(caught.value), caught.value.details)
    with pytest.raises(MethodFailed, match="SystemExit: 3"):
        find_method(leave).estimate(Inputs({}), "depth")


def test_our_own_errors_come_through():
    def lacking(inputs):
        raise Unavailable("no mask.")

    with pytest.raises(Unavailable, match=r"^no mask\.$"):
        find_method(lacking).estimate(Inputs({}), "depth")


def test_what_is_asked_must_fit():
    with pytest.raises(Misuse, match="'sgbm' estimates disparity, but flow is wanted"):
        find_method("sgbm").estimate(Inputs({}), "flow")
    with pytest.raises(Unavailable) as caught:
        find_method("dis").estimate(Inputs({"sample": "a/1"}), "flow")
    assert str(caught.value) == (
        "method 'dis' needs first_image and second_image; "
        "sample 'a/1' has no first_image and no second_image."
    )


# --- travelling ---------------------------------------------------------------------------------

CODE = """
from depthgauge.methods import MethodOptions, MethodSpec
class Options(MethodOptions):
    factor: float = 2
SPEC = MethodSpec("times", "Times", ("depth",), ("image",), options=Options)
def estimate(inputs, options):
    return inputs.image * options.factor
"""


def test_methods_travel_to_a_spawned_process(tmp_path, monkeypatch):
    (tmp_path / "times.py").write_text(CODE)
    toml = tmp_path / "net.toml"
    toml.write_text(
        "method = 'times.py'\nquantities = ['depth', 'boundaries']\n[options]\nfactor = 4"
    )
    monkeypatch.chdir(tmp_path)
    methods = [find_method(t) for t in ("a=constant:value=3", "times.py:factor=3", "net.toml")]
    methods.append(find_method(np.asarray, "function"))
    monkeypatch.chdir("/")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        sent = list(pool.map(np.repeat, methods, [1] * len(methods)))
        images = {"image": np.ones((1, 1)), "quantity": "depth"}
        run = pool.submit(methods[1].estimate, Inputs(images), "depth")
        assert run.result().values.tolist() == [[3]]
    for (again,), method in zip(sent, methods, strict=True):
        assert again == method or again.kind.function is None  # a function is not loaded on its way
        assert (again.label, again.source) == (method.label, method.source)
        assert again.options_hash == method.options_hash
        assert again.spec.quantities == method.spec.quantities


def test_a_function_that_cannot_travel_says_what_to_do():
    with pytest.raises(Misuse, match="put the function into a file and give the file"):
        pickle.dumps(find_method(lambda inputs: None))


def test_a_file_that_changes_on_the_way_is_noticed(tmp_path):
    path = tmp_path / "times.py"
    path.write_text(CODE)
    sent = pickle.dumps(find_method(path))
    path.write_text(CODE + "\n# a comment")
    again = pickle.loads(sent)
    with pytest.raises(WorkerLost, match="the file has changed since the run began"):
        again.load()


# --- the room -----------------------------------------------------------------------------------


def test_the_folder_is_its_own_registry():
    assert {"bm", "command", "constant", "dis", "farneback", "folder", "sgbm"} <= set(METHODS)


def test_listing_the_methods_loads_nothing_heavy():
    code = (
        "import sys; from depthgauge.methods import METHODS, find_method; list(METHODS.values()); "
        "find_method('sgbm'); "
        "print(*{'cv2', 'scipy', 'numba', 'tifffile', 'OpenEXR'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
