"""Flow as lines over the photograph, from green to red by error (figure 6 of LayeredFlow)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.report.pictures.colours import LEVELS, MISSING_COLOURS, Rgb, colour_table, rgb_of
from depthgauge.report.pictures.encode import encode
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.pictures.photo import dimmed
from depthgauge.types import Image, Map, Mask, is_known

WIDE = 480
"""Width of the pictures: also small maps are enlarged to it, so that lines can be told apart."""
COLOURS = "RdYlGn_r"
_APART_PX = 15
"""Distance of neighbouring lines in a picture of a dense map."""
_MOST_POINTS = 500
"""Up to this many points, each has its line."""
_FAR_PX = 1e4
_SHIFT = 4
"""Binary digits behind the point in coordinates of lines."""


def line_bar(high: float, unit: str) -> ColourBar:
    """Green is no error, red is `high` or more."""
    return ColourBar(0.0, high, unit, COLOURS, above=True)


def flow_lines(
    estimate: Map | None,
    truth: Map,
    image: Image | None,
    bar: ColourBar,
    caption: str,
    *,
    errors: Map | None = None,
) -> Picture:
    """Estimated vectors as lines from a dot, at points of the truth, in the colours of their error.

    Where the truth is dense, lines are drawn at some pixels only, evenly spread. A dot without a
    line in the colour of missing estimates is a point without an estimate.

    Args:
        estimate: (H, W, 2), NaN where there is none; None: there is no estimate at all.
        truth: (H, W, 2); lines are where it is known.
        image: The photograph.
        bar: The scale of errors.
        caption: What it shows.
        errors: (H, W); by default the length of the difference.
    """
    height, width = truth.shape[:2]
    size = max(1, round(height * WIDE / width)), WIDE
    picture = dimmed(image, truth.shape, size)
    vectors = np.full_like(truth, np.nan) if estimate is None else estimate
    if errors is None:
        errors = np.linalg.norm(vectors.astype(np.float64) - truth, axis=2)
    rows, columns = chosen_points(is_known(truth), WIDE / width)
    ends, wrong = vectors[rows, columns], errors[rows, columns]
    there = np.isfinite(wrong) & np.isfinite(ends).all(axis=1)
    starts = np.stack([columns, rows], axis=1)
    # The worst are drawn last, so that they stay visible.
    order = np.argsort(np.where(there, wrong, -1.0), kind="stable")
    for k in order.tolist():
        colour = (
            _colour(float(wrong[k]), bar.high) if there[k] else rgb_of(MISSING_COLOURS[COLOURS])
        )
        _draw(picture, starts[k], ends[k] if there[k] else None, WIDE / width, colour)
    missing = bool((~there).any())
    shown = ColourBar(bar.low, bar.high, bar.unit, bar.colours, above=bar.above, missing=missing)
    return Picture(encode(picture, lossless=False), (size[1], size[0]), caption, shown)


def chosen_points(known: Mask, enlarged: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the points that get a line: all if they are few, else spread evenly.

    Of each square of the picture it is the known pixel that is closest to the square's middle.

    Args:
        known: Where there is truth.
        enlarged: Pixels of the picture per pixel of the map.
    """
    rows, columns = np.nonzero(known)
    if len(rows) <= _MOST_POINTS:
        return rows, columns
    side = max(1.0, _APART_PX / enlarged)
    down, along = ((each + 0.5) / side for each in (rows, columns))
    cell = down.astype(np.intp) * (int(known.shape[1] / side) + 1) + along.astype(np.intp)
    away = (down % 1 - 0.5) ** 2 + (along % 1 - 0.5) ** 2
    order = np.lexsort((away, cell))
    first = order[np.unique(cell[order], return_index=True)[1]]
    return rows[first], columns[first]


def _colour(error: float, high: float) -> tuple[int, int, int]:
    share = min(1.0, error / high) if high > 0 else 1.0
    red, green, blue = colour_table(COLOURS)[0][round(share * (LEVELS - 1))].tolist()
    return red, green, blue


def _draw(
    picture: Rgb,
    start: NDArray[np.intp],
    vector: NDArray[np.float32] | None,
    enlarged: float,
    colour: tuple[int, int, int],
) -> None:
    import cv2

    begin = (start + 0.5) * enlarged - 0.5
    fixed = np.rint(begin * 2**_SHIFT).astype(np.int32).tolist()
    if vector is not None:
        # Far beyond the picture the direction is all that matters.
        end = begin + np.clip(vector, -_FAR_PX, _FAR_PX) * enlarged
        tip = np.rint(end * 2**_SHIFT).astype(np.int32).tolist()
        cv2.line(picture, fixed, tip, colour, 1, cv2.LINE_AA, _SHIFT)
    cv2.circle(picture, fixed, round(1.8 * 2**_SHIFT), colour, -1, cv2.LINE_AA, _SHIFT)
