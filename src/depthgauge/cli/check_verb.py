"""`depthgauge check`: all problems of a folder of estimates, or of two maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._maps import told_in_options
from depthgauge.cli._options import benchmark_argument
from depthgauge.cli._output import count, one_line, progress_bar, write_json
from depthgauge.cli._reading import reading_arguments, reading_options

if TYPE_CHECKING:
    from depthgauge.engine.scoring.check import Finding


@click.command("check")
@benchmark_argument(required=False)
@click.argument("estimates", type=click.Path(path_type=Path), required=False)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The dataset's folder; without it, missing files and wrong sizes cannot be found.",
)
@click.option(
    "--estimates",
    "same",
    type=click.Path(path_type=Path),
    help="The folder of estimates, as in 'score'; the same as ESTIMATES.",
)
@click.option("--name", help="The method's name, where file names contain it.")
@click.option("--estimate", type=click.Path(path_type=Path), help="One map, without a benchmark.")
@click.option("--truth", type=click.Path(path_type=Path), help="The true map of that estimate.")
@click.option("--quantity", help="disparity, depth, flow ...; by default guessed from the files.")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="The problems as JSON.")
def command(
    benchmark: str | None,
    estimates: Path | None,
    same: Path | None,
    estimate: Path | None,
    truth: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Finds all problems in a folder of estimates, or in two maps, and says how to fix each.

    \b
      depthgauge check middlebury results --data trainingF
      depthgauge check kitti-2015 --data training --estimates results
      depthgauge check --estimate a.png --truth b.pfm --quantity depth

    It finds missing or unreadable files, wrong sizes and types, and maps without a value; and maps
    that are misread: a wrong sign or scale, flipped, inverted, marks for missing pixels taken as
    values, estimates of another sample. Exit code 1 if a problem would cost points.
    """
    if estimates is not None and same is not None:
        raise click.UsageError("give the folder once: ESTIMATES, or --estimates DIR.")
    estimates = estimates or same
    if estimate is not None or truth is not None:
        if benchmark is not None or estimate is None or truth is None:
            raise click.UsageError("two maps are --estimate FILE and --truth FILE.")
        findings, what = _check_two(estimate, truth, options), f"{estimate} against {truth}"
    elif benchmark is None or estimates is None:
        raise click.UsageError("give a benchmark and a folder, or --estimate and --truth.")
    else:
        findings, what = _check_folder(benchmark, estimates, options), str(estimates)
    errors = [finding for finding in findings if finding.serious]
    if as_json:
        listed = [
            {
                "sample": f.sample,
                "problem": f.problem,
                "do": f.advice,
                "serious": f.serious,
                "code": f.code,
            }
            for f in findings
        ]
        write_json("-", {"ok": not errors, "findings": listed})
    else:
        for finding in findings:
            word = "error" if finding.serious else "note"
            where = f"{finding.sample}: " if finding.sample else ""
            click.echo(one_line(f"{word}: {where}{finding.problem} {finding.advice}"))
        notes = len(findings) - len(errors)
        click.echo(f"{what}: {count(len(errors), 'error')}, {count(notes, 'note')}")
    if errors:
        click.get_current_context().exit(1)


def _check_two(estimate: Path, truth: Path, options: dict[str, Any]) -> list[Finding]:
    from depthgauge.engine.scoring.check import check_maps

    with told_in_options():
        return check_maps(
            estimate, truth, quantity=options["quantity"], **reading_arguments(options)
        )


def _check_folder(benchmark: str, estimates: Path, options: dict[str, Any]) -> list[Finding]:
    from depthgauge.benchmarks import find_benchmark
    from depthgauge.cli._reading import reading_keys
    from depthgauge.engine.scoring.check import check_estimates

    if options["quantity"] is not None:
        raise click.UsageError("--quantity is for two maps; a benchmark has its own.")
    said = reading_keys(options)
    protocol = find_benchmark(benchmark).model_copy(update=said) if said else benchmark
    with progress_bar("checking") as step:
        return check_estimates(
            protocol, options["data"], estimates, name=options["name"], progress=step
        )
