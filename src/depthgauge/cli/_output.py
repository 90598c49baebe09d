"""What every verb prints with: tables and JSON on stdout, progress and warnings on stderr."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


def write_json(target: str, body: Any) -> None:
    """Strict JSON to a file, or to stdout where the target is `-`."""
    text = json.dumps(body, indent=1, allow_nan=False, ensure_ascii=False)
    if target == "-":
        click.echo(text)
        return
    from depthgauge.io import write_text

    write_text(target, text + "\n")


def write_text_to(target: str, text: str) -> None:
    """Text to a file, or to stdout where the target is `-`."""
    if target == "-":
        click.echo(text, nl=not text.endswith("\n"))
        return
    from depthgauge.io import write_text

    write_text(target, text)


def is_quiet() -> bool:
    """Whether `--quiet` was said."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get("depthgauge.quiet"))


def _shows_progress() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet()


def print_table(columns: list[tuple[str, str]], rows: list[list[str]], title: str = "") -> None:
    """A text table; each column has a heading and is aligned `left` or `right`."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if title:
        click.echo(title)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]  # left or right
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # Not cut to 80 columns where the output goes to a file or a pipe.
    width = None if sys.stdout is not None and sys.stdout.isatty() else 160
    Console(width=width, highlight=False).print(table)


def program_name() -> str:
    """How to call us again: by name where the shell finds it, else as we were called."""
    return "depthgauge" if shutil.which("depthgauge") else sys.argv[0]


def say(text: str) -> None:
    """What happens now, on stderr."""
    if not is_quiet():
        click.echo(text, err=True)


def warn(text: str) -> None:
    """One line on stderr."""
    if is_quiet():
        return
    click.echo(f"warning: {text}", err=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner on stderr, only on a terminal, for work whose length nobody knows."""
    if not _shows_progress():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr, only on a terminal; yields `step(what, done, all)`."""
    if not _shows_progress():
        yield lambda what, done, whole: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda what, done, whole: progress.update(
            task, description=what, completed=done, total=whole
        )
