"""`depthgauge list`: names of metrics, methods, benchmarks ..."""

from __future__ import annotations

import click

from depthgauge.cli._output import print_table, write_json
from depthgauge.engine.catalogue import LISTS

_BEFORE = {"derived": "shared-maps"}
"""Names that kinds had before."""


@click.command("list")
@click.argument("kind", type=click.Choice([*LISTS, *_BEFORE]), required=False, metavar="[KIND]")
@click.option("--json", "as_json", is_flag=True, help="Names and one-line descriptions as JSON.")
def command(kind: str | None, as_json: bool) -> None:
    """Lists metrics, regions, datasets, methods, benchmarks ..., or all of them.

    Shared maps are what regions and metrics share (edges, fine structures); their parameters
    are set by a benchmark. Perturbations are shown with their suggested levels.
    """
    found = {name: LISTS[name]() for name in ([_BEFORE.get(kind, kind)] if kind else LISTS)}
    if as_json:
        write_json("-", {name: dict(rows) for name, rows in found.items()})
        return
    for name, rows in found.items():
        columns = [(name, "left"), ("", "left")]
        print_table(columns, [[key, text] for key, text in rows])
