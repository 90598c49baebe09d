"""OpenCV's semi-global matching: the usual baseline for stereo."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from depthgauge.errors import Unavailable
from depthgauge.methods._pair import Pair, stereo_pair
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods._stereo import Odd, Search, StereoOptions, match, search_of
from depthgauge.types import Inputs, Map


class SgbmOptions(StereoOptions):
    """Options of `sgbm`; the defaults are those of OpenCV's own example."""

    block_size: Odd = Field(default=5, ge=1)
    """Width and height of the compared blocks, in px; odd."""
    p1: int | None = Field(default=None, ge=0)
    """Penalty for a change of 1 px between neighbours; none: 8 x channels x block_size squared."""
    p2: int | None = Field(default=None, ge=0)
    """Penalty for larger changes; none: 32 x channels x block_size squared."""
    mode: Literal["sgbm", "hh", "3way", "hh4"] = "sgbm"
    """Number of directions to sum over: 5, 8 (`hh`), 3 (`3way`, fastest) or 4 (`hh4`)."""
    uniqueness: int = Field(default=10, ge=0, le=100)
    """By how many percent the best match must beat the second; else there is no estimate."""
    speckle_window: int = Field(default=100, ge=0)
    """Patches of at most this many pixels are removed; 0: none."""
    speckle_range: int = Field(default=2, ge=0)
    """Largest change within a patch, in px."""
    disp12_max_diff: int = Field(default=1, ge=-1)
    """Largest difference to the match from right to left, in px; -1: not checked."""
    pre_filter_cap: int = Field(default=63, ge=1)
    """The pictures' x derivatives are clipped at this value before they are compared."""
    memory_limit_gib: float = Field(default=8, gt=0)
    """Memory that `hh` and `hh4` may use: they keep 4 bytes per pixel and disparity, 24 GiB for 12
    Mpx and 528 disparities. The other modes keep a few rows."""


SPEC = MethodSpec(
    id="sgbm",
    title="Semi-global block matching (OpenCV)",
    quantities=("disparity",),
    needs=("left_image", "right_image"),
    cite="Hirschmueller 2008, with the block costs of Birchfield & Tomasi 1998",
    revision=2,
    options=SgbmOptions,
    local=("memory_limit_gib",),
)


def estimate(inputs: Inputs, options: SgbmOptions) -> Map:
    """Disparity of the left view."""
    import cv2

    pair = stereo_pair(inputs, options, grey=False)
    search = search_of(inputs, pair, options.disparities)
    _check_memory(pair, search, options)
    area = (3 if pair.left.ndim == 3 else 1) * options.block_size**2
    modes = {
        "sgbm": cv2.STEREO_SGBM_MODE_SGBM,
        "hh": cv2.STEREO_SGBM_MODE_HH,
        "3way": cv2.STEREO_SGBM_MODE_SGBM_3WAY,
        "hh4": cv2.STEREO_SGBM_MODE_HH4,
    }
    matcher = cv2.StereoSGBM.create(
        minDisparity=search.lowest,
        numDisparities=search.count,
        blockSize=options.block_size,
        P1=8 * area if options.p1 is None else options.p1,
        P2=32 * area if options.p2 is None else options.p2,
        disp12MaxDiff=options.disp12_max_diff,
        preFilterCap=options.pre_filter_cap,
        uniquenessRatio=options.uniqueness,
        speckleWindowSize=options.speckle_window,
        speckleRange=options.speckle_range,
        mode=modes[options.mode],
    )
    return match(matcher.compute, pair, search, options.block_size, options)


def _check_memory(pair: Pair, search: Search, options: SgbmOptions) -> None:
    """OpenCV would allocate all of it at once, and the system might kill the process."""
    if options.mode not in ("hh", "hh4"):
        return
    height, width = pair.left.shape[:2]
    needed_gib = 4 * height * width * search.count / 2**30
    if needed_gib > options.memory_limit_gib:
        raise Unavailable(
            f"mode {options.mode} needs {needed_gib:.1f} GiB for {width}x{height} px and "
            f"{search.count} disparities, and memory_limit_gib is {options.memory_limit_gib:g}; "
            "use mode sgbm or 3way, or a smaller input_scale."
        )
