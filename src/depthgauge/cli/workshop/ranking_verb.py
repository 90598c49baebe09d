"""`depthgauge ranking`: people rank methods by what they see."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, in_shell, program_name, say, say_address, write_json
from depthgauge.errors import MissingExtra, Misuse

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("ranking")
def command() -> None:
    """A study in which people rank methods by what they see (section 6.2 of Honauer 2019).

    \b
      depthgauge ranking make piano --image im0.png --truth disp0.pfm \\
        --estimate sgm=a.pfm --estimate bm=b.pfm --experiment "general=Sort by appearance."
      depthgauge ranking serve piano
      depthgauge ranking export piano --out answers
      depthgauge study answers/rankings.csv
    """


@command.command("make")
@click.argument("folder", type=FOLDER)
@click.option("--image", type=FILE, required=True, help="The picture that methods saw.")
@click.option("--truth", type=FILE, required=True, help="Its true disparities.")
@click.option(
    "--estimate", "estimates", multiple=True, required=True, help="A method: NAME=FILE; repeatable."
)
@click.option(
    "--experiment", "questions", multiple=True, required=True, help="NAME=QUESTION; repeatable."
)
@click.option("--title", default="", help="Its title.  [default: the folder's name]")
@click.option("--consent", type=FILE, help="A text that people agree to.  [default: a short one]")
@click.option(
    "--repeats",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Tasks that each person gets a second time.",
)
@click.option("--focal-px", type=float, help="With --baseline-m: also draw normals.")
@click.option("--baseline-m", type=float, help="With --focal-px: also draw normals.")
@json_option
def make(
    folder: Path,
    image: Path,
    truth: Path,
    estimates: Sequence[str],
    questions: Sequence[str],
    title: str,
    consent: Path | None,
    repeats: int,
    focal_px: float | None,
    baseline_m: float | None,
    json_to: str | None,
) -> None:
    """Writes a study of one scene: its plan, and the pictures that people see."""
    from depthgauge import io
    from depthgauge.analysis.rank_study.maps import Geometry
    from depthgauge.io.text import read_text
    from depthgauge.report.rank_study import CONSENT, make_rank_study

    if (focal_px is None) != (baseline_m is None):
        raise Misuse("normals need both --focal-px and --baseline-m.")
    geometry = Geometry(focal_px, baseline_m) if focal_px and baseline_m else None
    plan = make_rank_study(
        folder,
        image=io.read_image(image),
        truth=io.read_map(truth, quantity="disparity"),
        estimates={
            name: io.read_map(Path(path), quantity="disparity")
            for name, path in _named("--estimate", estimates).items()
        },
        questions=_named("--experiment", questions),
        title=title or folder.resolve().name,
        scene=folder.resolve().name,
        consent=CONSENT if consent is None else read_text(consent).strip(),
        repeats=repeats,
        geometry=geometry,
    )
    if geometry is None:
        say("No pictures of normals: they need --focal-px and --baseline-m.")
    if json_to is not None:
        write_json(json_to, plan.model_dump(mode="json", by_alias=True))
    if json_to != "-":
        click.echo(
            f"{folder}: {count(len(plan.methods), 'method')}, "
            f"{count(len(plan.experiments), 'experiment')}."
        )
    say(f"Next: {program_name()} ranking serve {in_shell(folder)}")


def _named(option: str, texts: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name.strip() or not value.strip() or name.strip() in named:
            raise Misuse(f"{option} must be NAME=VALUE, each name once; found '{text}'.")
        named[name.strip()] = value.strip()
    return named


@command.command("serve")
@click.argument("folder", type=FOLDER)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8412,
    show_default=True,
    help="The port on this machine; 0 takes any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def serve(folder: Path, port: int, opens: bool) -> None:
    """Opens a study in the browser: people take part on this machine, one after the other.

    Answers are saved at once in FOLDER/answers, one file per person, under a random name.
    """
    try:
        from depthgauge.serve.desk.ranking import make_study_desk
        from depthgauge.serve.desk.running import run_pages
    except ImportError as error:
        raise MissingExtra(
            f"ranking serve needs {error.name}; install it: pip install 'depthgauge[serve]'"
        ) from error

    ready = partial(say_address, opens=opens)
    run_pages(folder, lambda access: make_study_desk(folder, access), port, ready)


@command.command("export")
@click.argument("folder", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="The folder for rankings.csv and the rest.")
@json_option
def export(folder: Path, out: Path, json_to: str | None) -> None:
    """Writes the answers without names, as `depthgauge study` reads them."""
    from depthgauge.serve.desk.ranking import export_study

    answers = export_study(folder, out)
    if json_to is not None:
        write_json(json_to, {"schema": 1, "rankings": len(answers.rankings)})
    if json_to != "-":
        click.echo(f"{out}: {count(len(answers.rankings), 'ranking')}.")
    say(f"Next: {program_name()} study {in_shell(out / 'rankings.csv')} --ranks")
