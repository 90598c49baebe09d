"""A classical stereo method as a chain of five steps, each of which can be exchanged or left out.

It is there to be taken apart: `depthgauge components` measures what each step contributes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.errors import Unavailable
from depthgauge.geometry.filling import fill
from depthgauge.methods._pair import Pair, PairOptions, stereo_pair
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods._stereo import Search, search_of
from depthgauge.types import Inputs, Map

Volume = NDArray[np.float32]
"""(H, W, D) costs between 0 and 1, of the disparities lowest, lowest + 1 ..."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))
_LARGEST_DIFFERENCE = 40.0
"""Grey levels at which an absolute difference is cut off."""
_EDGE_TONE = 16.0
"""Grey levels of a step in the picture that divide the penalty of a jump by e ..."""
_LEAST_JUMP = 0.25
"""... down to this part of it."""
_TOLERANCE_PX = 1.0
"""Largest difference between the disparities of both pictures."""


class StereoChainOptions(PairOptions):
    """Options of `stereo-chain`: the choice of each step, then their parameters."""

    cost: Literal["census", "absolute"] = "census"
    """How two pixels are compared: order of grey values in 5 x 5 px, or difference of colours."""
    aggregation: Literal["none", "box", "guided"] = "box"
    """How costs of neighbours are averaged: not, in a square, or along the picture's edges."""
    optimisation: Literal["winner", "semi-global"] = "semi-global"
    """Each pixel takes its lowest cost, or the lowest sum of 8 directions (semi-global)."""
    refinement: Literal["none", "subpixel", "checked", "median"] = "median"
    """What happens to disparities; each includes those before it: nothing, minima between whole
    disparities, no estimate where the right picture's disparity differs, a median in 3 x 3 px."""
    filling: Literal["none", "background", "scanline"] = "none"
    """How pixels without an estimate are filled: not, with the smaller neighbour in the row, or by
    linear interpolation in the row."""
    radius: int = Field(default=2, ge=1, le=50)
    """Of the windows in which costs are averaged, in px."""
    p1: float = Field(default=0.05, ge=0)
    """Penalty for a change by 1 px between neighbours."""
    p2: float = Field(default=0.6, ge=0)
    """Penalty for larger changes; it is smaller at edges of the picture."""
    smoothness: float = Field(default=0.0004, gt=0)
    """Of `guided`: variances of grey values (0 to 1) below this are smoothed over."""
    disparities: int | None = Field(default=None, ge=1)
    """Number of disparities to search, starting at 0, if the sample has no range; none: an eighth
    of the width, but at least 128."""
    memory_limit_gib: float = Field(default=8, gt=0)
    """Memory for costs: 8 bytes per pixel and disparity."""


SPEC = MethodSpec(
    id="stereo-chain",
    title="Classical stereo as a chain of exchangeable steps",
    quantities=("disparity",),
    needs=("left_image", "right_image"),
    cite="Scharstein & Szeliski 2002, Zabih & Woodfill 1994, Hirschmueller 2008, "
    "Rhemann et al. 2011",
    options=StereoChainOptions,
    local=("memory_limit_gib",),
    steps=("cost", "aggregation", "optimisation", "refinement", "filling"),
)


def estimate(inputs: Inputs, options: StereoChainOptions) -> Map:
    """Disparity of the left view."""
    pair = stereo_pair(inputs, options, grey=False)
    search = search_of(inputs, pair, options.disparities)
    _check_memory(pair, search, options)
    volume = costs(pair, search, options)
    volume = aggregated(volume, pair, options)
    volume = optimised(volume, pair, options)
    values = refined(volume, search, options)
    return pair.returned(finished(values, search, options), options)


def costs(pair: Pair, search: Search, options: StereoChainOptions) -> Volume:
    """Step 1: how different a pixel is from its match, for every disparity."""
    from depthgauge.methods._chain import kernels

    height, width = pair.left.shape[:2]
    volume = np.zeros((height, width, search.count), np.float32)
    if options.cost == "census":
        codes = []
        for image in (pair.left, pair.right):
            found = np.zeros((height, width), np.uint32)
            kernels.census(_grey(image), found)
            codes.append(found)
        kernels.census_costs(codes[0], codes[1], search.lowest, volume)
    else:
        left, right = (
            image.reshape(height, width, -1).astype(np.float32) for image in (pair.left, pair.right)
        )
        kernels.absolute_costs(left, right, search.lowest, _LARGEST_DIFFERENCE, volume)
    return volume


def aggregated(volume: Volume, pair: Pair, options: StereoChainOptions) -> Volume:
    """Step 2: costs averaged over neighbours that probably have the same disparity."""
    if options.aggregation == "none":
        return volume
    guide = _grey(pair.left) / np.float32(255)
    out = np.zeros_like(volume)
    smooth = _box if options.aggregation == "box" else _guided
    for d in range(volume.shape[2]):
        layer = np.ascontiguousarray(volume[:, :, d])
        out[:, :, d] = smooth(layer, guide, options)
    return out


def _box(layer: Map, _guide: Map, options: StereoChainOptions) -> Map:
    import cv2

    size = (2 * options.radius + 1, 2 * options.radius + 1)
    return np.asarray(cv2.blur(layer, size, borderType=cv2.BORDER_REPLICATE), np.float32)


def _guided(layer: Map, guide: Map, options: StereoChainOptions) -> Map:
    """The guided filter: in each window, costs are a linear function of the grey value."""

    def mean(values: Map) -> Map:
        return _box(values, guide, options)

    grey, cost = mean(guide), mean(layer)
    variance = mean(guide * guide) - grey * grey
    spread = variance + np.float32(options.smoothness)
    slope = np.asarray((mean(guide * layer) - grey * cost) / spread, np.float32)
    offset = cost - slope * grey
    return np.asarray(mean(slope) * guide + mean(offset), np.float32)


def optimised(volume: Volume, pair: Pair, options: StereoChainOptions) -> Volume:
    """Step 3: costs in which neighbours prefer the same disparity; or as they are."""
    if options.optimisation == "winner":
        return volume
    from depthgauge.geometry._shared_kernels import path_count
    from depthgauge.methods._light_field import surface_kernels

    height, width = volume.shape[:2]
    image = np.ascontiguousarray(_grey(pair.left)[None])
    how = np.array([options.p1, options.p2, options.p2 * _LEAST_JUMP, _EDGE_TONE], np.float32)
    total = np.zeros_like(volume)
    for dx, dy in _DIRECTIONS:
        paths = path_count(height, width, dx, dy)
        surface_kernels.follow_paths(paths, volume, image, dx, dy, how, total)
    return total


def refined(volume: Volume, search: Search, options: StereoChainOptions) -> Map:
    """Step 4: one disparity for each pixel, in px; NaN where it is not confirmed."""
    from depthgauge.methods._chain import kernels
    from depthgauge.methods._light_field import surface_kernels

    shape = volume.shape[:2]
    if options.refinement == "none":
        return np.asarray(search.lowest + volume.argmin(axis=2), np.float32)
    values, sharpness = (np.zeros(shape, np.float32) for _ in range(2))
    surface_kernels.minima(volume, np.full(shape, -1, np.int64), values, sharpness)
    values += np.float32(search.lowest)
    if options.refinement == "subpixel":
        return values
    right = np.full(shape, -1, np.int64)
    kernels.best_of_right(volume, search.lowest, right)
    kernels.drop_inconsistent(right, search.lowest, _TOLERANCE_PX, values)
    if options.refinement == "checked":
        return values
    out = np.full(shape, np.nan, np.float32)
    kernels.median(values, out)
    return out


def finished(values: Map, search: Search, options: StereoChainOptions) -> Map:
    """Step 5: without disparities outside the allowed range, and with holes filled, or not."""
    low, high = search.allowed
    outside = (values < low - 0.5) | (values > high + 0.5)
    values = np.where(outside, np.float32(np.nan), values)
    values = np.clip(values, np.float32(low), np.float32(high))
    return values if options.filling == "none" else fill(values, options.filling)


def _grey(image: NDArray[np.uint8]) -> Map:
    """Grey values 0 to 255 in float32."""
    from depthgauge.methods._images import as_grey

    return np.ascontiguousarray(as_grey(image), np.float32)


def _check_memory(pair: Pair, search: Search, options: StereoChainOptions) -> None:
    height, width = pair.left.shape[:2]
    needed_gib = 8 * height * width * search.count / 2**30
    if needed_gib > options.memory_limit_gib:
        raise Unavailable(
            f"{width}x{height} px and {search.count} disparities need {needed_gib:.1f} GiB, and "
            f"memory_limit_gib is {options.memory_limit_gib:g}; use a smaller input_scale."
        )
