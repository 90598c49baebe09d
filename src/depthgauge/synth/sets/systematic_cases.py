"""Chapter 6.1 of Honauer 2019: three truths, and six estimates of each that go wrong in one way.

All six estimates of a truth have the same RMS (and, at discontinuities and fine structures, the
same BadPix), so that only their shape distinguishes them:

    cases = surface_cases()
    cases.truth, cases.estimates["a3"]

The amplitude of each deviation is found in closed form; what is random has a fixed seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.discontinuities.edges import find_edges
from depthgauge.geometry.discontinuities.structures import Structures, find_structures
from depthgauge.types import Camera, Map, Mask, Rig

Values = NDArray[np.float64]
SIDE_PX = 200
FRONT_PX, BACK_PX = 60.0, 40.0
"""Disparities of the foreground and of the background where there is an edge."""
JUMP_PX = FRONT_PX - BACK_PX


@dataclass(frozen=True, slots=True)
class SystematicCases:
    """A truth and six estimates of it, `a0` to `a5`."""

    truth: Map
    estimates: Mapping[str, Map]
    says: Mapping[str, str]
    """What is wrong with each estimate."""
    items: Mapping[str, Any] = field(default_factory=dict)
    """What metrics need in addition: `rig`, `edges` or `structures`."""


def all_cases() -> dict[str, SystematicCases]:
    """The three, by the entity that they test."""
    return {
        "surfaces": surface_cases(),
        "discontinuities": discontinuity_cases(),
        "structures": structure_cases(),
    }


# --- continuous surfaces (figure 6.1)

_SLOPES = (0.14, 0.105)
_BLOCK_PX = 20
_FOLD_PX = SIDE_PX // 2
_BUMP = (150.0, 150.0, 40.0)
"""Column, row and radius of the truth's own bump."""
_BUMP_HEIGHT_PX = 8.0
_MORE_BUMPS = ((40, 45, 14), (95, 30, 14), (35, 120, 14), (80, 165, 14), (150, 70, 14))
_NOISY_CELL_PX, _NOISY_SHARE = 8, 0.55
_BUMP_LEFT = 0.75
"""How much of its bump the noisy surface keeps."""


def surface_cases() -> SystematicCases:
    """A tilted plane with a bump; surfaces that are smoothed, blocky, tilted, moved, noisy."""
    y, x = np.mgrid[0:SIDE_PX, 0:SIDE_PX].astype(np.float64)
    bump = _BUMP_HEIGHT_PX * _bump(x, y, *_BUMP)
    truth = 20.0 + _SLOPES[0] * x + _SLOPES[1] * y + bump
    blocky = _blocks(truth, _BLOCK_PX)
    target = _rms(blocky - truth)
    left = x < _FOLD_PX
    deviations = {
        "a0": -bump,
        "a2": np.where(left, _FOLD_PX - x, 0.0),
        "a3": np.where(left, 1.0, 0.0),
        "a4": sum((_bump(x, y, *one) for one in _MORE_BUMPS), np.zeros_like(x)),
    }
    estimates = {name: truth + target / _rms(d) * d for name, d in deviations.items()}
    estimates["a1"] = blocky
    estimates["a5"] = truth + _add_up_to(target, (_BUMP_LEFT - 1.0) * bump, _noise(truth.shape))
    return SystematicCases(
        truth.astype(np.float32),
        {name: estimates[name].astype(np.float32) for name in sorted(estimates)},
        {
            "a0": "bump smoothed",
            "a1": "blocky",
            "a2": "left half tilted",
            "a3": "left half moved",
            "a4": "more bumps",
            "a5": "noisy",
        },
        {"rig": _rig()},
    )


def _rig() -> Rig:
    """A camera that sees 90 degrees; angles do not depend on the baseline."""
    middle = (SIDE_PX - 1) / 2
    focal_px = SIDE_PX / 2
    camera = Camera((focal_px, focal_px), (middle, middle), (SIDE_PX, SIDE_PX))
    return Rig({"left": camera}, 0.2)


def _bump(x: Values, y: Values, column: float, row: float, radius: float) -> Values:
    """A smooth bump of height 1 that is 0 beyond its radius."""
    square = ((x - column) ** 2 + (y - row) ** 2) / radius**2
    return np.maximum(0.0, 1.0 - square) ** 2


def _blocks(values: Values, size: int) -> Values:
    """The mean of each square block at all of its pixels."""
    height, width = values.shape
    squares = values.reshape(height // size, size, width // size, size)
    means = squares.mean(axis=(1, 3), keepdims=True)
    return np.broadcast_to(means, squares.shape).reshape(values.shape)


def _noise(shape: tuple[int, ...]) -> Values:
    """Noise of either sign and about height 1 in some of the cells of a grid, 0 in the others."""
    rng = np.random.default_rng(6)
    grid = tuple(-(-side // _NOISY_CELL_PX) for side in shape)
    noisy = np.zeros(grid[0] * grid[1])
    noisy[: int(_NOISY_SHARE * noisy.size)] = 1.0
    cells = rng.permutation(noisy).reshape(grid)
    mask = cells.repeat(_NOISY_CELL_PX, 0).repeat(_NOISY_CELL_PX, 1)[: shape[0], : shape[1]]
    heights = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.9, 1.1, shape)
    return np.asarray(mask * heights)


def _rms(error: Values) -> float:
    return float(np.sqrt(np.mean(error * error)))


def _add_up_to(target: float, fixed: Values, scaled: Values) -> Values:
    """The sum of two errors, the second scaled so that the whole has the wanted RMS."""
    a, b = np.mean(scaled * scaled), np.mean(fixed * scaled)
    c = np.mean(fixed * fixed) - target**2
    return np.asarray(fixed + (-b + np.sqrt(b * b - a * c)) / a * scaled)


# --- discontinuities (figure 6.2)

_BAND_PX = 10
"""How wide the foreground and the background beside the edge are."""


def discontinuity_cases() -> SystematicCases:
    """A vertical edge, foreground to the left; estimates that are fat, thin, fuzzy, rotated.

    In each, the number of wrong pixels is half that of the background beside the edge, and all are
    wrong by the same amount.
    """
    y, x = np.mgrid[0:SIDE_PX, 0:SIDE_PX]
    middle, half = SIDE_PX // 2, _BAND_PX // 2
    truth = np.where(x < middle, FRONT_PX, BACK_PX).astype(np.float32)
    edges = find_edges(truth, truth, reach=_BAND_PX)
    wrong = SIDE_PX * half
    upper = y < middle
    in_front = _nearest(edges.foreground, (middle - half, SIDE_PX // 4), wrong // 2)
    behind = _nearest(edges.background, (middle + half, 3 * SIDE_PX // 4), wrong // 2)
    frayed = _scattered(edges.foreground, edges.distance_px, 6 * wrong // 10)
    frayed |= _scattered(edges.background, edges.distance_px, 4 * wrong // 10)
    # Turned about the middle of the image: the flattest directions from there change sides.
    slant = (x - middle + 0.5) / (middle - 0.5 - y)
    turned = _smallest(slant, edges.background & upper, wrong // 2)
    turned |= _smallest(slant, edges.foreground & ~upper, wrong // 2)
    estimates = {
        "a0": np.asarray(truth + JUMP_PX * in_front - JUMP_PX * behind, np.float32),
        "a1": _swap(truth, (x < middle) & (x >= middle - half)),
        "a2": _swap(truth, (x >= middle) & (x < middle + half)),
        "a3": _swap(truth, edges.background & upper),
        "a4": _swap(truth, frayed),
        "a5": _swap(truth, turned),
    }
    return SystematicCases(
        truth,
        estimates,
        {
            "a0": "artifacts on both sides",
            "a1": "thin",
            "a2": "fat",
            "a3": "upper half very fat",
            "a4": "fuzzy",
            "a5": "rotated",
        },
        {"edges": edges},
    )


def _swap(truth: Map, where: Mask) -> Map:
    """Foreground turned into background and the other way round."""
    return np.where(where, np.float32(FRONT_PX + BACK_PX) - truth, truth).astype(np.float32)


def _smallest(values: NDArray[Any], inside: Mask, count: int) -> Mask:
    """The pixels inside a mask with the smallest values."""
    at = np.flatnonzero(inside)
    chosen = np.zeros(inside.size, bool)
    chosen[at[np.argsort(values.reshape(-1)[at], kind="stable")[:count]]] = True
    return chosen.reshape(inside.shape)


def _nearest(inside: Mask, centre: tuple[int, int], count: int) -> Mask:
    """The pixels inside a mask that are nearest to a point (column, row)."""
    y, x = np.indices(inside.shape)
    return _smallest(np.hypot(x - centre[0], y - centre[1]), inside, count)


def _scattered(inside: Mask, distance_px: Map, count: int) -> Mask:
    """Random pixels inside a mask, more of them near the edge."""
    rng = np.random.default_rng(6)
    luck = rng.exponential(size=inside.shape)
    return _smallest(luck * np.exp(distance_px / (0.3 * _BAND_PX)), inside, count)


# --- fine structures (figure 6.3)

_BAR_PX = (8, 240)
"""Width and length of the bar, which goes through the whole image."""
_BAR_LEFT_PX = 46
_IMAGE_WIDTH_PX = 100
_ENDS_PX = {"a2": (90, 0), "a3": (25, 25)}
_HOLES_PX = {"a2": ((165, 3),), "a3": ((75, 30), (140, 30))}
"""What is missing in fragmented bars: rows at both ends, and (first row, rows) of holes."""
_FATTENED = {"a4": 90, "a5": 300}
"""The number of wrong pixels around noisy bars; the other wrong pixels are in the bar."""
_CUTS = 30
"""Whole rows that are missing in the bar with many small artifacts."""


def structure_cases() -> SystematicCases:
    """A thin vertical bar; estimates that are thinner, fragmented, noisy.

    In each, the number of wrong pixels is half that of the bar, and all are wrong by the same
    amount: missing in the bar or fattened beside it.
    """
    width, height = _BAR_PX
    y, x = np.mgrid[0:height, 0:_IMAGE_WIDTH_PX]
    column = x - _BAR_LEFT_PX
    bar = (column >= 0) & (column < width)
    truth = np.where(bar, FRONT_PX, BACK_PX).astype(np.float32)
    structures = find_structures(truth, truth)
    quarter, wrong = width // 4, width * height // 2
    missing = {
        "a0": bar & ((column < quarter) | (column >= width - quarter)),
        "a1": bar & (column >= width // 2),
        **{name: bar & _lacking(y, name) for name in _ENDS_PX},
        "a4": _large_holes(bar, wrong - _FATTENED["a4"]),
        "a5": _small_holes(bar, wrong - _FATTENED["a5"]),
    }
    fat = {
        name: _fat(structures, wrong - int(np.count_nonzero(lost)), name)
        for name, lost in missing.items()
    }
    return SystematicCases(
        truth,
        {name: _swap(truth, missing[name] | fat[name]) for name in missing},
        {
            "a0": "thinner on both sides",
            "a1": "thinner on one side",
            "a2": "large parts missing",
            "a3": "more missing, in more places",
            "a4": "large artifacts",
            "a5": "many small artifacts",
        },
        {"structures": structures},
    )


def _lacking(y: NDArray[np.intp], name: str) -> Mask:
    """The rows that a fragmented bar lacks."""
    upper, lower = _ENDS_PX[name]
    rows = (y < upper) | (y >= _BAR_PX[1] - lower)
    for first, count in _HOLES_PX[name]:
        rows |= (y >= first) & (y < first + count)
    return rows


def _large_holes(bar: Mask, count: int) -> Mask:
    """Blocks of half the bar's width that are missing, in random places."""
    side = _BAR_PX[0] // 2
    luck = np.random.default_rng(6).random((_BAR_PX[1] // side, bar.shape[1] // side + 1))
    shift = -_BAR_LEFT_PX % side
    blocks = luck.repeat(side, 0).repeat(side, 1)[:, shift : shift + bar.shape[1]]
    return _smallest(blocks, bar, count)


def _small_holes(bar: Mask, count: int) -> Mask:
    """Thin cuts through the bar and single pixels that are missing, in random places."""
    rng = np.random.default_rng(6)
    luck = rng.random(bar.shape)
    luck[rng.choice(_BAR_PX[1], _CUTS, replace=False)] = -1.0
    return _smallest(luck, bar, count)


def _fat(structures: Structures, count: int, name: str) -> Mask:
    """`count` pixels around the bar: seams, or for noisy bars specks in random places."""
    around = structures.surrounding
    if name == "a5":
        return _smallest(np.random.default_rng(7).random(around.shape), around, count)
    if name == "a4":
        return _nearest(around, (_BAR_LEFT_PX - 4, _BAR_PX[1] // 3), count)
    return _nearest(around, (_BAR_LEFT_PX + _BAR_PX[0], _BAR_PX[1] // 2), count)
