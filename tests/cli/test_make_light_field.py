"""`depthgauge make light-field`: what is written, said and refused."""

import json

import pytest
from click.testing import CliRunner

from depthgauge.cli.make_verb import command as make_verb
from depthgauge.errors import CannotWrite, Misuse, UnknownName
from depthgauge.io import read_light_field_parameters
from depthgauge.synth.sets.stereo_scenes import SCENES

command = make_verb.commands["light-field"]
SMALL = ["--size", "32", "--views", "3", "--scale", "2"]


@pytest.fixture
def make(tmp_path):
    def call(*arguments, small=SMALL):
        out = ["--out", str(tmp_path / "fields")]
        return CliRunner().invoke(command, [*small, *out, *map(str, arguments)])

    return call


def test_one_scene_with_its_cameras(make, tmp_path):
    ran = make("--scene", "slanted", "--baseline-mm", "12.5", "--focus-m", "2.5")
    assert ran.exit_code == 0
    assert ran.stdout.endswith("fields: 1 light field of 3x3 views of 32x32, truth of 64x64.\n")
    folder = tmp_path / "fields" / "other" / "slanted"
    found = read_light_field_parameters(folder / "parameters.cfg")
    assert (found.baseline_mm, found.focus_distance_m) == (12.5, 2.5)
    assert (found.scene, found.category, found.depth_map_scale) == ("slanted", "other", 2.0)
    assert sorted(path.name for path in folder.glob("input_*")) == [
        f"input_Cam{n:03d}.png" for n in range(9)
    ]


def test_json_says_what_was_made_and_nothing_else(make):
    ran = make("--scene", "boxes", "--scene", "boxes", "--seed", 7, "--range", 1.5, "--json")
    assert ran.exit_code == 0
    made = json.loads(ran.stdout)
    assert made.pop("folder").endswith("fields")
    assert made == {"samples": ["other/boxes"], "size_px": 32, "views": 3, "scale": 2, "seed": 7}


def test_all_scenes_where_none_is_named(make, monkeypatch):
    from depthgauge.synth.sets import light_field

    told = []
    monkeypatch.setattr(
        light_field,
        "write_light_fields",
        lambda out, names, **options: told.append((names, options)),
    )
    assert make(small=[]).exit_code == 0
    (names, options), *rest = told
    assert names == SCENES
    assert not rest
    assert {name: options[name] for name in ("size_px", "views", "scale", "seed")} == {
        "size_px": 512,
        "views": 9,
        "scale": 10,
        "seed": 0,
    }
    assert [options[name] for name in ("baseline_m", "focus_m", "range_px")] == [None] * 3


def test_nothing_is_overwritten_unasked(make):
    assert make("--scene", "boxes").exit_code == 0
    assert isinstance(make("--scene", "boxes").exception, CannotWrite)
    assert make("--scene", "boxes", "--overwrite").exit_code == 0


def test_mistakes_are_refused(make):
    unknown = make("--scene", "sphere").exception
    assert isinstance(unknown, UnknownName)
    assert "Did you mean 'spheres'" in str(unknown)
    for wrong in (
        ["--views", 4],
        ["--range", 0],
        ["--range", 2, "--baseline-mm", 10],
        ["--baseline-mm", "nan"],
        ["--focus-m", -1],
    ):
        assert isinstance(make("--scene", "boxes", *wrong).exception, Misuse), wrong
    for wrong in (["--size", 8], ["--scale", 0], ["--views", "nine"], ["--seed", -1]):
        assert make(*wrong).exit_code == 2, "as every misuse of the command line"


def test_the_help_names_every_scene():
    text = CliRunner().invoke(command, ["--help"]).stdout
    assert all(name in text for name in SCENES)
