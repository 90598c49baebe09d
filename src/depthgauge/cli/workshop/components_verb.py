"""`depthgauge components`: what each step of a method contributes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._names import completes
from depthgauge.cli._options import benchmark_argument, json_option, where_options
from depthgauge.cli._output import count, print_table, progress_bar, say, warn, write_json
from depthgauge.cli._runs import can_go_on, list_failures

if TYPE_CHECKING:
    from depthgauge.analysis.bootstrap.intervals import Interval
    from depthgauge.analysis.components import Attribution
    from depthgauge.engine.store.record import Run


_MUCH = 0.25
"""Interaction beyond which steps cannot be judged one by one."""


@click.command("components")
@benchmark_argument(required=False)
@click.option(
    "--method",
    "-m",
    default="stereo-chain",
    show_default=True,
    shell_complete=completes("methods", files=False),
    help="The method with its options: stereo-chain:radius=3. It is the chain that others vary.",
)
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; it is continued.")
@click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="NAME[=CHOICE,CHOICE...]",
    help="A step and its choices, any option of the method; by default all choices of the steps "
    "that it declares. May be repeated.",
)
@click.option(
    "--design",
    type=click.Choice(["all", "one"]),
    default="all",
    show_default=True,
    help="all: every combination, for main effects. one: exchange one step at a time.",
)
@click.option(
    "--run", "run_folder", type=click.Path(path_type=Path), help="A finished run instead."
)
@click.option("--base", help="The label of the chain that others vary; the first by default.")
@click.option(
    "--score", "scores", multiple=True, help="The score; the main one by default; may be repeated."
)
@click.option("--sample", "only", multiple=True, help="Run this sample only; may be repeated.")
@where_options
@json_option
def command(benchmark: str | None, **options: Any) -> None:
    """Scores a method with each of its steps exchanged or left out.

    \b
      depthgauge components stereo-scenes --data scenes --out runs/chain --design one
      depthgauge components stereo-scenes --data scenes --out runs/chain
      depthgauge components stereo-scenes --data scenes --out runs/sgbm -m sgbm \\
          --step mode=sgbm,hh,3way --step fill=none,background
      depthgauge components --run runs/chain --score badpix:1@all --score mae@thin

    A method is a chain: cost, aggregation, optimisation, refinement, filling. Every chain is an
    ordinary method of an ordinary run, so that the run can be continued, reported and compared.
    The main effect of a choice is what it changes on average, whatever the other steps are; the
    share of a step is its part of the differences between all chains. Negative is better where
    lower is better. Intervals are over the samples, and need at least 8 of them.
    """
    from depthgauge.analysis.components import attribute

    run = _run(benchmark, options)
    names = tuple(text.partition("=")[0] for text in options["steps"])
    found = [
        attribute(run, score, steps=names, base=options["base"])
        for score in options["scores"] or (None,)
    ]
    if options["json_to"] is not None:
        write_json(options["json_to"], {"schema": 1, "scores": [each.to_json() for each in found]})
    if options["json_to"] != "-":
        for each in found:
            _show(each)
    if not found[0].effects:
        say("Main effects need all combinations: --design all.")
    click.get_current_context().exit(list_failures(run))


def _run(benchmark: str | None, options: dict[str, Any]) -> Run:
    if options["run_folder"] is not None:
        if benchmark is not None or options["data"] is not None:
            raise click.UsageError("--run is a finished run; leave out the benchmark and --data.")
        from depthgauge.engine.store.load import load_run

        return load_run(options["run_folder"])
    if benchmark is None or options["data"] is None or options["out"] is None:
        raise click.UsageError("give a benchmark with --data DIR and --out RUN, or --run RUN.")
    from depthgauge.engine.running.components import run_components

    where = {name: options[name] for name in ("workers", "cluster", "executor", "threads")}
    with can_go_on(), progress_bar("running chains") as step:
        return run_components(
            benchmark,
            options["data"],
            options["method"],
            options["out"],
            steps=dict(_steps(options["steps"])),
            design=options["design"],
            only=options["only"],
            progress=step,
            **where,
        )


def _steps(texts: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    found = []
    for text in texts:
        name, _, choices = text.partition("=")
        found.append((name.strip(), [c.strip() for c in choices.split(",") if c.strip()]))
    return found


def _show(found: Attribution) -> None:
    from depthgauge._tables import show_number, show_share

    unit = f" {found.unit}" if found.unit else ""
    n = f"{count(found.chains, 'chain')}, {count(found.samples, 'sample')}"
    best = f"the best is {found.best} with {show_number(found.best_value)}{unit}"
    title = f"{found.score}: {found.base} has {show_number(found.base_value)}{unit}; {best}; {n}"
    heads = [("step", "left"), ("choice", "left"), ("value", "right"), ("change", "right")]
    rows = [
        [e.step, f"{e.before} -> {e.choice}", show_number(e.value), _signed(e.change, e.interval)]
        for e in found.exchanges
    ]
    print_table(heads, rows, title)
    if not found.effects:
        return
    heads = [("step", "left"), ("share", "right"), ("choice", "left"), ("mean", "right")]
    heads.append(("main effect", "right"))
    rows, before = [], ""
    for each in found.effects:
        new = each.step != before
        share = show_share(found.shares[each.step]) if new else ""
        effect = _signed(each.effect, each.interval)
        rows.append([each.step if new else "", share, each.choice, show_number(each.value), effect])
        before = each.step
    rows.append(["(together)", show_share(found.interaction), "", "", ""])
    print_table(heads, rows, "Main effects over all combinations")
    if found.interaction > _MUCH:
        warn(
            f"{show_share(found.interaction)} of the differences is interaction: choices that help "
            "only together; look at the exchanges too."
        )


def _signed(value: float, found: Interval) -> str:
    from depthgauge._tables import show_number

    sign = "+" if value > 0 else ""
    if not found.known:
        return f"{sign}{show_number(value)}"
    ends = f"{show_number(found.low)} to {show_number(found.high)}"
    return f"{sign}{show_number(value)} ({ends})"
