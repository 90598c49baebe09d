"""`depthgauge demo --booster`: labels made by the pipeline, and whether they rank as the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import count, print_table, progress_bar, say, warn
from depthgauge.cli._runs import can_go_on, run_json

if TYPE_CHECKING:
    from depthgauge.analysis.rank_moves import Move, RankMoves
    from depthgauge.engine.store.record import Run

BENCHMARK = "booster-balanced@train"
METHODS = (
    "sgbm-full=sgbm:fill=background",
    "sgbm-half=sgbm:input_scale=0.5,fill=background",
    "sgbm-quarter=sgbm:input_scale=0.25,fill=background",
    "sgbm-gaps=sgbm",
    "bm",
    "constant",
)
MAIN = "badpix:2@visible"
SHOWN = (MAIN, "mae@visible", "badpix:2@tom")
"""Where both views see the scene: elsewhere the pipeline gives no labels, and the truth does."""


@dataclass(frozen=True, slots=True)
class Demo:
    """How much is made; by default a fiftieth of a real session's pixels, which takes minutes."""

    scenes: tuple[str, ...] = ("kitchen", "bathroom")
    width_px: int = 480
    patterns: int = 10
    illuminations: int = 2
    poses: int = 16
    samples: int = 16
    methods: tuple[str, ...] = METHODS


USUAL = Demo()


def show(out: Path, workers: int | None, demo: Demo, *, quiet: bool) -> dict[str, Any]:
    """Makes sessions, labels them, scores the baselines against labels and exact truth."""
    folders = [out / "sessions" / scene for scene in demo.scenes]
    say(f"1/4 photographing {count(len(folders), 'simulated scene')} with a trinocular rig ...")
    for folder in folders:
        _photograph(folder, demo)
    say("2/4 labelling: calibrate, rectify, match, refine, clean, check, warp, audit ...")
    for folder in folders:
        _label(folder, out)
    methods = count(len(demo.methods), "method")
    say(f"3/4 running {methods} against the labels, and against the exact truth ...")
    labels, exact = (_run(out, name, demo, workers) for name in ("labels", "exact"))
    say("4/4 writing the reports ...")
    moves = {score: _moves(labels, exact, score) for score in SHOWN}
    for run, name in ((labels, "labels"), (exact, "exact")):
        _write_report(run, out / f"{name}.html")
    if not quiet:
        _print(moves)
        click.echo(f"Open {out / 'labels.html'} and {out / 'exact.html'} in a browser,")
        click.echo(f"and {folders[0] / 'work' / 'index.html'} for every step.")
    same = {score: not _moved(found) for score, found in moves.items()}
    runs = {"labels": run_json(labels), "exact": run_json(exact)}
    return {**runs, "same_ranking": same, "sessions": [str(folder) for folder in folders]}


def _photograph(folder: Path, demo: Demo) -> None:
    from depthgauge.synth.sets.capture_session import CaptureOptions, write_capture_session

    options = CaptureOptions(
        scene=folder.name,
        width_px=demo.width_px,
        patterns=demo.patterns,
        illuminations=demo.illuminations,
        poses=demo.poses,
        samples=demo.samples,
    )
    with progress_bar(folder.name) as step:
        made = write_capture_session(folder, options=options, overwrite=True, progress=step)
    for warning in made.warnings:
        warn(warning)


def _label(folder: Path, out: Path) -> None:
    from depthgauge.capture.export import export
    from depthgauge.capture.pipeline import run_steps
    from depthgauge.report.capture.page import draw_step, write_page
    from depthgauge.sessions import open_session

    session, work = open_session(folder), folder / "work"
    with progress_bar(folder.name) as progress:
        for step in run_steps(session, work, progress=progress):
            if step.fresh:
                draw_step(work, step.name)
            for warning in step.warnings:
                warn(f"{folder.name}: {warning}")
    write_page(work, session.name)
    export(session, work, out / "labels", overwrite=True)
    export(session, work, out / "exact", exact=True, overwrite=True)


def _run(out: Path, name: str, demo: Demo, workers: int | None) -> Run:
    from depthgauge.engine.running.run import run

    with can_go_on(), progress_bar(f"against {name}") as step:
        target = out / f"{name}-run"
        return run(BENCHMARK, out / name, demo.methods, target, workers=workers, progress=step)


def _moves(labels: Run, exact: Run, score: str) -> RankMoves:
    from depthgauge.analysis.make_board import make_board
    from depthgauge.analysis.rank_moves import rank_moves

    old, new = (make_board(run, main=score) for run in (labels, exact))
    return rank_moves(old, new, (labels.protocol, exact.protocol))


def _write_report(run: Run, path: Path) -> None:
    from depthgauge.report.page.build import build_page
    from depthgauge.report.page.html import write_report

    with progress_bar("report") as step:
        write_report(path, build_page(run, main=MAIN, progress=step))


def _print(moves: dict[str, RankMoves]) -> None:
    from depthgauge.report.tables.numbers import show_number

    for score, found in moves.items():
        columns = [("method", "left"), ("labels", "right"), ("exact", "right"), ("ranks", "right")]
        rows = [
            [m.label, show_number(m.old_value), show_number(m.new_value), _ranks(m)]
            for m in sorted(found.moves, key=lambda m: m.new_rank)
        ]
        print_table(columns, rows, f"{score} against the pipeline's labels and the exact truth")
        click.echo(f"{_verdict(found)}\n")


def _verdict(found: RankMoves) -> str:
    moved = _moved(found)
    if not moved:
        return "Labels and exact truth give the same ranking."
    names = ", ".join(f"{move.label} {_ranks(move)}" for move in moved)
    return (
        "Labels and exact truth do not give the same ranking "
        f"(Kendall's tau {found.tau:.3f}): {names}."
    )


def _moved(found: RankMoves) -> list[Move]:
    """The methods with another rank, by that of the labels."""
    moved = [move for move in found.moves if move.places]
    return sorted(moved, key=lambda move: (move.old_rank, move.label))


def _ranks(move: Move) -> str:
    return f"{move.old_rank} -> {move.new_rank}" if move.places else str(move.old_rank)
