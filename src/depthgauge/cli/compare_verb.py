"""`depthgauge compare`: two runs of one protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import board_options, json_option
from depthgauge.cli._output import count, print_table, warn, working, write_json
from depthgauge.cli._runs import board_choices, fitting_board

if TYPE_CHECKING:
    from depthgauge.analysis.compare import Comparison


@click.command("compare")
@click.argument("first", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("second", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--common", is_flag=True, help="Use only the samples that both runs have.")
@board_options
@json_option
def command(first: Path, second: Path, common: bool, json_to: str | None, **options: Any) -> None:
    """Puts the methods of two comparable runs into one table.

    \b
      depthgauge compare runs/before runs/after

    Both runs must have the same protocol, the same truth and the same samples; otherwise it says
    what differs and prints no number. Differences come with an interval over samples.
    """
    from depthgauge.analysis.boards.tier_boards import joined_board
    from depthgauge.analysis.compare import compare

    with working("comparing ..."):
        found = compare(first, second, common=common)
        protocol = found.merged.protocol
        board = joined_board(found.merged, **board_choices(protocol, options))
    if json_to is not None:
        write_json(json_to, found.to_json(board))
    for note in found.notes:
        warn(note)
    if json_to == "-":
        return
    title = f"{first} and {second}, {count(len(found.samples), 'sample')}"
    click.echo(fitting_board(board, title, protocol, first))
    if found.changes:
        print_table(_COLUMNS, _rows(found), f"{second} against {first}")


_COLUMNS = [
    ("score", "left"),
    ("before", "left"),
    ("after", "left"),
    ("old", "right"),
    ("new", "right"),
    ("difference", "right"),
    ("interval", "left"),
    ("the new one is", "left"),
]


def _rows(found: Comparison) -> list[list[str]]:
    from depthgauge._tables import show_number

    return [
        [
            change.score_id,
            change.old_label,
            change.new_label,
            show_number(change.old),
            show_number(change.new),
            show_number(change.difference),
            ""
            if change.interval.why
            else f"[{show_number(change.interval.low)}, {show_number(change.interval.high)}]",
            change.verdict,
        ]
        for change in found.changes
    ]
