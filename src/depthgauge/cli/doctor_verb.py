"""`depthgauge doctor`: what this installation has."""

from __future__ import annotations

import click

from depthgauge.cli._output import print_table, write_json


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def command(as_json: bool) -> None:
    """Shows versions, threads, extras and renderer libraries of this installation."""
    from depthgauge.engine.doctor import examine

    found = examine()
    if as_json:
        write_json("-", found)
        return
    for section, facts in found.items():
        print_table([(section, "left"), ("", "left")], [[key, str(v)] for key, v in facts.items()])
