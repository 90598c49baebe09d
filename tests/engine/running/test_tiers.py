"""Tiers: a method is given what it declares and cannot reach the rest."""

import numpy as np
import pytest
from tests import rig_scenes

from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.datasets import stereogenbench as sgb
from depthgauge.engine.running.conditions import conditions_of
from depthgauge.engine.running.run import run
from depthgauge.errors import BadProtocol, Misuse
from depthgauge.methods import find_method

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
SIZE, LENGTH = (32, 24), 2
METHODS = ("warp_inpaint", "warp_estimated", "copy_left", "shift")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("rig")
    for index, family in enumerate(("IPD_Gaussian", "Uniform")):
        made = rig_scenes.record(
            f"scene_{index:06d}",
            size=SIZE,
            frames=LENGTH,
            split="eval",
            eval_subset="MapSeenInTrain",
            family=family,
        )
        sgb.write_scene(root, made, rig_scenes.flat_views(SIZE, LENGTH), scale_m=0.0002)
    return root


def write(tmp_path, name, body, needs=None):
    spec = "" if needs is None else f"SPEC = MethodSpec('{name}', 'x', ('view',), {needs!r})\n"
    path = tmp_path / f"{name}.py"
    path.write_text(f"from depthgauge.methods import MethodSpec\n{spec}{body}")
    return path


# --- which tier -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tier", "inputs"),
    [
        ("warp_inpaint", "G0", ["disparity", "left_image"]),
        ("warp_estimated", "G1", ["left_image", "rig"]),
        ("shift", "G2", ["left_image"]),
        ("command:x {left} {out}", "G2", ["left_image"]),
        ("command:x {left} {rig} {out}", "G1", ["left_image", "rig"]),
        ("command:x {left} {depth} {out}", "G0", ["depth", "left_image"]),
        ("command:x {out}", "G2", ["left_image"]),
    ],
)
def test_the_tier_follows_from_what_a_method_declares(text, tier, inputs):
    found = conditions_of(find_method(text), find_benchmark("stereogenbench"))
    assert (found["tier"], found["inputs"]) == (tier, inputs)


def test_a_folder_is_in_the_tier_that_its_owner_says(tmp_path):
    (tmp_path / "views").mkdir()
    (tmp_path / "m.toml").write_text(
        f"method = 'folder'\n[options]\npath = '{tmp_path / 'views'}'\ntier = 'G1'\n"
    )
    protocol = find_benchmark("stereogenbench")
    assert conditions_of(find_method(tmp_path / "m.toml"), protocol)["tier"] == "G1"
    assert conditions_of(find_method(f"folder:{tmp_path}"), protocol)["tier"] == ""


def test_tiers_must_contain_each_other():
    body = {"id": "t", "version": 1, "dataset": "stereogenbench", "quantity": "view"}
    body |= {"pool": "image", "scores": [{"metric": "mae"}]}
    with pytest.raises(BadProtocol, match=r"tiers.B: must have less than A"):
        make_protocol({**body, "tiers": {"A": ["rig"], "B": ["left_image"]}}, "t")
    with pytest.raises(BadProtocol, match="has no inputs"):
        make_protocol({**body, "tiers": {"A": []}}, "t")
    plain = make_protocol(body, "t")
    assert plain.hash != make_protocol({**body, "tiers": {"A": ["rig"]}}, "t").hash
    assert "tiers" not in plain.resolved()


# --- what a method is given -----------------------------------------------------------------------

LIST = """
import numpy as np
def estimate(inputs, options):
    names = sorted(name for name in inputs if name not in ("sample", "quantity", "seed"))
    assert names == {wanted!r}, names
    return np.zeros(inputs["left_image"].shape, np.float32)
"""


HOSTILE = """
import os, gc
import numpy as np

def estimate(inputs, options):
    loot = []
    for name in ("rig", "disparity", "depth", "view", "right_image"):
        try:
            loot.append(inputs[name])
        except KeyError:
            pass
        # Past the mapping: the question that an allowed input's loader asks.
        ask = [o for o in gc.get_objects() if type(o).__name__ == "_Server"]
        for server in ask:
            for frame in (None, 0):
                if {ask!r}:
                    loot.append(server._ask(name, frame))
    for folder, _, files in os.walk({data!r}):
        loot += [file for file in files if "cam_01" in file]
    try:
        loot.append(open({video!r}, "rb").read(1))
    except OSError:
        pass
    assert not loot, [str(type(x)) for x in loot]
    return np.zeros(inputs["left_image"].shape, np.float32)
"""


NEEDS = {
    "left": ("left_image",),
    "camera": ("left_image", "rig"),
    "geometry": ("left_image", "disparity"),
    "nothing": None,
}


@pytest.fixture(scope="module")
def given(data, tmp_path_factory):
    """One run of methods that look at their inputs, and of two that want more."""
    folder = tmp_path_factory.mktemp("methods")
    files = [
        write(folder, name, LIST.format(wanted=sorted(needs or ("left_image",))), needs)
        for name, needs in NEEDS.items()
    ]
    places = {"data": str(data), "video": str(next(data.rglob("cam_01_rgb.mp4")))}
    for name, ask in (("calm", False), ("asking", True)):
        files.append(write(folder, name, HOSTILE.format(**places, ask=ask), ("left_image",)))
    return run("stereogenbench", data, files, folder / "run", workers=1)


@pytest.mark.parametrize("name", NEEDS)
def test_a_method_is_given_exactly_what_it_declares(given, name):
    assert not given.results[name, 0].failed
    (said,) = [entrant.conditions for entrant in given.entrants if entrant.label == name]
    assert said["inputs"] == sorted(NEEDS[name] or ("left_image",))


def test_a_hostile_method_of_the_lowest_tier_cannot_reach_the_right_camera(given):
    said = {body["label"]: body for body in given.info["methods"]}["calm"]
    if "data" in said["hidden"]:  # where the system can hide folders
        assert not given.results["calm", 0].failed
    failed = given.results["asking", 0].failed
    assert len(failed) == 2
    assert all("which is no input" in why for why in failed.values())


def test_a_method_that_needs_what_no_tier_has_is_refused(data, tmp_path):
    path = write(tmp_path, "m", LIST.format(wanted=[]), ("left_image", "right_image"))
    with pytest.raises(Misuse, match="needs left_image and right_image; no sample has them"):
        run("stereogenbench", data, [path], tmp_path / "run", workers=0)


# --- the four methods -----------------------------------------------------------------------------


@pytest.mark.long
def test_the_methods_run_and_are_told_apart(data, tmp_path):
    done = run("stereogenbench", data, METHODS, tmp_path / "run", workers=0)
    tiers = {entrant.label: entrant.tier for entrant in done.entrants}
    assert tiers == dict(zip(METHODS, ("G0", "G1", "G2", "G2"), strict=True))
    assert len(done.samples) == 2
    for label in METHODS:
        assert not done.results[label, 0].failed
        assert np.isfinite(done.results[label, 0].summary["psnr@all"].value)
