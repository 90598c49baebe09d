"""What is left out of a map: all but a box, in pixels, in fractions or by name; or a border."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction

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
KB_SIZE = (352, 1216)
"""Height and width of KITTI's benchmark crop."""
KB = "kb"
"""The name of that crop; `kb/garg` is Garg's box of the pixels inside of it."""
_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_SIDE = rf"({_NUMBER})?:({_NUMBER})?"
_BOX = re.compile(rf"\s*{_SIDE}\s*,\s*{_SIDE}\s*")
_SHARE = re.compile(r"\s*(\d+)\s*/\s*(\d+)\s*")
_WANTED = "write ROWS,COLUMNS such as 45:471,41:601 in pixels or 0.4:1.0,0.0:1.0 in fractions"

Side = tuple[float | None, float | None]


@dataclass(frozen=True)
class Box:
    """Rows and columns that are kept, from the first up to, but not including, the second."""

    rows: Side
    columns: Side
    """As whole numbers of pixels, or as fractions of the size (floats); None: to the border."""
    of_window: bool = False
    """Whether they count inside KITTI's benchmark crop, at the bottom in the middle."""

    @property
    def text(self) -> str:
        """The box as it is hashed: a name and its numbers are the same."""
        sides = ",".join(
            ":".join("" if end is None else repr(end) for end in side)
            for side in (self.rows, self.columns)
        )
        return f"{KB}/{sides}" if self.of_window else sides

    def within(self, height: int, width: int) -> tuple[slice, slice]:
        """The rows and columns of a map of this size.

        A fraction times the size is cut off to a whole number, as the public evaluators do.

        Raises:
            WrongShape: The box leaves nothing, or does not fit.
        """
        if self.of_window:
            down, right = kb_window(height, width)
            inner = replace(self, of_window=False).within(*KB_SIZE)
            return _moved(inner[0], down.start), _moved(inner[1], right.start)
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


@dataclass(frozen=True)
class Border:
    """A border that is left out: in pixels, or as a share of the image's shorter side."""

    px: int = 0
    share: Fraction | None = None

    def __bool__(self) -> bool:
        return self.px > 0 or self.share is not None

    def within(self, height: int, width: int) -> int:
        """Its width on an image of this size; half a pixel is rounded up.

        >>> Border(share=Fraction(15, 512)).within(256, 256)
        8
        """
        if self.share is None:
            return self.px
        return math.floor(self.share * min(height, width) + Fraction(1, 2))


def parse_border(text: str) -> Border | None:
    """The border of a text such as `15/512`: 15 px of 512; None if it is something else.

    Raises:
        Misuse: It is a share that leaves nothing.
    """
    found = _SHARE.fullmatch(text)
    if found is None:
        return None
    part, whole = int(found[1]), int(found[2])
    if not 0 < 2 * part < whole:
        raise Misuse(
            f"the crop '{text}' is not a border; write a share below one half such as 15/512."
        )
    return Border(share=Fraction(part, whole))


def parse_crop(text: str) -> Box:
    """The box that a text describes.

    Args:
        text: `eigen`, `garg` or `nyu`; `kb`, or `kb/garg` for a box inside of it; or
            `ROWS,COLUMNS`, each `FROM:TO` in pixels (`45:471`) or, with a decimal point, in
            fractions of the size (`0.4:0.99`). A side that is left out is the border.

    Raises:
        Misuse: It describes none.

    >>> parse_crop("garg").within(375, 1242)
    (slice(153, 371, None), slice(44, 1197, None))
    """
    window, slash, inner = text.strip().partition("/")
    if window.lower() == KB:
        return replace(parse_crop(inner if slash else ":,:"), of_window=True)
    found = _BOX.fullmatch(NAMED_CROPS.get(text.strip().lower(), text))
    if found is None:
        names = (*NAMED_CROPS, KB)
        hint = nearest(text, names) or f"{_WANTED}, or {', '.join(names)}"
        raise Misuse(f"'{text}' is not a crop; {hint[0].lower()}{hint[1:].rstrip('.?')}.")
    return Box(_side(text, found[1], found[2]), _side(text, found[3], found[4]))


def kb_window(height: int, width: int) -> tuple[slice, slice]:
    """Rows and columns of KITTI's benchmark crop of 1216x352: at the bottom, in the middle.

    Raises:
        WrongShape: The picture is smaller.

    >>> kb_window(375, 1242)
    (slice(23, 375, None), slice(13, 1229, None))
    """
    top, left = height - KB_SIZE[0], (width - KB_SIZE[1]) // 2
    if top < 0 or left < 0:
        raise WrongShape(f"KITTI's crop of 1216x352 is larger than the truth of {width}x{height}.")
    return slice(top, height), slice(left, left + KB_SIZE[1])


def _moved(inner: slice, by: int) -> slice:
    return slice(inner.start + by, inner.stop + by)


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
