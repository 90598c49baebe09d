"""Corners of a tag to a small fraction of a pixel: where the edges of its black square meet.

Each side is a row of profiles across the edge. The middle of a profile's rise in light is a point
of the edge; a line through a side's points, or a parabola where the side is plainly curved (behind
bent glass, on a bottle), meets that of the next side in the corner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_PROFILES, _STEPS = 48, 25
"""Per side, and positions of each."""
_END = 0.85
"""Profiles cover this part of a side: near a corner, the other edge disturbs."""
_CELLS = 8
"""Cells along a side of the black square; both borders are one cell wide."""
_REACH = 0.65
"""Half the length of a profile, in cells."""
_LEAST_REACH_PX, _MOST_REACH_PX = 1.5, 4.0
_MOST_SHIFT = 0.5
"""A corner that moves by more, in cells or px, is not believed."""
_WINDOW = 0.4
"""Standard deviation of the weights along a profile, in half lengths."""
_ROUNDS, _LAST_ROUNDS = 4, 2
_STILL_PX = 0.02
"""Rounds are left out when corners move by less."""
_PLAIN_CELL_PX, _LAST_REACH_PX = 3.0, 2.5
_CURVED = 4.0
"""How many standard errors make a curvature plain."""


def refine_corners(light: NDArray[np.float32], corners: Points) -> Points | None:
    """The corners (4, 2) of a tag's black square, from rough ones in order around it.

    Args:
        light: (H, W), proportional to light.
        corners: Rough corners, right to a pixel or two.

    Returns:
        None where no edges are there.
    """
    found, moved = np.asarray(corners, np.float64), np.inf
    sides = np.linalg.norm(np.roll(found, -1, axis=0) - found, axis=1)
    cell = float(sides.min()) / _CELLS
    rounds = [False] * _ROUNDS + [True] * _LAST_ROUNDS
    for number, last in enumerate(rounds):
        if not last and number and moved < _STILL_PX:
            continue
        curves = [_side(light, np.roll(found, -k, axis=0), last=last) for k in range(4)]
        if any(curve is None for curve in curves):
            return None
        known = [curve for curve in curves if curve is not None]
        before = found
        found = np.array([_meet(known[k - 1], known[k], found[k]) for k in range(4)])
        moved = float(np.abs(found - before).max())
        if not np.isfinite(found).all():
            return None
    far = np.linalg.norm(found - corners, axis=1).max()
    return found if far <= max(2.0, _MOST_SHIFT * cell) else None


class _Curve:
    """An edge: offset a + b s + c s^2 from the straight side, s from -1 to 1 along it."""

    def __init__(self, middle: Points, along: Points, across: Points, abc: Points) -> None:
        self.middle, self.along, self.across, self.abc = middle, along, across, abc

    def at(self, near: Points) -> tuple[Points, Points]:
        """The point beside a position, and the direction of the curve there."""
        a, b, c = self.abc
        s = float((near - self.middle) @ self.along / (self.along @ self.along))
        point = self.middle + s * self.along + (a + b * s + c * s * s) * self.across
        return point, self.along + (b + 2 * c * s) * self.across


def _side(light: NDArray[np.float32], corners: Points, *, last: bool) -> _Curve | None:
    """The edge from the first corner to the second.

    The middle of the rise is exact wherever the edge lies between pixels, if both ends of a profile
    are on plain black and white. Squares and a narrow window do not need that, but pull the edge
    towards pixels by up to a tenth.
    """
    start, end = corners[:2]
    middle, along = (start + end) / 2, (end - start) / 2
    length = float(np.linalg.norm(along))
    if length < 2.0:
        return None
    across = np.array([along[1], -along[0]]) / length
    cell_px = _cell_px(corners, across)
    plain = last and cell_px >= _PLAIN_CELL_PX
    reach = float(np.clip(_REACH * cell_px, _LEAST_REACH_PX, _MOST_REACH_PX))
    reach = min(reach, _LAST_REACH_PX) if plain else reach
    s = np.linspace(-_END, _END, _PROFILES)
    steps = np.linspace(-reach, reach, _STEPS)
    grid = middle + s[:, None, None] * along + steps[:, None] * across
    profiles = _sampled(light, grid)
    rise = np.diff(profiles, axis=1)
    if not np.isfinite(rise).all():
        return None
    weight = rise * np.sign(rise.sum())
    between = (steps[1:] + steps[:-1]) / 2
    if not plain:  # the edge itself counts, and not the cells beyond the borders or noise
        weight = np.maximum(weight, 0.0) ** 2
        weight *= np.exp(-0.5 * (between / (_WINDOW * reach)) ** 2)
    total = weight.sum(axis=1)
    offset = (weight * between).sum(axis=1) / np.maximum(total, 1e-12)
    good = total > 0.1 * np.median(total)
    abc = _fit(s, offset, good)
    return None if abc is None else _Curve(middle, along, across, abc)


def _cell_px(corners: Points, across: Points) -> float:
    """Width of the narrower border beside the first side, as perspective shows it."""
    import cv2

    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    seen = cv2.getPerspectiveTransform(square, corners.astype(np.float32))
    x = np.array([0.1, 0.9, 0.1, 0.9])
    y = np.array([-1, -1, 1, 1]) / _CELLS
    there = seen @ np.stack([x, y, np.ones(4)])
    return float(np.abs(((there[:2] / there[2]).T - corners[0]) @ across).min())


def _fit(s: Points, offset: Points, good: NDArray[np.bool_]) -> Points | None:
    """A line, or a parabola where that is plainly better; profiles that stand out are left out."""
    for _ in range(2):
        if good.sum() < _PROFILES // 3:
            return None
        line, spread = _solve(s[good], offset[good], 2)
        left = np.abs(offset - (line[0] + line[1] * s))
        good = good & (left <= max(0.05, 3.5 * float(np.median(left[good])) * 1.4826))
    if good.sum() < _PROFILES // 3:
        return None
    line, _ = _solve(s[good], offset[good], 2)
    bent, spread = _solve(s[good], offset[good], 3)
    return bent if abs(bent[2]) > _CURVED * spread else np.array([*line, 0.0])


def _solve(s: Points, offset: Points, terms: int) -> tuple[Points, float]:
    """Coefficients of 1, s, s^2, and the standard error of the last one."""
    powers = s[:, None] ** np.arange(terms)
    inverse = np.linalg.inv(powers.T @ powers)
    found = inverse @ powers.T @ offset
    left = offset - powers @ found
    variance = float(left @ left) / max(1, len(s) - terms)
    # Neighbouring profiles share pixels, so there are fewer independent ones.
    return found, float(np.sqrt(2.0 * variance * inverse[-1, -1]))


def _meet(one: _Curve, other: _Curve, start: Points) -> Points:
    """Where two edges meet: their tangents near the corner, twice."""
    corner = start
    for _ in range(3):
        (p, d), (q, e) = one.at(corner), other.at(corner)
        turn = d[0] * e[1] - d[1] * e[0]
        if abs(turn) < 1e-9:
            return np.full(2, np.nan)
        t = ((q[0] - p[0]) * e[1] - (q[1] - p[1]) * e[0]) / turn
        corner = p + t * d
    return corner


def _sampled(light: NDArray[np.float32], grid: Points) -> Points:
    """Bilinear values; NaN outside."""
    height, width = light.shape
    x, y = grid[..., 0], grid[..., 1]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    x, y = np.where(inside, x, 0), np.where(inside, y, 0)
    left = np.minimum(np.floor(x).astype(np.intp), width - 2)
    top = np.minimum(np.floor(y).astype(np.intp), height - 2)
    u, v = x - left, y - top
    upper = (1 - u) * light[top, left] + u * light[top, left + 1]
    lower = (1 - u) * light[top + 1, left] + u * light[top + 1, left + 1]
    return np.where(inside, (1 - v) * upper + v * lower, np.nan)
