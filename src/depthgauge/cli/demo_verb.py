"""`depthgauge demo`: the newcomer's first minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import in_shell, program_name, progress_bar, say, write_json
from depthgauge.cli._runs import can_go_on, fitting_board, list_failures, run_json

if TYPE_CHECKING:
    from depthgauge.engine.record import Run

METHODS = (
    "sgbm",
    "sgbm-large=sgbm:block_size=11",
    "sgbm-filled=sgbm:mode=3way,fill=background",
    "bm-small=bm:block_size=9",
    "bm-large=bm:block_size=21",
    "constant",
)
_COLUMNS = ("badpix:2@all", "badpix:2@visible", "badpix:2@thin", "badpix:2@plain", "mae@visible")


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("depthgauge-demo"),
    show_default=True,
    help="The folder for scenes, run and report.",
)
@click.option("--workers", type=click.IntRange(min=0), help="Worker processes.")
@json_option
def command(out: Path, workers: int | None, json_to: str | None) -> None:
    """Makes eight stereo scenes with exact truth, runs the baselines, and writes a report.

    The scenes have slanted and curved surfaces, boxes, thin bars, walls without texture and
    occlusions. OpenCV's matchers run on them with a few settings each; the report says which is
    best, whether that is more than chance, and where each of them fails.
    """
    say("1/3 making eight stereo scenes with exact truth ...")
    from depthgauge.synth.stereo_scenes import write_scenes

    with progress_bar("scenes") as step:
        write_scenes(out / "scenes", overwrite=True, progress=step)
    say(f"2/3 running {len(METHODS)} methods (the first time, kernels are compiled) ...")
    from depthgauge.engine.run import run

    with can_go_on(), progress_bar("methods") as step:
        done = run(
            "stereo-scenes",
            out / "scenes",
            METHODS,
            out / "run",
            workers=workers,
            progress=step,
        )
    say("3/3 writing the report ...")
    page = _write_report(done, out / "report.html")
    if json_to is not None:
        write_json(json_to, run_json(done))
    if json_to != "-":
        click.echo(page)
        click.echo(f"Open {out / 'report.html'} in a browser.")
        _say_what_next(out)
    click.get_current_context().exit(list_failures(done))


def _write_report(done: Run, path: Path) -> str:
    """Writes the page; returns a small table of it."""
    from depthgauge.report.build import build_page
    from depthgauge.report.html import write_report

    with progress_bar("report") as step:
        page = build_page(done, main=_COLUMNS[0], with_oracles=True, progress=step)
        write_report(path, page)
    title = "Bad pixels (error above 2 px or no estimate) on eight scenes"
    return fitting_board(page.board, title, done.protocol, path.parent / "run", _COLUMNS)


def _say_what_next(out: Path) -> None:
    name, scenes, run = program_name(), in_shell(out / "scenes"), in_shell(out / "run")
    estimate = in_shell(out / "run/estimates/sgbm/fence/disparity.npy")
    truth = in_shell(out / "scenes/fence/truth/disparity.npy")
    say(
        "Then try:\n"
        f"  {name} report {run} --latex                 the table for your paper\n"
        f"  {name} run stereo-scenes --data {scenes} --out {run} \\\n"
        f"    -m 'mine=command:python my_method.py {{left}} {{right}} {{out}}'    your own method\n"
        f"  {name} score --estimate {estimate} \\\n"
        f"    --truth {truth}    two maps\n"
        f"  {name} list methods\n"
        f"  {name} show badpix"
    )
