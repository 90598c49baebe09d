"""`depthgauge show`: explains one metric, region, method ..."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._names import completes
from depthgauge.cli._output import write_json

if TYPE_CHECKING:
    from depthgauge.engine.catalogue import Description


@click.command("show")
@click.argument(
    "name",
    shell_complete=completes(
        "metrics",
        "regions",
        "datasets",
        "methods",
        "perturbations",
        "benchmarks",
        files=True,
    ),
)
@click.option("--json", "as_json", is_flag=True, help="The declaration as JSON.")
def command(name: str, as_json: bool) -> None:
    """Explains a metric, region, dataset, method, benchmark ...: definition, unit, parameters.

    \b
      depthgauge show badpix
      depthgauge show sgbm
      depthgauge show middlebury
    """
    from depthgauge.engine.catalogue import describe

    found = describe(name)
    if as_json:
        bodies = [thing.to_json(name) for thing in found]
        write_json("-", bodies[0] if len(bodies) == 1 else {"name": name, "found": bodies})
        return
    for number, thing in enumerate(found):
        if number:
            click.echo()
        _show(name, thing)


def _show(name: str, found: Description) -> None:
    click.echo(f"{name}  ({found.kind})\n")
    if found.text:
        click.echo(f"{found.text}\n")
    shown = [(key, value) for key, value in found.facts if value not in ("", None, [], {})]
    width = max((len(key) for key, _ in shown), default=0) + 2
    for key, value in shown:
        first = f"{key + ':':<{width}}"
        click.echo(
            textwrap.fill(_plain(value), 100, initial_indent=first, subsequent_indent=" " * width)
        )


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items())
    return str(value)
