"""Boxes of a map that are scored, the rest being left out: in pixels, in fractions, or by name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from depthgauge._registry import nearest
from depthgauge.errors import Misuse, WrongShape

REVISION = 1
"""Raised whenever a box may hold other pixels; part of the protocol's hash."""

NAMED_CROPS = {
    "eigen": "0.3324324:0.91351351,0.0359477:0.96405229",
    "garg": "0.40810811:0.99189189,0.03594771:0.96405229",
    "nyu": "45:471,41:601",
}
"""The crops that papers name: Eigen's and Garg's of KITTI as fractions of the image, and Eigen's of
NYU in pixels of 640x480."""
_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_SIDE = rf"({_NUMBER})?:({_NUMBER})?"
_BOX = re.compile(rf"\s*{_SIDE}\s*,\s*{_SIDE}\s*")
_WANTED = "write ROWS,COLUMNS such as 45:471,41:601 in pixels or 0.4:1.0,0.0:1.0 in fractions"

Side = tuple[float | None, float | None]


@dataclass(frozen=True)
class Box:
    """Rows and columns that are kept, from the first up to, but not including, the second."""

    rows: Side
    columns: Side
    """As whole numbers of pixels, or as fractions of the size (floats); None: to the border."""

    @property
    def text(self) -> str:
        """The box as it is hashed: a name and its numbers are the same."""
        return ",".join(
            ":".join("" if end is None else repr(end) for end in side)
            for side in (self.rows, self.columns)
        )

    def within(self, height: int, width: int) -> tuple[slice, slice]:
        """The rows and columns of a map of this size.

        A fraction times the size is cut off to a whole number, as the public evaluators do.

        Raises:
            WrongShape: The box leaves nothing, or does not fit.
        """
        rows, columns = (
            _slice(side, size) for side, size in ((self.rows, height), (self.columns, width))
        )
        if rows.stop > height or columns.stop > width:
            raise WrongShape(
                f"the crop {self.text} is larger than the truth of {width}x{height}; crops in "
                "pixels are for maps of one size, those in fractions for any."
            )
        if rows.start >= rows.stop or columns.start >= columns.stop:
            raise WrongShape(
                f"the crop {self.text} leaves nothing of a truth of {width}x{height}; crop less."
            )
        return rows, columns


def parse_crop(text: str) -> Box:
    """The box that a text describes.

    Args:
        text: `eigen`, `garg` or `nyu`, or `ROWS,COLUMNS`, each `FROM:TO` in pixels (`45:471`) or,
            with a decimal point, in fractions of the size (`0.4:0.99`). A side that is left out is
            the border.

    Raises:
        Misuse: It describes none.

    >>> parse_crop("garg").within(375, 1242)
    (slice(153, 371, None), slice(44, 1197, None))
    """
    found = _BOX.fullmatch(NAMED_CROPS.get(text.strip().lower(), text))
    if found is None:
        hint = nearest(text, NAMED_CROPS) or f"{_WANTED}, or {', '.join(NAMED_CROPS)}"
        raise Misuse(f"'{text}' is not a crop; {hint[0].lower()}{hint[1:].rstrip('.?')}.")
    return Box(_side(text, found[1], found[2]), _side(text, found[3], found[4]))


def _side(text: str, first: str | None, last: str | None) -> Side:
    given = [end for end in (first, last) if end is not None]
    fractions = any("." in end for end in given)
    if fractions and any(float(end) > 1 for end in given):
        raise Misuse(f"the crop '{text}' has a fraction above 1; {_WANTED}.")
    start, stop = (
        None if end is None else float(end) if fractions else int(end) for end in (first, last)
    )
    if start is not None and stop is not None and start >= stop:
        raise Misuse(f"the crop '{text}' ends before it begins; {_WANTED}.")
    return start, stop


def _slice(side: Side, size: int) -> slice:
    start, stop = (end if end is None or isinstance(end, int) else int(end * size) for end in side)
    return slice(start or 0, size if stop is None else stop)
