"""Normals of planes, turned so that planes meet where folds were drawn.

Lines are drawn to a pixel or two, but slopes are judged with errors of many degrees, often the same
ones by everybody. Where two planes meet in a fold, their common edge must project onto the drawn
line: that ties the two normals together. The normals nearest to what was said that fit all lines
and relations are found by least squares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import FOLD, Segmentation
from depthgauge.annotate.records.annotation import RelationKind, Vector
from depthgauge.geometry.projection import ray_slopes
from depthgauge.types import Camera

Array = NDArray[np.float64]

_SAID_DEG = 12.0
"""How far normals that several people give are from the truth. What they share cannot be seen in
how much they differ, so it is fixed; chosen on scenes 40 to 42 of each kind."""
_MOST_DEG = 20.0
_RELATED_DEG = 1.0
_LINE_PX, _LEAST_DEG = 0.7, 0.35
"""How far a line may be off at its ends, and the smallest error of its direction."""
_SHORTEST_PX = 12
"""Pixels of the shortest line that is used."""
_BENT_PX = 1.5
"""Root mean square distance of a line's pixels from a straight one, above which it is not used."""


@dataclass(frozen=True)
class FoldLine:
    """A straight fold between two planes."""

    first: int
    second: int
    """Numbers of smooth surfaces."""
    across: Vector
    """Unit normal of the plane through the camera's centre and the line."""
    error_deg: float
    """How far its direction may be off."""


Related = tuple[int, int, RelationKind]
"""Two planes and their relation."""


def fold_lines(segmentation: Segmentation, planes: Iterable[int], camera: Camera) -> list[FoldLine]:
    """The straight folds between planes that are long enough."""
    pairs, ys, xs = _beside(segmentation, set(planes))
    if not len(pairs):
        return []
    slope_x, slope_y = ray_slopes(camera)
    focal = float(np.mean(camera.focal_px))
    found = []
    for first, second in np.unique(pairs, axis=0).tolist():
        here = (pairs == (first, second)).all(axis=1)
        at = ys[here], xs[here]
        points = np.stack([slope_x[at], slope_y[at], np.ones(len(at[0]))], axis=1)
        if len(points) < _SHORTEST_PX:
            continue
        line = _straight(points, focal)
        if line is not None:
            found.append(FoldLine(first, second, *line))
    return found


def _beside(
    segmentation: Segmentation, planes: set[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each fold pixel between two planes: the planes, lower number first, its row, column."""
    ys, xs = np.nonzero(segmentation.kind == FOLD)
    toward = segmentation.toward[ys, xs]
    sides = []
    height, width = segmentation.kind.shape
    for way in (1.5, -1.5):
        x = np.clip(np.floor(xs + way * toward[:, 0] + 0.5).astype(int), 0, width - 1)
        y = np.clip(np.floor(ys + way * toward[:, 1] + 0.5).astype(int), 0, height - 1)
        sides.append(segmentation.smooth[y, x])
    both = np.sort(np.stack(sides, axis=1).astype(np.int64), axis=1)
    good = (both[:, 0] != both[:, 1]) & np.isin(both, list(planes)).all(axis=1)
    return both[good], ys[good], xs[good]


def _straight(points: Array, focal: float) -> tuple[Vector, float] | None:
    """Normal of the plane through the rays of a line and its error; None if it is not straight."""
    middle = points.mean(axis=0)
    values, vectors = np.linalg.eigh((points - middle)[:, :2].T @ (points - middle)[:, :2])
    off = focal * np.sqrt(max(values[0], 0.0) / len(points))
    length = focal * float(np.ptp((points - middle)[:, :2] @ vectors[:, 1]))
    if off > _BENT_PX or length < _SHORTEST_PX:
        return None
    along = np.array([*vectors[:, 1], 0.0])
    x, y, z = np.cross(middle, along) / np.linalg.norm(np.cross(middle, along))
    error = max(_LEAST_DEG, float(np.degrees(2 * _LINE_PX / length)))
    return (float(x), float(y), float(z)), error


def fitted_normals(
    normals: Mapping[int, Vector], lines: Sequence[FoldLine], relations: Sequence[Related]
) -> dict[int, Vector]:
    """The normals nearest to the given ones that fit the lines and the relations.

    Lines that do not fit count little: some folds are drawn where there is none. If a plane would
    lean far from what was said, lines and normals are of different things, and nothing is turned.

    Args:
        normals: Of planes, by number; they face the viewer.
        lines: Between these planes.
        relations: Between these planes.
    """
    from scipy.optimize import least_squares

    names = [n for n in normals if any(n in (line.first, line.second) for line in lines)]
    if not names:
        return dict(normals)
    fit = _Fit(names, normals, lines, relations)
    said = np.zeros(2 * len(names))
    best = least_squares(fit.residuals, said, loss="soft_l1", f_scale=1.5, max_nfev=60)
    turned = fit.turned(best.x)
    if np.einsum("ij,ij->i", turned, fit.units).min() < np.cos(np.radians(_MOST_DEG)):
        return dict(normals)
    return dict(normals) | {n: _vector(turned[i]) for i, n in enumerate(names)}


class _Fit:
    """What must be small; angles in units of their errors."""

    def __init__(
        self,
        names: Sequence[int],
        normals: Mapping[int, Vector],
        lines: Sequence[FoldLine],
        relations: Sequence[Related],
    ) -> None:
        self.units = np.array([normals[n] for n in names], np.float64)
        self.units /= np.linalg.norm(self.units, axis=1, keepdims=True)
        helper = np.eye(3)[np.argmin(np.abs(self.units), axis=1)]
        self.first = np.cross(self.units, helper)
        self.first /= np.linalg.norm(self.first, axis=1, keepdims=True)
        self.second = np.cross(self.units, self.first)
        place = {n: i for i, n in enumerate(names)}
        self.ends = np.array([(place[f.first], place[f.second]) for f in lines]).reshape(-1, 2)
        self.across = np.array([f.across for f in lines]).reshape(-1, 3)
        kinds: dict[str, list[tuple[int, int]]] = {"orthogonal": [], "parallel": []}
        for a, b, kind in relations:
            if kind in kinds and a in place and b in place:
                kinds[kind].append((place[a], place[b]))
        self.orthogonal = np.array(kinds["orthogonal"], np.int64).reshape(-1, 2)
        self.parallel = np.array(kinds["parallel"], np.int64).reshape(-1, 2)
        related = [_RELATED_DEG] * (len(self.orthogonal) + 3 * len(self.parallel))
        self.errors = np.radians([*(f.error_deg for f in lines), *related])

    def turned(self, leans: Array) -> Array:
        """The normals leaned by so many radians to two sides each."""
        a, b = leans.reshape(-1, 2).T[..., None]
        made = self.units + a * self.first + b * self.second
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))

    def residuals(self, leans: Array) -> Array:
        """Everything that least squares make small."""
        return np.concatenate([leans / np.radians(_SAID_DEG), self.misfits(leans) / self.errors])

    def misfits(self, leans: Array) -> Array:
        """By how much lines and relations do not hold, in radians."""
        made = self.turned(leans)
        edges = np.cross(made[self.ends[:, 0]], made[self.ends[:, 1]])
        # Of planes that are nearly one, the edge may be anywhere: its length is the sine between.
        off = (edges * self.across).sum(axis=1)
        apart = (made[self.orthogonal[:, 0]] * made[self.orthogonal[:, 1]]).sum(axis=1)
        askew = np.cross(made[self.parallel[:, 0]], made[self.parallel[:, 1]]).ravel()
        return np.concatenate([off, apart, askew])


def _vector(unit: Array) -> Vector:
    x, y, z = (float(v) for v in unit)
    return x, y, z
