"""`depthgauge annotate serve`: pages to draw on the photographs of a folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from depthgauge.cli._output import say_address
from depthgauge.errors import MissingExtra

PLACE = click.Path(path_type=Path)


@click.command("serve", short_help="draw on photographs in the browser")
@click.argument("folder", type=PLACE)
@click.option("--who", default="", help="The name of the person.  [default: the user's]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8410,
    show_default=True,
    help="The port on this machine; 0 takes any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def serve(folder: Path, who: str, port: int, opens: bool) -> None:
    """Opens the photographs of FOLDER in the browser, for one person, to draw on them.

    Photographs are in FOLDER/images or in FOLDER. What is drawn is saved at once in
    FOLDER/records/WHO/PICTURE.jsonl. Only this machine can reach the pages, and only with the
    address that is printed. Ctrl-C ends it; an open page then keeps what is drawn, and sends it
    when this runs again.

    \b
      depthgauge annotate serve photographs
    """
    try:
        from depthgauge.serve.desk.running import run_desk
    except ImportError as error:
        raise MissingExtra(
            f"annotate serve needs {error.name}; install it: pip install 'depthgauge[serve]'"
        ) from error

    run_desk(folder, who=who, port=port, on_ready=partial(say_address, opens=opens))


COMMANDS = (serve,)
