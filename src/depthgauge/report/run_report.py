"""The report of a run in one call: `dg.report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

from depthgauge._registry import unknown
from depthgauge.analysis.merged_runs import load_checked
from depthgauge.engine.store.record import Run
from depthgauge.report.tables.pivot_formats import Format


@overload
def report(
    run: Run | str | Path,
    out: str | Path | None = None,
    *,
    form: Literal["html"] = "html",
    main: str | None = None,
    columns: Sequence[str] = (),
    digits: int | None = None,
    intervals: bool = True,
    caption: str = "",
    data: str | Path | None = None,
) -> Path: ...


@overload
def report(
    run: Run | str | Path,
    out: str | Path | None = None,
    *,
    form: Format,
    main: str | None = None,
    columns: Sequence[str] = (),
    digits: int | None = None,
    intervals: bool = True,
    caption: str = "",
    data: str | Path | None = None,
) -> str: ...


def report(
    run: Run | str | Path,
    out: str | Path | None = None,
    *,
    form: Literal["html"] | Format = "html",
    main: str | None = None,
    columns: Sequence[str] = (),
    digits: int | None = None,
    intervals: bool = True,
    caption: str = "",
    data: str | Path | None = None,
) -> Path | str:
    """Writes the page of a run, or gives its leaderboard as a table.

    Args:
        run: A run, or its folder.
        out: The file to write. The page goes to `report.html` in the run's folder by default; a
            table is written only if a file is named.
        form: `html` for the page; `text`, `markdown`, `csv` or `latex` for the leaderboard.
        main: The id of the score that sorts the methods; the protocol's first by default.
        columns: Ids of the scores in the table; by default those that it has room for.
        digits: Decimals in a table; by default three, and more for small numbers.
        intervals: Whether intervals stand beside the values of a table.
        caption: Of a table in LaTeX; by default one line that says what is sorted by what.
        data: The dataset's folder, for pictures, if it moved.

    Returns:
        The path of the page, or the table as text.
    """
    found = run if isinstance(run, Run) else load_checked(run, data)
    if form == "html":
        path = found.path / "report.html" if out is None else Path(out)
        _write_page(found, path, main, None if data is None else Path(data))
        return path
    text = _table(found, form, main, columns, (digits, intervals, caption))
    if out is not None:
        from depthgauge.io import write_text

        write_text(Path(out), text)
    return text


def _write_page(run: Run, path: Path, main: str | None, data: Path | None) -> None:
    from depthgauge.report.page.build import build_page
    from depthgauge.report.page.html import write_report

    write_report(path, build_page(run, data=data, main=main))


def _table(
    run: Run,
    form: Format,
    main: str | None,
    columns: Sequence[str],
    style: tuple[int | None, bool, str],
) -> str:
    from depthgauge.analysis.boards.tier_boards import joined_board
    from depthgauge.report.tables.leaderboard import TableStyle
    from depthgauge.report.tables.render import FORMATS, leaderboard_text

    if form not in FORMATS:
        raise unknown("form of a report", form, ["html", *FORMATS])
    board = joined_board(run, main=main)
    chosen = [board.column(name).id for name in columns]
    return leaderboard_text(run, board, form, chosen, TableStyle(*style))
