"""Light fields in the form that the methods need: checked, as planes, as splines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.methods._spec import MethodOptions
from depthgauge.types import Inputs, Map

Planes = NDArray[np.float32]
"""Pictures with the channel before the row and the column, in grey levels 0..255."""
SMALLEST_PX = 8


class LightFieldOptions(MethodOptions):
    """Options of all light-field methods."""

    low: float = -4.0
    """Smallest disparity to search, in px per step between neighbouring views, if the sample has no
    disparity range."""
    high: float = 4.0
    """Largest disparity to search."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low is {self.low:g} but must be less than high, {self.high:g}")
        return self


@dataclass(frozen=True, slots=True)
class LightField:
    """The views of one sample."""

    views: NDArray[Any]
    """(rows, columns, H, W, channels), as given."""
    search: tuple[float, float]
    """The smallest and the largest disparity to consider, in px per step."""

    @property
    def middle(self) -> tuple[int, int]:
        """Row and column of the centre view."""
        return self.views.shape[0] // 2, self.views.shape[1] // 2

    def planes(self) -> Planes:
        """All views as new planes (rows, columns, C, H, W); one channel if all are equal."""
        views = self.views
        if all(np.array_equal(views[..., 0], views[..., c]) for c in range(1, views.shape[-1])):
            views = views[..., :1]
        planes = np.array(np.moveaxis(views, -1, 2), dtype=np.float32, order="C")
        if self.views.dtype != np.uint8:
            planes = np.nan_to_num(np.clip(planes, 0, 1)) * np.float32(255)
        return planes


def light_field_of(inputs: Inputs, options: LightFieldOptions) -> LightField:
    """The light field of a sample, and the range of disparities to search.

    Raises:
        WrongShape: The views are not a grid of pictures.
        Unavailable: There are too few views, or the search range is empty.
    """
    views = np.asarray(inputs["views"])
    if views.ndim == 4:
        views = views[..., np.newaxis]
    if views.ndim != 5 or views.shape[-1] not in (1, 3) or 0 in views.shape:
        raise WrongShape(
            f"views are {inputs['views'].shape}, expected (rows, columns, H, W, 3), or (rows, "
            "columns, H, W) if they are grey; put the views into a grid."
        )
    if views.dtype != np.uint8 and views.dtype.kind != "f":
        raise WrongShape(f"views are of {views.dtype}, expected uint8, or floats from 0 to 1.")
    rows, columns, height, width = views.shape[:4]
    if rows * columns < 2 or min(height, width) < SMALLEST_PX:
        raise Unavailable(
            f"the light field has {rows}x{columns} views of {width}x{height} px; this method needs "
            f"two views of {SMALLEST_PX}x{SMALLEST_PX} px or more."
        )
    return LightField(views, _search(inputs, options))


def _search(inputs: Inputs, options: LightFieldOptions) -> tuple[float, float]:
    if "disparity_range" not in inputs:
        return options.low, options.high
    low, high = (float(end) for end in inputs["disparity_range"])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise Unavailable(
            f"the sample's disparity range is {low:g}..{high:g} px per step, expected two numbers, "
            "the second one larger."
        )
    return low, high


@dataclass(frozen=True, slots=True)
class Splines:
    """Views that can be read between their pixels."""

    coefficients: Planes
    """(V, C, H, W) of the cubic splines through the pixels."""
    steps: NDArray[np.float32]
    """(V, 2) steps from the centre view to each view, to the right and down."""
    centre: Planes
    """(C, H, W) the centre view itself."""
    grid: tuple[int, int]
    """Rows and columns; V is their product."""

    @property
    def reach(self) -> int:
        """Steps to the outermost view."""
        return int(np.abs(self.steps).max())

    def pad_px(self, search: tuple[float, float]) -> int:
        """How far shifts reach beyond a picture, plus the margin for interpolation."""
        return math.ceil(max(abs(end) for end in search) * self.reach) + 4


def splines_of(planes: Planes) -> Splines:
    """Splines through the pixels of views (rows, columns, C, H, W), which are overwritten."""
    from depthgauge.methods._light_field import kernels

    rows, columns, channels, height, width = planes.shape
    centre = planes[rows // 2, columns // 2].copy()
    kernels.spline_coefficients(planes.reshape(-1, height, width))
    down, right = np.indices((rows, columns), dtype=np.float32)
    steps = np.stack([right - columns // 2, down - rows // 2], axis=-1).reshape(-1, 2)
    coefficients = planes.reshape(-1, channels, height, width)
    return Splines(coefficients, steps, centre, (rows, columns))


def within(values: Map, search: tuple[float, float]) -> Map:
    """Disparities clipped to the range."""
    return np.clip(values, np.float32(search[0]), np.float32(search[1]))
