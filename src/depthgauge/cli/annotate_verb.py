"""`depthgauge annotate`: from drawings on a photograph to normals, depth and agreement."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import (
    benchmark_argument,
    json_option,
    setting_options,
    with_settings,
)
from depthgauge.cli._output import count, print_table, progress_bar, say, warn, write_json
from depthgauge.cli.annotating import exchange, pages, quality, records

if TYPE_CHECKING:
    from depthgauge.engine.scoring.human_baseline import HumanPerformance

PLACE = click.Path(path_type=Path)


class _InOrder(click.Group):
    """Lists its commands in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("annotate", cls=_InOrder)
def command() -> None:
    """From what people draw on photographs to surfaces, datasets and numbers.

    Records are files of JSON lines, one per photograph and person: the region, occlusions and folds
    as lines, planar or curved surfaces, normals, relations between planes, the focal length.
    Nothing in them is ever rewritten.

    \b
      depthgauge annotate serve photographs
      depthgauge annotate simulate mixed --out study
      depthgauge annotate check study
      depthgauge annotate reconstruct study/records/simulated-1/mixed-0000.jsonl --out new
      depthgauge annotate agreement study
    """


@click.command("human", short_help="what people score on a benchmark")
@benchmark_argument()
@click.option("--data", type=PLACE, required=True, help="The dataset's folder.")
@click.option(
    "--estimates",
    "folders",
    type=PLACE,
    multiple=True,
    required=True,
    help="A person's folder of estimates, or a folder of such folders; may be repeated.",
)
@setting_options
@json_option
def human(
    benchmark: str, data: Path, folders: tuple[Path, ...], json_to: str | None, **settings: Any
) -> None:
    """Scores people who annotated the same pictures again, and averages over them.

    Each person is scored on the pictures in their folder.

    \b
      depthgauge annotate human oasis-normals --data OASIS --estimates OASIS/humans
    """
    from depthgauge.engine.scoring.human_baseline import human_performance

    with progress_bar("scoring") as step:
        protocol = with_settings(benchmark, settings)
        found = human_performance(protocol, data, folders, progress=step)
    if len(set(found.samples.values())) > 1:
        warn("people annotated different numbers of pictures; see the JSON for each.")
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        _show(found)


def _show(found: HumanPerformance) -> None:
    from depthgauge._tables import show_number

    columns = [("score", "left"), ("mean", "right"), ("standard error", "right")]
    columns += [("unit", "left"), ("best", "right"), ("worst", "right")]
    rows = []
    for name, score in found.scores.items():
        known = sorted(v for v in score.values.values() if math.isfinite(v))
        ends = [known[0], known[-1]] if known else [math.nan, math.nan]
        if found.protocol.better(name) == "higher":
            ends.reverse()
        numbers = [show_number(v) for v in (score.mean, score.standard_error)]
        rows.append([name, *numbers, score.unit, *map(show_number, ends)])
    people = count(len(found.samples), "person").replace("persons", "people")
    print_table(columns, rows, f"{found.protocol.id}: {people}")


@click.command("focal", short_help="the best focal length for a method without one")
@benchmark_argument()
@click.option("--data", type=PLACE, required=True, help="The dataset's folder.")
@click.option("--estimates", type=PLACE, required=True, help="The folder of depth estimates.")
@json_option
def focal(benchmark: str, data: Path, estimates: Path, json_to: str | None) -> None:
    """Finds the best single focal length for a method that estimates none.

    It has the lowest lsiv on the benchmark's split; use a validation set. Then give it to each run:

    \b
      depthgauge annotate focal oasis-depth --data OASIS --estimates estimates/net
      depthgauge score oasis-depth@test --data OASIS --estimates estimates/net --focal 512.3
    """
    from depthgauge._tables import show_number
    from depthgauge.engine.scoring.best_focal import best_focal

    with progress_bar("reading") as step:
        found = best_focal(benchmark, data, estimates, progress=step)
    if found.undecided:
        warn(
            "the error does not depend on the focal length; any other is as good."
            if found.flat
            else "the error still falls where the search ends (0.1 to 50 image widths): these data "
            "do not determine a focal length."
        )
    if found.own:
        warn(f"{count(found.own, 'estimate')} with their own focal length were left out.")
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        click.echo(f"{found.focal_px:.2f}")
        used = count(found.samples, "estimate")
        say(f"px of the truth's size; lsiv {show_number(found.lsiv)} over {used}.")


for _command in (
    *pages.COMMANDS,
    *records.COMMANDS,
    *exchange.COMMANDS,
    *quality.COMMANDS,
    human,
    focal,
):
    command.add_command(_command)
