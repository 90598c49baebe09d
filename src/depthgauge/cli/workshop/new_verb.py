"""`depthgauge new`: a new metric, region, dataset ... from a template."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import say, write_json

_KINDS = ("metric", "region", "dataset", "method", "benchmark", "generator")


@click.command("new")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("name")
@click.option(
    "--package",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Your own package; made, with its pyproject.toml, if it does not exist. By default the "
    "files go into depthgauge's repository; call the command in its root.",
)
@click.option("--title", default="", help="What it is, in a few words; the name by default.")
@json_option
def command(kind: str, name: str, package: Path | None, title: str, json_to: str | None) -> None:
    """Writes a file for a new KIND called NAME, and its test, from a template that passes.

    \b
      depthgauge new metric slope_error --package my-gauge
      depthgauge new dataset my-camera --package my-gauge --title "Pairs of my camera"
      depthgauge new benchmark my-benchmark                  in depthgauge's own repository

    The template is a small working example: change it step by step, and its test with it. A file
    that exists is never overwritten. Inside depthgauge a folder is its own registry; a package
    of your own gets an entry point.
    """
    from depthgauge.engine.authoring.new import write_new

    written = write_new(kind, name, package=package, title=title)
    if json_to is not None:
        write_json(json_to, written.to_json())
    if json_to != "-":
        for path in written.files:
            click.echo(f"wrote {path}")
        for path in written.changed:
            click.echo(f"added an entry point to {path}")
    say("Next:")
    for step in written.next_steps:
        say(f"  {step}")
