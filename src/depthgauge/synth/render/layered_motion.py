"""Where the points of every layer appear in a second view, as seen through the glass.

    before, after = trace(scene, 0.0), trace(scene, 0.1)
    motion = layered_motion(before, camera, after, camera, trace_layers(before, camera))
    motion.flow[1], motion.state[1] == VALID          # layer 2

Points keep their place on their object, and objects and cameras may move. The image of a point in
the second view is found on that view's own refracted rays, not by straight projection. Through
glass it can have several images: meant is the one whose ray crosses the same surfaces in the same
order, which is mirrored if and only if it is in the first view, and which enters the glass closest
to the place where the first view's ray did. With equal times and two cameras of a rig this is
layered disparity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry.projection import inverse_pose, project, to_camera, transform
from depthgauge.synth.render.embree import TracedScene, rays_at
from depthgauge.synth.render.layers import Layers, trace_layers
from depthgauge.synth.render.refracted_view import EDGE, FOUND, RefractedView
from depthgauge.types import Camera, Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

NONE, VALID, OCCLUDED, VANISHED, UNSOLVED = 0, 1, 2, 3, 4
"""There is no such layer; its image was found; something else stands before it there, opaque or
transparent; it left the image, or its path through the glass no longer exists; no image was found
although there may be one."""
_NEAREST = 3
"""Seeds for each point among what the second view sees."""
_SAME_M = 1e-4
"""A ray that meets a surface this close to a point, at 1 m, sees the point."""
_AGREE_PX = 1e-3
"""Two searches that end this close to each other have found the same image."""
_RANK = np.array([9, 0, 1, 2, 3])
"""Of states: which is preferred if several seeds lead to images."""


@dataclass(frozen=True, slots=True, eq=False)
class LayeredMotion:
    """Motion of every layer between two views; element 0 is layer 1."""

    flow: Floats
    """(L, H, W, 2) in px: x right, y down; NaN where it is not valid."""
    state: NDArray[np.uint8]
    """(L, H, W) `NONE`, `VALID`, `OCCLUDED`, `VANISHED` or `UNSOLVED`."""
    position: Floats
    """(L, H, W, 3) where the points are at the second time, in the world; NaN for `NONE`."""


def layered_motion(
    before: TracedScene,
    camera_before: Camera,
    after: TracedScene,
    camera_after: Camera,
    layers: Layers,
    layers_after: Layers | None = None,
) -> LayeredMotion:
    """Flow of every layer from one view to another, through moving glass.

    Args:
        before: The scene at the first time.
        camera_before: The camera whose pixels have the flow.
        after: The same scene at the second time.
        camera_after: The camera at the second time.
        layers: What the first camera sees (`trace_layers`).
        layers_after: What the second camera sees, if it is known already.

    Raises:
        Misuse: The two times belong to different scenes.
    """
    if before.scene is not after.scene:
        raise Misuse("layered_motion: both times must belong to the same scene.")
    most = len(layers.depth)
    if layers_after is None:
        layers_after = trace_layers(after, camera_after, most, layers.rough)
    layer, row, column = np.nonzero(layers.valid)
    points = _Points.of(layers, (layer, row, column))
    later = points.carried(before, after)
    here = np.stack([column, row], axis=-1).astype(np.float64)
    upright = _uprightness(RefractedView(before, camera_before, layers.rough), points, here)
    finder = _Finder(RefractedView(after, camera_after, layers.rough), layers_after, most)
    positions, states = finder.find(later, upright)
    flow = np.full((*layers.depth.shape, 2), np.nan)
    state = np.zeros(layers.depth.shape, np.uint8)
    ends = np.full(layers.position.shape, np.nan)
    state[layer, row, column] = states
    ends[layer, row, column] = later.position
    moved = np.where((states == VALID)[:, None], positions - here, np.nan)
    flow[layer, row, column] = moved
    return LayeredMotion(flow, state, ends)


def refraction_px(layers: Layers, camera: Camera) -> Floats:
    """(L, H, W) how far each layer appears from where a straight ray would show it, in px."""
    _, height, width = layers.depth.shape
    straight = project(to_camera(layers.position, camera), camera)
    y, x = np.mgrid[0:height, 0:width]
    found: Floats = np.linalg.norm(straight - np.stack([x, y], axis=-1), axis=-1)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Points of layers and the paths on which they are seen."""

    position: Floats
    """(N, 3)."""
    entry: Floats
    """(N, 3) the first layer on the same ray."""
    thing: Ints
    entry_thing: Ints
    signature: NDArray[np.uint64]
    paths: list[tuple[int, ...]]
    path: Ints
    """(N,) index into `paths`."""

    @classmethod
    def of(cls, layers: Layers, at: tuple[NDArray[np.intp], ...]) -> _Points:
        """The points of layers at some places."""
        _, row, column = at
        signature = layers.signature[at]
        known, path = np.unique(signature, return_inverse=True)
        return cls(
            layers.position[at],
            layers.position[0, row, column],
            layers.thing[at],
            layers.thing[0, row, column],
            signature,
            [layers.paths[value] for value in known.tolist()],
            path.astype(np.int32),
        )

    def carried(self, before: TracedScene, after: TracedScene) -> _Points:
        """The same points at another time."""
        moved = [
            _carried(before, after, points, things)
            for points, things in ((self.position, self.thing), (self.entry, self.entry_thing))
        ]
        rest = (self.thing, self.entry_thing, self.signature, self.paths, self.path)
        return _Points(moved[0], moved[1], *rest)

    def some(self, which: NDArray[np.intp]) -> _Points:
        """A part of them."""
        return _Points(
            self.position[which],
            self.entry[which],
            self.thing[which],
            self.entry_thing[which],
            self.signature[which],
            self.paths,
            self.path[which],
        )

    @property
    def bent(self) -> Mask:
        """Which of them are seen through something."""
        found: Mask = np.array([bool(path) for path in self.paths], bool)[self.path]
        return found


def _uprightness(view: RefractedView, points: _Points, positions: Floats) -> NDArray[np.int8]:
    """(N,) whether points appear upright (1) or mirrored (-1) in the view that they are from."""
    upright = np.ones(len(positions), np.int8)
    bent = np.flatnonzero(points.bent)
    some = points.some(bent)
    upright[bent] = view.orientation(some.position, some.paths, some.path, positions[bent])
    return upright


def _carried(before: TracedScene, after: TracedScene, points: Floats, things: Ints) -> Floats:
    """Points of things at another time; those that do not move are identical to the bit."""
    later = points.copy()
    if before.time_s == after.time_s:
        return later
    names = [thing.name for thing in before.scene.things]
    for name, motion in before.scene.motions.items():
        mine = np.isin(things, [n for n, other in enumerate(names) if other == name])
        step = motion(after.time_s) @ inverse_pose(motion(before.time_s))
        if mine.any() and not np.array_equal(step, np.eye(4)):
            later[mine] = transform(points[mine], step)
    return later


class _Images:
    """The best image of each point that seeds have led to so far."""

    def __init__(self, count: int) -> None:
        self.positions = np.full((count, 2), np.nan)
        self.states = np.full(count, UNSOLVED, np.uint8)
        self._gaps = np.full(count, np.inf)
        self.settled = np.zeros(count, bool)
        self.lost = np.ones(count, bool)
        """Whether every search ended where the path does."""

    def offer(
        self, which: NDArray[np.intp], positions: Floats, states: NDArray[np.uint8], gaps: Floats
    ) -> None:
        """Takes images that are better: seen before hidden, then the closest entry to the glass."""
        apart = np.linalg.norm(positions - self.positions[which], axis=1)
        self.settled[which] |= (apart < _AGREE_PX) & (states == VALID)
        same = (states == self.states[which]) & (gaps < self._gaps[which])
        chosen = same | (_RANK[states] < _RANK[self.states[which]])
        better = which[chosen]
        self.positions[better], self.states[better] = positions[chosen], states[chosen]
        self._gaps[better] = gaps[chosen]


class _Finder:
    """Finds the images of points in a view."""

    def __init__(self, view: RefractedView, layers: Layers, most: int) -> None:
        self._view, self._layers, self._most = view, layers, most

    def find(self, points: _Points, upright: NDArray[np.int8]) -> tuple[Floats, NDArray[np.uint8]]:
        """Image positions (N, 2) and states of points; `upright` as in the first view."""
        positions = np.full((len(upright), 2), np.nan)
        states = np.full(len(upright), UNSOLVED, np.uint8)
        direct = np.flatnonzero(~points.bent)
        positions[direct] = self._straight(points.position[direct])
        states[direct] = self._checked(points.some(direct), positions[direct])
        through = np.flatnonzero(points.bent)
        some = points.some(through)
        positions[through], states[through] = self._through(some, upright[through])
        return positions, states

    def _through(
        self, points: _Points, upright: NDArray[np.int8]
    ) -> tuple[Floats, NDArray[np.uint8]]:
        best = _Images(len(upright))
        seeds = self._seeds(points)
        for number in range(seeds.shape[1]):
            # Once two seeds have led to the same place, others are not tried.
            which = np.flatnonzero(np.isfinite(seeds[:, number]).all(axis=1) & ~best.settled)
            some = points.some(which)
            search = self._view.solve(some.position, some.paths, some.path, seeds[which, number])
            best.lost[which] &= search.ends == EDGE
            right = (search.ends == FOUND) & (search.orientation == upright[which])
            found = which[right]
            states = self._checked(points.some(found), search.positions[right])
            gaps = np.linalg.norm(search.entries[right] - points.entry[found], axis=1)
            best.offer(found, search.positions[right], states, gaps)
        best.states[(best.states == UNSOLVED) & best.lost] = VANISHED
        return best.positions, best.states

    def _seeds(self, points: _Points) -> Floats:
        """(N, S, 2) image positions to start from; NaN where there is no such seed."""
        from scipy.spatial import cKDTree

        nearest = np.full((len(points.path), _NEAREST, 2), np.nan)
        layer, row, column = np.nonzero(self._layers.valid)
        mine = _Points.of(self._layers, (layer, row, column))
        pixels = np.stack([column, row], axis=-1)
        for signature in np.unique(points.signature):
            same = np.flatnonzero(mine.signature == signature)
            wanted = np.flatnonzero(points.signature == signature)
            if not len(same):
                continue
            for thing in np.unique(points.thing[wanted]):
                here = wanted[points.thing[wanted] == thing]
                there = same[mine.thing[same] == thing]
                there = there if len(there) else same
                tree = cKDTree(np.hstack([mine.position[there], mine.entry[there]]))
                query = np.hstack([points.position[here], points.entry[here]])
                known = np.isfinite(query).all(axis=1)
                _, near = tree.query(query[known], k=min(_NEAREST, len(there)))
                near = near.reshape(known.sum(), -1)
                nearest[here[known], : near.shape[1]] = pixels[there[near]]
        straight = [self._straight(p)[:, None] for p in (points.entry, points.position)]
        return np.concatenate([nearest[:, :1], *straight, nearest[:, 1:]], axis=1)

    def _straight(self, points: Floats) -> Floats:
        camera = self._view.camera
        return np.asarray(project(to_camera(points, camera), camera), np.float64)

    def _checked(self, points: _Points, positions: Floats) -> NDArray[np.uint8]:
        """Whether positions show the points: inside the image, on their path, nothing before."""
        camera = self._view.camera
        with np.errstate(invalid="ignore"):
            size = np.array(camera.size_px)
            inside = ((positions >= -0.5) & (positions < size - 0.5)).all(axis=1)
        states = np.full(len(positions), VANISHED, np.uint8)
        rays = np.flatnonzero(inside)
        if not len(rays):
            return states
        eye, ways = rays_at(camera, positions[rays])
        seen = self._view.tracer.follow(eye, ways, self._most)
        near = _SAME_M * np.maximum(1.0, np.linalg.norm(points.position[rays] - eye, axis=1))
        apart = np.linalg.norm(seen.position - points.position[rays], axis=-1)
        shown: Mask = (apart < near) & (seen.signature == points.signature[rays])
        states[rays] = np.where(shown.any(axis=0), VALID, OCCLUDED)
        return states
