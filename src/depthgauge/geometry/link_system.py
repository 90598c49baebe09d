"""Pixel values from links between neighbours: smooth filling, and integration.

The sum of weight * (v_q - v_p - step)^2 over links between horizontal and vertical neighbours is
minimised, with the values of some pixels known. Nothing passes where there is no link: each
connected part is solved by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._once import cached_property
from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Mask

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LinkSolution:
    """The values that fit the links best."""

    values: Array
    """(H, W, C); NaN where a pixel is neither known nor linked."""
    residual: float
    """Largest relative residual |b - A v| / |b| of a channel."""


class LinkSystem:
    """Links between pixels, prepared once and then solved for any steps and known values.

    >>> right = np.array([[1.0, 1.0, 0.0]])
    >>> system = LinkSystem(right, np.zeros((1, 3)), np.array([[True, False, True]]))
    >>> system.solve(np.array([[[1.0], [np.nan], [5.0]]])).values[0, :, 0]
    array([1., 3., 5.])
    """

    def __init__(
        self,
        right: NDArray[Any],
        down: NDArray[Any],
        known: Mask | None = None,
        *,
        direct: bool = False,
    ) -> None:
        """Numbers the pixels and builds the matrix; the solver is built when first needed.

        Args:
            right: (H, W) weight of each pixel's link to the pixel on its right, 0 for none. The
                last column is ignored.
            down: The same for the pixel below; the last row is ignored.
            known: Pixels whose values will be given.
            direct: Solve by factorisation: faster and exact for many small separate parts.
        """
        if right.shape != down.shape or right.ndim != 2:
            raise WrongShape(f"links are two (H, W) arrays, found {right.shape} and {down.shape}")
        self.known = np.zeros(right.shape, bool) if known is None else known
        if self.known.shape != right.shape:
            raise WrongShape(f"known is {self.known.shape}, the links are {right.shape}")
        self._direct = direct
        self._right, self._down = np.array(right, np.float64), np.array(down, np.float64)
        self._right[:, -1:] = 0
        self._down[-1:] = 0
        if not (_fit(self._right) and _fit(self._down)):
            raise Misuse("the weights of links are finite and cannot be negative")
        degree = _gathered(self._right, self._down)
        self._nodes = np.flatnonzero((degree > 0) & ~self.known)
        self.matrix, diagonal = self._assembled(degree)
        """(n, n) CSR of the pixels that are linked and not known, in reading order."""
        self._part, self._first = self._held(diagonal)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.known.shape
        return height, width

    @cached_property
    def _solver(self) -> Any:
        from depthgauge.geometry._multigrid import Multigrid

        y, x = np.divmod(self._nodes, self.shape[1])
        return Multigrid(self.matrix, x, y, direct=self._direct)

    def prepare(self) -> None:
        """Builds what `solve` needs, so that it can be done early or in a thread."""
        _ = self._solver

    def parts(self) -> NDArray[np.int32]:
        """(H, W): numbers 1.. of the parts that links between unknown pixels connect.

        Pixels that are known or have no link are 0.
        """
        found = np.zeros(self.known.size, np.int32)
        found[self._nodes] = self._part + 1
        return found.reshape(self.shape)

    def solve(
        self,
        known_values: Array | None = None,
        steps: tuple[Array, Array] | None = None,
        start: Array | None = None,
        tolerance: float = 1e-6,
        late: Callable[[], bool] | None = None,
    ) -> LinkSolution:
        """The values that fit best; in a part without a known value, the first pixel gets 0.

        Args:
            known_values: (H, W, C), read where `known` is set; needed if any pixel is known.
            steps: v_q - v_p over each link to the right and each link down, (H, W) each; 0 by
                default. Read where there is a link.
            start: (H, W, C), where the search starts.
            tolerance: The largest relative residual.
            late: Asked before each step of the search, which ends early when it says yes.
        """
        if known_values is None and self.known.any():
            raise Misuse("this system has known pixels, but no values for them were given")
        given = np.zeros((*self.shape, 1)) if known_values is None else known_values
        fixed = np.where(self.known[..., None], given, 0.0)
        flat = fixed.reshape(-1, fixed.shape[-1])
        right_side = self._right_side(fixed, steps)
        begin = np.zeros_like(right_side)
        if start is not None:
            begin = np.nan_to_num(start.reshape(flat.shape)[self._nodes])
            begin -= np.append(begin, np.zeros((1, begin.shape[1])), axis=0)[self._first][
                self._part
            ]
        found, residual = self._columns(right_side, begin, tolerance, late)
        values = np.where(self.known[..., None], given, np.nan).reshape(flat.shape)
        values[self._nodes] = found
        return LinkSolution(values.reshape(fixed.shape), residual)

    def _columns(
        self,
        right_side: Array,
        begin: Array,
        tolerance: float,
        late: Callable[[], bool] | None,
    ) -> tuple[Array, float]:
        """One or three columns at a time, as the solver needs them."""
        count = right_side.shape[1]
        width = 3 if count % 3 == 0 else 1
        solved = [
            self._solver.solve(
                np.ascontiguousarray(right_side[:, i : i + width]),
                np.ascontiguousarray(begin[:, i : i + width]),
                tolerance,
                late=late,
            )
            for i in range(0, count, width)
        ]
        return np.concatenate([s[0] for s in solved], axis=1), max(s[1] for s in solved)

    def _right_side(self, fixed: Array, steps: tuple[Array, Array] | None) -> Array:
        height, width, channels = fixed.shape
        total = np.zeros(fixed.shape)
        if self.known.any():
            right, down = self._right[..., None], self._down[..., None]
            total[:, 1:] += right[:, :-1] * fixed[:, :-1]
            total[:, :-1] += right[:, :-1] * fixed[:, 1:]
            total[1:] += down[:-1] * fixed[:-1]
            total[:-1] += down[:-1] * fixed[1:]
        if steps is not None:
            across = np.where(self._right > 0, self._right * steps[0], 0.0)[..., None]
            along = np.where(self._down > 0, self._down * steps[1], 0.0)[..., None]
            total -= across + along
            total[:, 1:] += across[:, :-1]
            total[1:] += along[:-1]
        chosen: Array = total.reshape(height * width, channels)[self._nodes]
        return chosen

    def _held(self, diagonal: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The part of each node, and the node of each part that is held at 0 (-1 for none).

        Without it, a part without a known pixel would be free to drift. Its steps are differences,
        so one node can be held without changing them.
        """
        from scipy.sparse.csgraph import connected_components

        if not self._nodes.size:
            return np.zeros(0, np.int32), np.zeros(0, np.int64)
        count, part = connected_components(self.matrix, directed=False)
        weights = self.matrix.data[diagonal]
        tied = self.matrix.sum(axis=1) > 1e-9 * weights
        free = np.bincount(part, tied, count) == 0
        first = np.full(count, -1, np.int64)
        first[part[::-1]] = np.arange(len(part))[::-1]
        first[~free] = -1
        self.matrix.data[diagonal[first[free]]] += weights[first[free]]
        return part, first

    def _assembled(self, degree: Array) -> tuple[Any, NDArray[np.int32]]:
        """The matrix, and the places of the diagonal in its data."""
        from scipy import sparse

        from depthgauge.geometry._multigrid_kernels import assemble

        count = len(self._nodes)
        number = np.full(self.known.size, -1, np.int32)
        number[self._nodes] = np.arange(count, dtype=np.int32)
        ends, columns = np.zeros(count + 1, np.int32), np.zeros(5 * count, np.int32)
        values, diagonal = np.zeros(5 * count), np.zeros(count, np.int32)
        parts = number.reshape(self.shape), self._right, self._down, degree
        used = assemble(*parts, ends, columns, values, diagonal)
        matrix = sparse.csr_array((values[:used], columns[:used], ends), shape=(count, count))
        return matrix, diagonal


def _fit(weights: Array) -> bool:
    return bool(np.isfinite(weights).all() and (weights >= 0).all())


def _gathered(right: Array, down: Array) -> Array:
    """The sum of the weights of each pixel's links."""
    total = right + down
    total[:, 1:] += right[:, :-1]
    total[1:] += down[:-1]
    return total
