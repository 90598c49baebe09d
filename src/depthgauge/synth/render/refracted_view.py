"""Where a camera sees points through glass: Newton's method on its own refracted rays.

A point can have several images through glass. Which one is meant is said by a *path*: the surfaces
that the ray crosses, in order. `RefractedView.solve` finds the image position whose ray crosses
them and then goes through the point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.embree import TracedScene, rays_at
from depthgauge.synth.render.layers import ROUGH, LayerTracer
from depthgauge.types import Camera, Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

FOUND, EDGE, STUCK = 1, 2, 3
"""How a search ended: at the point; where its path ends, for example at the glass's outline; or
anywhere else."""
_TRIALS = 40
_DONE_PX = 1e-4
"""A step below this is the last one; what remains is about its square."""
_REACH_PX = 24.0
"""The longest step."""
_SHORTEST = 1 / 128
"""A step that must be cut below this share does not lead anywhere."""
_DELTA_PX = 0.01
"""For the derivative of the lens."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Where searches for N points ended."""

    positions: Floats
    """(N, 2) image positions."""
    ends: NDArray[np.uint8]
    """(N,) `FOUND`, `EDGE` or `STUCK`."""
    entries: Floats
    """(N, 3) where the rays meet the first surface of their paths; NaN for an empty path."""
    orientation: NDArray[np.int8]
    """(N,) 1 where the image is upright, -1 where glass has mirrored it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Aim:
    """How far rays pass points, across the ray, and how that changes with the image position."""

    miss: Floats
    """(N, 2) in metres."""
    slopes: Floats
    """(N, 2, 2) metres per pixel."""
    works: Mask
    """(N,) whether the path exists there."""
    entries: Floats


class RefractedView:
    """A camera that looks at a scene at one time, through glass."""

    def __init__(self, frame: TracedScene, camera: Camera, rough: float = ROUGH) -> None:
        """Prepares the rays.

        Args:
            frame: The scene at a time.
            camera: Who looks.
            rough: Glass with a larger roughness is not seen through.
        """
        self.frame, self.camera = frame, camera
        self.tracer = LayerTracer(frame, rough)

    def solve(
        self, points: Floats, paths: Iterable[tuple[int, ...]], path: Ints, seeds: Floats
    ) -> Search:
        """Image positions whose rays cross given surfaces and go through given points.

        Newton's method with shortened steps. What stands in the way is ignored.

        Args:
            points: (N, 3) in the world.
            paths: Codes of surfaces in the order in which they are crossed (`Layers.paths`).
            path: (N,) which of them is meant for each point.
            seeds: (N, 2) image positions to start from.
        """
        table = _Table(paths)
        positions = np.array(seeds, np.float64)
        aim = self._aim(points, table, path, positions)
        share = np.ones(len(points))
        ends = np.where(aim.works, 0, EDGE).astype(np.uint8)
        for _ in range(_TRIALS):
            active = np.flatnonzero(ends == 0)
            if not len(active):
                break
            step = _newton_step(aim.miss[active], aim.slopes[active])
            size = np.linalg.norm(step, axis=1)
            last = size < _DONE_PX
            positions[active[last]] += step[last]
            ends[active[last]] = FOUND
            ends[active[~np.isfinite(size)]] = STUCK
            active, step, size = (v[size >= _DONE_PX] for v in (active, step, size))
            length = np.minimum(share[active], _REACH_PX / size)
            trial = positions[active] + length[:, None] * step
            tried = self._aim(points[active], table, path[active], trial)
            now, then = (np.linalg.norm(m, axis=1) for m in (aim.miss[active], tried.miss))
            better = tried.works & (then < now)
            good = active[better]
            positions[good] = trial[better]
            share[good] = np.minimum(1.0, 2 * share[good])
            for mine, new in zip(_parts(aim), _parts(tried), strict=True):
                mine[good] = new[better]
            bad = active[~better]
            tiny = (size[~better] < 1e-3) & tried.works[~better]  # float64 gives no better
            share[bad] /= 4
            failed = share[bad] < _SHORTEST
            ends[bad[failed & ~tried.works[~better]]] = EDGE
            ends[bad[failed & tried.works[~better]]] = STUCK
            ends[bad[tiny]] = FOUND
        ends[ends == 0] = STUCK
        turned = np.where(np.linalg.det(aim.slopes) < 0, -1, 1).astype(np.int8)
        return Search(positions, ends, aim.entries, turned)

    def orientation(
        self, points: Floats, paths: Iterable[tuple[int, ...]], path: Ints, positions: Floats
    ) -> NDArray[np.int8]:
        """(N,) 1 where the image at a known position is upright, -1 where it is mirrored."""
        aim = self._aim(points, _Table(paths), path, positions)
        return np.where(np.linalg.det(aim.slopes) < 0, -1, 1).astype(np.int8)

    def _aim(self, points: Floats, table: _Table, path: Ints, positions: Floats) -> _Aim:
        rays = self._cross(table, path, positions)
        # Across the ray, in a right-handed frame with it, so that the sign of the determinant
        # of the slopes says whether the image is mirrored.
        first, second = _across(rays.ways)
        reach = np.einsum("ij,ij->i", points - rays.starts, rays.ways)
        apart = rays.starts + reach[:, None] * rays.ways - points
        moved = rays.start_slopes + reach[:, None, None] * rays.way_slopes
        miss = np.stack([np.einsum("ij,ij->i", apart, v) for v in (first, second)], axis=-1)
        slopes = np.stack([np.einsum("ikj,ij->ik", moved, v) for v in (first, second)], axis=1)
        works = (rays.states == 1) & (reach > 0) & np.isfinite(slopes).all(axis=(1, 2))
        miss[~works], slopes[~works] = np.nan, np.eye(2)
        return _Aim(miss, slopes, works, rays.entries)

    def _cross(self, table: _Table, path: Ints, positions: Floats) -> _Rays:
        from depthgauge.synth.render._path_kernels import ARRIVED, RUNNING, cross

        rays = _Rays(self.camera, positions)
        rays.states[(table.lengths[path] == 0) & (rays.states == RUNNING)] = ARRIVED
        frame, mesh, tracer = self.frame, self.frame.mesh, self.tracer
        shape = (mesh.vertices, mesh.triangles, mesh.normals, frame.things)
        optics = (tracer.surfaces, tracer.inside, tracer.outside)
        while True:
            active = np.flatnonzero(rays.states == RUNNING)
            if not len(active):
                return rays
            ways = rays.ways[active]
            begin = rays.starts[active] + rays.skips[active, None] * ways
            hits = frame.rays.cast(begin, ways).triangle
            cross(active, hits, *shape, *optics, table.codes, table.lengths, path, *rays.fields())


class _Table:
    """Paths as an array."""

    def __init__(self, paths: Iterable[tuple[int, ...]]) -> None:
        several = list(paths)
        self.lengths = np.array([len(p) for p in several], np.int32)
        self.codes = np.full((len(several), max(1, *self.lengths.tolist(), 1)), -1, np.int32)
        for number, codes in enumerate(several):
            self.codes[number, : len(codes)] = codes


class _Rays:
    """Rays of image positions with their derivatives by x and y."""

    def __init__(self, camera: Camera, positions: Floats) -> None:
        from depthgauge.synth.render._path_kernels import BROKEN, RUNNING

        count = len(positions)
        eye, ways = rays_at(camera, positions)
        length = np.linalg.norm(ways, axis=1, keepdims=True)
        self.starts = np.tile(eye, (count, 1))
        self.ways = ways / length
        self.start_slopes = np.zeros((count, 2, 3))
        self.way_slopes = np.zeros((count, 2, 3))
        for axis in range(2):
            slope = _lens_slope(camera, positions, axis) / length
            along = np.einsum("ij,ij->i", slope, self.ways)[:, None]
            self.way_slopes[:, axis] = slope - along * self.ways
        self.skips = np.zeros(count)
        self.at = np.zeros(count, np.int32)
        self.passed = np.zeros(count, np.int32)
        known = np.isfinite(self.way_slopes).all(axis=(1, 2)) & np.isfinite(self.ways).all(axis=1)
        self.states = np.where(known, RUNNING, BROKEN).astype(np.uint8)
        self.entries = np.full((count, 3), np.nan)

    def fields(self) -> tuple[NDArray[np.generic], ...]:
        """In the order of the kernel's arguments."""
        rays = (self.starts, self.ways, self.start_slopes, self.way_slopes, self.skips)
        return (*rays, self.at, self.passed, self.states, self.entries)


def _lens_slope(camera: Camera, positions: Floats, axis: int) -> Floats:
    """The derivative of rays' directions, which have depth 1, by x or y in the image."""
    if not any(camera.distortion):
        return np.asarray(camera.world_from_camera[:3, axis] / camera.focal_px[axis])[None]
    aside = np.zeros(2)
    aside[axis] = _DELTA_PX
    ends = [rays_at(camera, positions + sign * aside)[1] for sign in (1, -1)]
    return np.asarray((ends[0] - ends[1]) / (2 * _DELTA_PX))


def _parts(aim: _Aim) -> tuple[NDArray[np.generic], ...]:
    return aim.miss, aim.slopes, aim.works, aim.entries


def _newton_step(miss: Floats, slopes: Floats) -> Floats:
    """Solves 2x2 systems; infinite where they are singular."""
    a, b, c, d = slopes[:, 0, 0], slopes[:, 0, 1], slopes[:, 1, 0], slopes[:, 1, 1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = -1.0 / (a * d - b * c)
        x = part * (d * miss[:, 0] - b * miss[:, 1])
        y = part * (a * miss[:, 1] - c * miss[:, 0])
    return np.stack([x, y], axis=-1)


def _across(ways: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors across each direction; with it they are right-handed."""
    axis = np.eye(3)[np.argmin(np.abs(ways), axis=1)]
    first = np.cross(axis, ways)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(ways, first)
