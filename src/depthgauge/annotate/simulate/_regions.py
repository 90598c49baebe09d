"""Which part of a picture a simulated person works on."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.annotate.records.annotation import Point
from depthgauge.geometry.polygons import polygon_mask

_MARGIN = 0.06
_CORNERS = (7, 12)
_REACH = (0.55, 0.95)
"""Corners of a polygon, as a share of the way from its middle to the image's edge."""


def chosen_region(
    kind: str, size_px: tuple[int, int], must: tuple[Point, ...], rng: np.random.Generator
) -> tuple[Point, ...]:
    """The polygon of the region of interest; empty for the whole picture."""
    width, height = size_px
    if kind == "whole":
        return ()
    if kind == "margin" or not must:
        a, b = round(_MARGIN * width), round(_MARGIN * height)
        right, low = width - 1.0 - a, height - 1.0 - b
        return ((float(a), float(b)), (right, float(b)), (right, low), (float(a), low))
    middle = sum(x for x, _ in must) / len(must), sum(y for _, y in must) / len(must)
    angles = np.sort(rng.uniform(0, math.tau / 2, rng.integers(*_CORNERS)) * 2)
    reach = rng.uniform(*_REACH, angles.size)
    for growth in (1.0, 1.2, 1.5, 2.0, 3.0):
        share = np.minimum(reach * growth, 1.0)
        polygon = tuple(
            _towards(middle, float(a), float(s), size_px)
            for a, s in zip(angles, share, strict=True)
        )
        mask = polygon_mask((height, width), polygon)
        if all(mask[round(y), round(x)] for x, y in must):
            return polygon
    return ()


def _towards(middle: Point, angle: float, share: float, size_px: tuple[int, int]) -> Point:
    """A point on the way from the middle to the image's edge."""
    dx, dy = math.cos(angle), math.sin(angle)
    ends = [
        (limit - at) / step if step > 0 else at / -step
        for at, step, limit in zip(middle, (dx, dy), (size_px[0] - 1, size_px[1] - 1), strict=True)
        if step != 0
    ]
    length = share * min(ends)
    return round(middle[0] + length * dx, 2), round(middle[1] + length * dy, 2)
