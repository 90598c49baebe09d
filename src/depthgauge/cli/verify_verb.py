"""`depthgauge verify`: scores a run again and says whether the numbers are the same."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, print_table, progress_bar, say, write_json

_MOST = 20


@click.command("verify")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder, if it moved.")
@click.option(
    "--share",
    type=float,
    default=1.0,
    show_default=True,
    help="The share of the samples to score again, chosen at random: 0.1 for a tenth.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the choice.")
@click.option("--workers", type=int, help="Worker processes; by default one for each core.")
@json_option
def command(
    folder: Path,
    data: Path | None,
    share: float,
    seed: int,
    workers: int | None,
    json_to: str | None,
) -> None:
    """Hashes the data of a run again, scores its stored estimates again, and compares all numbers.

    \b
      depthgauge verify runs/first
      depthgauge verify runs/first --data /mnt/middlebury --share 0.1

    It answers "same bits", "same to 1e-9" (other libraries or another processor), or "different"
    and where, with exit code 1. It can be run on another machine that has the data.
    """
    from depthgauge._tables import show_number
    from depthgauge.engine.running.verify import verify

    with progress_bar("scoring again") as step:
        found = verify(folder, data=data, share=share, seed=seed, workers=workers, progress=step)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        samples = count(len(found.samples), "sample")
        click.echo(f"{found.answer}: {count(found.scores, 'score')} of {samples} compared.")
        if found.data != "same":
            say(found.data)
        if found.differences:
            columns = [("method", "left"), ("sample", "left"), ("score", "left")]
            columns += [("before", "right"), ("now", "right")]
            rows = [
                [
                    each.method,
                    each.sample,
                    each.score,
                    show_number(each.before),
                    show_number(each.now),
                ]
                for each in found.differences[:_MOST]
            ]
            print_table(columns, rows, f"{count(len(found.differences), 'difference')}")
    click.get_current_context().exit(1 if found.answer == "different" else 0)
