"""`depthgauge capture run`, `export`, `split` and `distributions`: all steps, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from depthgauge.capture.steps import STEPS
from depthgauge.cli._capture_steps import FOLDER, do_all, step_options, work_option
from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, in_shell, program_name, say, warn, write_json


@click.command("run")
@step_options
@click.option("--patterns", type=click.IntRange(min=1), help="Use only the first so many.")
@click.option("--until", type=click.Choice(STEPS), default="audit", help="The last step to do.")
@click.option("--defaults", is_flag=True, help="Forget what single steps were told.")
def run(
    session: Path,
    work: Path | None,
    again: bool,
    json_to: str | None,
    patterns: int | None,
    until: str,
    defaults: bool,
) -> None:
    """Every step in order; those that are done and unchanged are skipped.

    What a step was told when it was last done alone (`capture clean --by-hand FILE`) still holds.

    \b
      depthgauge capture run kitchen
      depthgauge capture run kitchen --until clean --again
    """
    from depthgauge.capture.step_options import remembered

    options = {} if defaults else remembered(work or session / "work")
    if patterns:
        options["spacetime"] = {**options.get("spacetime", {}), "patterns": patterns}
    done = do_all(session, work, until=until, options=options, again=again)
    if json_to is not None:
        write_json(json_to, {"steps": done})
    if json_to == "-":
        return
    fresh = [step["step"] for step in done if step["fresh"]]
    click.echo(f"{session}: {count(len(done), 'step')} done, {len(fresh)} of them now.")
    say(f"Look at {(work or session / 'work') / 'index.html'}.")
    if until == STEPS[-1] and any((session / "passive" / "L").glob("*")):
        say(f"Next: {program_name()} capture export {in_shell(session)} --out Booster")


@click.command("export")
@click.argument("session", type=FOLDER)
@work_option
@click.option("--out", type=FOLDER, required=True, help="The dataset's folder.")
@click.option("--scene", help="The scene's name.  [default: the session's]")
@click.option(
    "--split",
    type=click.Choice(["train", "test-stereo", "test-mono", "unlabelled"]),
    default="train",
    show_default=True,
    help="Without labels it needs step rectify alone.",
)
@click.option(
    "--exact", is_flag=True, help="Of a simulated session: its exact truth, not the labels."
)
@click.option("--overwrite", is_flag=True, help="Replace a scene of that name.")
@json_option
def export(session: Path, work: Path | None, json_to: str | None, **given: Any) -> None:
    """Writes the scene in Booster's layout, balanced and unbalanced: all of it, or nothing.

    \b
      depthgauge capture export kitchen --out Booster
      depthgauge run booster-balanced@train --data Booster -m sgbm --out runs/kitchen
    """
    from depthgauge.capture.export import export as write
    from depthgauge.sessions import open_session

    out = given["out"]
    made = write(open_session(session), work or session / "work", **given)
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
@click.option(
    "--from", "source", default="train", show_default=True, help="The split to share out."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the distributions, PNG.")
@json_option
def split(root: Path, source: str, seed: int, picture: Path | None, json_to: str | None) -> None:
    """Shares scenes out to splits alike in materials and disparities.

    Nothing is moved: the names are printed, and by how much the splits differ. The sizes are in
    Booster's proportions. For the splits that a dataset has already, see `capture distributions`.
    """
    from depthgauge.capture.splits import assign_splits, count_dataset

    scenes = count_dataset(root, source)
    found = assign_splits(scenes, seed=seed)
    if picture is not None:
        from depthgauge.report.capture.distributions import draw

        counts = {scene.name: scene for scene in scenes}
        draw({name: [counts[s] for s in of] for name, of in found.scenes.items()}, picture)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        for name, names in found.scenes.items():
            click.echo(f"{name}: {', '.join(names)}")
        apart = (f"{100 * share:.1f} % in {kind}" for kind, share in found.distances.items())
        click.echo(f"Two splits differ by at most {' and '.join(apart)}.")


@click.command("distributions")
@click.argument("root", type=FOLDER)
@click.option(
    "--picture", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The PNG."
)
@json_option
def distributions(root: Path, picture: Path, json_to: str | None) -> None:
    """Draws disparities and materials of a dataset, split by split.

    Of a dataset in Booster's layout, with the splits that are in it: figures 7 and 8 of the paper.

    \b
      depthgauge capture distributions Booster --picture distributions.png
    """
    from depthgauge.report.capture.distributions import picture_of_dataset

    drawn = picture_of_dataset(root, picture)
    if json_to is not None:
        write_json(json_to, {"folder": str(root), "picture": str(drawn)})
    if json_to != "-":
        click.echo(f"{drawn}: written.")


COMMANDS = (run, export, split, distributions)
