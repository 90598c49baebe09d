"""OpenCV's block matching: fast, but without estimates where there is no texture."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from depthgauge.methods._pair import stereo_pair
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods._stereo import STEPS, Odd, Search, StereoOptions, match, search_of
from depthgauge.types import Inputs, Map


class BmOptions(StereoOptions):
    """Options of `bm`."""

    block_size: Odd = Field(default=21, ge=5, le=255)
    """Width and height of the compared blocks, in px; odd."""
    texture_threshold: int = Field(default=10, ge=0)
    """Blocks with less texture (sum of x derivatives) have no estimate."""
    uniqueness: int = Field(default=15, ge=0, le=100)
    """By how many percent the best match must beat all others; else there is no estimate."""
    speckle_window: int = Field(default=100, ge=0)
    """Patches of at most this many pixels are removed; 0: none."""
    speckle_range: int = Field(default=2, ge=0)
    """Largest change within a patch, in px."""
    disp12_max_diff: int = Field(default=1, ge=-1)
    """Largest difference to the match from right to left, in px; -1: not checked."""
    pre_filter: Literal["xsobel", "normalized"] = "xsobel"
    """What is compared: the pictures' x derivatives, or their values minus the local mean."""
    pre_filter_cap: int = Field(default=31, ge=1, le=63)
    """Filtered values are clipped at this value."""
    pre_filter_size: Odd = Field(default=9, ge=5, le=255)
    """Width of the filter window of `normalized`, in px; odd."""


SPEC = MethodSpec(
    id="bm",
    title="Block matching (OpenCV)",
    quantities=("disparity",),
    needs=("left_image", "right_image"),
    cite="Konolige 1998",
    revision=2,
    options=BmOptions,
)


def estimate(inputs: Inputs, options: BmOptions) -> Map:
    """Disparity of the left view."""
    pair = stereo_pair(inputs, options, grey=True)
    search = search_of(inputs, pair, options.disparities)
    matcher = _matcher(search, options)
    return match(matcher.compute, pair, search, options.block_size, options)


def _matcher(search: Search, options: BmOptions) -> Any:
    import cv2

    kinds = {
        "xsobel": cv2.STEREO_BM_PREFILTER_XSOBEL,
        "normalized": cv2.STEREO_BM_PREFILTER_NORMALIZED_RESPONSE,
    }
    matcher = cv2.StereoBM.create(search.count, options.block_size)
    matcher.setMinDisparity(search.lowest)
    matcher.setTextureThreshold(options.texture_threshold)
    matcher.setUniquenessRatio(options.uniqueness)
    matcher.setSpeckleWindowSize(options.speckle_window)
    # Unlike in StereoSGBM, it is in sixteenths of a pixel here.
    matcher.setSpeckleRange(options.speckle_range * STEPS)
    matcher.setDisp12MaxDiff(options.disp12_max_diff)
    matcher.setPreFilterType(kinds[options.pre_filter])
    matcher.setPreFilterCap(options.pre_filter_cap)
    matcher.setPreFilterSize(options.pre_filter_size)
    return matcher
