"""`depthgauge demo --booster`: labels made by the pipeline, and whether they rank as the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import print_table, progress_bar, say, warn
from depthgauge.cli._runs import can_go_on, run_json

if TYPE_CHECKING:
    from depthgauge.analysis.rank_moves import RankMoves
    from depthgauge.engine.record import Run

SCENES = ("kitchen", "bathroom")
WIDTH_PX, PATTERNS, ILLUMINATIONS, POSES, SAMPLES = 480, 10, 2, 16, 16
"""A fiftieth of a real session's pixels, so that it takes minutes."""
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


def show(out: Path, workers: int | None, *, quiet: bool) -> dict[str, Any]:
    """Makes sessions, labels them, scores the baselines against labels and exact truth."""
    say(f"1/4 photographing {len(SCENES)} simulated scenes with a trinocular rig ...")
    for scene in SCENES:
        _photograph(out / "sessions" / scene, scene)
    say("2/4 labelling them: calibrate, rectify, match, refine, clean, check, warp, audit ...")
    for scene in SCENES:
        _label(out / "sessions" / scene, out)
    say(f"3/4 running {len(METHODS)} methods against the labels, and against the exact truth ...")
    labels, exact = (_run(out, name, workers) for name in ("labels", "exact"))
    say("4/4 writing the reports ...")
    moves = {score: _moves(labels, exact, score) for score in SHOWN}
    for run, name in ((labels, "labels"), (exact, "exact")):
        _write_report(run, out / f"{name}.html")
    if not quiet:
        _print(moves)
        click.echo(f"Open {out / 'labels.html'} and {out / 'exact.html'} in a browser,")
        click.echo(f"and {out / 'sessions' / SCENES[0] / 'work' / 'index.html'} for every step.")
    same = {score: found.tau == 1.0 for score, found in moves.items()}
    runs = {"labels": run_json(labels), "exact": run_json(exact)}
    return {**runs, "same_ranking": same, "sessions": [str(out / "sessions" / s) for s in SCENES]}


def _photograph(folder: Path, scene: str) -> None:
    from depthgauge.synth.capture_session import CaptureOptions, write_capture_session

    options = CaptureOptions(
        scene=scene,
        width_px=WIDTH_PX,
        patterns=PATTERNS,
        illuminations=ILLUMINATIONS,
        poses=POSES,
        samples=SAMPLES,
    )
    with progress_bar(scene) as step:
        made = write_capture_session(folder, options, overwrite=True, progress=step)
    for warning in made.warnings:
        warn(warning)


def _label(folder: Path, out: Path) -> None:
    from depthgauge.capture.export import export
    from depthgauge.capture.pipeline import label
    from depthgauge.report.capture.page import draw_step, write_page
    from depthgauge.sessions import open_session

    session, work = open_session(folder), folder / "work"
    with progress_bar(folder.name) as progress:
        for step in label(session, work, progress=progress):
            if step.fresh:
                draw_step(work, step.name)
            for warning in step.warnings:
                warn(f"{folder.name}: {warning}")
    write_page(work, session.name)
    export(session, work, out / "labels", overwrite=True)
    export(session, work, out / "exact", exact=True, overwrite=True)


def _run(out: Path, name: str, workers: int | None) -> Run:
    from depthgauge.engine.run import run

    with can_go_on(), progress_bar(f"against {name}") as step:
        return run(
            BENCHMARK, out / name, METHODS, out / f"{name}-run", workers=workers, progress=step
        )


def _moves(labels: Run, exact: Run, score: str) -> RankMoves:
    from depthgauge.analysis.make_board import make_board
    from depthgauge.analysis.rank_moves import rank_moves

    old, new = (make_board(run, main=score) for run in (labels, exact))
    return rank_moves(old, new, (labels.protocol, exact.protocol))


def _write_report(run: Run, path: Path) -> None:
    from depthgauge.report.build import build_page
    from depthgauge.report.html import write_report

    with progress_bar("report") as step:
        write_report(path, build_page(run, main=MAIN, progress=step))


def _print(moves: dict[str, RankMoves]) -> None:
    from depthgauge.report.tables import show_number

    for score, found in moves.items():
        columns = [("method", "left"), ("labels", "right"), ("exact", "right"), ("ranks", "right")]
        rows = [
            [m.label, show_number(m.old_value), show_number(m.new_value), _ranks(m)]
            for m in sorted(found.moves, key=lambda m: m.new_rank)
        ]
        print_table(columns, rows, f"{score} against the pipeline's labels and the exact truth")
        same = found.tau == 1.0
        said = "the same ranking" if same else f"rankings with Kendall's tau {found.tau:.3f}"
        click.echo(f"Labels and exact truth give {said}.\n")


def _ranks(move: Any) -> str:
    same = move.old_rank == move.new_rank
    return str(move.old_rank) if same else f"{move.old_rank} -> {move.new_rank}"
