"""Two layers of flow: the dominant motion, and a second one where that fits badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.methods._images import two_images
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Inputs, Map

Floats = NDArray[np.float32]
_ROUNDS = 6
"""Robust fits of a smooth motion, each with the outliers of the one before."""
_AGREE_PX = 1.0
"""Flow there and back may differ by so much."""
_BETTER = 0.8
"""A motion replaces another where it leaves at most this share of the error."""
_NOISE = 2.0
"""Grey values that need no explanation."""
_SPREAD = 0.02
"""Size of the regions of poor fit, as a share of the width."""


class PeelOptions(MethodOptions):
    """Options of `peel`."""

    reach: float = Field(default=0.2, gt=0, le=1)
    """How far the dominant motion is carried into what is in front, as a share of the width."""
    misfit: float = Field(default=0.5, gt=0)
    """Where the dominant motion leaves this share of the contrast unexplained, there are two."""
    prune: bool = True
    """Leave out the second layer where none was found; otherwise every pixel has two."""


SPEC = MethodSpec(
    id="peel",
    title="Flow of two layers: a second motion where the dominant one fits badly",
    quantities=("layered_flow",),
    needs=("first_image", "second_image"),
    cite="after Irani & Peleg 1992",
    options=PeelOptions,
)


def estimate(inputs: Inputs, options: PeelOptions) -> Map:
    """Flow (2, H, W, 2) of the nearer and the farther layer; NaN where there is no second one.

    What is seen through glass mostly moves like its surroundings, so the farther layer has the
    dominant motion unless the flow of the pixel itself is much better. The nearer one has the
    motion of what the dominant one leaves unexplained.
    """
    first, second = two_images(inputs, "first_image", "second_image", grey=True)
    one, two = first.astype(np.float32), second.astype(np.float32)
    there, back = _flow(one, two), _flow(two, one)
    ways = ((one, two, there, back), (two, one, back, there))
    most, most_back = (_dominant(*way, options.reach) for way in ways)
    poor = _unexplained(one, two, most) >= options.misfit
    poor_back = _unexplained(two, one, most_back) >= options.misfit
    near = _nearer(one, two, there, poor, poor_back)
    far = _farther(one, two, there, back, most)
    if options.prune:
        far = np.where(poor[..., None], far, np.float32(np.nan))
    return np.stack([near, far]).astype(np.float32)


def _dominant(one: Floats, two: Floats, there: Floats, back: Floats, reach: float) -> Floats:
    """The smooth motion of most of the surroundings of each pixel."""
    error = _error(one, two, there)
    fits = 1 / (1 + (error / (float(np.median(error)) + 1)) ** 2)
    weight = np.asarray(_agree(there, back) * fits, np.float32)
    return _smooth(there, weight, reach * one.shape[1])


def _nearer(
    one: Floats,
    two: Floats,
    there: Floats,
    poor: NDArray[np.bool_],
    poor_back: NDArray[np.bool_],
) -> Floats:
    """The flow, and in regions of poor fit that of what is left there, if it fits much better."""
    left, left_later = 128 + _detail(one) * poor, 128 + _detail(two) * poor_back
    other = _flow(left, left_later)
    sure = _agree(other, _flow(left_later, left)) > 0
    better = _error(one, two, other) < _BETTER * _error(one, two, there)
    return np.where((poor & sure & better)[..., None], other, there)


def _farther(one: Floats, two: Floats, there: Floats, back: Floats, most: Floats) -> Floats:
    """The dominant motion, or the flow in surroundings where that is sure and fits better."""
    sure, error, error_of_most = _agree(there, back), *(_error(one, two, f) for f in (there, most))
    around = _SPREAD * one.shape[1]
    own = _blur(np.where(sure > 0, error, error_of_most), around)
    better = own < _BETTER * _blur(error_of_most, around)
    return np.where(better[..., None], there, most)


def _unexplained(one: Floats, two: Floats, flow: Floats) -> Floats:
    """Which share of the contrast around each pixel a motion does not explain."""
    contrast = _blur(np.abs(_detail(one)), 3.0) + _NOISE
    return _blur(_error(one, two, flow) / contrast, _SPREAD * one.shape[1])


def _flow(one: Floats, two: Floats) -> Floats:
    import cv2

    first, second = (np.clip(np.rint(p), 0, 255).astype(np.uint8) for p in (one, two))
    search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    return np.asarray(search.calc(first, second, None), np.float32)


def _moved(picture: Floats, flow: Floats) -> Floats:
    """The second picture (or map) as the first camera would see it, if the flow is right."""
    import cv2

    y, x = np.indices(flow.shape[:2], dtype=np.float32)
    where = (x + flow[..., 0], y + flow[..., 1])
    return np.asarray(
        cv2.remap(picture, *where, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32
    )


def _blur(values: Any, sigma_px: float) -> Floats:
    import cv2

    return np.asarray(cv2.GaussianBlur(np.asarray(values, np.float32), (0, 0), sigma_px))


def _agree(there: Floats, back: Floats) -> Floats:
    """1 where the way back returns to where it began."""
    closed = np.linalg.norm(there + _moved(back, there), axis=-1)
    return np.asarray(closed < _AGREE_PX, np.float32)


def _detail(picture: Floats) -> Floats:
    return picture - _blur(picture, 4.0)


def _error(one: Floats, two: Floats, flow: Floats) -> Floats:
    """How badly a motion fits around each pixel, in grey values."""
    return _blur(np.abs(_detail(one) - _moved(_detail(two), flow)), 1.5)


def _smooth(flow: Floats, weight: Floats, sigma_px: float) -> Floats:
    """At each pixel, the affine motion that fits most of the flow around it.

    Args:
        flow: The flow (H, W, 2).
        weight: How much each of its pixels counts.
        sigma_px: Size of the surroundings.
    """
    import cv2

    height, width = flow.shape[:2]
    step = max(1, int(sigma_px / 6))
    small = flow[step // 2 :: step, step // 2 :: step]
    given = weight[step // 2 :: step, step // 2 :: step]
    used, sigma = given, sigma_px / step
    found = _affine(small, used, sigma)
    for _ in range(_ROUNDS):
        off = np.linalg.norm(small - found, axis=-1)
        scale = max(1.0, 2.0 * float(np.median(off[given > 0])) if (given > 0).any() else 1.0)
        used = given / (1 + (off / scale) ** 4)
        found = _affine(small, used, sigma)
    return np.asarray(cv2.resize(found, (width, height), interpolation=cv2.INTER_LINEAR))


def _affine(flow: Floats, weight: Floats, sigma: float) -> Floats:
    """Weighted least squares around each pixel: sums over a Gaussian window, then 3x3 systems."""
    y, x = np.indices(weight.shape, dtype=np.float64)
    y, x = (y - y.mean()) / sigma, (x - x.mean()) / sigma
    ones = np.ones_like(x)
    basis = np.stack([ones, x, y], axis=-1)

    def total(values: NDArray[Any]) -> NDArray[np.float64]:
        import cv2

        return np.asarray(cv2.GaussianBlur(np.asarray(weight * values, np.float64), (0, 0), sigma))

    normal = np.stack(
        [
            np.stack([total(basis[..., i] * basis[..., j]) for j in range(3)], axis=-1)
            for i in range(3)
        ],
        axis=-2,
    )
    sides = np.stack(
        [
            np.stack([total(basis[..., i] * flow[..., c]) for c in range(2)], axis=-1)
            for i in range(3)
        ],
        axis=-2,
    )
    # A little of every weight keeps the motion where nothing is known that of the surroundings.
    ridge = 1e-3 * normal[..., :1, :1] * np.diag([0.0, 1.0, 1.0]) + 1e-9 * np.eye(3)
    coefficients = np.linalg.solve(normal + ridge, sides)
    return np.asarray(np.einsum("hwi,hwic->hwc", basis, coefficients), np.float32)
