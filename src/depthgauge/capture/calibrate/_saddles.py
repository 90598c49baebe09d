"""Where two edges of a chessboard cross, by fitting a blurred corner to its pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
_ROUNDS = 25
_MOST_RADIUS_PX = 8
"""More pixels add little, and far from a corner a lens bends the edges."""


def fit_saddles(grey: NDArray[np.float32], corners: Points, radius_px: float) -> Points:
    """Corners (N, 2) moved to where their two edges cross; NaN where no corner fits.

    A corner is a product e of two blurred steps, from -1 to 1, across two lines through it, seen by
    pixels of some width. A pixel's value is level + height e + bend e^2; the last term stands for a
    camera's tone curve. The eight numbers are fitted to the pixels around the corner by damped
    Gauss-Newton steps, for all corners at once.

    Args:
        grey: The image.
        corners: First positions, within about two pixels.
        radius_px: Radius of the discs of pixels that are fitted; they should contain no other
            corner.
    """
    radius = int(np.clip(radius_px, 2, _MOST_RADIUS_PX))
    offsets, inside = _disc(radius)
    whole = np.rint(corners).astype(np.intp)
    height, width = grey.shape
    known = (whole >= radius).all(axis=1) & (whole + radius < (width, height)).all(axis=1)
    out = np.full(corners.shape, np.nan)
    if not known.any():
        return out
    places = whole[known][:, None] + offsets[inside]
    values = grey[places[..., 1], places[..., 0]].astype(np.float64)
    fitted = _fit(values, offsets[inside].astype(np.float64), corners[known] - whole[known])
    out[known] = whole[known] + fitted
    return out


def _disc(radius: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    offsets = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.intp)
    return offsets, np.hypot(*offsets.T) <= radius + 0.5


def _fit(values: Points, offsets: Points, start: Points) -> Points:
    """Positions relative to the discs' middles; values (N, P), offsets (P, 2), start (N, 2)."""
    state = _first_guess(values, offsets, start)
    residual, slope = _model(state, offsets, values)
    cost = (residual**2).sum(axis=1)
    damping = np.full(len(state), 1e-3)
    for _ in range(_ROUNDS):
        step = _step(residual, slope, damping)
        tried = state + step
        tried[:, 4] = np.clip(tried[:, 4], 0.05, 6.0)
        new_residual, new_slope = _model(tried, offsets, values)
        new_cost = (new_residual**2).sum(axis=1)
        better = new_cost < cost
        state[better], residual[better] = tried[better], new_residual[better]
        slope[better], cost[better] = new_slope[better], new_cost[better]
        damping = np.where(better, damping * 0.2, np.minimum(damping * 10, 1e6))
        if (np.abs(step[:, :2]).max(axis=1) < 2e-4).all():
            break
    return _believed(state, cost, values, start)


def _believed(state: Points, cost: Points, values: Points, start: Points) -> Points:
    """Fits that stayed near their start and explain most of the pixel values."""
    spread = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    moved = np.abs(state[:, :2] - start).max(axis=1)
    good = (cost < 0.25 * spread) & (moved < 3.0)
    return np.where(good[:, None], state[:, :2], np.nan)


def _first_guess(values: Points, offsets: Points, start: Points) -> Points:
    """x, y, angles of the two edges' normals, blur, level, height, bend.

    Around a corner, the values follow cos(2 (angle - axis)): its phase is the squares' axis, and
    the edges are 45 degrees from it.
    """
    level = values.mean(axis=1)
    angle = np.arctan2(offsets[:, 1], offsets[:, 0])
    waves = (values - level[:, None]) @ np.exp(2j * angle)
    axis = np.angle(waves) / 2
    height = values.std(axis=1)
    n = len(values)
    edges = [axis - np.pi / 4, axis + np.pi / 4]
    columns = [*start.T, *edges, np.full(n, 1.0), level, height, np.zeros(n)]
    return np.stack(columns, axis=-1)


def _model(state: Points, offsets: Points, values: Points) -> tuple[Points, Points]:
    """Residuals (N, P) and their derivatives (N, P, 8)."""
    x, y, first, second, blur, level, height, bend = (column[:, None] for column in state.T)
    dx, dy = offsets[:, 0] - x, offsets[:, 1] - y
    cos, sin = (np.cos(first), np.cos(second)), (np.sin(first), np.sin(second))
    s, t = (dx * c + dy * n for c, n in zip(cos, sin, strict=True))
    along_s, along_t = dy * cos[0] - dx * sin[0], dy * cos[1] - dx * sin[1]
    (es, slope_s, blur_s), (et, slope_t, blur_t) = _blurred_step(s, blur), _blurred_step(t, blur)
    both = es * et
    gain = height + 2 * bend * both
    slant_s, slant_t = gain * slope_s * et, gain * slope_t * es
    residual = values - (level + height * both + bend * both**2)
    columns = [
        -(slant_s * cos[0] + slant_t * cos[1]),
        -(slant_s * sin[0] + slant_t * sin[1]),
        slant_s * along_s,
        slant_t * along_t,
        gain * (blur_s * et + blur_t * es),
        np.ones_like(s),
        both,
        both**2,
    ]
    return residual, np.stack(columns, axis=-1)


def _blurred_step(s: Points, blur: Points) -> tuple[Points, Points, Points]:
    """A step from -1 to 1, blurred and averaged over a pixel; its slopes by s and by the blur.

    A pixel is 1 wide in every direction of s: its projection's variance is 1/12 for all
    directions.
    """
    from scipy.special import erf

    after, before = (s + 0.5) / blur, (s - 0.5) / blur
    erf_after, erf_before = erf(after), erf(before)
    bell_after, bell_before = np.exp(-(after**2)), np.exp(-(before**2))
    by_blur = (bell_after - bell_before) / np.sqrt(np.pi)
    value = blur * (after * erf_after - before * erf_before + by_blur)
    return value, erf_after - erf_before, by_blur


def _step(residual: Points, slope: Points, damping: Points) -> Points:
    normal = np.einsum("npi,npj->nij", slope, slope, optimize=True)
    right = np.einsum("npi,np->ni", slope, residual, optimize=True)
    diagonal = np.einsum("nii->ni", normal)
    # The floor avoids a singular system for a corner without contrast.
    lift = damping[:, None] * diagonal + 1e-9 * (1 + diagonal.max(axis=1, keepdims=True))
    normal = normal + lift[:, :, None] * np.eye(8)
    return np.linalg.solve(normal, right[..., None])[..., 0]
