"""`make board`: a calibration board to print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from depthgauge import io
from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.errors import CannotWrite
from depthgauge.sessions import Board
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec

_FILES = ("board.pdf", "board.svg", "board.json")


class BoardOptions(GeneratorOptions):
    """The board and its page."""

    seed: Annotated[int, CommandLine(hidden=True)] = Field(default=0, ge=0)
    """Not used: nothing is random."""
    style: Literal["chessboard", "charuco"] = "chessboard"
    """A ChArUco board may be partly hidden or outside of a photograph, a chessboard not."""
    columns: int = Field(default=9, ge=2, le=60)
    """Inner corners along one side."""
    rows: int = Field(default=6, ge=2, le=60)
    """Inner corners along the other; one number odd and one even tells top from bottom."""
    square_mm: float = Field(default=25.0, gt=0.0, le=1000.0)
    """Side of a square in millimetres."""
    marker_mm: Annotated[float, Field(gt=0.0)] | None = None
    """ChArUco: side of a marker; by default 0.7 of a square."""
    dictionary: str = "DICT_6X6_250"
    """ChArUco: OpenCV's name of the markers' dictionary."""
    page: str = "A4"
    """A5 to A0, letter, tabloid, or a size in millimetres: 600x400."""


SPEC = GeneratorSpec(
    "board",
    "A calibration board to print: PDF and SVG of true size, with a scale bar.",
    BoardOptions,
    details="""
    `board.json` has the entry `board` of session.json. Print at 100 %, measure the scale bar, and
    glue the paper to something flat: glass or aluminium, not cardboard.

    \b
      depthgauge make board --out board
      depthgauge make board --out board --style charuco --square-mm 40 --page A3
    """,
    activity="drawing",
)


def make(
    out: Path, options: BoardOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes board.pdf, board.svg and board.json."""
    from depthgauge.synth.sets.printed.sheet import board_sheet
    from depthgauge.synth.sets.printed.vector import pdf, svg

    marker_mm = 0.7 * options.square_mm if options.marker_mm is None else options.marker_mm
    is_charuco = options.style == "charuco"
    board = Board(
        *(options.columns, options.rows, options.square_mm / 1000),
        kind=options.style,
        marker_m=marker_mm / 1000 if is_charuco else 0.0,
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
    entry = {"board": board.to_json()}
    io.write_bytes(out / "board.pdf", pdf(sheet))
    io.write_text(out / "board.svg", svg(sheet))
    io.write_text(out / "board.json", json.dumps(entry, indent=1) + "\n")
    size = "x".join(f"{side:g}" for side in sheet.size_mm)
    squares = f"{options.columns}x{options.rows} inner corners"
    warnings: tuple[str, ...] = ()
    if not is_charuco and (options.columns + options.rows) % 2 == 0:
        warnings = (
            "this board looks the same after half a turn; one odd and one even number of corners "
            "tells top from bottom",
        )
    return GeneratedData(
        out,
        summary=f"{options.style}, {squares} of {options.square_mm:g} mm on {size} mm; "
        f'session.json: "board": {json.dumps(board.to_json())}',
        facts={"page_mm": list(sheet.size_mm), **entry},
        warnings=warnings,
    )
