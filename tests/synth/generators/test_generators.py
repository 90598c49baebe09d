"""Generators are plug-ins: what they declare, who may join, what it costs to list them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import depthgauge
from depthgauge.errors import BadDeclaration, Misuse, UnknownName
from depthgauge.synth.generators import (
    GENERATORS,
    GeneratedData,
    GeneratorOptions,
    GeneratorSpec,
    _spec,
    generate,
)
from depthgauge.synth.sets import (
    layers,
    light_field,
    patterns,
    printed,
    rig,
    single_views,
    stereo_scenes,
    stratified,
    tag_session,
)

KINDS = [
    *("board", "capture-session", "layers", "light-field", "oasis-like", "patterns", "rig"),
    *("stereo-scenes", "stratified", "tag-session"),
]
SOURCE = Path(depthgauge.__file__).parents[1]


def test_the_kinds_are_known_and_every_option_has_a_sentence():
    assert list(GENERATORS) == KINDS
    for name, generator in GENERATORS.items():
        assert generator.spec.name == name
        assert generator.spec.summary.endswith(".")
        for option, field in generator.spec.options.model_fields.items():
            assert field.description, f"{name}: {option}"


def test_revisions_are_those_of_the_code_that_writes():
    from depthgauge.annotate.simulate import oasis_like
    from depthgauge.synth.sets.capture_session import _folder

    written = {
        "board": printed.REVISION,
        "capture-session": _folder.REVISION,
        "layers": layers.REVISION,
        "light-field": light_field.REVISION,
        "oasis-like": oasis_like.REVISION,
        "patterns": patterns.REVISION,
        "rig": rig.REVISION,
        "stereo-scenes": stereo_scenes.REVISION,
        "stratified": stratified.REVISION,
        "tag-session": tag_session.REVISION,
    }
    assert {name: generator.spec.revision for name, generator in GENERATORS.items()} == written
    assert single_views.REVISION == 1


def test_listing_the_kinds_takes_neither_numpy_nor_a_renderer():
    code = (
        "from depthgauge.cli import make_verb; import sys; "
        "print(*{m.partition('.')[0] for m in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "cv2", "numba", "mitsuba", "rich"} & set(run.stdout.split())


def test_generate_is_what_the_command_does(tmp_path):
    made = generate("stereo-scenes", tmp_path / "a", width=48, height=32, seed=2)
    assert made.folder == tmp_path / "a"
    assert made.samples == stereo_scenes.SCENES
    assert made.to_json() == {
        "folder": str(tmp_path / "a"),
        "samples": list(stereo_scenes.SCENES),
        "size_px": [48, 32],
        "seed": 2,
    }
    with pytest.raises(
        Misuse, match=r"stereo-scenes: widht: is not an option.*Did you mean 'width'"
    ):
        generate("stereo-scenes", tmp_path / "b", widht=48)
    with pytest.raises(UnknownName, match="Did you mean 'stereo-scenes'"):
        generate("stereo-scene", tmp_path / "b")
    assert not (tmp_path / "b").exists()


class TwoSizes(GeneratorOptions):
    size: int


class Taken(GeneratorOptions):
    overwrite: bool = False


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "Big Scenes"}, "lower-case letters"),
        ({"summary": ""}, "one line"),
        ({"summary": "two\nlines"}, "one line"),
        ({"revision": 0}, "counts from 1"),
        ({"options": dict}, "derived from GeneratorOptions"),
        ({"options": TwoSizes}, "size must have a default"),
        ({"options": Taken}, "already has overwrite"),
    ],
)
def test_a_wrong_declaration_is_one_sentence(wrong, why):
    with pytest.raises(BadDeclaration, match=why):
        GeneratorSpec(**{"name": "dots", "summary": "Dots.", **wrong})


def test_a_module_without_its_function_is_named():
    module = type(sys)("no_maker")
    module.SPEC = GeneratorSpec("dots", "Dots.")
    with pytest.raises(BadDeclaration, match=r"no_maker: a generator needs a function make\(out"):
        list(_spec._collect(module))
    module.make = lambda out, options: GeneratedData(out)
    with pytest.raises(BadDeclaration, match="overwrite, progress"):
        list(_spec._collect(module))


GRADIENTS = '''
from pathlib import Path
from pydantic import Field
from depthgauge.synth.generators import GeneratedData, GeneratorOptions, GeneratorSpec

class GradientOptions(GeneratorOptions):
    count: int = Field(default=3, ge=1)
    """How many."""

SPEC = GeneratorSpec("gradients", "Grey wedges.", GradientOptions)

def make(out, options, *, overwrite, progress):
    out.mkdir(exist_ok=overwrite)
    names = tuple(f"wedge-{n}" for n in range(options.count))
    for done, name in enumerate(names):
        progress(name, done, len(names))
        (out / name).write_text(str(options.seed))
    return GeneratedData(out, names, f"{len(names)} wedges", {"seed": options.seed})
'''


def test_another_package_adds_a_kind(tmp_path):
    (tmp_path / "gradients.py").write_text(GRADIENTS)
    info = tmp_path / "gradients-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gradients\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[depthgauge.plugins]\ngradients = gradients\n")
    paths = os.pathsep.join([str(tmp_path), str(SOURCE)])

    def depthgauge(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "depthgauge", *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )

    out = tmp_path / "made"
    ran = depthgauge("make", "gradients", "--out", out, "--count", "2", "--seed", "7", "--json")
    assert ran.returncode == 0, ran.stderr
    samples = ["wedge-0", "wedge-1"]
    assert json.loads(ran.stdout) == {"folder": str(out), "samples": samples, "seed": 7}
    assert (out / "wedge-1").read_text() == "7"
    again = depthgauge("make", "gradients", "--out", out, "--overwrite")
    assert again.stdout == f"{out}: 3 wedges.\n"
    listed = depthgauge("make", "--help").stdout
    assert all(name in listed for name in (*KINDS, "gradients", "Grey wedges."))
