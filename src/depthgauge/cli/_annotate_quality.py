"""`depthgauge annotate agreement`, `statistics`, `votes`: how good annotations are."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, one_line, print_table, progress_bar, say, warn, write_json
from depthgauge.errors import Misuse

PLACE = click.Path(path_type=Path)


@click.command("agreement", short_help="people against each other, a sensor and methods")
@click.argument("study", type=PLACE)
@click.option(
    "--sensor", type=PLACE, help="Folder with depth/PICTURE.npy.  [default: STUDY/sensor]"
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME=DIR",
    help="Depth estimates to compare with the sensor; may be repeated.",
)
@click.option("--size", type=click.IntRange(min=32), default=320, show_default=True,
              help="Longer side of the pictures that are compared; larger is slower.")  # fmt: skip
@click.option("--no-rotation", is_flag=True, help="Leave out the search for the best rotation.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=PLACE, metavar="PAGE", help="Also write a page with figures, HTML.")
@json_option
def agreement(
    study: Path,
    sensor: Path | None,
    methods: tuple[str, ...],
    size: int,
    no_rotation: bool,
    seed: int,
    out: Path | None,
    json_to: str | None,
) -> None:
    """Compares people with each other and with a sensor, and methods with the sensor.

    STUDY has records/PERSON/PICTURE.jsonl, and sensor/depth/PICTURE.npy in metres where there is
    one. EDist is the mean distance of corresponding points after one cloud is brought to the other;
    WKDR the share of point pairs in another order. Means over all pairs, with standard errors.

    \b
      depthgauge annotate agreement study
      depthgauge annotate agreement study --method net=estimates/net --out agreement.html
    """
    from depthgauge.annotate.quality.agreement import agreement as compare_all
    from depthgauge.annotate.quality.studies import Study
    from depthgauge.report.annotate.agreement_page import (
        agreement_rows,
        sensor_depth,
        write_agreement_page,
    )

    with progress_bar("comparing") as step:
        found = Study(study, sensor=sensor, methods=_named(methods), max_side_px=size, notes=warn)
        table = compare_all(found, rotate=not no_rotation, seed=seed, progress=step)
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


@click.command("statistics", short_help="what is in a folder of records or a dataset")
@click.argument("place", type=PLACE)
@click.option("--out", type=PLACE, metavar="PAGE", help="Write a page with all figures, HTML.")
@click.option("--dataset", help="PLACE is a dataset of this kind, such as oasis; else records.")
@click.option("--split", default="all", show_default=True, help="Of the dataset.")
@json_option
def statistics(
    place: Path, out: Path | None, dataset: str | None, split: str, json_to: str | None
) -> None:
    """Counts what is in a folder of records, or in a dataset.

    Focal lengths, directions of surfaces, regions with occlusions and folds, planar and curved
    surfaces, surfaces in a region, time and strokes for an image, sources.

    \b
      depthgauge annotate statistics study --out statistics/index.html
      depthgauge annotate statistics OASIS --dataset oasis --split val --json
    """
    from depthgauge.annotate.quality._count import facts_of_dataset, facts_of_records
    from depthgauge.annotate.quality.statistics import statistics as add_up

    with progress_bar("counting") as step:
        if dataset is None:
            facts = facts_of_records([place], notes=warn, progress=step)
        else:
            facts = facts_of_dataset(place, dataset, split, notes=warn, progress=step)
        found = add_up(facts)
    if out is not None:
        from depthgauge.report.annotate.statistics_page import write_statistics_page

        write_statistics_page(out, found, f"Annotations: {place.name}")
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        from depthgauge.report.annotate.statistics_page import COLUMNS, statistics_rows

        print_table(COLUMNS, statistics_rows(found))
        if out is not None:
            say(f"Look at {out}.")


@click.command("votes", short_help="which annotations were accepted")
@click.argument("file", type=PLACE)
@click.option("--needed", type=click.IntRange(min=1), default=2, show_default=True,
              help="How many must agree.")  # fmt: skip
@json_option
def votes(file: Path, needed: int, json_to: str | None) -> None:
    """Says which annotations were accepted by those who looked at them.

    FILE has one vote a line: {"schema": 1, "annotation": "anna/beach", "who": "ben", "good": true}.
    Everybody has one vote an annotation, the last one counts; ties are pending.

    \b
      depthgauge annotate votes votes.jsonl --needed 3
    """
    from depthgauge.annotate.records.votes import read_votes, tally

    said, notes = read_votes(file)
    for note in notes:
        warn(note)
    found = tally(said, needed=needed)
    if json_to is not None:
        listed = {
            name: {"good": one.good, "bad": one.bad, "status": one.status}
            for name, one in found.items()
        }
        write_json(json_to, {"needed": needed, "annotations": listed})
    if json_to != "-":
        columns = [("annotation", "left"), ("good", "right"), ("bad", "right"), ("status", "left")]
        rows = [
            [one_line(one.annotation), str(one.good), str(one.bad), one.status]
            for one in found.values()
        ]
        print_table(columns, rows)
        done = sum(one.status == "accepted" for one in found.values())
        click.echo(f"{count(len(found), 'annotation')}, {done} accepted")


COMMANDS = (agreement, statistics, votes)
