"""Smoothed aggregation: a fast solver for systems of links between neighbouring pixels.

The nodes of a 3 x 3 block that are connected inside the block become one node of the next level, so
no level joins what a line has cut. The smoothed corrections of the levels are the preconditioner of
conjugate gradients (Vanek, Mandel, Brezina 1996). The products are compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_Rows = tuple[NDArray[np.uint32], NDArray[np.uint32], Array]
"""A CSR matrix: where rows begin, columns, values."""

_SIDE = 3
_SMALL = 1200
"""The number of nodes up to which the system is solved by factorisation."""


@dataclass(frozen=True)
class _Level:
    """The data for the corrections of one level."""

    matrix: _Rows
    jacobi: Array
    """(n,): damped inverse of the diagonal."""
    up: _Rows
    down: _Rows
    rooms: dict[tuple[str, int], Array] = field(default_factory=dict)

    def room(self, name: str, columns: int) -> Array:
        """An array (n, columns) that is reused each time; its content does not matter."""
        if (name, columns) not in self.rooms:
            self.rooms[name, columns] = np.zeros((len(self.jacobi), columns))
        return self.rooms[name, columns]


class Multigrid:
    """Solves a symmetric system of links; each row sums to its links to known pixels."""

    def __init__(
        self,
        matrix: Any,
        x: NDArray[np.int64],
        y: NDArray[np.int64],
        *,
        direct: bool = False,
    ) -> None:
        """Builds the levels.

        Args:
            matrix: (n, n) CSR, positive definite.
            x: (n,) columns of the nodes, from 0.
            y: (n,) rows.
            direct: No levels: the matrix is factorised. For many small separate parts.
        """
        self.size = int(matrix.shape[0])
        self._rows = _parts(matrix)
        self._levels: list[_Level] = []
        size = 2 * self.size
        # Once hardly any nodes can be joined, more levels would not help.
        while not direct and _SMALL < matrix.shape[0] < 0.8 * size:
            size = matrix.shape[0]
            groups, x, y = _aggregates(matrix, x, y)
            jacobi, up = _prolongation(matrix, groups, len(x))
            down = up.T.tocsr()
            self._levels.append(_Level(_parts(matrix), jacobi, _parts(up), _parts(down)))
            matrix = (down @ (matrix @ up)).tocsr()
        self._coarsest = _factorised(matrix)

    def solve(
        self,
        right: Array,
        start: Array,
        tolerance: float,
        most: int = 200,
        late: Callable[[], bool] | None = None,
    ) -> tuple[Array, float]:
        """Conjugate gradients for all columns (n, c) at once.

        Args:
            right: The right-hand side.
            start: Where the search starts.
            tolerance: The largest relative residual.
            most: The largest number of steps.
            late: Asked before each step; the search ends when it says yes.

        Returns:
            The solution and the largest relative residual |b - A x| / |b| of a column.
        """
        if not self.size:
            return start, 0.0
        from depthgauge.geometry import _multigrid_kernels as kernels

        norms = np.linalg.norm(right, axis=0)
        found, rest = start.copy(), np.zeros_like(right)
        image, direction = np.zeros_like(right), np.zeros_like(right)
        sums, energy = np.zeros(right.shape[1]), np.ones(right.shape[1])
        kernels.rest_of(*self._rows, right, found, rest)
        left = np.linalg.norm(rest, axis=0)
        for _ in range(most):
            if (left <= tolerance * norms).all() or (late is not None and late()):
                break
            step = self._cycle(rest, 0)
            kernels.dots(rest, step, sums)
            # A finished column has no energy left to divide by.
            kept, energy = _ratio(sums, energy), sums.copy()
            kernels.turn(direction, step, kept)
            kernels.product(*self._rows, direction, image)
            kernels.dots(direction, image, sums)
            kernels.advance(direction, image, _ratio(energy, sums), found, rest)
            kernels.dots(rest, rest, sums)
            left = np.sqrt(sums)
        kernels.rest_of(*self._rows, right, found, rest)
        return found, float(_ratio(np.linalg.norm(rest, axis=0), norms).max())

    def _cycle(self, right: Array, depth: int) -> Array:
        if depth == len(self._levels):
            return np.ascontiguousarray(self._coarsest.solve(right))
        from depthgauge.geometry import _multigrid_kernels as kernels

        level, columns = self._levels[depth], right.shape[1]
        first, rest = level.room("first", columns), level.room("rest", columns)
        kernels.scaled(level.jacobi, right, first)
        kernels.rest_of(*level.matrix, right, first, rest)
        coarse = np.zeros((len(level.down[0]) - 1, columns))
        kernels.product(*level.down, rest, coarse)
        kernels.add_product(*level.up, self._cycle(coarse, depth + 1), first)
        kernels.smoothed(*level.matrix, level.jacobi, right, first, rest)
        return rest


def _parts(matrix: Any) -> _Rows:
    # With a signed index, compiled code checks each time whether it counts from the end.
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data


def _factorised(matrix: Any) -> Any:
    from scipy.sparse.linalg import splu

    if not matrix.shape[0]:
        return None
    options = {"SymmetricMode": True}
    return splu(matrix.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _aggregates(
    matrix: Any, x: NDArray[np.int64], y: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The number of each node's group, and the groups' columns and rows on the next level."""
    from depthgauge.geometry._multigrid_kernels import join_in_blocks

    block_x, block_y = x // _SIDE, y // _SIDE
    block = block_y * (int(block_x.max()) + 1) + block_x
    groups = np.zeros(matrix.shape[0], np.int32)
    count = join_in_blocks(matrix.indptr, matrix.indices, block, groups)
    next_x, next_y = np.zeros(count, np.int64), np.zeros(count, np.int64)
    next_x[groups], next_y[groups] = block_x, block_y
    return groups, next_x, next_y


def _prolongation(matrix: Any, groups: NDArray[np.int32], count: int) -> tuple[Array, Any]:
    """Damped inverse of the diagonal, and the smoothed prolongation from the groups."""
    from scipy import sparse

    size = matrix.shape[0]
    inverse = 1.0 / matrix.diagonal()
    damping = 4.0 / 3.0 / _largest(matrix, inverse)
    jacobi = damping * inverse
    plain = sparse.csr_array(
        (np.ones(size), groups.astype(np.int32), np.arange(size + 1, dtype=np.int32)),
        shape=(size, count),
    )
    product = (matrix @ plain).tocsr()
    product.data *= np.repeat(-jacobi, np.diff(product.indptr))
    return jacobi, (plain + product).tocsr()


def _largest(matrix: Any, inverse: Array) -> float:
    """An upper bound of the largest eigenvalue of D^-1 A, by a few steps of the power method."""
    vector = np.cos(1.7 * np.arange(matrix.shape[0]) ** 1.5)
    value = 2.0
    for _ in range(8):
        vector = inverse * (matrix @ vector)
        # Not a BLAS product: its threads would wait for each other on a busy machine.
        value = math.sqrt(float(np.einsum("i,i->", vector, vector)))
        if not value > 0:
            return 2.0
        vector /= value
    return 1.1 * value
