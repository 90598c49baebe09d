"""The reference matcher of a pair, and the line from its disparities to the true ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io.weights import open_network
from depthgauge.metrics.views._frames import Picture, as_codes
from depthgauge.types import Map

Values = NDArray[np.float64]
_LOWEST = -16
"""Also a view without any shift, or with a slight one to the wrong side, is matched."""
_BLOCK, _STEPS = 5, 16
_ROUNDS, _KEPT_DEVIATIONS, _LEAST_DEVIATION_PX = 10, 3.0, 0.25
_BINS = 32


def match_views(left: Picture, right: Picture, matcher: str, disparities: int) -> Map:
    """Disparities of the left view by the reference matcher, NaN where there is none.

    Args:
        left: (H, W, 3).
        right: The same size.
        matcher: `sgbm`, our network (`nets-stereo-3`), or one by its hash (`onnx-...`).
        disparities: How many are searched from -16 px on; networks search what they search.

    Raises:
        Unavailable: There is no such network.
        BadFile: The network is not one for stereo.
    """
    if matcher == "sgbm":
        return _sgbm(as_codes(left), as_codes(right), disparities)
    return _by_network(left, right, matcher)


def _sgbm(left: NDArray[np.uint8], right: NDArray[np.uint8], disparities: int) -> Map:
    import cv2

    count = -(-(disparities - _LOWEST) // _STEPS) * _STEPS
    area = 3 * _BLOCK**2
    matcher = cv2.StereoSGBM.create(
        minDisparity=_LOWEST,
        numDisparities=count,
        blockSize=_BLOCK,
        P1=8 * area,
        P2=32 * area,
        disp12MaxDiff=1,
        preFilterCap=63,
        uniquenessRatio=10,
        speckleWindowSize=100,
        speckleRange=2,
        mode=cv2.STEREO_SGBM_MODE_SGBM_3WAY,
    )
    # OpenCV matches only columns whose whole search is within the picture.
    before, after = count + _LOWEST, -_LOWEST
    wide = [cv2.copyMakeBorder(v, 0, 0, before, after, cv2.BORDER_REPLICATE) for v in (left, right)]
    steps = matcher.compute(wide[0], wide[1])[:, before : before + left.shape[1]]
    values: Map = steps.astype(np.float32) / np.float32(_STEPS)
    values[steps < _LOWEST * _STEPS] = np.nan
    return values


def _by_network(left: Picture, right: Picture, name: str) -> Map:
    """By a network that takes two pictures (1, 3, H, W) of 0..255 and gives disparities in px."""
    import cv2

    network = open_network(name)
    sides = network.get_inputs()
    if len(sides) != 2 or any(len(side.shape) != 4 for side in sides):
        raise BadFile(f"{name}: a stereo network has two inputs (1, 3, H, W).")
    height, width = left.shape[:2]
    tall, wide = (
        asked if isinstance(asked, int) else own
        for asked, own in zip(sides[0].shape[2:], (height, width), strict=True)
    )
    given = [
        cv2.resize(view * np.float32(255), (wide, tall), interpolation=cv2.INTER_AREA)
        for view in (left, right)
    ]
    feed = {
        side.name: np.ascontiguousarray(view.transpose(2, 0, 1)[None])
        for side, view in zip(sides, given, strict=True)
    }
    found = np.asarray(network.run(None, feed)[0], np.float32)
    if found.size != tall * wide:
        raise BadFile(f"{name}: gave {found.shape} for pictures of {wide}x{tall}.")
    shrunk = cv2.resize(found.reshape(tall, wide), (width, height), interpolation=cv2.INTER_NEAREST)
    return np.asarray(shrunk * np.float32(width / wide), np.float32)


class Line(NamedTuple):
    """true = scale * found + offset, and how well it fits."""

    scale: float
    offset: float
    residual_px: float
    """Root of the mean squared residual of the pixels that the line was fitted to."""
    outliers: float
    """Share of pixels that were left out of the fit."""


def fit_line(found: Values, true: Values) -> Line:
    """Least squares without outliers: those beyond three deviations are left out, repeatedly.

    It starts with the medians of up to 32 groups of equal true disparity, which some wrong matches
    do not move. The deviation is 1.4826 times the median absolute residual, at least 0.25 px.

    Args:
        found: Disparities of the reference matcher; not all equal.
        true: Their truths.
    """
    scale, offset = _least_squares(*_medians(found, true))
    kept = np.ones(found.size, bool)
    for _ in range(_ROUNDS):
        residuals = true - (scale * found + offset)
        middle = np.median(residuals)
        deviation = max(1.4826 * float(np.median(np.abs(residuals - middle))), _LEAST_DEVIATION_PX)
        now = np.abs(residuals - middle) <= _KEPT_DEVIATIONS * deviation
        if _ and np.array_equal(now, kept):
            break
        kept = now
        scale, offset = _least_squares(found[kept], true[kept])
    residuals = (true - (scale * found + offset))[kept]
    return Line(scale, offset, float(np.sqrt(np.mean(residuals**2))), 1.0 - float(kept.mean()))


def _least_squares(x: Values, y: Values) -> tuple[float, float]:
    mean_x, mean_y = float(x.mean()), float(y.mean())
    spread = float(np.sum((x - mean_x) ** 2))
    scale = float(np.sum((x - mean_x) * (y - mean_y))) / spread if spread > 0 else 0.0
    return scale, mean_y - scale * mean_x


def _medians(x: Values, y: Values) -> tuple[Values, Values]:
    groups = np.array_split(np.argsort(y, kind="stable"), min(_BINS, y.size))
    return tuple(np.array([np.median(v[group]) for group in groups]) for v in (x, y))  # type: ignore[return-value]  # two
