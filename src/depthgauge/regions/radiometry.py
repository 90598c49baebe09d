"""Parts of an image that are hard to match, each with a level of difficulty from 1 to 4.

A region `low_texture:3` has the pixels of levels 3 and 4. Levels come from the image around a pixel
by fixed thresholds, in grey values of 0..255 and px, so they depend neither on the image's size nor
on the rest of the image.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry.discontinuities.edges import Edges
from depthgauge.geometry.distances import nearest_pixel
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.regions.truth_view import TruthView
from depthgauge.types import Map, Mask

Levels = NDArray[np.uint8]
"""(H, W), 0 for no difficulty, 1..4 from mild to severe."""

_CITE = "after Honauer 2019, 8.2"
_WINDOW = 9
_FLAT = (4.0, 2.0, 1.0, 0.5)
_DARK, _BRIGHT = 2, 253
_FAINT = (32.0, 16.0, 8.0, 4.0)
_SIDE_WINDOW = 7
_SIMILAR = (0.8, 0.9, 0.95, 0.98)
_PATCH = 15
_VALLEY = 0.5
_FARTHEST_PX = 64
_STRUCTURE = 4.0  # a variance of grey values; a patch that varies less has nothing to repeat


@shared_map("texture_level", needs=("truth_view",), cite=_CITE)
def texture_level(truth: Map, *, truth_view: TruthView) -> Levels:
    """How little texture there is around a pixel: 1 little, 4 none.

    The measure is the root of the mean squared difference between horizontal neighbours, in grey
    values, over the 9 x 9 pixels around. Levels 1 to 4 are below 4, 2, 1 and 0.5. Level 1 is what
    the Middlebury program calls textureless, level 2 what its paper says, level 3 is below the
    noise of most cameras, and level 4 is hardly more than rounding. If the image is not the left
    one of a pair, matches do not lie in its row; then the larger of the measures for horizontal and
    vertical neighbours is used.
    """
    squared = _mean_squared_step(truth_view.grey, axis=1)
    if not truth_view.is_left:
        squared = np.maximum(squared, _mean_squared_step(truth_view.grey, axis=0))
    return _below(np.sqrt(squared), _FLAT)


@shared_map("saturation_level", needs=("truth_view",), cite=_CITE)
def saturation_level(truth: Map, *, truth_view: TruthView) -> Levels:
    """How much of a pixel and its surroundings was lost by clipping.

    A value is clipped if it is at most 2 or at least 253 (of 255). Level 1: a channel of the pixel
    is clipped. Level 2: all its channels are. Level 3: all are, and so are half of the values in
    the 9 x 9 pixels around. Level 4: all are, and so are all values around.
    """
    channels = truth_view.channels
    clipped = ((channels <= _DARK) | (channels >= _BRIGHT)).mean(axis=2, dtype=np.float32)
    around = _window_mean(clipped)
    whole = clipped == 1
    steps = (clipped > 0, whole, whole & (around >= 0.5), whole & (around >= 1))
    levels: Levels = np.sum(steps, axis=0, dtype=np.uint8)
    return levels


@shared_map("repetition_level", needs=("truth_view", "items"), cite=_CITE)
def repetition_level(truth: Map, *, truth_view: TruthView, items: Mapping[str, Any]) -> Levels:
    """How well a pixel's surroundings fit another place in the same row.

    Two patches a and b of 15 x 15 grey values fit by 1 - |a - b|^2 / (|a - mean|^2 + |b - mean|^2):
    1 if they are the same, about 0 if they have nothing in common. Going left and right from a
    pixel, the fit first falls; the best fit after it fell below 0.5 counts. Levels 1 to 4 are fits
    of at least 0.8, 0.9, 0.95 and 0.98. The search ends at the width of the sample's disparity
    range, at most 64 px (a repetition beyond the range does not mislead a method); without a range,
    or if the image is not the left one of a pair, it ends at 64 px. A patch that varies by less
    than 2 grey values has nothing to repeat and has level 0. Pixels whose patch would leave the
    image get the level of the nearest pixel whose patch does not.
    """
    grey = np.rint(truth_view.grey).clip(0, 255).astype(np.uint8)
    farthest = _search_px(truth_view, items)
    if min(grey.shape) < _PATCH or farthest < 1:
        return np.zeros(grey.shape, np.uint8)
    from depthgauge.regions import _radiometry_kernels as kernels

    radius = _PATCH // 2
    similar = np.zeros(grey.shape, np.float32)
    kernels.self_similarity(grey, radius, farthest, _VALLEY, _STRUCTURE, similar)
    inner = similar[radius:-radius, radius:-radius]
    return np.pad(4 - _below(inner, _SIMILAR), radius, mode="edge")


@shared_map("contrast_level", needs=("truth_view", "edges"), cite=_CITE)
def contrast_level(truth: Map, *, truth_view: TruthView, edges: Edges) -> Levels:
    """How hard it is to see a depth discontinuity in the image.

    The contrast at a pixel of a discontinuity is the difference between the mean colours of the
    nearby foreground and the nearby background within the 7 x 7 pixels around, in the channel where
    it is largest. Levels 1 to 4 are contrasts below 32, 16, 8 and 4 of 255. Every pixel of the
    nearby foreground and background has the level of its nearest pixel of a discontinuity; all
    others have level 0.
    """
    from depthgauge.regions import _radiometry_kernels as kernels

    at = np.flatnonzero(edges.edge).astype(np.int32)
    contrast = np.full(at.size, np.nan)
    sides = edges.foreground, edges.background
    kernels.side_means(truth_view.channels, at, *sides, _SIDE_WINDOW // 2, contrast)
    levels, seen = np.zeros(edges.edge.size, np.uint8), np.zeros(edges.edge.size, bool)
    levels[at], seen[at] = _below(contrast, _FAINT), np.isfinite(contrast)
    index = nearest_pixel(seen.reshape(edges.edge.shape))
    near = (edges.foreground | edges.background) & (index >= 0)
    return np.where(near, levels[index], np.uint8(0))


def _check_level(*, level: int) -> None:
    if not 1 <= level <= 4:
        raise Misuse(f"level is {level}; levels go from 1 (mild) to 4 (severe)")


@region("low_texture", needs=("texture_level",), cite=_CITE, check=_check_level)
def low_texture(truth: Map, *, texture_level: Levels, level: int = 1) -> Mask:
    """Pixels with little to match around them, of at least that level.

    By the root of the mean squared horizontal difference in 9 x 9 pixels: below 4 grey values
    (level 1), 2, 1, 0.5 (level 4). See the shared map `texture_level`.
    """
    return np.greater_equal(texture_level, level)


@region("saturation", needs=("saturation_level",), cite=_CITE, check=_check_level)
def saturation(truth: Map, *, saturation_level: Levels, level: int = 1) -> Mask:
    """Clipped pixels, of at least that level.

    One channel is clipped (level 1), all are (2), with half (3) or all (4) of the 9 x 9
    pixels around. See the shared map `saturation_level`.
    """
    return np.greater_equal(saturation_level, level)


@region("repetition", needs=("repetition_level",), cite=_CITE, check=_check_level)
def repetition(truth: Map, *, repetition_level: Levels, level: int = 1) -> Mask:
    """Pixels whose surroundings look like another place in the row, of at least that level.

    The best other place within the disparity range fits by 0.8 (level 1), 0.9, 0.95, 0.98 (level
    4). See the shared map `repetition_level`.
    """
    return np.greater_equal(repetition_level, level)


@region("low_contrast", needs=("contrast_level",), cite=_CITE, check=_check_level)
def low_contrast(truth: Map, *, contrast_level: Levels, level: int = 1) -> Mask:
    """Pixels near a discontinuity that the image hardly shows, of at least that level.

    Both sides differ by less than 32 (level 1), 16, 8, 4 (level 4) grey values in every channel.
    See the shared map `contrast_level`; `edges` says what a discontinuity is and what is near it.
    """
    return np.greater_equal(contrast_level, level)


def _below(measure: NDArray[np.floating[Any]], limits: tuple[float, ...]) -> Levels:
    """How many of the limits a measure is below."""
    count: Levels = np.sum([measure < limit for limit in limits], axis=0, dtype=np.uint8)
    return count


def _mean_squared_step(grey: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """The mean squared difference between neighbours in the window around each pixel."""
    if grey.shape[axis] == 1:
        return np.zeros_like(grey)
    # With its neighbour mirrored beyond the border, an outermost pixel also has two steps.
    beyond = [(1, 1), (0, 0)] if axis == 0 else [(0, 0), (1, 1)]
    squared: NDArray[np.float32] = np.diff(np.pad(grey, beyond, mode="reflect"), axis=axis) ** 2
    before, after = (squared[:-1], squared[1:]) if axis == 0 else (squared[:, :-1], squared[:, 1:])
    return _window_mean((before + after) * np.float32(0.5))


def _window_mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
    from depthgauge.regions import _radiometry_kernels as kernels

    mean = np.zeros(values.shape, np.float32)
    kernels.box_mean(values, _WINDOW // 2, mean)
    return mean


def _search_px(view: TruthView, items: Mapping[str, Any]) -> int:
    """How far away a similar place can mislead a method."""
    if not view.is_left or "disparity_range" not in items:
        return _FARTHEST_PX
    low, high = items["disparity_range"]
    # Written so that a range without an end, or of NaN, sets no limit.
    return math.ceil(high - low) if high - low < _FARTHEST_PX else _FARTHEST_PX
