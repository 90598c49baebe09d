"""Slopes in epipolar-plane images by structure tensors: fast and local."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from depthgauge.errors import Unavailable
from depthgauge.methods._light_field.noise import blurred, quiet_splines
from depthgauge.methods._light_field.surface import cleaned, surface
from depthgauge.methods._light_field.views import (
    LightFieldOptions,
    Planes,
    Splines,
    light_field_of,
    within,
)
from depthgauge.methods._spec import MethodSpec
from depthgauge.types import Estimate, Inputs, Map

_FLOOR = 8.0
"""Squared grey levels per px of contrast at which confidence is halved ..."""
_HALF_FLOOR = 6.0
"""... and in one half of the views; noise adds its own square there."""
_WIDER = 0.05
"""Px by which windows grow with each grey level of noise."""
_BELIEVED = 0.6
"""Largest slope relative to a shear, as a share of the distance between shears."""
_AGREE = 0.2
"""Largest difference of slopes, in px per step, at which both directions are averaged."""
_NEAR = 0.15
"""Largest difference from the neighbours' median at which a pixel's own slope counts, in px."""
_WEIGHT = 0.5
"""Weight of a certain slope in the surface."""


class LfEpiOptions(LightFieldOptions):
    """Options of `lf-epi`."""

    shear_px: float = Field(default=0.25, gt=0, le=1)
    """Distance between the disparities around which slopes are measured; smaller is slower."""
    scale_px: float = Field(default=0.8, gt=0, le=5)
    """Width of the Gaussian windows in which slopes are measured; larger is more robust but
    blurrier."""
    median: int = Field(default=5, ge=0, le=10)
    """Radius in px of the weighted median filter that cleans the slopes; 0: off."""
    smoothness: float = Field(default=0.04, ge=0)
    """Stiffness of the final surface; 0: single pixels keep their slopes."""


SPEC = MethodSpec(
    id="lf-epi",
    title="Slopes in epipolar-plane images with confidence fusion",
    quantities=("disparity",),
    needs=("views",),
    cite="Wanner & Goldluecke 2014, Bredies, Kunisch & Pock 2010",
    options=LfEpiOptions,
    revision=2,
)


def estimate(inputs: Inputs, options: LfEpiOptions) -> Estimate:
    """Disparity of the centre view in px per step, with the confidence of single slopes, 0..1."""
    field = light_field_of(inputs, options)
    if max(field.views.shape[:2]) < 3:
        raise Unavailable(
            "lf-epi needs three views in a row or in a column; the light field has "
            f"{field.views.shape[0]}x{field.views.shape[1]}."
        )
    splines, noise = quiet_splines(field)
    found = _fused(_both_directions(splines, noise, field.search, options))
    trust = found.confidence**2 + np.float32(1e-6)
    start = found.disparity
    if options.median > 0:
        start = cleaned(start, trust, splines.centre, options.median)
    near = np.abs(found.disparity - start) < _NEAR
    weight = np.where(near, np.float32(_WEIGHT) * trust, np.float32(0))
    smooth = surface(start, found.disparity, weight, splines.centre, options.smoothness)
    return Estimate(within(smooth, field.search), "disparity", {"confidence": found.confidence})


@dataclass(frozen=True, slots=True)
class _Slopes:
    disparity: Map
    confidence: Map


def _both_directions(
    splines: Splines, noise: Map, search: tuple[float, float], options: LfEpiOptions
) -> list[_Slopes]:
    """Slopes along the row and the column of views through the centre, if they exist."""
    rows, columns = splines.grid
    views = splines.coefficients.reshape(rows, columns, *splines.coefficients.shape[1:])
    pad = splines.pad_px(search)
    found = []
    if columns >= 3:
        line = np.ascontiguousarray(views[rows // 2])
        found.append(_slopes(line, noise, search, pad, options))
    if rows >= 3:
        line = np.ascontiguousarray(views[:, columns // 2].swapaxes(-1, -2))
        along = _slopes(line, np.ascontiguousarray(noise.T), search, pad, options)
        turned = (np.ascontiguousarray(m.T) for m in (along.disparity, along.confidence))
        found.append(_Slopes(*turned))
    return found


def _slopes(
    line: Planes, noise: Map, search: tuple[float, float], pad: int, options: LfEpiOptions
) -> _Slopes:
    """The most certain slopes of a line of views (N, C, H, W) over all shears.

    Beside an occluder only one half of the views sees a point, so halves are also tried.
    """
    from depthgauge.methods._light_field import kernels

    count, middle, shape = len(line), len(line) // 2, line.shape[2:]
    reach = np.exp(-0.5 * ((np.arange(count) - middle) * 3 / count) ** 2).astype(np.float32)
    disparity = np.full(shape, np.mean(search), np.float32)
    confidence = np.zeros(shape, np.float32)
    width = np.float32(options.scale_px) + np.float32(_WIDER) * noise
    floor = np.full(shape, _FLOOR, np.float32)
    half_floor = np.float32(_HALF_FLOOR) + noise**2
    halves = np.zeros((2, 3, *shape), np.float32)
    most = _BELIEVED * options.shear_px
    for shear in _shears(search, options.shear_px):
        kernels.slope_tensors(line, middle, shear, pad, reach, halves)
        smooth = np.stack([[_windowed(plane, width) for plane in half] for half in halves])
        for tensor, least in ((smooth.sum(axis=0), floor), *((h, half_floor) for h in smooth)):
            kernels.better_slopes(tensor, shear, most, least, disparity, confidence)
    return _Slopes(within(disparity, search), confidence)


def _shears(search: tuple[float, float], step: float) -> list[float]:
    """From one end of the range to the other in steps of at most this size."""
    low, high = search
    count = math.ceil((high - low) / step - 1e-6) + 1
    return [float(shear) for shear in np.linspace(low, high, max(count, 2))]


def _windowed(plane: Planes, width_px: Map) -> Planes:
    import cv2

    if np.ptp(width_px) == 0:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), float(width_px[0, 0])), np.float32)
    return blurred(plane, width_px)


def _fused(directions: list[_Slopes]) -> _Slopes:
    """Confidence-weighted means where both directions agree; else the more certain one."""
    first = directions[0]
    for other in directions[1:]:
        sure = first.confidence + other.confidence + np.float32(1e-9)
        mean = (first.disparity * first.confidence + other.disparity * other.confidence) / sure
        better = np.where(first.confidence >= other.confidence, first.disparity, other.disparity)
        agree = np.abs(first.disparity - other.disparity) < _AGREE
        first = _Slopes(
            np.where(agree, mean, better), np.maximum(first.confidence, other.confidence)
        )
    return first
