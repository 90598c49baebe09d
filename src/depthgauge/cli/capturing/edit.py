"""`depthgauge capture edit`: pages for what people do by hand in a session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._output import count, in_shell, program_name, say, say_address
from depthgauge.errors import MissingExtra

if TYPE_CHECKING:
    from fastapi import FastAPI

    from depthgauge.serve.desk.access import Access

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("edit")
@click.argument("session", type=_FOLDER)
@click.option("--work", type=_FOLDER, help="Where steps are kept.  [default: SESSION/work]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8411,
    show_default=True,
    help="The port on this machine; 0 takes any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--only-list",
    is_flag=True,
    help="Write the list of removals and the material mask from their histories, then end.",
)
@click.option("--sam-encoder", type=_FILE, help="A segment-anything encoder, ONNX, for masks.")
@click.option("--sam-decoder", type=_FILE, help="Its decoder, ONNX.")
def edit(
    session: Path,
    work: Path | None,
    port: int,
    opens: bool,
    only_list: bool,
    sam_encoder: Path | None,
    sam_decoder: Path | None,
) -> None:
    """Opens a session in the browser, for one person: remove wrong points, draw masks, check tags.

    Points are removed with lasso and brush, in the cloud and in the picture. Every action is
    saved at once in SESSION/by-hand/removals.jsonl, and SESSION/by-hand/removals.json is the list
    that `capture clean --by-hand` reads. The material mask is drawn with polygon, brush, flood and
    clicks; SESSION/labels/materials.png is made from SESSION/by-hand/materials.jsonl, and `capture
    masks` carries it to the other views. Objects with tags have pages to say what each tag sticks
    to and to set missed corners, for `capture tags`. Only this machine can reach the pages, and
    only with the address that is printed. Ctrl-C ends it; an open page then keeps your changes,
    and sends them when this runs again.

    \b
      depthgauge capture edit kitchen --open
      depthgauge capture clean kitchen --by-hand kitchen/by-hand/removals.json
    """
    try:
        from depthgauge.serve.desk.cleaning import write_list
        from depthgauge.serve.desk.masking import networks_from, write_materials
        from depthgauge.serve.desk.running import run_pages
        from depthgauge.serve.desk.session_desk import make_session_desk
    except ImportError as error:
        raise MissingExtra(
            f"capture edit needs {error.name}; install it: pip install 'depthgauge[serve]'"
        ) from error
    from depthgauge.sessions import open_session

    if (sam_encoder is None) != (sam_decoder is None):
        raise click.UsageError("--sam-encoder and --sam-decoder belong together.")
    opened, place = open_session(session), work or session / "work"
    target = in_shell(session / "by-hand" / "removals.json")
    if only_list:
        drawn = (session / "by-hand" / "materials.jsonl").is_file()
        if drawn:
            mask = in_shell(session / "labels" / "materials.png")
            click.echo(f"{mask}: {count(write_materials(opened, place), 'action')}.")
        if not drawn or (session / "by-hand" / "removals.jsonl").is_file():
            click.echo(f"{target}: {count(write_list(opened), 'removal')}.")
        return
    networks = networks_from({"encoder": sam_encoder, "decoder": sam_decoder})

    def ready(address: str) -> None:
        say_address(address, opens=opens)
        say(f"Then: {program_name()} capture clean {in_shell(session)} --by-hand {target}")

    def make(access: Access) -> FastAPI:
        return make_session_desk(opened, place, access, networks)

    run_pages(session, make, port, ready)
