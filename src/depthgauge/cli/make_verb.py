"""`depthgauge make KIND`: data with exact truth; one command for each generator."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path
from typing import Any

import click

from depthgauge.cli._options import options_of
from depthgauge.cli._output import in_shell, program_name, progress_bar, say, warn, write_json
from depthgauge.synth.generators import GENERATORS, Generator


def _command(generator: Generator) -> click.Command:
    spec = generator.spec

    @click.command(spec.name, help=f"{spec.summary}\n\n{inspect.cleandoc(spec.details)}")
    @click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder.")
    @options_of(spec.options)
    @click.option("--overwrite", is_flag=True, help="Replace existing data.")
    @click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
    def make(out: Path, options: Any, overwrite: bool, as_json: bool) -> None:
        with progress_bar(spec.activity) as step:
            made = generator.make(out, options, overwrite=overwrite, progress=step)
        for warning in made.warnings:
            warn(warning)
        if as_json:
            write_json("-", made.to_json())
            return
        click.echo(f"{out}: {made.summary}.")
        if made.next_command:
            say(f"Next: {program_name()} {' '.join(map(_typed, made.next_command))}")

    return make


def _typed(word: str | Path) -> str:
    """A word of a command as a person may type it."""
    return in_shell(word) if isinstance(word, Path) else shlex.quote(word)


command = click.Group(
    "make",
    {name: _command(generator) for name, generator in GENERATORS.items()},
    help="Makes data with exact truth.",
)
