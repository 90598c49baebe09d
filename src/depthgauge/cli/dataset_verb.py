"""`depthgauge dataset`: check a dataset folder."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import one_line, write_json


@click.group("dataset")
def command() -> None:
    """Checks a dataset folder."""


@command.command("verify")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The problems as JSON.")
@click.pass_context
def verify(ctx: click.Context, folder: Path, as_json: bool) -> None:
    """Compares every file of a depthgauge dataset folder with its manifest: size and SHA-256."""
    from depthgauge.datasets import manifest_folder

    problems = manifest_folder.verify(folder)
    if as_json:
        listed = [{"where": p.where, "what": p.what, "hint": p.hint} for p in problems]
        write_json("-", {"ok": not problems, "folder": str(folder), "problems": listed})
    else:
        for problem in problems:
            click.echo(one_line(str(problem)))
        click.echo(f"{folder}: {len(problems) or 'no'} problem{'s' * (len(problems) != 1)}")
    if problems:
        ctx.exit(1)
