"""What the commands of `depthgauge serve` share: options, and how a site is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import write_json
from depthgauge.errors import BadData, MissingExtra

if TYPE_CHECKING:
    from depthgauge.serve.site import Site

FOLDER = click.Path(path_type=Path, file_okay=False)
PORT = 8400


def database_option(function: Any) -> Any:
    """Where the database is."""
    return click.option(
        "--database",
        default="",
        envvar="DEPTHGAUGE_DATABASE",
        help="The address of a PostgreSQL database; SQLite in the folder by default.",
    )(function)


def site_option(function: Any) -> Any:
    """Which site."""
    return click.option(
        "--site",
        "folder",
        type=FOLDER,
        default=Path("site"),
        show_default=True,
        help="The folder of the site.",
    )(database_option(function))


overwrite_option = click.option("--overwrite", is_flag=True, help="Replace what is there.")
json_option = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")


def answer(as_json: bool, text: str, **body: Any) -> None:
    """What was done, for people or for programs."""
    if as_json:
        write_json("-", body)
    else:
        click.echo(text)


def public_url_option(function: Any) -> Any:
    """What links begin with."""
    return click.option(
        "--public-url",
        default=f"http://127.0.0.1:{PORT}",
        show_default=True,
        help="How browsers reach the site.",
    )(function)


def open_the_site(
    folder: Path, database: str, archives: str = "", *, must_exist: bool = True
) -> Site:
    """Opens the folder of a site.

    Raises:
        MissingExtra: The extra `serve` is not installed.
        BadData: There is no site.
    """
    try:
        import alembic  # noqa: F401
        import argon2  # noqa: F401
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"a site needs {error.name}; say: pip install 'depthgauge[serve]'"
        ) from None
    from depthgauge.serve.site import open_site

    if must_exist and not (folder / "web").is_dir():
        raise BadData(f"{folder}: is no site; start one with `depthgauge serve {folder}`.")
    return open_site(folder, database, archives)
