"""How photographs are imported."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from depthgauge._options import CommandLine, Options


class ImportOptions(Options):
    """How photographs become shots of a session."""

    pair: Literal["auto", "time", "name", "order"] = "auto"
    """What belongs together: photographs of the same time (EXIF; clocks may differ), of the same
    name, or in the same order; `auto` takes the first of these that is possible, and says so."""
    names: Annotated[str | None, CommandLine(metavar="TEMPLATE")] = None
    """How files are named, without endings: `{camera}_{shot}`, `IMG_{shot}*`; pairs by name."""
    within_s: Annotated[float, Field(gt=0.0)] | None = None
    """Largest difference in time of a shot, in seconds; by default 1, or 0.5 if all cameras note
    fractions of a second."""
    clock_offsets: Annotated[str | None, CommandLine(metavar="R:SECONDS")] = None
    """How many seconds each clock is ahead of L's, as `R:3599.5` or `R:-2,C:0.4`; by default they
    are found."""
    bits: Annotated[int, Field(ge=9, le=16)] | None = None
    """Bits that files of 16 bits really have (10, 12 or 14 of industrial cameras); by default found
    from their largest value."""
    orientation: Literal["exif", "stored"] = "exif"
    """Turn photographs upright as most of their camera say, or leave pixels as they are stored."""
    brackets: Annotated[int, Field(ge=2, le=20)] | None = None
    """Patterns were bracketed: this many shots in a row are exposures of one pattern; exposure
    times come from EXIF."""
    overwrite: bool = False
    """Replace photographs of this kind that the session has already."""
