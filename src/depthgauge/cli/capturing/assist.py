"""`depthgauge capture assist`: what a session still lacks."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import progress_bar, say, write_json

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("assist")
@click.argument("session", type=_FOLDER)
@click.option("--work", type=_FOLDER, help="Where steps are kept.  [default: SESSION/work]")
@json_option
def assist_command(session: Path, work: Path | None, json_to: str | None) -> None:
    """Says what is missing, blurred or badly exposed, and what to do next.

    Works on unfinished sessions: run it after the first photographs of the board, and again before
    anything is painted or moved. Writes SESSION/assistant.html.

    \b
      depthgauge capture assist kitchen
    """
    from depthgauge.capture.assist import assist
    from depthgauge.report.capture.assistant import write_assistant
    from depthgauge.sessions import open_session

    opened = open_session(session)
    with progress_bar("looking") as progress:
        found = assist(opened, work or session / "work", progress)
        page = write_assistant(found, session)
    if json_to is not None:
        write_json(json_to, {**found.to_json(), "page": str(page)})
    if json_to != "-":
        click.echo(found.headline())
        for one in found.advice:
            click.echo(f"  {'!' if one.level == 'must' else '-'} {one.text}")
        say(f"Look at {page}.")
