"""`depthgauge annotate agreement`, `statistics`, `votes`: how good annotations are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._options import OptionsCommand, json_option, options_of
from depthgauge.cli._output import count, one_line, print_table, progress_bar, say, warn, write_json
from depthgauge.errors import Misuse

if TYPE_CHECKING:
    from depthgauge.annotate.options import AgreementOptions, StatisticsOptions, VoteOptions

PLACE = click.Path(path_type=Path)
_OPTIONS = "depthgauge.annotate.options"


@click.command(
    "agreement", cls=OptionsCommand, short_help="people against each other, a sensor and methods"
)
@click.argument("study", type=PLACE)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME=DIR",
    help="Depth estimates to compare with the sensor; may be repeated.",
)
@options_of(f"{_OPTIONS}:AgreementOptions")
@click.option("--out", type=PLACE, metavar="PAGE", help="Also write a page with figures, HTML.")
@json_option
def agreement(
    study: Path,
    methods: tuple[str, ...],
    options: AgreementOptions,
    out: Path | None,
    json_to: str | None,
) -> None:
    """Compares people with each other and with a sensor, and methods with the sensor.

    STUDY has records/PERSON/PICTURE.jsonl and, if there was a sensor, sensor/depth/PICTURE.npy in
    metres. EDist is the mean distance of corresponding points after one cloud is aligned to the
    other; WKDR is the share of point pairs in another order. The table has means over all
    pairs, with standard errors.

    \b
      depthgauge annotate agreement study
      depthgauge annotate agreement study --method net=estimates/net --out agreement.html
    """
    from depthgauge.annotate.quality.studies import compare_study
    from depthgauge.report.annotate.agreement_page import (
        agreement_rows,
        sensor_depth,
        write_agreement_page,
    )

    with progress_bar("comparing") as step:
        table = compare_study(study, _named(methods), options=options, notes=warn, progress=step)
    if out is not None:
        write_agreement_page(out, table, f"Agreement: {study.name}")
    if json_to is not None:
        write_json(json_to, table.to_json())
    if json_to != "-":
        print_table(*agreement_rows(table))
        if said := sensor_depth(table):
            click.echo(said)
        if out is not None:
            say(f"Look at {out}.")


def _named(methods: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in methods:
        name, sign, folder = text.partition("=")
        if not (name and sign and folder):
            raise Misuse(f"--method {text}: write NAME=DIR, such as net=estimates/net.")
        found[name] = Path(folder)
    return found


@click.command(
    "statistics", cls=OptionsCommand, short_help="what is in a folder of records or a dataset"
)
@click.argument("place", type=PLACE)
@click.option("--out", type=PLACE, metavar="PAGE", help="Write a page with all figures, HTML.")
@options_of(f"{_OPTIONS}:StatisticsOptions")
@json_option
def statistics(
    place: Path, out: Path | None, options: StatisticsOptions, json_to: str | None
) -> None:
    """Counts what is in a folder of records, or in a dataset.

    It counts focal lengths, directions of surfaces, regions with occlusions and folds, planar and
    curved surfaces, surfaces per region, time and strokes per image, and sources.

    \b
      depthgauge annotate statistics study --out statistics/index.html
      depthgauge annotate statistics OASIS --dataset oasis --split val --json
    """
    from depthgauge.annotate.quality.statistics import count_annotations
    from depthgauge.report.annotate.statistics_page import (
        COLUMNS,
        statistics_rows,
        write_statistics_page,
    )

    with progress_bar("counting") as step:
        found = count_annotations(place, options=options, notes=warn, progress=step)
    if out is not None:
        write_statistics_page(out, found, f"Annotations: {place.name}")
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        print_table(COLUMNS, statistics_rows(found))
        if out is not None:
            say(f"Look at {out}.")


@click.command("votes", cls=OptionsCommand, short_help="which annotations were accepted")
@click.argument("file", type=PLACE)
@options_of(f"{_OPTIONS}:VoteOptions")
@json_option
def votes(file: Path, options: VoteOptions, json_to: str | None) -> None:
    """Shows which annotations were accepted by those who looked at them.

    FILE has one vote per line: {"schema": 1, "annotation": "anna/beach", "who": "ben", "good":
    true}. Everyone has one vote per annotation, and the last one counts; ties are pending.

    \b
      depthgauge annotate votes votes.jsonl --needed 3
    """
    from depthgauge.annotate.records.votes import count_votes

    found = count_votes(file, options=options)
    for note in found.notes:
        warn(note)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        columns = [("annotation", "left"), ("good", "right"), ("bad", "right"), ("status", "left")]
        tallies = found.tallies.values()
        rows = [
            [one_line(one.annotation), str(one.good), str(one.bad), one.status] for one in tallies
        ]
        print_table(columns, rows)
        done = sum(one.status == "accepted" for one in tallies)
        click.echo(f"{count(len(tallies), 'annotation')}, {done} accepted")


COMMANDS = (agreement, statistics, votes)
