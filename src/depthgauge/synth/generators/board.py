"""`make board`: a calibration board to print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


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
    from depthgauge.synth.sets.printed import write_board

    del progress  # it takes no time
    board, sheet = write_board(out, options, overwrite=overwrite)
    size = "x".join(f"{side:g}" for side in sheet.size_mm)
    squares = f"{options.columns}x{options.rows} inner corners"
    warnings: tuple[str, ...] = ()
    if options.style == "chessboard" and (options.columns + options.rows) % 2 == 0:
        warnings = (
            "this board looks the same after half a turn; one odd and one even number of corners "
            "tells top from bottom",
        )
    entry = board.to_json()
    return GeneratedData(
        out,
        summary=f"{options.style}, {squares} of {options.square_mm:g} mm on {size} mm; "
        f'session.json: "board": {json.dumps(entry)}',
        facts={"page_mm": list(sheet.size_mm), "board": entry},
        warnings=warnings,
    )
