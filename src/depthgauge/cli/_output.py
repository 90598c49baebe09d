"""What every verb prints with: tables and JSON on stdout, progress and warnings on stderr."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from depthgauge._tables import Columns, Rows, text_table
from depthgauge._tables import one_line as one_line
from depthgauge.errors import DepthgaugeError

if TYPE_CHECKING:
    from rich.console import Console

    from depthgauge._progress import Progress

PIPE_WIDTH = 160
"""Width of a table where the reader's window is unknown."""


class Stopped(DepthgaugeError):
    """The user pressed Ctrl-C."""

    exit_code = 130


def write_json(target: str, body: Any) -> None:
    """Strict JSON to a file, or to stdout if the target is `-`."""
    text = json.dumps(body, indent=1, allow_nan=False, ensure_ascii=False)
    if not _is_unicode(text):
        # Names of files need not be text; JSON can spell what UTF-8 cannot.
        text = json.dumps(body, indent=1, allow_nan=False)
    write_text_to(target, text + "\n")


def write_text_to(target: str, text: str) -> None:
    """Text to a file, or to stdout if the target is `-`."""
    if target == "-":
        click.echo(text, nl=not text.endswith("\n"))
        return
    from depthgauge.io import write_text

    write_text(target, text)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def say_address(address: str, *, opens: bool) -> None:
    """Prints where pages for one person are, and opens them in the browser if that is wanted."""
    click.echo(address)
    say("Open this address in a browser on this machine. Ctrl-C ends it.")
    if opens:
        click.launch(address)


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get("depthgauge.quiet"))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal."""
    return stream is not None and stream.isatty()


def table_width() -> int:
    """How many columns a table may take."""
    if is_terminal(sys.stdout):
        return shutil.get_terminal_size().columns
    return PIPE_WIDTH


def _shows_progress() -> bool:
    return is_terminal(sys.stderr) and not is_quiet()


def _console(stream: TextIO | None) -> Console:
    """Colours only on a terminal, and not if NO_COLOR is set."""
    from rich.console import Console

    plain = bool(os.environ.get("NO_COLOR")) or not is_terminal(stream)
    return Console(file=stream, highlight=False, color_system=None if plain else "auto")


def print_table(columns: Columns, rows: Rows, title: str = "") -> None:
    """A text table; each column has a heading and is aligned `left` or `right`."""
    if title:
        click.echo(one_line(title))
    if not is_terminal(sys.stdout):
        click.echo(text_table(columns, rows) + "\n")
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]  # left or right
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    _console(sys.stdout).print(table)


def count(n: int, what: str) -> str:
    """A number and its noun.

    >>> count(1, "sample"), count(2, "sample")
    ('1 sample', '2 samples')
    """
    return f"{n} {what}" + "s" * (n != 1)


def program_name() -> str:
    """How to call us again: by name where the shell finds it, else as we were called."""
    return "depthgauge" if shutil.which("depthgauge") else shlex.quote(sys.argv[0])


def in_shell(path: Path | str) -> str:
    """A path as a person may type it.

    >>> in_shell("my runs/a"), in_shell("-a")
    ("'my runs/a'", './-a')
    """
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def say(text: str) -> None:
    """Prints progress or a hint on stderr."""
    if not is_quiet():
        click.echo(text, err=True)


def warn(text: str) -> None:
    """One line on stderr."""
    if not is_quiet():
        click.echo(f"warning: {one_line(text)}", err=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner on stderr, only on a terminal, for work of unknown length."""
    if not _shows_progress():
        yield
        return
    with _console(sys.stderr).status(text):
        yield


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A progress bar on stderr, only on a terminal; yields `step(what, done, all)`."""
    if not _shows_progress():
        yield lambda what, done, whole: None
        return
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(escape(one_line(title))),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=_console(sys.stderr), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda what, done, whole: progress.update(
            task, description=escape(one_line(what)), completed=done, total=whole
        )
