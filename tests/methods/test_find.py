"""From texts, files and functions to methods."""

from __future__ import annotations

import contextlib
import functools
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge._registry import Registry
from depthgauge.errors import BadFile, DepthgaugeError, Misuse, UnknownName
from depthgauge.methods import METHODS, MethodOptions, _spec, find_method, find_methods
from depthgauge.types import Inputs

GOOD = [  # text, label, id, options that differ from the defaults
    ("sgbm", "sgbm", "sgbm", {}),
    ("sgbm:", "sgbm", "sgbm", {}),
    (" sgbm: mode=hh , block_size=7 ", "sgbm:block_size=7,mode=hh", "sgbm", {"block_size": 7}),
    ("sgbm:block_size=5", "sgbm:block_size=5", "sgbm", {}),
    ("a b=sgbm:block_size=7", "a b", "sgbm", {"block_size": 7}),
    ("best:1,x=sgbm", None, None, None),  # the first `:` ends the label
    ("sgbm:p1=none,pad=no", "sgbm:pad=false,p1=none", "sgbm", {"pad": False}),
    ("constant:value=2.50", "constant:value=2.5", "constant", {"value": 2.5}),
    ("constant:value=1e3", "constant:value=1000", "constant", {"value": 1000}),
    ("command:python a/infer.py {left} {out}", "infer", "command", {}),
    ("command:python3.11 -m nets.run {out}", "nets", "command", {}),
    ("command:python -c {left} {out}", "python", "command", {}),
    ("command:./bin/elas.exe a=b {out}", "elas", "command", {}),
    ("raft=command:python infer.py --a=b:c {out}", "raft", "command", {}),
    ("folder:results/x=y", "x=y", "folder", {}),
]


@pytest.mark.parametrize(("text", "label", "name", "options"), GOOD)
def test_good_texts(text, label, name, options):
    if label is None:
        with pytest.raises(UnknownName):
            find_method(text)
        return
    method = find_method(text)
    assert (method.label, method.spec.id, method.source) == (label, name, name)
    assert {key: getattr(method.options, key) for key in options} == options


KNOWN = f"'depthgauge list methods' shows all {len(METHODS)}."
FOLDER = "and a label becomes the name of a folder; give another one: LABEL=METHOD."
BAD = [
    ("sgmb", f"no method 'sgmb'. Did you mean 'sgbm'? {KNOWN}"),
    ("", f"no method ''. {KNOWN}"),
    ("comand:python x.py", f"no method 'comand'. Did you mean 'command'? {KNOWN}"),
    (
        "sgbm:blok_size=5",
        "method 'sgbm': blok_size: is not an option of 'sgbm' (Did you mean 'block_size'?).",
    ),
    (
        "sgbm:block_size=4,mode=h,five,=3",
        "method 'sgbm': 'five': is not of the form name=value; '=3': is not of the form "
        "name=value; block_size: is 4 but must be odd; mode: is 'h' but must be 'sgbm', 'hh', "
        "'3way' or 'hh4' (Did you mean 'hh'?).",
    ),
    ("sgbm:block_size=5,block_size=7", "method 'sgbm': block_size: is given twice."),
    ("command:", "method 'command': template: is missing (write command:TEMPLATE)."),
    ("folder", "method 'folder': path: is missing (write folder:PATH)."),
    ("m.toml:a=1", "m.toml:a=1: the options of a TOML method belong in its file, below [options]."),
    ("a/b=sgbm", rf"label 'a/b': it holds a '/' or '\', {FOLDER}"),
    ("=sgbm", f"label '': it is empty, {FOLDER}"),
    ("..=sgbm", f"label '..': it starts with '.', {FOLDER}"),
    (".a=sgbm", f"label '.a': it starts with '.', {FOLDER}"),
    ("a\tb=sgbm", f"label 'a\tb': it holds control characters, {FOLDER}"),
    (f"{'x' * 101}=sgbm", f"label '{'x' * 101}': it is longer than 100 characters, {FOLDER}"),
    ("\U0001f600" * 99 + "=sgbm", "it is longer than 100 characters"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_texts(text, message):
    with pytest.raises(DepthgaugeError) as caught:
        find_method(text)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_label_of_any_other_characters():
    for label in ("a:b,c=d", "x" * 100, "größe [1] {2}"):
        assert find_method("sgbm", label).label == label


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "disparities": st.integers(1, 500),
        "pad": st.booleans(),
        "fill": st.sampled_from(["none", "background", "scanline"]),
        "p1": st.none() | st.integers(0, 10**6),
        "mode": st.sampled_from(["sgbm", "hh", "3way", "hh4"]),
        "speckle_range": st.integers(0, 9),
    },
)


@given(OPTIONS, st.randoms())
def test_a_label_is_a_text_of_the_same_method(options, random):
    items = list(options.items())
    random.shuffle(items)
    text = "sgbm:" + ",".join(f"{name}={value}".lower() for name, value in items)
    method = find_method(text, None)
    again = find_method(method.label)
    assert again == method
    assert again.options_hash == method.options_hash
    assert {name: getattr(method.options, name) for name in options} == options


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_lose_nothing(value):
    method = find_method(f"constant:value={value!r}")
    assert method.options.value == value
    assert find_method(method.label).options.value == value


@given(st.text(max_size=40))
def test_any_text_is_a_method_or_one_of_our_errors(text):
    with contextlib.suppress(DepthgaugeError):
        assert find_method(text).spec.id in METHODS


def test_a_method_is_found_again_with_another_label():
    method = find_method("sgbm:block_size=7")
    assert find_method(method) is method
    other = find_method(method, "mine")
    assert (other.label, other.options) == ("mine", method.options)
    with pytest.raises(Misuse, match="it is empty"):
        find_method("sgbm", "")


def test_what_is_no_method():
    with pytest.raises(Misuse, match="a method is a text, a path or a function, found a int"):
        find_method(3)


# --- many ---------------------------------------------------------------------------------------


def test_many_methods_keep_their_order():
    found = find_methods(["sgbm", "bm", "x=sgbm:block_size=7", "sgbm:block_size=7", "bm:"])
    assert [m.label for m in found] == ["sgbm", "bm", "x", "sgbm:block_size=7"]


def test_two_of_one_label_are_refused(tmp_path):
    with pytest.raises(Misuse) as caught:
        find_methods(["a=sgbm", "a=sgbm:block_size=7"])
    assert str(caught.value) == (
        "two methods have the label 'a' (sgbm and sgbm) but differ; "
        "give one of them another label: OTHER=a=sgbm:block_size=7."
    )
    # The path is no part of the hash, yet these are two.
    with pytest.raises(Misuse, match="two methods have the label 'x'"):
        find_methods(["folder:a/x", "folder:b/x"])
    assert len(find_methods(["folder:a/x", "folder:a/x"])) == 1


# --- functions ----------------------------------------------------------------------------------


def brightness(inputs):
    """How bright it is."""
    return inputs.image.astype(np.float64)


def scaled(inputs, factor=2.0):
    return inputs.image * factor


def with_options(inputs, options):
    assert type(options) is MethodOptions
    return inputs.image * 3


class Net:
    def __call__(self, inputs):
        return inputs.image * 4


@pytest.mark.parametrize(
    ("function", "label", "factor"),
    [
        (brightness, "brightness", 1),
        (scaled, "scaled", 2),
        (with_options, "with_options", 3),
        (Net(), "Net", 4),
        (functools.partial(scaled, factor=5.0), "scaled", 5),
        (lambda inputs: inputs.image, "<lambda>", 1),
    ],
)
def test_functions_are_methods(function, label, factor):
    method = find_method(function)
    assert (method.label, method.source, method.spec.quantities) == (label, label, ())
    estimate = method.estimate(Inputs({"image": np.full((2, 3), 7, np.int16)}), "depth")
    assert (estimate.values == 7 * factor).all()
    assert estimate.quantity == "depth"


def test_a_function_is_titled_by_its_first_sentence():
    assert find_method(brightness).spec.title == "How bright it is."
    assert find_method(brightness, "b").label == "b"


# --- Python files -------------------------------------------------------------------------------

PLAIN = '"""Half of it."""\nfrom beside_half import HALF\ndef estimate(inputs):\n    '
PLAIN += "return inputs['image'] * HALF\n"
FULL = """
from depthgauge.methods import MethodOptions, MethodSpec
class Options(MethodOptions):
    factor: float = 2
    \"\"\"What the picture is multiplied by.\"\"\"
SPEC = MethodSpec("times", "Times", ("depth",), ("image",), revision=4, options=Options)
def estimate(inputs, options):
    return inputs.image * options.factor
"""
INPUTS = Inputs({"image": np.full((2, 3), 8.0)})


def test_a_file_with_a_function_alone(tmp_path, monkeypatch):
    (tmp_path / "half.py").write_text(PLAIN)
    (tmp_path / "beside_half.py").write_text("HALF = 0.5")
    monkeypatch.chdir(tmp_path)
    method = find_method("half.py")
    assert (method.label, method.source) == ("half", str(tmp_path / "half.py"))
    assert (method.spec.id, method.spec.title) == ("half", "Half of it.")
    assert (method.estimate(INPUTS, "depth").values == 4).all()


def test_a_file_with_a_spec_and_options(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FULL)
    plain, thrice = find_method(path), find_method(f"{path}:factor=3")
    assert (plain.label, thrice.label) == ("mine", "mine:factor=3")
    assert find_method(f"a={path}:factor=3").label == "a"
    assert find_method(f"a={path}").label == "a"
    assert plain.spec.revision == 4
    assert (plain.estimate(INPUTS, "depth").values == 16).all()
    assert (thrice.estimate(INPUTS, "depth").values == 24).all()
    with pytest.raises(Misuse, match=r"fctor: is not an option of 'times' \(Did you mean 'factor'"):
        find_method(f"{path}:fctor=3")
    assert len(find_methods([path, str(path)])) == 1


def test_a_path_with_an_equals_sign(tmp_path):
    path = tmp_path / "a=b" / "mine.py"
    path.parent.mkdir()
    path.write_text(FULL)
    assert find_method(str(path)).label == "mine"
    assert find_method(f"x={path}").label == "x"


def test_the_code_of_a_file_is_in_its_hash(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FULL)
    before = find_method(path).options_hash
    assert find_method(path).options_hash == before
    path.write_text(FULL.replace("inputs.image *", "inputs.image /"))  # as long, as old
    after = find_method(path)
    assert after.options_hash != before
    assert (after.estimate(INPUTS, "depth").values == 4).all()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1", "has no function 'estimate'; write def estimate(inputs, options)"),
        ("estimate = 3", "has no function 'estimate'"),
        ("def estimate(", "cannot be loaded (SyntaxError: "),
        ("import nowhere_to_be_found", "cannot be loaded (ModuleNotFoundError: No module named"),
        ("raise SystemExit(2)", "cannot be loaded (SystemExit: 2)"),
        ("SPEC = 3\ndef estimate(i): pass", "its SPEC is a int, expected a MethodSpec"),
    ],
)
def test_files_that_are_no_methods(code, message, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(code)
    with pytest.raises(BadFile) as caught:
        find_method(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    for name in ("a.py", "a.toml", "x=a.py", "a.py:b=3"):
        with pytest.raises(
            BadFile, match=r"a\.\w+: (cannot be read \(No such file|there is no such file)"
        ):
            find_method(name)
    with pytest.raises(Misuse, match=r"ends in \.py or \.toml"):
        find_method(Path("a.txt"))


# --- other packages -----------------------------------------------------------------------------


def test_other_packages_join_through_entry_points(tmp_path, monkeypatch):
    (tmp_path / "gauge_times.py").write_text(FULL)
    monkeypatch.syspath_prepend(tmp_path)
    points = EntryPoints([EntryPoint("times", "gauge_times", "depthgauge.plugins")])
    monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: points)
    found = Registry("method", "depthgauge.methods", collect=_spec._collect, groups=("nets",))
    assert set(found) == {*METHODS, "times"}
    assert found["times"].home == "times"
