"""`depthgauge capture tags`: correspondences through glass from photographs of tagged objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.capture.tags.session import TagOptions
from depthgauge.cli._options import json_option, options_of
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
from depthgauge.errors import BadData

if TYPE_CHECKING:
    from depthgauge.capture.tags import DoneObject, TagRun

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("tags")
@click.argument("session", type=_FOLDER)
@click.option("--work", type=_FOLDER, help="Where steps are kept.  [default: SESSION/work]")
@click.option("--object", "names", multiple=True, help="Only this object; may be repeated.")
@click.option("--out", type=_FOLDER, help="Write a dataset in LayeredFlow's layout here.")
@click.option(
    "--split",
    type=click.Choice(["val", "test"]),
    default="val",
    help="The split of the dataset; test is written without its truth.",
)
@click.option(
    "--with-truth", type=_FOLDER, help="For split test: write the scenes with their truth here."
)
@click.option("--overwrite", is_flag=True, help="Replace scenes of the dataset.")
@click.option("--again", is_flag=True, help="Do it even if nothing has changed.")
@options_of(TagOptions)
@json_option
def tags(
    session: Path,
    work: Path | None,
    names: Sequence[str],
    out: Path | None,
    split: str,
    with_truth: Path | None,
    overwrite: bool,
    again: bool,
    options: TagOptions,
    json_to: str | None,
) -> None:
    """Finds correspondences through glass in photographs of objects with AprilTags.

    Calibrates and rectifies if that is not done yet, finds the tags of every object, matches their
    corners between cameras and times, and checks that nothing moved while tags were put on or
    taken off. An object with bad input is named and left out.

    \b
      depthgauge capture tags cabinet
      depthgauge capture tags cabinet --out LayeredFlow
      depthgauge run layeredflow-multi --data LayeredFlow -m dis --out runs/cabinet
    """
    from depthgauge.capture.tags import capture_tags, export_tags
    from depthgauge.report.capture.tags_page import draw_objects, write_tags_page
    from depthgauge.sessions import open_session

    opened, place = open_session(session), work or session / "work"
    with progress_bar(opened.name) as progress:
        run = capture_tags(
            opened, place, options=options, names=tuple(names), progress=progress, again=again
        )
        progress("drawing", 0, 1)
        draw_objects(run)
        page = write_tags_page(run, opened.name)
    _warn(run)
    body: dict[str, Any] = {
        "objects": {one.name: _body(one) for one in run.objects},
        "failed": dict(run.failed),
        "warnings": list(run.warnings),
        "page": str(page),
    }
    if out is not None and run.objects:
        done = [one.name for one in run.objects]
        made = export_tags(
            place, done, out, split=split, with_truth=with_truth, overwrite=overwrite
        )
        for why in made.failed.values():
            warn(why)
        body["exported"] = {"folder": str(out), "scenes": list(made.scenes)}
    if json_to is not None:
        write_json(json_to, body)
    if not run.objects:
        raise BadData(f"{session}: no object could be used; the warnings say why.")
    if json_to != "-":
        _print(run, page)
        _say_next(session, out, body)


def _warn(run: TagRun) -> None:
    for text in (*run.warnings, *run.failed.values()):
        warn(text)
    for one in run.objects:
        for text in one.step.warnings:
            warn(text)


def _body(one: DoneObject) -> dict[str, Any]:
    return {
        "folder": str(one.step.folder),
        "fresh": one.step.fresh,
        "figures": dict(one.step.figures),
        "warnings": list(one.step.warnings),
        "truth": one.truth,
    }


def _print(run: TagRun, page: Path) -> None:
    rows = []
    for one in run.objects:
        figures = one.step.figures
        counts = [str(n) for n in figures["correspondences"].values()]
        mean = figures["rows"]["mean_px"]
        row_px = "-" if mean is None else f"{mean:.3f}"
        rows.append([one.name, str(figures["tags"]), *counts, row_px])
    columns = [("object", "left"), ("tags", "right")]
    columns += [(name, "right") for name in run.objects[0].step.figures["correspondences"]]
    columns.append(("rows, px", "right"))
    print_table(columns, rows, "Corners in both pictures of a pair")
    say(f"Page: {page}.")


def _say_next(session: Path, out: Path | None, body: dict[str, Any]) -> None:
    if out is None:
        say(f"Next: {program_name()} capture tags {in_shell(session)} --out LayeredFlow")
    else:
        scenes = count(len(body["exported"]["scenes"]), "scene")
        click.echo(f"{out}: {scenes} written.")
