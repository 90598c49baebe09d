"""`depthgauge capture import`: photographs from memory cards into a session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from depthgauge.capture.importing.options import ImportOptions
from depthgauge.capture.importing.sources import KINDS
from depthgauge.cli._options import json_option, options_of
from depthgauge.cli._output import (
    count,
    in_shell,
    program_name,
    progress_bar,
    say,
    warn,
    write_json,
)


@click.command("import")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The session."
)
@click.option("--kind", type=click.Choice(KINDS), help="What the photographs show.")
@click.option(
    "--board",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The board's JSON, as `make board` writes it.",
)
@click.option("--sheet-only", is_flag=True, help="Write the contact sheet, but no session.")
@options_of(ImportOptions)
@json_option
def import_command(
    folders: Sequence[str],
    out: Path,
    kind: str | None,
    board: Path | None,
    sheet_only: bool,
    options: ImportOptions,
    json_to: str | None,
) -> None:
    """Turns photographs of two or three cameras into shots of a session.

    A FOLDER is `L=PATH`, `R=PATH` or `C=PATH`; a folder that is named after its camera, or contains
    such folders, needs no letter. PNG, JPEG, TIFF, RAW and HEIC are read; 16 bits are kept. The
    photographs are paired by time, by name or by order, and a contact sheet shows the pairs.

    \b
      depthgauge capture import L=card1 R=card2 --kind calibration --out kitchen
      depthgauge capture import L=card1 R=card2 --kind pattern --pair order --out kitchen
      depthgauge capture import mixed --names '{camera}_{shot}' --kind passive --out kitchen
    """
    from depthgauge.capture.importing import find_sources, import_photographs
    from depthgauge.report.capture.contact_sheet import write_contact_sheet
    from depthgauge.sessions import read_board

    known = None if board is None else read_board(board)
    bodies = []
    for of_kind, sources in find_sources(folders, kind).items():
        with progress_bar(of_kind) as progress:
            found = import_photographs(
                sources,
                out,
                of_kind,
                options=options,
                board=known,
                write=not sheet_only,
                progress=progress,
            )
            sheet = write_contact_sheet(found, out / f"contact-sheet-{of_kind}.html")
        for text in found.warnings:
            warn(text)
        bodies.append({**found.to_json(), "contact_sheet": str(sheet)})
        if json_to != "-":
            done = "would be imported" if sheet_only else "imported"
            shots = count(len(found.names), "shot")
            click.echo(f"{out / of_kind}: {shots} {done}, paired by {found.pairing.how}.")
            say(f"Look at {sheet}: every row must show one moment.")
    if json_to is not None:
        write_json(json_to, {"imports": bodies})
    if json_to != "-" and not sheet_only:
        say(f"Next: {program_name()} capture assist {in_shell(out)}")
