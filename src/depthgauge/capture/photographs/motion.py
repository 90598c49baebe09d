"""How a photograph moved against another one of the same camera, fitted to local displacements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.projection import project, slopes_at
from depthgauge.types import Camera

Pixels = NDArray[np.float64]
"""(..., 2) positions x, y in a photograph."""
Kind = Literal["still", "shift", "turn", "bend"]
_NUMBERS = {"still": 0, "shift": 2, "turn": 3, "bend": 8}
_CAUTION = {"still": 0, "shift": 2, "turn": 3, "bend": 16}
"""How much more numbers must explain: neighbours err alike, which looks like a bend."""
_ROUNDS = 12
_TRIALS = 400
_GRID = 9
_SURE = 3.0
"""A component of a shift is not 0 if it exceeds its error this many times."""
_FEWEST = 8
"""Displacements that a fit needs."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Where positions of one photograph lie in another one of the same camera."""

    kind: Kind = "still"
    """`shift`: all by the same number of pixels. `turn`: the camera turned about its centre.
    `bend`: anything smooth, a quadratic polynomial."""
    numbers: tuple[float, ...] = ()
    """Pixels of a shift; a rotation vector in radians; coefficients of the polynomial."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind) or len(self.numbers) != _NUMBERS[self.kind]:
            raise ValueError(f"not a motion: {self.kind} {self.numbers}")

    def apply(self, pixels: Pixels, camera: Camera) -> Pixels:
        """Where positions (..., 2) lie in the photograph that moved."""
        if self.kind == "still":
            return pixels
        if self.kind == "shift":
            return np.asarray(pixels + np.array(self.numbers))
        if self.kind == "bend":
            return np.asarray(pixels + _basis(pixels, camera) @ np.array(self.numbers))
        slopes = slopes_at(pixels, camera)
        ways = np.concatenate([slopes, np.ones((*slopes.shape[:-1], 1))], axis=-1)
        return np.asarray(project(ways @ rotation_matrix(self.numbers).T, camera))

    def field(self, camera: Camera) -> Pixels:
        """(n, 2) displacements at positions all over the photograph."""
        places = spread_places(camera)
        return self.apply(places, camera) - places

    def most_px(self, camera: Camera) -> float:
        """The largest displacement in the photograph."""
        return float(np.linalg.norm(self.field(camera), axis=-1).max())

    def typical_px(self, camera: Camera) -> tuple[float, float]:
        """The median displacement to the right and down."""
        right, down = np.median(self.field(camera), axis=0)
        return float(right), float(down)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads."""
        return {"kind": self.kind, "numbers": list(self.numbers)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Motion:
        """The motion that `to_json` wrote; others raise KeyError, TypeError, ValueError."""
        return cls(data["kind"], tuple(float(n) for n in data["numbers"]))


STILL = Motion()


@dataclass(frozen=True, slots=True, eq=False)
class Displacements:
    """How far details moved, and how well each is known."""

    at: Pixels
    """(n, 2) positions in the photograph that they are measured against."""
    by: Pixels
    """(n, 2) px."""
    information: NDArray[np.float64]
    """(n, 2, 2) inverse covariances up to a common factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A motion that displacements support."""

    motion: Motion
    shift_px: tuple[float, float]
    """The best shift to the right and down, whatever the motion is."""
    sigma_px: float
    """Standard deviation of the median displacement, from the scatter around the fit."""
    residual_px: float
    """Median distance of the displacements that follow the motion from it."""
    following: float
    """Share of the displacements that follow it."""
    count: int
    """Displacements measured."""


def fit_motion(
    found: Displacements, camera: Camera, *, near_px: float, kinds: Sequence[Kind] = ("shift",)
) -> Fit | None:
    """The simplest motion that explains most displacements; None if they have nothing in common.

    The kinds compete by Schwarz's criterion (BIC), with the scatter around the richest one.

    Args:
        found: The displacements; many may be wrong.
        camera: The camera of both photographs.
        near_px: A displacement that is farther from the motion does not follow it.
        kinds: The kinds to try besides `still`.
    """
    if len(found.at) < _FEWEST:
        return None
    agreeing = _agreeing(found, 2 * near_px)
    if agreeing.sum() < max(_FEWEST, 0.25 * len(found.at)):
        return None
    fits = [_fit(kind, found, agreeing, camera, near_px) for kind in ("still", *kinds)]
    richest = max(fits, key=lambda f: (int(f[2].sum()), -float(f[1][f[2]].sum())))
    used = richest[2]
    scale = max(float(np.median(richest[1][used])) / (2 * np.log(2)), 1e-12)  # chi2 of 2 numbers
    many = np.log(2 * used.sum())
    costs = [np.minimum(f[1][used] / scale, 25.0).sum() + _CAUTION[f[0].kind] * many for f in fits]
    motion = fits[int(np.argmin(costs))][0]
    shift = _fit("shift", found, agreeing, camera, near_px)[0].numbers
    judged = _judged(motion, (shift[0], shift[1]), found, camera, near_px)
    if motion.kind != "shift":
        return judged
    # A component that may be 0 is 0: its error would be that of all disparities.
    sure = tuple(n if abs(n) > _SURE * judged.sigma_px else 0.0 for n in motion.numbers)
    return replace(judged, motion=Motion("shift", sure))


def _judged(
    motion: Motion,
    shift_px: tuple[float, float],
    found: Displacements,
    camera: Camera,
    near_px: float,
) -> Fit:
    distance = np.linalg.norm(found.by - (motion.apply(found.at, camera) - found.at), axis=1)
    near = distance <= near_px
    typical = float(np.median(distance[near])) if near.any() else float(np.median(distance))
    strong = max(int(near.sum()), 1)
    # The median distance of a round scatter is 1.18 of its standard deviation along an axis.
    sigma = typical / 1.18 / np.sqrt(strong)
    return Fit(motion, shift_px, float(sigma), typical, float(near.mean()), len(found.at))


def _fit(
    kind: Kind,
    found: Displacements,
    agreeing: NDArray[np.bool_],
    camera: Camera,
    near_px: float,
) -> tuple[Motion, NDArray[np.float64], NDArray[np.bool_]]:
    """The best motion of a kind, squared residuals in units of information, and what follows it."""
    numbers = np.zeros(_NUMBERS[kind])
    weights = agreeing.astype(np.float64)
    # Motions are small, so the slopes hardly change.
    slope = motion_slopes(kind, numbers, found.at, camera) if kind != "still" else None
    for _ in range(_ROUNDS if kind != "still" else 1):
        motion = Motion(kind, tuple(numbers.tolist()))
        residual = found.by - (motion.apply(found.at, camera) - found.at)
        squares = np.einsum("ni,nij,nj->n", residual, found.information, residual)
        if slope is not None:
            heavy = weights[:, None, None] * found.information
            normal = np.einsum("nik,nij,njl->kl", slope, heavy, slope)
            right = np.einsum("nik,nij,nj->k", slope, heavy, residual)
            numbers = numbers + np.linalg.lstsq(normal, right, rcond=1e-12)[0]
            distance = np.linalg.norm(residual, axis=1)
            middle = max(float(np.median(distance[agreeing])), 1e-3)
            weights = agreeing / (1.0 + (distance / (2.5 * middle)) ** 2)  # Cauchy
    near = agreeing & (np.linalg.norm(residual, axis=1) <= near_px)
    return motion, squares, near if near.any() else agreeing


def motion_slopes(
    kind: Kind, numbers: NDArray[np.float64], at: Pixels, camera: Camera
) -> NDArray[np.float64]:
    """(n, 2, k): how moved positions change with the numbers of a motion."""
    if kind == "shift":
        return np.broadcast_to(np.eye(2), (len(at), 2, 2))
    if kind == "bend":
        return _basis(at, camera)
    step = 1e-5
    columns = []
    for k in range(len(numbers)):
        moved = [numbers.copy(), numbers.copy()]
        moved[0][k] -= step
        moved[1][k] += step
        less, more = (Motion(kind, tuple(m.tolist())).apply(at, camera) for m in moved)
        columns.append((more - less) / (2 * step))
    return np.stack(columns, axis=-1)


def _agreeing(found: Displacements, near_px: float) -> NDArray[np.bool_]:
    """The largest set of displacements that a shift, zoom and roll explains (RANSAC)."""
    rng = np.random.default_rng(0)
    at = found.at[:, 0] + 1j * found.at[:, 1]
    to = at + found.by[:, 0] + 1j * found.by[:, 1]
    best = np.zeros(len(at), bool)
    for trial in range(_TRIALS):
        a, b = rng.integers(len(at), size=2)
        turn = (to[a] - to[b]) / (at[a] - at[b]) if a != b and trial % 2 else 1.0
        if abs(turn - 1.0) > 0.05:
            continue
        near = np.abs(to - (to[a] + turn * (at - at[a]))) <= near_px
        best = near if near.sum() > best.sum() else best
    return best


def _basis(pixels: Pixels, camera: Camera) -> NDArray[np.float64]:
    """(..., 2, 8): the displacements of a plane seen by a moving camera, to second order."""
    width, height = camera.size_px
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    x, y = np.moveaxis((pixels - middle) / (width / 2), -1, 0)
    one, none = np.ones_like(x), np.zeros_like(x)
    right = [one, x, y, none, none, none, x * x, x * y]
    down = [none, none, none, one, x, y, x * y, y * y]
    return np.stack([np.stack(right, -1), np.stack(down, -1)], axis=-2)


def spread_places(camera: Camera) -> Pixels:
    """(81, 2) positions all over a photograph, with its corners."""
    width, height = camera.size_px
    x, y = np.meshgrid(np.linspace(0, width - 1, _GRID), np.linspace(0, height - 1, _GRID))
    return np.stack([x.ravel(), y.ravel()], axis=-1)


def rotation_matrix(vector: Sequence[float]) -> NDArray[np.float64]:
    """3x3 of a rotation vector in radians.

    >>> rotation_matrix((0.0, 0.0, np.pi / 2)).round(3).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = float(np.linalg.norm(vector))
    first = np.sinc(angle / np.pi)
    second = 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    return np.asarray(np.eye(3) + first * cross + second * (cross @ cross))


def moved_along(pixels: Pixels, motions: Sequence[Motion], camera: Camera) -> Pixels:
    """Positions after several motions, one after the other."""
    for motion in motions:
        pixels = motion.apply(pixels, camera)
    return pixels
