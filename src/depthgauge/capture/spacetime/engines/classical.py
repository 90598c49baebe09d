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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Engine, EngineSpec, Matches, Pairs, Stack

SPEC = EngineSpec(
    "classical", "Correlation and census of all patterns, semi-global matching; needs no network."
)

_OFFSET = 64.0
"""Subtracted from all grey levels: products are smaller, so float32 sums keep more digits."""
_FEWEST_FOR_MEAN = 3
"""With at least this many patterns, a pixel's own mean colour is subtracted."""
_ALIGN = 16
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
_SHIFT_WINDOWS = ((2, (1, 4, 6, 4, 1)), (1, (1, 6, 15, 20, 15, 6, 1)))
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
    """Correlation and census, averaged over the patterns; semi-global matching; sub-pixel shifts.

    Costs range from 0 (equal) to 1023 (not similar).
    """

    census_part: float = 0.2
    """The census' share of the cost; the rest is the correlation's."""
    noise_levels: float = 1.5
    """Contrast in grey levels below which similarity counts little."""
    step_penalty: int = 20
    """Cost of a change by one disparity between neighbours."""
    jump_penalty: int = 110
    """Cost of larger changes."""
    margin_rows: int = 24
    """The tiles of a picture overlap by this many rows; farther away, penalties have no effect."""
    revision: int = 2
    uncertainty: str = "jackknife over patterns"

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Memory that a row needs: colours as float32, census words, costs and their sums."""
        patterns, _, width = size
        count = disparities[1] - disparities[0] + 1
        colours = 4 * _padded(3 * patterns) + 3 * patterns
        return width * (2 * colours + 8 * patterns + 4 * count + 64)

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Disparities of the left view, with variances from a jackknife over the patterns."""
        from depthgauge.capture import _spline_kernels
        from depthgauge.capture.spacetime.engines import _shift_kernels

        patterns, height, width = pairs.size
        channels = pairs.left.shape[3]
        colours = _colours(pairs.left), _colours(pairs.right)
        whole = self._whole(pairs, colours, disparities)
        _spline_kernels.spline_rows(colours[1])
        found = np.full((3, height, width), np.nan, np.float32)
        _shift_kernels.shifts(
            *colours,
            whole,
            _NO_MATCH,
            window_weights(patterns, shift=True),
            patterns,
            channels,
            self._floor(pairs),
            found,
        )
        return Matches(*found)

    def _floor(self, pairs: Pairs) -> float:
        patterns, channels = pairs.left.shape[0], pairs.left.shape[3]
        return float(self.noise_levels**2 * patterns * channels)

    def _whole(
        self,
        pairs: Pairs,
        colours: tuple[NDArray[np.float32], NDArray[np.float32]],
        disparities: tuple[int, int],
    ) -> NDArray[np.int32]:
        from depthgauge.capture.spacetime.engines import _cost_kernels, _path_kernels
        from depthgauge.geometry._shared_kernels import path_count

        low, high = disparities
        penalties = float(self.step_penalty), float(self.jump_penalty)
        costs = self._costs(pairs, colours, low, high - low + 1)
        totals = np.zeros_like(costs)
        for dx, dy in _DIRECTIONS:
            paths = path_count(costs.shape[0], costs.shape[1], dx, dy)
            _path_kernels.follow_paths(paths, costs, dx, dy, *penalties, totals)
        places = np.zeros(costs.shape[:2], np.int32)
        _path_kernels.winners(costs, totals, _cost_kernels.WORST, places)
        return np.where(places < 0, _NO_MATCH, places + low).astype(np.int32)

    def _costs(
        self,
        pairs: Pairs,
        colours: tuple[NDArray[np.float32], NDArray[np.float32]],
        low: int,
        count: int,
    ) -> NDArray[np.uint16]:
        from depthgauge.capture.spacetime.engines import _cost_kernels as kernels

        patterns, height, width = pairs.size
        channels = pairs.left.shape[3]
        weights = window_weights(patterns)
        means = np.zeros((2, height, width, channels), np.float32)
        spreads = np.zeros((2, height, width), np.float32)
        words = np.zeros((2, height, width, patterns), np.uint32)
        for side, stack in enumerate((pairs.left, pairs.right)):
            kernels.moments(colours[side], patterns, weights, means[side], spreads[side])
            # The sum over channels of the noise in each.
            least = round(self.noise_levels * channels)
            kernels.census(np.ascontiguousarray(stack), least, words[side])
        known = np.stack([pairs.left_known, pairs.right_known])
        costs = np.zeros((height, width, count), np.uint16)
        how = np.array([self._floor(pairs), self.census_part], np.float32)
        kernels.cost_volume(*colours, weights, means, spreads, known, words, how, low, costs)
        return costs


def engine() -> Engine:
    """The engine with its default settings."""
    return Classical()


def _padded(colours: int) -> int:
    return -(-colours // _ALIGN) * _ALIGN


def _colours(stack: Stack) -> NDArray[np.float32]:
    """(T, H, W, C) -> (H, W, K)."""
    from depthgauge.capture.spacetime.engines import _cost_kernels

    patterns, height, width, channels = stack.shape
    colours = np.zeros((height, width, _padded(patterns * channels)), np.float32)
    own_mean = patterns >= _FEWEST_FOR_MEAN
    _cost_kernels.colours_of(np.ascontiguousarray(stack), own_mean, _OFFSET, colours)
    return colours
