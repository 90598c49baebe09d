"""How far the clocks of two cameras are apart, from the times of their photographs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData

Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClockFit:
    """A clock against another one."""

    offset_s: float
    """How many seconds it is ahead."""
    pairs: tuple[tuple[int, int], ...]
    """Photographs that were taken at once: places in the first and the second list."""
    worst_s: float
    """The largest difference of a pair after the offset is removed."""


def clock_offset(first_s: Sequence[float], second_s: Sequence[float], within_s: float) -> ClockFit:
    """How far the second clock is ahead of the first, and which photographs belong together.

    Every pair of photographs proposes its own difference; the offset with the most pairs is taken.

    Args:
        first_s: Times of one camera's photographs.
        second_s: Times of the other's.
        within_s: The largest difference of a pair.

    Raises:
        BadData: Two offsets explain the times equally well, as with shots at regular intervals of
            which one camera lacks the first or the last.

    >>> clock_offset([0.0, 5.0, 9.0], [103.0, 112.1], 1.0).pairs
    ((0, 0), (2, 1))
    """
    first, second = np.asarray(first_s, np.float64), np.asarray(second_s, np.float64)
    differences = np.unique((second[None, :] - first[:, None]).ravel())
    fits = [pairs_at(first, second, float(offset), within_s) for offset in differences]
    best = max(fits, key=lambda fit: (len(fit.pairs), -fit.worst_s))
    rivals = [
        fit
        for fit in fits
        if len(fit.pairs) == len(best.pairs) and abs(fit.offset_s - best.offset_s) > 2 * within_s
    ]
    if not rivals:
        return best
    # Clocks that were set are nearer than any accident.
    agreeing = [fit for fit in (best, *rivals) if abs(fit.offset_s) <= within_s]
    if agreeing:
        return min(agreeing, key=lambda fit: fit.worst_s)
    other = min(rivals, key=lambda fit: abs(fit.offset_s - best.offset_s))
    raise BadData(
        f"the times fit equally well if the second clock is ahead by {best.offset_s:.1f} or by "
        f"{other.offset_s:.1f} s; say which with --clock-offsets, or pair by order or name."
    )


def pairs_at(first: Times, second: Times, offset_s: float, within_s: float) -> ClockFit:
    """Photographs that are nearest to each other, both ways, if the clocks differ by an offset."""
    apart = np.abs(second[None, :] - offset_s - first[:, None])
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    pairs = [
        (i, int(j))
        for i, j in enumerate(nearest)
        if back[j] == i and apart[i, j] <= within_s * (1 + 1e-9)
    ]
    if not pairs:
        return ClockFit(offset_s, (), 0.0)
    left, right = np.array(pairs).T
    settled = float(np.median(second[right] - first[left]))
    worst = float(np.abs(second[right] - first[left] - settled).max())
    return ClockFit(settled, tuple(pairs), worst)
