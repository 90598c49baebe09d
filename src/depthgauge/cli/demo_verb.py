"""`depthgauge demo`: the newcomer's first minutes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import in_shell, program_name, progress_bar, say, write_json
from depthgauge.cli._runs import can_go_on, fitting_board, list_failures, run_json

if TYPE_CHECKING:
    from depthgauge.engine.store.record import Run

Step = Callable[[str, int, int], None]
LIGHT_FIELDS = ("backgammon", "dots", "pyramids", "stripes")


def _make_stereo(folder: Path, step: Step) -> None:
    from depthgauge.synth.sets.stereo_scenes import write_scenes

    write_scenes(folder, overwrite=True, progress=step)


def _make_light_fields(folder: Path, step: Step) -> None:
    from depthgauge.synth.sets.stratified import write_scenes

    # A quarter of the benchmark's pixels and a third of its views, so that it takes seconds.
    # Dots keep the widths in px that they have at full size, or most would be unseen.
    write_scenes(
        folder,
        names=LIGHT_FIELDS,
        size_px=256,
        views=5,
        scale=4,
        axes={"diameter": "3:30:10"},
        overwrite=True,
        progress=step,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """One half of the demonstration."""

    what: str
    make: Callable[[Path, Step], None]
    folder: str
    run: str
    benchmark: str
    methods: tuple[str, ...]
    page: str
    title: str
    columns: tuple[str, ...]
    """The few scores that are printed; the first sorts the page."""


PARTS = {
    "stereo": Part(
        "eight stereo scenes",
        _make_stereo,
        "scenes",
        "run",
        "stereo-scenes",
        (
            "sgbm",
            "sgbm-large=sgbm:block_size=11",
            "sgbm-filled=sgbm:mode=3way,fill=background",
            "bm-small=bm:block_size=9",
            "bm-large=bm:block_size=21",
            "constant",
        ),
        "report.html",
        "Bad pixels (error above 2 px or no estimate) on eight scenes",
        (
            "badpix:2@all",
            "badpix:2@thin",
            "foreground_fattening@all",
            "foreground_thinning@all",
            "porosity@all",
            "median_angular_error@planar",
        ),
    ),
    "light-field": Part(
        "four stratified light fields",
        _make_light_fields,
        "light-fields",
        "light-fields-run",
        "stratified",
        (
            "lf-cost-volume",
            "lf-epi",
            "pair=lf-pair",
            "pair-filled=lf-pair:fill=background",
            "constant",
        ),
        "light-fields.html",
        "Bad pixels (error above 0.07 px or no estimate) on four light fields",
        (
            "badpix:0.07@all",
            "badpix:0.07@planar_surfaces",
            "foreground_fattening@all",
            "foreground_thinning@all",
            "porosity:0.15@all",
            "missed_dots:80@all",
        ),
    ),
}


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("depthgauge-demo"),
    show_default=True,
    help="The folder for scenes, runs and reports.",
)
@click.option("--part", type=click.Choice([*PARTS]), help="Only this half.")
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
    scenes of the 4D light-field benchmark, in each of which one challenge grows across the image,
    at a quarter of their size. The reports say which method is best, whether that is more than
    chance, where each of them fails, and how fast it gets worse.
    """
    if booster:
        _show_booster(out, part, workers, json_to)
        return
    chosen = [PARTS[part]] if part else list(PARTS.values())
    steps = (f"{n}/{3 * len(chosen)}" for n in itertools.count(1))
    runs = [_show(each, out, workers, steps, quiet=json_to == "-") for each in chosen]
    if json_to is not None:
        body = run_json(runs[0])
        write_json(json_to, body if len(runs) == 1 else {**body, "light_fields": run_json(runs[1])})
    if json_to != "-":
        _say_what_next(out, chosen[0])
    click.get_current_context().exit(max(list_failures(run) for run in runs))


def _show_booster(out: Path, part: str | None, workers: int | None, json_to: str | None) -> None:
    from depthgauge.cli import _demo_booster

    if part:
        raise click.UsageError("--part chooses a half of the other demonstration; leave it out.")
    quiet = json_to == "-"
    found = _demo_booster.show(out / "booster", workers, _demo_booster.USUAL, quiet=quiet)
    if json_to is not None:
        write_json(json_to, found)


def _show(part: Part, out: Path, workers: int | None, steps: Iterator[str], *, quiet: bool) -> Run:
    """Makes the data, runs the methods, writes the page and prints a small table of it."""
    say(f"{next(steps)} making {part.what} with exact truth ...")
    with progress_bar("scenes") as step:
        part.make(out / part.folder, step)
    compiled = "the first time, kernels are compiled"
    say(f"{next(steps)} running {len(part.methods)} methods ({compiled}) ...")
    from depthgauge.engine.running.run import run

    folder = out / part.run
    with can_go_on(), progress_bar("methods") as step:
        done = run(
            part.benchmark,
            out / part.folder,
            part.methods,
            folder,
            workers=workers,
            progress=step,
        )
    say(f"{next(steps)} writing the report ...")
    table = _write_report(done, part, out / part.page, folder)
    if not quiet:
        click.echo(table)
        click.echo(f"Open {out / part.page} in a browser.\n")
    return done


def _write_report(done: Run, part: Part, path: Path, folder: Path) -> str:
    """Writes the page; returns a small table of it."""
    from depthgauge.report.page.build import build_page
    from depthgauge.report.page.html import write_report

    with progress_bar("report") as step:
        page = build_page(done, main=part.columns[0], with_oracles=True, progress=step)
        write_report(path, page)
    return fitting_board(page.board, part.title, done.protocol, folder, part.columns)


def _say_what_next(out: Path, part: Part) -> None:
    name, data, run = program_name(), in_shell(out / part.folder), in_shell(out / part.run)
    again = f"{name} run {part.benchmark} --data {data}"
    lines = [
        f"{name} report {run} --latex                 the table for your paper",
        f"{name} report {run} --profile surgery       methods by what an application needs",
        f"{again} --out {run} -m my_method.py    your own method",
        f"{again} -m {part.methods[0]} --perturb noise:0,5,10 --out noisy",
        f"{name} list methods",
        f"{name} show foreground_fattening",
    ]
    say("Then try:\n" + "\n".join(f"  {line}" for line in lines))
