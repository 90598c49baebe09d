"""The engine of `capture refine` that needs no network: the more probable of two candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.refine.engine import MeasuredMaps, RefinedMaps, RefineOptions, RefinerSpec
from depthgauge.errors import WrongShape
from depthgauge.types import Image, Map, Mask

SPEC = RefinerSpec(
    "classical", "Chooses the more probable of two candidates per pixel.", revision=2
)
_NOISE_SIGMAS = 4.0
"""Colours that differ by more than this many times the guide's noise are different."""
_LEAST_SIGMA, _MOST_SIGMA = 0.01, 0.1
_POWER = 8
"""Exponent of the confidence: on simulated sessions 1 in 200 is wrong at 0.92, 1 in 16 at 0.85,
4 in 10 at 0.6."""
_DOUBTFUL_PX2 = 0.01
"""A pixel with this variance, in px of the measured map, has half the weight of a certain one."""
_LEAST_TRUST = 1e-4
_STAIR = 0.1
"""Weight of pixels that climb from one surface to another: they mix both."""


def refine(maps: MeasuredMaps, guide: Image, options: RefineOptions) -> RefinedMaps:
    """Resizes a map to the guide's size, with jumps where the guide has edges.

    Where no jump is near, values are interpolated, exactly on planes. Near a jump, the pixels of
    the window are split into surfaces. The two with the largest weight (near the pixel, of its
    colour, with small variance and high confidence) are its candidates, each a plane with a
    Laplacian scale. The one at which the mixture is denser is chosen, never a value between the
    two.

    Args:
        maps: The measured map, in px of its own image.
        guide: (H, W) or (H, W, 3), with the target size.
        options: See `RefineOptions`.

    Raises:
        WrongShape: The maps' sizes differ, are below 2x2, or above the guide's.
    """
    from depthgauge.capture.refine.engines import _refine_kernels as kernels

    colours = _colours(guide)
    _check(maps, colours)
    scale = colours.shape[1] / maps.disparity.shape[1]
    jump = options.jump_px / scale
    rough = np.zeros(maps.disparity.shape, np.uint8)
    stair = np.zeros(maps.disparity.shape, np.bool_)
    kernels.find_rough(maps.disparity, jump, rough, stair)
    out = np.full((4, *colours.shape[:2]), np.nan, np.float32)
    numbers = (
        jump,
        options.radius,
        guide_sigma(colours),
        options.least_scale,
        options.fill_px / scale,
    )
    kernels.enlarge(
        maps.disparity,
        maps.variance,
        maps.confidence,
        _trust(maps, stair),
        _shrunk(colours, maps.disparity.shape),
        colours,
        _around(rough, options.radius),
        np.array(numbers, np.float64),
        out,
    )
    out[0] *= scale
    out[1] *= scale * scale
    return RefinedMaps(out[0], out[1], out[2], out[3])


def guide_sigma(colours: NDArray[np.float32]) -> float:
    """How far apart colours of one surface may be: a few times the guide's noise.

    The noise is estimated from differences between neighbours, most of which are on one surface.

    Args:
        colours: (H, W, C), 0..1.
    """
    step = max(1, int(np.sqrt(colours.shape[0] * colours.shape[1] / 1e6)))
    picked = colours[::step]
    differences = np.abs(picked[:, 1:] - picked[:, :-1])
    noise = float(np.median(differences)) / (0.6745 * np.sqrt(2))
    return float(np.clip(_NOISE_SIGMAS * noise, _LEAST_SIGMA, _MOST_SIGMA))


def _colours(guide: Image) -> NDArray[np.float32]:
    scaled = guide.astype(np.float32)
    if guide.dtype == np.uint8:
        scaled /= 255
    return np.ascontiguousarray(scaled if scaled.ndim == 3 else scaled[..., None])


def _check(maps: MeasuredMaps, colours: NDArray[np.float32]) -> None:
    shapes = {maps.disparity.shape, maps.variance.shape, maps.confidence.shape}
    height, width = maps.disparity.shape
    if len(shapes) > 1:
        raise WrongShape(
            f"disparity, variance and confidence must have the same size, found {sorted(shapes)}; "
            "run `depthgauge capture spacetime` again"
        )
    if min(height, width) < 2 or height > colours.shape[0] or width > colours.shape[1]:
        raise WrongShape(
            f"the measured map is {width}x{height} and the image {colours.shape[1]}x"
            f"{colours.shape[0]}; the map must be at least 2x2 and at most as large as the image"
        )


def _trust(maps: MeasuredMaps, stair: Mask) -> Map:
    """The weight of each measured value."""
    spread = np.where(np.isfinite(maps.variance), maps.variance, np.float32(_DOUBTFUL_PX2))
    sure = np.nan_to_num(maps.confidence) ** _POWER / (1 + spread / np.float32(_DOUBTFUL_PX2))
    sure[stair] *= _STAIR
    return np.maximum(sure, np.float32(_LEAST_TRUST)).astype(np.float32)


def _shrunk(colours: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The guide at the measured map's size, each pixel the mean of those that it covers."""
    import cv2

    if colours.shape[:2] == shape:
        return colours
    small = cv2.resize(colours, (shape[1], shape[0]), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(small.reshape(*shape, -1), np.float32)


def _around(rough: NDArray[np.uint8], radius: int) -> NDArray[np.uint8]:
    """Pixels with a rough one in their window."""
    import cv2

    return np.asarray(cv2.dilate(rough, np.ones((2 * radius + 1,) * 2, np.uint8)))
