"""What the verbs about runs share: printing boards and failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge._shorten import first_few
from depthgauge.cli._options import parse_practical
from depthgauge.cli._output import (
    Stopped,
    count,
    in_shell,
    one_line,
    program_name,
    say,
    table_width,
    warn,
)
from depthgauge.errors import BadData, MethodChanged

if TYPE_CHECKING:
    from depthgauge.analysis.boards.board import Board
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.store.record import Run
    from depthgauge.report.tables.leaderboard import TableStyle
    from depthgauge.types import Note

_MOST_FAILURES = 20
_MOST_NAMES = 5


@contextmanager
def can_go_on() -> Iterator[None]:
    """For work that keeps finished parts when it is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped("stopped; finished work is kept, and the same command continues.") from None


@contextmanager
def changes_in_options() -> Iterator[None]:
    """Tells a method that changed as options, where Python would tell it as arguments."""
    try:
        yield
    except MethodChanged as error:
        keep = ", keep its good samples (--keep-finished)" if error.code_only else ""
        label = in_shell(error.label)
        raise BadData(
            f"{error.where}: {error.what}; run it again (--again {label}){keep}, or give this one "
            f"another label: -m {error.other_label}."
        ) from None


def board_choices(protocol: Protocol, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `make_board` from the board options, checked before it starts."""
    from depthgauge.analysis.boards.make_board import check_choices

    choices = {
        "main": options["main"],
        "accuracy": options["accuracy"],
        "practical": parse_practical(options["practical"]),
    }
    check_choices(protocol, **choices)
    return choices


def finish_run(run: Run, out: Path, *, table: bool = True) -> int:
    """Prints the leaderboard and all failures; returns 1 if there were any, else 0."""
    if table and not run.samples:
        many = count(len(run.info["samples"]), "sample")
        click.echo(f"{out}: {many} without truth: estimates are stored, nothing is scored.")
        say(f"Next: {program_name()} submit-folder {run.protocol.id} {in_shell(out)}")
        return list_failures(run)
    if table:
        n = len(run.samples)
        title = f"{out}: {run.protocol.title or run.protocol.id}, {count(n, 'sample')}"
        click.echo(leaderboard(run, title, out))
    if left_out := run.info.get("left_out"):
        many = count(len(left_out), "sample")
        warn(f"{many} left out because the data has no truth for them: {some_of(left_out)}")
    texts = dict.fromkeys(text for found in run.results.values() for text in found.left_out)
    if lacking := [text for text in texts if text not in (left_out or ())]:
        warn(f"left out, because the data lacks what they need: {some_of(lacking)}")
    if table:
        print_run_notes(run)
    code = list_failures(run)
    if table:
        say(f"Next: {program_name()} report {in_shell(out)}")
    return code


def leaderboard(run: Run, title: str, folder: Path | None) -> str:
    """The methods of a run as text, as wide as the window."""
    from depthgauge.analysis.boards.tier_boards import joined_board

    return fitting_board(joined_board(run), title, run.protocol, folder)


def fitting_board(
    board: Board,
    title: str,
    protocol: Protocol,
    folder: Path | None,
    columns: Sequence[str] | None = None,
    style: TableStyle | None = None,
) -> str:
    """The leaderboard as text with as many scores as fit into the window, the main one first.

    A benchmark may have dozens of scores, and a wrapped table is unreadable.
    """
    from depthgauge.analysis.degradation import degradations, table_columns
    from depthgauge.report.tables.formats import to_text
    from depthgauge.report.tables.leaderboard import PLAIN, leaderboard_table
    from depthgauge.report.words.protocol import source_line

    ids = list(columns or ())
    if columns is None:
        shorter = table_columns(board, degradations(board, protocol))
        ids = [board.main, *(name for name in shorter if name != board.main)]

    def shown(n: int) -> str:
        source = source_line(protocol)
        return to_text(
            leaderboard_table(board, ids[:n], title=title, source=source, style=style or PLAIN)
        )

    room = table_width()
    n = next((n for n in range(len(ids), 1, -1) if _table_is_within(shown(n), room)), 1)
    text = shown(n)
    if n == len(ids):
        return text
    how = "keep the run with --save, or use --json"
    if folder is not None:
        how = f"{program_name()} report {in_shell(folder)} --csv"
    return f"{text}{len(ids) - n} more scores: {how}\n"


def _table_is_within(text: str, room: int) -> bool:
    # Below the title stands the heading; the sentences below the table may be wrapped.
    return len(text.splitlines()[1]) <= room


def print_notes(notes: Iterable[Note], label: str = "") -> None:
    """Prints what speaks against the way in which maps were read, once for each kind."""
    from depthgauge.engine.scoring.result import note_lines

    for line in note_lines(notes, command=True):
        click.echo(one_line(f"{label}: {line}" if label else line))


def print_run_notes(run: Run) -> None:
    """The same for every method of a run."""
    for (label, seed), result in run.results.items():
        whose = label if seed == 0 else f"{label}, seed {seed}"
        print_notes(result.notes, whose if len(run.results) > 1 else "")


def list_failures(run: Run) -> int:
    """Prints which samples failed and why, once per reason."""
    failed = [f"{each.label}: {some_of(each.samples)}: {each.reason}" for each in run.failures]
    for text in failed[:_MOST_FAILURES]:
        click.echo(f"failed: {one_line(text)}", err=True)
    if len(failed) > _MOST_FAILURES:
        click.echo(f"failed: and {len(failed) - _MOST_FAILURES} more", err=True)
    return 1 if failed else 0


def some_of(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return first_few(names, _MOST_NAMES)
