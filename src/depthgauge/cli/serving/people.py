"""`depthgauge serve photographs`, `quiz` and `study`: work for people on a site."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import count, say
from depthgauge.cli.serving._options import (
    FOLDER,
    answer,
    json_option,
    open_the_site,
    public_url_option,
    site_option,
)
from depthgauge.errors import Misuse


@click.command("photographs")
@click.argument("batch")
@click.argument("photographs", type=FOLDER)
@site_option
@click.option("--people", type=click.IntRange(1, 20), default=2, show_default=True)
@click.option("--title", default="", help="What members read.  [default: the name]")
@click.option("--quiz", default="", help="The quiz that people must have passed: see `serve quiz`.")
@json_option
def photographs_command(
    batch: str,
    photographs: Path,
    folder: Path,
    database: str,
    people: int,
    title: str,
    quiz: str,
    as_json: bool,
) -> None:
    """Opens the folder PHOTOGRAPHS as BATCH for members to draw on: PEOPLE on each.

    \b
      depthgauge serve photographs street photographs --site site --people 2

    The site keeps a copy. What is drawn is in SITE/web/annotation/BATCH, a study that the commands
    of `annotate` read.
    """
    site = open_the_site(folder, database)
    from depthgauge.serve.annotating.batches import add_batch

    made = add_batch(site, batch, photographs, people=people, title=title, quiz=quiz)
    pictures = len(made.pictures)
    text = f"{batch}: {count(pictures, 'photograph')}, {people} people each; see /annotate/{batch}."
    answer(as_json, text, batch=batch, photographs=pictures, people=people)


@click.command("quiz")
@click.argument("batch")
@site_option
@click.option("--questions", type=click.IntRange(1, 20), default=3, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=101, show_default=True)
@json_option
def quiz_command(
    batch: str, folder: Path, database: str, questions: int, seed: int, as_json: bool
) -> None:
    """Makes a course and a quiz, BATCH, on synthetic scenes with exact geometry.

    \b
      depthgauge serve quiz quiz --site site
      depthgauge serve photographs street photographs --site site --quiz quiz
    """
    site = open_the_site(folder, database)
    from depthgauge.serve.annotating.quizzes import add_quiz

    made = add_quiz(site, batch, questions=questions, seed=seed)
    text = f"{batch}: {count(questions, 'question')} and an example; see /annotate/{batch}/course."
    answer(as_json, text, batch=made.id, questions=questions)


@click.command("study")
@click.argument("study")
@click.argument("made", type=FOLDER, required=False)
@site_option
@click.option(
    "--most-people",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="How many may take part.",
)
@click.option("--close", "change", flag_value="close", help="Nobody can begin or answer any more.")
@click.option("--reopen", "change", flag_value="open", help="Open it again.")
@click.option("--new-link", "change", flag_value="new-link", help="The old link becomes invalid.")
@public_url_option
@json_option
def study_command(
    study: str,
    made: Path | None,
    folder: Path,
    database: str,
    most_people: int,
    change: str | None,
    public_url: str,
    as_json: bool,
) -> None:
    """Opens MADE, which `depthgauge ranking make` wrote, as STUDY, and prints its link.

    \b
      depthgauge ranking make piano --image im0.png --truth disp0.pfm ...
      depthgauge serve study piano piano --site site --public-url https://depth.example.org
      depthgauge ranking export site/web/studies/piano --out answers

    Anyone with the link can take part, without an account. The site keeps a copy with the pictures:
    people see the truth of the scene, so it must not be one whose truth is hidden.
    """
    if (made is None) == (change is None):
        raise Misuse("give the folder that `ranking make` wrote, or one of the changes.")
    site = open_the_site(folder, database)
    from depthgauge.serve.storage.database import audit
    from depthgauge.serve.studies import add_study, find_study, renew_link, set_open
    from depthgauge.serve.web.settings import WebSettings

    if made is not None:
        found = add_study(site, study, made, most_people)
    elif change == "new-link":
        found = renew_link(find_study(site, study))
    else:
        found = set_open(find_study(site, study), change == "open")
    with site.connected() as tables, tables.begin() as session:
        audit(session, f"study: {change or 'added'}", study)
    link = WebSettings(public_url).link(found.path)
    state = "open" if found.is_open else "closed"
    if made is not None:
        say("People see the picture, the truth and the estimates of its scene.")
    text = link if found.is_open else f"{study}: closed; see /admin/studies/{study}."
    answer(as_json, text, study=study, link=link, state=state, most_people=found.most_people)
