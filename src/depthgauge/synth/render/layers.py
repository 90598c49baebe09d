"""What every pixel shows, layer by layer, through glass: the layers that a person would see.

    frame = trace(scene, time_s=0.0)
    layers = trace_layers(frame, camera)
    layers.depth[0], layers.depth[1]          # layer 1 and layer 2; NaN where there is none

A ray of the camera is followed through smooth transparent surfaces by refraction; nothing is
reflected. A layer is counted where a ray that comes from air meets a surface, so a hollow bottle is
two layers and a solid one is one. The first surface that nobody would see through ends the ray. It
is always a layer, even if the ray comes from inside glass or a liquid.

A surface says which media it separates (`Finish.index` and `outside_index`), as the path tracer's
do. So a ray comes from air where it meets the outside of a surface whose outside is air, or the
inside of a bubble within glass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.synth.render.embree import TracedScene, pixel_rays
from depthgauge.synth.scene.material import (
    AIR_INDEX,
    KINDS,
    Material,
    index_of,
    is_thin,
    kind_of,
    outside_index_of,
    roughness_of,
)
from depthgauge.types import Camera, Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

OPAQUE, ESCAPED, REFLECTED, MOST, LOST = 1, 2, 3, 4, 5
"""Why a ray ended: at an opaque surface; in the open; by total internal reflection; at the largest
number of layers that was asked for, at a transparent surface; after too many surfaces."""
ROUGH = 0.2
"""Glass with a larger roughness (alpha) is not seen through, unless another limit is given."""
MOST_LAYERS = 4
_CROSSED = 48
"""A ray that crosses more surfaces than this is lost."""
_START = np.uint64(14695981039346656037)
"""The signature of a path that has crossed nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The layers of every pixel; element 0 is layer 1."""

    position: Floats
    """(L, H, W, 3) in the world, in metres; NaN where there is no such layer."""
    normal: NDArray[np.float32]
    """(L, H, W, 3) the smooth normal, towards where the ray comes from."""
    depth: Floats
    """(L, H, W) of the position along the optical axis, in metres; NaN where there is none."""
    triangle: Ints
    """(L, H, W) of the frame's mesh; -1 where there is none."""
    thing: Ints
    """(L, H, W) index into the scene's things; -1 where there is none."""
    object: Ints
    """(L, H, W) index into the frame's names of objects; -1 where there is none."""
    material: NDArray[np.int8]
    """(L, H, W) index into `scene.material.KINDS`; -1 where there is none. Glass that ends the ray
    because it is rough counts as diffuse."""
    signature: NDArray[np.uint64]
    """(L, H, W) hash of the surfaces that the ray crossed before it met this one."""
    count: NDArray[np.uint8]
    """(H, W) the number of layers."""
    end: NDArray[np.uint8]
    """(H, W) why the ray ended: `OPAQUE`, `ESCAPED`, `REFLECTED`, `MOST` or `LOST`."""
    paths: Mapping[int, tuple[int, ...]] = field(repr=False)
    """What was crossed, by signature: four times the thing, plus 1 where its outside was seen, plus
    2 for a thin pane."""
    rough: float = ROUGH
    """The roughness above which glass ended a ray."""

    @property
    def valid(self) -> Mask:
        """(L, H, W) whether there is such a layer."""
        return np.asarray(self.triangle >= 0)


def trace_layers(
    frame: TracedScene, camera: Camera, most: int = MOST_LAYERS, rough: float = ROUGH
) -> Layers:
    """The layers of every pixel's centre, through the camera's own lens.

    Args:
        frame: The scene at a time.
        camera: Who looks.
        most: Layers are counted up to this number.
        rough: Glass with a larger roughness ends the ray; smoother glass is seen through.

    Raises:
        Misuse: `most` is below 1, or `rough` is negative.
    """
    eye, ways = pixel_rays(camera)
    found = LayerTracer(frame, rough).follow(np.tile(eye, (len(ways), 1)), ways, most)
    width, height = camera.size_px
    size = (height, width)
    shape = (most, *size)
    material, axis = found.material(frame), camera.world_from_camera[:3, 2]
    return Layers(
        found.position.reshape(*shape, 3),
        found.normal.reshape(*shape, 3),
        np.einsum("lik,k->li", found.position - eye, axis).reshape(shape),
        found.triangle.reshape(shape),
        _looked_up(frame.things, found.triangle).reshape(shape),
        _looked_up(frame.objects, found.triangle).reshape(shape),
        material.reshape(shape),
        found.signature.reshape(shape),
        found.count.reshape(size),
        found.end.reshape(size),
        found.paths(),
        rough,
    )


@dataclass(frozen=True, slots=True, eq=False)
class RayLayers:
    """The layers of rays in any order; the fields are those of `Layers` with N for (H, W)."""

    position: Floats
    normal: NDArray[np.float32]
    triangle: Ints
    signature: NDArray[np.uint64]
    count: NDArray[np.uint8]
    end: NDArray[np.uint8]
    crossed: NDArray[np.int16]
    """(L, N) how many surfaces the ray crossed before this layer."""
    codes: Ints
    """(N, C) what it crossed."""

    def material(self, frame: TracedScene) -> NDArray[np.int8]:
        """(L, N) index into `KINDS`; -1 where there is no layer."""
        kinds = [KINDS.index(kind_of(thing.material)) for thing in frame.scene.things]
        per_triangle = np.array(kinds, np.int8)[frame.things]
        kind = _looked_up(per_triangle, self.triangle)
        last = np.arange(len(kind))[:, None] == self.count.astype(int) - 1
        ended = last & (self.end == OPAQUE) & (kind == KINDS.index("transparent"))
        return np.where(ended, np.int8(KINDS.index("diffuse")), kind)

    def paths(self) -> dict[int, tuple[int, ...]]:
        """What was crossed, by signature."""
        found: dict[int, tuple[int, ...]] = {int(_START): ()}
        for triangle, signature, crossed in zip(
            self.triangle, self.signature, self.crossed, strict=True
        ):
            there = np.flatnonzero((triangle >= 0) & (crossed > 0))
            values, first = np.unique(signature[there], return_index=True)
            for value, ray in zip(values.tolist(), there[first].tolist(), strict=True):
                found[value] = tuple(self.codes[ray, : crossed[ray]].tolist())
        return found


class LayerTracer:
    """Follows any rays through a scene at one time."""

    def __init__(self, frame: TracedScene, rough: float = ROUGH) -> None:
        """Collects the indices on both sides of every surface.

        Args:
            frame: The scene at a time.
            rough: Glass with a larger roughness ends a ray.

        Raises:
            Misuse: `rough` is negative.
        """
        if not rough >= 0:
            raise Misuse(f"rough: the roughness must be at least 0, found {rough}.")
        self.frame, self.rough = frame, rough
        materials = [thing.material for thing in frame.scene.things]
        self.inside = np.array([index_of(m) for m in materials])[frame.things]
        self.outside = np.array([outside_index_of(m) for m in materials])[frame.things]
        self.surfaces = np.array([self._surface(m) for m in materials], np.uint8)[frame.things]

    def _surface(self, material: Material) -> int:
        from depthgauge.synth.render._layer_kernels import CLEAR, SHEET, SOLID

        if not material.transparent or roughness_of(material) > self.rough:
            return SOLID
        return SHEET if is_thin(material) else CLEAR

    def follow(self, starts: Floats, ways: Floats, most: int = MOST_LAYERS) -> RayLayers:
        """The layers along rays.

        Args:
            starts: (N, 3) where they begin.
            ways: (N, 3) their directions, of any length; a ray with a NaN has no layers.
            most: Layers are counted up to this number.

        Raises:
            Misuse: `most` is below 1.
        """
        from depthgauge.synth.render._layer_kernels import RUNNING, step

        if most < 1:
            raise Misuse(f"most: layers are counted from 1, found {most}.")
        state = _State(starts, ways, most)
        frame, mesh = self.frame, self.frame.mesh
        shape = (mesh.vertices, mesh.triangles, mesh.normals, frame.things)
        optics = (self.surfaces, self.inside, self.outside, AIR_INDEX)
        while True:
            active = np.flatnonzero(state.ends == RUNNING)
            if not len(active):
                return state.layers()
            ways = state.ways[active]
            begin = state.starts[active] + state.skips[active, None] * ways
            hits = frame.rays.cast(begin, ways).triangle
            step(active, hits, *shape, *optics, *state.fields())


class _State:
    """Rays on their way, and what they have met."""

    def __init__(self, starts: Floats, ways: Floats, most: int) -> None:
        count = len(ways)
        self.starts = np.array(np.broadcast_to(starts, ways.shape), np.float64)
        self.ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        self.skips = np.zeros(count)
        self.signatures = np.full(count, _START, np.uint64)
        self.crossed = np.zeros(count, np.int16)
        self.codes = np.zeros((count, _CROSSED), np.int32)  # pages that nobody writes cost nothing
        self.counts = np.zeros(count, np.uint8)
        known = np.isfinite(self.starts).all(axis=1) & np.isfinite(self.ways).all(axis=1)
        self.ends = np.where(known, 0, ESCAPED).astype(np.uint8)
        self.points = np.full((most, count, 3), np.nan)
        self.normals = np.full((most, count, 3), np.nan, np.float32)
        self.triangles = np.full((most, count), -1, np.int32)
        self.layer_signatures = np.zeros((most, count), np.uint64)
        self.layer_crossed = np.zeros((most, count), np.int16)

    def fields(self) -> tuple[NDArray[np.generic], ...]:
        """In the order of the kernel's arguments."""
        rays = (self.starts, self.ways, self.skips, self.signatures, self.crossed, self.codes)
        met = (self.points, self.normals, self.triangles)
        return (*rays, self.counts, self.ends, *met, self.layer_signatures, self.layer_crossed)

    def layers(self) -> RayLayers:
        """What was met."""
        met = (self.points, self.normals, self.triangles, self.layer_signatures)
        return RayLayers(*met, self.counts, self.ends, self.layer_crossed, self.codes)


def _looked_up(values: NDArray[np.signedinteger], triangles: Ints) -> NDArray[np.signedinteger]:
    """Values of triangles; -1 for -1."""
    return np.where(triangles >= 0, values[triangles], values.dtype.type(-1))
