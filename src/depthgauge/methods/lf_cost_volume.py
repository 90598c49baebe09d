"""A regularised cost volume over all views of a light field: accurate and robust to noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.errors import Unavailable
from depthgauge.methods._light_field.costs import Likeness, Volume, costs
from depthgauge.methods._light_field.noise import quiet_splines
from depthgauge.methods._light_field.surface import TONE, cleaned, surface
from depthgauge.methods._light_field.views import LightFieldOptions, Planes, light_field_of, within
from depthgauge.methods._spec import MethodSpec
from depthgauge.types import Inputs, Map

_MOST_DISPARITIES = 1024
_DOUBT = 0.12
"""Grey levels, per level of noise, by which a part of the views must be better than all."""
_CALMER = 10.0
"""Grey levels of noise at which costs have half their weight relative to smoothness."""
_EDGE_TONE = 8.0
"""Grey levels of a step in the picture that divide the penalty of a jump by e ..."""
_LEAST_JUMP = 0.125
"""... down to this part of it."""
_MOST_WEIGHT = 3.0
"""Limit of a pixel's weight in the surface: more contrast adds no certainty."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))


class LfCostVolumeOptions(LightFieldOptions):
    """Options of `lf-cost-volume`; costs are in grey levels."""

    step_px: float = Field(default=0.25, gt=0, le=4)
    """How far the outermost view moves from one disparity to the next; smaller is slower."""
    gradient: float = Field(default=0.5, ge=0, le=1)
    """The share of gradients in the costs; the rest is colour."""
    window: int = Field(default=1, ge=0, le=10)
    """Radius in px of the windows in which the costs of similar pixels are averaged."""
    p1: float = Field(default=0.2, ge=0)
    """Penalty for a change by one disparity between neighbours."""
    p2: float = Field(default=4.0, ge=0)
    """Penalty for larger changes; it is smaller at edges of the picture."""
    median: int = Field(default=3, ge=0, le=10)
    """Radius in px of the weighted median filter that cleans the disparities; 0: off."""
    smoothness: float = Field(default=0.04, ge=0)
    """Stiffness of the final surface; 0: the minima of single pixels are kept."""


SPEC = MethodSpec(
    id="lf-cost-volume",
    title="Multi-view cost volume with semi-global matching and slanted surfaces",
    quantities=("disparity",),
    needs=("views",),
    cite="Jeon et al. 2015, Wang, Efros & Ramamoorthi 2015, Hirschmueller 2008, "
    "Bredies, Kunisch & Pock 2010",
    options=LfCostVolumeOptions,
    revision=2,
)


def estimate(inputs: Inputs, options: LfCostVolumeOptions) -> Map:
    """Disparity of the centre view, in px per step."""
    field = light_field_of(inputs, options)
    splines, noise = quiet_splines(field)
    disparities = _disparities(field.search, options.step_px / splines.reach)
    all_views = np.ones(len(splines.steps), bool)
    likeness = Likeness(gradient=options.gradient)
    volume = costs(splines, disparities, all_views, np.float32(_DOUBT) * noise, likeness)
    volume = _aggregated(volume, splines.centre, noise, options)
    found = _semi_global(volume, splines.centre, options)
    if options.median > 0:
        found = cleaned(found, np.ones_like(found), splines.centre, options.median)
    target, sharpness = _minima(volume, np.rint(found).astype(np.int64))
    low, step = disparities[0], disparities[1] - disparities[0]
    start, target = low + step * found, low + step * target
    weight = np.minimum(sharpness, np.float32(_MOST_WEIGHT))
    smooth = surface(start, target, weight, splines.centre, options.smoothness)
    return within(smooth, field.search)


def _disparities(search: tuple[float, float], step: float) -> NDArray[np.float32]:
    """From one end of the range to the other in steps of at most this size."""
    low, high = search
    count = max(math.ceil((high - low) / step - 1e-6), 2) + 1
    if count > _MOST_DISPARITIES:
        raise Unavailable(
            f"the disparity range {low:g}..{high:g} px per step has {count} disparities, but at "
            f"most {_MOST_DISPARITIES} can be searched; narrow the range or set a larger step_px."
        )
    return np.linspace(low, high, count).astype(np.float32)


def _aggregated(volume: Volume, image: Planes, noise: Map, options: LfCostVolumeOptions) -> Volume:
    """Costs averaged over windows, and reduced where there is noise."""
    from depthgauge.methods._light_field import surface_kernels

    scale = 1 / (1 + noise / np.float32(_CALMER))
    out = np.zeros_like(volume)
    surface_kernels.aggregate(volume, image, options.window, TONE, scale, out)
    return out


def _semi_global(volume: Volume, image: Planes, options: LfCostVolumeOptions) -> Map:
    """Positions of the lowest sums over eight directions, interpolated between disparities."""
    from depthgauge.geometry._shared_kernels import path_count
    from depthgauge.methods._light_field import surface_kernels

    total = np.zeros_like(volume)
    how = np.array([options.p1, options.p2, options.p2 * _LEAST_JUMP, _EDGE_TONE], np.float32)
    for dx, dy in _DIRECTIONS:
        paths = path_count(volume.shape[0], volume.shape[1], dx, dy)
        surface_kernels.follow_paths(paths, volume, image, dx, dy, how, total)
    return _minima(total, np.full(volume.shape[:2], -1, np.int64))[0]


def _minima(volume: Volume, place: NDArray[np.int64]) -> tuple[Map, Map]:
    """Minima next to places (the lowest if a place is negative), and how sharp they are."""
    from depthgauge.methods._light_field import surface_kernels

    found, sharpness = (np.zeros(volume.shape[:2], np.float32) for _ in range(2))
    surface_kernels.minima(volume, place, found, sharpness)
    return found, sharpness
