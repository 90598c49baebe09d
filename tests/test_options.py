"""One class of options gives the checks, the command line and the keywords of a function."""

from __future__ import annotations

import enum
import inspect
import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field, FilePath, model_validator

from depthgauge._options import CommandLine, Options, checked_options, signature_from
from depthgauge.cli._options import OptionsCommand, options_of
from depthgauge.errors import Misuse


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Many(Options):
    size_px: Annotated[int, CommandLine("--size/-s")] = Field(default=512, ge=64, le=4096)
    """Width and height."""
    share: float = Field(default=0.5, gt=0.0, lt=1.0)
    """Of all."""
    stereo: bool = False
    """Pairs."""
    denoise: bool = True
    """Smooth."""
    kind: Literal["fast", "good"] = "fast"
    """Which."""
    step: Literal[1, 2] = 1
    """How far."""
    colour: Colour = Colour.RED
    """Of the frame."""
    place: Path | None = None
    """Where."""
    file: FilePath | None = None
    """What to read."""
    names: tuple[str, ...] = ()
    """Which ones."""
    levels: tuple[int, ...] = (1, 2)
    """Of noise."""
    disparities: tuple[float, float] | None = None
    """Least and most."""
    axis: Annotated[str | None, CommandLine(metavar="A:B:N")] = None
    """From A to B in N bins."""
    inner: Annotated[int, CommandLine(hidden=True)] = 3
    """For tests."""


def as_json(options: Options) -> str:
    given = sorted(options.model_fields_set)
    return json.dumps({"given": given, **options.model_dump(mode="json")})


@click.command("tool")
@click.option("--out", help="The folder.")
@options_of(Many)
def tool(out: str | None, options: Many) -> None:
    click.echo(as_json(options))


@click.command("tool", cls=OptionsCommand)
@options_of(lambda: Many)
@click.option("--out", help="The folder.")
def lazy(out: str | None, options: Many) -> None:
    click.echo(as_json(options))


def called(command: click.Command, *args: str) -> dict[str, object]:
    run = CliRunner().invoke(command, args, catch_exceptions=False)
    assert run.exit_code == 0, run.output
    return json.loads(run.output)


@pytest.mark.parametrize("command", [tool, lazy])
@pytest.mark.parametrize(
    ("args", "name", "value"),
    [
        (["--size", "100"], "size_px", 100),
        (["-s", "100"], "size_px", 100),
        (["--share", "0.25"], "share", 0.25),
        (["--stereo"], "stereo", True),
        (["--no-stereo"], "stereo", False),
        (["--no-denoise"], "denoise", False),
        (["--kind", "good"], "kind", "good"),
        (["--step", "2"], "step", 2),
        (["--colour", "blue"], "colour", "blue"),
        (["--place", "a/b"], "place", "a/b"),
        (["--names", "a", "--names", "b"], "names", ["a", "b"]),
        (["--levels", "7"], "levels", [7]),
        (["--disparities", "1", "2.5"], "disparities", [1.0, 2.5]),
        (["--axis", "0:1:3"], "axis", "0:1:3"),
    ],
)
def test_the_command_line_is_made_of_the_class(command, args, name, value):
    found = called(command, *args)
    assert found[name] == value
    assert found["given"] == [name]


def test_what_is_not_said_keeps_the_default_of_the_class():
    assert called(tool) == {"given": [], **Many().model_dump(mode="json")}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--size", "3"], "3 is not in the range 64<=x<=4096"),
        (["--share", "1"], "1.0 is not in the range 0.0<x<1.0"),
        (["--kind", "god"], "'god' is not one of 'fast', 'good'"),
        (["--step", "3"], "'3' is not one of '1', '2'"),
        (["--file", "nowhere"], "File 'nowhere' does not exist"),
        (["--inner", "3"], "No such option"),
        (["--disparities", "1"], "requires 2 arguments"),
    ],
)
def test_the_command_line_refuses_what_the_class_refuses(args, words):
    run = CliRunner().invoke(tool, args)
    assert run.exit_code == 2
    assert words in run.output


def test_the_help_shows_sentences_and_defaults():
    for command in (tool, lazy):
        text = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
        assert "-s, --size INTEGER RANGE Width and height. [default: 512; 64<=x<=4096]" in text
        assert "--denoise / --no-denoise Smooth. [default: denoise]" in text
        assert "--kind [fast|good] Which. [default: fast]" in text
        assert "--levels INTEGER Of noise. [default: 1, 2]" in text
        assert "--axis A:B:N From A to B in N bins. --" in text
        assert "--place PATH Where. --file" in text
        assert "--disparities <FLOAT FLOAT>... Least and most." in text
        assert "--inner" not in text


def test_what_click_cannot_judge_is_said_with_the_flag():
    class Pair(Options):
        low: float = 0.0
        """Least."""
        high: float = 1.0
        """Most."""

        @model_validator(mode="after")
        def _ordered(self):
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    @click.command()
    @options_of(Pair)
    def pair(options):
        raise AssertionError

    def refused(*args):
        with pytest.raises(Misuse) as caught:
            CliRunner().invoke(pair, args, catch_exceptions=False)
        return str(caught.value)

    assert refused("--low", "2") == "options: low is above high."
    assert refused("--high", "nan") == "--high: is nan but must be a finite number."


def test_a_field_without_a_default_is_required():
    class Named(Options):
        name: str
        """Who."""

    @click.command()
    @options_of(Named)
    def hello(options):
        click.echo(options.name)

    assert CliRunner().invoke(hello, ["--name", "x"]).output == "x\n"
    assert "Missing option '--name'" in CliRunner().invoke(hello, []).output


def test_a_class_is_imported_when_its_command_is_used(tmp_path, monkeypatch):
    text = (
        "from depthgauge._options import Options\n\n\nclass Mine(Options):\n    width: int = 3\n"
        '    """Columns."""\n'
    )
    (tmp_path / "late_options.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    @click.command("late", cls=OptionsCommand)
    @options_of("late_options:Mine")
    def late(options):
        click.echo(options.width)

    assert "late_options" not in sys.modules
    assert CliRunner().invoke(late, ["--width", "5"]).output == "5\n"
    assert "late_options" in sys.modules


def test_a_command_of_the_wrong_class_says_so():
    @click.command("plain")
    @options_of(lambda: Many)
    def plain(options):
        raise AssertionError

    with pytest.raises(TypeError, match="declare 'plain' with cls=OptionsCommand"):
        CliRunner().invoke(plain, [], catch_exceptions=False)


# --- the Python function --------------------------------------------------------------------------


@signature_from(Many)
def make(out: Path, options: Many, *, progress: object = None) -> tuple[Path, Many, object]:
    """Makes something."""
    return out, options, progress


def test_a_function_takes_the_fields_as_keywords():
    assert make("x") == ("x", Many(), None)
    assert make("x", size_px=100, progress=1) == ("x", Many(size_px=100), 1)
    assert make(out="x", stereo=True) == ("x", Many(stereo=True), None)
    assert make("x", options=Many(share=0.25))[1].share == 0.25


def test_the_signature_shows_the_fields():
    found = inspect.signature(make)
    assert list(found.parameters) == ["out", *Many.model_fields, "progress", "options"]
    assert found.parameters["size_px"].default == 512
    assert found.parameters["size_px"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "size_px: Width and height." in make.__doc__
    assert make.__doc__.startswith("Makes something.")


def test_all_mistakes_of_a_call_are_one_sentence():
    with pytest.raises(Misuse) as caught:
        make("x", size_px=3, stero=True)
    assert str(caught.value) == (
        "make: size_px: is 3 but must be greater than or equal to 64; "
        "stero: is not an option of 'make' (Did you mean 'stereo'?)."
    )


def test_options_and_fields_exclude_each_other():
    with pytest.raises(Misuse, match=r"make: give options or size_px, not both\."):
        make("x", options=Many(), size_px=100)
    with pytest.raises(Misuse, match="options must be Many, not int"):
        make("x", options=3)


def test_a_call_with_too_many_or_too_few_arguments_is_refused_by_python():
    with pytest.raises(TypeError):
        make("x", 1, 2, 3)
    with pytest.raises(TypeError, match="options"):
        make("x", Many())
    with pytest.raises(TypeError, match="out"):
        make()
    with pytest.raises(TypeError, match="out"):
        make("x", out="y")


def test_a_function_must_leave_room_for_the_fields():
    with pytest.raises(TypeError, match="must have a parameter 'options'"):
        signature_from(Many)(lambda out: None)
    with pytest.raises(TypeError, match="both have"):
        signature_from(Many)(lambda size_px, options: None)


def test_the_checks_name_all_mistakes():
    options, wrong = checked_options(Many, {"kind": "god", "names": 3}, "tool")
    assert options is None
    assert [str(problem) for problem in wrong] == [
        "kind: is 'god' but must be 'fast' or 'good' (Did you mean 'good'?)",
        "names: is 3 but must be a list",
    ]
