"""`depthgauge capture`: from a session's photographs to disparity maps with a stated error."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.capture.export import ExportOptions
from depthgauge.capture.registry import STEPS, StepSpec, step_names
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
from depthgauge.cli.capturing.assist import assist_command
from depthgauge.cli.capturing.edit import edit
from depthgauge.cli.capturing.import_photographs import import_command
from depthgauge.cli.capturing.masks import masks
from depthgauge.cli.capturing.tags import tags
from depthgauge.errors import Misuse

if TYPE_CHECKING:
    from depthgauge._options import Options
    from depthgauge._progress import Progress
    from depthgauge.capture.steps import Step

_NAMES = step_names()
FOLDER = click.Path(path_type=Path, file_okay=False)


class _InOrder(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("capture", cls=_InOrder)
def command() -> None:
    """From a rig's photographs to ground truth, step by step.

    A session is a folder with photographs of a board, of a scene, and of the painted scene under
    projected patterns. Each step writes a folder in SESSION/work and is skipped when nothing that
    it depends on has changed.

    \b
      depthgauge make capture-session --out kitchen
      depthgauge capture run kitchen
      depthgauge capture export kitchen --out Booster
    """


def _work_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--work", type=FOLDER, help="Where steps are kept.  [default: SESSION/work]"
    )(function)


def _step_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What `run` and every step have."""
    session = click.argument("session", type=FOLDER)
    again = click.option("--again", is_flag=True, help="Do it even if nothing has changed.")
    return session(_work_option(again(json_option(function))))


@command.command("run")
@_step_options
@click.option("--patterns", type=click.IntRange(min=1), help="Use only this many patterns.")
@click.option(
    "--until",
    type=click.Choice(_NAMES),
    default=_NAMES[-1],
    help="The last step to do.",
)
@click.option("--defaults", is_flag=True, help="Forget the options that steps were given before.")
def _run(
    session: Path,
    work: Path | None,
    again: bool,
    json_to: str | None,
    patterns: int | None,
    until: str,
    defaults: bool,
) -> None:
    """Runs every step in order; those that are done and unchanged are skipped.

    A step keeps the options that it was last given (`capture clean --by-hand FILE`).

    \b
      depthgauge capture run kitchen
      depthgauge capture run kitchen --until clean --again
    """
    from depthgauge.capture.pipeline import run_steps
    from depthgauge.sessions import open_session
    from depthgauge.sessions.tags import has_tag_objects

    opened, place = open_session(session), work or session / "work"
    if has_tag_objects(opened) and not opened.pattern_images("L"):
        raise Misuse(f"{session}: has tagged objects and no patterns; use `capture tags`.")
    options = {"spacetime": {"patterns": patterns}} if patterns else None
    with progress_bar(opened.name) as progress:
        steps = run_steps(
            opened,
            place,
            until=until,
            options=options,
            defaults=defaults,
            progress=progress,
            again=again,
        )
        done = [_show(step, opened.name, progress) for step in steps]
    if json_to is not None:
        write_json(json_to, {"steps": done})
    if json_to == "-":
        return
    fresh = [step["step"] for step in done if step["fresh"]]
    click.echo(f"{session}: {count(len(done), 'step')} done, {len(fresh)} of them now.")
    say(f"Look at {place / 'index.html'}.")
    if until == _NAMES[-1] and any((session / "passive" / "L").glob("*")):
        say(f"Next: {program_name()} capture export {in_shell(session)} --out Booster")


def _step_command(spec: StepSpec) -> click.Command:
    """The command of one step."""

    @click.command(spec.name, help=f"{spec.line}\n\n{cleandoc(spec.about)}")
    @_step_options
    @options_of(spec.options)
    def do(
        session: Path, work: Path | None, again: bool, json_to: str | None, options: Options
    ) -> None:
        from depthgauge.report.capture.page import figure_rows
        from depthgauge.sessions import open_session

        opened, place = open_session(session), work or session / "work"
        with progress_bar(spec.name) as progress:
            run = STEPS[spec.name].run
            step = run(opened, place, options=options, progress=progress, again=again)
            body = _show(step, opened.name, progress)
        if json_to is not None:
            write_json(json_to, body)
        if json_to != "-":
            done = "done" if step.fresh else "nothing has changed; it was done before"
            columns = [("figure", "left"), ("value", "left")]
            rows = [list(row) for row in figure_rows(step.figures)]
            print_table(columns, rows, f"{spec.name}: {done}")
            drawn = f"Picture: {body['picture']}. " if body["picture"] else ""
            say(f"{drawn}Page of all steps: {place / 'index.html'}.")

    return do


def _show(step: Step, title: str, progress: Progress) -> dict[str, Any]:
    """Draws a step if that is not done yet, updates the page, and prints warnings."""
    from depthgauge.report.capture.page import draw_step, write_page

    work = step.folder.parent
    progress(f"drawing {step.name}", 0, 1)
    picture = draw_step(work, step.name, again=step.fresh)
    write_page(work, title)
    for text in step.warnings:
        warn(f"{step.name}: {text}")
    return {
        "step": step.name,
        "folder": str(step.folder),
        "fresh": step.fresh,
        "figures": dict(step.figures),
        "warnings": list(step.warnings),
        "picture": None if picture is None else str(picture),
    }


@click.command("export")
@click.argument("session", type=FOLDER)
@_work_option
@click.option("--out", type=FOLDER, required=True, help="The dataset's folder.")
@options_of(ExportOptions)
@json_option
def _export(
    session: Path, work: Path | None, out: Path, options: ExportOptions, json_to: str | None
) -> None:
    """Writes the scene in Booster's layout, balanced and unbalanced: all of it, or nothing.

    \b
      depthgauge capture export kitchen --out Booster
      depthgauge run booster-balanced@train --data Booster -m sgbm --out runs/kitchen
    """
    from depthgauge.capture.export import export
    from depthgauge.sessions import open_session

    made = export(open_session(session), work or session / "work", out, options=options)
    for text in made.warnings:
        warn(text)
    if json_to is not None:
        body = {"scene": made.scene, "setups": list(made.setups), "images": made.images}
        write_json(json_to, {**body, "folder": str(out), "warnings": list(made.warnings)})
    if json_to != "-":
        images = count(made.images, "image")
        click.echo(f"{out}: scene {made.scene}, {' and '.join(made.setups)}, {images} each.")


@click.command("split")
@click.argument("root", type=FOLDER)
@click.option("--from", "source", default="train", show_default=True, help="The split to divide.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the distributions, PNG.")
@click.option("--out", type=FOLDER, help="Write a dataset with these splits here.")
@click.option(
    "--with-truth", type=FOLDER, help="With --out: write the test splits with their truth here."
)
@click.option("--overwrite", is_flag=True, help="With --out: replace existing scenes.")
@json_option
def _split(
    root: Path,
    source: str,
    seed: int,
    picture: Path | None,
    out: Path | None,
    with_truth: Path | None,
    overwrite: bool,
    json_to: str | None,
) -> None:
    """Divides scenes into splits with similar materials and disparities.

    Prints the names, and how much the splits differ. `--out` writes a dataset in which every scene
    is in its split; its test splits have no truth, which `--with-truth` writes elsewhere. ROOT
    itself is never changed. The sizes are in Booster's proportions. For splits that a dataset
    already has, see `capture distributions`.

    \b
      depthgauge capture split Scenes --out Booster --with-truth Booster-hidden
    """
    from depthgauge.capture.divide import write_splits
    from depthgauge.capture.splits import assign_splits, count_dataset

    if out is None and (with_truth is not None or overwrite):
        raise click.UsageError("--with-truth and --overwrite need --out.")

    scenes = count_dataset(root, source)
    found = assign_splits(scenes, seed=seed)
    if picture is not None:
        from depthgauge.report.capture.distributions import draw

        draw(found.counts(scenes), picture)
    if out is not None:
        with progress_bar("splits") as progress:
            write_splits(
                *(root, found, out),
                source=source,
                with_truth=with_truth,
                overwrite=overwrite,
                progress=progress,
            )
    if json_to is not None:
        write_json(json_to, {**found.to_json(), "folder": None if out is None else str(out)})
    if json_to != "-":
        for name, names in found.scenes.items():
            click.echo(f"{name}: {', '.join(names)}")
        apart = (f"{100 * share:.1f} % in {kind}" for kind, share in found.distances.items())
        click.echo(f"Two splits differ by at most {' and '.join(apart)}.")
        if out is not None:
            click.echo(f"{out}: {count(len(scenes), 'scene')} written into their splits.")


@click.command("distributions")
@click.argument("root", type=FOLDER)
@click.option(
    "--picture", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The PNG."
)
@json_option
def _distributions(root: Path, picture: Path, json_to: str | None) -> None:
    """Draws disparities and materials of a dataset, split by split.

    These are figures 7 and 8 of the paper. The dataset is in Booster's layout; missing splits are
    left out.

    \b
      depthgauge capture distributions Booster --picture distributions.png
    """
    from depthgauge.capture.splits import count_splits
    from depthgauge.report.capture.distributions import draw

    drawn = draw(count_splits(root), picture)
    if json_to is not None:
        write_json(json_to, {"folder": str(root), "picture": str(drawn)})
    if json_to != "-":
        click.echo(f"{drawn}: written.")


for _command in (
    import_command,
    assist_command,
    _export,
    _split,
    _distributions,
    tags,
    edit,
    masks,
):
    command.add_command(_command)
for _name in _NAMES:
    command.add_command(_step_command(STEPS[_name].spec))
