"""Boards to print: their shapes in millimetres, as PDF and SVG of true size."""

from __future__ import annotations

import json
from pathlib import Path

from depthgauge import io
from depthgauge.errors import CannotWrite
from depthgauge.sessions import Board
from depthgauge.synth.generators.board import BoardOptions
from depthgauge.synth.sets.printed.sheet import Sheet, board_sheet
from depthgauge.synth.sets.printed.vector import pdf, svg

REVISION = 1
"""Raised whenever the same options may give other bytes."""
_FILES = ("board.pdf", "board.svg", "board.json")
_MARKER_SHARE = 0.7
"""Side of a marker as a share of a square, by default."""


def write_board(
    out: Path, options: BoardOptions, *, overwrite: bool = False
) -> tuple[Board, Sheet]:
    """Writes board.pdf, board.svg and board.json.

    Raises:
        Misuse: The board does not fit on its page, or cannot exist.
        CannotWrite: One of the files exists.
    """
    marker_mm = options.marker_mm or _MARKER_SHARE * options.square_mm
    board = Board(
        *(options.columns, options.rows, options.square_mm / 1000),
        kind=options.style,
        marker_m=marker_mm / 1000 if options.style == "charuco" else 0.0,
        dictionary=options.dictionary,
    )
    sheet = board_sheet(board, options.page)
    there = [name for name in _FILES if (out / name).exists()]
    if there and not overwrite:
        raise CannotWrite(f"{out / there[0]}: exists already; say --overwrite to replace it")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{out}: cannot be written: {error.strerror or error}") from None
    io.write_bytes(out / "board.pdf", pdf(sheet))
    io.write_text(out / "board.svg", svg(sheet))
    io.write_text(out / "board.json", json.dumps({"board": board.to_json()}, indent=1) + "\n")
    return board, sheet


__all__ = ["REVISION", "write_board"]
