"""Fast pictures and exact depth of a place with moving things: sun or lamps, shadows, open sky.

    still = prepare(place.things, texture_px=512)
    film = ShadedPlace.of(still, lighting, things, motions)
    views = [film.at(time_s).view(camera) for camera in cameras]

One ray per pixel gives depth and colour; only pixels with an edge are cast again four times.
Textures are averaged beforehand over the pixels' footprints, so they do not flicker. What stands
still is prepared once for all times and cameras. There is no gloss: a point has the same colour in
every view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render._quick_rays import QuickRays
from depthgauge.synth.render.lighting import Lighting, sky_light
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.mesh import Mesh, join
from depthgauge.synth.scene.model import Thing
from depthgauge.synth.scene.motion import Motion
from depthgauge.synth.scene.texture import stored
from depthgauge.types import Camera

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
_OPEN_RAYS = 16
"""Rays from each vertex that find out how much of the sky it sees."""
_OPEN_M = 2.5
"""Things farther away do not take ambient light."""
_CORNERS = ((-0.125, -0.375), (0.375, -0.125), (-0.375, 0.125), (0.125, 0.375))
"""Where pixels with edges are cast again."""


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Things as arrays that the kernels read."""

    mesh: Mesh
    tones: NDArray[np.float32]
    texture: Ints
    objects: Ints
    open_sky: NDArray[np.float32]
    rays: QuickRays


@dataclass(frozen=True, slots=True, eq=False)
class _Pictures:
    """Textures in all sizes down to a single pixel; codes are square roots of light."""

    levels: tuple[NDArray[np.uint8], ...]
    """(K, side, side, 3) each."""
    sides_m: tuple[float, ...]
    numbers: tuple[int, ...]
    """The texture of every thing; -1 for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What stands still, ready for rays."""

    part: _Part
    pictures: _Pictures
    texture_px: int


def prepare(things: Sequence[Thing], texture_px: int) -> Prepared:
    """Prepares things that do not move.

    Args:
        things: All materials are seen as if they were diffuse.
        texture_px: Side of the textures' pictures, a power of two.

    Raises:
        MissingExtra: Embree is not installed.
    """
    pictures = _pictures(things, texture_px)
    part = _part(things, pictures.numbers)
    part.open_sky[:] = _openness(part)
    return Prepared(part, pictures, texture_px)


@dataclass(frozen=True, slots=True, eq=False)
class ShadedPlace:
    """A place with moving things, prepared for views at any time."""

    still: Prepared
    lighting: Lighting
    things: tuple[Thing, ...]
    """Those that move, at rest."""
    motions: Mapping[str, Motion]
    numbers: tuple[int, ...] = field(repr=False)
    texture_m: Floats = field(repr=False)
    atlas: NDArray[np.uint8] = field(repr=False)

    @staticmethod
    def of(
        still: Prepared,
        lighting: Lighting,
        things: Sequence[Thing] = (),
        motions: Mapping[str, Motion] | None = None,
    ) -> ShadedPlace:
        """Adds things, all of which have a motion, and light."""
        own = _pictures(things, still.texture_px)
        first = len(still.pictures.sides_m)
        numbers = tuple(n + first if n >= 0 else -1 for n in own.numbers)
        atlas = np.concatenate(
            [
                part.ravel()
                for pair in zip(still.pictures.levels, own.levels, strict=True)
                for part in pair
            ]
        )
        texture_m = np.array([*still.pictures.sides_m, *own.sides_m])
        return ShadedPlace(
            still, lighting, tuple(things), dict(motions or {}), numbers, texture_m, atlas
        )

    def at(self, time_s: float) -> ShadedMoment:
        """The place at a time."""
        moved = [
            Thing(t.name, t.mesh.transformed(self.motions[t.name](time_s)), t.material)
            for t in self.things
        ]
        return ShadedMoment(self, _part(moved, self.numbers) if moved else None)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a camera sees."""

    image: NDArray[np.uint8]
    """(H, W, 3) as images store it."""
    depth: NDArray[np.float32]
    """(H, W) metres along the optical axis; NaN where nothing is."""
    moving: NDArray[np.bool_]
    """(H, W) whether a moving thing is seen."""


def _pictures(things: Sequence[Thing], side_px: int) -> _Pictures:
    known: dict[Material, int] = {}
    pictures, numbers = [], []
    for thing in things:
        picture = thing.material.picture(side_px)
        if picture is None:
            numbers.append(-1)
            continue
        if thing.material not in known:
            known[thing.material] = len(known)
            pictures.append(picture)
        numbers.append(known[thing.material])
    sides = tuple(material.texture_m for material in known)
    empty = np.zeros((0, side_px, side_px, 3), np.float32)
    return _Pictures(_pyramid(np.stack(pictures) if pictures else empty), sides, tuple(numbers))


def _part(things: Sequence[Thing], numbers: Sequence[int]) -> _Part:
    names = list(dict.fromkeys(thing.name for thing in things))
    mesh = join([thing.mesh for thing in things])
    count = [len(thing.mesh.triangles) for thing in things]
    tones = np.array([thing.material.colour for thing in things], np.float32)
    objects = np.array([names.index(thing.name) for thing in things], np.int32)
    return _Part(
        mesh,
        np.repeat(tones, count, axis=0),
        np.repeat(np.array(numbers, np.int32), count),
        np.repeat(objects, count),
        np.ones(len(mesh.vertices), np.float32),
        QuickRays(mesh.vertices[mesh.triangles]),
    )


def _pyramid(level: NDArray[np.float32]) -> tuple[NDArray[np.uint8], ...]:
    """All pictures at full size, then all at half the size, and so on to one pixel."""
    parts = []
    while True:
        parts.append(np.rint(255 * np.sqrt(np.clip(level, 0, 1))).astype(np.uint8))
        if level.shape[1] == 1:
            return tuple(parts)
        count, side = level.shape[0], level.shape[1] // 2
        level = level.reshape(count, side, 2, side, 2, 3).mean(axis=(2, 4), dtype=np.float32)


def _openness(part: _Part) -> NDArray[np.float32]:
    """How much ambient light reaches every vertex: 1 in the open, less in corners."""
    mesh = part.mesh
    rng = np.random.default_rng(5)
    blocked = np.zeros(len(mesh.vertices), np.float32)
    normals = mesh.normals.astype(np.float32)
    starts = mesh.vertices.astype(np.float32) + np.float32(0.012) * normals
    for _ in range(_OPEN_RAYS):
        way = rng.normal(size=normals.shape).astype(np.float32)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        way += np.float32(1.02) * normals  # more rays along the normal, as light has more effect
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), np.float32(1e-6))
        blocked += np.clip(1 - part.rays.distance(starts, way) / _OPEN_M, 0.0, 1.0)
    return (1.0 - 0.85 * blocked / _OPEN_RAYS).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Samples:
    """What rays found: arrays of N rays."""

    hits: Ints
    depth: Floats
    normal: NDArray[np.float32]
    blocked: NDArray[np.bool_]
    light: NDArray[np.float32]


class ShadedMoment:
    """A place at one time."""

    def __init__(self, place: ShadedPlace, moving: _Part | None) -> None:
        """Joins what stands still with what moves."""
        self._place = place
        self._moving = moving
        still = place.still.part
        parts = [still] if moving is None else [still, moving]
        self._first = len(still.mesh.triangles)
        mesh = join([part.mesh for part in parts])
        self._arrays = (
            mesh.vertices,
            mesh.triangles,
            mesh.normals,
            mesh.uv,
            np.concatenate([part.open_sky for part in parts]),
            np.concatenate([part.tones for part in parts]),
            np.concatenate([part.texture for part in parts]),
        )
        self._objects = np.concatenate([part.objects + 10_000 * n for n, part in enumerate(parts)])
        lamps = place.lighting.lamps
        self._lamps = np.array([[*lamp.place, lamp.reach_m] for lamp in lamps]).reshape(-1, 4)
        self._colours = np.array([lamp.colour for lamp in lamps]).reshape(-1, 3)
        suns = self._lamps[:, 3] == 0
        length = np.linalg.norm(self._lamps[suns, :3], axis=1, keepdims=True)
        self._lamps[suns, :3] /= np.maximum(length, 1e-12)

    def view(self, camera: Camera) -> View:
        """What a camera without distortion sees."""
        width, height = camera.size_px
        shape = (height, width)
        y, x = np.mgrid[0:height, 0:width]
        positions = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
        found = self._cast(camera, positions)
        light = found.light.astype(np.float64)
        again = np.flatnonzero(self._edges(found, shape))
        if len(again):
            total = np.zeros((len(again), 3))
            for corner in _CORNERS:
                total += self._cast(camera, positions[again] + np.array(corner)).light
            light[again] = total / len(_CORNERS)
        image = np.rint(stored(np.clip(light, 0.0, None))).reshape(*shape, 3).astype(np.uint8)
        moving = (found.hits >= self._first).reshape(shape)
        return View(image, found.depth.reshape(shape).astype(np.float32), moving)

    def _cast(self, camera: Camera, positions: Floats) -> _Samples:
        from depthgauge.synth.render._shade_kernels import surface

        eye, ways = _rays(camera, positions)
        count = len(ways)
        hits = self._hits(eye, ways)
        depth = np.full(count, np.nan)
        point, normal, tone = (np.zeros((count, 3), np.float32) for _ in range(3))
        openness = np.zeros(count, np.float32)
        surface(
            *(hits, ways, eye, 1.0 / camera.focal_px[0], *self._arrays),
            *(self._place.texture_m, self._place.atlas, self._place.still.texture_px),
            *(depth, point, normal, tone, openness),
        )
        blocked = self._shadows(hits, point, normal)
        return _Samples(
            *(hits, depth, normal, blocked),
            self._light(ways, hits, depth, point, normal, tone, openness, blocked),
        )

    def _hits(self, eye: Floats, ways: Floats) -> Ints:
        """The triangle that each ray hits first; those of moving things come after all others."""
        to = ways.astype(np.float32)
        starts = np.broadcast_to(eye.astype(np.float32), to.shape)
        hits = self._place.still.part.rays.first(starts, to)
        if self._moving is None:
            return hits
        near = self._near(eye, ways)
        starts, to = starts[near], to[near]
        other = self._moving.rays.first(starts, to)
        own = self._moving.rays.distance(starts, to)
        closer = (other >= 0) & (own < self._place.still.part.rays.distance(starts, to))
        hits[near[closer]] = other[closer] + self._first
        return hits

    def _near(self, eye: Floats, ways: Floats) -> NDArray[np.intp]:
        """The rays from one point that pass through the ball around everything that moves."""
        assert self._moving is not None
        corners = self._moving.mesh.vertices
        middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
        radius = float(np.linalg.norm(corners - middle, axis=1).max()) * 1.001 + 1e-3
        to = middle - eye
        along = ways @ to
        ahead = np.maximum(along, 0.0) ** 2 / np.einsum("ij,ij->i", ways, ways)
        square = float(to @ to) - ahead
        return np.flatnonzero(square < radius**2)

    def _shadows(
        self, hits: Ints, points: NDArray[np.float32], normals: NDArray[np.float32]
    ) -> NDArray[np.bool_]:
        """Whether something stands between each point and each lamp (lamp, point)."""
        blocked = np.zeros((len(self._lamps), len(hits)), bool)
        for number, (x, y, z, reach) in enumerate(self._lamps):
            ways = np.broadcast_to(np.array([x, y, z], np.float32), points.shape)
            if reach > 0:
                ways = ways - points
            steep = np.einsum("ij,ij->i", ways, normals)
            facing = np.flatnonzero((hits >= 0) & (steep > 0))
            starts, to = points[facing], np.ascontiguousarray(ways[facing])
            for part in (self._place.still.part, self._moving):
                if part is not None:
                    blocked[number, facing] |= part.rays.blocked(starts, to, bool(reach > 0))
        return blocked

    def _light(
        self,
        ways: Floats,
        hits: Ints,
        depth: Floats,
        point: NDArray[np.float32],
        normal: NDArray[np.float32],
        tone: NDArray[np.float32],
        openness: NDArray[np.float32],
        blocked: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        from depthgauge.synth.render._shade_kernels import lit

        lighting = self._place.lighting
        light = np.zeros((len(hits), 3), np.float32)
        above, below = np.array(lighting.above), np.array(lighting.below)
        lit(
            *(hits, point, normal, tone, openness, blocked),
            *(self._lamps, self._colours, above, below, light),
        )
        if lighting.haze_m > 0:
            share = 1 - np.exp(-np.nan_to_num(depth) / lighting.haze_m)
            light += share[:, None].astype(np.float32) * (np.array(lighting.haze) - light)
        nothing = hits < 0
        if nothing.any():
            light[nothing] = sky_light(lighting, ways[nothing])
        return light

    def _edges(self, found: _Samples, shape: tuple[int, int]) -> NDArray[np.bool_]:
        from depthgauge.synth.render._shade_kernels import edges

        out = np.zeros(shape, bool)
        edges(
            found.hits.reshape(shape),
            self._objects,
            found.depth.reshape(shape),
            found.normal.reshape(*shape, 3),
            found.blocked.reshape(-1, *shape),
            out,
        )
        return out


def _rays(camera: Camera, positions: Floats) -> tuple[Floats, Floats]:
    """Where rays of a pinhole begin, and their directions (N, 3) with depth 1."""
    turn = camera.world_from_camera[:3, :3]
    right, down = (positions - np.array(camera.centre_px)).T / np.array(camera.focal_px)[:, None]
    parts = [turn[axis, 0] * right + turn[axis, 1] * down + turn[axis, 2] for axis in range(3)]
    return camera.world_from_camera[:3, 3].copy(), np.stack(parts, axis=-1)
