"""The engine that needs no network: correlation and census of all patterns, semi-global matching.

A pixel's *space-time window* consists of the pixels around it under all T patterns. Its similarity
to a window of the other view is their correlation. Mean colours are subtracted (each pixel's own
over the patterns, then the window's, one for each channel), products are summed over patterns,
channels and pixels, and the sum is divided by what it would be for two equal windows. So a pattern
counts by its contrast there: one that does not reach the surface, or only dimly, adds little noise.
What does not change with the patterns (joints between tiles, an edge in front of a dark wall) does
not count at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Engine, EngineSpec, Matches, Pairs, Stack
from depthgauge.types import Map, Mask

SPEC = EngineSpec(
    "classical", "Correlation and census of all patterns, semi-global matching; needs no network."
)

Colours = NDArray[np.float32]
"""(H, W, K): the colours of each pixel under all patterns."""
_FEWEST_FOR_MEAN = 2
"""With at least this many patterns, a pixel's own mean colour is subtracted."""
_FEWEST_TO_LEAVE_OUT = 3
"""With fewer patterns, the jackknife leaves out channels: two patterns minus their mean are one."""
_NO_CENSUS = 5
"""With at least this many patterns, the census does not help."""
_MEAN_PX = 9
"""With one pattern, the mean of this many px around each pixel is subtracted."""
_FEWEST_ALONE = 5
"""With fewer patterns a pixel alone has too few colours to tell what is mixed in it."""
_NO_MATCH = -(2**31)
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))
_MATCH_WINDOWS = (
    (5, (1, 4, 1)),
    (3, (1, 2, 1)),
    (2, (1, 4, 6, 4, 1)),
    (1, (1, 6, 15, 20, 15, 6, 1)),
)
"""Weights of a window's rows and columns, for this many patterns and more. Five patterns are nearly
enough to distinguish pixels, and small windows keep thin objects and edges; a single pattern needs
neighbours."""
_SHIFT_WINDOWS = ((3, (1, 4, 6, 4, 1)), (1, (1, 6, 15, 20, 15, 6, 1)))
"""The same for fractions of a pixel; there, pixels of other surfaces are left out of a window."""


def window_weights(patterns: int, *, shift: bool = False) -> NDArray[np.float32]:
    """Weights of the rows (and columns) of a space-time window; they sum to 1.

    Args:
        patterns: The more of them, the smaller the window.
        shift: The window in which fractions of a pixel are measured.

    >>> window_weights(3)
    array([0.25, 0.5 , 0.25], dtype=float32)
    >>> [window_weights(t).size for t in (1, 2, 20)], window_weights(20, shift=True).size
    ([7, 5, 3], 5)
    """
    table = _SHIFT_WINDOWS if shift else _MATCH_WINDOWS
    weights = next(weights for fewest, weights in table if patterns >= fewest)
    return np.array(weights, np.float32) / np.float32(sum(weights))


@dataclass(frozen=True, slots=True)
class Classical:
    """Correlation (and census, with few patterns); semi-global matching; sub-pixel shifts.

    Costs range from 0 (equal) to 1023 (not similar).
    """

    census_part: float = 0.2
    """The census' share of the cost with fewer than 5 patterns; the rest is the correlation's."""
    noise_levels: float = 1.5
    """Contrast in grey levels below which similarity counts little."""
    step_penalty: int = 20
    """Cost of a change by one disparity between neighbours."""
    jump_penalty: int = 110
    """Cost of larger changes."""
    candidates: int = 6
    """Disparities of each pixel among which semi-global matching chooses: the lowest local minima
    of its costs."""
    margin_rows: int = 16
    """The tiles of a picture overlap by this many rows; farther away, penalties have no effect."""
    revision: int = 3
    uncertainty: str = "jackknife over patterns"

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Memory that a row needs: pictures, colours as float32, candidates and maps of both views.

        The costs of a few rows, which do not depend on the number of rows, are not counted.
        """
        patterns, _, width = size
        colours = 4 * _size(patterns, 3)
        return 2 * width * (3 * patterns + 2 * colours + 6 * self.candidates + 64)

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Disparities of the left view, with variances from a jackknife over the patterns."""
        (left, means), (right, _) = _colours(pairs.left), _colours(pairs.right)
        whole = self._whole(pairs, (left, right), disparities)
        return self._shifted(pairs, left, right, whole[0], means)

    def match_both(self, pairs: Pairs, disparities: tuple[int, int]) -> tuple[Matches, Matches]:
        """The same for both views; costs are computed once."""
        (left, means), (right, right_means) = _colours(pairs.left), _colours(pairs.right)
        whole = self._whole(pairs, (left, right), disparities)
        found = self._shifted(pairs, left, right, whole[0], means)
        # Mirrored, the right view is the left one.
        left, right = np.ascontiguousarray(right[:, ::-1]), np.ascontiguousarray(left[:, ::-1])
        mine = np.ascontiguousarray(whole[1][:, ::-1])
        other = self._shifted(pairs, left, right, mine, right_means[:, ::-1])
        return found, other.mirrored()

    def _shifted(
        self, pairs: Pairs, left: Colours, right: Colours, whole: NDArray[np.int32], means: Map
    ) -> Matches:
        from depthgauge.capture.spacetime.engines import _shift_kernels
        from depthgauge.capture.spacetime.engines.mixing import mixing, share_beyond_jumps

        patterns, channels = pairs.left.shape[0], pairs.left.shape[3]
        replicates, parts = _roles(patterns, channels)
        recentred = patterns / (patterns - 1) if replicates == patterns > 1 else 1.0
        found = np.full((_shift_kernels.FOUND, *whole.shape), np.nan, np.float32)
        _shift_kernels.shifts(
            left,
            right,
            whole,
            _NO_MATCH,
            window_weights(patterns, shift=True),
            (replicates, parts, recentred, self._floor(pairs)),
            found,
        )
        if patterns == 1:
            found[1] = np.nan
        window = None if patterns >= _FEWEST_ALONE else window_weights(patterns)
        other = mixing(found[3:], means.mean(axis=2), window)
        # A pixel that a quarter of its light, or half of its colour, does not explain is worth as
        # much as a correlation of one half.
        agreed = np.minimum(found[2], np.maximum(1 - 2 * other, 0))
        agreed = np.minimum(agreed, 1 - share_beyond_jumps(found[0], means))
        return Matches(found[0], found[1], agreed.astype(np.float32))

    def _floor(self, pairs: Pairs) -> float:
        patterns, channels = pairs.left.shape[0], pairs.left.shape[3]
        return float(self.noise_levels**2 * patterns * channels)

    def _whole(
        self,
        pairs: Pairs,
        colours: Sequence[Colours],
        disparities: tuple[int, int],
    ) -> list[NDArray[np.int32]]:
        """Whole disparities of the left view, and of the right one."""
        from depthgauge.capture.spacetime.engines import _cost_kernels, _path_kernels
        from depthgauge.geometry._shared_kernels import path_count

        low, high = disparities
        places, costs = self._candidates(pairs, colours, low, high - low + 1)
        found = []
        for place, cost in zip(places, costs, strict=True):
            totals = np.zeros_like(cost)
            height, width = place.shape[:2]
            for dx, dy in _DIRECTIONS:
                paths = path_count(height, width, dx, dy)
                penalties = self.step_penalty, self.jump_penalty
                _path_kernels.follow_paths(
                    paths, place, cost, _cost_kernels.WORST, dx, dy, *penalties, totals
                )
            best = np.zeros((height, width), np.int32)
            _path_kernels.winners(place, cost, totals, _cost_kernels.WORST, _NO_MATCH, best)
            best[best != _NO_MATCH] += low
            found.append(best)
        return found

    def _candidates(
        self, pairs: Pairs, colours: Sequence[Colours], low: int, count: int
    ) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """The best disparities of each pixel of both views, and their costs: (2, H, W, M)."""
        from depthgauge.capture.spacetime.engines import _cost_kernels as kernels

        patterns, height, width = pairs.size
        weights = window_weights(patterns)
        few = patterns < _NO_CENSUS
        words = np.zeros((2, height, width, patterns if few else 0), np.uint32)
        if few:
            # The sum over channels of the noise in each.
            least = round(self.noise_levels * pairs.left.shape[3])
            for side, stack in enumerate((pairs.left, pairs.right)):
                kernels.census(np.ascontiguousarray(stack), least, words[side])
        known = pairs.left_known, pairs.right_known
        spreads = np.stack([_spreads(c, k, weights) for c, k in zip(colours, known, strict=True)])
        spreads[1] = spreads[1, :, ::-1].copy()
        places = np.zeros((2, height, width, self.candidates), np.int16)
        costs = np.zeros((2, height, width, self.candidates), np.uint16)
        how = np.array([self._floor(pairs), self.census_part], np.float32)
        kernels.candidates(*colours, weights, spreads, words, how, low, count, places, costs)
        return places, costs


def engine() -> Engine:
    """The engine with its default settings."""
    return Classical()


def _roles(patterns: int, channels: int) -> tuple[int, int]:
    """What the jackknife leaves out, one at a time, and the parts that each of these has.

    >>> _roles(10, 3), _roles(2, 3)
    ((10, 3), (3, 2))
    """
    return (patterns, channels) if patterns >= _FEWEST_TO_LEAVE_OUT else (channels, patterns)


def _size(patterns: int, channels: int) -> int:
    """K: the numbers of a pixel."""
    from depthgauge.capture.spacetime.engines._cost_kernels import LANES

    replicates, parts = _roles(patterns, channels)
    return parts * (-(-replicates // LANES) * LANES)


def _colours(stack: Stack) -> tuple[Colours, Map]:
    """(T, H, W, C) -> (H, W, K), and the mean colours of each pixel, (H, W, C)."""
    from depthgauge.capture.spacetime.engines import _cost_kernels

    patterns, height, width, channels = stack.shape
    colours = np.zeros((height, width, _size(patterns, channels)), np.float32)
    means = np.zeros((height, width, channels), np.float32)
    pictures = cast("Stack", np.ascontiguousarray(stack))
    if patterns >= _FEWEST_TO_LEAVE_OUT:
        _cost_kernels.colours_of(pictures, True, colours, means)
        return colours, means
    means = np.asarray(pictures.mean(axis=0, dtype=np.float32))
    centred = _without_means(pictures) if patterns < _FEWEST_FOR_MEAN else pictures - means
    # The jackknife leaves out channels: they take the place of patterns.
    swapped = np.ascontiguousarray(centred.transpose(3, 1, 2, 0))
    _cost_kernels.colours_of(
        swapped, False, colours, np.zeros((height, width, patterns), np.float32)
    )
    return colours, means


def _without_means(stack: Stack) -> NDArray[np.float32]:
    """Pictures minus the mean colours around each pixel."""
    import cv2

    size = (_MEAN_PX, _MEAN_PX)
    pictures = [picture.astype(np.float32) for picture in stack]
    return np.stack([p - cv2.blur(p, size).reshape(p.shape) for p in pictures])


def _spreads(colours: Colours, known: Mask, weights: NDArray[np.float32]) -> Map:
    """The root of the sum of squares of each window; infinite where the camera saw nothing."""
    import cv2

    from depthgauge.capture.spacetime.engines import _cost_kernels

    energy = np.zeros(known.shape, np.float32)
    _cost_kernels.energies(colours, known, energy)
    total = cv2.sepFilter2D(energy, -1, weights, weights, borderType=cv2.BORDER_REPLICATE)
    return np.where(known, np.sqrt(total), np.inf).astype(np.float32)
