"""`depthgauge run`: methods on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._names import completes
from depthgauge.cli._options import (
    benchmark_argument,
    json_option,
    once,
    setting_options,
    trust_option,
    where_options,
    with_settings,
)
from depthgauge.cli._output import in_shell, program_name, progress_bar, say, write_json
from depthgauge.cli._runs import can_go_on, changes_in_options, finish_run, list_failures

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol


@click.command("run")
@benchmark_argument()
@click.option(
    "--method",
    "-m",
    "methods",
    multiple=True,
    required=True,
    shell_complete=completes("methods", files=True),
    help="sgbm, sgbm:block_size=5, NAME=sgbm:mode=hh, a .py or .toml file, folder:DIR, or "
    "'command:python infer.py {left} {right} {out}'; may be repeated.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, help="The dataset's folder."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The run folder; an existing folder of this run is continued.",
)
@where_options
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many times each method is run on each sample, with the seeds 0, 1, ...",
)
@click.option("--sample", "only", multiple=True, help="Run this sample only; may be repeated.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=float,
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest time that one estimate may take.",
)
@click.option(
    "--perturb",
    callback=once,
    multiple=True,
    metavar="EFFECT:LEVELS",
    help="Run once per level of damage to the images: noise:0,5,10,20; "
    "'depthgauge list perturbations' has all effects. Join several effects with +.",
)
@click.option("--drop-estimates", is_flag=True, help="Do not store the estimates.")
@click.option("--retry-failed", is_flag=True, help="Try again what failed in an earlier call.")
@click.option(
    "--again",
    multiple=True,
    metavar="METHOD",
    help="Run this method, by its name in tables, again on all samples, for example after an edit "
    "of its code; may be repeated.",
)
@click.option(
    "--keep-finished",
    is_flag=True,
    help="After an edit of a method's code: keep its good samples, and run it on the others. "
    "Tables then say that they mix two versions of the code.",
)
@click.option(
    "--redo-changed",
    is_flag=True,
    help="Do samples again whose inputs or truth changed since they were scored.",
)
@click.option(
    "--isolate/--no-isolate",
    default=None,
    help="Hide the data, the run folder and other processes from methods: by default where the "
    "system can; --isolate fails where it cannot.",
)
@click.option(
    "--controls",
    is_flag=True,
    help="Also score views that are known to be right or wrong (benchmarks of views).",
)
@click.option(
    "--no-truth",
    is_flag=True,
    help="Also run samples without truth, such as BENCHMARK@test: their estimates are stored, for "
    "submit-folder, and not scored.",
)
@trust_option
@setting_options
@json_option
def command(
    benchmark: str,
    methods: tuple[str, ...],
    data: Path,
    out: Path,
    perturb: str | None,
    drop_estimates: bool,
    json_to: str | None,
    **options: Any,
) -> None:
    """Runs methods on a benchmark, scores them, and prints the leaderboard.

    \b
      depthgauge run middlebury --data trainingH -m sgbm -m sgbm:block_size=9 --out runs/first
      depthgauge run middlebury --data trainingH -m 'command:./mine {left} {right} {out}' --out r
      depthgauge run middlebury --data trainingH -m sgbm --perturb noise:0,5,10,20 --out noisy
      depthgauge report runs/first

    An interrupted run continues where it stopped: give the same command again. A method that fails
    on a sample loses only that sample; failures are listed at the end, and the exit code is then 1.
    """
    options |= {"keep_estimates": not drop_estimates}
    protocol = with_settings(benchmark, options)
    if perturb is not None:
        _run_levels(perturb, protocol, data, methods, out, json_to, options)
        return
    from depthgauge.engine.running.run import run

    with can_go_on(), changes_in_options(), progress_bar(f"running {Path(benchmark).name}") as step:
        done = run(protocol, data, methods, out, progress=step, **options)
    if json_to is not None:
        write_json(json_to, done.to_json())
    click.get_current_context().exit(finish_run(done, out, table=json_to != "-"))


def _run_levels(
    perturb: str,
    benchmark: str | Protocol,
    data: Path,
    methods: tuple[str, ...],
    out: Path,
    json_to: str | None,
    options: dict[str, Any],
) -> None:
    """One run for each level, then how scores change with it."""
    from depthgauge.analysis.robustness import robustness
    from depthgauge.engine.running.perturbed import run_perturbed
    from depthgauge.report.page.robustness import robustness_text

    name = Path(benchmark).name if isinstance(benchmark, str) else benchmark.id
    with can_go_on(), changes_in_options(), progress_bar(f"running {name}") as step:
        runs = run_perturbed(
            benchmark, data, methods, out, perturb=perturb, progress=step, **options
        )
    if json_to is not None:
        write_json(json_to, {str(run.path): run.to_json() for run in runs})
    if json_to != "-":
        click.echo(robustness_text(robustness(runs)))
        say(f"Next: {program_name()} report {in_shell(out)}")
    click.get_current_context().exit(max(list_failures(run) for run in runs))
