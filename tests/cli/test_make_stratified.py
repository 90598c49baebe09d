"""`depthgauge make stratified`: what it writes, what it says, what it refuses."""

from typing import get_args

import pytest

from depthgauge.datasets import DATASETS
from depthgauge.synth.generators.stratified import SceneName, StratifiedOptions
from depthgauge.synth.sets import stratified

SMALL = ("--size", "64", "--views", "3", "--scale", "2")


def test_the_shell_knows_the_scenes_and_their_axes():
    assert get_args(SceneName) == stratified.SCENES
    owners = {}
    for name in stratified.SCENES:
        for axis in stratified.axes_of(name):
            owners.setdefault(axis, []).append(name)
    every = StratifiedOptions(**dict.fromkeys(owners, "0:1:2"))
    assert every.axes() == dict.fromkeys(owners, "0:1:2")
    for axis, scenes in owners.items():
        start = f"{', '.join(scenes)}: "
        assert StratifiedOptions.model_fields[axis].description.startswith(start)


def test_a_light_field_with_an_axis_of_its_own(run, tmp_path):
    ran = run(
        *("make", "stratified", "--scene", "dots", "--noise", "0:0.2:6", *SMALL),
        *("--out", tmp_path / "fields"),
    )
    assert ran.code == 0
    assert (
        ran.out == f"{tmp_path / 'fields'}: 1 light field of 64x64, 3x3 views with exact truth.\n"
    )
    (sample,) = DATASETS["hci4d"].samples(tmp_path / "fields")
    assert sample.id == "dots"
    assert sample.truth.boxes_labels.max() == 6
    assert sample.truth.high_disparity.shape == (128, 128)


def test_every_scene_can_have_noise(run, tmp_path):
    call = ("make", "stratified", "--scene", "glass", "--stereo", "--size", "64", "--json")
    assert "sensor_noise" not in run(*call, "--out", tmp_path / "a").json()
    assert run(*call, "--sensor-noise", "4", "--out", tmp_path / "b").json()["sensor_noise"] == 4
    clean, noisy = (
        next(iter(DATASETS["depthgauge"].samples(tmp_path / name))).inputs.left_image.astype(float)
        for name in ("a", "b")
    )
    assert (noisy - clean).std() == pytest.approx(4, rel=0.1)
    assert run(*call, "--sensor-noise", "-1", "--out", tmp_path / "c").code == 2


def test_all_scenes_by_default_each_in_its_category(run, tmp_path):
    ran = run("make", "stratified", *SMALL, "--out", tmp_path, "--json")
    assert ran.json()["samples"] == list(stratified.SCENES)
    assert ran.json()["views"] == [3, 3]
    folders = {f"{path.parent.name}/{path.name}" for path in tmp_path.glob("*/*")}
    assert folders == {
        *(f"stratified/{name}" for name in stratified.SCENES[:4]),
        *(f"other/{name}" for name in stratified.SCENES[4:]),
    }


def test_pairs(run, tmp_path):
    scenes = ("--scene", "slant", "--scene", "slant", "--scene", "exposure")
    ran = run("make", "stratified", "--stereo", "--size", "64", *scenes, "--out", tmp_path / "p")
    assert ran.out.endswith("2 stereo pairs of 64x64 with exact truth.\n")
    assert run("dataset", "verify", tmp_path / "p").code == 0
    names = [sample.id for sample in DATASETS["depthgauge"].samples(tmp_path / "p")]
    assert names == ["exposure", "slant"]


def test_what_is_there_is_replaced_only_when_told(run, tmp_path):
    call = ("make", "stratified", "--scene", "glass", *SMALL, "--out", tmp_path)
    assert run(*call).code == 0
    refused = run(*call)
    assert refused.code == 1
    assert "glass" in refused.err
    assert run(*call, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("--scene", "dots", "--gap", "0:1:3"),
            "'gap' is not an axis of dots: it is an axis of 'backg",
        ),
        (("--scene", "dots", "--noise", "0:0.2"), "START:END:NUMBER"),
        (("--scene", "dots", "--noise", "0:7:15"), "must be from 0 to 1"),
        (("--stereo", "--views", "5"), "--views is for light fields"),
        (("--stereo", "--scale", "2"), "--scale is for light fields"),
        (("--views", "4"), "odd number of views"),
        (("--seed", "-1"), "-1 is not in the range x>=0"),
        (("--scene", "domino"), "'domino' is not one of"),
        (("--size", "32"), "64<=x<=4096"),
    ],
)
def test_misuse_is_one_sentence(run, tmp_path, arguments, why):
    ran = run("make", "stratified", "--out", tmp_path / "none", *arguments)
    assert ran.code == 2
    assert why in ran.err
    assert not (tmp_path / "none").exists()
