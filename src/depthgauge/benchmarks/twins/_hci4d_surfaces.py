"""The numbers of the light-field evaluator that look at surfaces: bumpiness and normals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks.twins._hci4d_maps import Compared
from depthgauge.io import LightFieldParameters
from depthgauge.types import Map, Mask, Score

_CLIP = 0.05
_FACTOR = 100.0


def bumpiness(compared: Compared) -> NDArray[np.float64]:
    """The clipped norm of the second derivatives of the error; NaN where it cannot be known."""
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    with np.errstate(invalid="ignore"):
        error = (compared.estimate - compared.truth[::-1]).astype(np.float64)
    across, down, bent = (np.full(error.shape, np.nan) for _ in range(3))
    kernels.differentiate(error, across, down)
    kernels.bend(across, down, bent)
    # NaN stays, an infinity is clipped like any other bump.
    return np.asarray(np.minimum(bent, _CLIP))


def mean_bumpiness(bumps: NDArray[np.float64], compared: Compared, mask: Mask) -> Score:
    """The mean over a mask within the border, times 100."""
    inner = compared.inner()
    inside = mask[inner]
    values = bumps[inner][inside]
    known = values[np.isfinite(values)]
    total = _FACTOR * float(known.sum())
    value = total / known.size if known.size else float("nan")
    return Score(value, known.size, values.size - known.size, total, "0.01")


def median_angle(compared: Compared, mask: Mask, parameters: LightFieldParameters) -> Score:
    """The median angle between the normals of estimate and truth, in degrees.

    Depth is made in float32, as the evaluator does; the rest is float64.
    """
    from depthgauge.benchmarks.twins import _hci4d_kernels as kernels

    inside = np.zeros(mask.shape, bool)
    inner = compared.inner()
    inside[inner] = mask[inner]
    members = int(np.count_nonzero(inside))
    inside &= np.isfinite(compared.estimate)
    lateral = 0.5 / (mask.shape[0] - 1) * parameters.sensor_size_mm / parameters.focal_length_mm
    out = np.full(mask.shape, np.nan)
    kernels.angles(
        _depth(compared.estimate, parameters),
        _depth(compared.truth[::-1], parameters),
        inside,
        lateral,
        out,
    )
    angles = out[np.isfinite(out)]
    value = float(np.median(angles)) if angles.size else float("nan")
    return Score(value, angles.size, members - angles.size, None, "deg")


def _depth(disparity: Map, parameters: LightFieldParameters) -> Map:
    # Not geometry's: there depth that cannot be is missing, here -0.3 m is a depth like another.
    focal, sensor = parameters.focal_length_mm, parameters.sensor_size_mm
    q = parameters.baseline_mm * focal * max(parameters.size_px)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = np.float32(1000.0 * sensor) * disparity / np.float32(q)
        inverse += np.float32(1.0 / parameters.focus_distance_m)
        return np.ascontiguousarray(np.float32(1.0) / inverse)
