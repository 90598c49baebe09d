"""A first look at small pictures: where matches are, and which patterns contribute to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Pairs, Stack
from depthgauge.capture.spacetime.engines.classical import Classical
from depthgauge.errors import BadData
from depthgauge.geometry.warping import left_right_consistent
from depthgauge.sessions import Session
from depthgauge.types import Map, Mask

_WIDTH = 320
"""Approximate width of the small pictures."""
_LEAST_AGREEMENT = 0.5
"""Smallest correlation of all patterns at an accepted match."""
_LEAST_SHARE = 0.1
"""Share of all pixels; fewer matches may be chance."""
_SUPPORT = 3e-4
"""The share of the matches that a disparity needs to be more than chance."""
_ODD_ONE_OUT = 0.5
"""A pattern whose own correlation is below this share of the others' does not fit the matches."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What the small pictures show."""

    disparities: NDArray[np.float64]
    """Disparities of all accepted matches, in px of the given pictures."""
    ratio: float
    """The factor by which the small pictures are smaller."""
    agreement: dict[str, float]
    """Correlation of each pattern alone at the matches: 1 if both cameras show the same."""
    share: float
    """Share of the pixels that have a match."""


def look(pairs: Pairs, patterns: Mapping[str, int], disparities: tuple[float, float]) -> Look:
    """Matches small versions of the pictures.

    Args:
        pairs: The pictures, perhaps mapped files.
        patterns: Names of the patterns to use, and their places in the pairs.
        disparities: The range to search, in px.
    """
    return small_matches(pairs, patterns, disparities)[0]


def small_matches(
    pairs: Pairs, patterns: Mapping[str, int], disparities: tuple[float, float]
) -> tuple[Look, Map]:
    """What small versions of the pictures show, and a map of the accepted matches.

    Args:
        pairs: The pictures, perhaps mapped files.
        patterns: Names of the patterns to use, and their places in the pairs.
        disparities: The range to search, in px.

    Returns:
        The look, and disparities in px of the given pictures, at their size; NaN elsewhere.
    """
    small = _shrunk(pairs, list(patterns.values()))
    ratio = pairs.size[2] / small.size[2]
    low, high = (math.floor(disparities[0] / ratio), math.ceil(disparities[1] / ratio))
    engine = Classical()
    left, right = engine.match_both(small, (low, high))
    good = left.confidence >= _LEAST_AGREEMENT
    good &= left_right_consistent(left.disparity, right.disparity, 1.0)
    y, x = np.nonzero(good)
    found = left.disparity[good].astype(np.float64)
    agreement = _agreement(small, y, x, x - np.rint(found).astype(np.intp))
    by_name = dict(zip(patterns, agreement, strict=True))
    seen = Look(found * ratio, ratio, by_name, float(good.mean()))
    return seen, _enlarged(np.where(good, left.disparity * ratio, np.nan), pairs.size)


def _enlarged(values: NDArray[np.floating[Any]], size: tuple[int, int, int]) -> Map:
    """A map of small pictures at the size of the large ones; each pixel takes the nearest."""
    _, height, width = size
    rows = ((np.arange(height) + 0.5) * values.shape[0] / height).astype(np.intp)
    columns = ((np.arange(width) + 0.5) * values.shape[1] / width).astype(np.intp)
    return np.asarray(values[rows[:, None], columns], np.float32)


def strangers(found: Look) -> dict[str, str]:
    """Patterns whose two pictures do not show the same thing, with the reason.

    This happens if pictures were mixed up, or if the projector changed between the two cameras.
    """
    values = sorted(found.agreement.values())
    usual = values[len(values) // 2]
    return {
        name: f"its two pictures do not match (correlation {value:.2f}, others have {usual:.2f})"
        for name, value in found.agreement.items()
        if value < _ODD_ONE_OUT * usual
    }


def matches(found: Look) -> bool:
    """Whether there are too many matches for chance."""
    return found.share >= _LEAST_SHARE


def no_match(session: Session, found: Look, crossed: Look | None) -> BadData:
    """The error for pictures that do not match.

    Args:
        session: For the message.
        found: Matches in the pictures as they are.
        crossed: Matches with the pictures of both cameras exchanged.
    """
    where = session.folder / "pattern"
    if crossed is not None and matches(crossed):
        return BadData(
            f"{where}: left and right are swapped: the pictures match only after exchanging them; "
            "exchange the folders L and R."
        )
    return BadData(
        f"{where}: the left and right pictures do not match: only {100 * found.share:.1f} % of "
        "the pixels find a partner; check that both cameras' pictures of a pattern have the "
        "same name and that the calibration belongs to this rig."
    )


def disparity_range(session: Session, found: Look, offset_px: float) -> tuple[int, int]:
    """The disparities to search, with some margin.

    Args:
        session: For the messages.
        found: Matches in small pictures.
        offset_px: How much larger a point's disparity is in the rig's geometry than in the pictures
            (x of the right principal point minus that of the left); then 0 is infinity.

    Raises:
        BadData: The matches show that the cameras are swapped.
    """
    parallax = found.disparities + offset_px
    if float(np.mean(parallax < -found.ratio)) > 0.5:
        raise BadData(
            f"{session.folder / 'pattern'}: the pictures match at negative disparities (median "
            f"{np.median(parallax):.0f} px): left and right are swapped; exchange the folders "
            "L and R."
        )
    low, high = _supported(found.disparities / found.ratio)
    margin = 2.0 + 0.05 * (high - low)
    lowest = max((low - margin) * found.ratio, -offset_px - 1.0)
    return math.floor(lowest), math.ceil((high + margin) * found.ratio)


def _supported(values: NDArray[np.float64]) -> tuple[int, int]:
    """The smallest and the largest whole disparity with enough matches."""
    whole = np.rint(values).astype(np.int64)
    first = int(whole.min())
    counts = np.bincount(whole - first)
    near = np.convolve(counts, np.ones(3, np.int64), mode="same")
    enough = np.nonzero((near >= max(4, _SUPPORT * whole.size)) & (counts > 0))[0]
    if not enough.size:
        return int(np.median(whole)), int(np.median(whole))
    return first + int(enough[0]), first + int(enough[-1])


def _agreement(
    pairs: Pairs, y: NDArray[np.intp], x: NDArray[np.intp], u: NDArray[np.intp]
) -> list[float]:
    """Correlation of each pattern's colours at matching pixels."""
    inside = (u >= 0) & (u < pairs.size[2])
    left = pairs.left[:, y[inside], x[inside]].astype(np.float32)
    right = pairs.right[:, y[inside], u[inside]].astype(np.float32)
    # What a point shows under all patterns is its own colour and the room's light. With two
    # patterns, each would be the other's negative.
    axis = 0 if len(left) > 2 else 1
    left -= left.mean(axis=axis, keepdims=True)
    right -= right.mean(axis=axis, keepdims=True)
    shared = (left * right).sum(axis=(1, 2), dtype=np.float64)
    squares = [(v * v).sum(axis=(1, 2), dtype=np.float64) for v in (left, right)]
    return [float(v) for v in shared / np.maximum(np.sqrt(squares[0] * squares[1]), 1e-9)]


def _shrunk(pairs: Pairs, places: Sequence[int]) -> Pairs:
    import cv2

    _, height, width = pairs.size
    factor = max(1, round(width / _WIDTH))
    size = (max(1, round(width / factor)), max(1, round(height / factor)))

    def small(stack: Stack) -> Stack:
        pictures = (np.asarray(stack[t]) for t in places)
        resized = (cv2.resize(p, size, interpolation=cv2.INTER_AREA) for p in pictures)
        return np.stack([p.reshape(*size[::-1], stack.shape[3]) for p in resized])

    def small_mask(mask: Mask) -> Mask:
        shares = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        return np.asarray(shares > 0.99)

    known = small_mask(pairs.left_known), small_mask(pairs.right_known)
    return Pairs(small(pairs.left), small(pairs.right), *known)
