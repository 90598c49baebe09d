"""Floor 0: errors, units, registries, samples, scores."""

import importlib
import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from depthgauge._registry import PluginWarning, Registry, nearest
from depthgauge.errors import (
    BadProtocol,
    DepthgaugeError,
    DuplicateName,
    Misuse,
    Problem,
    UnknownName,
    WrongShape,
)
from depthgauge.types import Camera, Inputs, Sample, Score, State, Truth
from depthgauge.units import Unit

# --- errors -------------------------------------------------------------------------------------


def test_every_error_is_in_the_tree_and_drawn():
    from depthgauge import errors

    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    for error in found:
        assert issubclass(error, (DepthgaugeError, Warning))
        assert error.__name__ in errors.__doc__


def test_misuse_exits_with_2_and_the_rest_with_1():
    assert (Misuse.exit_code, UnknownName.exit_code) == (2, 2)
    assert (DepthgaugeError.exit_code, BadProtocol.exit_code) == (1, 1)


def test_a_bad_protocol_lists_every_problem():
    error = BadProtocol("x.toml", [Problem("a", "is wrong", "write b"), Problem("c", "is not")])
    assert str(error) == "x.toml: 2 mistake(s): a: is wrong (write b); c: is not"


def test_a_bad_protocol_travels_between_processes():
    error = BadProtocol("x.toml", [Problem("a", "is wrong")])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)


def test_an_unknown_name_reads_as_a_sentence():
    assert str(UnknownName("no metric 'x'.")) == "no metric 'x'."


# --- registries ---------------------------------------------------------------------------------


@pytest.fixture
def plug_ins(tmp_path, monkeypatch):
    """A package of its own whose modules join a registry."""
    package = tmp_path / "plugs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("NAMES = {'sgm': 1, 'raft-stereo': 2}")
    (package / "_hidden.py").write_text("raise RuntimeError('walked into')")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("plugs")]:
        del sys.modules[name]


def registry():
    return Registry("method", "plugs", lambda module: getattr(module, "NAMES", {}).items())


def test_a_registry_walks_its_folder_when_it_is_used(plug_ins):
    found = registry()
    assert "plugs.one" not in sys.modules
    assert dict(found) == {"raft-stereo": 2, "sgm": 1}
    assert "sgm" in found
    assert len(found) == 2


def test_a_failed_look_up_names_the_nearest_and_lists_the_rest(plug_ins):
    with pytest.raises(UnknownName) as caught:
        registry()["raft-stero"]
    expected = "no method 'raft-stero'. Did you mean 'raft-stereo'? Known: raft-stereo, sgm."
    assert str(caught.value) == expected
    assert nearest("zzz", ["sgm"]) == ""


def test_two_modules_cannot_claim_one_name(plug_ins):
    (plug_ins / "two.py").write_text("NAMES = {'sgm': 3}")
    importlib.invalidate_caches()
    with pytest.raises(DuplicateName, match=r"'sgm' is defined in plugs.one and in plugs.two"):
        list(registry())


def test_a_module_that_breaks_is_named_every_time(plug_ins):
    (plug_ins / "two.py").write_text("import nowhere_to_be_found")
    importlib.invalidate_caches()
    found = registry()
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
            found["sgm"]


def test_a_registry_can_be_asked_from_many_threads(plug_ins):
    (plug_ins / "one.py").write_text("import time; time.sleep(0.2); NAMES = {'sgm': 1}")
    importlib.invalidate_caches()
    found = registry()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: found["sgm"], range(8))) == [1] * 8


@pytest.fixture
def join(plug_ins, monkeypatch):
    """A registry that other modules join, given by their text."""
    from importlib.metadata import EntryPoint, EntryPoints

    def joined(group="depthgauge.plugins", found=None, **modules):
        for name, text in modules.items():
            (plug_ins.parent / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        points = [EntryPoint(f"{name}-point", name, group) for name in modules]
        monkeypatch.setattr("depthgauge._registry._plug_ins", lambda: EntryPoints(points))
        return registry() if found is None else found

    return joined


def test_other_distributions_join_through_entry_points(join):
    found = join(theirs="NAMES = {'theirs': 9}", others="NAMELESS = 1")
    assert dict(found) == {"raft-stereo": 2, "sgm": 1, "theirs": 9}


def test_the_old_group_works_with_a_warning_that_says_what_to_write(join):
    found = join("plugs", theirs_of_old="NAMES = {'theirs': 9}")
    with pytest.warns(DeprecationWarning, match="one more release") as caught:
        assert found["theirs"] == 9
    assert str(caught[0].message) == (
        "the entry-point group 'plugs' is read for one more release; write "
        'theirs_of_old-point = "theirs_of_old" under [project.entry-points."depthgauge.plugins"].'
    )
    assert len(caught) == 1
    assert found["theirs"] == 9


def test_a_plug_in_that_cannot_be_imported_is_named_and_the_rest_works(join):
    found = join(a_ruin="import nowhere_at_all", theirs_too="NAMES = {'theirs': 9}")
    sentence = (
        "The plug-in 'a_ruin-point' (a_ruin) cannot be used: "
        "ModuleNotFoundError: No module named 'nowhere_at_all'."
    )
    with pytest.warns(PluginWarning) as caught:
        assert found["theirs"] == 9
    assert [str(warning.message) for warning in caught] == [sentence]
    with pytest.raises(UnknownName) as missing:
        found["ruin"]
    assert str(missing.value) == (f"no method 'ruin'. Known: raft-stereo, sgm, theirs. {sentence}")
    with pytest.raises(UnknownName, match="a_ruin-point"):
        registry()["ruin"]  # another registry says it too, without a second warning


def test_a_plug_in_that_breaks_half_way_has_registered_nothing(join):
    found = Registry("method", "plugs")
    sys.modules["plugs_registry"] = found
    text = "import plugs_registry as r; r.add('half', 1, __name__); raise OSError('disk')"
    join(found=found, half_done=text)
    with pytest.warns(PluginWarning, match=r"half_done\) cannot be used: OSError: disk\."):
        assert "half" not in found
    del sys.modules["plugs_registry"]


def test_a_plug_in_cannot_take_a_name_of_ours(join):
    found = join(taker="NAMES = {'new': 1, 'sgm': 3}")
    taken = "method 'sgm' is defined in plugs.one and in taker; rename one."
    with pytest.warns(PluginWarning, match=taken):
        assert found["sgm"] == 1
    with pytest.raises(UnknownName, match=taken):
        found["new"]


def test_a_decorator_that_comes_first_does_not_take_a_name_either(plug_ins):
    found = Registry("method", "plugs")
    sys.modules["plugs_registry"] = found
    (plug_ins / "one.py").write_text("import plugs_registry as r; r.add('sgm', 1, __name__)")
    importlib.invalidate_caches()
    with pytest.raises(DuplicateName, match=r"'sgm' is defined in plugs.one and in my_script"):
        found.add("sgm", 2, "my_script")
    assert found["sgm"] == 1
    del sys.modules["plugs_registry"]


def test_a_plug_in_may_ask_the_registry_while_it_is_imported(join):
    found = Registry("method", "plugs", lambda module: getattr(module, "NAMES", {}).items())
    sys.modules["plugs_registry"] = found
    join(found=found, asker="import plugs_registry as r; NAMES = {'twice': 2 * r['sgm']}")
    assert found["twice"] == 2
    del sys.modules["plugs_registry"]


# --- units --------------------------------------------------------------------------------------


def test_units_follow_the_quantity():
    assert Unit.QUANTITY.of("disparity") == "px"
    assert Unit.QUANTITY.of("depth") == "m"
    assert Unit.QUANTITY_SQUARED.of("flow") == "px²"
    assert Unit.PERCENT.of("depth") == "%"
    assert Unit.QUANTITY.of("boundaries") == ""


# --- samples ------------------------------------------------------------------------------------


class Counter:
    def __init__(self):
        self.reads = 0

    def __call__(self):
        self.reads += 1
        return np.ones((2, 3), np.float32)


def test_items_are_read_once_and_only_when_asked_for():
    loader = Counter()
    truth = Truth({"disparity": loader, "scale": 4})
    assert list(truth) == ["disparity", "scale"]
    assert "disparity" in truth
    assert loader.reads == 0
    assert truth.disparity is truth["disparity"]
    assert loader.reads == 1
    assert truth.scale == 4
    assert repr(truth) == "Truth(disparity, scale)"


def test_an_item_that_is_not_there_says_what_is():
    with pytest.raises(AttributeError, match="no 'depth' here, only disparity"):
        _ = Truth({"disparity": 1}).depth
    with pytest.raises(KeyError):
        Truth({})["disparity"]


def test_a_sample_travels_to_another_process_without_its_maps():
    inputs = Inputs({"left_image": partial(np.zeros, 50_000), "range": (0, 64)})
    sample = Sample("a", inputs, None)
    assert sample.inputs.left_image.size == 50_000
    packed = pickle.dumps(sample)
    assert len(packed) < 2_000
    again = pickle.loads(packed)
    assert again.inputs.left_image.size == 50_000
    assert again.inputs.range == (0, 64)
    assert again.truth is None


def test_a_fresh_sample_has_read_nothing():
    loader = Counter()
    sample = Sample("a", Inputs({"left_image": loader}), Truth({"disparity": loader}), "scene")
    assert sample.truth.disparity.shape == (2, 3)
    again = sample.fresh()
    assert (again.id, again.scene, loader.reads) == ("a", "scene", 1)
    assert again.truth.disparity.shape == (2, 3)
    assert loader.reads == 2


def test_an_error_of_a_loader_is_not_mistaken_for_a_missing_item():
    def broken():
        raise UnknownName("no metric 'x'.")

    with pytest.raises(UnknownName, match="no metric 'x'"):
        _ = Inputs({"left_image": broken}).left_image


def test_cameras_compare():
    camera = Camera((1.0, 1.0), (0.0, 0.0), (4, 4))
    assert camera == Camera((1.0, 1.0), (0.0, 0.0), (4, 4))
    assert camera != Camera((1.0, 1.0), (0.0, 0.0), (4, 4), (), 2 * np.eye(4))
    assert camera != "a camera"
    assert len({camera, camera}) == 1


def test_a_camera_has_a_matrix():
    camera = Camera((500.0, 510.0), (320.0, 240.0), (640, 480))
    assert camera.matrix().tolist() == [[500, 0, 320], [0, 510, 240], [0, 0, 1]]


# --- states and scores --------------------------------------------------------------------------


def test_states_of_different_metrics_do_not_add():
    with pytest.raises(WrongShape, match="different metrics"):
        State(1, 0) + State(1, 0, np.ones(1))
    with pytest.raises(WrongShape, match="different metrics"):
        State(1, 0, values=np.ones(1, np.float32)) + State(1, 0)


def test_states_add():
    a = State(3, 1, np.array([1.0, 2.0]), np.array([1.0, 4.0], np.float32))
    b = State(2, 0, np.array([0.5, 0.5]), np.array([2.0], np.float32))
    both = a + b
    assert (both.count, both.missing, both.sums.tolist()) == (5, 1, [1.5, 2.5])
    assert both.values.tolist() == [1, 2, 4]
    assert both == b + a
    assert both != a
    assert a != "a state"


@pytest.mark.parametrize(
    ("value", "count", "missing", "why"),
    [
        (1.0, 3, 0, None),
        (math.nan, 0, 0, "empty"),
        (math.nan, 0, 5, "missing"),
        (math.inf, 3, 0, "infinite"),
    ],
)
def test_a_score_says_why_it_has_no_value(value, count, missing, why):
    score = Score(value, count, missing)
    assert score.why == why
    assert score.density == (
        count / (count + missing) if count + missing else pytest.approx(math.nan, nan_ok=True)
    )
