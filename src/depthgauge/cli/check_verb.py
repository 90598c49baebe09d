"""`depthgauge check`: all problems of a folder of estimates."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import benchmark_argument
from depthgauge.cli._output import count, one_line, progress_bar, write_json


@click.command("check")
@benchmark_argument()
@click.argument("estimates", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The dataset's folder; without it, missing files and wrong sizes cannot be found.",
)
@click.option("--name", help="The method's name, where file names contain it.")
@click.option("--json", "as_json", is_flag=True, help="The problems as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    benchmark: str,
    estimates: Path,
    data: Path | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Finds all problems of a folder of estimates and says how to fix each.

    Missing or unreadable files, wrong sizes and types, maps without a value, values whose sign or
    scale looks wrong. Exit code 1 if a problem would cost points.
    """
    from depthgauge.engine.scoring.check import check_estimates

    with progress_bar("checking") as step:
        findings = check_estimates(benchmark, data, estimates, name=name, progress=step)
    errors = [finding for finding in findings if finding.serious]
    if as_json:
        listed = [
            {"sample": f.sample, "problem": f.problem, "do": f.advice, "serious": f.serious}
            for f in findings
        ]
        write_json("-", {"ok": not errors, "findings": listed})
    else:
        for finding in findings:
            word = "error" if finding.serious else "note"
            said = f"{word}: {finding.sample}: {finding.problem} {finding.advice}"
            click.echo(one_line(said))
        notes = len(findings) - len(errors)
        click.echo(f"{estimates}: {count(len(errors), 'error')}, {count(notes, 'note')}")
    if errors:
        ctx.exit(1)
