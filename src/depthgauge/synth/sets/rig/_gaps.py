"""Gaps between the six cameras of a rig: how each family draws them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown

GAPS = 5
"""Six cameras have five gaps."""
IPD_CM, IPD_SD_CM, IPD_RANGE_CM = 6.38, 0.5, (4.5, 8.5)
UNIFORM_CM = (1.0, 150.0)
PAIRWISE_CM = (10.0, 200.0)
_WIDEST_CM = (172.0, 200.0)
_TRIED = 6
"""So many arrangements are drawn, and the one with the most even baselines is taken."""
_DECIMALS = 6


def draw_gaps(family: str, rng: np.random.Generator) -> tuple[float, ...]:
    """Five gaps in centimetres with six decimals, from left to right.

    Raises:
        UnknownName: There is no such family.
    """
    if family not in FAMILIES:
        raise unknown("family", family, tuple(FAMILIES))
    return tuple(round(float(gap), _DECIMALS) for gap in FAMILIES[family](rng))


def pairs_of(gaps_cm: tuple[float, ...]) -> list[float]:
    """The baselines of all pairs."""
    places = np.concatenate([[0.0], np.cumsum(gaps_cm)])
    return [float(b - a) for a, b in combinations(places, 2)]


def _ipd(rng: np.random.Generator) -> NDArray[np.float64]:
    """A Gaussian; what is out of range is drawn again."""
    low, high = IPD_RANGE_CM
    gaps: list[float] = []
    while len(gaps) < GAPS:
        gap = float(rng.normal(IPD_CM, IPD_SD_CM))
        if low <= gap <= high:
            gaps.append(gap)
    return np.array(gaps)


def _uniform(rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.uniform(*UNIFORM_CM, GAPS)


def _pairwise(rng: np.random.Generator) -> NDArray[np.float64]:
    """Cameras in a width of up to 2 m whose 15 baselines are spread over 10 to 200 cm.

    Inner cameras are drawn more often near the ends, which makes long baselines as common as short
    ones. Of a few arrangements that keep 10 cm apart, the one whose sorted baselines are nearest to
    equal steps is taken.
    """
    low, high = PAIRWISE_CM
    steps = low + (high - low) * (np.arange(15) + 0.5) / 15
    best, least = np.full(GAPS, 30.0), np.inf
    found = 0
    while found < _TRIED:
        width = rng.uniform(*_WIDEST_CM)
        inner = np.sort(rng.beta(0.75, 0.75, GAPS - 1)) * width
        gaps = np.diff(np.concatenate([[0.0], inner, [width]]))
        if gaps.min() < low:
            continue
        found += 1
        off = float(np.abs(np.sort(pairs_of(tuple(gaps))) - steps).sum())
        if off < least:
            best, least = gaps, off
    return best


FAMILIES: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "IPD_Gaussian": _ipd,
    "Uniform": _uniform,
    "Pairwise_Uniform": _pairwise,
}
"""How gaps are drawn, by family."""
