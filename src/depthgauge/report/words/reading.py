"""What a reader of a report must know: one line above the table, the rest on demand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from depthgauge._shorten import first_few
from depthgauge.analysis.boards.board import Board, BoardWarning
from depthgauge.analysis.bootstrap.pooling import MIN_UNITS
from depthgauge.report.page.model import Page
from depthgauge.report.tables.leaderboard import board_notes, is_incomplete, tie_groups


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a page."""

    line: str
    """The most important caveat, in one line."""
    notes: tuple[str, ...]
    """Everything that the table cannot say by itself."""


def reading_of(page: Page) -> Reading:
    """The one caveat that a reader must see first, and all notes."""
    return Reading(_line(page), tuple(_notes(page)))


def _line(page: Page) -> str:
    """Warnings first, then failures, then what the samples do not show."""
    if page.board.warnings:
        more = len(page.board.warnings) - 1
        text = warning_words(page.board.warnings[0], advised=False)
        return text + (f" ({more} more below)" if more else "")
    rows = [row for row in page.board.rows if not row.oracle]
    if failed := [row.label for row in rows if row.failed]:
        whose = failed[0] if len(failed) == 1 else f"{len(failed)} methods"
        verb = "has" if len(failed) == 1 else "have"
        return f"{whose} {verb} samples without a usable estimate."
    cells = [row.cells[page.board.main] for row in rows if page.board.main in row.cells]
    if unfinished := sum(is_incomplete(cell) for cell in cells):
        what = "One method is" if unfinished == 1 else f"{unfinished} methods are"
        return f"{what} incomplete in {page.board.main} and ranked last."
    count = max((cell.used for cell in cells), default=0)
    if not any(math.isfinite(cell.low) for cell in cells):
        few = f"Only {count} samples" if 0 < count < MIN_UNITS else "No intervals"
        few = few.replace("Only 1 samples", "Only 1 sample")
        return f"{few}: the order holds for these samples only."
    level = f"{100 * page.board.level:g} %"
    if len(rows) == 1:
        return f"Intervals ({level}) are over {count} samples."
    return (
        f"Intervals ({level}) are over {count} samples; among many scores, some differ by chance."
    )


def warning_words(warning: BoardWarning, *, advised: bool = True) -> str:
    """Whose numbers are doubtful, on which samples, why, and what to do about it."""
    where = f" ({first_few(warning.samples, 3)})" if advised and warning.samples else ""
    text = f"{first_few(warning.methods, 3)}{where}: {warning.text}"
    return f"{text} {warning.advice}".strip() if advised else text


def _notes(page: Page) -> list[str]:
    board = page.board
    notes = [warning_words(warning) for warning in board.warnings]
    notes.append("Bold: best, underlined: second best.")
    notes += [f"{board.main}: {text}" for text in _main_score(page)]
    if tie_groups(board, board.main):
        notes.append(f"Methods with the same letter cannot be told apart by {board.main}.")
    said = board_notes(board, page.columns)
    notes += [note for note in said if not note.startswith("Cannot be told")]
    return [*notes, *_costs(board), *left_out(page)]


def _main_score(page: Page) -> list[str]:
    """What the main score is, as the protocol defines it."""
    name = page.board.column(page.board.main).name
    return [text for term, text in page.how if name and term == f"Metric {name}"]


def _costs(board: Board) -> list[str]:
    rows = [row for row in board.rows if not row.oracle]
    known = [row for row in rows if not math.isnan(row.time_s)]
    if not known:
        return []
    note = "Time is the median over samples, memory the largest."
    if len(known) < len(rows):
        note += " Estimates that were read from files have neither."
    return [note]


def left_out(page: Page) -> list[str]:
    """A note on long families of scores, which are shown elsewhere."""
    absent = {i for each in page.degradations if not any(each.filled) for i in each.score_ids}
    here = absent.union(column.id for column in page.columns)
    count = sum(column.id not in here for column in page.board.columns)
    if not count:
        return []
    return [f"{count} scores of numbered regions are drawn as curves below; the CSV has them too."]
