"""The nearest directions to given ones for which some pairs are exactly orthogonal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[int, int]
RayConstraint = tuple[int, tuple[float, float, float]]
"""The index of a direction, and a given unit vector that it must be orthogonal to."""

EXACT = 1e-13
"""Dot products of unit vectors below this count as zero."""
_LEVEL = 1e-10
"""The search ends when the slope has fallen to this share of the wanted directions' length."""
_ROUNDS = 60
_STARTS, _SMALL = 4, 8
"""Webs of at most `_SMALL` directions are searched from `_STARTS` more places."""


def nearest_orthogonal(
    wanted: Array,
    pairs: Sequence[Pair],
    held: Sequence[RayConstraint],
    starts: Sequence[Array] = (),
) -> Array | None:
    """Unit vectors q, orthogonal for each pair, with the greatest sum of dot products to `wanted`.

    For unit vectors this is the least sum of squared distances; for three mutually orthogonal ones
    it is the solution of the orthogonal Procrustes problem. The search is local, from the wanted
    directions and from a few others; the best result is returned.

    Args:
        wanted: (n, 3), not zero; longer ones weigh more.
        pairs: Indices of pairs that must be orthogonal.
        held: Directions that must be orthogonal to a given unit vector.
        starts: More places to start the search from.

    Returns:
        (n, 3), or None if no exact solution was found.
    """
    rng = np.random.default_rng(0)
    units = _unit(wanted)
    tried = [units, *starts]
    if len(units) <= _SMALL:
        tried += [_unit(units + 0.4 * rng.standard_normal(units.shape)) for _ in range(_STARTS)]
    best, most = None, -np.inf
    for start in tried:
        found = _climbed(wanted, pairs, held, start)
        if found is not None and _gain(wanted, found) > most + 1e-12:
            best, most = found, _gain(wanted, found)
    return best


def frame_from_colours(wanted: Array, colours: Sequence[int]) -> Array:
    """The nearest set in which each colour is parallel and the three colours are orthogonal."""
    sums = np.zeros((3, 3))
    for _ in range(10):
        signs = np.ones(len(wanted))
        if sums.any():
            signs = np.where(np.sum(wanted * sums[list(colours)], axis=1) < 0, -1.0, 1.0)
        total = np.zeros((3, 3))
        np.add.at(total, list(colours), wanted * signs[:, None])
        left, _, right = np.linalg.svd(total)
        sums = left @ right
    placed: Array = sums[list(colours)] * signs[:, None]
    return placed


def is_exact(q: Array, pairs: Sequence[Pair], held: Sequence[RayConstraint]) -> bool:
    """Whether all constraints hold."""
    return bool(np.abs(_constraints(q, pairs, held)[0]).max(initial=0.0) < EXACT)


def satisfied(start: Array, pairs: Sequence[Pair], held: Sequence[RayConstraint]) -> Array | None:
    """A set near the start in which all constraints hold; None if Gauss-Newton finds none."""
    from scipy.linalg import lstsq

    q = start
    for _ in range(_ROUNDS):
        values, slopes = _constraints(q, pairs, held)
        if np.abs(values).max(initial=0.0) < 0.1 * EXACT:
            break
        step = lstsq(slopes, -values, cond=1e-10, lapack_driver="gelsy")[0].reshape(q.shape)
        q = _unit(q + step)
    return q if is_exact(q, pairs, held) else None


def _climbed(
    wanted: Array, pairs: Sequence[Pair], held: Sequence[RayConstraint], start: Array
) -> Array | None:
    q = satisfied(start, pairs, held)
    if q is None:
        return None
    # A round costs the cube of the number; for large webs, being exact matters more than being
    # nearest.
    for _ in range(_ROUNDS if len(q) <= 10 * _SMALL else 3):
        better = _step(wanted, pairs, held, q)
        if better is None:
            break
        q = better
    return q


def _step(
    wanted: Array, pairs: Sequence[Pair], held: Sequence[RayConstraint], q: Array
) -> Array | None:
    """One Newton step within the constraints, shortened until it gains; None at the maximum."""
    _, slopes = _constraints(q, pairs, held)
    free, factors = _freedom(slopes, wanted.ravel())
    uphill = free.T @ wanted.ravel()
    if np.linalg.norm(uphill) < _LEVEL * np.linalg.norm(wanted):
        return None
    curvature = free.T @ _curvature(factors, len(q), pairs) @ free
    before = _gain(wanted, q)
    for way in (_newton(curvature, uphill), uphill / np.linalg.norm(wanted)):
        for shrink in (1.0, 0.5, 0.25, 0.05, 0.005):
            moved = _unit(q + shrink * (free @ way).reshape(q.shape))
            landed = satisfied(moved, pairs, held)
            if landed is not None and _gain(wanted, landed) > before + 1e-15 * abs(before):
                return landed
    return None


def _freedom(slopes: Array, wanted: Array) -> tuple[Array, Array]:
    """Directions that the constraints leave free, and the Lagrange multipliers of the others.

    By QR with pivoting: some constraints follow from others, as in a ring of four.
    """
    from scipy.linalg import qr, solve_triangular

    frame, triangle, order = qr(slopes.T, pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(size > 1e-10 * size[0]))
    factors = np.zeros(len(slopes))
    held = frame[:, :rank].T @ wanted
    factors[order[:rank]] = solve_triangular(triangle[:rank, :rank], held)
    return frame[:, rank:], factors


def _newton(curvature: Array, uphill: Array) -> Array:
    """The step to the maximum of the quadratic; its downhill directions are turned uphill."""
    values, vectors = np.linalg.eigh(curvature)
    values = np.maximum(np.abs(values), 1e-3 * max(float(np.abs(values).max(initial=0.0)), 1e-12))
    step: Array = vectors @ ((vectors.T @ uphill) / values)
    length = float(np.linalg.norm(step))
    return step / length if length > 1.0 else step


def _curvature(factors: Array, count: int, pairs: Sequence[Pair]) -> Array:
    """Second derivative of the Lagrangian, with the sign for a minimum."""
    matrix = np.zeros((3 * count, 3 * count))
    eye = np.eye(3)
    for i in range(count):
        matrix[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] += factors[i] * eye
    for k, (i, j) in enumerate(pairs):
        matrix[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += factors[count + k] * eye
        matrix[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] += factors[count + k] * eye
    return matrix


def _constraints(
    q: Array, pairs: Sequence[Pair], held: Sequence[RayConstraint]
) -> tuple[Array, Array]:
    """Values that must be 0 (lengths, dot products) and their derivatives."""
    count = len(q)
    values = np.zeros(count + len(pairs) + len(held))
    slopes = np.zeros((len(values), count, 3))
    rows = np.arange(count)
    values[:count] = 0.5 * (np.sum(q * q, axis=1) - 1.0)
    slopes[rows, rows] = q
    for k, (i, j) in enumerate(pairs, count):
        values[k] = q[i] @ q[j]
        slopes[k, i], slopes[k, j] = q[j], q[i]
    for k, (i, ray) in enumerate(held, count + len(pairs)):
        values[k] = q[i] @ ray
        slopes[k, i] = ray
    return values, slopes.reshape(len(values), -1)


def _gain(wanted: Array, q: Array) -> float:
    return float(np.sum(wanted * q))


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.where(lengths > 1e-12, vectors, (0.0, 0.0, -1.0))
    units: Array = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return units
