"""Merges states that contain lists (rows of rankings, sorted values) in every resample.

All lists are sorted once; a resample takes each entry as often as its sample was drawn.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import State

Floats = NDArray[np.float64]
Finish = Callable[[State], float]


def finish_lists(finish: Finish, states: Sequence[State], counts: Floats) -> Floats:
    """The value of every resample: the drawn states merged and finished.

    Args:
        finish: Turns a merged state into its value.
        states: One per sample; all with rows, or all with values.
        counts: (resamples, samples): how often each sample was drawn.

    Returns:
        One value per resample, NaN where nothing was drawn.
    """
    plain = np.array([[state.count, state.missing, *state.sums] for state in states])
    sums = np.einsum("bs,sk->bk", counts, plain)
    times = counts.astype(np.intp)
    if states[0].rows is not None:
        lists = _drawn_rows([s.rows for s in states if s.rows is not None], times)
        return _finished(finish, sums, times, lambda b: {"rows": lists(b)})
    parts = [s.values for s in states if s.values is not None]
    return _finish_values(finish, sums, times, parts)


def _finished(
    finish: Finish, sums: Floats, times: NDArray[np.intp], lists: Callable[[int], dict[str, Any]]
) -> Floats:
    return np.array(
        [
            finish(State(int(line[0]), int(line[1]), line[2:], **lists(b)))
            if times[b].any()
            else math.nan
            for b, line in enumerate(sums)
        ]
    )


def _drawn_rows(
    parts: Sequence[NDArray[np.float64]], times: NDArray[np.intp]
) -> Callable[[int], NDArray[np.float64]]:
    rows = np.concatenate(parts)
    order = np.lexsort(rows.T[::-1])
    rows, owner = rows[order], _owners(parts)[order]

    def drawn(b: int) -> NDArray[np.float64]:
        return np.asarray(np.repeat(rows, times[b][owner], axis=0))

    return drawn


def _owners(parts: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """The list that each entry of all lists together comes from."""
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts])


# --- sorted values ------------------------------------------------------------------------------


class DrawnValues:
    """The sorted values of a resample, which may be millions: only requested values are looked up,
    and the list is made only if all are needed.

    Args:
        size: The number of values.
        known: The values at some places; None while the wanted places are being collected.
        whole: Makes the list.
    """

    def __init__(
        self, size: int, known: dict[int, float] | None, whole: Callable[[], NDArray[np.float32]]
    ) -> None:
        self.size = size
        self.asked: list[int] = []
        self._known = known
        self._whole = whole

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, (int, np.integer)):
            return np.asarray(self)[place]
        place = range(self.size)[place]
        self.asked.append(place)
        if self._known is None:
            return np.float32(0)
        return np.float32(self._known[place]) if place in self._known else np.asarray(self)[place]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self._whole(), dtype)


def _finish_values(
    finish: Finish, sums: Floats, times: NDArray[np.intp], parts: Sequence[NDArray[np.float32]]
) -> Floats:
    """Runs once to collect the places, finds the values there in all resamples, and runs again."""
    sizes = times @ np.array([part.size for part in parts], np.intp)

    @functools.cache
    def in_order() -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        values = np.concatenate(parts)
        order = np.argsort(values, kind="stable")
        return values[order], _owners(parts)[order]

    def whole(b: int) -> NDArray[np.float32]:
        values, owner = in_order()
        return np.repeat(values, times[b][owner])

    def drawn(b: int, known: dict[int, float] | None) -> DrawnValues:
        return DrawnValues(int(sizes[b]), known, lambda: whole(b))

    asking = [drawn(b, None) for b in range(len(times))]
    _finished(finish, sums, times, lambda b: {"values": asking[b]})
    found = _look_up(parts, times, [each.asked for each in asking])
    return _finished(finish, sums, times, lambda b: {"values": drawn(b, found[b])})


def _look_up(
    parts: Sequence[NDArray[np.float32]], times: NDArray[np.intp], wanted: Sequence[Sequence[int]]
) -> list[dict[int, float]]:
    """The value at each wanted place of each resample."""
    found: list[dict[int, float]] = [{} for _ in wanted]
    if any(part.size and part[0] < 0 for part in parts):
        return found  # then the whole list gives them
    most = max(map(len, wanted), default=0)
    for k in range(most):
        places = np.array([each[k] if k < len(each) else 0 for each in wanted], np.int64)
        at = value_at(parts, times.astype(np.float64), places)
        for b, each in enumerate(wanted):
            if k < len(each):
                found[b][each[k]] = float(at[b])
    return found


def value_at(
    parts: Sequence[NDArray[np.float32]], counts: Floats, places: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The value at a place of each resample's sorted values, by bisection over all float32.

    Args:
        parts: The sorted values of each sample, none below 0.
        counts: (resamples, samples): how often each sample was drawn.
        places: One per resample, from 0.
    """
    # The bits of a non-negative float32 grow with its value: 31 halvings find any of them.
    low = np.zeros(len(places), np.int32)
    high = np.full(len(places), np.float32(np.inf).view(np.int32))
    for _ in range(31):
        middle = low + (high - low) // 2
        candidate = middle.view(np.float32)
        below = np.zeros(len(places))
        for column, part in enumerate(parts):
            below += counts[:, column] * np.searchsorted(part, candidate, side="right")
        enough = below > places
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle + 1)
    return high.view(np.float32)
