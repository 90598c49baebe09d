"""`depthgauge demo`: the newcomer's first minutes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.analysis.demonstrations import (
    DEMONSTRATIONS,
    Demonstration,
    LabelDemonstration,
    moved_methods,
)
from depthgauge.cli._options import json_option
from depthgauge.cli._output import (
    count,
    in_shell,
    print_table,
    program_name,
    progress_bar,
    say,
    warn,
    write_json,
)
from depthgauge.cli._runs import can_go_on, fitting_board, list_failures

if TYPE_CHECKING:
    from depthgauge.analysis.rank_moves import Move, RankMoves
    from depthgauge.engine.store.record import Run

BOOSTER = LabelDemonstration()


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("depthgauge-demo"),
    show_default=True,
    help="The folder for scenes, runs and reports.",
)
@click.option("--part", type=click.Choice([*DEMONSTRATIONS]), help="Only this half.")
@click.option(
    "--booster",
    is_flag=True,
    help="Instead: make ground truth of shiny scenes as Booster did, and see whether it ranks "
    "methods as the exact truth does; takes some minutes and needs the extra 'render'.",
)
@click.option("--workers", type=click.IntRange(min=0), help="Worker processes.")
@json_option
def command(
    out: Path, part: str | None, booster: bool, workers: int | None, json_to: str | None
) -> None:
    """Makes scenes with exact truth, runs the baselines, and writes two reports.

    Stereo: eight scenes with slanted and curved surfaces, boxes, thin bars, walls without texture
    and occlusions; OpenCV's matchers with a few settings each. Light fields: the four stratified
    scenes of the 4D light-field benchmark, each with one challenge that grows across the image,
    at a quarter of their size. The reports say which method is best, whether that is more than
    chance, where each of them fails, and how fast it gets worse.
    """
    if booster:
        _show_booster(out, part, workers, json_to)
        return
    chosen = [DEMONSTRATIONS[part]] if part else list(DEMONSTRATIONS.values())
    steps = (f"{n}/{3 * len(chosen)}" for n in itertools.count(1))
    runs = [_show(each, out, workers, steps, quiet=json_to == "-") for each in chosen]
    if json_to is not None:
        body = runs[0].to_json()
        write_json(json_to, body if len(runs) == 1 else {**body, "light_fields": runs[1].to_json()})
    if json_to != "-":
        _say_what_next(out, chosen[0])
    click.get_current_context().exit(max(list_failures(run) for run in runs))


def _show(
    demo: Demonstration, out: Path, workers: int | None, steps: Iterator[str], *, quiet: bool
) -> Run:
    """Makes the data, runs the methods, writes the page and prints a small table of it."""
    say(f"{next(steps)} making {demo.what} with exact truth ...")
    with progress_bar("scenes") as step:
        demo.make_data(out, step)
    compiled = "the first time, kernels are compiled"
    say(f"{next(steps)} running {len(demo.methods)} methods ({compiled}) ...")
    with can_go_on(), progress_bar("methods") as step:
        done = demo.run(out, workers, step)
    say(f"{next(steps)} writing the report ...")
    table = _write_report(done, demo, out)
    if not quiet:
        click.echo(table)
        click.echo(f"Open {out / demo.page} in a browser.\n")
    return done


def _write_report(done: Run, demo: Demonstration, out: Path) -> str:
    """Writes the page; returns a small table of it."""
    from depthgauge.report.page.build import build_page
    from depthgauge.report.page.html import write_report

    with progress_bar("report") as step:
        page = build_page(done, main=demo.columns[0], with_oracles=True, progress=step)
        write_report(out / demo.page, page)
    folder = out / demo.run_folder
    return fitting_board(page.board, demo.title, done.protocol, folder, demo.columns)


def _say_what_next(out: Path, demo: Demonstration) -> None:
    name, data, run = program_name(), in_shell(out / demo.folder), in_shell(out / demo.run_folder)
    again = f"{name} run {demo.benchmark} --data {data}"
    chosen = " ".join(f"--column {score}" for score in demo.columns[:2])
    lines = [
        f"{name} report {run} --latex --no-intervals {chosen}    a table for your paper",
        f"{name} report {run} --profile surgery       methods by what an application needs",
        f"{again} --out {run} -m my_method.py    your own method, a file that you write",
        f"{again} -m {demo.methods[0]} --perturb noise:0,5,10 --out noisy",
        f"{name} list methods",
        f"{name} show foreground_fattening",
    ]
    say("Then try:\n" + "\n".join(f"  {line}" for line in lines))


# --- labels as Booster made them ------------------------------------------------------------------


def _show_booster(out: Path, part: str | None, workers: int | None, json_to: str | None) -> None:
    if part:
        raise click.UsageError("--part chooses a half of the other demonstration; leave it out.")
    found = _compare_labels(BOOSTER, out / "booster", workers, quiet=json_to == "-")
    if json_to is not None:
        write_json(json_to, found)


def _compare_labels(
    demo: LabelDemonstration, out: Path, workers: int | None, *, quiet: bool
) -> dict[str, Any]:
    """Makes sessions, labels them, scores the baselines against labels and exact truth."""
    folders = demo.folders(out)
    say(f"1/4 photographing {count(len(folders), 'simulated scene')} with a trinocular rig ...")
    for folder in folders:
        with progress_bar(folder.name) as step:
            warnings = demo.photograph(folder, step)
        for warning in warnings:
            warn(warning)
    say("2/4 labelling: calibrate, rectify, match, refine, clean, check, warp, audit ...")
    for folder in folders:
        _label(demo, folder, out)
    methods = count(len(demo.methods), "method")
    say(f"3/4 running {methods} against the labels, and against the exact truth ...")
    runs = {}
    for name in ("labels", "exact"):
        with can_go_on(), progress_bar(f"against {name}") as step:
            runs[name] = demo.run(out, name, workers, step)
    say("4/4 writing the reports ...")
    moves = demo.compare(runs["labels"], runs["exact"])
    for name, run in runs.items():
        _write_label_report(run, demo, out / f"{name}.html")
    if not quiet:
        _print_moves(moves)
        click.echo(f"Open {out / 'labels.html'} and {out / 'exact.html'} in a browser,")
        click.echo(f"and {folders[0] / 'work' / 'index.html'} for every step.")
    return {
        **{name: run.to_json() for name, run in runs.items()},
        "same_ranking": {score: not moved_methods(found) for score, found in moves.items()},
        "sessions": [str(folder) for folder in folders],
    }


def _label(demo: LabelDemonstration, folder: Path, out: Path) -> None:
    """Labels a session, and draws each step."""
    from depthgauge.report.capture.page import draw_step, write_page
    from depthgauge.sessions import open_session

    session, work = open_session(folder), folder / "work"
    with progress_bar(folder.name) as progress:
        for step in demo.label(session, out, progress):
            if step.fresh:
                draw_step(work, step.name)
            for warning in step.warnings:
                warn(f"{folder.name}: {warning}")
    write_page(work, session.name)


def _write_label_report(run: Run, demo: LabelDemonstration, path: Path) -> None:
    from depthgauge.report.page.build import build_page
    from depthgauge.report.page.html import write_report

    with progress_bar("report") as step:
        write_report(path, build_page(run, main=demo.scores[0], progress=step))


def _print_moves(moves: Mapping[str, RankMoves]) -> None:
    from depthgauge._tables import show_number, show_share

    for score, found in moves.items():
        columns = [("method", "left"), ("labels", "right"), ("exact", "right"), ("ranks", "right")]
        # A sparse method may rank high by a mean over its own pixels.
        columns += [("density", "right")]
        rows = [
            [
                *(m.label, show_number(m.old_value), show_number(m.new_value), _ranks(m)),
                show_share(m.new_density),
            ]
            for m in sorted(found.moves, key=lambda m: m.new_rank)
        ]
        print_table(columns, rows, f"{score} against the pipeline's labels and the exact truth")
        click.echo(f"{_verdict(found)}\n")


def _verdict(found: RankMoves) -> str:
    moved = moved_methods(found)
    if not moved:
        return "Labels and exact truth give the same ranking."
    names = ", ".join(f"{move.label} {_ranks(move)}" for move in moved)
    return (
        "Labels and exact truth do not give the same ranking "
        f"(Kendall's tau {found.tau:.3f}): {names}."
    )


def _ranks(move: Move) -> str:
    return f"{move.old_rank} -> {move.new_rank}" if move.places else str(move.old_rank)
