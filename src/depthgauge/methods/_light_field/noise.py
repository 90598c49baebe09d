"""The noise of a light field: its local strength, and views with most of it removed."""

from __future__ import annotations

import itertools

import numpy as np

from depthgauge.methods._light_field.costs import Likeness, costs
from depthgauge.methods._light_field.views import LightField, Planes, Splines, splines_of
from depthgauge.types import Map

QUIET = 2.0
"""Noise below this many grey levels is ignored."""
_STEP = 0.25
"""Step between the tried disparities, in px per step: neighbouring views move by no more."""
_WINDOW_PX, _AROUND_PX = 7, 15
_LEVELS_PER_PX = 45.0
"""Noise of this many grey levels is smoothed by one pixel: a window's mean then differs by about as
much as textures do, and views are averaged anyway."""
_WIDTHS_PX = (0.0, 0.7, 1.4, 2.8, 5.6)


def noise_level(splines: Splines, search: tuple[float, float]) -> Map:
    """Grey levels by which the nearest views differ from the centre view at any disparity.

    Edges of objects differ too, so the minimum over the neighbourhood is used. Gaussian noise of
    standard deviation s gives about 0.7 s.
    """
    import cv2

    low, high = search
    near = np.abs(splines.steps).max(axis=1) <= 1
    plain = Likeness(np.inf, np.inf, 0.0, 1.0)
    tried = np.arange(low, high + _STEP, _STEP, dtype=np.float32)
    shape = splines.centre.shape[1:]
    volume = costs(splines, tried, near, np.zeros(shape, np.float32), plain)
    least = np.full(shape, np.inf, np.float32)
    for d in range(tried.size):
        window = cv2.blur(np.ascontiguousarray(volume[..., d]), (_WINDOW_PX, _WINDOW_PX))
        np.minimum(least, window, out=least)
    around = cv2.erode(least, np.ones((_AROUND_PX, _AROUND_PX), np.uint8))
    return np.asarray(cv2.blur(around, (_AROUND_PX, _AROUND_PX)), np.float32)


def quiet_splines(field: LightField) -> tuple[Splines, Map]:
    """Splines of the views, smoothed where there is noise, and the grey levels of noise beyond
    `QUIET`.
    """
    splines = splines_of(field.planes())
    noise = noise_level(splines, field.search)
    excess = np.maximum(noise - np.float32(QUIET), 0)
    if excess.max() == 0:
        return splines, excess
    width_px: Map = np.where(excess > 0, noise / np.float32(_LEVELS_PER_PX), np.float32(0))
    del splines
    planes = field.planes()
    for row, column, channel in itertools.product(*(range(n) for n in planes.shape[:3])):
        planes[row, column, channel] = blurred(planes[row, column, channel], width_px)
    return splines_of(planes), excess


def blurred(plane: Planes, width_px: Map) -> Planes:
    """A plane blurred by Gaussians of slowly varying width (H, W), blended from a few widths."""
    import cv2

    out = np.zeros_like(plane)
    for width, peak in zip(_WIDTHS_PX, np.eye(len(_WIDTHS_PX)), strict=True):
        share = np.interp(width_px, _WIDTHS_PX, peak).astype(np.float32)
        if share.any():
            out += share * (plane if width == 0 else cv2.GaussianBlur(plane, (0, 0), width))
    return out
