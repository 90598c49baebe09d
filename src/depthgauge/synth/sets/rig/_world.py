"""Built layouts with their rays, kept for the next proposals in the same process."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library.maps import MAPS, Place
from depthgauge.synth.render._quick_rays import QuickRays
from depthgauge.synth.render.shaded import Prepared, prepare
from depthgauge.synth.scene.mesh import join

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A layout of a map that rays can be cast into."""

    place: Place
    rays: QuickRays

    def distance(self, starts: Floats, ways: Floats) -> NDArray[np.float32]:
        """Steps along each direction to the first surface; 1e37 for none."""
        origins = np.ascontiguousarray(np.broadcast_to(starts, ways.shape), np.float32)
        return self.rays.distance(origins, ways.astype(np.float32))

    def free(self, starts: Floats, ends: Floats) -> NDArray[np.bool_]:
        """Whether nothing lies between points."""
        return np.asarray(self.distance(starts, ends - starts) >= 1.0)

    def ground(self, points: Floats, above_m: float = 0.7) -> Floats:
        """Height coordinate y of the ground under points (N, 3); NaN where there is none."""
        starts = points - np.array([0.0, above_m, 0.0])
        down = np.broadcast_to(np.array([0.0, 1.0, 0.0]), starts.shape)
        far = self.distance(starts, down).astype(np.float64)
        return np.where(far < 1e30, starts[:, 1] + far, np.nan)


@functools.lru_cache(maxsize=32)
def world(map_name: str, layout: int) -> World:
    """A layout of a map.

    Raises:
        UnknownName: There is no such map.
        MissingExtra: Embree is not installed.
    """
    place = MAPS[map_name].build(layout)
    mesh = join([thing.mesh for thing in place.things])
    return World(place, QuickRays(mesh.vertices[mesh.triangles]))


@functools.lru_cache(maxsize=2)
def prepared(map_name: str, layout: int, texture_px: int) -> Prepared:
    """What stands still in a layout, ready for views."""
    return prepare(world(map_name, layout).place.things, texture_px)
