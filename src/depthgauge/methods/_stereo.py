"""What OpenCV's two stereo matchers share: search range, borders, invalid pixels, filling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from depthgauge.errors import Unavailable
from depthgauge.geometry.filling import fill
from depthgauge.methods._images import Bytes
from depthgauge.methods._pair import Pair, PairOptions
from depthgauge.types import Inputs, Map

STEPS = 16
"""OpenCV's disparities are in sixteenths of a pixel; it searches a multiple of 16 disparities."""
_FARTHEST = 2**15 // STEPS - 1  # 16-bit numbers
_FEWEST_SEARCHED = 128
_SEARCHED_SHARE = 8
"""Without a range, an eighth of the width is searched: 514 for pictures 4112 px wide."""


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError(f"is {value} but must be odd")
    return value


Odd = Annotated[int, AfterValidator(_odd)]


class StereoOptions(PairOptions):
    """Options of both matchers; lengths are in px of the compared pictures, except `disparities`,
    which is in px of the original left picture.
    """

    disparities: int | None = Field(default=None, ge=1)
    """Number of disparities to search, starting at 0, if the sample has no disparity range, in px
    of the left picture's full size; none: an eighth of its width, but at least 128. It is rounded
    up to a multiple of 16."""
    pad: bool = True
    """Pad the pictures with their border pixels, so that the whole picture gets estimates; without
    it, OpenCV omits the columns whose largest disparity lies outside the other picture."""
    fill: Literal["none", "background", "scanline"] = "none"
    """How pixels without an estimate are filled: not at all, with the smaller neighbour in the row,
    or by linear interpolation in the row."""


@dataclass(frozen=True, slots=True)
class Search:
    """The disparities to search: `lowest`, `lowest + 1` ..., `count` of them."""

    lowest: int
    count: int
    allowed: tuple[float, float] = (-math.inf, math.inf)
    """The sample's own range; OpenCV searches multiples of 16; matches outside are dropped."""

    @property
    def left_px(self) -> int:
        """How far the largest disparity reaches beyond the left border."""
        return max(self.lowest + self.count, 0)

    @property
    def right_px(self) -> int:
        """How far a negative lowest disparity reaches beyond the right border."""
        return max(-self.lowest, 0)


def search_of(inputs: Inputs, pair: Pair, disparities: int | None) -> Search:
    """The sample's disparity range, both ends included, else `disparities` values starting at 0.

    Both are in px of the original left picture, and are converted to px of the pair.

    Raises:
        Unavailable: The range is larger than OpenCV can search.
    """
    lowest, count = 0, math.ceil((disparities or _usual(pair)) * pair.scale)
    allowed = (-math.inf, math.inf)
    if "disparity_range" in inputs:
        low, high = (float(end) * pair.scale for end in inputs["disparity_range"])
        allowed = (low, high)
        lowest = math.floor(low)
        count = math.ceil(high) - lowest + 1
    count = math.ceil(count / STEPS) * STEPS
    if lowest < -_FARTHEST or lowest + count > _FARTHEST:
        raise Unavailable(
            f"the disparity range {lowest}..{lowest + count} px is beyond the "
            f"{_FARTHEST} px that OpenCV can express; scale the pictures down with input_scale."
        )
    return Search(lowest, count, allowed)


def _usual(pair: Pair) -> int:
    return max(_FEWEST_SEARCHED, math.ceil(pair.given_px[0] / _SEARCHED_SHARE))


Matcher = Callable[[Bytes, Bytes], NDArray[np.int16]]


def match(matcher: Matcher, pair: Pair, search: Search, block: int, options: StereoOptions) -> Map:
    """Disparities in px, NaN where there is none; of the whole picture if `pad` is on."""
    left, right = pair.left, pair.right
    if options.pad:
        values = _padded(matcher, left, right, search, block // 2 + 1)
    elif min(left.shape[0], left.shape[1] - search.left_px - search.right_px) <= block:
        # OpenCV fails, or returns arbitrary values, if no pixel can be searched.
        values = np.full(left.shape[:2], np.nan, dtype=np.float32)
    else:
        values = _in_px(matcher(left, right), search)
        # StereoBM may return arbitrary values in the first column.
        values[:, : search.left_px] = np.nan
    values = _within(values, *search.allowed)
    if options.fill != "none":
        values = fill(values, options.fill)
    return pair.returned(values, options)


def _within(values: Map, least: float, most: float) -> Map:
    """Drops matches outside the range; sub-pixel steps beyond its ends are moved to them."""
    values[(values < least - 0.5) | (values > most + 0.5)] = np.nan
    return np.clip(values, np.float32(least), np.float32(most))


def _padded(matcher: Matcher, left: Bytes, right: Bytes, search: Search, margin: int) -> Map:
    import cv2

    # Half a block more on all sides, which StereoBM omits too.
    border = (margin, margin, search.left_px + margin, search.right_px + margin)
    wide = [cv2.copyMakeBorder(i, *border, cv2.BORDER_REPLICATE) for i in (left, right)]
    height, width = left.shape[:2]
    values = _in_px(matcher(wide[0], wide[1]), search)
    return np.ascontiguousarray(values[margin : margin + height, border[2] : border[2] + width])


def _in_px(steps: NDArray[np.int16], search: Search) -> Map:
    values: Map = steps.astype(np.float32) / np.float32(STEPS)
    values[steps < search.lowest * STEPS] = np.nan
    return values
