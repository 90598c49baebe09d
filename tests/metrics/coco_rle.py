"""Masks as COCO stores them: outlines, and runs of pixels, column by column.

Outlines are filled as COCO's own program does, to the pixel: its masks are what published numbers
were computed with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, TooLarge
from depthgauge.io._files import MAX_PIXELS
from depthgauge.types import Mask

_FINER = 5  # points are laid along an outline at a fifth of a pixel


def decode_coco_mask(segmentation: Any, size: tuple[int, int], limit: int = MAX_PIXELS) -> Mask:
    """The mask (H, W) of a COCO `segmentation`.

    Args:
        segmentation: A list of outlines [x0, y0, x1, y1 ...], which together are the instance; or
            {"size": [height, width], "counts": runs}, runs as a list of numbers or as COCO's text.
        size: Height and width of the picture, for outlines.
        limit: The most pixels that it may have.

    Raises:
        BadFile: It is none of these.
        TooLarge: It claims more pixels than the limit.

    >>> decode_coco_mask({"size": [2, 3], "counts": [2, 3, 1]}, (2, 3)).astype(int)
    array([[0, 1, 1],
           [0, 1, 0]])
    >>> decode_coco_mask([[1, 0, 3, 0, 3, 1, 1, 1]], (2, 4)).astype(int)
    array([[0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    if isinstance(segmentation, dict):
        return _from_runs(segmentation, limit)
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str):
        raise BadFile(
            "a COCO segmentation is a list of outlines, or runs with their size; found "
            f"{type(segmentation).__name__}"
        )
    height, width = _checked_size(size, limit)
    mask = np.zeros((height, width), np.bool_)
    for outline in segmentation:
        mask |= fill_coco_outline(outline, (height, width))
    return mask


def fill_coco_outline(outline: Sequence[float], size: tuple[int, int]) -> Mask:
    """The pixels inside one outline [x0, y0, x1, y1 ...], as COCO's program fills it.

    Raises:
        BadFile: These are not the corners of an outline.
    """
    height, width = size
    try:
        corners = np.array(outline, np.float64)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    usable = corners.ndim == 1 and corners.size >= 6 and corners.size % 2 == 0
    # Beyond this the program's own integers overflow.
    if not usable or not (np.abs(corners) < 2**24).all():
        raise BadFile("an outline is a list x0, y0, x1, y1 ... of at least three corners in px")
    fine = (_FINER * corners.reshape(-1, 2) + 0.5).astype(np.int64)
    u, v = _dense(fine)
    (steps,) = np.nonzero(u[1:] != u[:-1])
    x = (np.minimum(u[1:], u[:-1])[steps] + 0.5) / _FINER - 0.5
    y = (np.minimum(v[1:], v[:-1])[steps] + 0.5) / _FINER - 0.5
    # Only where the outline crosses the middle of a column does it switch pixels on and off.
    middle = (np.floor(x) == x) & (x >= 0) & (x <= width - 1)
    first = np.ceil(np.clip(y[middle], 0, height)).astype(np.int64)
    switches = np.sort(x[middle].astype(np.int64) * height + first)
    return _from_switches(switches, (height, width))


def _from_switches(switches: NDArray[np.int64], size: tuple[int, int]) -> Mask:
    """The mask that begins outside and changes at these places, counted down the columns."""
    height, width = size
    runs = np.diff(switches, prepend=0, append=height * width)
    flat = np.repeat(np.arange(runs.size) % 2 == 1, runs)
    return np.ascontiguousarray(flat.reshape(width, height).T)


def _dense(corners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Points along the closed outline, one a step of the longer direction, ends included twice."""
    parts = []
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        length = np.abs(end - start)
        main = 0 if length[0] >= length[1] else 1
        flip = start[main] > end[main]
        low, high = (end, start) if flip else (start, end)
        t = np.arange(length[main] + 1)
        slope = (high - low)[1 - main] / length[main] if length[main] else 0.0
        points = np.zeros((t.size, 2), np.int64)
        points[:, main] = low[main] + t
        # Cut towards zero, as C does.
        points[:, 1 - main] = (low[1 - main] + slope * t + 0.5).astype(np.int64)
        parts.append(points[::-1] if flip else points)
    dense = np.concatenate(parts)
    return dense[:, 0], dense[:, 1]


def _from_runs(segmentation: dict[str, Any], limit: int) -> Mask:
    height, width = _checked_size(segmentation.get("size"), limit)
    counts = segmentation.get("counts")
    runs = _runs_of_text(counts) if isinstance(counts, (str, bytes)) else _runs_of_list(counts)
    if (runs < 0).any() or int(runs.sum()) != height * width:
        raise BadFile(
            f"the runs of a mask of {width}x{height} px must add up to {height * width}; these add "
            f"up to {int(runs.sum())}"
        )
    return _from_switches(np.cumsum(runs)[:-1], (height, width))


def _runs_of_list(counts: Any) -> NDArray[np.int64]:
    try:
        runs = np.array(counts)
    except ValueError:
        runs = np.zeros((0, 0))
    if runs.ndim != 1 or (runs.size and runs.dtype.kind not in "iu"):
        raise BadFile("the runs of a COCO mask are a list of whole numbers, or COCO's text")
    return runs.astype(np.int64)


def _runs_of_text(text: str | bytes) -> NDArray[np.int64]:
    """Five bits a character, the sixth: more follow; from the fourth run on differences."""
    data = text.encode("latin-1", "replace") if isinstance(text, str) else text
    runs: list[int] = []
    value, shift = 0, 0
    for code in data:
        bits = code - 48
        if not 0 <= bits < 64 or shift > 60:
            raise BadFile("the runs of a COCO mask are no text that COCO writes")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value, shift = 0, 0
    if shift:
        raise BadFile("the runs of a COCO mask end in the middle of a number")
    if any(not 0 <= run < 2**40 for run in runs):
        raise BadFile("the runs of a COCO mask hold numbers that no mask has")
    return np.array(runs, np.int64)


def _checked_size(size: Any, limit: int) -> tuple[int, int]:
    if not isinstance(size, Sequence) or len(size) != 2 or not all(_is_size(n) for n in size):
        raise BadFile(f"the size of a COCO mask is [height, width] in px; found {size!r}")
    height, width = int(size[0]), int(size[1])
    if height * width > limit:
        raise TooLarge(f"a mask claims {width}x{height} px; at most {limit} are allowed")
    return height, width


def _is_size(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0
