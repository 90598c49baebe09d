"""Whether a camera moved while the patterns were photographed.

Every photograph shows another pattern, but the same scene: its details are compared with the mean
of all photographs. Where the patterns change much, a pixel counts little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.photographs.motion import (
    STILL,
    Displacements,
    Fit,
    Kind,
    Motion,
    Pixels,
    fit_motion,
)
from depthgauge.capture.register.windows import (
    Array,
    Windows,
    coarse_shift,
    finer_shift,
    measured,
    slopes_of,
)
from depthgauge.types import Camera

_ROUNDS, _MOST_ROUNDS = 3, 8
_STEADY_PX = 0.003
"""A motion that changes by less has been found."""
_NEAR_PX = 1.0
_KINDS: tuple[Kind, ...] = ("shift", "turn", "bend")
_LEAST_COARSE = 3
"""Smaller shifts, in px of small pictures, are found without a search."""
_STANDS_OUT = 12.0
_NOISES = 4.0
"""Two groups differ if their distance is this many times its error."""


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A photograph, reduced to what registration needs."""

    cut: Array
    """Of `Windows.cut`."""
    coarse: tuple[int, int] = (0, 0)
    """Whole px to the right and down by which it has moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Photographs in a row between which the camera did not move."""

    members: tuple[int, ...]
    motion: Motion
    """Against the largest group."""
    fit: Fit | None
    """None for the largest group itself."""


def coarse_shifts(pictures: Sequence[Array], ratio: float) -> list[tuple[int, int]]:
    """Large shifts of photographs against most others, in whole px; 0, 0 for all small ones.

    Args:
        pictures: `small_details` of every photograph.
        ratio: How many px a pixel of them is wide.
    """
    total = np.sum(pictures, axis=0)
    found = []
    for picture in pictures:
        others = total - picture if len(pictures) > 1 else total
        shift, stands_out = coarse_shift(others, picture)
        far = max(abs(n) for n in shift) >= _LEAST_COARSE and stands_out >= _STANDS_OUT
        found.append((round(shift[0] * ratio), round(shift[1] * ratio)) if far else (0, 0))
    return found


def groups_over_time(
    shots: Sequence[Shot], windows: Windows, camera: Camera, *, least_px: float
) -> tuple[list[Group], list[tuple[float, float]]]:
    """The groups of photographs between which the camera moved; one if it did not.

    Args:
        shots: In the order in which they were taken.
        windows: The windows that they were cut with.
        camera: Their camera.
        least_px: Smaller motions are not told apart.

    Returns:
        The groups, and the shift of every photograph to the right and down against the mean of all,
        in px.
    """
    motions, shifts = _each(shots, windows, camera)
    members = _split(motions, camera, least_px)
    biggest = max(members, key=len)  # the first one of equals
    places = windows.places()
    base = Base.of([_seen(shots[t], windows, places) for t in biggest])
    found = []
    for group in members:
        if group is biggest:
            found.append(Group(tuple(group), STILL, None))
            continue
        fit = _fit_group([shots[t] for t in group], base, windows, camera)
        found.append(Group(tuple(group), fit.motion if fit else STILL, fit))
    return found, shifts


def mean_picture(shots: Sequence[Shot], windows: Windows) -> Array:
    """(N, h, w): the mean details of photographs that did not move against each other."""
    places = windows.places()
    return Base.of([_seen(shot, windows, places) for shot in shots]).mean.astype(np.float32)


def _seen(shot: Shot, windows: Windows, moved: Pixels) -> Array:
    return windows.sample(shot.cut, moved, shot.coarse)


def _each(
    shots: Sequence[Shot], windows: Windows, camera: Camera
) -> tuple[list[Motion], list[tuple[float, float]]]:
    """The motion of every photograph against the mean of all, and its measured shift."""
    places, centres = windows.places(), windows.centres()
    motions = _starts(shots, windows)
    shifts = [motion.typical_px(camera) for motion in motions]
    if len(shots) < 2:
        return motions, shifts
    for _ in range(_ROUNDS):
        seen = [
            _seen(s, windows, m.apply(places, camera)) for s, m in zip(shots, motions, strict=True)
        ]
        everything = Base.of(seen)
        new = []
        for motion, picture in zip(motions, seen, strict=True):
            so_far = motion.apply(centres, camera) - centres
            found = flow(windows, everything.without(picture), picture, so_far)
            fit = fit_motion(found, camera, near_px=_NEAR_PX, kinds=_KINDS)
            new.append((fit.motion, fit.shift_px) if fit else (motion, (0.0, 0.0)))
        motions, shifts = [motion for motion, _ in new], [shift for _, shift in new]
    return motions, shifts


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """Sums over photographs, (N, h, w) each: what another one is compared with."""

    count: int
    total: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, pictures: Sequence[Array]) -> Base:
        """The sums of samples of the same positions."""
        total = np.zeros(pictures[0].shape)
        squares = np.zeros(pictures[0].shape)
        for picture in pictures:
            total += picture
            squares += picture.astype(np.float64) ** 2
        return cls(len(pictures), total, squares)

    def without(self, picture: Array) -> Base:
        """The sums without one of the photographs."""
        total, squares = self.total - picture, self.squares - picture.astype(np.float64) ** 2
        return Base(self.count - 1, total, squares)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean photograph."""
        return self.total / self.count

    @property
    def spread(self) -> NDArray[np.float64]:
        """How much the photographs differ there; where they do, a difference means little."""
        if self.count < 2:
            return np.ones(self.total.shape)
        return np.maximum(self.squares / self.count - self.mean**2, 0.0)


def _starts(shots: Sequence[Shot], windows: Windows) -> list[Motion]:
    """Shifts in whole px against the mean of the others."""
    places = windows.places()
    seen = [_seen(s, windows, places + np.array(s.coarse, float)) for s in shots]
    everything = Base.of(seen)
    found = []
    for shot, picture in zip(shots, seen, strict=True):
        more = (0, 0)
        if len(shots) > 1:
            more = finer_shift(everything.without(picture).mean, picture)
        found.append(_shift(shot.coarse, more))
    return found


def _shift(coarse: tuple[int, int], more: tuple[int, int]) -> Motion:
    return Motion("shift", (float(coarse[0] + more[0]), float(coarse[1] + more[1])))


def flow(
    windows: Windows, base: Base, picture: NDArray[np.floating[Any]], so_far: Pixels
) -> Displacements:
    """Displacements of a photograph, or of the mean of some, against others.

    Args:
        windows: The windows.
        base: What to compare with.
        picture: (N, h, w) samples at positions that are already moved.
        so_far: (4 N, 2) by how much, at the centres of the cells.
    """
    mean = base.mean
    spread = _blurred(base.spread)
    typical = float(np.nanmedian(spread))
    weight = 1.0 / (spread + 0.1 * typical + 1e-12)
    slope = slopes_of(mean)
    difference = picture - mean
    parts = [windows.cells(v) for v in (slope, weight, difference)]
    slope, weight, difference = (np.asarray(p, np.float64) for p in parts)
    weight = np.where(np.isfinite(weight * difference) & np.isfinite(slope).all(-1), weight, 0.0)
    slope, difference = np.nan_to_num(slope), np.nan_to_num(difference)
    normal = np.einsum("np,npi,npj->nij", weight, slope, slope)
    right = np.einsum("np,npi,np->ni", weight, slope, difference)
    # The image at x + u shows m(x + u - s): its difference from m(x) is slope (u - s).
    return measured(windows, normal, right, so_far)


def _blurred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    import cv2

    return np.stack([cv2.GaussianBlur(v, (0, 0), 1.5) for v in values])


def _split(motions: Sequence[Motion], camera: Camera, least_px: float) -> list[list[int]]:
    """Neighbours are joined while they differ by less than the limit, the most similar first."""
    fields = np.stack([m.field(camera) for m in motions])
    steps = np.linalg.norm(np.diff(fields, axis=0), axis=-1).max(axis=-1)
    noise = float(np.median(steps)) if len(steps) > 2 else 0.0
    groups = [[t] for t in range(len(motions))]
    while len(groups) > 1:
        means = [fields[g].mean(axis=0) for g in groups]
        apart = [np.linalg.norm(b - a, axis=-1).max() for a, b in pairwise(means)]
        limits = [
            max(least_px, _NOISES * noise * np.sqrt(0.5 / len(a) + 0.5 / len(b)))
            for a, b in pairwise(groups)
        ]
        k = int(np.argmin(np.array(apart) / np.array(limits)))
        if apart[k] > limits[k]:
            break
        groups[k : k + 2] = [groups[k] + groups[k + 1]]
    return groups


def _fit_group(shots: Sequence[Shot], base: Base, windows: Windows, camera: Camera) -> Fit | None:
    places, centres = windows.places(), windows.centres()
    coarse = np.median([s.coarse for s in shots], axis=0).round().astype(int)
    picture = Base.of([_seen(s, windows, places + coarse) for s in shots]).mean
    motion = _shift(tuple(coarse.tolist()), finer_shift(base.mean, picture.astype(np.float32)))
    fit = None
    for _ in range(_MOST_ROUNDS):
        moved = motion.apply(places, camera)
        picture = Base.of([_seen(s, windows, moved) for s in shots]).mean
        so_far = motion.apply(centres, camera) - centres
        fit = fit_motion(
            flow(windows, base, picture, so_far), camera, near_px=_NEAR_PX, kinds=_KINDS
        )
        if fit is None:
            return None
        step = fit.motion.field(camera) - motion.field(camera)
        motion = fit.motion
        if np.abs(step).max() < _STEADY_PX:
            break
    return fit
