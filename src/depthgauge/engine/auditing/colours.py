"""Where the colours say that pixels are: a sub-pixel match around the place that depth gives.

A round trip through depth cannot see an error that both views share: with a wrong depth scale,
focal length or baseline every pixel returns to where it came from. Colours do not know any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.engine.auditing.pairs import Floats, ViewPair
from depthgauge.types import Image

Grey = NDArray[np.float32]
_WINDOW = 9
"""Side of the window that is compared."""
_MOST_WINDOWS = 1000
"""Windows of a picture, spread over it."""
_STEPS = 5
"""Times that the sub-pixel shift is improved."""
_MOST_ACROSS = 1.5
"""Px above or below, beyond which windows do not match."""
_TEXTURE = 2.0
"""Grey levels per px: a window with a weaker gradient says nothing."""
_CURVED = 0.03
"""A window whose nearness differs by more than this share holds more than one surface."""
_CORRELATION = 0.8
"""Windows that are less alike do not match."""


@dataclass(frozen=True, slots=True, eq=False)
class ColourMatch:
    """Where colours are, compared with where depth says they are."""

    along_px: Floats
    """(N,) how much farther along the shift the colours are."""
    across_px: Floats
    """(N,) across the shift."""
    shift_px: Floats
    """(N,) disparity that depth gives."""
    tried: int
    """Windows with texture, on one surface, seen by both views, that were compared."""
    pixels: int
    """Pixels in the middle of such windows; windows around close ones share theirs."""

    @property
    def separate(self) -> float:
        """How many of the windows that were found do not share pixels with each other."""
        return min(len(self.along_px), self.pixels / _WINDOW**2)


def match_colours(views: ViewPair, visible: NDArray[np.bool_] | None, reach_px: int) -> ColourMatch:
    """Matches windows of the left picture in the right one, around where depth puts them.

    Args:
        views: Both views.
        visible: Pixels that are not occluded; None if the data does not say.
        reach_px: How far from there to search, to both sides.
    """
    left, right = _grey(views.left), _grey(views.right)
    usable = _usable(views, left, visible)
    best = np.zeros(left.shape, np.float32)
    least = np.full(left.shape, np.inf, np.float32)
    for step in range(-reach_px, reach_px + 1):
        cost = _difference(left, _moved(right, views.there, step))
        better = cost < least
        best[better], least[better] = step, cost[better]
    rows, columns = np.nonzero(usable)
    some = np.unique(np.linspace(0, max(len(rows) - 1, 0), _MOST_WINDOWS).astype(np.intp))
    some = some[: len(rows)]
    place = rows[some], columns[some]
    along, across, alike = _refined(left, right, views.there, place, best[place])
    with np.errstate(invalid="ignore"):
        found = (alike >= _CORRELATION) & (np.abs(along) <= reach_px + 0.5)
        found &= np.abs(across) <= _MOST_ACROSS
    # x decreases with disparity, so what lies farther to the left has a larger one.
    shifts = -along[found].astype(np.float64), across[found].astype(np.float64)
    return ColourMatch(*shifts, views.shift[place][found], len(some), len(rows))


def _grey(image: Image) -> Grey:
    values = np.asarray(image, np.float32)
    if image.dtype != np.uint8:
        values = values * np.float32(255)
    return values if values.ndim == 2 else values @ np.array([0.299, 0.587, 0.114], np.float32)


def _usable(views: ViewPair, left: Grey, visible: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Windows with texture along the row, on one surface, inside both pictures."""
    import cv2

    height, width = left.shape
    margin = _WINDOW // 2 + 1
    inside = np.zeros(left.shape, bool)
    inside[margin : height - margin, margin : width - margin] = True
    x, y = views.there[..., 0], views.there[..., 1]
    with np.errstate(invalid="ignore"):
        inside &= (x > margin) & (x < width - margin) & (y > margin - 1) & (y < height - margin)
    known = np.isfinite(views.nearness)
    near = np.where(known, views.nearness, np.nan_to_num(views.nearness, nan=0.0)).astype(
        np.float32
    )
    kernel = np.ones((_WINDOW, _WINDOW), np.uint8)
    spread = cv2.dilate(near, kernel) - cv2.erode(near, kernel)
    whole = cv2.erode((known if visible is None else known & visible).astype(np.uint8), kernel) > 0
    slope = _slope(left, 1)
    texture = np.sqrt(_mean(slope * slope))
    return np.asarray(inside & whole & (texture >= _TEXTURE) & (spread <= _CURVED * np.abs(near)))


def _mean(values: Grey) -> Grey:
    import cv2

    return np.asarray(cv2.boxFilter(values.astype(np.float32), -1, (_WINDOW, _WINDOW)), np.float32)


def _moved(right: Grey, there: Floats, step: int) -> Grey:
    """The right picture as the left view would see it, with a shift along the row."""
    import cv2

    x = np.nan_to_num(there[..., 0], nan=-9.0).astype(np.float32) + np.float32(step)
    y = np.nan_to_num(there[..., 1], nan=-9.0).astype(np.float32)
    return np.asarray(cv2.remap(right, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))


def _sampled(spline: Grey, x: Grey, y: Grey) -> Grey:
    """A picture between its pixels. OpenCV's cubic is off by up to 0.05 px."""
    from scipy import ndimage

    found = ndimage.map_coordinates(spline, [y, x], order=3, mode="mirror", prefilter=False)
    return np.asarray(found, np.float32)


def _difference(left: Grey, moved: Grey) -> Grey:
    """Mean squared difference of windows, without a difference of their brightness."""
    difference = left - moved
    return _mean(difference * difference) - _mean(difference) ** 2


def _refined(
    left: Grey,
    right: Grey,
    there: Floats,
    place: tuple[NDArray[np.intp], NDArray[np.intp]],
    along: Grey,
) -> tuple[Grey, Grey, Grey]:
    """Shifts of windows along x and y by least squares, and how alike the windows are then.

    Each window moves as a whole, from its best whole shift, with the slopes of the left picture
    (Baker and Matthews 2004).
    """
    from scipy import ndimage

    spline = np.asarray(ndimage.spline_filter(right, order=3, mode="mirror"), np.float32)
    half = _WINDOW // 2
    dy, dx = (part.ravel() for part in np.mgrid[-half : half + 1, -half : half + 1])
    y, x = place[0][:, None] + dy, place[1][:, None] + dx
    target = there[y, x].astype(np.float32)
    window = left[y, x]
    gx, gy = (_centred(_slope(left, axis)[y, x]) for axis in (1, 0))
    # Along a straight edge only the shift across it is known; this keeps the other one at 0.
    xx, yy, xy = (gx * gx).mean(1) + 0.25, (gy * gy).mean(1) + 0.25, (gx * gy).mean(1)
    determinant = xx * yy - xy * xy
    along, across = along.copy(), np.zeros_like(along)
    for _ in range(_STEPS):
        moved = _sampled(spline, target[..., 0] + along[:, None], target[..., 1] + across[:, None])
        rest = _centred(moved - window)
        xr, yr = (gx * rest).mean(1), (gy * rest).mean(1)
        along -= np.clip((yy * xr - xy * yr) / determinant, -1, 1)
        across -= np.clip((xx * yr - xy * xr) / determinant, -1, 1)
    moved = _sampled(spline, target[..., 0] + along[:, None], target[..., 1] + across[:, None])
    a, b = _centred(window), _centred(moved)
    power = np.sqrt((a * a).mean(1) * (b * b).mean(1))
    alike = (a * b).mean(1) / np.maximum(power, np.float32(1e-6))
    return along, across, alike


def _slope(values: Grey, axis: int) -> Grey:
    slope: Grey = np.asarray(np.gradient(values, axis=axis), np.float32)
    return slope


def _centred(windows: Grey) -> Grey:
    """Without their brightness."""
    centred: Grey = windows - windows.mean(axis=1, keepdims=True)
    return centred
