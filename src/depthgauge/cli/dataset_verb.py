"""`depthgauge dataset`: check a dataset folder, audit its geometry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from depthgauge.cli._options import OptionsCommand, json_option, options_of
from depthgauge.cli._output import count, one_line, print_table, progress_bar, write_json


@click.group("dataset")
def command() -> None:
    """Checks a dataset folder, or audits its geometry."""


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


@command.command("audit", cls=OptionsCommand)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--dataset",
    default="",
    help="The layout: booster, middlebury-2014 ...; by default scenes of cameras in a row.",
)
@click.option("--split", default="all", show_default=True, help="Which part of the dataset.")
@options_of("depthgauge.engine.auditing.audit:AuditOptions")
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    folder: Path,
    dataset: str,
    split: str,
    options: Any,
    json_to: str | None,
) -> None:
    """Says whether pictures, depth, lens, baselines and poses of a stereo dataset agree.

    \b
      depthgauge dataset audit rig
      depthgauge dataset audit Booster --dataset booster --split train
      depthgauge dataset audit rig --frames 0 --pairs all --json audit.json

    Depth is compared with the depth of the other view, and with where the colours are. The exit
    code is 1 if something speaks against a scene.
    """
    from depthgauge._tables import show_number
    from depthgauge.engine.auditing.audit import audit_dataset

    with progress_bar("auditing") as step:
        found = audit_dataset(folder, dataset, split=split, options=options, progress=step)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        rows = [
            [n, show_number(middle), show_number(worst)] for n, middle, worst in found.summary()
        ]
        columns = [("figure", "left"), ("median", "right"), ("worst", "right")]
        if rows:
            print_table(columns, rows)
        wrong = [scene for scene in found.scenes if not scene.ok]
        for scene in wrong:
            for finding in scene.findings:
                click.echo(one_line(f"{scene.scene}: {finding.check}: {finding.what}"))
        against = f"{len(wrong) or 'none'} with faults"
        click.echo(f"{folder}: {count(len(found.scenes), 'scene')}, {against}.")
    ctx.exit(0 if found.ok else 1)
